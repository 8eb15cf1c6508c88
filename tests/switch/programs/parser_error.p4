// Parser errors: verify with an error of the program, a packet too short, and what ingress then sees.

#include "shell.p4"

error { BadVersion, BadLength }

header base_t { bit<4> version; bit<4> kind; bit<8> length; }
header more_t { bit<24> value; bit<8> tail; }
header told_t { bit<8> fault; bit<8> seen; }

struct headers_t { told_t told; base_t base; more_t more; more_t again; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.base);
        verify(hdr.base.version == 6, error.BadVersion);
        transition select(hdr.base.kind) { 1: more; 2: check; default: accept; }
    }
    state more { packet.extract(hdr.more); transition select(hdr.more.tail) { 0: accept; default: again; } }
    state check {
        verify(hdr.base.length >= 4 && hdr.base.length <= 60, error.BadLength);
        transition more;
    }
    state again { packet.extract(hdr.again); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 3;
        hdr.told.setValid();
        if (standard.parser_error == error.NoError) {
            hdr.told.fault = 0;
        } else if (standard.parser_error == error.PacketTooShort) {
            hdr.told.fault = 1;
        } else if (standard.parser_error == error.BadVersion) {
            hdr.told.fault = 2;
        } else if (standard.parser_error == error.BadLength) {
            hdr.told.fault = 3;
        } else {
            hdr.told.fault = 255;
        }
        hdr.told.seen = (hdr.base.isValid() ? 8w1 : 0) | (hdr.more.isValid() ? 8w2 : 0)
            | (hdr.again.isValid() ? 8w4 : 0);
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
