// Proof of mrc_verdict_queues for one port, any of them, whatever the others do: a verdict for a
// descriptor that was accepted always finds room, places are all used and never more than there are,
// and a descriptor may be accepted exactly when a place was free a clock before, until one is.

`default_nettype none

module mrc_verdict_queues_proof
  import mrc_rx_pkg::*;
#(
    parameter  int unsigned DEPTH   = 3,
    localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
    input wire logic                     clk_i,
    input wire logic                     rst_ni,
    input wire logic        [ PORTS-1:0] accepted_i,
    input wire logic                     valid_i,
    input wire logic        [PORT_W-1:0] port_i,
    input wire rx_verdict_t              verdict_i,
    input wire logic        [ PORTS-1:0] verdict_ready_i,
    // Chosen once
    input wire logic        [PORT_W-1:0] watched_i
);

  logic [PORTS-1:0] allow, verdict_valid;
  rx_verdict_t [PORTS-1:0] verdict;

  mrc_verdict_queues #(
      .DEPTH(DEPTH)
  ) dut (
      .clk_i,
      .rst_ni,
      .accepted_i,
      .allow_o(allow),
      .valid_i,
      .port_i,
      .verdict_i,
      .verdict_valid_o(verdict_valid),
      .verdict_ready_i,
      .verdict_o(verdict)
  );

  // Of each port, what the watched one is picked from.
  logic [PORTS-1:0] room, counted_late;
  logic [PORTS-1:0][COUNT_W-1:0] taken, inside_count;
  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    assign room[p] = dut.gen_port[p].room;
    assign counted_late[p] = dut.gen_port[p].accepted_q;
    assign taken[p] = dut.gen_port[p].taken_q;
    assign inside_count[p] = dut.gen_port[p].u_fifo.count_o;
  end

  logic started_q;  // a reset has been
  logic chosen_q, fresh_q, accepts, told, takes, took_q, waiting_q, allowed_q;
  logic [PORT_W-1:0] watched_q;
  logic [COUNT_W-1:0] owed_q, queued_q;  // descriptors without a verdict; verdicts not taken
  logic [COUNT_W:0] places;
  rx_verdict_t verdict_q;

  initial begin
    started_q = 1'b0;
    chosen_q  = 1'b0;
  end

  assign accepts = accepted_i[watched_i];
  assign told = valid_i && port_i == watched_i;
  assign takes = verdict_valid[watched_i] && verdict_ready_i[watched_i];
  assign places = (COUNT_W + 1)'(owed_q) + (COUNT_W + 1)'(queued_q);

  always_ff @(posedge clk_i) begin
    started_q <= started_q || !rst_ni;
    chosen_q  <= 1'b1;
    watched_q <= watched_i;
    fresh_q   <= !rst_ni;
    took_q    <= rst_ni && takes;
    allowed_q <= rst_ni && allow[watched_i] && !accepts;
    waiting_q <= rst_ni && verdict_valid[watched_i] && !takes;
    verdict_q <= verdict[watched_i];
    if (!rst_ni) begin
      owed_q   <= '0;
      queued_q <= '0;
    end else begin
      owed_q   <= owed_q + COUNT_W'(accepts) - COUNT_W'(told);
      queued_q <= queued_q + COUNT_W'(told) - COUNT_W'(takes);
    end
  end

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (!chosen_q || watched_i == watched_q);
    AcceptedWhenAllowed : assume (!accepts || allow[watched_i]);
    ToldWhenAccepted : assume (!told || owed_q != '0);
    if (started_q && rst_ni) begin
      AlwaysRoom : assert (!told || room[watched_i]);
      NeverTooMany : assert (places <= (COUNT_W + 1)'(DEPTH));
      AllowedByPlaces :
      assert (allow[watched_i] ==
              (!fresh_q && places + (COUNT_W + 1)'(took_q) < (COUNT_W + 1)'(DEPTH)));
      UntilOneIs : assert (!allowed_q || allow[watched_i]);
      NeverFromNothing : assert (!verdict_valid[watched_i] || queued_q != '0);
      Stable : assert (!waiting_q || verdict_valid[watched_i]);
      // What makes each clock follow from the one before.
      Counted : assert (inside_count[watched_i] == queued_q);
      Places :
      assert ((COUNT_W + 1)'(taken[watched_i]) + (COUNT_W + 1)'(counted_late[watched_i]) == places);
      Room : assert (room[watched_i] == (queued_q != COUNT_W'(DEPTH) && !fresh_q));
      Fresh : assert (!fresh_q || (places == '0 && !took_q && !allowed_q));
    end
  end

endmodule

`default_nettype wire
