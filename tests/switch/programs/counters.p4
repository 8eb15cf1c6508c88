// Counters: cells by a computed index, direct counters of two tables, in ingress and egress; bytes are those that came.

#include "shell.p4"

header in_t { bit<8> kind; bit<16> index; }
header grown_t { bit<256> more; }

struct headers_t { grown_t grown; in_t i; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter<bit<16>>(8, CounterType.packets_and_bytes) cells;
    counter<bit<16>>(1, CounterType.packets) all;
    direct_counter(CounterType.packets_and_bytes) by_kind;
    direct_counter(CounterType.bytes) by_prefix;

    action forward(bit<9> port) { by_kind.count(); standard.egress_spec = port; }
    action grow() { by_kind.count(); hdr.grown.setValid(); standard.egress_spec = 2; }
    action note() { by_prefix.count(); }

    table kinds {
        key = { hdr.i.kind: exact; }
        actions = { forward; grow; }
        const default_action = forward(1);
        counters = by_kind;
    }
    table prefixes {
        key = { hdr.i.index: lpm; }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        counters = by_prefix;
    }
    apply {
        if (!hdr.i.isValid()) { exit; }
        all.count(0);
        cells.count(hdr.i.index);
        kinds.apply();
        prefixes.apply();
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter<bit<9>>(4, CounterType.bytes) left;
    apply { left.count(standard.egress_port); }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
