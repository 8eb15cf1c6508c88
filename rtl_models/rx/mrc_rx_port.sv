// One receive port: from frames on the wire to descriptors, and payloads to memory.
//
// Takes a beat of 64 bytes each clock without ever waiting, as a MAC needs it. A frame that is good,
// or trimmed, leaves as a descriptor with all that stands in its headers; its payload waits inside
// for a verdict, which comes once for each descriptor with payload, in their order. Any other frame
// is dropped and counted by its first fault from the front, as the parser of the golden model has
// it, or because it is too long, or finds the buffer full. Nothing of a frame shows before its ICRC
// is known good, and a frame is taken as a whole or not at all; the order is kept.
//
// ```
//  AXIS -> outer headers, turn -> hold a beat -+-> headers, lengths, causes --+-> descriptors ->
//                                              +-> ICRC ----------------------+
//                                              +-> payload to byte 0 -> buffer <- verdicts
//                                                                        +-> DMA commands, beats
// ```
//
// While VERDICTS descriptors with payload are out no other leaves, so that a verdict always finds
// room: a memory that stalls holds back the descriptors of its own port and nothing else.
//
// Latency: RX_PORT_LATENCY clocks (mrc_rx_port_pkg) from a frame's last beat to its descriptor, or
// one more; 5 from a verdict to the payload's first beat. Throughput: back to back frames of any
// length, while descriptors, verdicts and payloads are taken.

