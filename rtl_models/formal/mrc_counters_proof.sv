// Proof of mrc_counters for one kind of event, any of them: what stands in RAM, in registers and on the
// way between is at every moment the number of events since reset; a read is answered, with a count
// that was right when its row was last written; and no answer counts less than the one before.

`default_nettype none

module mrc_counters_proof #(
    parameter int unsigned KINDS = 4,
    localparam int unsigned KIND_W = $clog2(KINDS),
    localparam int unsigned READ_CLOCKS = 5
) (
    input wire logic              clk_i,
    input wire logic              rst_ni,
    input wire logic [ KINDS-1:0] event_i,
    input wire logic              read_i,
    input wire logic [KIND_W-1:0] kind_i,
    input wire logic [KIND_W-1:0] watched_i
);

  logic done;
  logic [31:0] count;

  mrc_counters #(
      .KINDS(KINDS)
  ) dut (
      .clk_i,
      .rst_ni,
      .event_i,
      .read_i,
      .kind_i,
      .done_o (done),
      .count_o(count)
  );

  logic started_q, chosen_q, asking_q;
  logic [KIND_W-1:0] watched_q, kind_q;
  logic [31:0] total_q, answered_q, few, stored;
  logic landed_q;  // the row was written since reset
  logic [3:0] waited_q;

  initial begin
    started_q = 1'b0;
    chosen_q  = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    started_q <= started_q || !rst_ni;
    chosen_q <= 1'b1;
    watched_q <= watched_i;
    kind_q <= kind_i;
    asking_q <= rst_ni && read_i && !done;
    if (!rst_ni) begin
      total_q <= '0;
      landed_q <= 1'b0;
      waited_q <= '0;
      answered_q <= '0;
    end else begin
      total_q <= total_q + 32'(event_i[watched_i]);
      if (dut.we_q && dut.row_3_q == watched_i) landed_q <= 1'b1;
      waited_q <= read_i && !done ? waited_q + 1'b1 : '0;
      if (done && kind_i == watched_i) answered_q <= count;
    end
  end

  assign few = 32'(dut.few_q[watched_i]);
  always_comb begin
    if (dut.visit_2_q && dut.row_2_q == watched_i) stored = dut.ram_row_2_q + 32'(dut.few_2_q);
    else if (dut.we_q && dut.row_3_q == watched_i) stored = dut.sum_q;
    else if (landed_q) stored = dut.u_counts.memory[watched_i];
    else stored = '0;
  end

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (watched_i < KINDS && (!chosen_q || watched_i == watched_q));
    ReadStands : assume (!asking_q || (read_i && kind_i == kind_q));
    NoReadInReset : assume (rst_ni || !read_i);
    KindIsThere : assume (kind_i < KINDS);
    if (started_q && rst_ni) begin
      NothingLostOrMade : assert (total_q == stored + few);
      Answered : assert (waited_q <= READ_CLOCKS);
      NeverMoreThanThere : assert (!done || kind_i != watched_i || count <= total_q);
      NeverBack : assert (!done || kind_i != watched_i || count >= answered_q);
      OnlyWhenAsked : assert (!done || read_i);
    end
  end

endmodule

`default_nettype wire
