// Stream register that cuts valid, data and ready: no combinational path runs through it in either
// direction.
//
// A second register catches the word that arrives in the clock in which the sink stops, so ready can
// be a register and still no clock is lost. Latency: 1 clock. Throughput: a word each clock.

`default_nettype none

module mrc_skid_buffer #(
    parameter int unsigned WIDTH = 64  // bits of a word
) (
    input  wire logic             clk_i,
    input  wire logic             rst_ni,
    input  wire logic             valid_i,
    output logic                  ready_o,
    input  wire logic [WIDTH-1:0] data_i,
    output logic                  valid_o,
    input  wire logic             ready_i,
    output logic      [WIDTH-1:0] data_o
);

  logic skid_valid_q;
  logic [WIDTH-1:0] skid_q;
  logic take;

  assign ready_o = !skid_valid_q;
  assign take = ready_i || !valid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      skid_valid_q <= 1'b0;
    end else if (take) begin
      valid_o <= valid_i || skid_valid_q;
      skid_valid_q <= 1'b0;
    end else if (valid_i) begin
      skid_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) data_o <= skid_valid_q ? skid_q : data_i;
    if (ready_o) skid_q <= data_i;
  end

endmodule

`default_nettype wire
