// Quiet timers of all QPs: a deadline each, in RAM, and a scanner that visits one QP a clock.
//
// A scan period is max(QPS, 64) clocks. A QP whose deadline has come when it is visited is offered as an
// event, and offered again at the next visit unless the event has stopped or moved the timer by then;
// so whoever takes it looks again whether the deadline has come. Latency: an offer is made 3 clocks
// after a QP is visited; taken at once, it is taken between the deadline and one scan period later.
// An offer that waits stops the scanner. After reset the timers are stopped, one a clock.

`default_nettype none

module mrc_quiet_timer
  import mrc_rx_pkg::*;
#(
    parameter  int unsigned QPS  = 64,
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous; we_i low for a scan period behind it

    input wire logic [TIME_W-1:0] now_i,

    input wire logic              we_i,       // a timer starts, moves or stops
    input wire logic [  QP_W-1:0] qp_i,
    input wire logic              running_i,
    input wire logic [TIME_W-1:0] deadline_i,

    output logic                    offer_valid_o,
    input  wire logic               offer_ready_i,
    output logic      [QP_ID_W-1:0] offer_qp_o
);

  localparam int unsigned SLOTS = QPS > 64 ? QPS : 64;
  localparam int unsigned SLOT_W = $clog2(SLOTS);
  localparam logic [SLOT_W-1:0] LAST_SLOT = SLOT_W'(SLOTS - 1);

  logic advance, clearing_q;
  logic [SLOT_W-1:0] slot_q;
  logic visited_1_q, visited_2_q, running_1, running_2_q;
  logic [QP_W-1:0] qp_1_q, qp_2_q, qp_3_q;
  logic [TIME_W-1:0] deadline_1, deadline_2_q, left_2;

  assign advance = !offer_valid_o || offer_ready_i;

  mrc_ram #(
      .WIDTH(1 + TIME_W),
      .DEPTH(QPS)
  ) u_deadlines (
      .clk_i,
      .en_i(1'b1),
      // Who waits is read again: the row may have changed meanwhile.
      .raddr_i(advance ? slot_q[QP_W-1:0] : qp_1_q),
      .rdata_o({running_1, deadline_1}),
      .we_i(we_i || clearing_q),
      .waddr_i(clearing_q ? slot_q[QP_W-1:0] : qp_i),
      .wdata_i({running_i && !clearing_q, deadline_i})
  );

  assign left_2 = deadline_2_q - now_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q <= 1'b1;
      slot_q <= '0;
      visited_1_q <= 1'b0;
      visited_2_q <= 1'b0;
      offer_valid_o <= 1'b0;
    end else begin
      if (slot_q == LAST_SLOT) clearing_q <= 1'b0;
      if (advance) begin
        slot_q <= slot_q == LAST_SLOT ? '0 : slot_q + 1'b1;
        visited_1_q <= !clearing_q && 32'(slot_q) < QPS;
        visited_2_q <= visited_1_q;
        // At or behind the deadline.
        offer_valid_o <= visited_2_q && running_2_q && (left_2[TIME_W-1] || left_2 == '0);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      qp_1_q <= slot_q[QP_W-1:0];
      running_2_q <= running_1;
      deadline_2_q <= deadline_1;
      qp_2_q <= qp_1_q;
      qp_3_q <= qp_2_q;
    end
  end

  assign offer_qp_o = QP_ID_W'(qp_3_q);

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(QP_ID_W)
  ) u_offer_rule (
      .clk_i,
      .rst_ni,
      .valid_i(offer_valid_o),
      .ready_i(offer_ready_i),
      .data_i (offer_qp_o)
  );
`endif

endmodule

`default_nettype wire
