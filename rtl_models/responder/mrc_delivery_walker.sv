// Makes the receive completions of mrc_delivery: a queue of QPs that have some to make, and a walk over
// the stash of one QP after the other.
//
// A QP is in the queue once at most. Whether it is, is told by two bits a QP, one that turns with each
// entry and one that turns with each exit: each has one writer. The exit turns before the walker reads
// how far the QP is, and an event looks at it after it has written that; so either the walker sees
// what the event brought, or the event sees that its QP must be queued again.
//
// In a walk each number is read ahead and checked on the way: a message that is complete completes
// its receive, and once the QP has failed all other receives are flushed. The walk ends at the first
// number for which there is nothing to say.
//
// Throughput: a completion each clock within a QP; the first one of the next QP comes 8 enabled clocks
// behind the last one of a QP.

`default_nettype none

module mrc_delivery_walker
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned PLACE_W = 8,  // log2 of the places in a QP's stash
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned TAG_W = MSN_W - PLACE_W
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // From the pipeline: the event in stage 12, and in stage 14 what it brought its QP to
    input wire logic [QP_W-1:0] qp_12_i,
    input wire logic valid_i,
    input wire logic silent_i,  // the QP is brought to reset, and is not in the queue
    input wire logic wake_i,  // there may be something to make
    input wire logic [QP_W-1:0] qp_i,
    input wire logic failed_i,
    input wire logic [MSN_W-1:0] completed_i,  // messages
    input wire logic [15:0] posted_i,  // receives

    // A QP is reset, see mrc_delivery_gate
    input wire logic            wipe_i,
    input wire logic            wipe_silent_i,
    input wire logic [QP_W-1:0] wipe_qp_i,

    // The stash
    output logic                    walk_en_o,
    output logic      [   QP_W-1:0] walk_qp_o,
    output logic      [PLACE_W-1:0] walk_place_o,
    input  wire logic               walk_full_i,
    input  wire logic [  TAG_W-1:0] walk_tag_i,
    input  wire logic [  MSN_W-1:0] walk_msn_i,
    input  wire logic [       31:0] walk_immediate_i,
    input  wire logic [       31:0] walk_length_i,

    // All receives below a number are released
    output logic            release_we_o,
    output logic [QP_W-1:0] release_qp_o,
    output logic [    15:0] release_number_o,
    output logic            release_closed_o,

    output logic idle_o,

    output logic      cqe_valid_o,
    input  wire logic cqe_ready_i,
    output cqe_t      cqe_o
);

  // ---------------------------------------------------------------- stages 14 and 15: the queue
  logic entries_14, exits_14, push_15, silent_15, entry_15;
  logic [QP_W-1:0] qp_15;
  logic pop, queue_valid, head_entry;
  logic queue_ready;  // always
  logic [QP_W-1:0] head_qp;
  logic [$clog2(QPS + 1)-1:0] queued;

  mrc_ram_forward #(
      .WIDTH(1),
      .DEPTH(QPS)
  ) u_entries (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_12_i),
      .rdata_o(entries_14),
      .we_i(push_15 || silent_15),
      .waddr_i(qp_15),
      .wdata_i(entry_15)
  );

  mrc_ram_forward #(
      .WIDTH(1),
      .DEPTH(QPS)
  ) u_exits (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_12_i),
      .rdata_o(exits_14),
      .we_i(pop || wipe_i && wipe_silent_i),
      .waddr_i(pop ? head_qp : wipe_qp_i),
      .wdata_i(pop && head_entry)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push_15   <= 1'b0;
      silent_15 <= 1'b0;
    end else if (advance_i) begin
      push_15   <= valid_i && !silent_i && wake_i && entries_14 == exits_14;
      silent_15 <= valid_i && silent_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      qp_15 <= qp_i;
      entry_15 <= !silent_i && !entries_14;
    end
  end

  mrc_fifo #(
      .WIDTH(1 + QP_W),
      .DEPTH(QPS)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push_15 && advance_i),
      .ready_o(queue_ready),
      .data_i ({entry_15, qp_15}),
      .valid_o(queue_valid),
      .ready_i(pop && advance_i),
      .data_o ({head_entry, head_qp}),
      .count_o(queued)
  );

  // ---------------------------------------------------------------- how far each QP is
  typedef struct packed {
    logic             failed;
    logic [MSN_W-1:0] completed;
    logic [15:0]      posted;
  } view_t;

  view_t view_row, view_q;
  logic [15:0] released_row;
  logic [QP_W-1:0] qp_q;

  mrc_ram #(
      .WIDTH($bits(view_t)),
      .DEPTH(QPS)
  ) u_view (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_q),
      .rdata_o(view_row),
      .we_i(valid_i),
      .waddr_i(qp_i),
      .wdata_i({failed_i, completed_i, posted_i})
  );

  mrc_ram #(
      .WIDTH(16),
      .DEPTH(QPS)
  ) u_released (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(qp_q),
      .rdata_o(released_row),
      .we_i(release_we_o || wipe_i),
      .waddr_i(wipe_i ? wipe_qp_i : release_qp_o),
      .wdata_i(wipe_i ? '0 : release_number_o)
  );

  // ---------------------------------------------------------------- a walk
  typedef enum logic [2:0] {
    WALK_IDLE,
    WALK_READ,   // how far the QP is: its address
    WALK_START,  // its row
    WALK_ON
  } walk_e;

  walk_e state_q;
  // A number on its way: its place is read, its row comes, its row is checked, its verdict stands
  logic [3:1] on_q;
  logic [15:0] number_0, number_1, number_2, number_3;
  logic complete_3, posted_3;  // its message is complete; there is a receive
  logic [31:0] immediate_3, length_3;
  logic release_3, end_3, cqe_room;
  logic [MSN_W-1:0] behind_2;

  assign idle_o = state_q == WALK_IDLE && queued == '0;
  assign pop = state_q == WALK_IDLE && queue_valid;
  assign release_3 = on_q[3] && posted_3 && (complete_3 || view_q.failed);
  assign end_3 = on_q[3] && !release_3;

  assign walk_en_o = cqe_room;
  assign walk_qp_o = qp_q;
  assign walk_place_o = number_0[PLACE_W-1:0];
  assign behind_2 = walk_msn_i - view_q.completed;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= WALK_IDLE;
      on_q <= '0;
    end else if (advance_i) begin
      unique case (state_q)
        WALK_READ: state_q <= WALK_START;
        WALK_START: state_q <= WALK_ON;
        WALK_ON: if (end_3 && cqe_room) state_q <= WALK_IDLE;
        default: if (pop) state_q <= WALK_READ;
      endcase
      if (cqe_room) on_q <= end_3 || state_q != WALK_ON ? '0 : {on_q[2:1], 1'b1};
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (pop) qp_q <= head_qp;
      if (state_q == WALK_START) begin
        view_q   <= view_row;
        number_0 <= released_row;
      end
      if (cqe_room && state_q == WALK_ON) begin
        number_0 <= number_0 + 1'b1;
        number_1 <= number_0;
        number_2 <= number_1;
        number_3 <= number_2;
        complete_3 <= walk_full_i && walk_tag_i == number_2[15:PLACE_W] && behind_2[MSN_W-1];
        posted_3 <= number_2 != view_q.posted;
        immediate_3 <= walk_immediate_i;
        length_3 <= walk_length_i;
      end
    end
  end

  assign release_we_o = end_3 && cqe_room;
  assign release_qp_o = qp_q;
  assign release_number_o = number_3;
  assign release_closed_o = view_q.failed;

  // ---------------------------------------------------------------- completions
  cqe_t made;

  always_comb begin
    made = '0;
    made.qp = QP_ID_W'(qp_q);
    made.receive = number_3;
    made.status = CQE_FLUSHED;
    if (complete_3) begin
      made.status = CQE_SUCCESS;
      made.byte_count = length_3;
      made.immediate = immediate_3;
    end
  end

  mrc_skid_buffer #(
      .WIDTH($bits(cqe_t))
  ) u_cqe (
      .clk_i,
      .rst_ni,
      .valid_i(release_3 && advance_i),
      .ready_o(cqe_room),
      .data_i (made),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o (cqe_o)
  );

`ifndef SYNTHESIS
  logic [MSN_W-1:0] msn_3;
  always_ff @(posedge clk_i) begin
    if (advance_i && cqe_room) msn_3 <= walk_msn_i;
  end

  mrc_delivery_assert #(
      .QPS(QPS)
  ) u_invariants (
      .clk_i,
      .rst_ni,
      .advance_i,
      .valid_i,
      .qp_i,
      .failed_i,
      .completed_i,
      .release_i(release_3 && cqe_room),
      .success_i(complete_3),
      .release_qp_i(qp_q),
      .number_i(number_3),
      .msn_i(msn_3),
      .end_i(end_3 && cqe_room),
      .wipe_i,
      .wipe_qp_i
  );

  // It has a place for every QP, and each is in it once.
  QueueHasRoom :
  assert property (@(posedge clk_i) disable iff (!rst_ni) push_15 |-> queue_ready);
`endif

endmodule

`default_nettype wire
