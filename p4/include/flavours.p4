// What an endpoint takes off a packet: a routing header (PSP, USP), or the whole outer header (USD, uDT6).
//
// A SID's entry says which flavours it has; this says which were carried out. The entries are the program's own, one
// for each way, so that their counters count just that: a packet is here after every test that could refuse it.

#ifndef MRC_FLAVOURS_P4
#define MRC_FLAVOURS_P4

// How a decapsulation is done comes in the last two bits: by uDT6 or by USD, and in which model of RFC 2983.
enum bit<3> Flavour {
    NONE = 0,
    PSP = 1,
    USP = 2,
    USD_PIPE = 4,
    USD_UNIFORM = 5,
    DT6_PIPE = 6,
    DT6_UNIFORM = 7
}

#define DECAPSULATION 1w1

control Flavours(inout headers_t hdr, inout metadata_t meta, in Flavour carried_out) {
    direct_counter(CounterType.packets_and_bytes) flavour_hits;

    action remove_routing_header() {
        hdr.srh.setInvalid();
        hdr.segments[0].setInvalid();
        hdr.segments[1].setInvalid();
        hdr.segments[2].setInvalid();
        hdr.segments[3].setInvalid();
        hdr.routing_tail.setInvalid();
    }

    // The packet goes on without its routing header, which is within the payload (RFC 8986 section 4.16.1).
    action pop() {
        hdr.ipv6.next_header = hdr.srh.next_header;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - (bit<16>) ROUTING_BYTES;
        meta.length = meta.length - ROUTING_BYTES;
        remove_routing_header();
    }

    // The packet inside goes on by itself, with its own DSCP (pipe) or the outer one (uniform). Its hop limit is still to
    // be tested; the outer one never is (mrc-facts.md 11).
    action decapsulate(bit<1> uniform) {
        hdr.inner_ipv6.dscp = uniform == 1 ? hdr.ipv6.dscp : hdr.inner_ipv6.dscp;
        hdr.ipv6 = hdr.inner_ipv6;
        hdr.inner_ipv6.setInvalid();
        remove_routing_header();
        meta.hop_limit_paid = 0;
    }

    // Penultimate segment pop (RFC 8986 section 4.16.1).
    action PSP() {
        flavour_hits.count();
        pop();
    }

    // Ultimate segment pop (4.16.2).
    action USP() {
        flavour_hits.count();
        pop();
    }

    // Ultimate segment decapsulation (4.16.3).
    action USD(bit<1> uniform) {
        flavour_hits.count();
        decapsulate(uniform);
    }

    // The decapsulation that uDT6 is, which is no flavour of it (4.6).
    action DT6(bit<1> uniform) {
        flavour_hits.count();
        decapsulate(uniform);
    }

    table flavour {
        key = {
            carried_out: exact @name("carried_out");
        }
        actions = {
            PSP;
            USP;
            USD;
            DT6;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        const entries = {
            Flavour.PSP: PSP();
            Flavour.USP: USP();
            Flavour.USD_PIPE: USD(0);
            Flavour.USD_UNIFORM: USD(1);
            Flavour.DT6_PIPE: DT6(0);
            Flavour.DT6_UNIFORM: DT6(1);
        }
        counters = flavour_hits;
    }

    apply {
        flavour.apply();
    }
}

#endif  // MRC_FLAVOURS_P4
