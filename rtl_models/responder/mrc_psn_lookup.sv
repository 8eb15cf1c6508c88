// First half of the PSN tracker: what the window's memory says about a PSN, kept up to date until it is decided.
//
// For each event the pipeline works out three things that do not depend on the cumulative PSN:
//
//   next      the lowest PSN above this one that has not been received,
//   first     the lowest PSN of this one's 64-bit word that has not been received (its bit number),
//   seen      whether this very PSN has been received.
//
// They are read from a consistent snapshot of the memory, and from then on every PSN that is recorded by an event ahead
// (the `upd_*` bus) is merged into each event behind: when the recorded PSN is my next hole, my next hole becomes
// *its* next hole, which its own pipeline pass has found. So the search of a 4,096-bit window is spread over the stages
// and never stands in the loop from one event to the next.
//
// Memory of a QP, WORDS words of 64 bits each, none of it ever cleared:
//   word      bit b of word w holds the lap parity (PSN bit RING_W) of the last PSN received there. A bit that equals the
//             parity of the PSN in question means received; head moves on and the same bit means not received, one lap up.
//   full      one bit a word, same code: parity of the last lap in which all 64 PSNs of the word were received.
//   hole      for each word and lap parity the bit number of the first PSN not received. 0 when that lap is complete,
//             which is what the next lap of the same parity starts with.
//   touched   one bit a word: written since the QP was set up. Until then its word and hole count as empty.
//
// Stages: 0 read the words; 2 snapshot; 3 received bits of my word, words that are not full; 4 find the first of each;
// 5 read the hole of the word found; 7 next hole known; 8 result. Latency: 8 clocks. Throughput: an event each clock.

