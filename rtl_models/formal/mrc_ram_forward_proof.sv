// Proof of mrc_ram_forward: two enabled clocks after an address its row comes out as the last write
// left it, that of the present clock included. For one row, any of them.

`default_nettype none

module mrc_ram_forward_proof #(
    parameter  int unsigned WIDTH     = 3,
    parameter  int unsigned DEPTH     = 4,
    localparam int unsigned ADDRESS_W = $clog2(DEPTH)
) (
    input wire logic                 clk_i,
    input wire logic                 en_i,
    input wire logic [ADDRESS_W-1:0] raddr_i,
    input wire logic                 we_i,
    input wire logic [ADDRESS_W-1:0] waddr_i,
    input wire logic [    WIDTH-1:0] wdata_i,
    input wire logic [ADDRESS_W-1:0] watched_i
);

  logic [WIDTH-1:0] rdata;

  mrc_ram_forward #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
  ) dut (
      .clk_i,
      .en_i,
      .raddr_i,
      .rdata_o(rdata),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  logic known_q;  // the watched row was written
  logic [WIDTH-1:0] row_q, row;
  logic [1:0] asked_q;  // the watched row's address came one and two enabled clocks ago
  logic [ADDRESS_W-1:0] watched_q;
  logic first_q, writes;

  initial begin
    known_q = 1'b0;
    asked_q = '0;
    first_q = 1'b1;
  end

  assign writes = we_i && waddr_i == watched_i;
  assign row = writes ? wdata_i : row_q;

  always_ff @(posedge clk_i) begin
    first_q   <= 1'b0;
    watched_q <= watched_i;
    if (en_i) begin
      asked_q <= {asked_q[0], raddr_i == watched_i};
      row_q   <= row;
      known_q <= known_q || writes;
    end
  end

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (first_q || watched_i == watched_q);
    Newest : assert (!asked_q[1] || !(known_q || writes) || rdata == row);
    // What makes each clock follow from the one before.
    Row : assert (!known_q || dut.u_ram.memory[watched_i] == row_q);
    Address : assert (!asked_q[0] || dut.address_q == watched_i);
    Addresses : assert (!asked_q[1] || dut.address_qq == watched_i);
    OnItsWay :
    assert (!asked_q[0] || !known_q || (dut.passed_q ? dut.passed_row_q : dut.ram_row) == row_q);
    Registered : assert (!asked_q[1] || !known_q || dut.row_q == row_q);
  end

endmodule

`default_nettype wire
