// Static routes: the next uSID's /48, or any other prefix. No ECMP and nothing learnt (mrc-facts.md 4.1).

#ifndef MRC_ROUTING_P4
#define MRC_ROUTING_P4

control Routing(inout headers_t hdr, inout metadata_t meta) {
    direct_counter(CounterType.packets_and_bytes) route_hits;

    action forward(port_t port) {
        route_hits.count();
        meta.port = port;
    }

    // unknown_sid covers the fabric's block as a whole, sid_loop each SID of this switch.
    table route {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            forward;
            unknown_sid;
            sid_loop;
            no_route;
        }
        const default_action = no_route;
        counters = route_hits;
        size = 4096;
    }

    apply {
        route.apply();
    }
}

#endif  // MRC_ROUTING_P4
