// The responder engine, shared by all ports: takes descriptors of frames, tracks PSNs, checks and
// places payload, completes messages, and says what is to be answered. It does what
// pymodel/nic/responder.py does, event by event in the order that the tap says, with one difference: a
// packet behind the failure of its QP may still be recorded in the window, which nobody asks then.
//
//   ports --+
//   timers -+-> arbiter -> lookup -> tracker -> delivery -> respond -> replies, verdicts, queries
//   commands+                 |         ^          |           |
//                             +- tickets round both +          +-> quiet timers -> arbiter
//
// Throughput: an event each clock, over many QPs; of one QP one every SAME_QP_INTERVAL clocks. Replies
// leave one a clock: two for an event that is answered by SACK and ACK, which wait in one place.
// Latency, as long as nothing waits: a descriptor is accepted the clock after it came in; from acceptance
// 45 + SAME_QP_INTERVAL clocks to reply_valid_o, 41 + SAME_QP_INTERVAL to the verdict. After reset the
// engine accepts nothing until its tables are clear: max(QPS, REGIONS, 64) clocks, and mrc_delivery's.
// Quiet timer: its expiry is accepted between the deadline and a scan period of max(QPS, 64) clocks
// later, as long as nothing waits. A deadline is known 38 + SAME_QP_INTERVAL clocks after the packet
// that set it was accepted; where the base RTT is shorter than that, it counts instead.
// What holds the engine up, in the order of events: REPLY_DEPTH answers that are not taken; a query's
// answer, a descriptor for the requester or an endpoint operation that is not taken; what mrc_delivery
// and mrc_psn_tracker say of themselves. Then no descriptor is accepted and the ports' buffers fill;
// nothing that was accepted is lost. A port that does not take verdicts holds up itself alone.
// Commands: a QP's life is CMD_QP_RESET, the first one too; CMD_QP_CONFIG, routes, receives;
// CMD_QP_READY. CMD_QP_CONFIG sets all planes usable, CMD_QP_READY the MPR to the configured one and
// penalty, restore and shortage to none. A command for a QP or region that does not exist does nothing.

