// Last part of the responder engine: what is answered, and what becomes of the payload.
//
// The loop from an event of a QP to the next one is a row {bytes received, bytes unanswered, messages
// acknowledged, quiet timer}: decided in stage 3, written from stage 4, forwarded so that the event right
// behind sees it. The packet that waits for a SACK lies in a RAM of its own, together with the bitmap of
// a SACK made when it came: only another new packet could change that, and would take its place.
//
//  stage 0         1     2            3            4               5 to 8
//  row's address,  RAM   newest row   decide       write; held     mrc_reply_format
//  what kind of                       and forward  packet; verdict
//
// Latency: 8 clocks from finding to reply_valid_o, 4 to the verdict, as long as nothing waits.
// Throughput: an event each clock.

`default_nettype none

module mrc_respond
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import responder_pkg::*;
#(
    parameter  int unsigned QPS  = 64,
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic     finding_valid_i,
    output logic          finding_ready_o,
    input  wire finding_t finding_i,

    output logic              timer_we_o,
    output logic [  QP_W-1:0] timer_qp_o,
    output logic              timer_running_o,
    output logic [TIME_W-1:0] timer_deadline_o,

    // Room for it is the arbiter's care
    output logic                     verdict_valid_o,
    output logic        [PORT_W-1:0] verdict_port_o,
    output rx_verdict_t              verdict_o,

    output logic             reply_valid_o,
    input  wire logic        reply_ready_i,
    output reply_t           reply_o,
    output logic             reply_ack_o,       // an ACK goes behind this SACK ..
    output logic      [23:0] reply_completed_o, // .. and says this

    output logic      query_valid_o,
    input  wire logic query_ready_i,
    output query_t    query_o,

    output responder_pulses_t pulses_o  // those of answers
);

  import psn_tracker_pkg::*;

  typedef struct packed {
    logic [31:0]       received;      // nominal bytes
    logic [16:0]       unanswered;    // bytes since the last SACK
    logic [23:0]       acknowledged;  // messages
    logic              running;       // a packet waits, and the quiet timer runs
    logic [TIME_W-1:0] deadline;
  } row_t;

  // What the event is, as far as the row does not matter.
  typedef struct packed {
    logic       accept;           // a new packet is taken ..
    logic       at_once;          // .. and answered at once
    logic       again;            // a packet received before: SACK
    logic       timer;
    logic       probe;
    logic       nak;
    logic       nack;
    logic [7:0] reason;
    logic       placed;
    logic       start;            // the QP starts
    logic       stop;             // nothing waits any more
    logic       route;
    logic       set_up;
    logic       query;
    logic       above_dropped;
    logic       trimmed_dropped;
  } plan_t;

  // Views of which only parts are looked at.
  // verilator lint_off UNUSEDSIGNAL
  packet_t packet_0, packet_3, packet_4;
  plan_t plan_4_q;
  // verilator lint_on UNUSEDSIGNAL
  logic  advance;
  assign finding_ready_o = advance;

  // ---------------------------------------------------------------- stage 0: what kind
  plan_t plan_0;
  logic data_0, takes_0, answers_0, above_0, command_0;

  assign packet_0 = finding_i.ticket.content[$bits(packet_t)-1:0];
  assign data_0 = finding_i.ticket.work inside {WORK_WRITE, WORK_TRIMMED};
  assign command_0 = finding_i.ticket.work == WORK_COMMAND;
  assign takes_0 = data_0 && finding_i.delivered.state == QP_READY;
  assign answers_0 = takes_0 && (finding_i.ticket.work == WORK_WRITE || packet_0.trim_nack);
  assign above_0 = answers_0 && finding_i.tracked.psn_class == PSN_ABOVE;

  always_comb begin
    plan_0 = '0;
    plan_0.placed = finding_i.delivered.placed;
    plan_0.accept = finding_i.delivered.placed && !finding_i.delivered.fault;
    plan_0.at_once = packet_0.ce || packet_0.prompt;
    plan_0.again = answers_0 && finding_i.tracked.psn_class inside {PSN_DUPLICATE, PSN_BELOW};
    plan_0.timer = finding_i.ticket.work == WORK_TIMER;
    plan_0.probe = finding_i.ticket.work == WORK_PROBE && finding_i.delivered.state == QP_READY;
    plan_0.nak = data_0 && (finding_i.delivered.state == QP_REFUSED || finding_i.delivered.fault);
    if (data_0 && finding_i.delivered.state == QP_STOPPED) begin
      plan_0.nack   = 1'b1;
      plan_0.reason = NACK_UNEXP_EVENT;
    end else if (above_0) begin
      plan_0.nack   = !packet_0.drop_above;
      plan_0.reason = NACK_PSN_OOR_WINDOW;
    end else begin
      plan_0.nack   = answers_0 && finding_i.tracked.psn_class == PSN_NEW && packet_0.refused;
      plan_0.reason = packet_0.reason;
    end
    plan_0.start = command_0 && finding_i.ticket.op == CMD_QP_READY;
    plan_0.stop = finding_i.delivered.fault ||
        (command_0 && finding_i.ticket.op inside {CMD_QP_READY, CMD_QP_RESET, CMD_QP_ERROR});
    plan_0.route = command_0 && finding_i.ticket.op == CMD_QP_ROUTE;
    plan_0.set_up = command_0 && finding_i.ticket.op == CMD_QP_CONFIG;
    plan_0.query = command_0 && finding_i.ticket.op == CMD_QUERY;
    plan_0.above_dropped = above_0 && packet_0.drop_above;
    plan_0.trimmed_dropped = takes_0 && !answers_0;
  end

  // ---------------------------------------------------------------- stages 1 to 4
  logic [4:1] valid_q;
  finding_t finding_1_q, finding_2_q, finding_3_q, finding_4_q;
  plan_t plan_1_q, plan_2_q, plan_3_q;
  row_t row_2, row_3_q, new_row, row_4_q;
  logic [QP_W-1:0] qp_2, qp_3, qp_4;
  logic writes_4_q;

  assign qp_2 = finding_2_q.delivered.qp[QP_W-1:0];
  assign qp_3 = finding_3_q.delivered.qp[QP_W-1:0];
  assign qp_4 = finding_4_q.delivered.qp[QP_W-1:0];
  assign packet_3 = finding_3_q.ticket.content[$bits(packet_t)-1:0];
  assign packet_4 = finding_4_q.ticket.content[$bits(packet_t)-1:0];

  mrc_ram_forward #(
      .WIDTH($bits(row_t)),
      .DEPTH(QPS)
  ) u_rows (
      .clk_i,
      .en_i(advance),
      .raddr_i(finding_i.delivered.qp[QP_W-1:0]),
      .rdata_o(row_2),
      .we_i(writes_4_q),
      .waddr_i(qp_4),
      .wdata_i(row_4_q)
  );

  // Stage 3: decide.
  logic over_3, due_3, sack_3, writes_3;
  logic [TIME_W-1:0] late_3;
  answer_t answer_3, answer_4_q;

  assign late_3 = packet_3.now - row_3_q.deadline;
  assign due_3 = plan_3_q.timer && row_3_q.running && !late_3[TIME_W-1];
  assign over_3 = plan_3_q.accept && (plan_3_q.at_once || $signed(
      {1'b0, row_3_q.unanswered}
  ) >= $signed(
      packet_3.left
  ));
  assign sack_3 = plan_3_q.again || over_3 || due_3;
  assign writes_3 = valid_q[3] && (plan_3_q.placed || sack_3 || plan_3_q.stop);

  always_comb begin
    new_row = row_3_q;
    if (plan_3_q.placed) new_row.received = row_3_q.received + 32'(packet_3.nominal);
    if (plan_3_q.accept) begin
      new_row.unanswered = row_3_q.unanswered + packet_3.counted;
      new_row.running = 1'b1;
      if (!row_3_q.running) new_row.deadline = packet_3.deadline;
    end
    if (sack_3) begin
      new_row.unanswered   = '0;
      new_row.acknowledged = finding_3_q.delivered.completed;
    end
    if (sack_3 || plan_3_q.stop) new_row.running = 1'b0;
    if (plan_3_q.start) begin
      new_row.received = '0;
      new_row.unanswered = '0;
      new_row.acknowledged = '0;
    end
  end

  always_comb begin
    answer_3.sack = sack_3 || plan_3_q.probe;
    answer_3.quiet = due_3;
    answer_3.probe = plan_3_q.probe;
    answer_3.nack = plan_3_q.nack;
    answer_3.nak = plan_3_q.nak;
    answer_3.ack = sack_3 && finding_3_q.delivered.completed != row_3_q.acknowledged;
    answer_3.route = plan_3_q.route;
    answer_3.set_up = plan_3_q.set_up;
    answer_3.query = plan_3_q.query;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      writes_4_q <= 1'b0;
    end else if (advance) begin
      valid_q <= {valid_q[3:1], finding_valid_i};
      writes_4_q <= writes_3;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      finding_1_q <= finding_i;
      finding_2_q <= finding_1_q;
      finding_3_q <= finding_2_q;
      finding_4_q <= finding_3_q;
      plan_1_q <= plan_0;
      plan_2_q <= plan_1_q;
      plan_3_q <= plan_2_q;
      plan_4_q <= plan_3_q;
      row_3_q <= valid_q[3] && qp_3 == qp_2 ? new_row : row_2;
      row_4_q <= new_row;
      answer_4_q <= answer_3;
    end
  end

  // ---------------------------------------------------------------- stage 4: what follows
  held_t held_4, held_5;

  assign timer_we_o = writes_4_q && advance;
  assign timer_qp_o = qp_4;
  assign timer_running_o = row_4_q.running;
  assign timer_deadline_o = row_4_q.deadline;

  always_comb begin
    held_4.psn = finding_4_q.tracked.psn;
    held_4.ev = packet_4.ev;
    held_4.stamp = packet_4.stamp;
    held_4.stamped = packet_4.stamped;
    held_4.now = packet_4.now;
    held_4.bitmap = finding_4_q.tracked.bitmap;
  end

  // Packets of this QP that came before have been written, those behind have not.
  mrc_ram #(
      .WIDTH($bits(held_t)),
      .DEPTH(QPS)
  ) u_held (
      .clk_i,
      .en_i(advance),
      .raddr_i(qp_4),
      .rdata_o(held_5),
      .we_i(valid_q[4] && plan_4_q.accept),
      .waddr_i(qp_4),
      .wdata_i(held_4)
  );

  assign verdict_valid_o = valid_q[4] && finding_4_q.ticket.payload && advance;
  assign verdict_port_o = finding_4_q.ticket.port;
  assign verdict_o = '{
          place: plan_4_q.placed,
          qp: finding_4_q.delivered.qp,
          va: packet_4.va,
          r_key: packet_4.r_key
      };

  always_comb begin
    pulses_o = '0;
    if (valid_q[4] && advance) begin
      pulses_o.above_dropped = plan_4_q.above_dropped;
      pulses_o.trimmed_dropped = plan_4_q.trimmed_dropped;
      pulses_o.placed = plan_4_q.placed;
      pulses_o.quiet = answer_4_q.quiet;
      pulses_o.sack = answer_4_q.sack;
      pulses_o.nack = answer_4_q.nack;
      pulses_o.ack = answer_4_q.ack;
      pulses_o.nak = answer_4_q.nak;
    end
  end

  // ---------------------------------------------------------------- stages 5 to 8
  mrc_reply_format u_format (
      .clk_i,
      .rst_ni,
      .advance_o(advance),
      .valid_4_i(valid_q[4]),
      .finding_4_i(finding_4_q),
      .answer_4_i(answer_4_q),
      .reason_4_i(plan_4_q.reason),
      .received_4_i(row_4_q.received),
      .unanswered_4_i(row_4_q.unanswered),
      .held_5_i(held_5),
      .reply_valid_o,
      .reply_ready_i,
      .reply_o,
      .reply_ack_o,
      .reply_completed_o,
      .query_valid_o,
      .query_ready_i,
      .query_o
  );

endmodule

`default_nettype wire
