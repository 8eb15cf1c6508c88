// The responder's window over PSNs, one for each QP: says of each PSN whether it is new, received
// before, below or above the window, records it, moves the cumulative PSN past any run of received
// PSNs, and builds what a SACK carries (mrc-facts.md 1.7, 3 and 11). docs/rtl.md draws the pipeline
// and explains the method.
//
// Events (psn_op_e) are PSNs that arrived, questions, set-ups and changes of the window. Each gives
// exactly one result, in the order of acceptance, and takes effect in that order. PSN_HEAD, PSN_SET_UP
// and PSN_RESIZE are about no PSN: their result is of class PSN_BELOW, so its base is cack + 1.
//
// Throughput: one event each clock, in any mix of QPs, whatever the window. One QP back to back: one
// event every SAME_QP_INTERVAL clocks; one that comes sooner waits (ev_ready_o).
// Latency: 13 + SAME_QP_INTERVAL clocks from the clock in which ev_valid_i and ev_ready_o are high to
// the first clock of res_valid_o, for every event, as long as nothing waits. From stage 0 to the output
// register everything moves as one: a result that is not taken stops it a clock later.
// Set-up: a QP is set up, and later set up anew, by its first PSN and its window size, in one event; no
// memory is cleared. One is under way at a time: until it is decided, the next one and events of its
// QP wait, and what follows them, so that 8 + SAME_QP_INTERVAL clocks lie between its result and that
// of its QP's event right behind it. An event of a QP that was never set up gives a meaningless result
// and harms no other QP.

