// Index of the lowest set bit, as a tree of pairs: each pair passes on its lower half's index if that
// half has a bit set, else its upper half's.
//
// Combinational. Depth grows with the logarithm of WIDTH.

`default_nettype none

module mrc_find_first #(
    parameter int unsigned WIDTH = 64,  // bits to search, a power of two, 2 or more
    localparam int unsigned INDEX_W = $clog2(WIDTH)
) (
    input  wire logic [  WIDTH-1:0] bits_i,
    output logic                    found_o,  // a bit is set
    output logic      [INDEX_W-1:0] index_o   // of the lowest set bit; meaningless unless found
);

  if (WIDTH < 2 || WIDTH != 2 ** INDEX_W) begin : gen_bad_width
    $fatal(1, "mrc_find_first: WIDTH is %0d, must be a power of two of 2 or more", WIDTH);
  end

  for (genvar level = 0; level < INDEX_W; level++) begin : gen_level
    localparam int unsigned PAIRS = WIDTH >> (level + 1);
    logic [PAIRS-1:0] found;
    logic [PAIRS-1:0][level:0] index;

    for (genvar p = 0; p < PAIRS; p++) begin : gen_pair
      if (level == 0) begin : gen_leaf
        assign found[p] = |bits_i[2*p+:2];
        assign index[p] = !bits_i[2*p];
      end else begin : gen_node
        logic low;
        assign low = gen_level[level-1].found[2*p];
        assign found[p] = low || gen_level[level-1].found[2*p+1];
        assign index[p] = low ? {1'b0, gen_level[level-1].index[2*p]}
                              : {1'b1, gen_level[level-1].index[2*p+1]};
      end
    end
  end

  assign found_o = gen_level[INDEX_W-1].found[0];
  assign index_o = gen_level[INDEX_W-1].index[0];

endmodule

`default_nettype wire
