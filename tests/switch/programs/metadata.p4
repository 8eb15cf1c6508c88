// Standard metadata as programs see it, and priority queues: what waits, for how long, how deep the queue is.

#include "shell.p4"

header in_t { bit<8> priority; bit<8> op; }
header told_t {
    bit<32> waited; bit<19> depth_in; bit<13> pad; bit<19> depth_out; bit<5> pad_again; bit<8> order; bit<48> entered;
    bit<48> left; bit<32> length; bit<32> instance; bit<9> from_port; bit<9> to_port; bit<9> spec; bit<5> end;
}

struct headers_t { told_t told; in_t i; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        standard.priority = hdr.i.priority[2:0];
        if (hdr.i.op == 1) { hdr.told.setValid(); }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        if (hdr.i.op != 2) {
            hdr.told.setValid();
            hdr.told.waited = standard.deq_timedelta;
            hdr.told.depth_in = standard.enq_qdepth;
            hdr.told.depth_out = standard.deq_qdepth;
            hdr.told.pad = 0;
            hdr.told.pad_again = 0;
            hdr.told.order = 0;
            hdr.told.end = 0;
            hdr.told.entered = standard.ingress_global_timestamp;
            hdr.told.left = standard.egress_global_timestamp;
            hdr.told.length = standard.packet_length;
            hdr.told.instance = standard.instance_type;
            hdr.told.from_port = standard.ingress_port;
            hdr.told.to_port = standard.egress_port;
            hdr.told.spec = standard.egress_spec;
        }
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
