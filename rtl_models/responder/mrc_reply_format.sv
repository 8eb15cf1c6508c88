// Writes out what `mrc_respond` has decided: the body of a SACK, NACK, ACK or NAK (mrc-facts.md 1.7, 1.8,
// 1.11), and the answer to a query.
//
// It is stages 5 to 7 of that pipeline, and what stops it: it moves as one unless a reply or a query
// answer is not taken, or an ACK goes behind a SACK, which takes a clock more.
// Latency: 3 clocks from stage 4. Throughput: a reply each clock.

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

    output logic      reply_valid_o,
    input  wire logic reply_ready_i,
    output reply_t    reply_o,

    output logic      query_valid_o,
    input  wire logic query_ready_i,
    output query_t    query_o
);

  localparam int unsigned HELD_W = TIMESTAMP_W + CLOCKS_PER_STAMP_LOG2;  // of a time in clocks
  localparam logic [PSN_W-1:0] BITMAP_REACH = PSN_W'(SACK_BITMAP_W);

  logic advance;
  assign advance_o = advance;

  // ---------------------------------------------------------------- stage 5: which packet, and how far from cack
  logic valid_5_q;
  // verilator lint_off UNUSEDSIGNAL
  finding_t finding_5_q, finding_6_q;
  packet_t packet_5, packet_6;
  answer_t answer_5_q, answer_6_q, answer_7_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [7:0] reason_5_q, reason_6_q;
  logic [31:0] received_5_q, received_6_q;
  logic [16:0] unanswered_5_q, unanswered_6_q;

  assign packet_5 = finding_5_q.ticket.content[$bits(packet_t)-1:0];
  assign packet_6 = finding_6_q.ticket.content[$bits(packet_t)-1:0];

  // verilator lint_off UNUSEDSIGNAL
  logic [HELD_W-1:0] waited_5;  // clocks; parts of a unit are dropped
  // verilator lint_on UNUSEDSIGNAL
  assign waited_5 = packet_5.now[HELD_W-1:0] - held_5_i.now[HELD_W-1:0];

  // ---------------------------------------------------------------- stage 6: fields
  logic valid_6_q;
  logic [EV_W-1:0] ev_6_q;
  logic [TIMESTAMP_W-1:0] stamp_6_q;
  logic [TIMESTAMP_W-1:0] waited_6_q;  // in units of stamps
  logic [PSN_W-1:0] distance_6_q;  // from cack to the packet, signed
  logic [15:0] to_base_6_q;
  logic [SACK_BITMAP_W-1:0] held_bitmap_6_q;
  logic [RCVD_BYTES_W-1:0] units_6_q;

  logic moved_6;  // the bitmap's base is not cack + 1 but so that the bitmap reaches the packet that waited
  seth_t seth_6;
  cc_state_t cc_state_6;
  neth_t neth_6;
  aeth_t aeth_6;
  reply_t first_6;

  assign moved_6 = answer_6_q.quiet && !distance_6_q[PSN_W-1] && distance_6_q > BITMAP_REACH &&
      distance_6_q <= PSN_W'({finding_6_q.ticket.mpr_units, 7'd0});

  always_comb begin
    seth_6 = '0;
    seth_6.m = !answer_6_q.quiet && packet_6.ce ? SACK_M_SKIP_ONCE : SACK_M_NONE;
    seth_6.pr = answer_6_q.probe;
    if (answer_6_q.probe) seth_6.ack_psn_offset = packet_6.probe_id;
    // Never further back than 16 bits can say.
    else if (distance_6_q[PSN_W-1] && !(&distance_6_q[PSN_W-2:15]))
      seth_6.ack_psn_offset = 16'h8000;
    else seth_6.ack_psn_offset = distance_6_q[15:0];
    seth_6.entropy = ev_6_q;
    seth_6.cack_psn = finding_6_q.tracked.cack;
    seth_6.cc_type = CC_TYPE_NSCC;
    seth_6.mpr = finding_6_q.ticket.dynamic_mpr ? finding_6_q.ticket.mpr_units : '0;
    seth_6.sack_offset = moved_6 ? distance_6_q[15:0] - 16'(SACK_BITMAP_W - 1) : to_base_6_q;
    seth_6.sack_bitmap = moved_6 ? held_bitmap_6_q : finding_6_q.tracked.bitmap;

    cc_state_6 = '0;
    cc_state_6.tx_timestamp = stamp_6_q + waited_6_q;
    cc_state_6.ooo_count = finding_6_q.tracked.ooo_count;
    cc_state_6.restore_cwnd = finding_6_q.ticket.restore;
    cc_state_6.rcv_cwnd_pen = finding_6_q.ticket.penalty;
    cc_state_6.rcvd_bytes = units_6_q;

    neth_6 = '0;
    neth_6.reason = reason_6_q;
    neth_6.entropy = packet_6.ev;
    neth_6.nack_psn = finding_6_q.tracked.psn;
    neth_6.cc_type = CC_TYPE_NACK;
    neth_6.tx_timestamp = packet_6.stamp;

    aeth_6.syndrome = finding_6_q.delivered.syndrome;
    aeth_6.msn = finding_6_q.delivered.completed;
  end

  always_comb begin
    first_6.kind = REPLY_SACK;
    first_6.qp = finding_6_q.delivered.qp;
    first_6.planes = finding_6_q.ticket.planes;
    first_6.rtx = 1'b0;
    first_6.psn = finding_6_q.tracked.cack;
    first_6.port = finding_6_q.ticket.port;
    first_6.body = COMMAND_DATA_W'({seth_6, cc_state_6});
    if (answer_6_q.sack) begin
      first_6.rtx = packet_6.rtx && !answer_6_q.quiet && !answer_6_q.probe;
    end else if (answer_6_q.nack) begin
      first_6.kind = REPLY_NACK;
      first_6.rtx  = packet_6.rtx;
      first_6.psn  = finding_6_q.tracked.psn;
      first_6.body = COMMAND_DATA_W'(neth_6);
    end else if (answer_6_q.nak) begin
      first_6.kind = REPLY_ACK;
      first_6.psn  = finding_6_q.delivered.nak_psn;
      first_6.body = COMMAND_DATA_W'(aeth_6);
    end else if (answer_6_q.route) begin
      first_6.kind = REPLY_ROUTE;
      first_6.body = finding_6_q.ticket.content;
    end else if (answer_6_q.set_up) begin
      first_6.kind = REPLY_CONFIG;
      first_6.body = finding_6_q.ticket.content;
    end
  end

  // ---------------------------------------------------------------- stage 7: out, an ACK behind its SACK
  logic valid_7_q, second_q;
  reply_t first_7_q, ack_7;
  logic [PSN_W-1:0] cack_7_q;
  logic [23:0] completed_7_q;
  logic replies_7;

  always_comb begin
    ack_7 = first_7_q;
    ack_7.kind = REPLY_ACK;
    ack_7.rtx = 1'b0;
    ack_7.psn = cack_7_q;
    ack_7.body = COMMAND_DATA_W'({AETH_ACK, completed_7_q});
  end

  assign replies_7 = answer_7_q.sack || answer_7_q.nack || answer_7_q.nak || answer_7_q.route ||
      answer_7_q.set_up;
  assign reply_valid_o = valid_7_q && replies_7;
  assign reply_o = second_q ? ack_7 : first_7_q;
  assign query_valid_o = valid_7_q && answer_7_q.query;
  assign advance = (!reply_valid_o || (reply_ready_i && (second_q || !answer_7_q.ack))) &&
      (!query_valid_o || query_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_5_q <= 1'b0;
      valid_6_q <= 1'b0;
      valid_7_q <= 1'b0;
      second_q  <= 1'b0;
    end else if (advance) begin
      valid_5_q <= valid_4_i;
      valid_6_q <= valid_5_q;
      valid_7_q <= valid_6_q;
      second_q  <= 1'b0;
    end else if (reply_valid_o && reply_ready_i) begin
      second_q <= 1'b1;
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
      ev_6_q <= answer_5_q.quiet ? held_5_i.ev : packet_5.ev;
      stamp_6_q <= answer_5_q.quiet ? held_5_i.stamp : packet_5.stamp;
      waited_6_q <= answer_5_q.quiet && held_5_i.stamped ? waited_5[HELD_W-1:CLOCKS_PER_STAMP_LOG2] : '0;
      distance_6_q <= (answer_5_q.quiet ? held_5_i.psn : finding_5_q.tracked.psn) - finding_5_q.tracked.cack;
      to_base_6_q <= finding_5_q.tracked.base[15:0] - finding_5_q.tracked.cack[15:0];
      held_bitmap_6_q <= held_5_i.bitmap;
      units_6_q <= received_5_q[31:8] + RCVD_BYTES_W'(|received_5_q[7:0]);

      answer_7_q <= answer_6_q;
      first_7_q <= first_6;
      cack_7_q <= finding_6_q.tracked.cack;
      completed_7_q <= finding_6_q.delivered.completed;
      query_o <= '{
          qp: finding_6_q.delivered.qp,
          state: finding_6_q.delivered.state,
          cack: finding_6_q.tracked.cack,
          ooo_count: finding_6_q.tracked.ooo_count,
          completed: finding_6_q.delivered.completed,
          received: received_6_q,
          unanswered: unanswered_6_q
      };
    end
  end

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH($bits(reply_t))
  ) u_reply_rule (
      .clk_i,
      .rst_ni,
      .valid_i(reply_valid_o),
      .ready_i(reply_ready_i),
      .data_i (reply_o)
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