`default_nettype none

module mrc_responder
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs, numbered from 0; QPN = number
    // Largest window in PSNs, a power of two from 128 to 4096; an MPR beyond it is cut to it
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1,  // clocks between two events of one QP, 1 or 2
    parameter int unsigned REGIONS = 64,  // memory regions
    parameter int unsigned WIMM = 128,  // most writes with immediate in flight
    parameter int unsigned REPLY_DEPTH = 64,  // replies that may wait
    parameter int unsigned VERDICT_DEPTH = 64  // verdicts of one port that may wait
) (
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous

    input wire logic [127:0] address_i,  // inner address of the device; static

    // Frames, per port; and what becomes of their payload, one for each descriptor with payload
    input  wire logic     [PORTS-1:0] desc_valid_i,
    output logic          [PORTS-1:0] desc_ready_o,
    input  wire rx_desc_t [PORTS-1:0] desc_i,
    output logic          [PORTS-1:0] verdict_valid_o,
    input  wire logic     [PORTS-1:0] verdict_ready_i,
    output rx_verdict_t   [PORTS-1:0] verdict_o,

    // Software
    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,
    output logic          query_valid_o,
    input  wire logic     query_ready_i,
    output query_t        query_o,
    output logic          cqe_valid_o,
    input  wire logic     cqe_ready_i,
    output cqe_t          cqe_o,

    // To be answered
    output logic      reply_valid_o,
    input  wire logic reply_ready_i,
    output reply_t    reply_o,

    // SACK, NACK and ACK for QPs that are ready, for their requesters
    output logic      requester_valid_o,
    input  wire logic requester_ready_i,
    output rx_desc_t  requester_o,

    // Endpoint requests and responses, with the port that they came by
    output logic                   endpoint_valid_o,
    input  wire logic              endpoint_ready_i,
    output logic      [PORT_W-1:0] endpoint_port_o,
    output rx_desc_t               endpoint_o,

    // Every event in the order of acceptance, one clock after it; and what is counted
    output logic              tap_valid_o,
    output tap_t              tap_o,
    output responder_pulses_t pulses_o
);

  import psn_tracker_pkg::*;
  import mrc_delivery_pkg::*;
  import responder_pkg::*;

  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned WINDOW_W = $clog2(WINDOW + 1);
  // Events between the checks and the last part: more than tracker and delivery hold at a time.
  localparam int unsigned IN_FLIGHT = 64;

  if (WINDOW < MPR_UNIT_PSNS) begin : gen_bad_window
    $fatal(1, "mrc_responder: WINDOW is %0d, must be %0d or more", WINDOW, MPR_UNIT_PSNS);
  end

  // ---------------------------------------------------------------- one order
  logic [PORTS-1:0] allow, room, accepted, entered_valid, entered_ready;
  rx_desc_t [PORTS-1:0] entered;
  logic timer_valid, timer_ready;
  logic [QP_ID_W-1:0] timer_qp;
  logic event_valid, event_ready;
  event_t next_event;
  logic [TIME_W-1:0] now;

  // A descriptor comes in when there is a place for its verdict. The way to the ports is long, and so is
  // that of the turns: registers cut them apart.
  for (genvar p = 0; p < PORTS; p++) begin : gen_entry
    assign desc_ready_o[p] = room[p] && allow[p];
    assign accepted[p] = desc_valid_i[p] && desc_ready_o[p] && desc_i[p].payload_bytes != '0;

    mrc_skid_buffer #(
        .WIDTH($bits(rx_desc_t))
    ) u_entry (
        .clk_i,
        .rst_ni,
        .valid_i(desc_valid_i[p] && desc_ready_o[p]),
        .ready_o(room[p]),
        .data_i (desc_i[p]),
        .valid_o(entered_valid[p]),
        .ready_i(entered_ready[p]),
        .data_o (entered[p])
    );
  end

  mrc_event_arbiter u_arbiter (
      .clk_i,
      .rst_ni,
      .desc_valid_i(entered_valid),
      .desc_ready_o(entered_ready),
      .desc_i(entered),
      .timer_valid_i(timer_valid),
      .timer_ready_o(timer_ready),
      .timer_qp_i(timer_qp),
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .event_valid_o(event_valid),
      .event_ready_i(event_ready),
      .event_o(next_event),
      .now_o(now),
      .tap_valid_o,
      .tap_o
  );

  // ---------------------------------------------------------------- without the QP's state
  logic work_valid, work_ready;
  psn_op_e work_op;
  logic [QP_W-1:0] work_qp;
  logic [PSN_W-1:0] work_psn;
  logic [WINDOW_W-1:0] work_window;
  ticket_t work_ticket, ticket;
  message_t work_message, message;
  responder_pulses_t drop_pulses, answer_pulses;

  mrc_responder_lookup #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .REGIONS(REGIONS)
  ) u_lookup (
      .clk_i,
      .rst_ni,
      .address_i,
      .event_valid_i(event_valid),
      .event_ready_o(event_ready),
      .event_i(next_event),
      .endpoint_valid_o,
      .endpoint_ready_i,
      .endpoint_port_o,
      .endpoint_o,
      .requester_valid_o,
      .requester_ready_i,
      .requester_o,
      .work_valid_o(work_valid),
      .work_ready_i(work_ready),
      .work_op_o(work_op),
      .work_qp_o(work_qp),
      .work_psn_o(work_psn),
      .work_window_o(work_window),
      .work_ticket_o(work_ticket),
      .work_message_o(work_message),
      .pulses_o(drop_pulses)
  );

  // ---------------------------------------------------------------- packets, then messages; what they need not see
  // goes round them
  logic ticket_room, message_room, tracked_room, track_ready;
  logic ticket_valid, message_valid, tracked_valid, track_valid;
  logic deliver_valid, deliver_ready, delivered_valid, finding_valid, finding_ready;
  logic [QP_W-1:0] track_qp;
  logic [WINDOW_W-1:0] ooo_count;
  tracked_t track, tracked;
  delivery_event_t deliver;
  delivery_result_t delivered;
  finding_t finding;
  logic unused_meta;
  logic [$clog2(IN_FLIGHT+1)-1:0] unused_tickets, unused_messages, unused_tracked;

  assign work_ready = track_ready && ticket_room && message_room;

  mrc_fifo #(
      .WIDTH($bits(ticket_t)),
      .DEPTH(IN_FLIGHT)
  ) u_tickets (
      .clk_i,
      .rst_ni,
      .valid_i(work_valid && work_ready),
      .ready_o(ticket_room),
      .data_i (work_ticket),
      .valid_o(ticket_valid),
      .ready_i(finding_valid && finding_ready),
      .data_o (ticket),
      .count_o(unused_tickets)
  );

  mrc_fifo #(
      .WIDTH($bits(message_t)),
      .DEPTH(IN_FLIGHT)
  ) u_messages (
      .clk_i,
      .rst_ni,
      .valid_i(work_valid && work_ready),
      .ready_o(message_room),
      .data_i (work_message),
      .valid_o(message_valid),
      .ready_i(deliver_valid && deliver_ready),
      .data_o (message),
      .count_o(unused_messages)
  );

  mrc_psn_tracker #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL)
  ) u_tracker (
      .clk_i,
      .rst_ni,
      .ev_valid_i(work_valid && ticket_room && message_room),
      .ev_ready_o(track_ready),
      .ev_op_i(work_op),
      .ev_qp_i(work_qp),
      .ev_psn_i(work_psn),
      .ev_window_i(work_window),
      .res_valid_o(track_valid),
      .res_ready_i(deliver_valid && deliver_ready),
      .res_qp_o(track_qp),
      .res_psn_o(track.psn),
      .res_class_o(track.psn_class),
      .res_cack_o(track.cack),
      .res_ooo_count_o(ooo_count),
      .res_base_o(track.base),
      .res_bitmap_o(track.bitmap)
  );

  assign track.ooo_count = 15'(ooo_count);
  assign deliver_valid   = track_valid && message_valid && tracked_room;

  always_comb begin
    deliver.op = message.op;
    deliver.qp = QP_ID_W'(track_qp);
    deliver.psn = track.psn;
    deliver.cack = track.cack;
    deliver.is_new = track.psn_class == PSN_NEW;
    deliver.recorded = message.recorded;
    deliver.bad = message.bad;
    deliver.syndrome = message.syndrome;
    deliver.last = message.last;
    deliver.immediate_valid = message.immediate_valid;
    deliver.msn = message.msn;
    deliver.rqmsn = message.rqmsn;
    deliver.immediate = message.immediate;
    deliver.dma_length = message.dma_length;
    deliver.wimm = message.wimm;
    deliver.value = message.value;
  end

  mrc_delivery #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .WIMM(WIMM)
  ) u_delivery (
      .clk_i,
      .rst_ni,
      .ev_valid_i(deliver_valid),
      .ev_ready_o(deliver_ready),
      .ev_i(deliver),
      .ev_meta_i(1'b0),
      .res_valid_o(delivered_valid),
      .res_ready_i(finding_valid && finding_ready),
      .res_o(delivered),
      .res_meta_o(unused_meta),
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o
  );

  mrc_fifo #(
      .WIDTH($bits(tracked_t)),
      .DEPTH(IN_FLIGHT)
  ) u_tracked (
      .clk_i,
      .rst_ni,
      .valid_i(deliver_valid && deliver_ready),
      .ready_o(tracked_room),
      .data_i (track),
      .valid_o(tracked_valid),
      .ready_i(finding_valid && finding_ready),
      .data_o (tracked),
      .count_o(unused_tracked)
  );

  assign finding_valid = delivered_valid && ticket_valid && tracked_valid;
  assign finding = '{ticket: ticket, tracked: tracked, delivered: delivered};

  // ---------------------------------------------------------------- what follows
  logic timer_we, timer_running, verdict_valid, reply_valid, reply_ready;
  logic [QP_W-1:0] timer_changed;
  logic [TIME_W-1:0] timer_deadline;
  logic [PORT_W-1:0] verdict_port;
  rx_verdict_t verdict;
  reply_t reply, first;
  logic reply_ack, first_ack, split_ready;
  logic [23:0] reply_completed, first_completed;
  logic [$clog2(REPLY_DEPTH+1)-1:0] unused_replies;

  mrc_respond #(
      .QPS(QPS)
  ) u_respond (
      .clk_i,
      .rst_ni,
      .finding_valid_i(finding_valid),
      .finding_ready_o(finding_ready),
      .finding_i(finding),
      .timer_we_o(timer_we),
      .timer_qp_o(timer_changed),
      .timer_running_o(timer_running),
      .timer_deadline_o(timer_deadline),
      .verdict_valid_o(verdict_valid),
      .verdict_port_o(verdict_port),
      .verdict_o(verdict),
      .reply_valid_o(reply_valid),
      .reply_ready_i(reply_ready),
      .reply_o(reply),
      .reply_ack_o(reply_ack),
      .reply_completed_o(reply_completed),
      .query_valid_o,
      .query_ready_i,
      .query_o,
      .pulses_o(answer_pulses)
  );

  mrc_quiet_timer #(
      .QPS(QPS)
  ) u_timer (
      .clk_i,
      .rst_ni,
      .now_i(now),
      .we_i(timer_we),
      .qp_i(timer_changed),
      .running_i(timer_running),
      .deadline_i(timer_deadline),
      .offer_valid_o(timer_valid),
      .offer_ready_i(timer_ready),
      .offer_qp_o(timer_qp)
  );

  mrc_verdict_queues #(
      .DEPTH(VERDICT_DEPTH)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .accepted_i(accepted),
      .allow_o(allow),
      .valid_i(verdict_valid),
      .port_i(verdict_port),
      .verdict_i(verdict),
      .verdict_valid_o,
      .verdict_ready_i,
      .verdict_o
  );

  // A SACK waits together with the ACK that goes behind it, and they part here: the engine takes an event
  // a clock whether it is answered once or twice, as long as the queue has room.
  mrc_fifo #(
      .WIDTH(1 + 24 + $bits(reply_t)),
      .DEPTH(REPLY_DEPTH)
  ) u_replies (
      .clk_i,
      .rst_ni,
      .valid_i(reply_valid),
      .ready_o(reply_ready),
      .data_i ({reply_ack, reply_completed, reply}),
      .valid_o(reply_valid_o),
      .ready_i(split_ready),
      .data_o ({first_ack, first_completed, first}),
      .count_o(unused_replies)
  );

  logic second_q;
  assign split_ready = reply_ready_i && (second_q || !first_ack);

  always_comb begin
    reply_o = first;
    if (second_q) begin
      reply_o.kind = REPLY_ACK;  // its PSN is that of the SACK: the cumulative one
      reply_o.rtx  = 1'b0;
      reply_o.body = COMMAND_DATA_W'({AETH_ACK, first_completed});
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) second_q <= 1'b0;
    else if (reply_valid_o && reply_ready_i) second_q <= first_ack && !second_q;
  end

  assign pulses_o = drop_pulses | answer_pulses;

endmodule

`default_nettype wire
