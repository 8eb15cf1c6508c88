// RAM with one synchronous read port and one write port; the one place where memory bits live.
//
// Latency: `rdata_o` shows the row of `raddr_i` one enabled clock later. A row that is written in the
// clock in which its address is presented reads as it was before (read first). Throughput: a read and
// a write each clock. Contents after power-up are undefined and there is no reset: users keep their
// own account of what is valid. Synthesis reports cut this module out as a black box, so it holds
// nothing but the memory.

`default_nettype none

module mrc_ram #(
    parameter int unsigned WIDTH = 64,  // bits of a row
    parameter int unsigned DEPTH = 64,  // rows
    localparam int unsigned ADDRESS_W = $clog2(DEPTH)
) (
    input  wire logic                 clk_i,
    input  wire logic                 en_i,     // low: nothing is read or written, rdata_o stays
    input  wire logic [ADDRESS_W-1:0] raddr_i,
    output logic      [    WIDTH-1:0] rdata_o,
    input  wire logic                 we_i,
    input  wire logic [ADDRESS_W-1:0] waddr_i,
    input  wire logic [    WIDTH-1:0] wdata_i
);

  logic [WIDTH-1:0] memory[DEPTH];

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      rdata_o <= memory[raddr_i];
      if (we_i) memory[waddr_i] <= wdata_i;
    end
  end

endmodule

`default_nettype wire
