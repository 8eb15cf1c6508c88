// Message semantics of the receiving end, for every QP: which messages are complete, in order; what
// fails a QP; receive completions (mrc-facts.md 3). docs/rtl.md draws the pipeline and explains the
// method.
//
// It stands behind mrc_psn_tracker and takes that one's results, in their order, with what the packet
// says of its message. Each event gives exactly one result, in order; receive completions leave apart.
//
// Throughput: one event each clock, in any mix of QPs, one QP back to back too. It has ready signals of
// its own and no combinational path from res_ready_i or ev_valid_i to ev_ready_o, so tracker and
// delivery share no advance: the tracker's output register in between is enough for an event a clock.
// Latency: 16 enabled clocks from the clock in which ev_valid_i and ev_ready_o are high to the first
// clock of res_valid_o, as long as nothing waits; a result that is not taken stops it a clock later.
// Completions: one each clock of one QP, 8 clocks from its last one to the next QP's first one; the first
// comes 25 enabled clocks behind its event's acceptance. They never stop the events, but for the last
// resort below, and wait with them while a result is not taken.
//
// What waits, and all behind it:
//   * DELIVERY_RESET, until all completions of before have been made. Its QP's stash is cleared in the
//     background, in 2 x WIMM clocks or more; the next DELIVERY_RESET or DELIVERY_READY waits for that.
//     A QP needs one before each DELIVERY_READY.
//   * A write with immediate whose place in the stash has a completion that nobody has taken: 2 x WIMM
//     numbers behind it. Then the completions are behind by WIMM or more.
//   * Everything, for QPS + 16 clocks after reset: every QP is brought to QP_RESET.
//
// A peer whose numbers contradict each other harms its own QP alone: completions may be missing or have
// another message's values, `completed` never moves back, nothing hangs.

