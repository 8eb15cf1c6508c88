// Checks the ICRC of frames of any length at a beat each clock (mrc-facts.md 1.13).
//
// A CRC is linear: what a beat adds to the register is an XOR of its bits, found ahead of the loop,
// and the loop itself is an XOR of at most 17 bits of the register. Bytes behind the ICRC count as
// zeros. A packet and its correct ICRC leave one value in the register, and that value and n zero
// bytes one of 64 others: nothing has to be cut from the last beat or undone.
//
// Latency: 3 clocks from the last beat to `good_o`. Throughput: a beat each clock.

`default_nettype none

module mrc_icrc
  import mrc_rx_pkg::*;
  import mrc_icrc_pkg::*;
(
    input  wire logic                 clk_i,
    input  wire logic                 valid_i,
    input  wire logic                 first_i,  // the beat begins with the inner IP header
    input  wire logic                 ipv6_i,
    input  wire logic [    BUS_W-1:0] data_i,   // first byte on the left
    input  wire logic [BUS_BYTES-1:0] keep_i,   // bytes up to the ICRC's last, the leftmost highest
    input  wire logic [          5:0] zeros_i,  // bytes behind it in its beat
    output logic                      good_o    // of the frame that ended three clocks before
);

  localparam int unsigned CHUNKS = 4;
  localparam int unsigned CHUNK_W = BUS_W / CHUNKS;

  logic [BUS_W-1:0] masked;
  logic [31:0] partial_d[CHUNKS], partial_q[CHUNKS];
  logic [31:0] state_q, added, kept;
  logic valid_q, first_q;
  logic [5:0] zeros_q, zeros_qq;

  always_comb begin
    for (int unsigned i = 0; i < BUS_BYTES; i++) begin
      masked[8*i+:8] = keep_i[i] ? data_i[8*i+:8] : 8'h00;
    end
    if (first_i) masked |= ipv6_i ? ICRC_ONES_IPV6 : ICRC_ONES_IPV4;
    for (int unsigned c = 0; c < CHUNKS; c++) begin
      for (int unsigned k = 0; k < 32; k++) begin
        partial_d[c][k] = ^(masked[CHUNK_W*c+:CHUNK_W] & ICRC_BEAT[k][CHUNK_W*c+:CHUNK_W]);
      end
    end
    added = '0;
    for (int unsigned c = 0; c < CHUNKS; c++) added ^= partial_q[c];
    for (int unsigned k = 0; k < 32; k++) kept[k] = ^(state_q & ICRC_STATE[k]);
  end

  always_ff @(posedge clk_i) begin
    valid_q   <= valid_i && keep_i[BUS_BYTES-1];
    first_q   <= first_i;
    zeros_q   <= zeros_i;
    zeros_qq  <= zeros_q;
    partial_q <= partial_d;
    if (valid_q) state_q <= added ^ (first_q ? ICRC_START : kept);
    good_o <= state_q == ICRC_GOOD[zeros_qq];
  end

endmodule

`default_nettype wire
