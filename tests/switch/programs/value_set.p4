// Parser: a value set, whose members the control plane sets.

#include "shell.p4"

header kind_t { bit<8> first; bit<4> second; bit<4> rest; }
header flag_t { bit<8> value; }

struct headers_t { flag_t flag; kind_t kind; }
struct metadata_t { bit<8> member; }
struct pair_t { bit<8> first; bit<4> second; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<pair_t>(4) pairs;
    state start {
        meta.member = 0;
        packet.extract(hdr.kind);
        transition select(hdr.kind.first, hdr.kind.second) {
            pairs: member;
            (1, 1): one;
            default: accept;
        }
    }
    state member { meta.member = 1; transition accept; }
    state one { meta.member = 2; transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        hdr.flag.setValid();
        hdr.flag.value = meta.member;
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
