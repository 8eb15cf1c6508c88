// Invariants of the PSN tracker, checked against an account of its own: each QP's window size and head.
//
// Simulation only; instantiate under `ifndef SYNTHESIS. QPs that were never set up are left out.

`default_nettype none

module mrc_psn_tracker_assert
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned RING_W = 12,
    localparam int unsigned WINDOW_W = $clog2(WINDOW + 1),
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    input wire logic                init_done_i,
    input wire logic [    QP_W-1:0] init_qp_i,
    input wire logic [   PSN_W-1:0] init_psn_i,
    input wire logic [WINDOW_W-1:0] init_window_i,

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

  localparam int unsigned RING = 2 ** RING_W;

  logic [QPS-1:0] known_q;
  logic [PSN_W-1:0] head[QPS];
  logic [WINDOW_W-1:0] window[QPS];

  initial known_q = '0;  // nothing is known before the first reset either
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= '0;
    else if (advance_i && init_done_i) known_q[init_qp_i] <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (cmt_valid_i) head[cmt_qp_i] <= cmt_head_i;
      if (init_done_i) begin
        head[init_qp_i]   <= init_psn_i;
        window[init_qp_i] <= init_window_i;
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

  SetUpWindowFits :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   init_done_i |-> init_window_i != '0 && init_window_i <= WINDOW_W'(WINDOW));

  HeadNeverMovesBack :
  assert property (@(posedge clk_i) disable iff (!rst_ni) decided |-> moved <= PSN_W'(RING));

  OnlyTheAwaitedMovesHead :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided && moved != '0 |-> recorded && ahead == '0);

  RecordedInsideWindow :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   recorded |-> ahead < PSN_W'(window[cmt_qp_i]));

  NextHoleInsideRing :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   recorded |-> behind_next != '0 && behind_next <= PSN_W'(RING));

  HeldFitsWindow :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided |-> PSN_W'(held) < PSN_W'(window[cmt_qp_i]));

  logic from_head;
  assign from_head = sack_valid_i && known_q[sack_qp_i] && sack_base_i == sack_cack_i + 1'b1;

  HeadIsNotReceived :
  assert property (@(posedge clk_i) disable iff (!rst_ni) from_head |-> !sack_bit_0_i);

endmodule

`default_nettype wire
