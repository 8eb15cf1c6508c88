// Proof of mrc_psn_decide for one QP, any of them, one window in use and one PSN, any: nothing is
// recorded outside the window, the cumulative PSN never moves back, it passes no PSN that was not
// recorded, and none is recorded twice.
//
// Assumed is what mrc_psn_lookup and the tracker's front say: `seen` and the next hole are right about
// the watched PSN, and events of a QP keep their distance.

`default_nettype none

module mrc_psn_decide_proof
  import mrc_pkg::*;
#(
    parameter int unsigned SAME_QP_INTERVAL = 1,
    localparam int unsigned QPS = 2,
    localparam int unsigned RING_W = 7,
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,
    input wire logic [QP_W-1:0] qp_5_i,
    input wire logic valid_i,
    input wire logic record_i,
    input wire logic init_i,
    input wire logic about_none_i,
    input wire logic [PSN_W-1:0] psn_i,
    input wire logic [PSN_W-1:0] next_i,
    input wire logic [5:0] first_i,
    input wire logic seen_i,
    input wire logic [63:0] word_i,
    // Chosen once
    input wire logic [QP_W-1:0] watched_i,
    input wire logic [PSN_W-1:0] watched_psn_i,
    input wire logic [RING_W:0] window_i
);

  localparam logic [PSN_W-1:0] RING = PSN_W'(2 ** RING_W);

  logic [QP_W-1:0] qp_6_q, qp_7_q, qp_8_q;
  logic init_done, upd_valid, upd_fill, cmt_valid, cmt_state_we, cmt_record, cmt_fill, cmt_fresh;
  logic [QP_W-1:0] upd_qp, cmt_qp;
  logic [PSN_W-1:0] upd_psn, upd_next, cmt_psn, cmt_next, cmt_head;
  logic [RING_W-1:0] cmt_recorded;
  logic [1:0] cmt_full, cmt_touched;
  logic [5:0] cmt_first;
  logic [63:0] cmt_word;
  psn_tracker_pkg::psn_class_e cmt_class;

  mrc_psn_decide #(
      .QPS(QPS),
      .RING_W(RING_W),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL)
  ) dut (
      .clk_i,
      .rst_ni,
      .advance_i,
      .qp_5_i,
      .valid_i,
      .record_i,
      .init_i,
      .about_none_i,
      .qp_i(qp_8_q),
      .psn_i,
      .psn_plus_1_i(psn_i + 1'b1),
      .psn_less_window_i(psn_i - PSN_W'(window_i)),
      .next_i,
      .first_i,
      .seen_i,
      .word_i,
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

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      qp_6_q <= qp_5_i;
      qp_7_q <= qp_6_q;
      qp_8_q <= qp_7_q;
    end
  end

  logic started_q;  // a reset has been
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= started_q || !rst_ni;

  // ---------------------------------------------------------------- an account of its own, of the watched QP
  logic known_q;  // it was set up
  logic got_q;  // the watched PSN was recorded, and head has not gone far past it
  logic [PSN_W-1:0] head_q, head_d, before_q;
  logic got_d, decides, updates, decided_q, recorded_q, twice_q, lost_q;
  logic [PSN_W-1:0] ahead;

  assign decides = dut.deciding_valid && dut.deciding.qp == watched_i;
  assign updates = upd_valid && upd_qp == watched_i;
  assign ahead   = watched_psn_i - head_q;

  always_comb begin
    head_d = head_q;
    got_d  = got_q || (updates && upd_psn == watched_psn_i);
    if (updates && upd_psn == head_q) head_d = upd_next;
    if (init_done && dut.deciding.qp == watched_i) begin
      head_d = dut.deciding.psn;
      got_d  = 1'b0;
    end
    if (watched_psn_i - head_d >= RING) got_d = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (advance_i && init_done && dut.deciding.qp == watched_i) known_q <= 1'b1;
    if (advance_i) begin
      head_q <= head_d;
      got_q <= got_d;
      before_q <= head_q;
      decided_q <= rst_ni && known_q && decides && !init_done;
      recorded_q <= rst_ni && known_q && updates;
      twice_q <= rst_ni && known_q && updates && upd_psn == watched_psn_i && got_q;
      lost_q <= rst_ni && known_q && !init_done && ahead < RING && head_d - head_q > ahead &&
          !got_q && !(updates && upd_psn == watched_psn_i);
    end else if (!rst_ni) begin
      decided_q <= 1'b0;
      recorded_q <= 1'b0;
      twice_q <= 1'b0;
      lost_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- what is assumed
  logic [QP_W-1:0] watched_q;
  logic [PSN_W-1:0] watched_psn_q, beyond, to_watched;
  logic [RING_W:0] window_q;
  logic chosen_q, mine;
  initial chosen_q = 1'b0;
  // Nothing is in stage 8 before it went through the stages ahead.
  logic [2:0] primed_q;
  initial primed_q = '0;
  always_ff @(posedge clk_i) if (advance_i) primed_q <= {primed_q[1:0], 1'b1};
  always_ff @(posedge clk_i) begin
    chosen_q <= 1'b1;
    watched_q <= watched_i;
    watched_psn_q <= watched_psn_i;
    window_q <= window_i;
  end

  assign mine = valid_i && qp_8_q == watched_i;
  assign beyond = next_i - psn_i;
  assign to_watched = watched_psn_i - psn_i;

  always_ff @(posedge clk_i) begin
    FixedChoice :
    assume (!chosen_q ||
        (watched_i == watched_q && watched_psn_i == watched_psn_q && window_i == window_q));
    WindowFits : assume (window_i != 0 && PSN_W'(window_i) <= RING);
    Ahead : assume (!valid_i || primed_q == '1);
    OpIsValid : assume (valid_i || !(record_i || init_i));
    OneOp : assume (!(record_i && init_i));
    NextHole : assume (beyond != 0 && beyond <= RING);
    if (SAME_QP_INTERVAL == 2) begin
      Distance : assume (!(mine && dut.deciding_valid && dut.deciding.qp == watched_i));
    end
    if (mine && known_q) begin
      Seen : assume (psn_i != watched_psn_i || seen_i == got_q);
      Awaited : assume (psn_i != head_q || !seen_i);
      // What lies between a PSN and its next hole was received; the hole was not.
      Between : assume (ahead >= RING || got_q || to_watched == 0 || to_watched >= beyond);
      Hole : assume (next_i != watched_psn_i || !got_q);
    end
  end

  // ---------------------------------------------------------------- what is proved
  logic [PSN_W-1:0] moved, from_head;
  assign moved = cmt_head - before_q;
  assign from_head = cmt_psn - before_q;

  always_ff @(posedge clk_i) begin
    if (started_q && rst_ni) begin
      HeadNeverMovesBack : assert (!decided_q || moved <= RING);
      OnlyTheAwaitedMovesHead : assert (!decided_q || moved == 0 || (recorded_q && from_head == 0));
      NothingOutsideTheWindow : assert (!recorded_q || from_head < PSN_W'(window_i));
      NoneTwice : assert (!twice_q);
      NonePassedUnrecorded : assert (!lost_q);
      ClassNew :
      assert (!decided_q || cmt_class != psn_tracker_pkg::PSN_NEW || from_head < PSN_W'(window_i));
      CommitIsTheDecision : assert (!decided_q || (cmt_qp == watched_i && cmt_head == head_q));
      RecordIsTheDecision : assert (!recorded_q || (cmt_record && cmt_valid));
    end
  end

  // ---------------------------------------------------------------- what makes each clock follow from the one before
  localparam int unsigned ROW_W = PSN_W + RING_W + 4;
  logic [ROW_W-1:0] written, on_its_way;
  logic [PSN_W-1:0] newest;
  // Stage 8 is a clock behind an event of its QP that is being decided.
  logic behind;
  assign behind = SAME_QP_INTERVAL == 2 && dut.deciding_valid && dut.deciding.qp == watched_i;
  assign written = dut.u_state.u_ram.memory[watched_i];
  assign newest = cmt_state_we && cmt_qp == watched_i ? cmt_head : written[ROW_W-1-:PSN_W];
  assign on_its_way = dut.u_state.passed_q ? dut.u_state.passed_row_q : dut.u_state.ram_row;

  // What the event that is being decided brought with it.
  logic flags_fit, compared_fits, promise_kept;
  logic [PSN_W-1:0] to_cack, to_end, to_next, to_chosen;
  assign to_cack = dut.deciding.psn + 1'b1 - head_q;
  assign to_end = dut.deciding.psn - PSN_W'(window_i) - head_q;
  assign to_next = dut.deciding.next - dut.deciding.psn;
  assign to_chosen = watched_psn_i - dut.deciding.psn;
  always_comb begin
    if (dut.deciding_valid) flags_fit = !(dut.deciding_record && dut.deciding_init);
    else flags_fit = !(dut.deciding_record || dut.deciding_init);
    compared_fits = dut.deciding.below == (to_cack[PSN_W-1] || to_cack == 0) &&
        dut.deciding.under_end == to_end[PSN_W-1] &&
        dut.deciding.at_head == (dut.deciding_record && dut.deciding.psn == head_q);
    promise_kept = to_next != 0 && to_next <= RING &&
        (dut.deciding.psn != watched_psn_i || dut.deciding.seen == got_q) &&
        (dut.deciding.psn != head_q || !dut.deciding.seen) &&
        (ahead >= RING || got_q || to_chosen == 0 || to_chosen >= to_next) &&
        (dut.deciding.next != watched_psn_i || !got_q);
  end

  // Of the memory and the way through it, in reset too.
  always_ff @(posedge clk_i) begin
    InTurn : assert (primed_q inside {3'b000, 3'b001, 3'b011, 3'b111});
    Stage6 : assert (!primed_q[0] || (dut.qp_6 == qp_6_q && dut.u_state.address_q == qp_6_q));
    Stage7 : assert (!primed_q[1] || (dut.qp_7 == qp_7_q && dut.u_state.address_qq == qp_7_q));
    Row6 : assert (!primed_q[0] || qp_6_q != watched_i || on_its_way == written);
    Row7 : assert (!primed_q[1] || qp_7_q != watched_i || dut.u_state.row_q == written);
  end

  always_ff @(posedge clk_i) begin
    if (started_q && rst_ni) begin
      Newest : assert (!known_q || newest == head_q);
      Row8 : assert (!known_q || qp_8_q != watched_i || behind || dut.state_8.head == head_q);
      Decided :
      assert (!known_q || !dut.deciding_valid || dut.deciding.qp != watched_i ||
              dut.deciding.state.head == head_q);
      Got : assert (!known_q || !got_q || ahead < RING);
      Flags : assert (flags_fit);
      Compared : assert (!known_q || !decides || init_done || compared_fits);
      Promised : assert (!known_q || !decides || init_done || promise_kept);
      Deciding : assert (!dut.deciding_valid || primed_q == '1);
      Primed : assert (!known_q || primed_q == '1);
    end
  end

endmodule

`default_nettype wire
