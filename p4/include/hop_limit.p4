// One hop: 0 or 1 dies, anything else is lowered by one (RFC 8200 section 3; mrc-facts.md 11).

#ifndef MRC_HOP_LIMIT_P4
#define MRC_HOP_LIMIT_P4

control HopLimit(inout ipv6_t ipv6, inout metadata_t meta) {
    apply {
        if (ipv6.hop_limit <= 1) {
            // The packet is left as it is, for whoever answers it.
            meta.next_step = NextStep.PUNT;
            meta.punt_reason = PUNT_HOP_LIMIT;
        } else {
            ipv6.hop_limit = ipv6.hop_limit - 1;
            meta.hop_limit_paid = 1;
        }
    }
}

#endif  // MRC_HOP_LIMIT_P4
