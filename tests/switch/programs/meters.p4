// Meters: packets and bytes, by index and direct; the colour decides.

#include "shell.p4"

header in_t { bit<8> kind; bit<8> index; }
header told_t { bit<8> colour; bit<8> direct; }

struct headers_t { told_t told; in_t i; }
struct metadata_t { bit<2> colour; bit<2> direct; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    meter<bit<8>>(4, MeterType.packets) packets;
    meter<bit<8>>(4, MeterType.bytes) octets;
    direct_meter<bit<2>>(MeterType.packets) by_kind;

    action look() { by_kind.read(meta.direct); }
    table kinds {
        key = { hdr.i.kind: exact; }
        actions = { look; @defaultonly NoAction; }
        const default_action = NoAction();
        meters = by_kind;
        size = 8;
    }
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        meta.colour = 3;
        meta.direct = 3;
        if (hdr.i.kind < 10) {
            packets.execute_meter(hdr.i.index, meta.colour);
        } else {
            octets.execute_meter(hdr.i.index, meta.colour);
        }
        kinds.apply();
        hdr.told.setValid();
        hdr.told.colour = (bit<8>)meta.colour;
        hdr.told.direct = (bit<8>)meta.direct;
        if (meta.colour == 2) { mark_to_drop(standard); }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
