// Stages 0 to 4 of the PSN tracker: reads a QP's window from memory and searches it.
//
// For each event it finds, in a consistent snapshot of the memory,
//
//   next      the lowest PSN above this one that has not been received: known to the bit when it is
//             in this PSN's own 64-bit word, else the word that it is in,
//   first     the lowest PSN of this one's word that has not been received (its bit number),
//   seen      whether this very PSN has been received.
//
// A PSN that is recorded meanwhile by an event ahead (the `upd_*` bus) is merged in each stage.
//
// Memory of a QP, WORDS words of 64 bits each, none of it ever cleared:
//
//   word      bit b of word w holds the lap parity (PSN bit RING_W) of the last PSN received there.
//             A bit that equals the parity of the PSN in question says received. When head moves
//             past it, the same bit says not received, of the PSN one lap up.
//   full      one bit a word, same code: parity of the last lap in which its 64 PSNs all arrived.
//   touched   one bit a word: written since the QP was set up. Until then the word counts as empty,
//             whatever an earlier life of the QP left in it.
//
// Stages: 0 address, 2 snapshot, 3 received bits of my word and words that have holes, 4 find the
// first of each, 5 result. Latency: 5 clocks. Throughput: an event each clock.

`default_nettype none

module mrc_psn_search
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned RING_W = 12,  // log2 of the PSNs that a QP's memory holds, 7 or more
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WORD_W = RING_W - 6,
    localparam int unsigned WORDS = 2 ** WORD_W
) (
    input wire logic clk_i,
    input wire logic advance_i, // low: every stage stands still

    // Event in stage 0
    input wire logic [ QP_W-1:0] qp_i,
    input wire logic [PSN_W-1:0] psn_i,

    // A PSN is being recorded in this clock
    input wire logic             upd_valid_i,
    input wire logic [ QP_W-1:0] upd_qp_i,
    input wire logic [PSN_W-1:0] upd_psn_i,
    input wire logic             upd_fill_i,   // it completes its word

    // The same one clock later: write port of the memory
    input wire logic              cmt_state_we_i,
    input wire logic              cmt_record_i,
    input wire logic [  QP_W-1:0] cmt_qp_i,
    input wire logic [WORD_W-1:0] cmt_index_i,     // of the word in the QP's memory
    input wire logic [      63:0] cmt_word_i,
    input wire logic [ PSN_W-1:0] cmt_head_i,
    input wire logic [ WORDS-1:0] cmt_full_i,
    input wire logic [ WORDS-1:0] cmt_touched_i,

    output logic [PSN_W-1:0] psn_2_o,  // the event in stage 2, on its way

    // Result in stage 5. What is recorded during stage 4 is merged into it but for next and first,
    // whose search takes most of that clock: that is left to the taker.
    output logic [ QP_W-1:0] qp_o,
    output logic [PSN_W-1:0] psn_o,
    output logic             known_o,   // next_o is the next hole; else it is in next_o's word
    output logic [PSN_W-1:0] next_o,
    output logic [      5:0] first_o,
    output logic             seen_o,
    output logic [     63:0] word_o,
    output logic [WORDS-1:0] touched_o
);

  localparam int unsigned NUMBER_W = PSN_W - 6;  // bits of a word's number: lap and index

  // Where a word lies from the one that head is in
  typedef enum logic [1:0] {
    PLACE_HEAD,    // head is in it: places below head are of PSNs long received
    PLACE_WITHIN,  // behind head's, all of one lap
    PLACE_TOP,     // head's, one lap up: only places below head can hold anything
    PLACE_OUTSIDE  // below head or above the ring: nothing of it is held
  } place_e;

  // ------------------------------------------------------------ event of each stage, and the update
  logic [QP_W-1:0] qp[6];
  logic [PSN_W-1:0] psn[6];
  logic [WORD_W-1:0] index[5];  // of my word in memory
  logic same_qp[5];  // the update is of my QP,
  logic same_index[5];  // and in the memory word that I use,
  logic same_word[5];  // and of the same lap
  logic [WORD_W-1:0] upd_index;
  logic upd_lap;

  assign qp[0] = qp_i;
  assign psn[0] = psn_i;
  assign upd_index = upd_psn_i[RING_W-1:6];
  assign upd_lap = upd_psn_i[RING_W];

  for (genvar s = 0; s < 5; s++) begin : gen_event
    assign index[s] = psn[s][RING_W-1:6];
    assign same_qp[s] = upd_valid_i && upd_qp_i == qp[s];
    assign same_index[s] = same_qp[s] && upd_index == index[s];
    assign same_word[s] = same_index[s] && upd_psn_i[PSN_W-1:RING_W] == psn[s][PSN_W-1:RING_W];

    always_ff @(posedge clk_i) begin
      if (advance_i) begin
        qp[s+1]  <= qp[s];
        psn[s+1] <= psn[s];
      end
    end
  end

  assign psn_2_o = psn[2];
  assign qp_o = qp[5];
  assign psn_o = psn[5];

  // ------------------------------------------------------------ stages 0 to 2: snapshot
  logic [PSN_W-1:0] head_2;
  logic [WORDS-1:0] full_2, touched_2;
  logic [63:0] row_2;

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
      .raddr_i({qp[0], index[0]}),
      .rdata_o(row_2),
      .we_i(cmt_record_i),
      .waddr_i({cmt_qp_i, cmt_index_i}),
      .wdata_i(cmt_word_i)
  );

  // ------------------------------------------------------------ stage 2: read it as a window
  logic [  WORD_W-1:0] head_index_2;
  logic [NUMBER_W-1:0] distance_2;  // in words, from head's to mine
  logic lap_2, mine_touched_2;
  place_e place_2;
  logic [63:0] empty_2, word_2, equal_2;
  logic [WORDS-1:0] holed_2;

  assign head_index_2 = head_2[RING_W-1:6];
  assign distance_2 = psn[2][PSN_W-1:6] - head_2[PSN_W-1:6];
  assign lap_2 = psn[2][RING_W];
  assign mine_touched_2 = touched_2[index[2]];

  always_comb begin
    if (distance_2 == '0) place_2 = PLACE_HEAD;
    else if (distance_2 < NUMBER_W'(WORDS)) place_2 = PLACE_WITHIN;
    else if (distance_2 == NUMBER_W'(WORDS)) place_2 = PLACE_TOP;
    else place_2 = PLACE_OUTSIDE;

    // An untouched word says "not received" of the PSNs that it stands for; places below head stand
    // for the next lap already.
    for (int b = 0; b < 64; b++) begin
      empty_2[b] = !head_2[RING_W] ^ (index[2] < head_index_2 ||
          index[2] == head_index_2 && b[5:0] < head_2[5:0]);
    end
    word_2 = mine_touched_2 ? row_2 : empty_2;
    if (same_index[2]) word_2[upd_psn_i[5:0]] = upd_lap;
    equal_2 = mine_touched_2 ? ~(row_2 ^{64{lap_2}}) : '0;

    // The search goes from the word above mine around the ring, through mine of the next lap, and
    // ends at head's at the latest, for head itself is not received.
    for (int w = 0; w < WORDS; w++) begin
      holed_2[w] = head_index_2 == w[WORD_W-1:0] ||
          full_2[w] != (lap_2 ^ (w[WORD_W-1:0] <= index[2]));
    end
  end

  // The update completes a word that this search may come to.
  logic completes_2, completes_3;
  assign completes_2 = same_qp[2] && upd_fill_i && upd_lap == (lap_2 ^ (upd_index <= index[2]));
  assign completes_3 = same_qp[3] && upd_fill_i &&
      upd_lap == (psn[3][RING_W] ^ (upd_index <= index[3]));

  function automatic logic [WORDS-1:0] changed(input logic [WORDS-1:0] bits, input logic change,
                                               input logic to);
    changed = bits;
    if (change) changed[upd_index] = to;
  endfunction

  place_e place_3;
  logic   merged_3;
  logic [5:0] head_bit_3, merged_bit_3;
  logic [63:0] word_3, equal_3;
  logic [WORDS-1:0] holed_3, touched_3;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      place_3 <= place_2;
      head_bit_3 <= head_2[5:0];
      word_3 <= word_2;
      equal_3 <= equal_2;
      // The memory word is shared with other laps, so an update of my lap is remembered apart from it
      merged_3 <= same_word[2];
      merged_bit_3 <= upd_psn_i[5:0];
      holed_3 <= changed(holed_2, completes_2, 1'b0);
      touched_3 <= changed(touched_2, same_qp[2], 1'b1);
    end
  end

  // ------------------------------------------------------------ stage 3: my word, in my lap
  logic [63:0] received_3, below_head_3, up_to_me_3;
  logic [WORDS-1:0] holed_left_3, above_3;

  always_comb begin
    for (int b = 0; b < 64; b++) begin
      below_head_3[b] = b[5:0] < head_bit_3;
      up_to_me_3[b]   = b[5:0] <= psn[3][5:0];
    end
    unique case (place_3)
      PLACE_HEAD: received_3 = equal_3 | below_head_3;
      PLACE_WITHIN: received_3 = equal_3;
      PLACE_TOP: received_3 = equal_3 & below_head_3;
      PLACE_OUTSIDE: received_3 = '0;
    endcase
    if (merged_3) received_3[merged_bit_3] = 1'b1;
    if (same_word[3]) received_3[upd_psn_i[5:0]] = 1'b1;
    for (int w = 0; w < WORDS; w++) above_3[w] = w[WORD_W-1:0] > index[3];
    holed_left_3 = changed(holed_3, completes_3, 1'b0);
  end

  logic beyond_4;  // nothing above me in the ring: the next hole is the next PSN
  logic [63:0] word_4, received_4, received_up_4;
  logic [WORDS-1:0] holed_above_4, holed_around_4, touched_4;
  logic [NUMBER_W-1:0] following_word_4;
  logic [PSN_W-RING_W-1:0] following_lap_4;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      beyond_4 <= place_3 == PLACE_TOP || place_3 == PLACE_OUTSIDE;
      word_4   <= word_3;
      if (same_index[3]) word_4[upd_psn_i[5:0]] <= upd_lap;
      received_4 <= received_3;
      received_up_4 <= received_3 | up_to_me_3;
      holed_above_4 <= holed_left_3 & above_3;
      holed_around_4 <= holed_left_3 & ~above_3;
      touched_4 <= changed(touched_3, same_qp[3], 1'b1);
      following_word_4 <= psn[3][PSN_W-1:6] + 1'b1;
      following_lap_4 <= psn[3][PSN_W-1:RING_W] + 1'b1;
    end
  end

  // ------------------------------------------------------------ stage 4: find the first of each
  logic up_found, above_found;
  logic unused_first, unused_around;  // no one asks in a full word; in the ring head's always is
  logic [5:0] up_bit, first_bit;
  logic [WORD_W-1:0] above_index, around_index;

  mrc_find_first #(
      .WIDTH(64)
  ) u_up (
      .bits_i (~received_up_4),
      .found_o(up_found),
      .index_o(up_bit)
  );

  mrc_find_first #(
      .WIDTH(64)
  ) u_first (
      .bits_i (~received_4),
      .found_o(unused_first),
      .index_o(first_bit)
  );

  mrc_find_first #(
      .WIDTH(WORDS)
  ) u_above (
      .bits_i (holed_above_4),
      .found_o(above_found),
      .index_o(above_index)
  );

  mrc_find_first #(
      .WIDTH(WORDS)
  ) u_around (
      .bits_i (holed_around_4),
      .found_o(unused_around),
      .index_o(around_index)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      known_o <= up_found || beyond_4;
      if (up_found) next_o <= {psn[4][PSN_W-1:6], up_bit};
      else if (beyond_4) next_o <= {following_word_4, 6'd0};
      else if (above_found) next_o <= {psn[4][PSN_W-1:RING_W], above_index, 6'd0};
      else next_o <= {following_lap_4, around_index, 6'd0};
      first_o <= first_bit;
      seen_o  <= received_4[psn[4][5:0]] || same_word[4] && upd_psn_i[5:0] == psn[4][5:0];
      word_o  <= word_4;
      if (same_index[4]) word_o[upd_psn_i[5:0]] <= upd_lap;
      touched_o <= changed(touched_4, same_qp[4], 1'b1);
    end
  end

endmodule

`default_nettype wire
