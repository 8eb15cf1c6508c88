// What a packet must be before any table decides about it: from a port that is up, whole, IPv6, of sane addresses.

#ifndef MRC_ADMISSION_P4
#define MRC_ADMISSION_P4

// First bits of addresses that no router forwards (RFC 4291 sections 2.5 to 2.7).
#define MULTICAST 8w0xFF
#define LINK_LOCAL 10w0x3FA

// Drops what has the unspecified, the loopback, a link-local or a multicast address as source or destination.
control Martians(in ipv6_t ipv6) {
    apply {
        if (ipv6.src[127:1] == 0 || ipv6.src[127:120] == MULTICAST || ipv6.src[127:118] == LINK_LOCAL
            || ipv6.dst[127:1] == 0 || ipv6.dst[127:120] == MULTICAST || ipv6.dst[127:118] == LINK_LOCAL) {
            martian();
        }
    }
}

control Admission(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Martians() martians;

    action up() {
    }

    // A port that has no entry is down.
    table rx_port {
        key = {
            standard_metadata.ingress_port: exact @name("port");
        }
        actions = {
            up;
            port_down;
        }
        const default_action = port_down;
        size = PORTS;
    }

    apply {
        meta.length = standard_metadata.packet_length;
        if (hdr.packet_out.isValid()) {
            meta.length = meta.length - PACKET_OUT_BYTES;
        } else {
            rx_port.apply();
        }
        if (standard_metadata.parser_error != error.NoError) {
            parser_failed();
        }
        if (hdr.packet_out.isValid() && hdr.packet_out.submit_to_ingress == 0) {
            // As it is, out of the port that the controller names.
            meta.port = hdr.packet_out.egress_port;
            meta.next_step = NextStep.CROSS_CONNECT;
            meta.hop_limit_paid = 1;
        } else {
            if (!hdr.ipv6.isValid()) {
                not_ipv6();
            }
            if (meta.length < ETHERNET_BYTES + IPV6_BYTES + (bit<32>) hdr.ipv6.payload_length) {
                truncated();
            }
            martians.apply(hdr.ipv6);
        }
    }
}

#endif  // MRC_ADMISSION_P4
