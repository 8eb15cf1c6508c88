// Counters, and the actions that drop: each counts its cause, then leaves the packet dropped as ingress began.
//
// Bytes are those of the frame as it arrived, which is what BMv2 counts everywhere; port_out therefore counts packets.

#ifndef MRC_TELEMETRY_P4
#define MRC_TELEMETRY_P4

#define PORTS 512
#define PUNT_REASONS 8

// What comes in leaves, or is in one of the drop counters, or still waits in a queue. The controller's port is a port.
counter(PORTS, CounterType.packets_and_bytes) port_in;
counter(PORTS, CounterType.packets) port_out;

// Some of what leaves: cut or only re-marked for want of room, newly marked CE, by egress port; to the controller.
counter(PORTS, CounterType.packets_and_bytes) trimmed;
counter(PORTS, CounterType.packets_and_bytes) ecn_marked;
counter(PUNT_REASONS, CounterType.packets_and_bytes) punted;

counter(1, CounterType.packets_and_bytes) drop_port_down;
counter(1, CounterType.packets_and_bytes) drop_parser_error;
counter(1, CounterType.packets_and_bytes) drop_not_ipv6;
counter(1, CounterType.packets_and_bytes) drop_truncated;
counter(1, CounterType.packets_and_bytes) drop_martian;
counter(1, CounterType.packets_and_bytes) drop_hop_limit;
counter(1, CounterType.packets_and_bytes) drop_bad_srh;
counter(1, CounterType.packets_and_bytes) drop_upper_layer;
counter(1, CounterType.packets_and_bytes) drop_ecn;
counter(1, CounterType.packets_and_bytes) drop_punt_limit;
counter(1, CounterType.packets_and_bytes) drop_sid_loop;
counter(1, CounterType.packets_and_bytes) drop_unknown_sid;
counter(1, CounterType.packets_and_bytes) drop_no_route;
counter(1, CounterType.packets_and_bytes) drop_no_neighbour;
counter(1, CounterType.packets_and_bytes) drop_queue_full;
counter(1, CounterType.packets_and_bytes) drop_trim_disabled;
counter(1, CounterType.packets_and_bytes) drop_high_queue_full;

// The packet came from, or would leave through, a port that is not up.
action port_down() {
    drop_port_down.count(0);
    exit;
}

// A header is cut short, not version 6, or longer than the parser takes.
@hidden action parser_failed() {
    drop_parser_error.count(0);
    exit;
}

@hidden action not_ipv6() {
    drop_not_ipv6.count(0);
    exit;
}

// The frame, or a packet to be decapsulated, ends before the payload length that it announces.
@hidden action truncated() {
    drop_truncated.count(0);
    exit;
}

// A source or destination address that no router forwards.
@hidden action martian() {
    drop_martian.count(0);
    exit;
}

@hidden action hop_limit_exceeded() {
    drop_hop_limit.count(0);
    exit;
}

// A routing header that an endpoint cannot follow (RFC 8754 section 4.3.1.1, RFC 8200 section 4.4).
@hidden action bad_srh() {
    drop_bad_srh.count(0);
    exit;
}

// A SID with nothing left to do and nothing inside for it (RFC 8986 section 4.1.1).
@hidden action upper_layer() {
    drop_upper_layer.count(0);
    exit;
}

// To be decapsulated, CE outside and Not-ECT inside (RFC 6040 section 4.2).
@hidden action ecn_mismatch() {
    drop_ecn.count(0);
    exit;
}

// For the controller, but more than its meter lets pass.
@hidden action punt_limit_exceeded() {
    drop_punt_limit.count(0);
    exit;
}

// A third SID of this switch in one pass (mrc-facts.md 11).
action sid_loop() {
    drop_sid_loop.count(0);
    exit;
}

// A uSID of the fabric's block that this switch has no entry for.
action unknown_sid() {
    drop_unknown_sid.count(0);
    exit;
}

action no_route() {
    drop_no_route.count(0);
    exit;
}

// The egress port has no link-layer address to send to.
action no_neighbour() {
    drop_no_neighbour.count(0);
    exit;
}

// The data queue is full, and the packet may not be trimmed.
@hidden action queue_full() {
    drop_queue_full.count(0);
    exit;
}

// The data queue is full, and the port does not trim.
@hidden action trim_disabled() {
    drop_trim_disabled.count(0);
    exit;
}

// The queue of control and trimmed packets is full.
@hidden action high_queue_full() {
    drop_high_queue_full.count(0);
    exit;
}

#endif  // MRC_TELEMETRY_P4
