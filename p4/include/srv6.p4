// The switch's own SIDs: uN, uA and End, with USD (RFC 8986 section 4, RFC 9800 section 4; mrc-facts.md 8.1, 11).
//
// Ingress applies LocalSid twice, so a packet may spend two SIDs of this switch in one pass (uN then uA, or its own uSID
// twice). Whatever comes third meets a route that says so.

#ifndef MRC_SRV6_P4
#define MRC_SRV6_P4

// What a SID entry asks for. NEXT-CSID moves the argument, the address bits behind the SID, up by `shift` bits.
struct sid_t {
    bit<128> argument_mask;
    bit<8> shift;
    bit<1> usd;  // ultimate segment decapsulation
    bit<1> cross_connect;
}

// End: the next segment of the SRH becomes the destination (RFC 8754 section 4.3.1.1).
control NextSegment(inout headers_t hdr, inout metadata_t meta) {
    HopLimit() hop_limit;

    apply {
        hop_limit.apply(hdr.ipv6, meta);
        // As many 16-byte units as the length says may be segments; TLVs may follow them.
        if (hdr.srh.routing_type != ROUTING_TYPE_SRH || hdr.srh.last_entry >= hdr.srh.hdr_ext_len >> 1
            || hdr.srh.segments_left > hdr.srh.last_entry + 1) {
            bad_srh();
        }
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
        } else {
            bad_srh();
        }
    }
}

// USD: the packet inside goes on by itself. Its own hop limit is still to be tested; the outer one never is.
control Decapsulation(inout headers_t hdr, inout metadata_t meta) {
    Martians() martians;

    apply {
        bit<32> routing_bytes = 0;
        if (hdr.srh.isValid()) {
            routing_bytes = SRH_BYTES + ((bit<32>) hdr.srh.hdr_ext_len << 3);
        }
        if (hdr.inner_ipv6.version != IP_VERSION_6) {
            upper_layer();
        }
        if ((bit<32>) hdr.ipv6.payload_length
            < routing_bytes + IPV6_BYTES + (bit<32>) hdr.inner_ipv6.payload_length) {
            truncated();
        }
        hdr.ipv6 = hdr.inner_ipv6;
        hdr.inner_ipv6.setInvalid();
        hdr.srh.setInvalid();
        hdr.segments[0].setInvalid();
        hdr.segments[1].setInvalid();
        hdr.segments[2].setInvalid();
        hdr.segments[3].setInvalid();
        hdr.routing_tail.setInvalid();
        meta.hop_limit_paid = 0;
        martians.apply(hdr.ipv6);
    }
}

control LocalSid(inout headers_t hdr, inout metadata_t meta) {
    direct_counter(CounterType.packets_and_bytes) sid_hits;
    HopLimit() hop_limit;
    NextSegment() next_segment;
    Decapsulation() decapsulation;
    sid_t sid = { 0, 0, 0, 0 };

    // End with NEXT-CSID: a node. Prefix block + uSID, /48.
    action uN(bit<1> usd) {
        sid_hits.count();
        sid.argument_mask = USID_ARGUMENT_MASK;
        sid.shift = (bit<8>) USID_BITS;
        sid.usd = usd;
    }

    // End.X with NEXT-CSID: an adjacency. Prefix block + uSID of the local block, /48.
    action uA(bit<1> usd, port_t port) {
        sid_hits.count();
        sid.argument_mask = USID_ARGUMENT_MASK;
        sid.shift = (bit<8>) USID_BITS;
        sid.usd = usd;
        sid.cross_connect = 1;
        meta.port = port;
    }

    // The same with a prefix of block + node + function, /64.
    action uA_node(bit<1> usd, port_t port) {
        sid_hits.count();
        sid.argument_mask = USID_ARGUMENT_MASK >> USID_BITS;
        sid.shift = (bit<8>) (2 * USID_BITS);
        sid.usd = usd;
        sid.cross_connect = 1;
        meta.port = port;
    }

    // End without compression: the whole prefix is the SID, there is no argument.
    action End(bit<1> usd) {
        sid_hits.count();
        sid.usd = usd;
    }

    table my_sid {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            uN;
            uA;
            uA_node;
            End;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        counters = sid_hits;
        size = 1024;
    }

    apply {
        if (my_sid.apply().hit) {
            bit<128> argument = hdr.ipv6.dst & sid.argument_mask;
            if (argument == 0 && hdr.srh.isValid() && hdr.srh.segments_left != 0) {
                next_segment.apply(hdr, meta);
            } else if (argument == 0 && sid.usd == 1 && hdr.inner_ipv6.isValid()) {
                decapsulation.apply(hdr, meta);
            } else if (argument != 0 || sid.cross_connect == 1) {
                // The argument moves to where the SID was, zeros follow. A uA without one leaves the bare block.
                hop_limit.apply(hdr.ipv6, meta);
                hdr.ipv6.dst = (hdr.ipv6.dst & USID_BLOCK_MASK) | ((hdr.ipv6.dst << sid.shift) & USID_CARRIER_MASK);
            } else {
                upper_layer();
            }

            meta.next_step = NextStep.LOOK_UP_AGAIN;
            if (sid.cross_connect == 1) {
                meta.next_step = NextStep.CROSS_CONNECT;
            }
        }
    }
}

#endif  // MRC_SRV6_P4
