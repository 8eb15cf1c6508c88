// FIFO of valid/ready streams, its words in RAM, first word falls through.
//
// The RAM reads in every clock, from the row that is first after this clock's take; so its output is
// the first word, and stays while nobody takes it. Behind data_o is the RAM alone: a register where
// the path goes on. ready_o and count_o come from registers; ready_i reaches the RAM's address.
//
// Latency: 2 clocks. Throughput: a word each clock, full or not: a full FIFO takes the next word one
// clock after it gave one.

`default_nettype none

module mrc_fifo #(
    parameter int unsigned WIDTH = 64,  // bits of a word
    parameter int unsigned DEPTH = 64,  // words, 2 or more
    localparam int unsigned ADDRESS_W = $clog2(DEPTH),
    localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,
    input  wire logic               valid_i,
    output logic                    ready_o,
    input  wire logic [  WIDTH-1:0] data_i,
    output logic                    valid_o,
    input  wire logic               ready_i,
    output logic      [  WIDTH-1:0] data_o,
    output logic      [COUNT_W-1:0] count_o   // words inside, those that are not out yet included
);

  if (DEPTH < 2) begin : gen_bad_depth
    $fatal(1, "mrc_fifo: DEPTH is %0d, must be 2 or more", DEPTH);
  end

  localparam logic [ADDRESS_W-1:0] LAST_ROW = ADDRESS_W'(DEPTH - 1);
  localparam logic [COUNT_W-1:0] FULL = COUNT_W'(DEPTH);

  logic put, take;
  logic [ADDRESS_W-1:0] write_q, read_q, read_next_q, read_d;

  assign put = valid_i && ready_o;
  assign take = valid_o && ready_i;
  assign read_d = take ? read_next_q : read_q;

  function automatic logic [ADDRESS_W-1:0] row_after(input logic [ADDRESS_W-1:0] row);
    return row == LAST_ROW ? '0 : row + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
      read_next_q <= ADDRESS_W'(1);
      count_o <= '0;
      valid_o <= 1'b0;
      ready_o <= 1'b0;
    end else begin
      if (put) write_q <= row_after(write_q);
      if (take) read_next_q <= row_after(read_next_q);
      read_q  <= read_d;
      // What is put now cannot be read before the next clock.
      valid_o <= count_o > COUNT_W'(take);
      if (put != take) count_o <= put ? count_o + 1'b1 : count_o - 1'b1;
      if (take) ready_o <= 1'b1;
      else ready_o <= count_o < FULL - COUNT_W'(put);
    end
  end

  mrc_ram #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
  ) u_ram (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(read_d),
      .rdata_o(data_o),
      .we_i(put),
      .waddr_i(write_q),
      .wdata_i(data_i)
  );

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
