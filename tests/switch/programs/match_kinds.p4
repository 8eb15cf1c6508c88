// Tables: every match kind, keys of several kinds together, priorities, static entries, default actions, masked keys.

#include "shell.p4"

header keys_t { bit<8> chosen; bit<16> first; bit<16> second; bit<8> third; bit<4> fourth; bit<4> fifth; }
header result_t { bit<16> value; bit<8> hit; }
header extra_t { bit<16> value; }

struct headers_t { result_t result; keys_t keys; extra_t extra; }
struct metadata_t { }

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.keys);
        transition select(hdr.keys.chosen) { 0x80 &&& 0x80: extra; default: accept; }
    }
    state extra { packet.extract(hdr.extra); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action answer(bit<16> value) { hdr.result.value = value; }
    action port(bit<9> number) { standard.egress_spec = number; hdr.result.value = 0x0F00 | (bit<16>)number; }
    action drop() { mark_to_drop(standard); }

    table exact_one {
        key = { hdr.keys.first: exact; }
        actions = { answer; port; drop; NoAction; }
        default_action = answer(0xE001);
        size = 16;
    }
    table exact_many {
        key = { hdr.keys.first: exact; hdr.keys.third: exact; hdr.keys.fourth: exact; hdr.extra.isValid(): exact; }
        actions = { answer; NoAction; }
        default_action = NoAction();
    }
    table longest {
        key = { hdr.keys.first: lpm; }
        actions = { answer; drop; }
        default_action = answer(0xE003);
    }
    table longest_with_exact {
        key = { hdr.keys.third: exact; hdr.keys.second: lpm; hdr.keys.fourth: exact; }
        actions = { answer; @defaultonly NoAction; }
        const default_action = NoAction();
    }
    table masked {
        key = { hdr.keys.first: ternary; hdr.keys.second: ternary; }
        actions = { answer; port; drop; }
        default_action = answer(0xE005);
    }
    table mixed {
        key = { hdr.keys.first: ternary; hdr.keys.second: lpm; hdr.keys.third: exact; hdr.keys.fifth: optional; }
        actions = { answer; }
        default_action = answer(0xE006);
    }
    table ranged {
        key = { hdr.keys.first: range; hdr.keys.second: range; hdr.keys.third: ternary; hdr.extra.value: exact; }
        actions = { answer; }
        default_action = answer(0xE007);
    }
    table static_entries {
        key = { hdr.keys.first: exact; hdr.keys.second: ternary; }
        actions = { answer; }
        default_action = answer(0xE008);
        const entries = {
            (1, 0x00F0 &&& 0x00F0): answer(1);
            (1, 0x0FF0 &&& 0x0FF0): answer(2);
            (1, _): answer(3);
            (2, 0x1234): answer(4);
        }
    }
    table sliced {
        key = { hdr.keys.first[11:4]: exact @name("middle"); hdr.keys.second & 0x0FFF: exact @name("low"); }
        actions = { answer; }
        default_action = answer(0xE009);
    }
    table keyless {
        actions = { answer; NoAction; }
        default_action = answer(0xE00A);
    }

    apply {
        if (!hdr.keys.isValid()) { exit; }
        standard.egress_spec = 1;
        hdr.result.setValid();
        hdr.result.hit = 0;
        bit<7> number = hdr.keys.chosen[6:0];
        if (number == 1) {
            if (exact_one.apply().hit) { hdr.result.hit = 1; }
        } else if (number == 2) {
            if (!exact_many.apply().hit) { hdr.result.hit = 2; }
        } else if (number == 3) {
            if (longest.apply().hit) { hdr.result.hit = 1; } else { hdr.result.hit = 2; }
        } else if (number == 4) {
            longest_with_exact.apply();
        } else if (number == 5) {
            if (masked.apply().miss) { hdr.result.hit = 3; }
        } else if (number == 6) {
            mixed.apply();
        } else if (number == 7) {
            ranged.apply();
        } else if (number == 8) {
            static_entries.apply();
        } else if (number == 9) {
            sliced.apply();
        } else if (number == 10) {
            keyless.apply();
        }
    }
}

NO_VERIFY
NO_EGRESS
NO_UPDATE
DEPARSE_ALL
SWITCH
