// The switch's own SIDs and its loopback (RFC 8986 section 4, RFC 9800 section 4; mrc-facts.md 8.1, 11).
//
// Ingress applies LocalSid twice, so a packet may spend two SIDs of this switch in one pass (uN then uA, or its own
// uSID twice). Whatever comes third meets a route that says so.

#ifndef MRC_SRV6_P4
#define MRC_SRV6_P4

// What a SID entry asks for. NEXT-CSID moves the argument, the address bits behind the SID, up by `shift` bits; a
// behaviour without NEXT-CSID has none.
struct sid_t {
    bit<128> argument_mask;
    bit<8> shift;
    bit<1> psp;  // penultimate segment pop
    bit<1> usp;  // ultimate segment pop
    bit<1> usd;  // ultimate segment decapsulation
    bit<1> uniform;  // decapsulation keeps the outer DSCP
    bit<1> forwards;  // with nothing left to do the packet still goes on: uA
    bit<1> final;  // no segment may be left: uDT6, loopback
    bit<1> loopback;
}

control LocalSid(inout headers_t hdr, inout metadata_t meta) {
    direct_counter(CounterType.packets_and_bytes) sid_hits;
    HopLimit() hop_limit;
    UnusableSrh() unusable;
    NextSegment() next_segment;
    Decapsulation() decapsulation;
    Flavours() flavours;
    Flavour carried_out = Flavour.NONE;
    sid_t sid = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };

    // End with NEXT-CSID: a node. Prefix block + uSID, /48.
    action uN(bit<1> psp, bit<1> usp, bit<1> usd, bit<1> uniform) {
        sid_hits.count();
        sid = { USID_ARGUMENT_MASK, (bit<8>) USID_BITS, psp, usp, usd, uniform, 0, 0, 0 };
        meta.next_step = NextStep.LOOK_UP_AGAIN;
    }

    // End.X with NEXT-CSID: an adjacency. Prefix block + uSID of the local block, /48.
    action uA(bit<1> psp, bit<1> usp, bit<1> usd, bit<1> uniform, port_t port) {
        sid_hits.count();
        sid = { USID_ARGUMENT_MASK, (bit<8>) USID_BITS, psp, usp, usd, uniform, 1, 0, 0 };
        meta.next_step = NextStep.CROSS_CONNECT;
        meta.port = port;
    }

    // The same with a prefix of block + node + function, /64.
    action uA_node(bit<1> psp, bit<1> usp, bit<1> usd, bit<1> uniform, port_t port) {
        sid_hits.count();
        sid = { USID_ARGUMENT_MASK >> USID_BITS, (bit<8>) (2 * USID_BITS), psp, usp, usd, uniform, 1, 0, 0 };
        meta.next_step = NextStep.CROSS_CONNECT;
        meta.port = port;
    }

    // End.DT6 with NEXT-CSID: always the last of its container. Any prefix.
    action uDT6(bit<1> uniform) {
        sid_hits.count();
        sid = { 0, 0, 0, 0, 1, uniform, 0, 1, 0 };
        meta.next_step = NextStep.LOOK_UP_AGAIN;
    }

    // End without compression: the whole prefix is the SID, there is no argument.
    action End(bit<1> psp, bit<1> usp, bit<1> usd, bit<1> uniform) {
        sid_hits.count();
        sid = { 0, 0, psp, usp, usd, uniform, 0, 0, 0 };
        meta.next_step = NextStep.LOOK_UP_AGAIN;
    }

    // End.X without compression.
    action End_X(bit<1> psp, bit<1> usp, bit<1> usd, bit<1> uniform, port_t port) {
        sid_hits.count();
        sid = { 0, 0, psp, usp, usd, uniform, 0, 0, 0 };
        meta.next_step = NextStep.CROSS_CONNECT;
        meta.port = port;
    }

    // An address of the switch itself, which is no SID.
    action loopback() {
        sid_hits.count();
        sid = { 0, 0, 0, 0, 0, 0, 0, 1, 1 };
    }

    table my_sid {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            uN;
            uA;
            uA_node;
            uDT6;
            End;
            End_X;
            loopback;
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
                if (sid.loopback == 1) {
                    unusable.apply(meta, ROUTING_TYPE_AT);
                } else if (sid.final == 1) {
                    unusable.apply(meta, SEGMENTS_LEFT_AT);
                } else {
                    next_segment.apply(hdr, meta);
                    if (sid.psp == 1 && hdr.srh.segments_left == 0) {
                        carried_out = Flavour.PSP;
                    }
                }
            } else if (argument == 0 && sid.usd == 1 && hdr.inner_ipv6.isValid()
                       && hdr.inner_ipv6.version == IP_VERSION_6) {
                decapsulation.apply(hdr, meta);
                carried_out = (Flavour) (DECAPSULATION ++ sid.final ++ sid.uniform);
            } else if (argument != 0 || sid.forwards == 1) {
                hop_limit.apply(hdr.ipv6, meta);
                if (meta.next_step != NextStep.PUNT) {
                    // The argument moves to where the SID was, zeros follow. A uA without one leaves the bare block.
                    hdr.ipv6.dst = (hdr.ipv6.dst & USID_BLOCK_MASK)
                                   | ((hdr.ipv6.dst << sid.shift) & USID_CARRIER_MASK);
                    if (argument == 0 && sid.usp == 1 && hdr.srh.isValid()
                        && (bit<32>) hdr.ipv6.payload_length >= ROUTING_BYTES) {
                        carried_out = Flavour.USP;
                    }
                }
            } else {
                // For this switch. What is inside is an echo request, or nothing that it takes (RFC 8986 4.1.1).
                meta.next_step = NextStep.PUNT;
                if (hdr.icmpv6.isValid() && !hdr.inner_ipv6.isValid()
                    && hdr.icmpv6.message_type == ICMPV6_TYPE_ECHO_REQUEST) {
                    meta.punt_reason = PUNT_ECHO_REQUEST;
                } else if (sid.loopback == 0) {
                    meta.punt_reason = PUNT_UPPER_LAYER;
                    meta.punt_pointer = (bit<16>) IPV6_BYTES;
                    if (hdr.srh.isValid()) {
                        meta.punt_pointer = (bit<16>) (IPV6_BYTES + ROUTING_BYTES);
                    }
                }
            }
            if (carried_out != Flavour.NONE) {
                flavours.apply(hdr, meta, carried_out);
            }
        }
    }
}

#endif  // MRC_SRV6_P4
