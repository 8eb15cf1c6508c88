// Second half of the PSN tracker: the loop from one event of a QP to the next. It compares a PSN with
// the window, moves head (cumulative PSN + 1), and says what is recorded.
//
// All that depends on the event before of the same QP is here, and it is little: two subtractions and
// two comparisons with head, then head becomes the next hole that `mrc_psn_lookup` has worked out, or
// stays. With SAME_QP_INTERVAL = 1 that happens in one clock; with 2 a register stands between
// comparing and deciding, and a QP's next event must come two clocks later or more.
//
// A QP's state, one row: head; the number of PSNs recorded, counted from the first PSN on, so that
// what it is ahead of head is the out-of-order count; full and touched bits (see mrc_psn_search).
//
// Latency: SAME_QP_INTERVAL clocks from stage 8 to the write port. Throughput: an event each clock.

`default_nettype none

module mrc_psn_decide
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned RING_W = 12,  // log2 of the PSNs that a QP's memory holds
    parameter int unsigned SAME_QP_INTERVAL = 1,  // clocks between two events of one QP, 1 or 2
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WORD_W = RING_W - 6,
    localparam int unsigned WORDS = 2 ** WORD_W
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    input wire logic [QP_W-1:0] qp_5_i,  // QP of the event in stage 5: its state is read now

    // Event in stage 8, with what the lookup found
    input wire logic valid_i,
    input wire logic record_i,  // valid, and the PSN is recorded when it is new
    input wire logic init_i,  // valid, set-up of a QP: psn_i is the first PSN expected
    input wire logic about_none_i,  // it is about no PSN
    input wire logic [QP_W-1:0] qp_i,
    input wire logic [PSN_W-1:0] psn_i,
    input wire logic [PSN_W-1:0] psn_plus_1_i,
    input wire logic [PSN_W-1:0] psn_less_window_i,
    input wire logic [PSN_W-1:0] next_i,
    input wire logic [5:0] first_i,
    input wire logic seen_i,
    input wire logic [63:0] word_i,

    output logic init_done_o,  // the set-up is being decided in this clock

    // Update of the events behind, in the clock of the decision
    output logic             upd_valid_o,
    output logic [ QP_W-1:0] upd_qp_o,
    output logic [PSN_W-1:0] upd_psn_o,
    output logic [PSN_W-1:0] upd_next_o,
    output logic             upd_fill_o,

    // One clock later: write port, and the decision itself
    output logic                                     cmt_valid_o,     // an event was decided
    output psn_tracker_pkg::psn_class_e              cmt_class_o,
    output logic                                     cmt_state_we_o,
    output logic                                     cmt_record_o,
    output logic                        [  QP_W-1:0] cmt_qp_o,
    output logic                        [ PSN_W-1:0] cmt_psn_o,
    output logic                        [ PSN_W-1:0] cmt_next_o,
    output logic                                     cmt_fill_o,
    output logic                                     cmt_fresh_o,
    output logic                        [       5:0] cmt_first_o,
    output logic                        [      63:0] cmt_word_o,
    output logic                        [ PSN_W-1:0] cmt_head_o,
    output logic                        [RING_W-1:0] cmt_recorded_o,
    output logic                        [ WORDS-1:0] cmt_full_o,
    output logic                        [ WORDS-1:0] cmt_touched_o
);

  import psn_tracker_pkg::*;

  typedef struct packed {
    logic [PSN_W-1:0]  head;
    logic [RING_W-1:0] recorded;
    logic [WORDS-1:0]  full;
    logic [WORDS-1:0]  touched;
  } state_t;

  typedef struct packed {
    logic             about_none;
    logic [QP_W-1:0]  qp;
    logic [PSN_W-1:0] psn;
    logic [PSN_W-1:0] next;
    logic [5:0]       first;
    logic             seen;
    logic [63:0]      word;
    state_t           state;
    logic             below;       // at or below the cumulative PSN
    logic             under_end;   // below the window's upper end
    logic             at_head;     // the PSN that head waits for, and it is recorded
    logic             last_hole;   // the only hole of its word
  } decision_t;

  state_t state_7, state_8, new_state, commit_state;
  decision_t compared, deciding;
  logic deciding_valid, deciding_record, deciding_init;
  logic [QP_W-1:0] qp_6, qp_7;

  // ---------------------------------------------------------------- stage 5 to 8: state of my QP, the newest there is
  mrc_ram_forward #(
      .WIDTH($bits(state_t)),
      .DEPTH(QPS)
  ) u_state (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_5_i),
      .rdata_o(state_7),
      .we_i(cmt_state_we_o),
      .waddr_i(cmt_qp_o),
      .wdata_i(commit_state)
  );

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      qp_6 <= qp_5_i;
      qp_7 <= qp_6;
      state_8 <= (deciding_record || deciding_init) && deciding.qp == qp_7 ? new_state : state_7;
    end
  end

  // ---------------------------------------------------------------- stage 8: compare with head
  logic [PSN_W-1:0] from_cack, from_end;

  assign from_cack = psn_plus_1_i - state_8.head;
  assign from_end  = psn_less_window_i - state_8.head;

  always_comb begin
    compared.about_none = about_none_i;
    compared.qp = qp_i;
    compared.psn = psn_i;
    compared.next = next_i;
    compared.first = first_i;
    compared.seen = seen_i;
    compared.word = word_i;
    compared.state = state_8;
    // A distance of exactly half the space is below, as two's complement has it.
    compared.below = from_cack[PSN_W-1] || psn_plus_1_i == state_8.head;
    compared.under_end = from_end[PSN_W-1];
    compared.at_head = record_i && psn_i == state_8.head;
    compared.last_hole = psn_i[5:0] == first_i && psn_i[PSN_W-1:6] != next_i[PSN_W-1:6];
  end

  if (SAME_QP_INTERVAL == 1) begin : gen_one_clock
    assign deciding_valid = valid_i;
    assign deciding_record = record_i;
    assign deciding_init = init_i;
    assign deciding = compared;
  end else begin : gen_two_clocks
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        deciding_valid  <= 1'b0;
        deciding_record <= 1'b0;
        deciding_init   <= 1'b0;
      end else if (advance_i) begin
        deciding_valid  <= valid_i;
        deciding_record <= record_i;
        deciding_init   <= init_i;
      end
    end
    always_ff @(posedge clk_i) begin
      if (advance_i) deciding <= compared;
    end
  end

  // ---------------------------------------------------------------- decide
  logic record;
  logic [WORD_W-1:0] index;
  psn_class_e psn_class;

  assign index  = deciding.psn[RING_W-1:6];
  assign record = deciding_record && !deciding.below && deciding.under_end && !deciding.seen;

  always_comb begin
    if (deciding.below || deciding.about_none) psn_class = PSN_BELOW;
    else if (!deciding.under_end) psn_class = PSN_ABOVE;
    else if (deciding.seen) psn_class = PSN_DUPLICATE;
    else psn_class = PSN_NEW;
  end

  always_comb begin
    new_state = deciding.state;
    if (deciding_init) begin
      new_state.head = deciding.psn;
      new_state.recorded = deciding.psn[RING_W-1:0];
      new_state.touched = '0;
      // No word is complete: neither those from head's on in this lap, nor those below it in the next.
      for (int w = 0; w < WORDS; w++) begin
        new_state.full[w] = !deciding.psn[RING_W] ^ (w[WORD_W-1:0] < index);
      end
    end else begin
      // The PSN that head waits for is in the window and has not been seen.
      if (deciding.at_head) new_state.head = deciding.next;
      if (record) begin
        new_state.recorded = deciding.state.recorded + 1'b1;
        new_state.touched[index] = 1'b1;
        if (deciding.last_hole) new_state.full[index] = deciding.psn[RING_W];
      end
    end
  end

  assign init_done_o = deciding_init;

  assign upd_valid_o = record;
  assign upd_qp_o = deciding.qp;
  assign upd_psn_o = deciding.psn;
  assign upd_next_o = deciding.next;
  assign upd_fill_o = deciding.last_hole && record;

  // ---------------------------------------------------------------- commit
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cmt_valid_o <= 1'b0;
      cmt_state_we_o <= 1'b0;
      cmt_record_o <= 1'b0;
    end else if (advance_i) begin
      cmt_valid_o <= deciding_valid;
      cmt_state_we_o <= record || deciding_init;
      cmt_record_o <= record;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      cmt_class_o <= psn_class;
      cmt_qp_o <= deciding.qp;
      cmt_psn_o <= deciding.psn;
      cmt_next_o <= deciding.next;
      cmt_fill_o <= deciding.last_hole;
      cmt_fresh_o <= !deciding.state.touched[index];
      // When it was the first hole, the next one in the word is, or none: then the lap is complete and 0 stands.
      if (deciding.psn[5:0] != deciding.first) cmt_first_o <= deciding.first;
      else cmt_first_o <= deciding.last_hole ? 6'd0 : deciding.next[5:0];
      cmt_word_o <= deciding.word;
      cmt_word_o[deciding.psn[5:0]] <= deciding.psn[RING_W];
      commit_state <= new_state;
    end
  end

  assign {cmt_head_o, cmt_recorded_o, cmt_full_o, cmt_touched_o} = commit_state;

endmodule

`default_nettype wire
