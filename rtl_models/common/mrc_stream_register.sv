// Stream register that cuts valid and data; ready runs through it from sink to source.
//
// Half the flip-flops of mrc_skid_buffer, for places where the path of ready is short. Latency: 1
// clock. Throughput: a word each clock.

`default_nettype none

module mrc_stream_register #(
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

  assign ready_o = ready_i || !valid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (ready_o) valid_o <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (ready_o) data_o <= data_i;
  end

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(WIDTH)
  ) u_out_assert (
      .clk_i,
      .rst_ni,
      .valid_i(valid_o),
      .ready_i,
      .data_i (data_o)
  );
`endif

endmodule

`default_nettype wire
