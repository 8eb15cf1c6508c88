// Checksums: IPv4 verified and updated under conditions, UDP over its pseudo-header and the payload.

#include "shell.p4"

header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> total; bit<16> id; bit<3> flags; bit<13> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header option_t { bit<32> value; }
header udp_t { bit<16> src; bit<16> dst; bit<16> length; bit<16> checksum; }
header told_t { bit<8> wrong; }

struct headers_t { told_t told; ipv4_t ipv4; option_t option; udp_t udp; }
struct metadata_t { bit<1> keep; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        meta.keep = 0;
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) { 5: transport; 6: option; default: accept; }
    }
    state option { packet.extract(hdr.option); transition transport; }
    state transport { transition select(hdr.ipv4.protocol) { 17: udp; default: accept; } }
    state udp { packet.extract(hdr.udp); transition accept; }
}

control Check(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5, { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos,
            hdr.ipv4.total, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src, hdr.ipv4.dst }, hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0, { hdr.ipv4.src, hdr.ipv4.dst, 8w0,
            hdr.ipv4.protocol, hdr.udp.length, hdr.udp.src, hdr.udp.dst, hdr.udp.length }, hdr.udp.checksum,
            HashAlgorithm.csum16);
    }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        hdr.told.setValid();
        hdr.told.wrong = (bit<8>)standard.checksum_error;
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            if (hdr.ipv4.tos == 0xFF) { meta.keep = 1; }
        }
        if (hdr.udp.isValid()) { hdr.udp.dst = hdr.udp.dst + 1; }
    }
}

control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && meta.keep == 0, { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos,
            hdr.ipv4.total, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src, hdr.ipv4.dst, hdr.option.value }, hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0, { hdr.ipv4.src, hdr.ipv4.dst, 8w0,
            hdr.ipv4.protocol, hdr.udp.length, hdr.udp.src, hdr.udp.dst, hdr.udp.length }, hdr.udp.checksum,
            HashAlgorithm.csum16);
    }
}

NO_EGRESS
DEPARSE_ALL
SWITCH
