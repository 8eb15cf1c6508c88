// May these bytes be written? The range must lie in the region that the key names (mrc-facts.md 11).
//
// The range's last address is made while the region's row is read; then two comparisons of 64 bits, a
// quarter at a time. Latency: 4 enabled clocks from the range, 2 from the row. Throughput: one a clock.

`default_nettype none

module mrc_region_check
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned REGIONS = 64
) (
    input wire logic clk_i,
    input wire logic advance_i,

    input wire logic [63:0] va_i,
    input wire logic [15:0] bytes_i,  // at least 1
    input wire logic [31:0] r_key_i,

    input wire region_t region_i,  // two clocks later: the row of the key's index

    output logic granted_o  // four clocks later
);

  localparam int unsigned INDEX_W = 32 - R_KEY_TAG_W;
  localparam int unsigned PARTS = 4;
  localparam int unsigned PART_W = 64 / PARTS;

  // ---------------------------------------------------------------- stages 1 to 3: the range's last address
  logic [63:0] va_1_q, va_2_q, va_3_q, last_3_q;
  logic [15:0] more_1_q;  // bytes behind the first one
  logic [31:0] low_2_q;
  logic carry_2_q, carry_3_q, known_1_q, known_2_q, known_3_q;
  logic [R_KEY_TAG_W-1:0] tag_1_q, tag_2_q;
  logic [63:0] first_3_q, end_3_q;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      va_1_q <= va_i;
      more_1_q <= bytes_i - 1'b1;
      known_1_q <= r_key_i[31:R_KEY_TAG_W] < INDEX_W'(REGIONS);
      tag_1_q <= r_key_i[R_KEY_TAG_W-1:0];

      va_2_q <= va_1_q;
      {carry_2_q, low_2_q} <= {1'b0, va_1_q[31:0]} + 33'(more_1_q);
      known_2_q <= known_1_q;
      tag_2_q <= tag_1_q;

      va_3_q <= va_2_q;
      last_3_q[31:0] <= low_2_q;
      {carry_3_q, last_3_q[63:32]} <= {1'b0, va_2_q[63:32]} + 33'(carry_2_q);
      known_3_q <= known_2_q && region_i.valid && region_i.tag == tag_2_q;
      first_3_q <= region_i.first;
      end_3_q <= region_i.last;
    end
  end

  // ---------------------------------------------------------------- stage 3: compare by quarters; stage 4: conclude
  logic [PARTS-1:0] below_4_q, not_above_4_q, beyond_4_q, not_within_4_q;
  logic known_4_q;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      known_4_q <= known_3_q && !carry_3_q;
      for (int unsigned p = 0; p < PARTS; p++) begin
        below_4_q[p] <= va_3_q[PART_W*p+:PART_W] < first_3_q[PART_W*p+:PART_W];
        not_above_4_q[p] <= va_3_q[PART_W*p+:PART_W] <= first_3_q[PART_W*p+:PART_W];
        beyond_4_q[p] <= last_3_q[PART_W*p+:PART_W] > end_3_q[PART_W*p+:PART_W];
        not_within_4_q[p] <= last_3_q[PART_W*p+:PART_W] >= end_3_q[PART_W*p+:PART_W];
      end
    end
  end

  // A higher quarter decides unless it is equal.
  function automatic logic decided(input logic [PARTS-1:0] strict,
                                   input logic [PARTS-1:0] or_equal);
    decided = 1'b0;
    for (int unsigned p = 0; p < PARTS; p++) decided = strict[p] || (or_equal[p] && decided);
  endfunction

  assign granted_o = known_4_q && !decided(
      below_4_q, not_above_4_q
  ) && !decided(
      beyond_4_q, not_within_4_q
  );

endmodule

`default_nettype wire
