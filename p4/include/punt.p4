// Packets for the controller: echo requests to the switch, and what ICMPv6 errors answer (RFC 4443; mrc-facts.md 11).

#ifndef MRC_PUNT_P4
#define MRC_PUNT_P4

// ICMPv6 message types below this are errors, which no error answers (RFC 4443 section 2.4 e).
#define ICMPV6_FIRST_INFORMATIONAL 128

// What v1model calls a packet above the peak rate (RFC 2698).
#define METER_RED 2

// A packet whose reason has no entry, or that is above its reason's meter, is a drop.
control Punt(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    meter(PUNT_REASONS, MeterType.packets) limiter;
    bit<2> colour = 0;
    bit<1> wanted = 0;

    action to_controller() {
        wanted = 1;
    }

    table policy {
        key = {
            meta.punt_reason: exact @name("reason");
        }
        actions = {
            to_controller;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = PUNT_REASONS;
    }

    apply {
        policy.apply();
        if (hdr.icmpv6.isValid() && !hdr.inner_ipv6.isValid()
            && (hdr.icmpv6.message_type < ICMPV6_FIRST_INFORMATIONAL
                || hdr.icmpv6.message_type == ICMPV6_TYPE_REDIRECT)) {
            wanted = 0;
        }
        if (wanted == 1) {
            limiter.execute_meter((bit<32>) meta.punt_reason, colour);
            if (colour == METER_RED) {
                punt_limit_exceeded();
            }
            punted.count((bit<32>) meta.punt_reason);
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = standard_metadata.ingress_port;
            hdr.packet_in.unused = 0;
            hdr.packet_in.reason = meta.punt_reason;
            hdr.packet_in.pointer = meta.punt_pointer;
            meta.port = CPU_PORT;
        } else if (meta.punt_reason == PUNT_HOP_LIMIT) {
            hop_limit_exceeded();
        } else if (meta.punt_reason == PUNT_BAD_SRH) {
            bad_srh();
        } else {
            upper_layer();
        }
    }
}

#endif  // MRC_PUNT_P4
