// A program that comes to rest for no frame whose first byte is 0: it resubmits it without end.

#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8> byte;
}

struct headers_t {
    first_t first;
}

struct metadata_t {
    @field_list(1)
    bit<1> again;
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.first);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control IngressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        if (hdr.first.byte == 0) {
            resubmit_preserving_field_list(1);
        }
    }
}

control EgressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control DeparserImpl(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.first);
    }
}

V1Switch(ParserImpl(), NoChecksum(), IngressImpl(), EgressImpl(), NoChecksum(), DeparserImpl()) main;
