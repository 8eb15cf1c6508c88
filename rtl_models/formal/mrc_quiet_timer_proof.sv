// Proof of mrc_quiet_timer for one QP, any of them, with every other timer free: what is offered has a
// deadline that has come, unless it was written since its row was read; and whose deadline has come is
// offered a scan period later at most, counted in clocks in which no offer waits.
//
// A timer that starts or moves is counted from the second of these clocks behind its writing on.
// Assumed are a clock that counts up, and deadlines less than half the number range in the past.

`default_nettype none

module mrc_quiet_timer_proof
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 4,
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned PERIOD = 64,
    localparam int unsigned SLOT_W = $clog2(PERIOD)
) (
    input wire logic              clk_i,
    input wire logic              rst_ni,
    input wire logic [TIME_W-1:0] now_i,
    input wire logic              we_i,
    input wire logic [  QP_W-1:0] qp_i,
    input wire logic              running_i,
    input wire logic [TIME_W-1:0] deadline_i,
    input wire logic              offer_ready_i,
    // Chosen once
    input wire logic [  QP_W-1:0] watched_i
);

  logic offer_valid;
  logic [QP_ID_W-1:0] offer_qp;

  mrc_quiet_timer #(
      .QPS(QPS)
  ) dut (
      .clk_i,
      .rst_ni,
      .now_i,
      .we_i,
      .qp_i,
      .running_i,
      .deadline_i,
      .offer_valid_o(offer_valid),
      .offer_ready_i,
      .offer_qp_o(offer_qp)
  );

  logic started_q;  // a reset has been
  logic chosen_q, counting_q;
  logic [QP_W-1:0] watched_q;
  logic [TIME_W-1:0] now_q;
  logic [SLOT_W:0] settled_q;  // clocks since reset, up to a period
  logic settled;

  initial begin
    started_q  = 1'b0;
    chosen_q   = 1'b0;
    counting_q = 1'b0;
  end

  assign settled = settled_q == (SLOT_W + 1)'(PERIOD);

  // ---------------------------------------------------------------- an account of its own, of the watched QP
  logic running_q, writes, advance, due, was_due_q, offered, waiting_q;
  logic [TIME_W-1:0] deadline_q, left;
  logic [1:0] quiet_q;  // clocks that count since it was written, up to 2
  logic [SLOT_W:0] late_q;
  logic wrote_1_q, wrote_2_q, wrote_3_q;  // since its row was read that stands in stage 1, 2, 3
  logic [QP_ID_W-1:0] offer_qp_q;

  assign writes = we_i && qp_i == watched_i;
  assign advance = !offer_valid || offer_ready_i;
  assign left = deadline_q - now_i;
  assign due = running_q && (left[TIME_W-1] || left == '0);
  assign offered = offer_valid && offer_qp == QP_ID_W'(watched_i);

  always_ff @(posedge clk_i) begin
    started_q <= started_q || !rst_ni;
    chosen_q <= 1'b1;
    counting_q <= 1'b1;
    watched_q <= watched_i;
    now_q <= now_i;
    was_due_q <= rst_ni && due && !writes;
    waiting_q <= rst_ni && offer_valid && !offer_ready_i;
    offer_qp_q <= offer_qp;
    wrote_1_q <= writes;
    if (advance) begin
      wrote_2_q <= wrote_1_q || writes;
      wrote_3_q <= wrote_2_q || writes;
    end else begin
      wrote_2_q <= wrote_2_q || writes;
      wrote_3_q <= wrote_3_q || writes;
    end
    if (!rst_ni) begin
      settled_q <= '0;
      running_q <= 1'b0;
      quiet_q <= '0;
      late_q <= '0;
    end else begin
      if (!settled) settled_q <= settled_q + 1'b1;
      if (writes) begin
        running_q  <= running_i;
        deadline_q <= deadline_i;
        quiet_q    <= '0;
      end else if (advance && quiet_q != 2'd2) quiet_q <= quiet_q + 1'b1;
      if (writes || !due || quiet_q != 2'd2 || offered) late_q <= '0;
      else if (advance) late_q <= late_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- where the scanner stands
  logic [SLOT_W-1:0] slot_1, slot_2, slot_3, ahead;
  logic [SLOT_W:0] until_offer;
  assign slot_1 = dut.slot_q - SLOT_W'(1);
  assign slot_2 = dut.slot_q - SLOT_W'(2);
  assign slot_3 = dut.slot_q - SLOT_W'(3);
  assign ahead = SLOT_W'(watched_i) - dut.slot_q;
  // Clocks that count until it is offered, 1 to a period: the scanner is 3 ahead of the offer.
  assign until_offer = ahead == SLOT_W'(PERIOD - 3) ? (SLOT_W + 1)'(PERIOD) :
      (SLOT_W + 1)'(SLOT_W'(ahead + SLOT_W'(3)));

  logic [TIME_W:0] row;
  assign row = dut.u_deadlines.memory[watched_i];

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (!chosen_q || watched_i == watched_q);
    ClockCounts : assume (!counting_q || now_i == now_q + 1'b1);
    NoneInTheFirstPeriod : assume (settled || !we_i);
    DeadlinesFit : assume (!was_due_q || due);
    if (started_q && rst_ni) begin
      NeverEarly : assert (!offered || wrote_3_q || due);
      NeverLate : assert (late_q <= (SLOT_W + 1)'(PERIOD));
      NotWhatStopped : assert (!offered || wrote_3_q || running_q);
      Stable : assert (!waiting_q || (offer_valid && offer_qp == offer_qp_q));
      // What makes each clock follow from the one before.
      Clears :
      assert (dut.clearing_q == !settled && (settled || (SLOT_W + 1)'(dut.slot_q) == settled_q));
      Quiet : assert (settled || !(dut.visited_1_q || dut.visited_2_q || offer_valid || running_q));
      Settles : assert (settled_q <= (SLOT_W + 1)'(PERIOD));
      Row :
      assert ((!settled && (SLOT_W + 1)'(watched_i) >= settled_q) ||
              (row[TIME_W] == running_q && (!running_q || row[TIME_W-1:0] == deadline_q)));
      if (settled) begin
        Visits :
        assert (dut.visited_1_q == (32'(slot_1) < QPS) && dut.visited_2_q == (32'(slot_2) < QPS));
        Qps :
        assert ((!dut.visited_1_q || dut.qp_1_q == QP_W'(slot_1)) &&
                (!dut.visited_2_q || dut.qp_2_q == QP_W'(slot_2)) &&
                (!offer_valid || (dut.qp_3_q == QP_W'(slot_3) && 32'(slot_3) < QPS)));
        Stage1 :
        assert (slot_1 != SLOT_W'(watched_i) || wrote_1_q ||
                (dut.running_1 == running_q && (!running_q || dut.deadline_1 == deadline_q)));
        Stage2 :
        assert (slot_2 != SLOT_W'(watched_i) || wrote_2_q ||
                (dut.running_2_q == running_q && (!running_q || dut.deadline_2_q == deadline_q)));
        Written1 : assert (!wrote_1_q || quiet_q == '0);
        Written2 : assert (!(wrote_2_q && slot_2 == SLOT_W'(watched_i)) || quiet_q < 2'd2);
        Late :
        assert (late_q == '0 || (due && quiet_q == 2'd2 &&
                (offered || 32'(late_q) + 32'(until_offer) <= PERIOD)));
      end
    end
  end

endmodule

`default_nettype wire
