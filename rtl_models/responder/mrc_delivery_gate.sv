// Stages 0 to 2 of mrc_delivery: what must wait before it goes on, and how far the completions of its
// QP have been made.
//
// The walker says of each QP how many receives it has released; that row is read here, and an event
// on its way takes over what is written meanwhile. After reset a DELIVERY_RESET of every QP comes from
// here that nobody sees.
//
// Latency: 3 enabled clocks to stage 3. Throughput: an event each clock while none waits.

`default_nettype none

module mrc_delivery_gate
  import mrc_pkg::*;
  import mrc_delivery_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    parameter int unsigned PLACE_W = 8,  // log2 of the places in a QP's stash
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // Event in stage 0
    input  wire logic            valid_i,
    output logic                 ready_o,
    input  wire delivery_event_t event_i,

    // Nothing is under way from stage 3 on, and no completion is to be made
    input wire logic quiet_i,
    input wire logic clearing_i, // a stash is being cleared

    // The walker has released a QP's receives below a number; `closed`: the QP failed before
    input wire logic            release_we_i,
    input wire logic [QP_W-1:0] release_qp_i,
    input wire logic [    15:0] release_number_i,
    input wire logic            release_closed_i,

    // A QP is reset in this clock: nothing of it is released. `silent`: after reset
    output logic            wipe_o,
    output logic            wipe_silent_o,
    output logic [QP_W-1:0] wipe_qp_o,

    // Event in stage 3
    output logic                   valid_o,
    output logic                   silent_o,
    output delivery_event_t        event_o,
    output logic            [15:0] released_o,
    output logic            [15:0] gap_o        // rqmsn - released
);

  typedef struct packed {
    logic        closed;
    logic [15:0] released;
  } row_t;

  // ---------------------------------------------------------------- after reset: every QP
  logic sweeping_q, valid_0;
  logic [QP_W-1:0] sweep_qp_q;
  delivery_event_t event_0;

  always_comb begin
    event_0 = event_i;
    if (sweeping_q) begin
      event_0.op = DELIVERY_RESET;
      event_0.qp = 16'(sweep_qp_q);
    end
  end
  assign valid_0 = valid_i || sweeping_q;

  // ---------------------------------------------------------------- stages 0 to 2
  logic hold_2, move;
  logic valid_1, valid_2, silent_1, silent_2;
  delivery_event_t event_1, event_2;
  logic reset_2, ready_2, stash_2;  // which of those that may wait it is
  logic passed_q;
  row_t passed_row_q, ram_row, row_1, row_2, write_row;
  logic write;
  logic [QP_W-1:0] write_qp, qp_0, qp_1, qp_2;

  assign move = advance_i && !hold_2;
  assign ready_o = move && !sweeping_q;

  assign qp_0 = event_0.qp[QP_W-1:0];
  assign qp_1 = event_1.qp[QP_W-1:0];
  assign qp_2 = event_2.qp[QP_W-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sweeping_q <= 1'b1;
      sweep_qp_q <= '0;
      valid_1 <= 1'b0;
      valid_2 <= 1'b0;
      valid_o <= 1'b0;
    end else if (advance_i) begin
      valid_o <= valid_2 && !hold_2;
      if (!hold_2) begin
        valid_1 <= valid_0;
        valid_2 <= valid_1;
        sweep_qp_q <= sweep_qp_q + 1'b1;
        if (sweep_qp_q == QP_W'(QPS - 1)) sweeping_q <= 1'b0;
      end
    end
  end

  assign wipe_o = valid_2 && reset_2 && move;
  assign wipe_silent_o = silent_2;
  assign wipe_qp_o = qp_2;
  assign write = release_we_i || wipe_o;  // never both: a reset waits for it
  assign write_qp = wipe_o ? qp_2 : release_qp_i;
  assign write_row = wipe_o ? '0 : {release_closed_i, release_number_i};

  mrc_ram #(
      .WIDTH($bits(row_t)),
      .DEPTH(QPS)
  ) u_released (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(hold_2 ? qp_1 : qp_0),
      .rdata_o(ram_row),
      .we_i(write),
      .waddr_i(write_qp),
      .wdata_i(write_row)
  );

  always_comb begin
    row_1 = passed_q ? passed_row_q : ram_row;
    if (write && write_qp == qp_1) row_1 = write_row;
  end

  logic [15:0] gap_2;
  logic stash_1;
  assign gap_2 = event_2.rqmsn - row_2.released;
  assign stash_1 = event_1.op == DELIVERY_PACKET && event_1.is_new && event_1.recorded &&
      event_1.immediate_valid;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      passed_q <= write && write_qp == (hold_2 ? qp_1 : qp_0);
      passed_row_q <= write_row;
      if (!hold_2) begin
        event_1 <= event_0;
        silent_1 <= sweeping_q;
        event_2 <= event_1;
        silent_2 <= silent_1;
        row_2 <= row_1;
        reset_2 <= event_1.op == DELIVERY_RESET;
        ready_2 <= event_1.op == DELIVERY_READY;
        stash_2 <= stash_1;
      end else if (write && write_qp == qp_2) begin
        row_2 <= write_row;
      end
      silent_o <= silent_2;
      event_o <= event_2;
      released_o <= row_2.released;
      gap_o <= gap_2;
    end
  end

  // Its place in the stash may hold an immediate that is complete and not released. When all are
  // released, a number that far ahead is one too many, and overwrites nothing that is asked for.
  logic unreleased_2;
  assign unreleased_2 = stash_2 && !row_2.closed && gap_2[15:PLACE_W] != '0 && !quiet_i;

  assign hold_2 = valid_2 && !silent_2 &&
      (unreleased_2 || reset_2 && (!quiet_i || clearing_i) || ready_2 && clearing_i);

endmodule

`default_nettype wire
