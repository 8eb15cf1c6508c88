// Stages 3 to 8 of mrc_delivery: how many messages the cumulative PSN has passed.
//
// For each word of 64 PSNs memory holds which of them end a message, and the number of the message that
// its first PSN belongs to. All PSNs up to the cumulative one have been received, so the number of
// messages complete is that number plus the ends from the first PSN to the cumulative one: no search
// and no loop. An event writes its own bit in one clock and reads the cumulative PSN's word in the
// next, so it sees itself and all before it, and nothing of those behind.
//
// The memory is a ring of twice the window, so a PSN in the window never lies on the cumulative one's
// word. A bit is written by itself, hence a RAM a bit. Nothing is cleared: up to the cumulative PSN
// all was written since the set-up, but for the word in which that one starts, and this the set-up
// writes.
//
// Latency: 6 enabled clocks. Throughput: an event each clock.

`default_nettype none

module mrc_delivery_count
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned RING_W = 12,  // log2 of the largest window, 6 or more
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic advance_i,

    // Event in stage 3
    input wire logic [ QP_W-1:0] qp_i,
    input wire logic             write_i,   // a packet was recorded
    input wire logic             set_up_i,
    input wire logic [ RING_W:0] psn_i,
    input wire logic [ RING_W:0] cack_i,
    input wire logic             last_i,
    input wire logic [MSN_W-1:0] msn_i,

    output logic [MSN_W-1:0] messages_o  // in stage 9
);

  localparam int unsigned INDEX_W = RING_W + 1 - 6;

  logic [QP_W+INDEX_W-1:0] write_row, read_row_4;
  logic [63:0] we;
  logic [ 5:0] place_4;
  logic [63:0] row_5, mask_5, ends_6;
  logic [MSN_W-1:0] base_5, base_6, base_7, base_8;
  logic [1:0][5:0] half_6, half_7;
  logic [6:0] ends_8;

  assign write_row = {qp_i, set_up_i ? cack_i[RING_W:6] : psn_i[RING_W:6]};

  for (genvar b = 0; b < 64; b++) begin : gen_bit
    assign we[b] = set_up_i || write_i && psn_i[5:0] == 6'(b);

    mrc_ram #(
        .WIDTH(1),
        .DEPTH(QPS * 2 ** INDEX_W)
    ) u_last (
        .clk_i,
        .en_i(advance_i),
        .raddr_i(read_row_4),
        .rdata_o(row_5[b]),
        .we_i(we[b]),
        .waddr_i(write_row),
        .wdata_i(last_i && !set_up_i)
    );
  end

  mrc_ram #(
      .WIDTH(MSN_W),
      .DEPTH(QPS * 2 ** INDEX_W)
  ) u_base (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(read_row_4),
      .rdata_o(base_5),
      .we_i(we[0]),
      .waddr_i(write_row),
      .wdata_i(set_up_i ? '0 : msn_i)
  );

  for (genvar h = 0; h < 2; h++) begin : gen_half
    mrc_popcount #(
        .WIDTH(32)
    ) u_count (
        .bits_i (ends_6[32*h+:32]),
        .count_o(half_6[h])
    );
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      read_row_4 <= {qp_i, cack_i[RING_W:6]};
      place_4 <= cack_i[5:0];
      for (int b = 0; b < 64; b++) mask_5[b] <= b[5:0] <= place_4;
      ends_6 <= row_5 & mask_5;
      base_6 <= base_5;
      half_7 <= half_6;
      base_7 <= base_6;
      ends_8 <= 7'(half_7[0]) + 7'(half_7[1]);
      base_8 <= base_7;
      messages_o <= base_8 + MSN_W'(ends_8);
    end
  end

endmodule

`default_nettype wire
