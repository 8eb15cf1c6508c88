// Resubmission and recirculation: how often, with which metadata, and what the packet looks like the next time.

#include "shell.p4"

header in_t { bit<8> op; bit<8> rounds; bit<16> value; }
header more_t { bit<8> seen; bit<32> instance; bit<32> length; bit<9> port; bit<7> pad; }

struct headers_t { more_t more; in_t i; }
struct metadata_t {
    @field_list(1, 2) bit<8> rounds;
    @field_list(2) bit<8> kept;
    bit<8> lost;
}

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(packet.lookahead<bit<8>>()) { 0xA5: more; default: plain; }
    }
    state more { packet.extract(hdr.more); transition plain; }
    state plain { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 2;
        if (hdr.i.op == 1 && meta.rounds < hdr.i.rounds) {
            meta.rounds = meta.rounds + 1;
            meta.kept = 7;
            meta.lost = 9;
            hdr.i.value = 0xDEAD;
            resubmit_preserving_field_list(1);
        }
        if (hdr.i.op == 2 && meta.rounds < hdr.i.rounds) {
            meta.rounds = meta.rounds + 1;
            meta.kept = meta.kept + 3;
            resubmit_preserving_field_list(2);
        }
        hdr.i.value = hdr.i.value + (bit<16>)meta.rounds + ((bit<16>)meta.kept << 8) + (bit<16>)meta.lost;
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        if (hdr.i.op == 3 && meta.rounds < hdr.i.rounds) {
            meta.rounds = meta.rounds + 1;
            hdr.more.setValid();
            hdr.more.seen = 0xA5;
            hdr.more.instance = standard.instance_type;
            hdr.more.length = standard.packet_length;
            hdr.more.port = standard.ingress_port;
            hdr.more.pad = 0;
            recirculate_preserving_field_list(1);
        }
        if (hdr.i.op == 4 && meta.rounds < hdr.i.rounds) {
            meta.rounds = meta.rounds + 1;
            truncate(6);
            recirculate_preserving_field_list(2);
        }
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
