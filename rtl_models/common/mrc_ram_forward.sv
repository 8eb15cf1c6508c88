// RAM with forwarding: what comes out includes every write presented so far, that of the present
// clock too.
//
// A read takes two enabled clocks, so that a block RAM's output is followed by one multiplexer and a
// register, and a write may come before, with, or up to two clocks after the address: whichever was
// presented last is what the reader sees. A pipeline that reads in stage s and uses the row in stage
// s+2 therefore misses only the events between itself and the write port.
//
// Latency: 2 enabled clocks. Throughput: a read and a write each clock.

`default_nettype none

module mrc_ram_forward #(
    parameter int unsigned WIDTH = 64,  // bits of a row
    parameter int unsigned DEPTH = 64,  // rows
    localparam int unsigned ADDRESS_W = $clog2(DEPTH)
) (
    input  wire logic                 clk_i,
    input  wire logic                 en_i,     // low: everything stands still
    input  wire logic [ADDRESS_W-1:0] raddr_i,
    output logic      [    WIDTH-1:0] rdata_o,
    input  wire logic                 we_i,
    input  wire logic [ADDRESS_W-1:0] waddr_i,
    input  wire logic [    WIDTH-1:0] wdata_i
);

  // One clock after the address: the RAM's row, unless it was written in the clock of the address or
  // is written now.
  logic [WIDTH-1:0] ram_row, passed_row_q, row_d, row_q;
  logic [ADDRESS_W-1:0] address_q, address_qq;
  logic passed_q;

  mrc_ram #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
  ) u_ram (
      .clk_i,
      .en_i,
      .raddr_i,
      .rdata_o(ram_row),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  always_comb begin
    row_d = passed_q ? passed_row_q : ram_row;
    if (we_i && waddr_i == address_q) row_d = wdata_i;
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      passed_q <= we_i && waddr_i == raddr_i;
      passed_row_q <= wdata_i;
      address_q <= raddr_i;
      address_qq <= address_q;
      row_q <= row_d;
    end
  end

  // Two clocks after the address: a write of this very clock still counts.
  assign rdata_o = we_i && waddr_i == address_qq ? wdata_i : row_q;

endmodule

`default_nettype wire