`default_nettype none

module mrc_psn_tracker
  import mrc_pkg::*;
#(
    // Queue pairs. More of them cost memory and address bits, no other logic.
    parameter int unsigned QPS = 64,
    // Largest window in PSNs, a power of two from 64 to 4096: it is also the number of places in a QP's memory.
    parameter int unsigned WINDOW = 4096,
    // Clocks between two PSNs of one QP, 1 or 2: with 2 the loop from one to the next has a register more.
    parameter int unsigned SAME_QP_INTERVAL = 1,
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WINDOW_W = $clog2(WINDOW + 1)
) (
    input wire logic clk_i,
    input wire logic rst_ni,  // synchronous; what is under way is lost, the QPs must be set up anew

    input  wire logic                                    ev_valid_i,
    output logic                                         ev_ready_o,
    input  wire psn_tracker_pkg::psn_op_e                ev_op_i,
    input  wire logic                     [    QP_W-1:0] ev_qp_i,
    // Set-up: first PSN expected; head and change of window: anything
    input  wire logic                     [   PSN_W-1:0] ev_psn_i,
    // Set-up and change of window: window in use, 1 to WINDOW; else anything
    input  wire logic                     [WINDOW_W-1:0] ev_window_i,

    // What each of them was, all values after the event. Everything at or below cack was received,
    // ooo_count PSNs beyond it, and bit i of the bitmap stands for base + i.
    output logic                                            res_valid_o,
    input  wire logic                                       res_ready_i,
    output logic                        [         QP_W-1:0] res_qp_o,
    output logic                        [        PSN_W-1:0] res_psn_o,
    output psn_tracker_pkg::psn_class_e                     res_class_o,
    output logic                        [        PSN_W-1:0] res_cack_o,
    output logic                        [     WINDOW_W-1:0] res_ooo_count_o,
    output logic                        [        PSN_W-1:0] res_base_o,
    output logic                        [SACK_BITMAP_W-1:0] res_bitmap_o
);

  import psn_tracker_pkg::*;

  // Two words are the least that a bitmap can straddle.
  localparam int unsigned RING_W = WINDOW < 128 ? 7 : $clog2(WINDOW);
  localparam int unsigned WORDS = 2 ** (RING_W - 6);
  localparam int unsigned COMPARE = 8;  // stage in which a PSN meets head

  if (QPS < 2) begin : gen_bad_qps
    $fatal(1, "mrc_psn_tracker: QPS is %0d, must be 2 or more", QPS);
  end
  if (WINDOW < 64 || WINDOW > 4096 || WINDOW != 2 ** $clog2(WINDOW)) begin : gen_bad_window
    $fatal(1, "mrc_psn_tracker: WINDOW is %0d, must be a power of two from 64 to 4096", WINDOW);
  end
  if (SAME_QP_INTERVAL != 1 && SAME_QP_INTERVAL != 2) begin : gen_bad_interval
    $fatal(1, "mrc_psn_tracker: SAME_QP_INTERVAL is %0d, must be 1 or 2", SAME_QP_INTERVAL);
  end
  if (SACK_BITMAP_W != 64) begin : gen_bad_bitmap
    $fatal(1, "mrc_psn_tracker: a word and a bitmap are both of 64 bits");
  end

  logic advance;  // the pipeline moves as one; only a full output stops it

  // ---------------------------------------------------------------- stage 0: what goes next, and what must wait
  logic valid_0_q;
  psn_op_e op_0_q;
  logic [QP_W-1:0] qp_0_q;
  logic [PSN_W-1:0] psn_0_q;
  logic [WINDOW_W-1:0] window_0_q;

  logic setup_busy_q;  // a set-up is between stage 0 and its decision
  logic [QP_W-1:0] setup_qp_q;

  // Of each event: it is one; it records; it sets up; it is about no PSN
  logic [COMPARE:1] valid_q, record_q, init_q, about_none_q;
  logic [QP_W-1:0] qp_1_q;

  logic waits_for_setup, waits_for_interval, issue, record_0, init_0, resize_0, init_done;

  assign record_0 = op_0_q == PSN_RECORD;
  assign init_0 = op_0_q == PSN_SET_UP;
  assign resize_0 = op_0_q == PSN_RESIZE;
  assign waits_for_setup = setup_busy_q && (init_0 || qp_0_q == setup_qp_q);
  assign waits_for_interval = SAME_QP_INTERVAL == 2 && valid_q[1] && qp_1_q == qp_0_q;
  assign issue = valid_0_q && advance && !waits_for_setup && !waits_for_interval;
  assign ev_ready_o = !valid_0_q || issue;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_0_q <= 1'b0;
      setup_busy_q <= 1'b0;
      valid_q <= '0;
      record_q <= '0;
      init_q <= '0;
    end else begin
      if (ev_ready_o) valid_0_q <= ev_valid_i;
      if (issue && init_0) setup_busy_q <= 1'b1;
      else if (init_done && advance) setup_busy_q <= 1'b0;
      if (advance) begin
        valid_q  <= {valid_q[COMPARE-1:1], issue};
        record_q <= {record_q[COMPARE-1:1], issue && record_0};
        init_q   <= {init_q[COMPARE-1:1], issue && init_0};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (ev_ready_o) begin
      op_0_q <= ev_op_i;
      qp_0_q <= ev_qp_i;
      psn_0_q <= ev_psn_i;
      window_0_q <= ev_window_i;
    end
    if (issue && init_0) setup_qp_q <= qp_0_q;
    if (advance) begin
      qp_1_q <= qp_0_q;
      about_none_q <= {about_none_q[COMPARE-1:1], !record_0 && op_0_q != PSN_PEEK};
    end
  end

  // ---------------------------------------------------------------- stages 1 to 8 and on
  logic [QP_W-1:0] qp_5, qp_c;
  logic [PSN_W-1:0] psn_c, psn_plus_1_c, psn_less_window_c, next_c;
  logic [5:0] first_c;
  logic seen_c;
  logic [63:0] word_c;

  logic upd_valid, upd_fill;
  logic [QP_W-1:0] upd_qp;
  logic [PSN_W-1:0] upd_psn, upd_next;

  logic cmt_valid, cmt_state_we, cmt_record, cmt_fill, cmt_fresh;
  psn_class_e cmt_class;
  logic [QP_W-1:0] cmt_qp;
  logic [PSN_W-1:0] cmt_psn, cmt_next, cmt_head;
  logic [5:0] cmt_first;
  logic [63:0] cmt_word;
  logic [RING_W-1:0] cmt_recorded;
  logic [WORDS-1:0] cmt_full, cmt_touched;

  mrc_psn_lookup #(
      .QPS(QPS),
      .RING_W(RING_W),
      .WINDOW_W(WINDOW_W)
  ) u_lookup (
      .clk_i,
      .advance_i(advance),
      .qp_i(qp_0_q),
      .psn_i(psn_0_q),
      .window_we_i(issue && (init_0 || resize_0)),
      .window_i(window_0_q),
      .upd_valid_i(upd_valid),
      .upd_qp_i(upd_qp),
      .upd_psn_i(upd_psn),
      .upd_next_i(upd_next),
      .upd_fill_i(upd_fill),
      .cmt_state_we_i(cmt_state_we),
      .cmt_record_i(cmt_record),
      .cmt_qp_i(cmt_qp),
      .cmt_psn_i(cmt_psn),
      .cmt_next_i(cmt_next),
      .cmt_fill_i(cmt_fill),
      .cmt_fresh_i(cmt_fresh),
      .cmt_first_i(cmt_first),
      .cmt_word_i(cmt_word),
      .cmt_head_i(cmt_head),
      .cmt_full_i(cmt_full),
      .cmt_touched_i(cmt_touched),
      .qp_5_o(qp_5),
      .qp_o(qp_c),
      .psn_o(psn_c),
      .psn_plus_1_o(psn_plus_1_c),
      .psn_less_window_o(psn_less_window_c),
      .next_o(next_c),
      .first_o(first_c),
      .seen_o(seen_c),
      .word_o(word_c)
  );

  mrc_psn_decide #(
      .QPS(QPS),
      .RING_W(RING_W),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL)
  ) u_decide (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .qp_5_i(qp_5),
      .valid_i(valid_q[COMPARE]),
      .record_i(record_q[COMPARE]),
      .init_i(init_q[COMPARE]),
      .about_none_i(about_none_q[COMPARE]),
      .qp_i(qp_c),
      .psn_i(psn_c),
      .psn_plus_1_i(psn_plus_1_c),
      .psn_less_window_i(psn_less_window_c),
      .next_i(next_c),
      .first_i(first_c),
      .seen_i(seen_c),
      .word_i(word_c),
      .init_done_o(init_done),
      .upd_valid_o(upd_valid),
      .upd_qp_o(upd_qp),
      .upd_psn_o(upd_psn),
      .upd_next_o(upd_next),
      .upd_fill_o(upd_fill),
      .cmt_valid_o(cmt_valid),
      .cmt_class_o(cmt_class),
      .cmt_state_we_o(cmt_state_we),
      .cmt_record_o(cmt_record),
      .cmt_qp_o(cmt_qp),
      .cmt_psn_o(cmt_psn),
      .cmt_next_o(cmt_next),
      .cmt_fill_o(cmt_fill),
      .cmt_fresh_o(cmt_fresh),
      .cmt_first_o(cmt_first),
      .cmt_word_o(cmt_word),
      .cmt_head_o(cmt_head),
      .cmt_recorded_o(cmt_recorded),
      .cmt_full_o(cmt_full),
      .cmt_touched_o(cmt_touched)
  );

  // ---------------------------------------------------------------- output
  logic sack_valid;
  psn_class_e sack_class;
  logic [QP_W-1:0] sack_qp;
  logic [PSN_W-1:0] sack_psn, sack_cack, sack_base;
  logic [RING_W-1:0] sack_ooo_count;
  logic [SACK_BITMAP_W-1:0] sack_bitmap;
  logic [1:0] res_class;

  mrc_psn_bitmap #(
      .QPS(QPS),
      .RING_W(RING_W)
  ) u_bitmap (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .cmt_valid_i(cmt_valid),
      .cmt_class_i(cmt_class),
      .cmt_record_i(cmt_record),
      .cmt_qp_i(cmt_qp),
      .cmt_psn_i(cmt_psn),
      .cmt_word_i(cmt_word),
      .cmt_head_i(cmt_head),
      .cmt_recorded_i(cmt_recorded),
      .cmt_touched_i(cmt_touched),
      .valid_o(sack_valid),
      .class_o(sack_class),
      .qp_o(sack_qp),
      .psn_o(sack_psn),
      .cack_o(sack_cack),
      .ooo_count_o(sack_ooo_count),
      .base_o(sack_base),
      .bitmap_o(sack_bitmap)
  );

  mrc_skid_buffer #(
      .WIDTH(2 + QP_W + 3 * PSN_W + WINDOW_W + SACK_BITMAP_W)
  ) u_output (
      .clk_i,
      .rst_ni,
      .valid_i(sack_valid),
      .ready_o(advance),
      .data_i({
        sack_class, sack_qp, sack_psn, sack_cack, WINDOW_W'(sack_ooo_count), sack_base, sack_bitmap
      }),
      .valid_o(res_valid_o),
      .ready_i(res_ready_i),
      .data_o({
        res_class, res_qp_o, res_psn_o, res_cack_o, res_ooo_count_o, res_base_o, res_bitmap_o
      })
  );

  assign res_class_o = psn_class_e'(res_class);

  // ---------------------------------------------------------------- stream rules and invariants
`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH($bits(psn_op_e) + QP_W + PSN_W + WINDOW_W)
  ) u_ev_rule (
      .clk_i,
      .rst_ni,
      .valid_i(ev_valid_i),
      .ready_i(ev_ready_o),
      .data_i ({ev_op_i, ev_qp_i, ev_psn_i, ev_window_i})
  );

  mrc_stream_assert #(
      .WIDTH(2 + QP_W + 3 * PSN_W + WINDOW_W + SACK_BITMAP_W)
  ) u_res_rule (
      .clk_i,
      .rst_ni,
      .valid_i(res_valid_o),
      .ready_i(res_ready_i),
      .data_i({
        res_class, res_qp_o, res_psn_o, res_cack_o, res_ooo_count_o, res_base_o, res_bitmap_o
      })
  );

  mrc_psn_tracker_assert #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .RING_W(RING_W),
      .STAGES(COMPARE + SAME_QP_INTERVAL)
  ) u_invariants (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .issue_i(issue),
      .issue_op_i(op_0_q),
      .issue_qp_i(qp_0_q),
      .issue_window_i(window_0_q),
      .init_done_i(init_done),
      .init_qp_i(setup_qp_q),
      .init_psn_i(upd_psn),
      .cmt_valid_i(cmt_valid),
      .cmt_record_i(cmt_record),
      .cmt_qp_i(cmt_qp),
      .cmt_psn_i(cmt_psn),
      .cmt_next_i(cmt_next),
      .cmt_head_i(cmt_head),
      .cmt_recorded_i(cmt_recorded),
      .sack_valid_i(sack_valid),
      .sack_qp_i(sack_qp),
      .sack_cack_i(sack_cack),
      .sack_base_i(sack_base),
      .sack_bit_0_i(sack_bitmap[0])
  );
`endif

endmodule

`default_nettype wire
