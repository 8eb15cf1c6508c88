// What a packet is made of here, and what is known about it on its way.

#ifndef MRC_PACKET_P4
#define MRC_PACKET_P4

// Segments that a routing header may carry. MRC itself uses one (mrc-facts.md 1.1).
#define MAX_SEGMENTS 4

typedef bit<9> port_t;

// The 8 bytes that a routing header has left behind its last whole 16: a short TLV (RFC 8754 section 2.1).
header routing_tail_t {
    bit<64> data;
}

// Any routing header is taken apart as a fixed part, up to MAX_SEGMENTS units of 16 bytes (segments, then TLVs), and a tail.
struct headers_t {
    ethernet_t ethernet;
    ipv6_t ipv6;
    srh_t srh;
    segment_t[MAX_SEGMENTS] segments;
    routing_tail_t routing_tail;
    ipv6_t inner_ipv6;
}

// Where a packet goes after a SID was processed.
enum bit<2> NextStep {
    ROUTE = 0,
    LOOK_UP_AGAIN = 1,
    CROSS_CONNECT = 2
}

struct metadata_t {
    bit<8> routing_units;  // parser: 8-byte units of the routing header still to come
    NextStep next_step;
    bit<1> hop_limit_paid;  // the header that forwards has had its hop limit tested and lowered
    port_t port;  // egress port, once decided
}

#endif  // MRC_PACKET_P4
