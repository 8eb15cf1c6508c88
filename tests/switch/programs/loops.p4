// Loops in actions, with break and continue, and conditions in them.

#include "shell.p4"

header in_t { bit<8> count; bit<8> limit; bit<32> value; }

struct headers_t { in_t i; }
struct metadata_t { bit<32> sum; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action add_up() {
        meta.sum = 0;
        for (bit<8> n = 0; n < hdr.i.count; n = n + 1) {
            if (n == hdr.i.limit) { break; }
            if (n[0:0] == 1) { continue; }
            meta.sum = meta.sum + (bit<32>)n;
        }
        hdr.i.value = meta.sum;
    }
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        add_up();
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
