// Whether the checksum of an IPv4 header without options is wrong (RFC 791 section 3.1).
//
// The sum of the ten 16-bit words must be 0 in one's complement: a multiple of 65,535. The header is
// not zero, so ten sums are right.
//
// Latency: 3 clocks from a header, loaded when `load_i` is high, to `bad_o`, which then is that of the
// header loaded last three clocks before. Throughput: a header each clock.

`default_nettype none

module mrc_ipv4_checksum
  import mrc_pkg::*;
(
    input  wire logic  clk_i,
    input  wire logic  load_i,
    input  wire ipv4_t header_i,
    output logic       bad_o
);

  localparam int unsigned WORDS = IPV4_BYTES / 2;
  localparam int unsigned SUM_W = 20;
  localparam logic [SUM_W-1:0] ONES = SUM_W'(16'hFFFF);

  logic [15:0] words[WORDS];
  logic [16:0] pair_q[WORDS/2];
  logic [17:0] four_q[2];
  logic [16:0] two_q;
  logic [SUM_W-1:0] sum_q;
  logic good;

  always_comb begin
    for (int unsigned i = 0; i < WORDS; i++) words[i] = header_i[16*i+:16];
    good = 1'b0;
    for (int unsigned k = 1; k <= WORDS; k++) good |= sum_q == SUM_W'(k) * ONES;
  end

  assign bad_o = !good;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned i = 0; i < WORDS / 2; i++) begin
        pair_q[i] <= {1'b0, words[2*i]} + {1'b0, words[2*i+1]};
      end
    end
    four_q[0] <= {1'b0, pair_q[0]} + {1'b0, pair_q[1]};
    four_q[1] <= {1'b0, pair_q[2]} + {1'b0, pair_q[3]};
    two_q <= pair_q[4];
    sum_q <= SUM_W'(four_q[0]) + SUM_W'(four_q[1]) + SUM_W'(two_q);
  end

endmodule

`default_nettype wire