`default_nettype none

module mrc_delivery
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_delivery_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs, 2 or more
    // Largest window in PSNs, as in mrc_psn_tracker.
    parameter int unsigned WINDOW = 4096,
    // Most writes with immediate that a QP may have in flight, a power of two from 2 to 16384.
    parameter int unsigned WIMM = 128,
    // Bits that travel with an event and come out with its result.
    parameter int unsigned META_W = 1
) (
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous; every QP is in reset then

    input  wire logic                         ev_valid_i,
    output logic                              ev_ready_o,
    input  wire delivery_event_t              ev_i,
    input  wire logic            [META_W-1:0] ev_meta_i,

    output logic                          res_valid_o,
    input  wire logic                     res_ready_i,
    output delivery_result_t              res_o,
    output logic             [META_W-1:0] res_meta_o,

    output logic      cqe_valid_o,
    input  wire logic cqe_ready_i,
    output cqe_t      cqe_o
);

  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned RING_W = $clog2(WINDOW);
  localparam int unsigned PLACE_W = $clog2(2 * WIMM);  // bits of a place in a QP's stash
  localparam int unsigned TAG_W = MSN_W - PLACE_W;
  localparam int unsigned LAST = 14;  // stage whose event leaves
  localparam int unsigned UNDER_WAY = 32;  // more events than are ever inside

  if (QPS < 2) begin : gen_bad_qps
    $fatal(1, "mrc_delivery: QPS is %0d, must be 2 or more", QPS);
  end
  if (WINDOW < 64 || WINDOW > 4096 || WINDOW != 2 ** $clog2(WINDOW)) begin : gen_bad_window
    $fatal(1, "mrc_delivery: WINDOW is %0d, must be a power of two from 64 to 4096", WINDOW);
  end
  if (WIMM < 2 || WIMM > 16384 || WIMM != 2 ** $clog2(WIMM)) begin : gen_bad_wimm
    $fatal(1, "mrc_delivery: WIMM is %0d, must be a power of two from 2 to 16384", WIMM);
  end

  logic advance;  // all stages, and the walker, move as one

  // ---------------------------------------------------------------- stages 0 to 2: what must wait
  logic valid_0, ready_0, quiet, clearing, wipe, wipe_silent;
  logic [QP_W-1:0] wipe_qp;
  delivery_event_t event_0;
  logic release_we, release_closed;
  logic [QP_W-1:0] release_qp;
  logic [15:0] release_number;

  logic [LAST+1:3] valid;
  logic [LAST:3] silent;  // valid, and nobody is told
  delivery_event_t ev[3:9];
  logic [15:0] released_3, gap_3;

  mrc_skid_buffer #(
      .WIDTH($bits(delivery_event_t))
  ) u_input (
      .clk_i,
      .rst_ni,
      .valid_i(ev_valid_i),
      .ready_o(ev_ready_o),
      .data_i (ev_i),
      .valid_o(valid_0),
      .ready_i(ready_0),
      .data_o (event_0)
  );

  mrc_delivery_gate #(
      .QPS(QPS),
      .PLACE_W(PLACE_W)
  ) u_gate (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .valid_i(valid_0),
      .ready_o(ready_0),
      .event_i(event_0),
      .quiet_i(quiet),
      .clearing_i(clearing),
      .release_we_i(release_we),
      .release_qp_i(release_qp),
      .release_number_i(release_number),
      .release_closed_i(release_closed),
      .wipe_o(wipe),
      .wipe_silent_o(wipe_silent),
      .wipe_qp_o(wipe_qp),
      .valid_o(valid[3]),
      .silent_o(silent[3]),
      .event_o(ev[3]),
      .released_o(released_3),
      .gap_o(gap_3)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid[LAST+1:4] <= '0;
    else if (advance) valid[LAST+1:4] <= valid[LAST:3];
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      for (int s = 4; s <= 9; s++) ev[s] <= ev[s-1];
      silent[LAST:4] <= silent[LAST-1:3];
    end
  end

  // ---------------------------------------------------------------- stages 3 to 9: messages that cack has passed
  logic recorded_3;
  logic [MSN_W-1:0] messages_9, messages_10, messages_11, messages_12;
  logic [MSN_W-1:0] before_8, before_9, before_10;  // as of the event before of the QP

  assign recorded_3 = ev[3].op == DELIVERY_PACKET && ev[3].is_new && ev[3].recorded;

  mrc_delivery_count #(
      .QPS(QPS),
      .RING_W(RING_W)
  ) u_count (
      .clk_i,
      .advance_i(advance),
      .qp_i(ev[3].qp[QP_W-1:0]),
      .write_i(valid[3] && recorded_3),
      .set_up_i(valid[3] && ev[3].op == DELIVERY_READY),
      .psn_i(ev[3].psn[RING_W:0]),
      .cack_i(ev[3].cack[RING_W:0]),
      .last_i(ev[3].last),
      .msn_i(ev[3].msn),
      .messages_o(messages_9)
  );

  mrc_ram_forward #(
      .WIDTH(MSN_W),
      .DEPTH(QPS)
  ) u_before (
      .clk_i,
      .en_i(advance),
      .raddr_i(ev[6].qp[QP_W-1:0]),
      .rdata_o(before_8),
      .we_i(valid[9]),
      .waddr_i(ev[9].qp[QP_W-1:0]),
      .wdata_i(messages_9)
  );

  // ---------------------------------------------------------------- what goes along with an event
  typedef struct packed {
    logic             immediate;  // a write with immediate landed
    logic             done;       // rqmsn - wimm was released
    logic [MSN_W-1:0] asked;      // rqmsn - wimm, which is asked for in the stash
    logic [15:0]      released;
  } early_t;

  typedef struct packed {
    logic             immediate;
    logic             done;
    logic [MSN_W-1:0] asked;      // of receives posted: the first number that has none
    logic             live;
    logic             watched;    // it is the first number that has none itself
  } late_t;

  early_t early[ 4:7];
  late_t  late [8:10];

  // ---------------------------------------------------------------- stages 3 to 7: receives
  typedef struct packed {
    logic        live;    // the QP was made ready
    logic [15:0] posted;  // receives
    logic [15:0] landed;  // writes with immediate
  } receives_t;

  receives_t receives_5, receives_6, new_receives_6, receives_7;

  mrc_ram_forward #(
      .WIDTH($bits(receives_t)),
      .DEPTH(QPS)
  ) u_receives (
      .clk_i,
      .en_i(advance),
      .raddr_i(ev[3].qp[QP_W-1:0]),
      .rdata_o(receives_5),
      .we_i(valid[7]),
      .waddr_i(ev[7].qp[QP_W-1:0]),
      .wdata_i(receives_7)
  );

  always_comb begin
    new_receives_6 = receives_6;
    unique case (ev[6].op)
      DELIVERY_RESET: new_receives_6 = '0;
      DELIVERY_READY: new_receives_6.live = 1'b1;
      DELIVERY_POST: new_receives_6.posted = receives_6.posted + ev[6].value;
      default: new_receives_6.landed = receives_6.landed + 16'(early[6].immediate);
    endcase
  end

  // ---------------------------------------------------------------- stages 3 to 11: one immediate too many?
  // Number rqmsn - wimm must be complete. It is when its receive was released; else the stash says which
  // message it is, and the messages passed before say whether that is complete.
  logic immediate_11, watched_11, full_10, found_10, found_11, excess_11, landed_7;
  logic [TAG_W-1:0] tag_10;
  logic [MSN_W-1:0] msn_10, behind_10, found_msn_11;

  assign landed_7  = early[7].immediate && receives_7.live;
  assign found_10  = full_10 && tag_10 == late[10].asked[MSN_W-1:PLACE_W];
  assign behind_10 = msn_10 - before_10;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      early[4].immediate <= valid[3] && recorded_3 && ev[3].immediate_valid;
      early[4].done <= gap_3 < ev[3].wimm;
      early[4].asked <= ev[3].rqmsn - ev[3].wimm;
      early[4].released <= released_3;
      for (int s = 5; s <= 7; s++) early[s] <= early[s-1];

      receives_6 <= valid[6] && ev[6].qp[QP_W-1:0] == ev[5].qp[QP_W-1:0] ?
          new_receives_6 : receives_5;
      receives_7 <= new_receives_6;

      late[8].immediate <= landed_7;
      late[8].done <= early[7].done;
      late[8].asked <= ev[7].op == DELIVERY_POST ? receives_7.posted : early[7].asked;
      late[8].live <= receives_7.live;
      late[8].watched <= ev[7].rqmsn == receives_7.posted;
      for (int s = 9; s <= 10; s++) late[s] <= late[s-1];
      before_9 <= before_8;
      before_10 <= before_9;

      immediate_11 <= late[10].immediate;
      watched_11 <= late[10].watched;
      excess_11 <= late[10].immediate && !late[10].done && !(found_10 && behind_10[MSN_W-1]);
      found_11 <= late[10].live && found_10;
      found_msn_11 <= msn_10;
      messages_10 <= messages_9;
      messages_11 <= messages_10;
      messages_12 <= messages_11;
    end
  end

  logic [QP_W-1:0] walk_qp;
  logic [PLACE_W-1:0] walk_place;
  logic walk_en, walk_full;
  logic [TAG_W-1:0] walk_tag;
  logic [MSN_W-1:0] walk_msn;
  logic [31:0] walk_immediate, walk_length;

  mrc_delivery_stash #(
      .QPS(QPS),
      .PLACE_W(PLACE_W)
  ) u_stash (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .clear_i(wipe && !wipe_silent),
      .clear_qp_i(wipe_qp),
      .clearing_o(clearing),
      .write_i(landed_7),
      .write_qp_i(ev[7].qp[QP_W-1:0]),
      .write_number_i(ev[7].rqmsn),
      .write_msn_i(ev[7].msn),
      .write_immediate_i(ev[7].immediate),
      .write_length_i(ev[7].dma_length),
      .ask_qp_i(ev[8].qp[QP_W-1:0]),
      .ask_place_i(late[8].asked[PLACE_W-1:0]),
      .ask_full_o(full_10),
      .ask_tag_o(tag_10),
      .ask_msn_o(msn_10),
      .walk_en_i(walk_en),
      .walk_qp_i(walk_qp),
      .walk_place_i(walk_place),
      .walk_full_o(walk_full),
      .walk_tag_o(walk_tag),
      .walk_msn_o(walk_msn),
      .walk_immediate_o(walk_immediate),
      .walk_length_o(walk_length)
  );

  // ---------------------------------------------------------------- stages 8 to 14: state
  delivery_result_t result;
  logic packet_8, failed, moved;
  logic [QP_W-1:0] qp_12, qp_14;
  delivery_op_e op_14;

  assign packet_8  = ev[8].op == DELIVERY_PACKET && ev[8].is_new;
  assign result.qp = QP_ID_W'(qp_14);

  mrc_delivery_state #(
      .QPS(QPS)
  ) u_state (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .valid_i(valid[8]),
      .op_i(ev[8].op),
      .qp_i(ev[8].qp[QP_W-1:0]),
      .psn_i(ev[8].psn),
      .msn_i(ev[8].msn),
      .recorded_i(packet_8 && ev[8].recorded),
      .bad_i(packet_8 && !ev[8].recorded && ev[8].bad),
      .syndrome_i(ev[8].syndrome),
      .qp_12_o(qp_12),
      .immediate_11_i(immediate_11),
      .excess_11_i(excess_11),
      .watched_11_i(watched_11),
      .found_11_i(found_11),
      .found_msn_11_i(found_msn_11),
      .messages_12_i(messages_12),
      .op_o(op_14),
      .qp_o(qp_14),
      .before_o(result.state),
      .placed_o(result.placed),
      .fault_o(result.fault),
      .failed_o(failed),
      .moved_o(moved),
      .syndrome_o(result.syndrome),
      .nak_psn_o(result.nak_psn),
      .completed_o(result.completed)
  );

  // ---------------------------------------------------------------- completions
  logic [15:0] posted[8:LAST];
  logic [LAST:8] pending;  // writes with immediate landed that were not released
  logic wake, walker_idle;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      posted[8]  <= receives_7.posted;
      pending[8] <= receives_7.landed != early[7].released;
      for (int s = 9; s <= LAST; s++) posted[s] <= posted[s-1];
      pending[LAST:9] <= pending[LAST-1:8];
    end
  end

  assign wake = moved && pending[LAST] || failed &&
      (result.state == QP_READY || op_14 == DELIVERY_POST);
  assign quiet = walker_idle && valid == '0;

  mrc_delivery_walker #(
      .QPS(QPS),
      .PLACE_W(PLACE_W)
  ) u_walker (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .qp_12_i(qp_12),
      .valid_i(valid[LAST]),
      .silent_i(silent[LAST]),
      .wake_i(wake),
      .qp_i(qp_14),
      .failed_i(failed),
      .completed_i(result.completed[MSN_W-1:0]),
      .posted_i(posted[LAST]),
      .wipe_i(wipe),
      .wipe_silent_i(wipe_silent),
      .wipe_qp_i(wipe_qp),
      .walk_en_o(walk_en),
      .walk_qp_o(walk_qp),
      .walk_place_o(walk_place),
      .walk_full_i(walk_full),
      .walk_tag_i(walk_tag),
      .walk_msn_i(walk_msn),
      .walk_immediate_i(walk_immediate),
      .walk_length_i(walk_length),
      .release_we_o(release_we),
      .release_qp_o(release_qp),
      .release_number_o(release_number),
      .release_closed_o(release_closed),
      .idle_o(walker_idle),
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o
  );

  // ---------------------------------------------------------------- output
  logic leaves;
  logic unused_meta_ready, unused_meta_valid;
  logic [$clog2(UNDER_WAY + 1)-1:0] unused_meta_count;
  logic [META_W-1:0] meta;

  assign leaves = valid[LAST] && !silent[LAST];

  mrc_fifo #(
      .WIDTH(META_W),
      .DEPTH(UNDER_WAY)
  ) u_meta (
      .clk_i,
      .rst_ni,
      .valid_i(ev_valid_i && ev_ready_o),
      .ready_o(unused_meta_ready),
      .data_i (ev_meta_i),
      .valid_o(unused_meta_valid),
      .ready_i(leaves && advance),
      .data_o (meta),
      .count_o(unused_meta_count)
  );

  mrc_skid_buffer #(
      .WIDTH($bits(delivery_result_t) + META_W)
  ) u_output (
      .clk_i,
      .rst_ni,
      .valid_i(leaves),
      .ready_o(advance),
      .data_i ({result, meta}),
      .valid_o(res_valid_o),
      .ready_i(res_ready_i),
      .data_o ({res_o, res_meta_o})
  );

  // ---------------------------------------------------------------- stream rules and invariants
`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH($bits(delivery_event_t) + META_W)
  ) u_ev_rule (
      .clk_i,
      .rst_ni,
      .valid_i(ev_valid_i),
      .ready_i(ev_ready_o),
      .data_i ({ev_i, ev_meta_i})
  );

  mrc_stream_assert #(
      .WIDTH($bits(delivery_result_t) + META_W)
  ) u_res_rule (
      .clk_i,
      .rst_ni,
      .valid_i(res_valid_o),
      .ready_i(res_ready_i),
      .data_i ({res_o, res_meta_o})
  );

  mrc_stream_assert #(
      .WIDTH($bits(cqe_t))
  ) u_cqe_rule (
      .clk_i,
      .rst_ni,
      .valid_i(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_i (cqe_o)
  );
`endif

endmodule

`default_nettype wire
