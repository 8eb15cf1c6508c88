// Proof of mrc_stream_register: one word inside at most, given out once and as it came; it stands while the
// sink waits; and no clock is lost.

`default_nettype none

module mrc_stream_register_proof #(
    parameter int unsigned WIDTH = 4
) (
    input wire logic             clk_i,
    input wire logic             rst_ni,
    input wire logic             valid_i,
    input wire logic [WIDTH-1:0] data_i,
    input wire logic             ready_i
);

  logic ready, valid;
  logic [WIDTH-1:0] data;

  mrc_stream_register #(
      .WIDTH(WIDTH)
  ) dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o (data)
  );

  logic started_q;  // a reset has been
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= started_q || !rst_ni;

  logic full_q, waiting_q;
  logic [WIDTH-1:0] word_q, data_q;
  logic put, take;

  assign put  = valid_i && ready;
  assign take = valid && ready_i;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid && !ready_i;
    data_q <= data;
    if (!rst_ni) full_q <= 1'b0;
    else if (put) full_q <= 1'b1;
    else if (take) full_q <= 1'b0;
    if (put) word_q <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (started_q && rst_ni) begin
      NothingLostOrMade : assert (valid == full_q);
      AsItCame : assert (!valid || data == word_q);
      Stable : assert (!waiting_q || (valid && data == data_q));
      NoClockLost : assert (ready == (ready_i || !valid));
    end
  end

endmodule

`default_nettype wire
