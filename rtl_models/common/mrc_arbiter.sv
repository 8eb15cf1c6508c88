// Round-robin arbiter: grants one of N requests, and after each grant that was taken the turn goes on
// to the next higher number.
//
// A grant stands until it is taken, whoever else asks meanwhile: requests follow the rule of streams
// (valid stays until taken), and the arbiter's output then does. Fair: between two grants of others to
// the same requester, whoever waits has its own; at most N - 1 takes pass before a request is granted.
//
// Latency: 0 (combinational from request to grant). Throughput: a grant each clock.

`default_nettype none

module mrc_arbiter #(
    parameter int unsigned N = 8,  // requesters, 2 or more
    localparam int unsigned INDEX_W = $clog2(N)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic [N-1:0] request_i,
    output logic valid_o,  // there is a grant
    output logic [N-1:0] grant_o,  // one-hot, zero without a request
    output logic [INDEX_W-1:0] index_o,  // of the grant, zero without one
    input wire logic taken_i  // the grant is used in this clock; ignored without one
);

  if (N < 2) begin : gen_bad_number
    $fatal(1, "mrc_arbiter: N is %0d, must be 2 or more", N);
  end

  // Ones for the numbers whose turn comes before it starts again from 0. A grant that is not taken
  // stays at the front of them.
  logic [N-1:0] turn_q;
  logic [N-1:0] candidates, at_or_above;

  assign candidates = |(request_i & turn_q) ? request_i & turn_q : request_i;

  for (genvar n = 0; n < N; n++) begin : gen_at_or_above
    assign at_or_above[n] = |candidates[n:0];
  end

  assign grant_o = at_or_above & ~(at_or_above << 1);
  assign valid_o = |request_i;

  always_comb begin
    index_o = '0;
    for (int unsigned n = 0; n < N; n++) begin
      if (grant_o[n]) index_o |= INDEX_W'(n);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) turn_q <= '1;
    else if (valid_o) turn_q <= taken_i ? at_or_above << 1 : at_or_above;
  end

`ifndef SYNTHESIS
  logic stands, waits_q;
  logic [N-1:0] grant_q;
  initial waits_q = 1'b0;  // nothing means anything before the first reset
  assign stands = !waits_q || grant_o == grant_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && valid_o && !taken_i;
    grant_q <= grant_o;
  end

  GrantStands :
  assert property (@(posedge clk_i) disable iff (!rst_ni) stands)
  else $error("%m: the grant moved before it was taken: %b after %b", grant_o, grant_q);
`endif

endmodule

`default_nettype wire
