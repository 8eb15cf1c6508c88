// The rule of every valid/ready stream, as assertions: once valid, a word stays valid and unchanged
// until it is taken.
//
// Simulation and formal only; instantiate under `ifndef SYNTHESIS.

`default_nettype none

module mrc_stream_assert #(
    parameter int unsigned WIDTH = 64  // bits of a word
) (
    input wire logic             clk_i,
    input wire logic             rst_ni,
    input wire logic             valid_i,
    input wire logic             ready_i,
    input wire logic [WIDTH-1:0] data_i
);

  // Nothing means anything before the first reset.
  logic reset_seen_q, active;
  initial reset_seen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_seen_q <= 1'b1;
  end
  assign active = rst_ni && reset_seen_q;

  StreamHoldsValid :
  assert property (@(posedge clk_i) disable iff (!active) valid_i && !ready_i |=> valid_i)
  else $error("%m: valid fell before the word was taken");

  StreamHoldsData :
  assert property (@(posedge clk_i) disable iff (!active) valid_i && !ready_i |=> $stable(data_i))
  else $error("%m: the word changed before it was taken");

endmodule

`default_nettype wire
