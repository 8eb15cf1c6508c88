// A stack of header unions: extracted one by one, pushed, popped and assigned as a whole.

#include "shell.p4"

header in_t { bit<8> op; }
header kind_t { bit<8> kind; }
header short_t { bit<8> kind; bit<8> value; }
header long_t { bit<8> kind; bit<24> value; }
header told_t { bit<8> valid; bit<8> fault; }

header_union either_t { short_t short; long_t long; }

struct headers_t { told_t told; in_t i; either_t[3] list; either_t[3] other; kind_t end; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition next; }
    state next {
        transition select(packet.lookahead<bit<8>>()) { 1: short; 2: long; default: end; }
    }
    state short { packet.extract(hdr.list.next.short); transition next; }
    state long { packet.extract(hdr.list.next.long); transition next; }
    state end { packet.extract(hdr.end); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        if (hdr.i.op == 1) {
            hdr.list.pop_front(1);
        } else if (hdr.i.op == 2) {
            hdr.list.push_front(1);
            hdr.list[0].long.setValid();
            hdr.list[0].long.kind = 2;
            hdr.list[0].long.value = 0xABCDEF;
        } else if (hdr.i.op == 3) {
            hdr.other = hdr.list;
            hdr.list[0].short.setInvalid();
        } else if (hdr.i.op == 4) {
            hdr.list[1].short.setValid();
            hdr.list[1].short.kind = 1;
            hdr.list[1].short.value = 0x77;
        }
        hdr.told.setValid();
        hdr.told.valid = (hdr.list[0].short.isValid() ? 8w1 : 0) | (hdr.list[0].long.isValid() ? 8w2 : 0)
            | (hdr.list[1].short.isValid() ? 8w4 : 0) | (hdr.list[1].long.isValid() ? 8w8 : 0)
            | (hdr.list[2].short.isValid() ? 8w16 : 0) | (hdr.list[2].long.isValid() ? 8w32 : 0);
        hdr.told.fault = standard.parser_error == error.NoError ? 8w0 : 1;
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
