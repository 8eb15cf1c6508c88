// What a packet is made of here, and what is known about it on its way.

#ifndef MRC_PACKET_P4
#define MRC_PACKET_P4

// Segments that a routing header may carry. MRC itself uses one (mrc-facts.md 1.1).
#define MAX_SEGMENTS 4

typedef bit<9> port_t;

// To the controller, in front of the frame.
@controller_header("packet_in")
header packet_in_t {
    port_t ingress_port;
    @padding bit<7> unused;
    bit<8> reason;  // PUNT_*
    bit<16> pointer;  // the byte of the IPv6 packet that a parameter problem is about
}

// From the controller, in front of the frame.
@controller_header("packet_out")
header packet_out_t {
    port_t egress_port;
    bit<1> submit_to_ingress;  // 1: forwarded like any frame, whatever egress_port says
    @padding bit<6> unused;
}

#define PACKET_OUT_BYTES 2

// The 8 bytes that a routing header has left behind its last whole 16: a short TLV (RFC 8754 section 2.1).
header routing_tail_t {
    bit<64> data;
}

// Any routing header is taken apart as a fixed part, up to MAX_SEGMENTS units of 16 bytes (segments, then TLVs), and a
// tail. ICMPv6 belongs to the innermost IPv6 header.
struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    ipv6_t ipv6;
    srh_t srh;
    segment_t[MAX_SEGMENTS] segments;
    routing_tail_t routing_tail;
    ipv6_t inner_ipv6;
    icmpv6_t icmpv6;
}

// Where a packet goes next.
enum bit<2> NextStep {
    ROUTE = 0,  // no SID of this switch, or none any more
    LOOK_UP_AGAIN = 1,  // a SID was processed; the destination is a new one
    CROSS_CONNECT = 2,  // to meta.port, without a route
    PUNT = 3  // to the controller, for meta.punt_reason
}

struct metadata_t {
    bit<8> routing_units;  // parser: 8-byte units of the routing header still to come
    NextStep next_step;
    bit<1> hop_limit_paid;  // the header that forwards has had its hop limit tested and lowered
    port_t port;  // egress port, once decided
    bit<8> punt_reason;
    bit<16> punt_pointer;
    bit<32> length;  // bytes of the frame as it will leave
    bit<32> queue;  // the egress queue's cell in queue_bytes
    bit<32> queued;  // bytes that the frame added there, for egress to take away
}

#endif  // MRC_PACKET_P4
