// truncate(): counted from the start of the deparsed frame, whatever headers were added or removed; the smaller wins.

#include "shell.p4"

header in_t { bit<8> op; bit<8> length; }
header big_t { bit<64> value; }

struct headers_t { big_t big; in_t i; big_t tail; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition select(hdr.i.op) { 0x80 &&& 0x80: tail; default: accept; } }
    state tail { packet.extract(hdr.tail); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        if (hdr.i.op[3:0] == 1) { truncate((bit<32>)hdr.i.length); }
        if (hdr.i.op[3:0] == 2) { truncate((bit<32>)hdr.i.length); truncate(20); }
        if (hdr.i.op[3:0] == 3) { truncate((bit<32>)hdr.i.length); hdr.big.setValid(); hdr.big.value = 1; }
        if (hdr.i.op[3:0] == 4) { truncate((bit<32>)hdr.i.length); hdr.tail.setInvalid(); }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        if (hdr.i.op[3:0] == 5) { truncate((bit<32>)hdr.i.length); }
        if (hdr.i.op[3:0] == 6) { truncate(standard.packet_length - 1); }
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
