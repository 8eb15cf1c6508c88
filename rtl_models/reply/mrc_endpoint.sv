// Endpoint operations: answers EV probes and port status updates by the way they came, and tells
// software what peers say of their ports (mrc-facts.md 1.10, 2.7).
//
// Nothing is asked from here, so every response is one to no request. A port status whose notice finds
// no place gets no answer: the peer repeats it until it has one.
//
// Latency: 3 clocks from a descriptor to its answer or its drop, as long as no answer waits; a notice
// comes 2 clocks after it was put aside, 4 in all. Throughput: a descriptor each clock. NOTICES notices
// wait for software and stop nothing.

`default_nettype none

module mrc_endpoint
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    // Port status updates that wait for software.
    parameter int unsigned NOTICES = 16
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // Static registers
    // verilator lint_off UNUSEDSIGNAL
    input wire reply_config_t             config_i,
    input wire port_config_t  [PORTS-1:0] port_config_i,
    // verilator lint_on UNUSEDSIGNAL

    // Endpoint requests and responses, and the port at which each arrived
    input  wire logic                  desc_valid_i,
    output logic                       desc_ready_o,
    input  wire logic     [PORT_W-1:0] desc_port_i,
    input  wire rx_desc_t              desc_i,

    // Answers, for mrc_reply
    output logic      reply_valid_o,
    input  wire logic reply_ready_i,
    output reply_t    reply_o,

    // What peers say of their ports
    output logic         notice_valid_o,
    input  wire logic    notice_ready_i,
    output port_status_t notice_o,

    // Pulse for a counter: an operation without effect
    output logic           drop_o,
    output endpoint_drop_e drop_cause_o
);

  // What is needed of a descriptor.
  typedef struct packed {
    logic                   response;
    logic [15:0]            request_id;
    logic [PORT_W-1:0]      port;
    logic [1:0]             op;
    logic [31:0]            mask;
    logic [TIMESTAMP_W-1:0] stamp;
    logic [127:0]           peer;
    logic [EV_W-1:0]        ev;
    logic                   encapsulated;
    logic [127:0]           peer_source;
  } request_t;

  logic advance;  // the pipeline moves as one; only an answer that waits stops it

  // ---------------------------------------------------------------- clock 1: what it says
  logic [2:1] valid_q;
  request_t request_d, request_1_q, request_2_q;
  // verilator lint_off UNUSEDSIGNAL
  erth_t erth;
  // verilator lint_on UNUSEDSIGNAL
  logic [127:0] dst_1_q;
  logic ipv6_1_q;
  logic [QPN_W-1:0] dest_qp_1_q;

  assign erth = desc_i.body[BODY_W-1-:$bits(erth_t)];
  assign request_d = '{
          response: desc_i.opcode == OPCODE_ENDPOINT_RESPONSE,
          request_id: desc_i.psn[15:0],
          port: desc_port_i,
          op: erth.op,
          mask: erth.port_status_mask,
          stamp: erth.tx_timestamp,
          peer: desc_i.src,
          ev: desc_i.ev,
          encapsulated: desc_i.encapsulated,
          peer_source: desc_i.outer_src
      };
  assign desc_ready_o = advance;

  // ---------------------------------------------------------------- clock 2: is it ours, and the way back
  logic wrong_address_2_q, unknown_qp_2_q;
  logic [127:0] own_source_2_q, path_2;
  logic way_2;

  mrc_route_back u_route_back (
      .own_source_i(own_source_2_q),
      .peer_source_i(request_2_q.peer_source),
      .ev_i(request_2_q.ev),
      .found_o(way_2),
      .path_o(path_2)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[1], desc_valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      request_1_q <= request_d;
      dst_1_q <= desc_i.dst;
      ipv6_1_q <= desc_i.ipv6;
      dest_qp_1_q <= desc_i.dest_qp;

      request_2_q <= request_1_q;
      wrong_address_2_q <= !ipv6_1_q || dst_1_q != config_i.address;
      unknown_qp_2_q <= dest_qp_1_q != ENDPOINT_QP;
      own_source_2_q <= port_config_i[request_1_q.port].outer_source;
    end
  end

  // ---------------------------------------------------------------- what becomes of it
  logic ours, is_update, notice_ready, drop;
  endpoint_drop_e cause;
  endpoint_answer_t answer;
  reply_t reply;
  port_status_t notice;

  assign ours = !wrong_address_2_q && !unknown_qp_2_q && !request_2_q.response;
  assign is_update = ours && request_2_q.op == ENDPOINT_OP_PORT_STATUS_UPDATE;

  always_comb begin
    drop = 1'b1;
    if (wrong_address_2_q) cause = ENDPOINT_WRONG_ADDRESS;
    else if (unknown_qp_2_q) cause = ENDPOINT_UNKNOWN_QP;
    else if (request_2_q.response) cause = ENDPOINT_NO_REQUEST;
    else if (!(request_2_q.op inside {ENDPOINT_OP_PORT_STATUS_UPDATE, ENDPOINT_OP_EV_PROBE}))
      cause = ENDPOINT_OPERATION;
    else if (is_update && !notice_ready) cause = ENDPOINT_NOTICE_OVERFLOW;
    else begin
      cause = ENDPOINT_NO_WAY_BACK;
      drop  = request_2_q.encapsulated && !way_2;
    end
  end

  assign answer = '{
          op: request_2_q.op,
          stamp: request_2_q.stamp,
          peer: request_2_q.peer,
          ev: request_2_q.ev,
          encapsulated: request_2_q.encapsulated,
          path: path_2
      };
  assign reply = '{
          kind: REPLY_ENDPOINT,
          psn: PSN_W'(request_2_q.request_id),
          port: request_2_q.port,
          body: COMMAND_DATA_W'(answer),
          default: '0
      };
  assign notice = '{
          peer: request_2_q.peer,
          request_id: request_2_q.request_id,
          mask: request_2_q.mask
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) drop_o <= 1'b0;
    else drop_o <= valid_q[2] && advance && drop;
  end

  always_ff @(posedge clk_i) drop_cause_o <= cause;

  mrc_skid_buffer #(
      .WIDTH($bits(reply_t))
  ) u_reply (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[2] && !drop),
      .ready_o(advance),
      .data_i (reply),
      .valid_o(reply_valid_o),
      .ready_i(reply_ready_i),
      .data_o (reply_o)
  );

  // Known of the peer's ports even where there is no way back to it.
  // verilator lint_off UNUSEDSIGNAL
  logic [$clog2(NOTICES+1)-1:0] notices;
  // verilator lint_on UNUSEDSIGNAL

  mrc_fifo #(
      .WIDTH($bits(port_status_t)),
      .DEPTH(NOTICES)
  ) u_notices (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[2] && is_update && advance),
      .ready_o(notice_ready),
      .data_i (notice),
      .valid_o(notice_valid_o),
      .ready_i(notice_ready_i),
      .data_o (notice_o),
      .count_o(notices)
  );

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(PORT_W + $bits(rx_desc_t))
  ) u_desc_rule (
      .clk_i,
      .rst_ni,
      .valid_i(desc_valid_i),
      .ready_i(desc_ready_o),
      .data_i ({desc_port_i, desc_i})
  );

  mrc_stream_assert #(
      .WIDTH($bits(reply_t))
  ) u_reply_rule (
      .clk_i,
      .rst_ni,
      .valid_i(reply_valid_o),
      .ready_i(reply_ready_i),
      .data_i (reply_o)
  );

  OnlyEndpointOperations :
  assert property (@(posedge clk_i) disable iff (!rst_ni) desc_valid_i |->
      desc_i.opcode inside {OPCODE_ENDPOINT_REQUEST, OPCODE_ENDPOINT_RESPONSE})
  else $error("%m: no endpoint operation");
`endif

endmodule

`default_nettype wire
