// Invariants of mrc_delivery, checked against an account of its own: how far each QP is, whether it has
// failed, and which receive is the next.
//
// Simulation only; instantiate under `ifndef SYNTHESIS.

`default_nettype none

module mrc_delivery_assert
  import mrc_pkg::*;
#(
    parameter  int unsigned QPS  = 64,
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // What an event brought its QP to
    input wire logic             valid_i,
    input wire logic [ QP_W-1:0] qp_i,
    input wire logic             failed_i,
    input wire logic [MSN_W-1:0] completed_i,

    // A receive is released: with the message that completes it, or flushed
    input wire logic             release_i,
    input wire logic             success_i,
    input wire logic [ QP_W-1:0] release_qp_i,
    input wire logic [     15:0] number_i,
    input wire logic [MSN_W-1:0] msn_i,
    input wire logic             end_i,         // or none is, for now; number_i is the next one

    input wire logic            wipe_i,
    input wire logic [QP_W-1:0] wipe_qp_i
);

  logic [MSN_W-1:0] completed[QPS];
  logic failed[QPS];
  logic [15:0] next[QPS];
  // Until it has been brought to reset nothing is known of a QP.
  logic [QPS-1:0] reset_q, known_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reset_q <= '0;
      known_q <= '0;
    end else if (advance_i) begin
      if (wipe_i) reset_q[wipe_qp_i] <= 1'b1;
      if (valid_i) known_q[qp_i] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (valid_i) begin
        completed[qp_i] <= completed_i;
        failed[qp_i] <= failed_i;
      end
      if (release_i) next[release_qp_i] <= number_i + 1'b1;
      if (wipe_i) next[wipe_qp_i] <= '0;
    end
  end

  logic decided, released, ended;
  logic [MSN_W-1:0] moved, behind;

  assign decided = advance_i && valid_i && known_q[qp_i];
  assign moved = completed_i - completed[qp_i];
  assign released = advance_i && release_i && reset_q[release_qp_i];
  assign ended = advance_i && end_i && reset_q[release_qp_i];
  assign behind = msn_i - completed[release_qp_i];

  CompletedNeverMovesBack :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided |-> !moved[MSN_W-1] || completed_i == '0);

  FailureStopsCompleted :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   decided && failed_i && failed[qp_i] |-> moved == '0);

  EachReceiveOnceInOrder :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   released |-> number_i == next[release_qp_i]);

  WalkEndsAtTheNextReceive :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ended |-> number_i == next[release_qp_i]);

  OnlyCompleteMessagesSucceed :
  assert property (@(posedge clk_i) disable iff (!rst_ni) released && success_i |->
                   behind[MSN_W-1]);

  OnlyFailedQpsFlush :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   released && !success_i |-> failed[release_qp_i]);

endmodule

`default_nettype wire
