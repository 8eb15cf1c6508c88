// Action profiles: members alone, and groups of which a hash of the packet chooses one.

#include "shell.p4"

header in_t { bit<8> table_key; bit<16> flow; bit<32> address; }
header told_t { bit<16> member; bit<8> hit; }

struct headers_t { told_t told; in_t i; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action_selector(HashAlgorithm.crc16, 64, 16) chooser;
    action_profile(16) profile;
    action tell(bit<16> member) { hdr.told.member = member; }
    action drop() { mark_to_drop(standard); }
    table grouped {
        key = { hdr.i.table_key: exact; hdr.i.flow: selector; hdr.i.address: selector; }
        actions = { tell; drop; NoAction; }
        implementation = chooser;
    }
    table single {
        key = { hdr.i.table_key: exact; }
        actions = { tell; drop; NoAction; }
        implementation = profile;
    }
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        hdr.told.setValid();
        hdr.told.member = 0;
        hdr.told.hit = 0;
        if (grouped.apply().hit) { hdr.told.hit = 1; } else { single.apply(); }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
