// Proof of mrc_find_first: the bit it names is set and none below is; it finds one if there is one.

`default_nettype none

module mrc_find_first_proof #(
    parameter  int unsigned WIDTH   = 64,
    localparam int unsigned INDEX_W = $clog2(WIDTH)
) (
    input wire logic [WIDTH-1:0] bits_i
);

  logic found;
  logic [INDEX_W-1:0] index;

  mrc_find_first #(
      .WIDTH(WIDTH)
  ) dut (
      .bits_i,
      .found_o(found),
      .index_o(index)
  );

  always_comb begin
    Found : assert (found == (bits_i != '0));
    Set : assert (!found || bits_i[index]);
    Lowest : assert (!found || (bits_i & ((WIDTH'(1) << index) - WIDTH'(1))) == '0);
  end

endmodule

`default_nettype wire
