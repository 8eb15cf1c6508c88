// From AXI4-Stream to frames that begin with their inner IP header.
//
// Reads what stands ahead of the inner IP header: Ethernet and, where there is one, an outer IPv6
// header with an SRH of any length, all of which is part of the first beat but for the SRH's segments.
// The inner header follows at byte 14, 54 or 62 + 8n, which is always 6 more than a multiple of 8.
// So a frame is turned by one of eight distances, and beats that hold nothing but segments are left
// out. Every frame gives at least one beat, its last may be empty.
//
// Latency: 3 clocks from a beat to the one that begins within it, 2 where the frame ends before the
// next one would. Throughput: a beat each clock; there is no waiting.

`default_nettype none

module mrc_rx_outer
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
(
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,
    input  wire logic [    BUS_W-1:0] s_axis_tdata_i,
    input  wire logic [BUS_BYTES-1:0] s_axis_tkeep_i,   // all ones ahead of the last beat
    input  wire logic                 s_axis_tlast_i,
    input  wire logic                 s_axis_tvalid_i,
    output logic                      valid_o,
    output rx_beat_t                  beat_o,
    output rx_outer_t                 outer_o
);

  localparam int unsigned FULL_BEATS = MAX_FRAME_BYTES / BUS_BYTES;
  localparam int unsigned COUNT_W = $clog2(FULL_BEATS + 2);
  localparam int unsigned OUTER_END = ETHERNET_BYTES + IPV6_BYTES;
  localparam int unsigned SKIP_W = 6;
  localparam int unsigned FRONT_W = 12;

  // ------------------------------------------------ the beat that came last

  logic cur_valid_q, in_frame_q, oversize;
  logic [COUNT_W-1:0] beats_before_q, beats_q;  // of its frame; stops where it is too long anyway
  rx_beat_t cur_q;
  logic [BEAT_BYTES_W-1:0] bytes;

  always_comb begin
    bytes = '0;
    for (int unsigned i = 0; i < BUS_BYTES; i++) begin
      if (s_axis_tkeep_i[i] && (i == BUS_BYTES - 1 || !s_axis_tkeep_i[(i+1)%BUS_BYTES])) begin
        bytes |= BEAT_BYTES_W'(i + 1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cur_valid_q <= 1'b0;
      in_frame_q  <= 1'b0;
    end else begin
      cur_valid_q <= s_axis_tvalid_i;
      if (s_axis_tvalid_i) in_frame_q <= !s_axis_tlast_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axis_tvalid_i) begin
      cur_q <= '{
          data: swap_lanes(s_axis_tdata_i),
          first: !in_frame_q,
          last: s_axis_tlast_i,
          bytes: bytes,
          oversize: 1'b0
      };
      beats_before_q <= in_frame_q ? beats_q : '0;
      if (!in_frame_q) beats_q <= COUNT_W'(1);
      else if (beats_q <= COUNT_W'(FULL_BEATS)) beats_q <= beats_q + 1'b1;
    end
  end

  assign oversize = beats_before_q > COUNT_W'(FULL_BEATS)
      || (beats_before_q == COUNT_W'(FULL_BEATS)
          && cur_q.bytes > BEAT_BYTES_W'(MAX_FRAME_BYTES % BUS_BYTES));

  // ------------------------------------------------ what its outer headers say

  // Not every bit is used: a header is read as a whole.
  // verilator lint_off UNUSEDSIGNAL
  ethernet_t ethernet;
  ipv6_t ip6;
  ipv4_t ip4;
  srh_t srh;
  // verilator lint_on UNUSEDSIGNAL
  rx_outer_t outer_d;
  logic routed, srh_bad, cut;
  logic [FRONT_W-1:0] front_d;  // bytes between the outer header and the inner payload
  logic [SKIP_W-1:0] skip_d;
  logic [2:0] turn_d;

  assign ethernet = cur_q.data[BUS_W-1-:$bits(ethernet_t)];
  assign ip6 = cur_q.data[BUS_W-1-8*ETHERNET_BYTES-:$bits(ipv6_t)];
  assign ip4 = cur_q.data[BUS_W-1-8*ETHERNET_BYTES-:$bits(ipv4_t)];
  assign srh = cur_q.data[BUS_W-1-8*OUTER_END-:$bits(srh_t)];

  assign routed = ip6.next_header == NEXT_HEADER_ROUTING;
  assign srh_bad = srh.routing_type != ROUTING_TYPE_SRH || srh.next_header != NEXT_HEADER_IPV6
      || {1'b0, srh.last_entry} >= {2'b00, srh.hdr_ext_len[7:1]}
      || {1'b0, srh.segments_left} > {1'b0, srh.last_entry} + 9'd1;

  // Whether the frame ends ahead of its byte `size`, which is one of its first beat.
  function automatic logic shorter(input logic last, input logic [BEAT_BYTES_W-1:0] bytes_there,
                                   input logic [BEAT_BYTES_W-1:0] size);
    return last && bytes_there < size;
  endfunction

  always_comb begin
    outer_d = '0;
    outer_d.ipv6 = ethernet.ethertype == ETHERTYPE_IPV6;
    outer_d.encapsulated = outer_d.ipv6 && (routed || ip6.next_header == NEXT_HEADER_IPV6);
    outer_d.dscp = outer_d.ipv6 ? ip6.dscp : ip4.dscp;
    outer_d.ecn = outer_d.ipv6 ? ip6.ecn : ip4.ecn;
    outer_d.src = ip6.src;
    cut = shorter(cur_q.last, cur_q.bytes, BEAT_BYTES_W'(ETHERNET_BYTES));
    outer_d.bad = 1'b1;
    if (cut) outer_d.cause = DROP_TOO_SHORT;
    else if (!outer_d.ipv6) begin
      outer_d.bad   = ethernet.ethertype != ETHERTYPE_IPV4;
      outer_d.cause = DROP_ETHERTYPE;
    end else if (shorter(cur_q.last, cur_q.bytes, BEAT_BYTES_W'(OUTER_END)))
      outer_d.cause = DROP_TOO_SHORT;
    else if (ip6.version != IP_VERSION_6) outer_d.cause = DROP_IP_VERSION;
    else if (routed && shorter(cur_q.last, cur_q.bytes, BEAT_BYTES_W'(OUTER_END + SRH_BYTES)))
      outer_d.cause = DROP_TOO_SHORT;
    else begin
      outer_d.bad   = routed && srh_bad;
      outer_d.cause = DROP_SRH;
    end

    // Offsets are 6 + 8 turns; 54 and an SRH of 8 bytes and more give 14, 6 turns, 7 turns and on.
    front_d = FRONT_W'(IPV6_BYTES);
    {skip_d, turn_d} = (SKIP_W + 3)'(ETHERNET_BYTES / 8);
    if (outer_d.encapsulated) begin
      {skip_d, turn_d} = (SKIP_W + 3)'(OUTER_END / 8);
      if (routed) begin
        {skip_d, turn_d} = (SKIP_W + 3)'((OUTER_END + SRH_BYTES) / 8)
            + (SKIP_W + 3)'(srh.hdr_ext_len);
        front_d = FRONT_W'(IPV6_BYTES + SRH_BYTES) + {1'b0, srh.hdr_ext_len, 3'b000};
      end
    end
  end

  // ------------------------------------------------ the beat before it, and both together

  logic prev_valid_q, begun_q, done_q;  // the frame's first beat is out; its last beat is
  // Not every bit is used: `first` is one of cur_q's alone.
  // verilator lint_off UNUSEDSIGNAL
  rx_beat_t prev_q;
  // verilator lint_on UNUSEDSIGNAL
  rx_outer_t outer_q;
  logic [FRONT_W-1:0] front_q;
  logic [LENGTH_W-1:0] length_q;
  logic [SKIP_W-1:0] skip_q;
  logic [2:0] turn_q;
  logic step, emit, skipping, ends_in_cur;
  logic [BEAT_BYTES_W-1:0] distance;
  rx_beat_t turned;
  logic [2*BUS_W-1:0] pair;

  assign step = prev_valid_q && (prev_q.last || cur_valid_q);
  assign skipping = skip_q != '0;
  assign emit = step && !done_q && (prev_q.last || !skipping);
  assign distance = BEAT_BYTES_W'({turn_q, 3'd6});
  assign ends_in_cur = cur_q.last && cur_q.bytes <= distance;
  assign pair = {prev_q.data, cur_q.data};

  always_comb begin
    turned.data = pair[2*BUS_W-1-8*6-:BUS_W];
    for (int unsigned turn = 1; turn < 8; turn++) begin
      if (turn_q == 3'(turn)) turned.data = pair[2*BUS_W-1-8*(6+8*turn)-:BUS_W];
    end
    turned.first = !begun_q;
    turned.last = prev_q.last || ends_in_cur;
    turned.oversize = prev_q.last ? prev_q.oversize : oversize;
    turned.bytes = BEAT_BYTES_W'(BUS_BYTES);
    if (prev_q.last) begin
      turned.bytes = skipping || prev_q.bytes <= distance ? '0 : prev_q.bytes - distance;
    end else if (ends_in_cur) begin
      turned.bytes = cur_q.bytes + (BEAT_BYTES_W'(BUS_BYTES) - distance);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      prev_valid_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      if (cur_valid_q) prev_valid_q <= 1'b1;
      else if (step) prev_valid_q <= 1'b0;
      valid_o <= emit;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cur_valid_q) begin
      prev_q <= cur_q;
      prev_q.oversize <= oversize;
      begun_q <= !cur_q.first && (begun_q || emit);
      done_q <= !cur_q.first && emit && turned.last;
      if (cur_q.first) begin
        outer_q  <= outer_d;
        front_q  <= front_d;
        length_q <= ip6.payload_length;
        skip_q   <= skip_d;
        turn_q   <= turn_d;
      end else if (skipping) skip_q <= skip_q - 1'b1;
    end
    if (emit) begin
      beat_o <= turned;
      outer_o <= outer_q;
      {outer_o.room_bad, outer_o.room} <= {1'b0, length_q} - (LENGTH_W + 1)'(front_q);
    end
  end

`ifndef SYNTHESIS
  // Nothing means anything before the first reset.
  logic reset_seen_q, active;
  initial reset_seen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_seen_q <= 1'b1;
  end
  assign active = rst_ni && reset_seen_q;

  KeepIsFullAheadOfTheLast :
  assert property (@(posedge clk_i) disable iff (!active)
      s_axis_tvalid_i && !s_axis_tlast_i |-> &s_axis_tkeep_i)
  else $error("%m: tkeep has gaps ahead of the last beat");

  KeepIsContiguous :
  assert property (@(posedge clk_i) disable iff (!active)
      s_axis_tvalid_i |-> s_axis_tkeep_i[0] && (s_axis_tkeep_i & (s_axis_tkeep_i + 1'b1)) == '0)
  else $error("%m: tkeep is empty or has gaps");
`endif

endmodule

`default_nettype wire
