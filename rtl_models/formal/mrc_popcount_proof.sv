// Proof of mrc_popcount: one bit less is one less, and no bit is none. By induction over the bits that
// is the number of bits for every value.

`default_nettype none

module mrc_popcount_proof #(
    parameter  int unsigned WIDTH   = 20,
    localparam int unsigned COUNT_W = $clog2(WIDTH + 1)
) (
    input wire logic [WIDTH-1:0] bits_i
);

  logic [WIDTH-1:0] less;
  logic [COUNT_W-1:0] count, count_less;

  assign less = bits_i & (bits_i - WIDTH'(1));  // without its lowest set bit

  mrc_popcount #(
      .WIDTH(WIDTH)
  ) dut (
      .bits_i,
      .count_o(count)
  );

  mrc_popcount #(
      .WIDTH(WIDTH)
  ) dut_less (
      .bits_i (less),
      .count_o(count_less)
  );

  always_comb begin
    None : assert (bits_i != '0 || count == '0);
    OneLess : assert (bits_i == '0 || count == count_less + 1'b1);
  end

endmodule

`default_nettype wire
