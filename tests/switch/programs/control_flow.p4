// Control flow: switch on the action that ran, fall through, nested conditions, return and exit in actions and controls.

#include "shell.p4"

header ops_t { bit<8> a; bit<8> b; bit<8> c; }
header trace_t { bit<32> steps; bit<8> where; }

struct headers_t { trace_t trace; ops_t ops; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ops); transition accept; }
}

control Inner(inout headers_t hdr) {
    apply {
        if (hdr.ops.c == 1) { return; }
        hdr.trace.steps = hdr.trace.steps | 0x100;
        if (hdr.ops.c == 2) { exit; }
        hdr.trace.steps = hdr.trace.steps | 0x200;
    }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Inner() inner;
    action first() { hdr.trace.steps = hdr.trace.steps | 1; }
    action second(bit<8> mark) {
        hdr.trace.where = mark;
        if (hdr.ops.b == 1) {
            hdr.trace.steps = hdr.trace.steps | 2;
            return;
        } else if (hdr.ops.b == 2) {
            hdr.trace.steps = hdr.trace.steps | 4;
        } else {
            if (hdr.ops.b == 3) {
                hdr.trace.steps = hdr.trace.steps | 8;
            }
            hdr.trace.steps = hdr.trace.steps | 16;
        }
        hdr.trace.steps = hdr.trace.steps | 32;
    }
    action leave() { hdr.trace.steps = hdr.trace.steps | 64; exit; }
    action drop() { mark_to_drop(standard); }
    action maybe_leave(bit<8> limit) {
        if (hdr.ops.b > limit) { exit; }
        hdr.trace.steps = hdr.trace.steps | 128;
    }

    table choose {
        key = { hdr.ops.a: exact; }
        actions = { first; second; leave; maybe_leave; drop; NoAction; }
        default_action = NoAction();
    }
    table after {
        key = { hdr.ops.b: exact; }
        actions = { first; drop; NoAction; }
        default_action = first();
    }

    apply {
        if (!hdr.ops.isValid()) { exit; }
        standard.egress_spec = 1;
        hdr.trace.setValid();
        hdr.trace.steps = 0;
        hdr.trace.where = 0;
        switch (choose.apply().action_run) {
            first: { hdr.trace.steps = hdr.trace.steps | 0x1000; }
            second:
            maybe_leave: {
                if (hdr.ops.c > 100 && (hdr.ops.b < 50 || hdr.ops.a == 2)) {
                    hdr.trace.steps = hdr.trace.steps | 0x2000;
                } else {
                    if (after.apply().hit) {
                        hdr.trace.steps = hdr.trace.steps | 0x4000;
                    }
                }
            }
            drop: { }
            default: { inner.apply(hdr); }
        }
        hdr.trace.steps = hdr.trace.steps | 0x8000;
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.ops.isValid()) { exit; }
        hdr.trace.steps = hdr.trace.steps | 0x80000000;
        if (hdr.ops.c == 77) {
            mark_to_drop(standard);
            exit;
        }
        hdr.trace.where = hdr.trace.where + 1;
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
