// Multicast: copies by group with their egress_rid, dropped or changed each on its own; mark_to_drop clears the group.

#include "shell.p4"

header in_t { bit<8> op; bit<16> group; }
header told_t { bit<16> rid; bit<9> port; bit<7> pad; bit<32> instance; }

struct headers_t { told_t told; in_t i; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 3;
        standard.mcast_grp = hdr.i.group;
        if (hdr.i.op == 1) { mark_to_drop(standard); }
        if (hdr.i.op == 2) { standard.egress_spec = 511; }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        hdr.told.setValid();
        hdr.told.rid = standard.egress_rid;
        hdr.told.port = standard.egress_port;
        hdr.told.pad = 0;
        hdr.told.instance = standard.instance_type;
        if (hdr.i.op == 3 && standard.egress_rid == 2) { mark_to_drop(standard); }
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
