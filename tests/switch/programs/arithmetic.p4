// Expressions: every operation, unsigned and signed, wrapping and saturating, of odd and of large widths.

#include "shell.p4"

header in_t { bit<8> op; bit<32> a; bit<32> b; bit<5> n; bit<11> w; int<16> s; int<16> t; bit<128> big; }
header out_t { bit<64> r; int<16> q; bit<11> w; bit<5> n; bit<128> big; bit<8> flags; }

struct headers_t { in_t i; out_t o; }
struct metadata_t { bool truth; }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.i); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action unsigned_ops() {
        if (hdr.i.op == 1) { hdr.o.r = (bit<64>)(hdr.i.a + hdr.i.b); }
        if (hdr.i.op == 2) { hdr.o.r = (bit<64>)(hdr.i.a - hdr.i.b); }
        if (hdr.i.op == 3) { hdr.o.r = (bit<64>)hdr.i.a * (bit<64>)hdr.i.b; }
        if (hdr.i.op == 4) { hdr.o.r = (bit<64>)(hdr.i.a & hdr.i.b) | (bit<64>)(hdr.i.a ^ hdr.i.b) << 32; }
        if (hdr.i.op == 5) { hdr.o.r = (bit<64>)(hdr.i.a << hdr.i.n); }
        if (hdr.i.op == 6) { hdr.o.r = (bit<64>)(hdr.i.a >> hdr.i.n); }
        if (hdr.i.op == 7) { hdr.o.r = (bit<64>)(hdr.i.a |+| hdr.i.b); }
        if (hdr.i.op == 8) { hdr.o.r = (bit<64>)(hdr.i.a |-| hdr.i.b); }
        if (hdr.i.op == 9) { hdr.o.r = (bit<64>)(~hdr.i.a); }
        if (hdr.i.op == 10) { hdr.o.r = (bit<64>)(-hdr.i.a); }
        if (hdr.i.op == 11) { hdr.o.r = (bit<64>)(hdr.i.a[23:8] ++ hdr.i.b[7:0]); }
        if (hdr.i.op == 12) { hdr.o.r[47:16] = hdr.i.a; hdr.o.r[3:0] = hdr.i.b[31:28]; }
        if (hdr.i.op == 13) { hdr.o.r = (bit<64>)(hdr.i.a > hdr.i.b ? hdr.i.a : hdr.i.b); }
        if (hdr.i.op == 14) { hdr.o.w = hdr.i.w + 11w2047; hdr.o.n = (bit<5>)hdr.i.w * 5w7; }
        if (hdr.i.op == 15) { hdr.o.w = hdr.i.w |-| 11w1024; hdr.o.n = hdr.i.n |+| 5w9; }
    }
    action signed_ops() {
        if (hdr.i.op == 33) { hdr.o.q = hdr.i.s + hdr.i.t; }
        if (hdr.i.op == 34) { hdr.o.q = hdr.i.s - hdr.i.t; }
        if (hdr.i.op == 35) { hdr.o.q = hdr.i.s |+| hdr.i.t; }
        if (hdr.i.op == 36) { hdr.o.q = hdr.i.s |-| hdr.i.t; }
        if (hdr.i.op == 37) { hdr.o.q = -hdr.i.s; }
        if (hdr.i.op == 38) { hdr.o.q = hdr.i.s >> 3; }
        if (hdr.i.op == 39) { hdr.o.q = hdr.i.s << 3; }
        if (hdr.i.op == 40) { hdr.o.q = hdr.i.s * hdr.i.t; }
        if (hdr.i.op == 41) { hdr.o.r = (bit<64>)(bit<16>)hdr.i.s; }
        if (hdr.i.op == 42) { hdr.o.r = (bit<64>)(int<64>)hdr.i.s; }
        if (hdr.i.op == 43) { hdr.o.q = (int<16>)(int<8>)hdr.i.s; }
        if (hdr.i.op == 44) { hdr.o.q = hdr.i.s & hdr.i.t | ~hdr.i.s ^ 16s77; }
    }
    action big_ops() {
        if (hdr.i.op == 65) { hdr.o.big = hdr.i.big << 16; }
        if (hdr.i.op == 66) { hdr.o.big = (hdr.i.big & ((128w1 << 96) - 1)) << 16 | hdr.i.big >> 96 << 96; }
        if (hdr.i.op == 67) { hdr.o.big = hdr.i.big + hdr.i.big; }
        if (hdr.i.op == 68) { hdr.o.big = hdr.i.big >> hdr.i.n; }
        if (hdr.i.op == 69) { hdr.o.big = hdr.i.a ++ hdr.i.b ++ hdr.i.big[63:0]; }
        if (hdr.i.op == 70) { hdr.o.big = ~hdr.i.big; }
    }
    action compare() {
        hdr.o.flags = 0;
        if (hdr.i.a == hdr.i.b) { hdr.o.flags[0:0] = 1; }
        if (hdr.i.a < hdr.i.b) { hdr.o.flags[1:1] = 1; }
        if (hdr.i.s < hdr.i.t) { hdr.o.flags[2:2] = 1; }
        if (hdr.i.s >= 0) { hdr.o.flags[3:3] = 1; }
        meta.truth = hdr.i.a != hdr.i.b;
        if (meta.truth && !(hdr.i.s == hdr.i.t) || hdr.i.w == 0) { hdr.o.flags[4:4] = 1; }
        hdr.o.flags[5:5] = (bit<1>)meta.truth;
        hdr.o.flags[7:6] = hdr.i.n[4:3];
    }
    apply {
        standard.egress_spec = 1;
        if (hdr.i.isValid()) {
            hdr.o.setValid();
            unsigned_ops();
            signed_ops();
            big_ops();
            compare();
        }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
