// Index of the lowest set bit, as a tree of halves: each half finds its own, the lower half wins.
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

  if (WIDTH == 2) begin : gen_leaf
    assign found_o = |bits_i;
    assign index_o = !bits_i[0];
  end else begin : gen_halves
    localparam int unsigned HALF = WIDTH / 2;
    logic low_found, high_found;
    logic [INDEX_W-2:0] low_index, high_index;

    mrc_find_first #(
        .WIDTH(HALF)
    ) u_low (
        .bits_i (bits_i[HALF-1:0]),
        .found_o(low_found),
        .index_o(low_index)
    );

    mrc_find_first #(
        .WIDTH(HALF)
    ) u_high (
        .bits_i (bits_i[WIDTH-1:HALF]),
        .found_o(high_found),
        .index_o(high_index)
    );

    assign found_o = low_found || high_found;
    assign index_o = {!low_found, low_found ? low_index : high_index};
  end

endmodule

`default_nettype wire
