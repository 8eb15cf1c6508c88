// A packet whose port is decided leaves through it, if it may.

#ifndef MRC_FORWARDING_P4
#define MRC_FORWARDING_P4

control Forwarding(inout headers_t hdr, inout metadata_t meta) {
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
        // v1model takes the highest port for a drop, which no counter would see: no entry can bring it up.
        if (meta.port == PORTS - 1) {
            port_down();
        }
        tx_port.apply();
        // What the controller sends through a port has the MACs that it gave it.
        if (!hdr.packet_out.isValid() || hdr.packet_out.submit_to_ingress == 1) {
            neighbour.apply();
        }
    }
}

#endif  // MRC_FORWARDING_P4
