// Whether and with which ECN the packet inside may go on by itself (RFC 8986 sections 4.6 and 4.16.3).

#ifndef MRC_DECAPSULATION_P4
#define MRC_DECAPSULATION_P4

// Drops what must not be decapsulated. ECN by RFC 6040, figure 4; the headers are taken off in Flavours.
control Decapsulation(inout headers_t hdr, inout metadata_t meta) {
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
        martians.apply(hdr.inner_ipv6);
        meta.length = meta.length - outer_bytes;
    }
}

#endif  // MRC_DECAPSULATION_P4
