// Writes out what `mrc_respond` has decided: the body of a SACK, NACK, ACK or NAK (mrc-facts.md 1.7, 1.8,
// 1.11), and the answer to a query.
//
// It is stages 5 to 8 of that pipeline, and what stops it: it moves as one unless a reply or a query
// answer is not taken.
// Latency: 4 clocks from stage 4. Throughput: an event's answers each clock.

`default_nettype none

module mrc_reply_format
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import responder_pkg::*;
(
    input  wire logic clk_i,
    input  wire logic rst_ni,
    output logic      advance_o,

    input wire logic            valid_4_i,
    // verilator lint_off UNUSEDSIGNAL
    input wire finding_t        finding_4_i,     // in part
    // verilator lint_on UNUSEDSIGNAL
    input wire answer_t         answer_4_i,
    input wire logic     [ 7:0] reason_4_i,      // of a NACK
    input wire logic     [31:0] received_4_i,    // nominal bytes, this packet included
    input wire logic     [16:0] unanswered_4_i,
    input wire held_t           held_5_i,        // the packet that waited, a clock later

    output logic             reply_valid_o,
    input  wire logic        reply_ready_i,
    output reply_t           reply_o,
    output logic             reply_ack_o,       // an ACK goes behind this SACK ..
    output logic      [23:0] reply_completed_o, // .. and says this

    output logic      query_valid_o,
    input  wire logic query_ready_i,
    output query_t    query_o
);

  localparam int unsigned HELD_W = TIMESTAMP_W + CLOCKS_PER_STAMP_LOG2;  // of a time in clocks
  localparam logic [PSN_W-1:0] BITMAP_REACH = PSN_W'(SACK_BITMAP_W);

  logic advance;
  assign advance_o = advance;

  // ---------------------------------------------------------------- stage 5: which packet
  logic valid_5_q, valid_6_q;
  // verilator lint_off UNUSEDSIGNAL
  finding_t finding_5_q, finding_6_q, finding_7_q;
  packet_t packet_5, packet_6, packet_7;
  answer_t answer_5_q, answer_6_q, answer_7_q, answer_8_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [7:0] reason_5_q, reason_6_q, reason_7_q;
  logic [31:0] received_5_q, received_6_q, received_7_q;
  logic [16:0] unanswered_5_q, unanswered_6_q, unanswered_7_q;

  assign packet_5 = finding_5_q.ticket.content[$bits(packet_t)-1:0];
  assign packet_6 = finding_6_q.ticket.content[$bits(packet_t)-1:0];
  assign packet_7 = finding_7_q.ticket.content[$bits(packet_t)-1:0];

  // The packet that is answered. Behind the RAM there is no time for more than to choose it.
  logic stamped_6_q;
  logic [PSN_W-1:0] psn_6_q;
  logic [EV_W-1:0] ev_6_q;
  logic [TIMESTAMP_W-1:0] stamp_6_q;
  logic [HELD_W-1:0] since_6_q;
  logic [SACK_BITMAP_W-1:0] held_bitmap_6_q;

  // ---------------------------------------------------------------- stage 6: how far from cack, how long ago
  // verilator lint_off UNUSEDSIGNAL
  logic [HELD_W-1:0] waited_6;  // clocks; parts of a unit are dropped
  // verilator lint_on UNUSEDSIGNAL
  assign waited_6 = packet_6.now[HELD_W-1:0] - since_6_q;

  // ---------------------------------------------------------------- stage 7: fields
  logic valid_7_q;
  logic [EV_W-1:0] ev_7_q;
  logic [TIMESTAMP_W-1:0] stamp_7_q;
  logic [TIMESTAMP_W-1:0] waited_7_q;  // in units of stamps
  logic [PSN_W-1:0] distance_7_q;  // from cack to the packet, signed
  logic [15:0] to_base_7_q;
  logic [SACK_BITMAP_W-1:0] held_bitmap_7_q;
  logic [RCVD_BYTES_W-1:0] units_7_q;

  logic moved_7;  // the bitmap's base is where it just reaches the packet that waited, not cack + 1
  seth_t seth_7;
  cc_state_t cc_state_7;
  neth_t neth_7;
  aeth_t aeth_7;
  reply_t first_7;

  assign moved_7 = answer_7_q.quiet && !distance_7_q[PSN_W-1] && distance_7_q > BITMAP_REACH &&
      distance_7_q <= PSN_W'({finding_7_q.ticket.mpr_units, 7'd0});

  always_comb begin
    seth_7 = '0;
    seth_7.m = !answer_7_q.quiet && packet_7.ce ? SACK_M_SKIP_ONCE : SACK_M_NONE;
    seth_7.pr = answer_7_q.probe;
    if (answer_7_q.probe) seth_7.ack_psn_offset = packet_7.probe_id;
    // Never further back than 16 bits can say.
    else if (distance_7_q[PSN_W-1] && !(&distance_7_q[PSN_W-2:15]))
      seth_7.ack_psn_offset = 16'h8000;
    else seth_7.ack_psn_offset = distance_7_q[15:0];
    seth_7.entropy = ev_7_q;
    seth_7.cack_psn = finding_7_q.tracked.cack;
    seth_7.cc_type = CC_TYPE_NSCC;
    seth_7.mpr = finding_7_q.ticket.dynamic_mpr ? finding_7_q.ticket.mpr_units : '0;
    seth_7.sack_offset = moved_7 ? distance_7_q[15:0] - 16'(SACK_BITMAP_W - 1) : to_base_7_q;
    seth_7.sack_bitmap = moved_7 ? held_bitmap_7_q : finding_7_q.tracked.bitmap;

    cc_state_7 = '0;
    cc_state_7.tx_timestamp = stamp_7_q + waited_7_q;
    cc_state_7.ooo_count = finding_7_q.tracked.ooo_count;
    cc_state_7.restore_cwnd = finding_7_q.ticket.restore;
    cc_state_7.rcv_cwnd_pen = finding_7_q.ticket.penalty;
    cc_state_7.rcvd_bytes = units_7_q;

    neth_7 = '0;
    neth_7.reason = reason_7_q;
    neth_7.entropy = packet_7.ev;
    neth_7.nack_psn = finding_7_q.tracked.psn;
    neth_7.cc_type = CC_TYPE_NACK;
    neth_7.tx_timestamp = packet_7.stamp;

    aeth_7.syndrome = finding_7_q.delivered.syndrome;
    aeth_7.msn = finding_7_q.delivered.completed;
  end

  always_comb begin
    first_7.kind = REPLY_SACK;
    first_7.qp = finding_7_q.delivered.qp;
    first_7.planes = finding_7_q.ticket.planes;
    first_7.rtx = 1'b0;
    first_7.psn = finding_7_q.tracked.cack;
    first_7.port = finding_7_q.ticket.port;
    first_7.body = COMMAND_DATA_W'({seth_7, cc_state_7});
    if (answer_7_q.sack) begin
      first_7.rtx = packet_7.rtx && !answer_7_q.quiet && !answer_7_q.probe;
    end else if (answer_7_q.nack) begin
      first_7.kind = REPLY_NACK;
      first_7.rtx  = packet_7.rtx;
      first_7.psn  = finding_7_q.tracked.psn;
      first_7.body = COMMAND_DATA_W'(neth_7);
    end else if (answer_7_q.nak) begin
      first_7.kind = REPLY_ACK;
      first_7.psn  = finding_7_q.delivered.nak_psn;
      first_7.body = COMMAND_DATA_W'(aeth_7);
    end else if (answer_7_q.route) begin
      first_7.kind = REPLY_ROUTE;
      first_7.body = finding_7_q.ticket.content;
    end else if (answer_7_q.set_up) begin
      first_7.kind = REPLY_CONFIG;
      first_7.body = finding_7_q.ticket.content;
    end
  end

  // ---------------------------------------------------------------- stage 8: out
  logic valid_8_q;
  logic replies_8;

  assign replies_8 = answer_8_q.sack || answer_8_q.nack || answer_8_q.nak || answer_8_q.route ||
      answer_8_q.set_up;
  assign reply_valid_o = valid_8_q && replies_8;
  assign reply_ack_o = answer_8_q.ack;
  assign query_valid_o = valid_8_q && answer_8_q.query;
  assign advance = (!reply_valid_o || reply_ready_i) && (!query_valid_o || query_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_5_q <= 1'b0;
      valid_6_q <= 1'b0;
      valid_7_q <= 1'b0;
      valid_8_q <= 1'b0;
    end else if (advance) begin
      valid_5_q <= valid_4_i;
      valid_6_q <= valid_5_q;
      valid_7_q <= valid_6_q;
      valid_8_q <= valid_7_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      finding_5_q <= finding_4_i;
      answer_5_q <= answer_4_i;
      reason_5_q <= reason_4_i;
      received_5_q <= received_4_i;
      unanswered_5_q <= unanswered_4_i;

      finding_6_q <= finding_5_q;
      answer_6_q <= answer_5_q;
      reason_6_q <= reason_5_q;
      received_6_q <= received_5_q;
      unanswered_6_q <= unanswered_5_q;
      psn_6_q <= answer_5_q.quiet ? held_5_i.psn : finding_5_q.tracked.psn;
      ev_6_q <= answer_5_q.quiet ? held_5_i.ev : packet_5.ev;
      stamp_6_q <= answer_5_q.quiet ? held_5_i.stamp : packet_5.stamp;
      stamped_6_q <= answer_5_q.quiet && held_5_i.stamped;
      since_6_q <= held_5_i.now[HELD_W-1:0];
      held_bitmap_6_q <= held_5_i.bitmap;

      finding_7_q <= finding_6_q;
      answer_7_q <= answer_6_q;
      reason_7_q <= reason_6_q;
      received_7_q <= received_6_q;
      unanswered_7_q <= unanswered_6_q;
      ev_7_q <= ev_6_q;
      stamp_7_q <= stamp_6_q;
      waited_7_q <= stamped_6_q ? waited_6[HELD_W-1:CLOCKS_PER_STAMP_LOG2] : '0;
      distance_7_q <= psn_6_q - finding_6_q.tracked.cack;
      to_base_7_q <= finding_6_q.tracked.base[15:0] - finding_6_q.tracked.cack[15:0];
      held_bitmap_7_q <= held_bitmap_6_q;
      units_7_q <= received_6_q[31:8] + RCVD_BYTES_W'(|received_6_q[7:0]);

      answer_8_q <= answer_7_q;
      reply_o <= first_7;
      reply_completed_o <= finding_7_q.delivered.completed;
      query_o <= '{
          qp: finding_7_q.delivered.qp,
          state: finding_7_q.delivered.state,
          cack: finding_7_q.tracked.cack,
          ooo_count: finding_7_q.tracked.ooo_count,
          completed: finding_7_q.delivered.completed,
          received: received_7_q,
          unanswered: unanswered_7_q
      };
    end
  end

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(1 + 24 + $bits(reply_t))
  ) u_reply_rule (
      .clk_i,
      .rst_ni,
      .valid_i(reply_valid_o),
      .ready_i(reply_ready_i),
      .data_i ({reply_ack_o, reply_completed_o, reply_o})
  );

  mrc_stream_assert #(
      .WIDTH($bits(query_t))
  ) u_query_rule (
      .clk_i,
      .rst_ni,
      .valid_i(query_valid_o),
      .ready_i(query_ready_i),
      .data_i (query_o)
  );
`endif

endmodule

`default_nettype wire
