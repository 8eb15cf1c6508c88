// Answers become frames: replies of the responder engine and of the endpoint, in the order in which
// they are accepted, leave as SACK, NACK, transport ACK and endpoint response on eight ports
// (mrc-facts.md 1.1, 1.7 to 1.11).
//
// A QP's answers take turns over its usable planes and the EV that REPLY_ROUTE last gave for the plane;
// an endpoint response leaves by the port and the path that it names. Routes and configurations take
// effect between the replies before and behind them. REPLY_CONFIG begins a QP's turn anew with port 0;
// a QP must have had it, and a route for every port of its replies' `planes`.
//
// Latency: 11 clocks from the clock in which a reply is accepted to the first beat of its frame, when
// nothing waits before it at its port. Throughput: a reply each clock. A port sends a frame of 122 to
// 128 bytes in 2 clocks, a longer one in 3, so eight ports together send 2.66 frames a clock or more.
// Queues: FRAMES frames wait at each port. When a port's queue, with what is under way to it, holds more
// than FRAMES - 6, no reply is accepted until it has sent one. A run of (3 * (FRAMES - 6) - 10) / 2
// replies that all take one port, one a clock, does not get there: that many QPs may have their turns
// in step. A port that stands still stops all answers, so a MAC without link must go on taking frames.

