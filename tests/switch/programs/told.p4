// What a program tells: digests and log messages; and random numbers and assertions.

#include "shell.p4"

header in_t { bit<8> op; bit<8> value; bit<16> random; }

struct headers_t { in_t i; }
struct metadata_t { }
struct report_t { bit<8> value; bit<9> port; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.i);
        log_msg("parsed {} on {}", { hdr.i.value, standard.ingress_port });
        transition accept;
    }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        if (hdr.i.op == 1) { digest<report_t>(1, { hdr.i.value, standard.ingress_port }); }
        if (hdr.i.op == 2) { log_msg("two"); }
        if (hdr.i.op == 3) { random(hdr.i.random, 16w10, 16w19); }
        if (hdr.i.op == 4) { random(hdr.i.random, (bit<16>)hdr.i.value, 16w100); }
        assert(hdr.i.value != 0xEE);
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
