// mrc_responder for a Python bench: what changes in every clock is one vector in and one out; what is wide is
// written and read only when it counts. Lines without an offer carry other bits in every clock.
// cocotb_tests/responder_bench.py has the same positions.

`default_nettype none

module mrc_responder_bench
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1,
    parameter int unsigned REPLY_DEPTH = 64
) (
    input wire logic clk,
    input wire logic rst_n,

    input wire logic [127:0] address,
    input wire logic [21:0] drive,
    input wire rx_desc_t desc_0,
    input wire rx_desc_t desc_1,
    input wire rx_desc_t desc_2,
    input wire rx_desc_t desc_3,
    input wire rx_desc_t desc_4,
    input wire rx_desc_t desc_5,
    input wire rx_desc_t desc_6,
    input wire rx_desc_t desc_7,
    input wire command_t command,

    output logic        [      75:0]       sense,
    output reply_t                         reply,
    output query_t                         query,
    output cqe_t                           cqe,
    output rx_desc_t                       requester,
    output rx_desc_t                       endpoint,
    output logic        [PORT_W-1:0]       endpoint_port,
    output rx_verdict_t [ PORTS-1:0]       verdict,
    output logic        [      11:0][31:0] counts
);

  logic [PORTS-1:0] desc_valid, desc_ready, verdict_valid, verdict_ready;
  logic command_valid, command_ready, reply_valid, reply_ready, query_valid, query_ready;
  logic cqe_valid, cqe_ready, requester_valid, requester_ready, endpoint_valid, endpoint_ready;
  logic tap_valid;
  tap_t tap;
  responder_pulses_t pulses;
  rx_desc_t [PORTS-1:0] offered, desc;
  command_t offered_command;
  logic [31:0] junk;

  assign {desc_valid, command_valid, reply_ready, query_ready, cqe_ready, requester_ready,
          endpoint_ready, verdict_ready} = drive;
  assign offered = {desc_7, desc_6, desc_5, desc_4, desc_3, desc_2, desc_1, desc_0};
  assign sense = {
    tap_valid,
    tap,
    reply_valid,
    query_valid,
    cqe_valid,
    requester_valid,
    endpoint_valid,
    command_ready,
    desc_ready,
    verdict_valid
  };

  always_ff @(posedge clk) junk <= $urandom;

  always_comb begin
    for (int p = 0; p < PORTS; p++) begin
      desc[p] = desc_valid[p] ? offered[p] : $bits(rx_desc_t)'({30{junk}} >> p);
    end
    offered_command = command_valid ? command : $bits(command_t)'({16{junk}});
  end

  mrc_responder #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL),
      .REPLY_DEPTH(REPLY_DEPTH)
  ) u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .address_i(address),
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_i(desc),
      .verdict_valid_o(verdict_valid),
      .verdict_ready_i(verdict_ready),
      .verdict_o(verdict),
      .command_valid_i(command_valid),
      .command_ready_o(command_ready),
      .command_i(offered_command),
      .query_valid_o(query_valid),
      .query_ready_i(query_ready),
      .query_o(query),
      .cqe_valid_o(cqe_valid),
      .cqe_ready_i(cqe_ready),
      .cqe_o(cqe),
      .reply_valid_o(reply_valid),
      .reply_ready_i(reply_ready),
      .reply_o(reply),
      .requester_valid_o(requester_valid),
      .requester_ready_i(requester_ready),
      .requester_o(requester),
      .endpoint_valid_o(endpoint_valid),
      .endpoint_ready_i(endpoint_ready),
      .endpoint_port_o(endpoint_port),
      .endpoint_o(endpoint),
      .tap_valid_o(tap_valid),
      .tap_o(tap),
      .pulses_o(pulses)
  );

  always_ff @(posedge clk) begin
    for (int n = 0; n < 12; n++) begin
      counts[n] <= rst_n ? counts[n] + 32'(pulses[n]) : '0;
    end
  end

endmodule

`default_nettype wire
