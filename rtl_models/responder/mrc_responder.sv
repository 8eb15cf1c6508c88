// The responder engine, shared by all ports: takes descriptors of frames, tracks PSNs, checks and
// places payload, completes messages, and says what is to be answered (pymodel/nic/responder.py is
// its golden model). docs/rtl.md draws it.

`default_nettype none

module mrc_responder
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs, numbered from 0; QPN = number
    // Largest window in PSNs, a power of two from 128 to 4096; an MPR beyond it is cut to it
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1,  // clocks between two events of one QP, 1 or 2
    parameter int unsigned REGIONS = 64,  // memory regions
    parameter int unsigned WIMM = 128,  // most writes with immediate in flight
    parameter int unsigned REPLY_DEPTH = 64,  // replies that may wait
    parameter int unsigned VERDICT_DEPTH = 64  // verdicts of one port that may wait
) (
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous

    input wire logic [127:0] address_i,  // inner address of the device; static

    // Frames, per port; and what becomes of their payload, one for each descriptor with payload
    input  wire logic     [PORTS-1:0] desc_valid_i,
    output logic          [PORTS-1:0] desc_ready_o,
    input  wire rx_desc_t [PORTS-1:0] desc_i,
    output logic          [PORTS-1:0] verdict_valid_o,
    input  wire logic     [PORTS-1:0] verdict_ready_i,
    output rx_verdict_t   [PORTS-1:0] verdict_o,

    // Software
    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,
    output logic          query_valid_o,
    input  wire logic     query_ready_i,
    output query_t        query_o,
    output logic          cqe_valid_o,
    input  wire logic     cqe_ready_i,
    output cqe_t          cqe_o,

    // To be answered
    output logic      reply_valid_o,
    input  wire logic reply_ready_i,
    output reply_t    reply_o,

    // SACK, NACK and ACK for QPs that are ready, for their requesters
    output logic      requester_valid_o,
    input  wire logic requester_ready_i,
    output rx_desc_t  requester_o,

    // Endpoint requests and responses, with the port that they came by
    output logic                   endpoint_valid_o,
    input  wire logic              endpoint_ready_i,
    output logic      [PORT_W-1:0] endpoint_port_o,
    output rx_desc_t               endpoint_o,

    // Every event in the order of acceptance, one clock after it; and what is counted
    output logic              tap_valid_o,
    output tap_t              tap_o,
    output responder_pulses_t pulses_o
);

  import responder_pkg::*;

  logic   event_valid;
  event_t accepted;

  mrc_event_arbiter u_arbiter (
      .clk_i,
      .rst_ni,
      .desc_valid_i,
      .desc_ready_o,
      .desc_i,
      .desc_allow_i('1),
      .timer_valid_i(1'b0),
      .timer_ready_o(),
      .timer_qp_i('0),
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .event_valid_o(event_valid),
      .event_ready_i(1'b0),
      .event_o(accepted),
      .tap_valid_o,
      .tap_o
  );

  assign {verdict_valid_o, verdict_o, query_valid_o, query_o, cqe_valid_o, cqe_o} = '0;
  assign {reply_valid_o, reply_o, requester_valid_o, requester_o, pulses_o} = '0;
  assign {endpoint_valid_o, endpoint_port_o, endpoint_o} = '0;

endmodule

`default_nettype wire
