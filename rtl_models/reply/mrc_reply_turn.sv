// Which plane a QP's next answer takes: planes take turns, and those that are not usable are passed
// over (docs/rtl.md).
//
// The turn of a QP lies in RAM. An answer's address goes in with its place in the pipeline two clocks
// ahead of the decision, and whatever was decided in the clock before the decision counts.
//
// Latency: qp_i two clocks before the other inputs; port_o and found_o in their clock. Throughput: an
// answer a clock, of one QP too.

`default_nettype none

module mrc_reply_turn
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,
    input  wire logic [  QP_W-1:0] ahead_qp_i,  // what is decided in two clocks
    input  wire logic [  QP_W-1:0] qp_i,
    input  wire logic              restart_i,   // the QP's turn begins anew with port 0
    input  wire logic              take_i,      // an answer takes its plane
    input  wire logic [ PORTS-1:0] planes_i,    // usable ones
    output logic                   found_o,
    output logic      [PORT_W-1:0] port_o
);

  logic [PORT_W-1:0] turn, next_q, next_d, later_port, first_port;
  logic [PORTS-1:0] later;
  logic we_q, later_found;
  logic [QP_W-1:0] qp_q;

  mrc_ram_forward #(
      .WIDTH(PORT_W),
      .DEPTH(QPS)
  ) u_turn (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(ahead_qp_i),
      .rdata_o(turn),
      .we_i(we_q),
      .waddr_i(qp_q),
      .wdata_i(next_q)
  );

  assign later = planes_i & ({PORTS{1'b1}} << turn);

  mrc_find_first #(
      .WIDTH(PORTS)
  ) u_later (
      .bits_i (later),
      .found_o(later_found),
      .index_o(later_port)
  );

  mrc_find_first #(
      .WIDTH(PORTS)
  ) u_first (
      .bits_i (planes_i),
      .found_o,
      .index_o(first_port)
  );

  assign port_o = later_found ? later_port : first_port;
  assign next_d = port_o == PORT_W'(PORTS - 1) ? '0 : port_o + 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else we_q <= restart_i || (take_i && found_o);
  end

  always_ff @(posedge clk_i) begin
    qp_q   <= qp_i;
    next_q <= restart_i ? '0 : next_d;
  end

endmodule

`default_nettype wire
