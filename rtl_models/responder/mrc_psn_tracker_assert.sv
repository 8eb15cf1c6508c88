// Invariants of the PSN tracker, checked against an account of its own: each QP's window size, the largest
// one since its set-up, and head.
//
// Simulation only; instantiate under `ifndef SYNTHESIS. QPs that were never set up are left out.

`default_nettype none

module mrc_psn_tracker_assert
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned RING_W = 12,
    parameter int unsigned STAGES = 9,  // from the issue of an event to its commit
    localparam int unsigned WINDOW_W = $clog2(WINDOW + 1),
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    input wire logic                                    issue_i,
    input wire psn_tracker_pkg::psn_op_e                issue_op_i,
    input wire logic                     [    QP_W-1:0] issue_qp_i,
    input wire logic                     [WINDOW_W-1:0] issue_window_i,

    input wire logic             init_done_i,
    input wire logic [ QP_W-1:0] init_qp_i,
    input wire logic [PSN_W-1:0] init_psn_i,

    input wire logic              cmt_valid_i,
    input wire logic              cmt_record_i,
    input wire logic [  QP_W-1:0] cmt_qp_i,
    input wire logic [ PSN_W-1:0] cmt_psn_i,
    input wire logic [ PSN_W-1:0] cmt_next_i,
    input wire logic [ PSN_W-1:0] cmt_head_i,
    input wire logic [RING_W-1:0] cmt_recorded_i,

    input wire logic             sack_valid_i,
    input wire logic [ QP_W-1:0] sack_qp_i,
    input wire logic [PSN_W-1:0] sack_cack_i,
    input wire logic [PSN_W-1:0] sack_base_i,
    input wire logic             sack_bit_0_i
);

  import psn_tracker_pkg::*;

  localparam int unsigned RING = 2 ** RING_W;

  logic [QPS-1:0] known_q;
  logic [PSN_W-1:0] head[QPS];
  logic [WINDOW_W-1:0] window[QPS];
  logic [WINDOW_W-1:0] largest[QPS];
  logic [WINDOW_W-1:0] window_q[STAGES:1];  // what an event saw when it was issued
  logic [WINDOW_W-1:0] largest_q[STAGES:1];

  // The same as the event in the last stage found it: one of before the QP's first set-up means nothing.
  logic [QPS-1:0] known_before_q[STAGES:1];

  initial known_q = '0;  // nothing is known before the first reset either
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= '0;
    else if (advance_i && init_done_i) known_q[init_qp_i] <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int s = 1; s <= STAGES; s++) known_before_q[s] <= '0;
    end else if (advance_i) begin
      known_before_q[1] <= known_q;
      for (int s = 2; s <= STAGES; s++) known_before_q[s] <= known_before_q[s-1];
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (cmt_valid_i) head[cmt_qp_i] <= cmt_head_i;
      if (init_done_i) head[init_qp_i] <= init_psn_i;
      if (issue_i && (issue_op_i == PSN_SET_UP || issue_op_i == PSN_RESIZE)) begin
        window[issue_qp_i] <= issue_window_i;
        if (issue_op_i == PSN_SET_UP || issue_window_i > largest[issue_qp_i]) begin
          largest[issue_qp_i] <= issue_window_i;
        end
      end
      window_q[1]  <= window[issue_qp_i];
      largest_q[1] <= issue_op_i == PSN_SET_UP ? issue_window_i : largest[issue_qp_i];
      for (int s = 2; s <= STAGES; s++) begin
        window_q[s]  <= window_q[s-1];
        largest_q[s] <= largest_q[s-1];
      end
    end
  end

  logic decided, recorded;
  logic [PSN_W-1:0] moved, ahead, behind_next;
  logic [RING_W-1:0] held;

  assign decided = cmt_valid_i && known_q[cmt_qp_i];
  assign recorded = cmt_record_i && known_q[cmt_qp_i];
  assign moved = cmt_head_i - head[cmt_qp_i];
  assign ahead = cmt_psn_i - head[cmt_qp_i];
  assign held = cmt_recorded_i - cmt_head_i[RING_W-1:0];
  assign behind_next = cmt_next_i - cmt_psn_i;

  logic sizes;
  assign sizes = issue_i && (issue_op_i == PSN_SET_UP || issue_op_i == PSN_RESIZE);

  WindowFits :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   sizes |-> issue_window_i != '0 && issue_window_i <= WINDOW_W'(WINDOW));

  HeadNeverMovesBack :
  assert property (@(posedge clk_i) disable iff (!rst_ni) decided |-> moved <= PSN_W'(RING));

  OnlyTheAwaitedMovesHead :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided && moved != '0 |-> recorded && ahead == '0);

  RecordedInsideWindow :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   recorded |-> ahead < PSN_W'(window_q[STAGES]));

  NextHoleInsideRing :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   recorded |-> behind_next != '0 && behind_next <= PSN_W'(RING));

  HeldFitsWindow :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided |-> PSN_W'(held) < PSN_W'(largest_q[STAGES]));

  logic from_head;
  assign from_head = sack_valid_i && known_before_q[STAGES][sack_qp_i] &&
      sack_base_i == sack_cack_i + 1'b1;

  HeadIsNotReceived :
  assert property (@(posedge clk_i) disable iff (!rst_ni) from_head |-> !sack_bit_0_i);

endmodule

`default_nettype wire
