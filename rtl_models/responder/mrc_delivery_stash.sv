// Writes with immediate that landed: what their completions will say, by their number.
//
// A QP has 2 x WIMM places, and number n lies at place n mod 2 x WIMM with the rest of n beside it. There
// are two copies, since two ask: the pipeline, whether a number is there and of which message, and the
// walker, which makes the completions. An event writes in stage 7 and asks in stage 8, so it sees
// itself and all before it.
//
// When a QP is reset its places are emptied, one in each clock in which no event writes.
//
// Latency: 2 enabled clocks from a question to the row, which is registered. Throughput: a write and a
// question from either side each clock.

`default_nettype none

module mrc_delivery_stash
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned PLACE_W = 8,  // log2 of the places of a QP
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned TAG_W = MSN_W - PLACE_W
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // Empty a QP's places; not while another's are emptied
    input  wire logic            clear_i,
    input  wire logic [QP_W-1:0] clear_qp_i,
    output logic                 clearing_o,

    // Stage 7: a write with immediate landed
    input wire logic             write_i,
    input wire logic [ QP_W-1:0] write_qp_i,
    input wire logic [MSN_W-1:0] write_number_i,
    input wire logic [MSN_W-1:0] write_msn_i,
    input wire logic [     31:0] write_immediate_i,
    input wire logic [     31:0] write_length_i,

    // Stage 8, answered in stage 10
    input  wire logic [   QP_W-1:0] ask_qp_i,
    input  wire logic [PLACE_W-1:0] ask_place_i,
    output logic                    ask_full_o,
    output logic      [  TAG_W-1:0] ask_tag_o,
    output logic      [  MSN_W-1:0] ask_msn_o,

    // The walker; walk_en_i low: its answers stay
    input  wire logic               walk_en_i,
    input  wire logic [   QP_W-1:0] walk_qp_i,
    input  wire logic [PLACE_W-1:0] walk_place_i,
    output logic                    walk_full_o,
    output logic      [  TAG_W-1:0] walk_tag_o,
    output logic      [  MSN_W-1:0] walk_msn_o,
    output logic      [       31:0] walk_immediate_o,
    output logic      [       31:0] walk_length_o
);

  typedef struct packed {
    logic             full;
    logic [TAG_W-1:0] tag;
    logic [MSN_W-1:0] msn;
  } entry_t;

  typedef struct packed {
    entry_t      entry;
    logic [31:0] immediate;
    logic [31:0] length;
  } message_t;

  // ---------------------------------------------------------------- write port, shared with the clearing
  logic [QP_W-1:0] clear_qp_q;
  logic [PLACE_W-1:0] clear_place_q;
  logic we;
  logic [QP_W+PLACE_W-1:0] write_row;
  message_t written;

  assign we = write_i || clearing_o;
  assign write_row = write_i ? {write_qp_i, write_number_i[PLACE_W-1:0]} :
      {clear_qp_q, clear_place_q};
  assign written = {
    write_i, write_number_i[MSN_W-1:PLACE_W], write_msn_i, write_immediate_i, write_length_i
  };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_o <= 1'b0;
    end else if (advance_i) begin
      if (clear_i) clearing_o <= 1'b1;
      else if (!write_i && clear_place_q == '1) clearing_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (clear_i) begin
        clear_qp_q <= clear_qp_i;
        clear_place_q <= '0;
      end else if (!write_i) begin
        clear_place_q <= clear_place_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- the pipeline's copy
  entry_t ask_row_9;

  mrc_ram #(
      .WIDTH($bits(entry_t)),
      .DEPTH(QPS * 2 ** PLACE_W)
  ) u_entries (
      .clk_i,
      .en_i(advance_i),
      .raddr_i({ask_qp_i, ask_place_i}),
      .rdata_o(ask_row_9),
      .we_i(we),
      .waddr_i(write_row),
      .wdata_i(written.entry)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) {ask_full_o, ask_tag_o, ask_msn_o} <= ask_row_9;
  end

  // ---------------------------------------------------------------- the walker's copy
  message_t walk_row;

  // A walker that stands still asks the same again, and the row that it has not taken is read anew.
  logic [QP_W+PLACE_W-1:0] walk_row_q, walk_row_d;
  assign walk_row_d = walk_en_i ? {walk_qp_i, walk_place_i} : walk_row_q;

  mrc_ram #(
      .WIDTH($bits(message_t)),
      .DEPTH(QPS * 2 ** PLACE_W)
  ) u_messages (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(walk_row_d),
      .rdata_o(walk_row),
      .we_i(we),
      .waddr_i(write_row),
      .wdata_i(written)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      walk_row_q <= walk_row_d;
      if (walk_en_i) begin
        {walk_full_o, walk_tag_o, walk_msn_o} <= walk_row.entry;
        {walk_immediate_o, walk_length_o} <= {walk_row.immediate, walk_row.length};
      end
    end
  end

endmodule

`default_nettype wire