`default_nettype none

module mrc_rx_port
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
#(
    parameter int unsigned BUFFER_BEATS = 512,  // of 64 bytes of payload; a power of 2
    parameter int unsigned DESCRIPTORS = 64,  // frames that may wait to be taken
    parameter int unsigned VERDICTS = 64  // descriptors with payload that may be out
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire rx_config_t config_i,
    // Frames from Ethernet header to ICRC, without FCS; tkeep all ones ahead of the last beat.
    input wire logic [BUS_W-1:0] s_axis_tdata_i,
    input wire logic [BUS_BYTES-1:0] s_axis_tkeep_i,
    input wire logic s_axis_tlast_i,
    input wire logic s_axis_tvalid_i,
    output logic desc_valid_o,
    input wire logic desc_ready_i,
    output rx_desc_t desc_o,
    input wire logic verdict_valid_i,
    output logic verdict_ready_o,  // always, if verdicts follow descriptors
    input wire rx_verdict_t verdict_i,
    output logic m_dma_cmd_valid_o,
    input wire logic m_dma_cmd_ready_i,
    output dma_command_t m_dma_cmd_o,
    output logic [BUS_W-1:0] m_dma_tdata_o,
    output logic [BUS_BYTES-1:0] m_dma_tkeep_o,
    output logic m_dma_tlast_o,
    output logic m_dma_tvalid_o,
    input wire logic m_dma_tready_i,
    // Pulses, one for each frame, in the order of frames.
    output logic accepted_o,
    output logic dropped_o,
    output drop_cause_e drop_cause_o
);

  localparam int unsigned OUT_W = $clog2(VERDICTS + 1);

  logic turned_valid;
  rx_beat_t turned, held;
  rx_outer_t turned_outer, held_outer;
  logic step, cut, starts;
  logic [BUS_BYTES-1:0] keep;
  logic [5:0] zeros;
  payload_place_e place;

  mrc_rx_outer u_outer (
      .clk_i,
      .rst_ni,
      .s_axis_tdata_i,
      .s_axis_tkeep_i,
      .s_axis_tlast_i,
      .s_axis_tvalid_i,
      .valid_o(turned_valid),
      .beat_o (turned),
      .outer_o(turned_outer)
  );

  mrc_rx_hold u_hold (
      .clk_i,
      .rst_ni,
      .valid_i (turned_valid),
      .beat_i  (turned),
      .outer_i (turned_outer),
      .step_o  (step),
      .beat_o  (held),
      .outer_o (held_outer),
      .keep_o  (keep),
      .zeros_o (zeros),
      .cut_o   (cut),
      .place_o (place),
      .starts_o(starts)
  );

  // ------------------------------------------------ three clocks on

  logic frame_end, header_bad, no_icrc, icrc_good, ecn_bad, oversize, write;
  drop_cause_e header_cause, cause;
  rx_desc_t desc;
  logic [PAYLOAD_BEATS_W-1:0] beats;
  logic [BUS_W-1:0] payload;

  mrc_rx_headers u_headers (
      .clk_i,
      .rst_ni,
      .config_i,
      .step_i      (step),
      .beat_i      (held),
      .outer_i     (held_outer),
      .cut_i       (cut),
      .next_valid_i(turned_valid),
      .next_i      (turned),
      .end_o       (frame_end),
      .bad_o       (header_bad),
      .cause_o     (header_cause),
      .no_icrc_o   (no_icrc),
      .ecn_bad_o   (ecn_bad),
      .oversize_o  (oversize),
      .desc_o      (desc),
      .beats_o     (beats)
  );

  mrc_icrc u_icrc (
      .clk_i,
      .valid_i(step),
      .first_i(held.first),
      .ipv6_i (held_outer.ipv6),
      .data_i (held.data),
      .keep_i (keep),
      .zeros_i(zeros),
      .good_o (icrc_good)
  );

  mrc_rx_align u_align (
      .clk_i,
      .rst_ni,
      .step_i     (step),
      .place_i    (place),
      .starts_i   (starts),
      .data_i     (held.data),
      .data_next_i(turned.data),
      .write_o    (write),
      .data_o     (payload)
  );

  // ------------------------------------------------ the frame counts, or does not

  logic bad, fits, room, accept, settled;

  always_comb begin
    if (header_bad) cause = header_cause;
    else if (!no_icrc && !icrc_good) cause = DROP_ICRC;
    else if (ecn_bad) cause = DROP_ECN;
    else if (oversize) cause = DROP_OVERSIZE;
    else cause = DROP_OVERFLOW;
    bad = header_bad || (!no_icrc && !icrc_good) || ecn_bad || oversize;
    accept = frame_end && !bad && fits && room;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      accepted_o <= 1'b0;
      dropped_o  <= 1'b0;
    end else begin
      accepted_o <= accept;
      dropped_o  <= frame_end && !accept;
    end
  end

  always_ff @(posedge clk_i) drop_cause_o <= cause;

  mrc_rx_buffer #(
      .BEATS(BUFFER_BEATS),
      .VERDICTS(VERDICTS)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .write_i        (write),
      .data_i         (payload),
      .end_i          (frame_end),
      .good_i         (!bad && room),
      .beats_i        (beats),
      .bytes_i        (desc.payload_bytes[PAYLOAD_W-1:0]),
      .fits_o         (fits),
      .verdict_valid_i,
      .verdict_ready_o,
      .verdict_i,
      .settled_o      (settled),
      .cmd_valid_o    (m_dma_cmd_valid_o),
      .cmd_ready_i    (m_dma_cmd_ready_i),
      .cmd_o          (m_dma_cmd_o),
      .m_axis_tvalid_o(m_dma_tvalid_o),
      .m_axis_tready_i(m_dma_tready_i),
      .m_axis_tdata_o (m_dma_tdata_o),
      .m_axis_tkeep_o (m_dma_tkeep_o),
      .m_axis_tlast_o (m_dma_tlast_o)
  );

  // ------------------------------------------------ descriptors, no more than verdicts find room

  logic waiting, has_payload, leaves, left_q, may_leave_q, one_more;
  logic [OUT_W-1:0] out_q;

  mrc_fifo #(
      .WIDTH(1 + $bits(rx_desc_t)),
      .DEPTH(DESCRIPTORS)
  ) u_descriptors (
      .clk_i,
      .rst_ni,
      .valid_i(accept),
      .ready_o(room),
      .data_i ({beats != '0, desc}),
      .valid_o(waiting),
      .ready_i(desc_ready_i && may_leave_q),
      .data_o ({has_payload, desc_o}),
      // verilator lint_off PINCONNECTEMPTY
      .count_o()
      // verilator lint_on PINCONNECTEMPTY
  );

  // Whether a descriptor has a payload comes late, out of RAM: it is counted a clock after it left.
  // Whether one may leave is known ahead of the clock, so that the way to whoever takes it is short.
  assign desc_valid_o = waiting && may_leave_q;
  assign leaves = desc_valid_o && desc_ready_i && has_payload;
  assign one_more = out_q == OUT_W'(VERDICTS - 1) - OUT_W'(left_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= 1'b0;
      out_q <= '0;
      may_leave_q <= 1'b0;
    end else begin
      left_q <= leaves;
      if (left_q != settled) out_q <= left_q ? out_q + 1'b1 : out_q - 1'b1;
      may_leave_q <= out_q < OUT_W'(VERDICTS - 1) - OUT_W'(left_q) || (one_more && !leaves);
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

  mrc_stream_assert #(
      .WIDTH($bits(rx_desc_t))
  ) u_desc_assert (
      .clk_i,
      .rst_ni,
      .valid_i(desc_valid_o),
      .ready_i(desc_ready_i),
      .data_i (desc_o)
  );

  VerdictFindsRoom :
  assert property (@(posedge clk_i) disable iff (!active) verdict_valid_i |-> verdict_ready_o)
  else $error("%m: a verdict found no room");

  VerdictFollowsDescriptor :
  assert property (@(posedge clk_i) disable iff (!active) settled |-> out_q != '0 || left_q)
  else $error("%m: a verdict without a descriptor");
`endif

endmodule

`default_nettype wire
