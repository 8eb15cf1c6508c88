// Registers: read, changed and written in one packet, in ingress and egress; cells of odd width; an index out of range.

#include "shell.p4"

header in_t { bit<8> op; bit<32> index; bit<48> value; }

struct headers_t { in_t i; }
struct metadata_t { bit<48> wide; bit<5> narrow; }

register<bit<48>, bit<32>>(8) wide;
register<bit<5>, bit<32>>(4) narrow;
register<bit<16>, bit<32>>(1) passed;

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action add() {
        @atomic {
            wide.read(meta.wide, hdr.i.index);
            meta.wide = meta.wide + hdr.i.value;
            wide.write(hdr.i.index, meta.wide);
        }
        hdr.i.value = meta.wide;
    }
    action count_narrow() {
        narrow.read(meta.narrow, hdr.i.index & 3);
        meta.narrow = meta.narrow + 1;
        narrow.write(hdr.i.index & 3, meta.narrow);
        hdr.i.value = (bit<48>)meta.narrow;
    }
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        meta.wide = 0xABC;
        if (hdr.i.op == 1) {
            add();
        } else if (hdr.i.op == 2) {
            count_narrow();
        } else if (hdr.i.op == 3) {
            wide.write(hdr.i.index, hdr.i.value);
        } else if (hdr.i.op == 4) {
            wide.read(meta.wide, hdr.i.index);
            hdr.i.value = meta.wide;
        }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    bit<16> number;
    apply {
        if (!hdr.i.isValid()) { exit; }
        passed.read(number, 0);
        passed.write(0, number + 1);
        hdr.i.index = (bit<32>)number;
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
