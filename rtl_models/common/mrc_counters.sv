// Counters of 32 bits in RAM, for KINDS of events of which any number may happen in a clock.
//
// Few bits of each counter stand in registers: what happened since its row was visited. A scan goes
// round the rows, a row a clock, and adds them. A read takes one clock of the scan, at most one in
// four, so that whatever software does no event is lost and nothing waits for it. The first round
// after reset writes what happened and takes no account of the RAM.
//
// Latency: an event is in its counter ROUND + 4 clocks later, at most. A read is answered 2 to 5 clocks
// after it came, one at a time. Throughput: every kind of event in every clock. Counters wrap.

`default_nettype none

module mrc_counters #(
    parameter int unsigned KINDS = 20,  // 4 or more
    localparam int unsigned KIND_W = $clog2(KINDS),
    localparam int unsigned ROUND = KINDS + (KINDS + 2) / 3 + 1  // clocks, at most
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [KINDS-1:0] event_i,

    input  wire logic              read_i,  // until it is answered
    input  wire logic [KIND_W-1:0] kind_i,  // held as long
    output logic                   done_o,
    output logic      [      31:0] count_o  // in the clock of done_o
);

  if (KINDS < 4) begin : gen_bad_number
    $fatal(1, "mrc_counters: KINDS is %0d, must be 4 or more", KINDS);
  end

  localparam int unsigned FEW_W = $clog2(ROUND + 1);
  localparam int unsigned READ_EVERY = 4;

  logic [KINDS-1:0][FEW_W-1:0] few_q;
  logic [KIND_W-1:0] row_q, row_1_q, row_2_q, row_3_q;
  logic first_q;  // the first round: the RAM has nothing yet
  logic first_1_q, first_2_q, first_3_q, first_4_q;
  logic scan, visit_1_q, visit_2_q, we_q;
  logic [1:0] pause_q;
  logic read_1_q, read_2_q;
  logic [31:0] ram_row, ram_row_2_q, sum_q;
  logic [FEW_W-1:0] few_2_q;

  assign scan = !(read_i && pause_q == '0 && !read_1_q && !read_2_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_q <= '0;
      first_q <= 1'b1;
      {first_4_q, first_3_q, first_2_q, first_1_q} <= '1;
      pause_q <= '0;
      visit_1_q <= 1'b0;
      visit_2_q <= 1'b0;
      we_q <= 1'b0;
      read_1_q <= 1'b0;
      read_2_q <= 1'b0;
    end else begin
      {first_4_q, first_3_q, first_2_q, first_1_q} <= {first_3_q, first_2_q, first_1_q, first_q};
      visit_1_q <= scan;
      visit_2_q <= visit_1_q;
      we_q <= visit_2_q;
      read_1_q <= !scan;
      read_2_q <= read_1_q;
      if (!scan) pause_q <= 2'(READ_EVERY - 1);
      else if (pause_q != '0) pause_q <= pause_q - 1'b1;
      if (scan) begin
        row_q <= row_q == KIND_W'(KINDS - 1) ? '0 : row_q + 1'b1;
        if (row_q == KIND_W'(KINDS - 1)) first_q <= 1'b0;
      end
    end
  end

  // A row's events leave the registers in the clock in which the RAM shows it.
  for (genvar k = 0; k < KINDS; k++) begin : gen_few
    always_ff @(posedge clk_i) begin
      if (!rst_ni) few_q[k] <= '0;
      else if (visit_1_q && row_1_q == KIND_W'(k)) few_q[k] <= FEW_W'(event_i[k]);
      else few_q[k] <= few_q[k] + FEW_W'(event_i[k]);
    end
  end

  always_ff @(posedge clk_i) begin
    row_1_q <= row_q;
    row_2_q <= row_1_q;
    row_3_q <= row_2_q;
    few_2_q <= few_q[row_1_q];
    // A read that comes right behind the first round would miss what is still to be written.
    ram_row_2_q <= (read_1_q ? first_4_q : first_1_q) ? '0 : ram_row;
    sum_q <= ram_row_2_q + 32'(few_2_q);
  end

  mrc_ram #(
      .WIDTH(32),
      .DEPTH(KINDS)
  ) u_counts (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(scan ? row_q : kind_i),
      .rdata_o(ram_row),
      .we_i(we_q),
      .waddr_i(row_3_q),
      .wdata_i(sum_q)
  );

  assign done_o  = read_2_q;
  assign count_o = ram_row_2_q;

endmodule

`default_nettype wire
