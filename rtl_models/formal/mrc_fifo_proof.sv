// Proof of mrc_fifo: it is a queue. What is inside, in order, equals a list beside it that shifts.

`default_nettype none

module mrc_fifo_proof #(
    parameter  int unsigned WIDTH   = 2,
    parameter  int unsigned DEPTH   = 4,
    localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
    input wire logic             clk_i,
    input wire logic             rst_ni,
    input wire logic             valid_i,
    input wire logic [WIDTH-1:0] data_i,
    input wire logic             ready_i
);

  logic ready, valid;
  logic [  WIDTH-1:0] data;
  logic [COUNT_W-1:0] count;

  mrc_fifo #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
  ) dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o (data),
      .count_o(count)
  );

  logic started_q;  // a reset has been
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= started_q || !rst_ni;

  logic [DEPTH-1:0][WIDTH-1:0] list_q;
  logic [COUNT_W-1:0] length_q;
  logic put, take, waiting_q, put_q, fresh_q;  // fresh: the clock before was a reset
  logic [WIDTH-1:0] data_q;

  assign put  = valid_i && ready;
  assign take = valid && ready_i;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid && !ready_i;
    put_q <= rst_ni && put;
    fresh_q <= !rst_ni;
    data_q <= data;
    if (!rst_ni) length_q <= '0;
    else length_q <= length_q + COUNT_W'(put) - COUNT_W'(take);
    for (int unsigned n = 0; n < DEPTH; n++) begin
      if (put && COUNT_W'(n) == length_q - COUNT_W'(take)) list_q[n] <= data_i;
      else if (take && n + 1 < DEPTH) list_q[n] <= list_q[n+1];
    end
  end

  // What holds between list and RAM; with it, each property follows from the clock before.
  logic [DEPTH-1:0] same;
  for (genvar n = 0; n < DEPTH; n++) begin : gen_same
    logic [COUNT_W:0] row;
    assign row = (COUNT_W + 1)'(dut.read_q) + (COUNT_W + 1)'(n);
    assign same[n] = n >= length_q || dut.u_ram.memory[row>=DEPTH?row-DEPTH : row] == list_q[n];
  end

  logic rows_fit;
  logic [COUNT_W:0] write_row;
  assign write_row = (COUNT_W + 1)'(dut.read_q) + (COUNT_W + 1)'(length_q);
  assign rows_fit = dut.read_q < DEPTH && dut.write_q < DEPTH &&
      dut.read_next_q == (dut.read_q == DEPTH - 1 ? '0 : dut.read_q + 1'b1) &&
      dut.write_q == (write_row >= DEPTH ? write_row - DEPTH : write_row);

  always_ff @(posedge clk_i) begin
    if (started_q && rst_ni) begin
      OrderAndNoLoss : assert (!valid || data == list_q[0]);
      Counted : assert (count == length_q && count <= DEPTH);
      NeverFromNothing : assert (!valid || length_q != 0);
      NothingStuck : assert (length_q == 0 || valid || (length_q == 1 && put_q));
      FullOrReady : assert (ready == (length_q != DEPTH && !fresh_q));
      Stable : assert (!waiting_q || (valid && data == data_q));
      Inside : assert (same == '1);
      Rows : assert (rows_fit);
    end
  end

endmodule

`default_nettype wire
