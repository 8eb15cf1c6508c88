// First half of the PSN tracker: works out, for each event, the next hole behind its PSN, and keeps
// it right until the event is decided.
//
// The next hole does not depend on the cumulative PSN, so it is searched ahead of the decision, in as
// many stages as it takes, whatever the window. From the snapshot on, every PSN that is recorded by an
// event ahead (the `upd_*` bus) is merged into each event behind: when the recorded PSN is my next
// hole, mine becomes *its* next hole, which its own pass has found. So head can move past 4,096 PSNs
// in one clock, and do it again in the next one.
//
// Where the next hole is in another word, mrc_psn_search names the word and the hole memory here the
// bit: for each word and lap parity the first PSN not received. It is 0 when the lap is complete,
// which is what the next lap of the same parity starts with, so it is never cleared either.
//
// Stages: 0 to 4 search, 5 read the hole of the word found, 7 next hole known, 8 result.
// Latency: 8 clocks. Throughput: an event each clock.

`default_nettype none

module mrc_psn_lookup
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned RING_W = 12,  // log2 of the PSNs that a QP's memory holds, 7 or more
    parameter int unsigned WINDOW_W = 13,  // bits of a window size
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WORD_W = RING_W - 6,
    localparam int unsigned WORDS = 2 ** WORD_W
) (
    input wire logic clk_i,
    input wire logic advance_i, // low: every stage stands still

    // Event in stage 0
    input wire logic [ QP_W-1:0] qp_i,
    input wire logic [PSN_W-1:0] psn_i,

    // The event in stage 0 says how large its QP's window is from now on
    input wire logic                window_we_i,
    input wire logic [WINDOW_W-1:0] window_i,

    // A PSN is being recorded in this clock, by the event in the deciding stage
    input wire logic             upd_valid_i,
    input wire logic [ QP_W-1:0] upd_qp_i,
    input wire logic [PSN_W-1:0] upd_psn_i,
    input wire logic [PSN_W-1:0] upd_next_i,   // the next hole behind it
    input wire logic             upd_fill_i,   // it completes its word

    // The same one clock later: write port of the memory
    input wire logic             cmt_state_we_i,  // head, full and touched bits
    input wire logic             cmt_record_i,    // a PSN was recorded
    input wire logic [ QP_W-1:0] cmt_qp_i,
    input wire logic [PSN_W-1:0] cmt_psn_i,
    input wire logic [PSN_W-1:0] cmt_next_i,
    input wire logic             cmt_fill_i,
    input wire logic             cmt_fresh_i,     // first PSN in its word since the set-up
    input wire logic [      5:0] cmt_first_i,     // first hole of its word and lap
    input wire logic [     63:0] cmt_word_i,
    input wire logic [PSN_W-1:0] cmt_head_i,
    input wire logic [WORDS-1:0] cmt_full_i,
    input wire logic [WORDS-1:0] cmt_touched_i,

    output logic [QP_W-1:0] qp_5_o,  // QP of the event in stage 5

    // Result in stage 8
    output logic [ QP_W-1:0] qp_o,
    output logic [PSN_W-1:0] psn_o,
    output logic [PSN_W-1:0] psn_plus_1_o,
    output logic [PSN_W-1:0] psn_less_window_o,
    output logic [PSN_W-1:0] next_o,
    output logic [      5:0] first_o,
    output logic             seen_o,
    output logic [     63:0] word_o              // my word as it stands, without my own bit
);

  // ------------------------------------------------------------ stages 0 to 4
  logic [QP_W-1:0] qp[5:8];
  logic [PSN_W-1:0] psn[5:8];
  logic [PSN_W-1:0] psn_2;
  logic found_known_5;
  logic [PSN_W-1:0] found_next_5;
  logic [5:0] found_first_5;
  logic seen[5:8];
  logic [63:0] word[5:8];
  logic [WORDS-1:0] touched_5;

  mrc_psn_search #(
      .QPS(QPS),
      .RING_W(RING_W)
  ) u_search (
      .clk_i,
      .advance_i,
      .qp_i,
      .psn_i,
      .upd_valid_i,
      .upd_qp_i,
      .upd_psn_i,
      .upd_fill_i,
      .cmt_state_we_i,
      .cmt_record_i,
      .cmt_qp_i,
      .cmt_index_i(cmt_psn_i[RING_W-1:6]),
      .cmt_word_i,
      .cmt_head_i,
      .cmt_full_i,
      .cmt_touched_i,
      .psn_2_o(psn_2),
      .qp_o(qp[5]),
      .psn_o(psn[5]),
      .known_o(found_known_5),
      .next_o(found_next_5),
      .first_o(found_first_5),
      .seen_o(seen[5]),
      .word_o(word[5]),
      .touched_o(touched_5)
  );

  // ------------------------------------------------------------ stages 5 to 8: the update and me
  logic [WORD_W-1:0] upd_index;
  logic same_qp[5:7];  // the update is of my QP,
  logic same_index[5:7];  // and in the memory word that I use,
  logic same_word[5:7];  // and of the same lap

  assign upd_index = upd_psn_i[RING_W-1:6];

  for (genvar s = 5; s < 8; s++) begin : gen_event
    assign same_qp[s] = upd_valid_i && upd_qp_i == qp[s];
    assign same_index[s] = same_qp[s] && upd_index == psn[s][RING_W-1:6];
    assign same_word[s] = same_index[s] && upd_psn_i[PSN_W-1:RING_W] == psn[s][PSN_W-1:RING_W];

    always_ff @(posedge clk_i) begin
      if (advance_i) begin
        qp[s+1]   <= qp[s];
        psn[s+1]  <= psn[s];
        seen[s+1] <= seen[s] || same_word[s] && upd_psn_i[5:0] == psn[s][5:0];
        word[s+1] <= word[s];
        if (same_index[s]) word[s+1][upd_psn_i[5:0]] <= upd_psn_i[RING_W];
      end
    end
  end

  // ------------------------------------------------------------ stage 5: what stage 4 could not merge
  logic late_qp_5, late_next_5, late_first_5;

  assign late_qp_5 = cmt_record_i && cmt_qp_i == qp[5];
  assign late_next_5 = late_qp_5 && cmt_psn_i[PSN_W-1:6] == found_next_5[PSN_W-1:6] &&
      (found_known_5 ? cmt_psn_i[5:0] == found_next_5[5:0] : cmt_fill_i);
  assign late_first_5 = late_qp_5 && cmt_psn_i == {psn[5][PSN_W-1:6], found_first_5};

  // ------------------------------------------------------------ stages 5 to 7: hole of the word found
  logic fresh_5, fresh_6, fresh_7;  // it is still untouched: its first PSN is the hole
  logic [WORD_W-1:0] found_index_5, found_index_6;
  logic [5:0] hole_7[2];

  assign found_index_5 = found_next_5[RING_W-1:6];
  assign fresh_5 = !touched_5[found_index_5];

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      found_index_6 <= found_index_5;
      fresh_6 <= fresh_5 && !(same_qp[5] && upd_index == found_index_5);
      fresh_7 <= fresh_6 && !(same_qp[6] && upd_index == found_index_6);
    end
  end

  for (genvar parity = 0; parity < 2; parity++) begin : gen_holes
    logic mine;
    assign mine = cmt_psn_i[RING_W] == (parity == 1);

    mrc_ram_forward #(
        .WIDTH(6),
        .DEPTH(QPS * WORDS)
    ) u_holes (
        .clk_i,
        .en_i(advance_i),
        .raddr_i({qp[5], found_index_5}),
        .rdata_o(hole_7[parity]),
        // The first PSN in a word since the set-up makes the entries of both laps valid.
        .we_i(cmt_record_i && (mine || cmt_fresh_i)),
        .waddr_i({cmt_qp_i, cmt_psn_i[RING_W-1:6]}),
        .wdata_i(mine ? cmt_first_i : 6'd0)
    );
  end

  // ------------------------------------------------------------ stages 5 to 8: next and first hole
  logic known[5:7];  // the next hole is known to the bit, else the word that it is in
  logic [PSN_W-1:0] next[5:7];
  logic [5:0] first[5:7];
  logic known_6_q, known_7_q;
  logic [PSN_W-1:0] next_6_q, next_7_q;
  logic taken[5:7];  // the update takes my next hole, or the last one of the word that it is in

  assign known[5] = found_known_5 || late_next_5;
  assign next[5]  = late_next_5 ? cmt_next_i : found_next_5;
  assign known[6] = known_6_q;
  assign next[6]  = next_6_q;
  assign known[7] = 1'b1;
  always_comb begin
    next[7] = next_7_q;
    if (!known_7_q) next[7][5:0] = fresh_7 ? 6'd0 : hole_7[next_7_q[RING_W]];
  end

  for (genvar s = 5; s < 8; s++) begin : gen_taken
    assign taken[s] = same_qp[s] && upd_psn_i[PSN_W-1:6] == next[s][PSN_W-1:6] &&
        (known[s] ? upd_psn_i[5:0] == next[s][5:0] : upd_fill_i);
  end

  // When the update completes my word, I have been seen and the first hole is not asked for.
  function automatic logic [5:0] first_left(input logic [5:0] bit_index, input logic in_my_word);
    first_left = in_my_word && upd_psn_i[5:0] == bit_index ? upd_next_i[5:0] : bit_index;
  endfunction

  assign first[5] = late_first_5 ? cmt_next_i[5:0] : found_first_5;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      known_6_q <= known[5] || taken[5];
      known_7_q <= known[6] || taken[6];
      next_6_q <= taken[5] ? upd_next_i : next[5];
      next_7_q <= taken[6] ? upd_next_i : next[6];
      next_o <= taken[7] ? upd_next_i : next[7];
      first[6] <= first_left(first[5], same_word[5]);
      first[7] <= first_left(first[6], same_word[6]);
      first_o <= first_left(first[7], same_word[7]);
    end
  end

  // ------------------------------------------------------------ what the window is compared with
  // 24 bits in two halves, a clock each
  localparam int unsigned HALF = PSN_W / 2;
  logic [WINDOW_W-1:0] window_1;
  logic [PSN_W-1:0] window_2;
  logic [HALF-1:0] window_high_3, psn_high_3;
  logic [HALF:0] low_3;
  logic [PSN_W-1:0] less_window[4:8];

  mrc_ram #(
      .WIDTH(WINDOW_W),
      .DEPTH(QPS)
  ) u_window (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_i),
      .rdata_o(window_1),
      .we_i(window_we_i),
      .waddr_i(qp_i),
      .wdata_i(window_i)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      window_2 <= PSN_W'(window_1);
      low_3 <= {1'b0, psn_2[HALF-1:0]} - {1'b0, window_2[HALF-1:0]};
      psn_high_3 <= psn_2[PSN_W-1:HALF];
      window_high_3 <= window_2[PSN_W-1:HALF];
      less_window[4] <= {psn_high_3 - window_high_3 - HALF'(low_3[HALF]), low_3[HALF-1:0]};
      for (int s = 5; s <= 8; s++) less_window[s] <= less_window[s-1];
      psn_plus_1_o <= psn[7] + 1'b1;
    end
  end

  assign qp_5_o = qp[5];
  assign qp_o = qp[8];
  assign psn_o = psn[8];
  assign psn_less_window_o = less_window[8];
  assign seen_o = seen[8];
  assign word_o = word[8];

endmodule

`default_nettype wire
