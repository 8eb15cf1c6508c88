// Decapsulation: the packet inside goes on by itself (RFC 8986 sections 4.6 and 4.16.3).

#ifndef MRC_DECAPSULATION_P4
#define MRC_DECAPSULATION_P4

// DSCP by the model of RFC 2983: the inner one (pipe), or the outer one (uniform). ECN by RFC 6040, figure 4. The
// inner hop limit is still to be tested; the outer one never is (mrc-facts.md 11).
control Decapsulation(inout headers_t hdr, inout metadata_t meta, in bit<1> uniform) {
    RemoveRoutingHeader() remove;
    Martians() martians;

    apply {
        bit<32> outer_bytes = IPV6_BYTES;
        if (hdr.srh.isValid()) {
            outer_bytes = IPV6_BYTES + ROUTING_BYTES;
        }
        // The packet inside must be whole within the one around it: what was cut must not lose the mark of that.
        if ((bit<32>) hdr.ipv6.payload_length < outer_bytes + (bit<32>) hdr.inner_ipv6.payload_length) {
            truncated();
        }
        if (hdr.ipv6.ecn == ECN_CE) {
            if (hdr.inner_ipv6.ecn == ECN_NOT_ECT) {
                ecn_mismatch();
            }
            hdr.inner_ipv6.ecn = ECN_CE;
        } else if (hdr.ipv6.ecn == ECN_ECT1 && hdr.inner_ipv6.ecn == ECN_ECT0) {
            hdr.inner_ipv6.ecn = ECN_ECT1;
        }
        if (uniform == 1) {
            hdr.inner_ipv6.dscp = hdr.ipv6.dscp;
        }
        hdr.ipv6 = hdr.inner_ipv6;
        hdr.inner_ipv6.setInvalid();
        remove.apply(hdr);
        meta.length = meta.length - outer_bytes;
        meta.hop_limit_paid = 0;
        martians.apply(hdr.ipv6);
        decapsulated.count(0);
    }
}

#endif  // MRC_DECAPSULATION_P4
