// Number of set bits: six bits at a time, which is what one level of LUTs can count, then a tree of
// adders.
//
// Combinational. Depth grows with the logarithm of WIDTH.

`default_nettype none

module mrc_popcount #(
    parameter int unsigned WIDTH = 64,  // bits to count, 1 or more
    localparam int unsigned COUNT_W = $clog2(WIDTH + 1)
) (
    input  wire logic [  WIDTH-1:0] bits_i,
    output logic      [COUNT_W-1:0] count_o
);

  localparam int unsigned LEAF = 6;
  localparam int unsigned LEVELS = WIDTH > LEAF ? $clog2((WIDTH + LEAF - 1) / LEAF) : 0;
  localparam int unsigned LEAVES = 2 ** LEVELS;

  logic [LEAVES*LEAF-1:0] padded;
  assign padded = (LEAVES * LEAF)'(bits_i);

  for (genvar level = 0; level <= LEVELS; level++) begin : gen_level
    localparam int unsigned SUMS = LEAVES >> level;
    logic [SUMS-1:0][level+2:0] total;

    for (genvar s = 0; s < SUMS; s++) begin : gen_sum
      if (level == 0) begin : gen_leaf
        always_comb begin
          total[s] = '0;
          for (int unsigned b = 0; b < LEAF; b++) total[s] += 3'(padded[s*LEAF+b]);
        end
      end else begin : gen_node
        logic [level+1:0] low, high;
        assign low = gen_level[level-1].total[2*s];
        assign high = gen_level[level-1].total[2*s+1];
        assign total[s] = {1'b0, low} + {1'b0, high};
      end
    end
  end

  assign count_o = COUNT_W'(gen_level[LEVELS].total[0]);

endmodule

`default_nettype wire
