// The last step: a packet whose port is decided leaves through it, if it may.

#ifndef MRC_FORWARDING_P4
#define MRC_FORWARDING_P4

control Forwarding(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    HopLimit() hop_limit;

    action up() {
    }

    // A port that has no entry is down.
    table tx_port {
        key = {
            meta.port: exact @name("port");
        }
        actions = {
            up;
            port_down;
        }
        const default_action = port_down;
        size = PORTS;
    }

    action rewrite(bit<48> src, bit<48> dst) {
        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
        standard_metadata.egress_spec = meta.port;
    }

    table neighbour {
        key = {
            meta.port: exact @name("port");
        }
        actions = {
            rewrite;
            no_neighbour;
        }
        const default_action = no_neighbour;
        size = PORTS;
    }

    apply {
        // Transit, or the inner packet after decapsulation: no SID has lowered this header's hop limit.
        if (meta.hop_limit_paid == 0) {
            hop_limit.apply(hdr.ipv6, meta);
        }
        tx_port.apply();
        neighbour.apply();
    }
}

#endif  // MRC_FORWARDING_P4
