// hash(): every algorithm over fields that don't end on bytes, with base and maximum.

#include "shell.p4"

header in_t { bit<8> op; bit<3> a; bit<13> b; bit<32> c; bit<12> d; bit<4> e; bit<64> f; }
header out_t { bit<16> short; bit<32> long; bit<64> wide; }

struct headers_t { out_t o; in_t i; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!hdr.i.isValid()) { exit; }
        standard.egress_spec = 1;
        hdr.o.setValid();
        if (hdr.i.op == 1) {
            hash(hdr.o.short, HashAlgorithm.crc16, 16w0, { hdr.i.a, hdr.i.b, hdr.i.c }, 17w65536);
            hash(hdr.o.long, HashAlgorithm.crc32, 32w0, { hdr.i.a, hdr.i.b, hdr.i.c, hdr.i.d }, 33w0x100000000);
        } else if (hdr.i.op == 2) {
            hash(hdr.o.short, HashAlgorithm.csum16, 16w0, { hdr.i.a, hdr.i.c }, 17w65536);
            hash(hdr.o.long, HashAlgorithm.xor16, 32w1000, { hdr.i.c, hdr.i.f, hdr.i.e }, 32w100);
        } else if (hdr.i.op == 3) {
            hash(hdr.o.wide, HashAlgorithm.identity, 64w0, { hdr.i.b, hdr.i.c, hdr.i.f }, 64w0xFFFFFFFFFFFFFFFF);
            hash(hdr.o.short, HashAlgorithm.identity, 16w5, { hdr.i.d }, 16w0);
        } else if (hdr.i.op == 4) {
            hash(hdr.o.short, HashAlgorithm.crc16_custom, (bit<16>)hdr.i.b, { hdr.i.f, 7w3, hdr.i.a }, hdr.i.d);
            hash(hdr.o.long, HashAlgorithm.crc32_custom, hdr.i.c, { hdr.i.f }, hdr.i.d);
        }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
