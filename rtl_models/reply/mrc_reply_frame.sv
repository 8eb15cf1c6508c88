// The bytes of an answer behind the Ethernet header, and how many there are with it.
//
// Combinational: a multiplexer between three places at which the inner packet may begin, behind the
// Ethernet header, the outer header, or its SRH (mrc-facts.md 1.1), and between three places of the
// ICRC.

`default_nettype none

module mrc_reply_frame
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_reply_pkg::*;
(
    input  wire reply_config_t         config_i,
    input  wire packet_t               packet_i,
    input  wire logic          [127:0] outer_source_i,
    input  wire logic          [ 31:0] icrc_i,          // of this packet
    output stored_frame_t              frame_o
);

  localparam int unsigned TAIL_W = BODY_W + 8 * ICRC_BYTES;
  localparam int unsigned INNER_W = FRONT_W + TAIL_W;
  localparam int unsigned AETH_W = 8 * AETH_BYTES;
  localparam int unsigned NETH_W = 8 * NETH_BYTES;

  logic [FRONT_W-1:0] front;
  ipv6_t inner_ip, outer;
  srh_t srh;
  logic [31:0] icrc;
  logic [TAIL_W-1:0] tail;
  logic [INNER_W-1:0] inner;
  logic [15:0] extra;  // bytes of the SRH

  mrc_reply_front u_front (
      .config_i,
      .packet_i,
      .front_o(front)
  );

  assign icrc  = {icrc_i[7:0], icrc_i[15:8], icrc_i[23:16], icrc_i[31:24]};
  assign inner = {front, tail};
  assign extra = packet_i.routing ? 16'(ROUTING_BYTES) : '0;

  always_comb begin
    unique case (packet_i.size)
      BODY_AETH: tail = {packet_i.body[AETH_W-1:0], icrc, {(TAIL_W - AETH_W - 32) {1'b0}}};
      BODY_NETH: tail = {packet_i.body[NETH_W-1:0], icrc, {(TAIL_W - NETH_W - 32) {1'b0}}};
      default:   tail = {packet_i.body, icrc};
    endcase
  end

  assign inner_ip = front[FRONT_W-1-:$bits(ipv6_t)];

  always_comb begin
    // The class and the EV stand in both headers.
    outer = inner_ip;
    outer.payload_length = udp_length(packet_i.size) + 16'(IPV6_BYTES) + extra;
    outer.next_header = packet_i.routing ? NEXT_HEADER_ROUTING : NEXT_HEADER_IPV6;
    outer.src = outer_source_i;
    outer.dst = packet_i.path;
    srh = '{
        next_header: NEXT_HEADER_IPV6,
        hdr_ext_len: 8'(SEGMENT_BYTES / 8),
        routing_type: ROUTING_TYPE_SRH,
        segments_left: 8'd1,
        default: '0
    };
  end

  always_comb begin
    if (!packet_i.encapsulated) frame_o.stored = {inner, {(STORED_W - INNER_W) {1'b0}}};
    else if (packet_i.routing) frame_o.stored = {outer, srh, packet_i.segment, inner};
    else frame_o.stored = {outer, inner, {(8 * ROUTING_BYTES) {1'b0}}};
    frame_o.length = LENGTH_W'(ETHERNET_BYTES + IPV6_BYTES) + LENGTH_W'(udp_length(packet_i.size));
    if (packet_i.encapsulated) frame_o.length += LENGTH_W'(IPV6_BYTES) + LENGTH_W'(extra);
  end

endmodule

`default_nettype wire
