// A header union: at most one member is valid, in the parser, after setValid, after an assignment of the whole.

#include "shell.p4"

header in_t { bit<8> kind; bit<8> op; }
header short_t { bit<16> value; }
header long_t { bit<32> value; }
header told_t { bit<8> valid; }

header_union either_t { short_t short; long_t long; }

struct headers_t { told_t told; in_t i; either_t either; either_t other; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.i);
        transition select(hdr.i.kind) { 1: short; 2: long; default: accept; }
    }
    state short { packet.extract(hdr.either.short); transition accept; }
    state long { packet.extract(hdr.either.long); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        if (hdr.i.op == 1) {
            hdr.either.long.setValid();
            hdr.either.long.value = 0x01020304;
        } else if (hdr.i.op == 2) {
            hdr.either.short.setValid();
            hdr.either.short.value = 0xABCD;
        } else if (hdr.i.op == 3) {
            hdr.either.short.setInvalid();
        } else if (hdr.i.op == 4) {
            hdr.either.long.setInvalid();
        }
        hdr.told.setValid();
        hdr.told.valid = (hdr.either.short.isValid() ? 8w1 : 0) | (hdr.either.long.isValid() ? 8w2 : 0)
            | (hdr.either.isValid() ? 8w4 : 0);
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE

control Writer(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.told);
        packet.emit(hdr.i);
        packet.emit(hdr.either);
        packet.emit(hdr.other);
    }
}

SWITCH