`default_nettype none

module mrc_reply
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    // Queue pairs. More of them cost memory and address bits, no other logic.
    parameter int unsigned QPS = 64,
    // Frames that wait at each port.
    parameter int unsigned FRAMES = 64
) (
    input wire logic clk_i,
    input wire logic rst_ni,  // synchronous; frames under way are lost, QPs must be configured anew

    // Static registers: they change only while there is no reply.
    input wire reply_config_t             config_i,
    input wire port_config_t  [PORTS-1:0] port_config_i,

    // Of the engine
    input  wire logic   engine_valid_i,
    output logic        engine_ready_o,
    input  wire reply_t engine_i,
    // Of mrc_endpoint
    input  wire logic   endpoint_valid_i,
    output logic        endpoint_ready_o,
    input  wire reply_t endpoint_i,

    // Frames, AXI4-Stream: the frame's first byte in lane 0
    output logic      [PORTS-1:0]                m_axis_tvalid_o,
    input  wire logic [PORTS-1:0]                m_axis_tready_i,
    output logic      [PORTS-1:0][    BUS_W-1:0] m_axis_tdata_o,
    output logic      [PORTS-1:0][BUS_BYTES-1:0] m_axis_tkeep_o,
    output logic      [PORTS-1:0]                m_axis_tlast_o,

    // Pulses for counters
    output logic             no_way_back_o,  // an answer without a usable plane is dropped
    output logic [PORTS-1:0] sent_o          // a frame has left
);

  import mrc_reply_pkg::*;

  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned REPLY_W = $bits(reply_t);

  if (QPS < 2) begin : gen_bad_qps
    $fatal(1, "mrc_reply: QPS is %0d, must be 2 or more", QPS);
  end

  // ---------------------------------------------------------------- clock 0: one reply is accepted
  logic [PORTS-1:0] room;
  logic has_room, offered, accept, of_endpoint;
  logic [1:0] grant;

  assign has_room = &room;
  assign accept = offered && has_room;
  assign {endpoint_ready_o, engine_ready_o} = grant & {2{has_room}};

  mrc_arbiter #(
      .N(2)
  ) u_arbiter (
      .clk_i,
      .rst_ni,
      .request_i({endpoint_valid_i, engine_valid_i}),
      .valid_o  (offered),
      .grant_o  (grant),
      .index_o  (of_endpoint),
      .taken_i  (has_room)
  );

  // ---------------------------------------------------------------- clocks 1 to 3: the turn is read
  logic [8:1] valid_q;
  reply_t reply_1_q, reply_2_q, reply_3_q, reply_4_q, reply_5_q;
  logic is_answer_3, found_3, dropped_3;
  logic [PORT_W-1:0] turn_3;

  assign is_answer_3 = reply_3_q.kind inside {REPLY_SACK, REPLY_NACK, REPLY_ACK};
  assign dropped_3   = is_answer_3 && !found_3;

  mrc_reply_turn #(
      .QPS(QPS)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .ahead_qp_i(QP_W'(reply_1_q.qp)),
      .qp_i(QP_W'(reply_3_q.qp)),
      .restart_i(valid_q[3] && reply_3_q.kind == REPLY_CONFIG),
      .take_i(valid_q[3] && is_answer_3),
      .planes_i(reply_3_q.planes),
      .found_o(found_3),
      .port_o(turn_3)
  );

  always_ff @(posedge clk_i) begin
    reply_1_q <= of_endpoint ? endpoint_i : engine_i;
    reply_2_q <= reply_1_q;
    reply_3_q <= reply_2_q;
    reply_4_q <= reply_3_q;
    if (is_answer_3) reply_4_q.port <= turn_3;
    reply_5_q <= reply_4_q;
  end

  // ---------------------------------------------------------------- clock 4: its port is known
  // Rows are read and written in the same clock of the pipeline, so they are in order by themselves.
  logic is_frame_4;
  logic [PORTS-1:0] reserve_4;
  // verilator lint_off UNUSEDSIGNAL
  qp_config_t config_4;  // most of it is the engine's
  // verilator lint_on UNUSEDSIGNAL
  qp_peer_t peer_4, peer_5;
  route_t route_5;

  assign is_frame_4 = valid_q[4] && reply_4_q.kind inside {REPLY_SACK, REPLY_NACK, REPLY_ACK,
                                                           REPLY_ENDPOINT};
  assign reserve_4 = PORTS'(is_frame_4) << reply_4_q.port;
  assign config_4 = reply_4_q.body[$bits(qp_config_t)-1:0];
  assign peer_4 = '{
          qpn: config_4.peer_qpn,
          address: config_4.peer_address,
          p_key: config_4.p_key
      };

  mrc_ram #(
      .WIDTH($bits(qp_peer_t)),
      .DEPTH(QPS)
  ) u_peers (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(QP_W'(reply_4_q.qp)),
      .rdata_o(peer_5),
      .we_i(valid_q[4] && reply_4_q.kind == REPLY_CONFIG),
      .waddr_i(QP_W'(reply_4_q.qp)),
      .wdata_i(peer_4)
  );

  mrc_ram #(
      .WIDTH($bits(route_t)),
      .DEPTH(QPS * PORTS)
  ) u_routes (
      .clk_i,
      .en_i(1'b1),
      .raddr_i({QP_W'(reply_4_q.qp), reply_4_q.port}),
      .rdata_o(route_5),
      .we_i(valid_q[4] && reply_4_q.kind == REPLY_ROUTE),
      .waddr_i({QP_W'(reply_4_q.qp), reply_4_q.port}),
      .wdata_i(reply_4_q.body[$bits(route_t)-1:0])
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      no_way_back_o <= 1'b0;
    end else begin
      valid_q[1] <= accept;
      valid_q[3:2] <= valid_q[2:1];
      valid_q[4] <= valid_q[3] && !dropped_3;
      valid_q[5] <= is_frame_4;
      valid_q[8:6] <= valid_q[7:5];
      no_way_back_o <= valid_q[3] && dropped_3;
    end
  end

  // ---------------------------------------------------------------- clock 5: what it says
  packet_t packet_5, packet_6_q, packet_7_q, packet_8_q;

  mrc_reply_body u_body (
      .config_i,
      .reply_i (reply_5_q),
      .peer_i  (peer_5),
      .route_i (route_5),
      .packet_o(packet_5)
  );

  always_ff @(posedge clk_i) begin
    packet_6_q <= packet_5;
    packet_7_q <= packet_6_q;
    packet_8_q <= packet_7_q;
  end

  // ---------------------------------------------------------------- clocks 6 to 8: ICRC, frame
  logic [FRONT_W-1:0] front_6;
  logic [31:0] icrc_8;
  stored_frame_t frame_8;
  logic [127:0] outer_source_8_q;

  mrc_reply_front u_front (
      .config_i,
      .packet_i(packet_6_q),
      .front_o (front_6)
  );

  mrc_reply_icrc u_icrc (
      .clk_i,
      .front_i(front_6),
      .body_i (packet_6_q.body),
      .size_i (packet_6_q.size),
      .icrc_o (icrc_8)
  );

  always_ff @(posedge clk_i) outer_source_8_q <= port_config_i[packet_7_q.port].outer_source;

  mrc_reply_frame u_frame (
      .config_i,
      .packet_i(packet_8_q),
      .outer_source_i(outer_source_8_q),
      .icrc_i(icrc_8),
      .frame_o(frame_8)
  );

  // ---------------------------------------------------------------- ports
  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    mrc_reply_port #(
        .FRAMES(FRAMES)
    ) u_port (
        .clk_i,
        .rst_ni,
        .mac_i(port_config_i[p].mac),
        .switch_mac_i(port_config_i[p].switch_mac),
        .room_o(room[p]),
        .reserve_i(reserve_4[p]),
        .put_i(valid_q[8] && packet_8_q.port == PORT_W'(p)),
        .frame_i(frame_8),
        .m_axis_tvalid_o(m_axis_tvalid_o[p]),
        .m_axis_tready_i(m_axis_tready_i[p]),
        .m_axis_tdata_o(m_axis_tdata_o[p]),
        .m_axis_tkeep_o(m_axis_tkeep_o[p]),
        .m_axis_tlast_o(m_axis_tlast_o[p])
    );
  end

  assign sent_o = m_axis_tvalid_o & m_axis_tready_i & m_axis_tlast_o;

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(REPLY_W)
  ) u_engine_rule (
      .clk_i,
      .rst_ni,
      .valid_i(engine_valid_i),
      .ready_i(engine_ready_o),
      .data_i (engine_i)
  );

  mrc_stream_assert #(
      .WIDTH(REPLY_W)
  ) u_endpoint_rule (
      .clk_i,
      .rst_ni,
      .valid_i(endpoint_valid_i),
      .ready_i(endpoint_ready_o),
      .data_i (endpoint_i)
  );
`endif

endmodule

`default_nettype wire
