// The payload of a frame from its first byte on, in beats of its own.
//
// Takes a beat and the one behind it. Whatever follows the payload comes out too; who takes the
// beats knows how many count. What is delayed is so until the frame's ICRC is known.
//
// Latency: 3 clocks from the step of a beat. Throughput: a beat each clock.

`default_nettype none

module mrc_rx_align
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
(
    input  wire logic                       clk_i,
    input  wire logic                       rst_ni,
    input  wire logic                       step_i,
    input  wire payload_place_e             place_i,
    input  wire logic                       starts_i,
    input  wire logic           [BUS_W-1:0] data_i,       // the beat
    input  wire logic           [BUS_W-1:0] data_next_i,  // the one behind it
    output logic                            write_o,
    output logic                [BUS_W-1:0] data_o
);

  localparam int unsigned DELAY = 3;

  // Not every bit is used: its end is never part of a beat.
  // verilator lint_off UNUSEDSIGNAL
  logic [2*BUS_W-1:0] pair;
  // verilator lint_on UNUSEDSIGNAL
  logic [  BUS_W-1:0] turned;
  logic [  BUS_W-1:0] data_q  [DELAY];
  logic [  DELAY-1:0] write_q;

  assign pair = {data_i, data_next_i};
  always_comb begin
    unique case (place_i)
      PAYLOAD_AT_0:  turned = pair[2*BUS_W-1-:BUS_W];
      PAYLOAD_AT_4:  turned = pair[2*BUS_W-1-8*4-:BUS_W];
      PAYLOAD_AT_16: turned = pair[2*BUS_W-1-8*16-:BUS_W];
      PAYLOAD_AT_20: turned = pair[2*BUS_W-1-8*20-:BUS_W];
      PAYLOAD_AT_24: turned = pair[2*BUS_W-1-8*24-:BUS_W];
      default:       turned = pair[2*BUS_W-1-8*60-:BUS_W];
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) write_q <= '0;
    else write_q <= {write_q[DELAY-2:0], step_i && starts_i};
  end

  always_ff @(posedge clk_i) begin
    data_q[0] <= turned;
    for (int unsigned i = 1; i < DELAY; i++) data_q[i] <= data_q[i-1];
  end

  assign write_o = write_q[DELAY-1];
  assign data_o  = data_q[DELAY-1];

endmodule

`default_nettype wire
