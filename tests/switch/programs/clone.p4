// Clones: from ingress with the frame as it came, from egress with the headers as they left; metadata that is kept.

#include "shell.p4"

header in_t { bit<8> op; bit<16> value; }
header told_t { bit<32> instance; bit<8> kept; bit<8> lost; bit<16> rid; bit<32> length; bit<9> port; bit<7> pad; }

struct headers_t { told_t told; in_t i; }
struct metadata_t {
    @field_list(1) bit<8> kept;
    bit<8> lost;
}

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        meta.kept = 0x11;
        meta.lost = 0x22;
        if (hdr.i.op == 1) { clone(CloneType.I2E, 5); }
        if (hdr.i.op == 2) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
        if (hdr.i.op == 3) { clone(CloneType.I2E, (bit<32>)hdr.i.value); }
        if (hdr.i.op == 4) { clone_preserving_field_list(CloneType.I2E, 5, 1); mark_to_drop(standard); }
        hdr.i.value = hdr.i.value + 1;
        meta.kept = meta.kept + 1;
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        if (standard.instance_type == 0) {
            hdr.i.value = hdr.i.value + 0x100;
            if (hdr.i.op == 6) { clone_preserving_field_list(CloneType.E2E, 6, 1); }
            if (hdr.i.op == 7) { clone(CloneType.E2E, 6); mark_to_drop(standard); }
            meta.kept = meta.kept + 1;
        } else {
            hdr.told.setValid();
            hdr.told.instance = standard.instance_type;
            hdr.told.kept = meta.kept;
            hdr.told.lost = meta.lost;
            hdr.told.rid = standard.egress_rid;
            hdr.told.length = standard.packet_length;
            hdr.told.port = standard.egress_port;
            hdr.told.pad = 0;
        }
    }
}

NO_VERIFY
NO_UPDATE
DEPARSE_ALL
SWITCH
