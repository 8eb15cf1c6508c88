// Everything that the control plane can touch: each kind of match key, default actions that may and may not change,
// constant entries, counters and meters of both kinds, controller headers, replication. Forwarding is by `port_exact`.

#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 510;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> pad;
}

header word_t {
    bit<8> kind;
    bit<8> small;
    bit<12> odd;
    bit<4> nibble;
    bit<128> address;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    word_t word;
}

struct metadata_t {
    bit<32> colour;
    bit<32> exact_colour;
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.ingress_port) {
            CPU_PORT: from_controller;
            default: from_wire;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition from_wire;
    }
    state from_wire {
        packet.extract(hdr.word);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control IngressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(16, CounterType.packets_and_bytes) seen;
    counter(1, CounterType.packets) single;
    meter(4, MeterType.packets) limit;
    direct_counter(CounterType.packets_and_bytes) exact_hits;
    direct_meter<bit<32>>(MeterType.packets) exact_rate;

    action drop() {
        mark_to_drop(standard);
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
        exact_hits.count();
        exact_rate.read(meta.exact_colour);
    }

    action discard() {
        mark_to_drop(standard);
        exact_hits.count();
    }

    action mark(bit<12> odd, bit<128> address) {
        hdr.word.odd = odd;
        hdr.word.address = address;
    }

    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }

    action to_controller(bit<7> reason) {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard.ingress_port;
        hdr.packet_in.reason = reason;
        standard.egress_spec = CPU_PORT;
    }

    table port_exact {
        key = {
            standard.ingress_port: exact;
            hdr.word.small: exact;
        }
        actions = {
            forward;
            discard;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        counters = exact_hits;
        meters = exact_rate;
        size = 64;
    }

    table route_lpm {
        key = {
            hdr.word.address: lpm;
        }
        actions = {
            mark;
            flood;
            to_controller;
            @tableonly drop;
            NoAction;
        }
        default_action = NoAction();
        size = 8;
    }

    table acl {
        key = {
            hdr.word.address: ternary;
            hdr.word.odd: range;
            hdr.word.nibble: optional;
            hdr.word.kind: exact;
        }
        actions = {
            mark;
            drop;
            to_controller;
            NoAction;
        }
        const default_action = NoAction();
    }

    table fixed {
        key = {
            hdr.word.kind: exact;
        }
        actions = {
            mark;
            NoAction;
        }
        const entries = {
            0x11: mark(0x111, 0x1);
            0x22: mark(0x222, 0x2);
        }
        const default_action = NoAction();
    }

    apply {
        drop();
        if (hdr.packet_out.isValid()) {
            standard.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            seen.count((bit<32>)hdr.word.nibble);
            single.count(0);
            limit.execute_meter((bit<32>)hdr.word.nibble & 3, meta.colour);
            port_exact.apply();
            fixed.apply();
            route_lpm.apply();
            acl.apply();
            if (meta.colour == 2) {
                drop();
            }
        }
    }
}

control EgressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control DeparserImpl(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.word);
    }
}

V1Switch(ParserImpl(), NoChecksum(), IngressImpl(), EgressImpl(), NoChecksum(), DeparserImpl()) main;
