// Fields of variable length: extracted by a length in the header, copied, counted and sent on.

#include "shell.p4"

header base_t { bit<8> units; bit<8> op; }
header options_t { bit<8> kind; varbit<320> data; bit<8> tail; }
header told_t { bit<16> length; bit<8> fault; }

struct headers_t { told_t told; base_t base; options_t options; options_t copied; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.base);
        transition select(hdr.base.op) { 9: accept; default: options; }
    }
    state options {
        packet.extract(hdr.options, (bit<32>)hdr.base.units * 32);
        transition accept;
    }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        if (hdr.base.op == 1) {
            hdr.copied = hdr.options;
            hdr.options.kind = hdr.options.kind + 1;
        } else if (hdr.base.op == 2) {
            hdr.options.setInvalid();
        } else if (hdr.base.op == 3) {
            hdr.copied = hdr.options;
            hdr.options.setInvalid();
            hdr.copied.tail = 0xEE;
        }
        hdr.told.setValid();
        hdr.told.fault = 0;
        if (hdr.base.op == 4) {
            hdr.copied = hdr.options;
            if (hdr.options.isValid() && hdr.copied.isValid() && hdr.copied.data == hdr.options.data) {
                hdr.told.fault = 8;
            }
        }
        if (standard.parser_error == error.PacketTooShort) { hdr.told.fault = 1; }
        if (standard.parser_error == error.HeaderTooShort) { hdr.told.fault = 2; }
        if (standard.parser_error == error.ParserInvalidArgument) { hdr.told.fault = 3; }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.told.isValid()) { exit; }
        hdr.told.length = (bit<16>)standard.packet_length;
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
