// Ethernet, IPv6, at most one routing header, the IPv6 header of a packet inside, and ICMPv6 behind the last of these.
//
// A parser error does not drop a packet in v1model: it arrives in ingress partly parsed, and admission drops it there.

#ifndef MRC_PARSER_P4
#define MRC_PARSER_P4

error {
    BadIpVersion,
    RoutingHeaderTooLong
}

parser MrcParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: from_controller;
            default: ethernet;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == IP_VERSION_6, error.BadIpVersion);
        transition select(hdr.ipv6.next_header) {
            NEXT_HEADER_ROUTING: routing;
            NEXT_HEADER_IPV6: inner_ipv6;
            NEXT_HEADER_ICMPV6: icmpv6;
            default: accept;
        }
    }

    state routing {
        packet.extract(hdr.srh);
        verify(hdr.srh.hdr_ext_len <= 2 * MAX_SEGMENTS + 1, error.RoutingHeaderTooLong);
        meta.routing_units = hdr.srh.hdr_ext_len;
        transition routing_body;
    }

    state routing_body {
        transition select(meta.routing_units) {
            0: behind_routing;
            1: routing_tail;
            default: segment;
        }
    }

    state segment {
        packet.extract(hdr.segments.next);
        meta.routing_units = meta.routing_units - 2;
        transition routing_body;
    }

    state routing_tail {
        packet.extract(hdr.routing_tail);
        transition behind_routing;
    }

    state behind_routing {
        transition select(hdr.srh.next_header) {
            NEXT_HEADER_IPV6: inner_ipv6;
            NEXT_HEADER_ICMPV6: icmpv6;
            default: accept;
        }
    }

    state inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        transition select(hdr.inner_ipv6.next_header) {
            NEXT_HEADER_ICMPV6: icmpv6;
            default: accept;
        }
    }

    state icmpv6 {
        packet.extract(hdr.icmpv6);
        transition accept;
    }
}

#endif  // MRC_PARSER_P4