`default_nettype none

module mrc_psn_lookup
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,       // queue pairs
    parameter int unsigned RING_W = 12,    // log2 of the PSNs that a QP's memory holds, 7 or more
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

    // Set-up of a QP: its window size is kept here
    input wire logic                setup_we_i,
    input wire logic [    QP_W-1:0] setup_qp_i,
    input wire logic [WINDOW_W-1:0] setup_window_i,

    // A PSN is being recorded in this clock, by the event in the deciding stage
    input wire logic             upd_valid_i,
    input wire logic [ QP_W-1:0] upd_qp_i,
    input wire logic [PSN_W-1:0] upd_psn_i,
    input wire logic [PSN_W-1:0] upd_next_i,  // the next hole behind it
    input wire logic             upd_fill_i,  // it completes its word

    // The same one clock later: write port of the memory
    input wire logic             cmt_state_we_i,   // head, full and touched bits
    input wire logic             cmt_record_i,     // a PSN was recorded
    input wire logic [ QP_W-1:0] cmt_qp_i,
    input wire logic [PSN_W-1:0] cmt_psn_i,
    input wire logic [PSN_W-1:0] cmt_next_i,
    input wire logic             cmt_fill_i,
    input wire logic             cmt_fresh_i,      // first PSN in its word since the set-up
    input wire logic [      5:0] cmt_first_i,      // first hole of its word, for its lap parity
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
    output logic [     63:0] word_o             // my word as it stands, without my own bit
);

  localparam int unsigned LAST = 8;
  localparam int unsigned NUMBER_W = PSN_W - 6;  // bits of a PSN's word number: lap and word

  // ---------------------------------------------------------------- event of each stage, and how the update meets it
  logic [QP_W-1:0] qp[LAST+1];
  logic [PSN_W-1:0] psn[LAST+1];
  logic [WORD_W-1:0] word_index[LAST+1];
  logic [NUMBER_W-1:0] number[LAST+1];
  logic same_qp[LAST];  // the update is of my QP
  logic same_ring[LAST];  // and in the memory word that I use
  logic same_number[LAST];  // and of the same lap: the word of PSNs that I am in

  assign qp[0] = qp_i;
  assign psn[0] = psn_i;

  for (genvar s = 0; s < LAST; s++) begin : gen_event
    assign same_qp[s] = upd_valid_i && upd_qp_i == qp[s];
    assign same_ring[s] = same_qp[s] && upd_psn_i[RING_W-1:6] == word_index[s];
    assign same_number[s] = same_ring[s] && upd_psn_i[PSN_W-1:RING_W] == psn[s][PSN_W-1:RING_W];

    always_ff @(posedge clk_i) begin
      if (advance_i) begin
        qp[s+1]  <= qp[s];
        psn[s+1] <= psn[s];
      end
    end
  end

  for (genvar s = 0; s <= LAST; s++) begin : gen_fields
    assign word_index[s] = psn[s][RING_W-1:6];
    assign number[s] = psn[s][PSN_W-1:6];
  end

  logic [WORD_W-1:0] upd_index;
  logic upd_lap;
  assign upd_index = upd_psn_i[RING_W-1:6];
  assign upd_lap = upd_psn_i[RING_W];

  // ---------------------------------------------------------------- stage 0 to 2: snapshot of the memory
  logic [PSN_W-1:0] head_2;
  logic [WORDS-1:0] full_2, touched_2;
  logic [63:0] row_2;
  logic [WINDOW_W-1:0] window_1, window_2;

  mrc_ram_forward #(
      .WIDTH(PSN_W + 2 * WORDS),
      .DEPTH(QPS)
  ) u_state (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp[0]),
      .rdata_o({head_2, full_2, touched_2}),
      .we_i(cmt_state_we_i),
      .waddr_i(cmt_qp_i),
      .wdata_i({cmt_head_i, cmt_full_i, cmt_touched_i})
  );

  mrc_ram_forward #(
      .WIDTH(64),
      .DEPTH(QPS * WORDS)
  ) u_words (
      .clk_i,
      .en_i(advance_i),
      .raddr_i({qp[0], word_index[0]}),
      .rdata_o(row_2),
      .we_i(cmt_record_i),
      .waddr_i({cmt_qp_i, cmt_psn_i[RING_W-1:6]}),
      .wdata_i(cmt_word_i)
  );

  mrc_ram #(
      .WIDTH(WINDOW_W),
      .DEPTH(QPS)
  ) u_window (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp[0]),
      .rdata_o(window_1),
      .we_i(setup_we_i),
      .waddr_i(setup_qp_i),
      .wdata_i(setup_window_i)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) window_2 <= window_1;
  end

  // ---------------------------------------------------------------- stage 2: my word; the words behind it that have holes
  logic [WORD_W-1:0] head_index_2;
  logic [5:0] head_bit_2;
  logic lap_2;
  logic touched_mine_2;
  logic [63:0] empty_row_2;  // an untouched word: every bit as "not received" for the PSN that it stands for
  logic [63:0] word_2, equal_2;
  logic [WORDS-1:0] holed_2, holed_3_d;
  logic clears_holed_2, clears_holed_3;

  assign head_index_2 = head_2[RING_W-1:6];
  assign head_bit_2 = head_2[5:0];
  assign lap_2 = psn[2][RING_W];
  assign touched_mine_2 = touched_2[word_index[2]];

  always_comb begin
    for (int b = 0; b < 64; b++) begin
      // Places below head already stand for the next lap.
      empty_row_2[b] = !head_2[RING_W] ^ (word_index[2] < head_index_2 ||
          word_index[2] == head_index_2 && b[5:0] < head_bit_2);
      word_2[b] = touched_mine_2 ? row_2[b] : empty_row_2[b];
      equal_2[b] = touched_mine_2 && row_2[b] == lap_2;
      if (same_ring[2] && upd_psn_i[5:0] == b[5:0]) word_2[b] = upd_lap;
    end
    // The search goes from the word above mine around the ring, through mine of the next lap, and ends at head's word at
    // the latest, since there at least head itself is not received.
    for (int w = 0; w < WORDS; w++) begin
      holed_2[w] = head_index_2 == w[WORD_W-1:0] || full_2[w] != (lap_2 ^ (w[WORD_W-1:0] <= word_index[2]));
    end
  end

  // The update completes a word that this search may still find.
  assign clears_holed_2 = same_qp[2] && upd_fill_i && upd_lap == (lap_2 ^ (upd_index <= word_index[2]));
  assign clears_holed_3 = same_qp[3] && upd_fill_i && upd_lap == (psn[3][RING_W] ^ (upd_index <= word_index[3]));

  // Where my word lies from head's, as the snapshot has it
  logic [NUMBER_W-1:0] distance_2;
  assign distance_2 = number[2] - head_2[PSN_W-1:6];

  typedef enum logic [1:0] {
    PLACE_HEAD,    // head is in it: places below head are of PSNs long received
    PLACE_WITHIN,  // behind head's, of one lap
    PLACE_TOP,     // head's memory word one lap up: only places below head can hold anything
    PLACE_OUTSIDE  // below head or above the ring: nothing of it is held
  } place_e;
  place_e place_2, place_3;
  logic merged_3;
  logic [5:0] head_bit_3, merged_bit_3;
  logic [63:0] equal_3;
  logic [WORDS-1:0] holed_3, touched_3;

  always_comb begin
    holed_3_d = holed_2;
    if (clears_holed_2) holed_3_d[upd_index] = 1'b0;
    if (distance_2 == '0) place_2 = PLACE_HEAD;
    else if (distance_2 < NUMBER_W'(WORDS)) place_2 = PLACE_WITHIN;
    else if (distance_2 == NUMBER_W'(WORDS)) place_2 = PLACE_TOP;
    else place_2 = PLACE_OUTSIDE;
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      place_3 <= place_2;
      head_bit_3 <= head_bit_2;
      equal_3 <= equal_2;
      holed_3 <= holed_3_d;
      // Other laps share a word's memory, so the update goes to the received bits of stage 3 apart from the word.
      merged_3 <= same_number[2];
      merged_bit_3 <= upd_psn_i[5:0];
    end
  end

  // ---------------------------------------------------------------- stage 3: received bits of my word, in my lap
  logic [63:0] received_3, received_4, received_up_4;
  logic [WORDS-1:0] holed_up_4, holed_around_4, touched_4, touched_5;
  logic beyond_4;
  logic [NUMBER_W-1:0] number_plus_1_4;
  logic [PSN_W-RING_W-1:0] lap_plus_1_4;

  always_comb begin
    for (int b = 0; b < 64; b++) begin
      unique case (place_3)
        PLACE_HEAD: received_3[b] = equal_3[b] || b[5:0] < head_bit_3;
        PLACE_WITHIN: received_3[b] = equal_3[b];
        PLACE_TOP: received_3[b] = equal_3[b] && b[5:0] < head_bit_3;
        PLACE_OUTSIDE: received_3[b] = 1'b0;
      endcase
      if (merged_3 && merged_bit_3 == b[5:0] || same_number[3] && upd_psn_i[5:0] == b[5:0]) received_3[b] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      received_4 <= received_3;
      beyond_4 <= place_3 == PLACE_TOP || place_3 == PLACE_OUTSIDE;
      number_plus_1_4 <= number[3] + 1'b1;
      lap_plus_1_4 <= psn[3][PSN_W-1:RING_W] + 1'b1;
      for (int b = 0; b < 64; b++) received_up_4[b] <= received_3[b] || b[5:0] <= psn[3][5:0];
      for (int w = 0; w < WORDS; w++) begin
        holed_up_4[w] <= holed_3[w] && w[WORD_W-1:0] > word_index[3] &&
            !(clears_holed_3 && upd_index == w[WORD_W-1:0]);
        holed_around_4[w] <= holed_3[w] && w[WORD_W-1:0] <= word_index[3] &&
            !(clears_holed_3 && upd_index == w[WORD_W-1:0]);
      end
    end
  end

  // Words touched by updates since the snapshot
  function automatic logic [WORDS-1:0] touch(input logic [WORDS-1:0] touched, input logic mine);
    touch = touched;
    if (mine) touch[upd_index] = 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      touched_3 <= touch(touched_2, same_qp[2]);
      touched_4 <= touch(touched_3, same_qp[3]);
      touched_5 <= touch(touched_4, same_qp[4]);
    end
  end

  // ---------------------------------------------------------------- stage 4: find the first of each
  logic up_found, holed_up_found;
  logic unused_found, unused_holed_found;  // a full word's first hole is not asked for; head's word always has one
  logic [5:0] up_bit, first_bit;
  logic [WORD_W-1:0] holed_up_index, holed_around_index, holed_index;

  mrc_find_first #(
      .WIDTH(64)
  ) u_first_up (
      .bits_i (~received_up_4),
      .found_o(up_found),
      .index_o(up_bit)
  );

  mrc_find_first #(
      .WIDTH(64)
  ) u_first (
      .bits_i (~received_4),
      .found_o(unused_found),
      .index_o(first_bit)
  );

  mrc_find_first #(
      .WIDTH(WORDS)
  ) u_holed_up (
      .bits_i (holed_up_4),
      .found_o(holed_up_found),
      .index_o(holed_up_index)
  );

  mrc_find_first #(
      .WIDTH(WORDS)
  ) u_holed_around (
      .bits_i (holed_around_4),
      .found_o(unused_holed_found),
      .index_o(holed_around_index)
  );

  assign holed_index = holed_up_found ? holed_up_index : holed_around_index;

  // From here on the next hole is `known`, or the word that it is in is.
  logic known_5, known_6, known_7;
  logic [PSN_W-1:0] next_5, next_6, next_7;
  logic [5:0] first_5;
  logic seen_5;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      known_5 <= up_found || beyond_4;
      // Above the ring's end nothing is received: the next hole is the next PSN.
      if (up_found) next_5 <= {number[4], up_bit};
      else if (beyond_4) next_5 <= {number_plus_1_4, 6'd0};
      else next_5 <= {holed_up_found ? psn[4][PSN_W-1:RING_W] : lap_plus_1_4, holed_index, 6'd0};
      first_5 <= first_bit;
      seen_5 <= received_4[psn[4][5:0]] || same_number[4] && upd_psn_i[5:0] == psn[4][5:0];
    end
  end

  // ---------------------------------------------------------------- stage 5: merge what was recorded during stage 4
  // Finding takes most of stage 4's clock, so its update is taken from the write port, one clock later.
  logic late_same_qp_5, late_known_5;
  logic [PSN_W-1:0] late_next_5;
  logic [5:0] late_first_5;

  assign late_same_qp_5 = cmt_record_i && cmt_qp_i == qp[5];

  always_comb begin
    late_known_5 = known_5;
    late_next_5 = next_5;
    if (late_same_qp_5 && (known_5 ? cmt_psn_i == next_5 : cmt_fill_i && cmt_psn_i[PSN_W-1:6] == next_5[PSN_W-1:6])) begin
      late_known_5 = 1'b1;
      late_next_5  = cmt_next_i;
    end
    late_first_5 = first_5;
    if (late_same_qp_5 && cmt_psn_i == {number[5], first_5}) late_first_5 = cmt_next_i[5:0];
  end

  // ---------------------------------------------------------------- stage 5 to 7: hole of the word that was found
  logic [WORD_W-1:0] holed_index_5;
  logic [5:0] hole_even_7, hole_odd_7;
  logic fresh_5, fresh_6, fresh_7;  // the word found is still untouched: its hole is its first PSN

  assign holed_index_5 = next_5[RING_W-1:6];
  assign fresh_5 = !touched_5[holed_index_5];

  for (genvar parity = 0; parity < 2; parity++) begin : gen_holes
    logic [5:0] hole_7;
    mrc_ram_forward #(
        .WIDTH(6),
        .DEPTH(QPS * WORDS)
    ) u_holes (
        .clk_i,
        .en_i(advance_i),
        .raddr_i({qp[5], holed_index_5}),
        .rdata_o(hole_7),
        // The first PSN in a word since the set-up makes both laps' entries valid.
        .we_i(cmt_record_i && (cmt_psn_i[RING_W] == (parity == 1) || cmt_fresh_i)),
        .waddr_i({cmt_qp_i, cmt_psn_i[RING_W-1:6]}),
        .wdata_i(cmt_psn_i[RING_W] == (parity == 1) ? cmt_first_i : 6'd0)
    );
  end
  assign hole_even_7 = gen_holes[0].hole_7;
  assign hole_odd_7  = gen_holes[1].hole_7;

  // ---------------------------------------------------------------- merging, stage by stage
  // The update fills my next hole, or the word that it is in
  function automatic logic takes_next(input logic known, input logic [PSN_W-1:0] next, input logic mine);
    logic same_word, same_bit;
    same_word = upd_psn_i[PSN_W-1:6] == next[PSN_W-1:6];
    same_bit = upd_psn_i[5:0] == next[5:0];
    takes_next = mine && same_word && (known ? same_bit : upd_fill_i);
  endfunction

  // The first hole of my word. When the update completes the word, I have been seen and need it no more.
  function automatic logic [5:0] merge_first(input logic [5:0] first, input logic mine);
    merge_first = mine && upd_psn_i[5:0] == first ? upd_next_i[5:0] : first;
  endfunction

  function automatic logic [63:0] merge_word(input logic [63:0] word, input logic mine);
    merge_word = word;
    if (mine) merge_word[upd_psn_i[5:0]] = upd_lap;
  endfunction

  logic [PSN_W-1:0] hole_next_7;
  logic [5:0] first_6, first_7;
  logic seen_6, seen_7;
  logic [63:0] word_3, word_4, word_5, word_6, word_7;
  logic [PSN_W-1:0] less_window[3:LAST];
  logic taken_5, taken_6, taken_7;

  assign hole_next_7 = known_7 ? next_7
      : {next_7[PSN_W-1:6], fresh_7 ? 6'd0 : next_7[RING_W] ? hole_odd_7 : hole_even_7};

  assign taken_5 = takes_next(late_known_5, late_next_5, same_qp[5]);
  assign taken_6 = takes_next(known_6, next_6, same_qp[6]);
  assign taken_7 = takes_next(1'b1, hole_next_7, same_qp[7]);

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      known_6 <= late_known_5 || taken_5;
      known_7 <= known_6 || taken_6;
      next_6 <= taken_5 ? upd_next_i : late_next_5;
      next_7 <= taken_6 ? upd_next_i : next_6;
      next_o <= taken_7 ? upd_next_i : hole_next_7;

      fresh_6 <= fresh_5 && !(same_qp[5] && upd_index == holed_index_5);
      fresh_7 <= fresh_6 && !(same_qp[6] && upd_index == next_6[RING_W-1:6]);

      first_6 <= merge_first(late_first_5, same_number[5]);
      first_7 <= merge_first(first_6, same_number[6]);
      first_o <= merge_first(first_7, same_number[7]);

      seen_6 <= seen_5 || same_number[5] && upd_psn_i[5:0] == psn[5][5:0];
      seen_7 <= seen_6 || same_number[6] && upd_psn_i[5:0] == psn[6][5:0];
      seen_o <= seen_7 || same_number[7] && upd_psn_i[5:0] == psn[7][5:0];

      word_3 <= word_2;
      word_4 <= merge_word(word_3, same_ring[3]);
      word_5 <= merge_word(word_4, same_ring[4]);
      word_6 <= merge_word(word_5, same_ring[5]);
      word_7 <= merge_word(word_6, same_ring[6]);
      word_o <= merge_word(word_7, same_ring[7]);

      less_window[3] <= psn[2] - PSN_W'(window_2);
      for (int s = 4; s <= LAST; s++) less_window[s] <= less_window[s-1];
      psn_plus_1_o <= psn[7] + 1'b1;
    end
  end

  assign qp_5_o = qp[5];
  assign qp_o = qp[LAST];
  assign psn_o = psn[LAST];
  assign psn_less_window_o = less_window[LAST];

endmodule

`default_nettype wire
