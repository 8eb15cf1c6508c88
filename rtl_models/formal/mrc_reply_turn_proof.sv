// Proof of mrc_reply_turn for one QP, any of them, whatever other QPs do meanwhile: an answer takes a
// usable plane, none that is usable stands between the turn and it, the turn goes on behind it, and a
// plane that stays usable, any of them, sees at most PORTS - 1 answers on others before its own.

`default_nettype none

module mrc_reply_turn_proof
  import mrc_rx_pkg::*;
#(
    parameter  int unsigned QPS  = 4,
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic              clk_i,
    input wire logic              rst_ni,
    input wire logic [  QP_W-1:0] ahead_qp_i,
    input wire logic              restart_i,
    input wire logic              take_i,
    input wire logic [ PORTS-1:0] planes_i,
    // Chosen once
    input wire logic [  QP_W-1:0] watched_i,
    input wire logic [PORT_W-1:0] plane_i
);

  logic [QP_W-1:0] qp_1_q, qp_q;
  logic found;
  logic [PORT_W-1:0] port;

  mrc_reply_turn #(
      .QPS(QPS)
  ) dut (
      .clk_i,
      .rst_ni,
      .ahead_qp_i,
      .qp_i(qp_q),
      .restart_i,
      .take_i,
      .planes_i,
      .found_o(found),
      .port_o(port)
  );

  logic [1:0] primed_q;  // addresses have come to the stages
  logic chosen_q, known_q;  // known: the turn began anew since reset
  logic [QP_W-1:0] watched_q;
  logic [PORT_W-1:0]
      turn_q, plane_q, passed_q;  // passed: answers on others while the plane is usable
  logic mine;

  initial begin
    primed_q = '0;
    chosen_q = 1'b0;
    known_q  = 1'b0;
  end

  assign mine = primed_q[1] && qp_q == watched_i;

  always_ff @(posedge clk_i) begin
    primed_q <= {primed_q[0], 1'b1};
    chosen_q <= 1'b1;
    watched_q <= watched_i;
    plane_q <= plane_i;
    qp_1_q <= ahead_qp_i;
    qp_q <= qp_1_q;
    if (!rst_ni) known_q <= 1'b0;
    else if (mine && restart_i) begin
      known_q  <= 1'b1;
      turn_q   <= '0;
      passed_q <= '0;
    end else if (mine && take_i) begin
      if (planes_i != '0) turn_q <= port + 1'b1;
      passed_q <= planes_i[plane_i] && port != plane_i ? passed_q + 1'b1 : '0;
    end
  end

  // How far from the turn on a plane stands.
  function automatic logic [PORT_W-1:0] distance(input logic [PORT_W-1:0] from,
                                                 input logic [PORT_W-1:0] to);
    return to - from;
  endfunction

  logic passed_over;  // a usable plane stands between the turn and the one that is taken
  always_comb begin
    passed_over = 1'b0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (planes_i[p] && distance(turn_q, PORT_W'(p)) < distance(turn_q, port)) passed_over = 1'b1;
    end
  end

  logic [PORT_W-1:0] written, newest;
  assign written = dut.u_turn.u_ram.memory[watched_i];
  assign newest  = dut.we_q && dut.qp_q == watched_i ? dut.next_q : written;

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (!chosen_q || (watched_i == watched_q && plane_i == plane_q));
    NotYet : assume (primed_q == '1 || !(restart_i || take_i));
    if (known_q && rst_ni && mine) begin
      Found : assert (found == (planes_i != '0));
      Usable : assert (!found || planes_i[port]);
      InTurn : assert (!found || !passed_over);
    end
    if (known_q) begin
      Fair :
      assert ((PORT_W + 1)'(passed_q) + (PORT_W + 1)'(distance(
          turn_q, plane_i
      )) < (PORT_W + 1)'(PORTS));
    end
    // What makes each clock follow from the one before.
    Newest : assert (!known_q || newest == turn_q);
    Primed : assert (primed_q inside {2'b00, 2'b01, 2'b11} && (!known_q || primed_q == '1));
    Address : assert (!primed_q[0] || dut.u_turn.address_q == qp_1_q);
    Addresses : assert (!primed_q[1] || dut.u_turn.address_qq == qp_q);
    OnItsWay :
    assert (!primed_q[0] || qp_1_q != watched_i ||
            (dut.u_turn.passed_q ? dut.u_turn.passed_row_q : dut.u_turn.ram_row) == written);
    Registered : assert (!primed_q[1] || qp_q != watched_i || dut.u_turn.row_q == written);
  end

endmodule

`default_nettype wire
