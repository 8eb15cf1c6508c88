// Builds the SACK of a decided event: base, 64-bit bitmap, cumulative PSN and out-of-order count.
//
// It has its own copy of the words, even and odd ones apart so that the two words which 64 bits
// straddle are read at once. An event writes the copy in one clock and reads it in the next, so it
// sees itself and everything before it, and nothing of the events behind it.
//
// Latency: 3 clocks from the commit to the output, which is combinational from registers.
// Throughput: an event each clock.

`default_nettype none

module mrc_psn_bitmap
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned RING_W = 12,  // log2 of the PSNs that a QP's memory holds, 7 or more
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WORD_W = RING_W - 6,
    localparam int unsigned WORDS = 2 ** WORD_W,
    localparam int unsigned ROW_W = QP_W + WORD_W - 1  // bits of an address in a bank
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // Commit of mrc_psn_decide
    input wire logic                                     cmt_valid_i,
    input wire psn_tracker_pkg::psn_class_e              cmt_class_i,
    input wire logic                                     cmt_record_i,
    input wire logic                        [  QP_W-1:0] cmt_qp_i,
    input wire logic                        [ PSN_W-1:0] cmt_psn_i,
    input wire logic                        [      63:0] cmt_word_i,
    input wire logic                        [ PSN_W-1:0] cmt_head_i,
    input wire logic                        [RING_W-1:0] cmt_recorded_i,
    input wire logic                        [ WORDS-1:0] cmt_touched_i,

    output logic                                     valid_o,
    output psn_tracker_pkg::psn_class_e              class_o,
    output logic                        [  QP_W-1:0] qp_o,
    output logic                        [ PSN_W-1:0] psn_o,
    output logic                        [ PSN_W-1:0] cack_o,
    output logic                        [RING_W-1:0] ooo_count_o,
    output logic                        [ PSN_W-1:0] base_o,
    output logic                        [      63:0] bitmap_o
);

  import psn_tracker_pkg::*;

  typedef struct packed {
    psn_class_e        psn_class;
    logic [QP_W-1:0]   qp;
    logic [PSN_W-1:0]  psn;
    logic [PSN_W-1:0]  cack;
    logic [RING_W-1:0] ooo_count;
    logic [PSN_W-1:0]  base;
  } sack_t;

  logic valid_1, valid_2, valid_3;
  sack_t sack_1, sack_2, sack_3;

  // ---------------------------------------------------------------- commit: where the bitmap starts
  // The lowest PSN not received, moved up just so far that the 64 bits include a PSN of the window.
  logic [PSN_W-1:0] trailing_base, from_head;
  logic in_window;

  assign trailing_base = cmt_psn_i - PSN_W'(SACK_BITMAP_W - 1);
  assign from_head = cmt_psn_i - PSN_W'(SACK_BITMAP_W - 1) - cmt_head_i;
  assign in_window = cmt_class_i == PSN_NEW || cmt_class_i == PSN_DUPLICATE;

  logic [WORDS-1:0] touched_1;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      sack_1.psn_class <= cmt_class_i;
      sack_1.qp <= cmt_qp_i;
      sack_1.psn <= cmt_psn_i;
      sack_1.cack <= cmt_head_i - 1'b1;
      sack_1.ooo_count <= cmt_recorded_i - cmt_head_i[RING_W-1:0];
      sack_1.base <= in_window && !from_head[PSN_W-1] ? trailing_base : cmt_head_i;
      touched_1 <= cmt_touched_i;
      sack_2 <= sack_1;
      sack_3 <= sack_2;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_1 <= 1'b0;
      valid_2 <= 1'b0;
      valid_3 <= 1'b0;
    end else if (advance_i) begin
      valid_1 <= cmt_valid_i;
      valid_2 <= valid_1;
      valid_3 <= valid_2;
    end
  end

  // ---------------------------------------------------------------- one clock later: read the two words
  logic [WORD_W-1:0] low_index_1, high_index_1;
  logic touched_low_2, touched_high_2, touched_low_3, touched_high_3;
  logic [63:0] row_2[2];
  logic [63:0] row_3[2];

  assign low_index_1  = sack_1.base[RING_W-1:6];
  assign high_index_1 = low_index_1 + 1'b1;

  for (genvar odd = 0; odd < 2; odd++) begin : gen_bank
    logic [ROW_W-1:0] read_row, write_row;
    logic [WORD_W-1:0] read_index;
    assign read_index = low_index_1[0] == (odd == 1) ? low_index_1 : high_index_1;
    assign read_row   = ROW_W'({sack_1.qp, read_index} >> 1);
    assign write_row  = ROW_W'({cmt_qp_i, cmt_psn_i[RING_W-1:6]} >> 1);

    mrc_ram #(
        .WIDTH(64),
        .DEPTH(QPS * WORDS / 2)
    ) u_words (
        .clk_i,
        .en_i(advance_i),
        .raddr_i(read_row),
        .rdata_o(row_2[odd]),
        .we_i(cmt_record_i && cmt_psn_i[6] == (odd == 1)),
        .waddr_i(write_row),
        .wdata_i(cmt_word_i)
    );
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      touched_low_2 <= touched_1[low_index_1];
      touched_high_2 <= touched_1[high_index_1];
      touched_low_3 <= touched_low_2;
      touched_high_3 <= touched_high_2;
      row_3 <= row_2;
    end
  end

  // ---------------------------------------------------------------- received bits, from base on
  logic lap_3, odd_3, wraps_3;
  logic [63:0] low_3, high_3;

  assign lap_3 = sack_3.base[RING_W];
  assign odd_3 = sack_3.base[6];
  assign wraps_3 = &sack_3.base[RING_W-1:6];
  assign low_3 = touched_low_3 ? ~(row_3[odd_3] ^{64{lap_3}}) : '0;
  assign high_3 = touched_high_3 ? ~(row_3[!odd_3] ^{64{lap_3 ^ wraps_3}}) : '0;

  assign valid_o = valid_3;
  assign class_o = sack_3.psn_class;
  assign qp_o = sack_3.qp;
  assign psn_o = sack_3.psn;
  assign cack_o = sack_3.cack;
  assign ooo_count_o = sack_3.ooo_count;
  assign base_o = sack_3.base;
  assign bitmap_o = 64'({high_3, low_3} >> sack_3.base[5:0]);

endmodule

`default_nettype wire
