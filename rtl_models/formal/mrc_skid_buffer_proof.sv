// Proof of mrc_skid_buffer: two words inside at most, in order; what is shown stands while the sink waits;
// ready does not depend on the sink in the same clock, and still no clock is lost.

`default_nettype none

module mrc_skid_buffer_proof #(
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

  mrc_skid_buffer #(
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

  logic [1:0] length_q;
  logic [WIDTH-1:0] first_q, second_q, data_q;
  logic waiting_q, put, take;

  assign put  = valid_i && ready;
  assign take = valid && ready_i;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid && !ready_i;
    data_q <= data;
    if (!rst_ni) length_q <= '0;
    else length_q <= length_q + 2'(put) - 2'(take);
    if (take || length_q == 0) first_q <= length_q == 2 ? second_q : data_i;
    if (put) second_q <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (started_q && rst_ni) begin
      NothingLostOrMade : assert (valid == (length_q != 0) && length_q <= 2);
      InOrder : assert (!valid || data == first_q);
      Second : assert (length_q != 2 || dut.skid_q == second_q);
      Stable : assert (!waiting_q || (valid && data == data_q));
      NoClockLost : assert (ready == (length_q != 2));
    end
  end

endmodule

`default_nettype wire
