// Header stacks: next, last, lastIndex, push_front, pop_front, elements by constant and by computed index, overflow.

#include "shell.p4"

header op_t { bit<8> op; bit<8> index; bit<16> value; }
header label_t { bit<20> label; bit<3> traffic; bit<1> bottom; bit<8> ttl; }
header result_t { bit<8> fault; bit<8> valid; bit<32> sum; }

struct headers_t { result_t result; op_t op; label_t[4] labels; label_t[4] saved; }
struct metadata_t { bit<8> last; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        meta.last = 0;
        packet.extract(hdr.op);
        transition select(hdr.op.op) { 0xFF: accept; default: label; }
    }
    state label {
        packet.extract(hdr.labels.next);
        meta.last = (bit<8>)hdr.labels.lastIndex;
        transition select(hdr.labels.last.bottom) { 1: accept; default: label; }
    }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    bit<2> index = hdr.op.index[1:0];
    apply {
        if (!hdr.op.isValid()) { exit; }
        standard.egress_spec = 1;
        hdr.result.setValid();
        hdr.result.fault = (bit<8>)(standard.parser_error == error.StackOutOfBounds ? 8w1 : 0)
            | (bit<8>)(standard.parser_error == error.PacketTooShort ? 8w2 : 0);
        hdr.result.sum = (bit<32>)meta.last;
        if (hdr.op.op == 1) {
            hdr.labels.push_front(1);
            hdr.labels[0].setValid();
            hdr.labels[0].label = (bit<20>)hdr.op.value;
            hdr.labels[0].ttl = 64;
        } else if (hdr.op.op == 2) {
            hdr.labels.pop_front(1);
        } else if (hdr.op.op == 3) {
            hdr.labels.push_front(2);
        } else if (hdr.op.op == 4) {
            hdr.labels.pop_front(3);
        } else if (hdr.op.op == 5 && hdr.labels[0].isValid() && index <= meta.last[1:0]) {
            hdr.labels[index].ttl = hdr.labels[index].ttl - 1;
            hdr.result.sum = (bit<32>)hdr.labels[index].label;
        } else if (hdr.op.op == 6) {
            hdr.saved = hdr.labels;
            hdr.labels.pop_front(2);
        } else if (hdr.op.op == 7) {
            hdr.labels[3] = hdr.labels[0];
            hdr.labels[0].setInvalid();
        }
        hdr.result.valid = (hdr.labels[0].isValid() ? 8w1 : 0) | (hdr.labels[1].isValid() ? 8w2 : 0)
            | (hdr.labels[2].isValid() ? 8w4 : 0) | (hdr.labels[3].isValid() ? 8w8 : 0);
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
