// One hop: 0 or 1 dies, anything else is lowered by one (RFC 8200 section 3; mrc-facts.md 11).

#ifndef MRC_HOP_LIMIT_P4
#define MRC_HOP_LIMIT_P4

control HopLimit(inout ipv6_t ipv6, inout metadata_t meta) {
    apply {
        if (ipv6.hop_limit <= 1) {
            hop_limit_exceeded();
        }
        ipv6.hop_limit = ipv6.hop_limit - 1;
        meta.hop_limit_paid = 1;
    }
}

#endif  // MRC_HOP_LIMIT_P4
