// Parser: select on exact values, masks, ranges and several keys, in order; lookahead; advance; a default.

#include "shell.p4"

header kind_t { bit<8> kind; bit<8> detail; }
header word_t { bit<32> value; }
header odd_t { bit<3> top; bit<13> rest; }
header path_t { bit<8> number; }

struct headers_t { path_t path; kind_t kind; word_t word; odd_t odd; word_t behind; }
struct metadata_t { bit<8> path; bit<16> ahead; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        meta.path = 0;
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind, hdr.kind.detail) {
            (1, 0 .. 9): small;
            (1, 10 .. 99): medium;
            (1, 0x80 &&& 0xC0): masked;
            (2, _): look;
            (3, 0xFF): skip;
            (_, 7): seven;
            default: other;
        }
    }
    state small { meta.path = 1; packet.extract(hdr.word); transition accept; }
    state medium { meta.path = 2; packet.extract(hdr.odd); transition select(hdr.odd.top) { 5: behind; default: accept; } }
    state masked { meta.path = 3; transition behind; }
    state look {
        meta.path = 4;
        meta.ahead = packet.lookahead<bit<16>>();
        transition select(meta.ahead) { 0xBEEF: behind; 0x1000 &&& 0xF000: seven; default: accept; }
    }
    state skip {
        meta.path = 5;
        packet.advance(24);
        transition select(standard.ingress_port) { 1: behind; default: accept; }
    }
    state seven { meta.path = meta.path + 64; packet.extract(hdr.odd); transition accept; }
    state other { meta.path = 9; transition accept; }
    state behind { meta.path = meta.path + 128; packet.extract(hdr.behind); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 2;
        hdr.path.setValid();
        hdr.path.number = meta.path;
        if (hdr.behind.isValid()) {
            hdr.behind.value = hdr.behind.value + (bit<32>)meta.ahead;
        }
        if (hdr.odd.isValid()) {
            hdr.odd.rest = hdr.odd.rest ^ 0x0AAA;
        }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
