// The segment routing header at an endpoint (RFC 8754 section 4.3.1.1, RFC 8986 sections 4.1 and 4.16).

#ifndef MRC_SRH_P4
#define MRC_SRH_P4

// Where in an IPv6 packet two fields of a routing header stand, for a parameter problem to point at.
#define ROUTING_TYPE_AT 42
#define SEGMENTS_LEFT_AT 43

// Bytes of the routing header; only where there is one.
#define ROUTING_BYTES (SRH_BYTES + ((bit<32>) hdr.srh.hdr_ext_len << 3))

// An endpoint that cannot follow its routing header.
control UnusableSrh(inout metadata_t meta, in bit<16> pointer) {
    apply {
        meta.next_step = NextStep.PUNT;
        meta.punt_reason = PUNT_BAD_SRH;
        meta.punt_pointer = pointer;
    }
}

// End: the next segment of the SRH becomes the destination.
control NextSegment(inout headers_t hdr, inout metadata_t meta) {
    HopLimit() hop_limit;
    UnusableSrh() unusable;

    apply {
        // A hop limit is tested first and lowered last (S05, S12): what is refused goes back as it came.
        if (hdr.ipv6.hop_limit > 1 && hdr.srh.routing_type != ROUTING_TYPE_SRH) {
            unusable.apply(meta, ROUTING_TYPE_AT);
        } else if (hdr.ipv6.hop_limit > 1
                   && (hdr.srh.last_entry >= hdr.srh.hdr_ext_len >> 1
                       || hdr.srh.segments_left > hdr.srh.last_entry + 1
                       || (bit<32>) hdr.ipv6.payload_length < ROUTING_BYTES)) {
            // As many 16-byte units as the length says may be segments; TLVs may follow them.
            unusable.apply(meta, SEGMENTS_LEFT_AT);
        } else {
            hop_limit.apply(hdr.ipv6, meta);
        }
        if (meta.next_step != NextStep.PUNT) {
            hdr.srh.segments_left = hdr.srh.segments_left - 1;
            // What was checked above, said again in terms that p4c follows: the segment is there.
            if (hdr.srh.segments_left == 0 && hdr.segments[0].isValid()) {
                hdr.ipv6.dst = hdr.segments[0].address;
            } else if (hdr.srh.segments_left == 1 && hdr.segments[1].isValid()) {
                hdr.ipv6.dst = hdr.segments[1].address;
            } else if (hdr.srh.segments_left == 2 && hdr.segments[2].isValid()) {
                hdr.ipv6.dst = hdr.segments[2].address;
            } else if (hdr.segments[3].isValid()) {
                hdr.ipv6.dst = hdr.segments[3].address;
            }
        }
    }
}

#endif  // MRC_SRH_P4
