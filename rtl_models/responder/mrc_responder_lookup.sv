// First part of the responder engine: what can be said of an event without the state of its QP.
//
// Endpoint operations leave at once. What is for no QP, or for one that is not ready, or comes from
// somebody else (Device.handle and QueuePair.objection of the golden model) is dropped; SACK, NACK and
// ACK leave for the requester; a write's size and place are checked. The rest goes on: to the tracker as
// psn_op_e, and as ticket and message round it. So does a drop whose payload waits for a verdict: those
// keep their order.
//
//  stage 0        1           2           3                    4                    5
//  rows' address  RAM         rows,       own address, then    peer, P_Key, size,   what is to be done
//                             commands    deadline, region     region               with it
//                             write
//
// Latency: 5 clocks from event to output, as long as nothing waits; an endpoint operation 0. Throughput:
// an event each clock. After reset it takes nothing for max(QPS, REGIONS, 64) clocks.

`default_nettype none

module mrc_responder_lookup
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import responder_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned REGIONS = 64,
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned WINDOW_W = $clog2(WINDOW + 1)
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input wire logic [127:0] address_i,

    input  wire logic   event_valid_i,
    output logic        event_ready_o,
    input  wire event_t event_i,

    output logic                   endpoint_valid_o,
    input  wire logic              endpoint_ready_i,
    output logic      [PORT_W-1:0] endpoint_port_o,
    output rx_desc_t               endpoint_o,

    output logic      requester_valid_o,
    input  wire logic requester_ready_i,
    output rx_desc_t  requester_o,

    output logic                                    work_valid_o,
    input  wire logic                               work_ready_i,
    output psn_tracker_pkg::psn_op_e                work_op_o,
    output logic                     [    QP_W-1:0] work_qp_o,
    output logic                     [   PSN_W-1:0] work_psn_o,
    output logic                     [WINDOW_W-1:0] work_window_o,
    output ticket_t                                 work_ticket_o,
    output message_t                                work_message_o,

    output responder_pulses_t pulses_o  // those of drops
);

  import psn_tracker_pkg::*;
  import mrc_delivery_pkg::*;

  localparam int unsigned REGION_W = $clog2(REGIONS);
  localparam int unsigned P_KEY_FULL = 15;  // this bit: full member; the others name the partition

  typedef struct packed {
    event_t             event_;
    logic [QP_ID_W-1:0] qp;
    logic               known;   // the QP exists; of CMD_REGION, the region
  } stage_t;

  function automatic logic is_write(input logic [7:0] opcode);
    return opcode inside {OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE, OPCODE_WRITE_LAST,
                          OPCODE_WRITE_LAST_IMMEDIATE, OPCODE_WRITE_ONLY,
                          OPCODE_WRITE_ONLY_IMMEDIATE};
  endfunction

  // ---------------------------------------------------------------- stage 0: endpoint operations leave; addresses
  logic advance, busy, is_endpoint_0;
  // Views of an event, each of which is looked at in part; so is a QP's configuration.
  // verilator lint_off UNUSEDSIGNAL
  rx_desc_t desc_0, desc_2, desc_3, desc_4;
  command_t command_0, command_2, command_4;
  write_body_t body_0, body_4;
  peth_t probe_4;
  qp_config_t config_2, config_3_q, config_4_q;
  // verilator lint_on UNUSEDSIGNAL
  stage_t at_0, at_1_q, at_2_q, at_3_q, at_4_q;
  logic [5:1] valid_q;

  assign desc_0 = event_i.content;
  assign command_0 = event_i.content[$bits(command_t)-1:0];
  assign body_0 = desc_0.body;
  assign is_endpoint_0 = event_i.kind == EVENT_FRAME &&
      desc_0.opcode inside {OPCODE_ENDPOINT_REQUEST, OPCODE_ENDPOINT_RESPONSE};

  assign endpoint_valid_o = event_valid_i && is_endpoint_0;
  assign endpoint_port_o = event_i.port;
  assign endpoint_o = desc_0;
  assign event_ready_o = is_endpoint_0 ? endpoint_ready_i : advance && !busy;

  always_comb begin
    at_0.event_ = event_i;
    at_0.qp = event_i.kind == EVENT_FRAME ? desc_0.dest_qp[QP_ID_W-1:0] : event_i.qp;
    unique case (event_i.kind)
      EVENT_FRAME: at_0.known = desc_0.dest_qp > ENDPOINT_QP && desc_0.dest_qp < QPN_W'(QPS);
      EVENT_COMMAND:
      at_0.known = 32'(event_i.qp) < (command_0.op == CMD_REGION ? 32'(REGIONS) : 32'(QPS));
      default: at_0.known = 1'b1;
    endcase
  end

  // ---------------------------------------------------------------- stages 0 to 2: rows
  logic ready_2, ready_3_q, ready_4_q;
  soft_t soft_2, soft_3_q, soft_4_q;
  region_t region_2;
  logic [REGION_W-1:0] region_0;

  assign region_0  = body_0.reth.r_key[R_KEY_TAG_W+:REGION_W];
  assign command_2 = at_2_q.event_.content[$bits(command_t)-1:0];

  mrc_responder_tables #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .REGIONS(REGIONS)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .advance_i(advance),
      .busy_o(busy),
      .qp_i(at_0.qp[QP_W-1:0]),
      .region_i(region_0),
      .config_o(config_2),
      .ready_o(ready_2),
      .soft_o(soft_2),
      .region_o(region_2),
      .write_i(valid_q[2] && at_2_q.event_.kind == EVENT_COMMAND && at_2_q.known),
      .command_i(command_2)
  );

  // ---------------------------------------------------------------- stages 0 to 4: where the payload goes
  logic granted_4;

  mrc_region_check #(
      .REGIONS(REGIONS)
  ) u_region (
      .clk_i,
      .advance_i(advance),
      .va_i(body_0.reth.va),
      .bytes_i(desc_0.payload_bytes),
      .r_key_i(body_0.reth.r_key),
      .region_i(region_2),
      .granted_o(granted_4)
  );

  // ---------------------------------------------------------------- stage 3: is it the peer's, and as long as it should be?
  logic own_3_q;  // it is for this device's address
  logic peer_4_q, partition_4_q, too_long_4_q, whole_4_q;
  logic [16:0] counted_3, counted_4_q, nominal_4_q;
  logic [TIME_W-1:0] deadline_4_q;

  assign desc_2 = at_2_q.event_.content;
  assign desc_3 = at_3_q.event_.content;
  assign counted_3 = desc_3.payload_bytes > 16'(SACK_MIN_BYTES_PER_PACKET) ?
      17'(desc_3.payload_bytes) : 17'(SACK_MIN_BYTES_PER_PACKET);

  // ---------------------------------------------------------------- stage 4: what is to be done with it
  packet_t  packet_4;
  ticket_t  ticket_4;
  message_t message_4;
  logic is_frame_4, is_command_4, write_4, whole_only_4, wrong_size_4, bad_4;
  logic
      unknown_4, not_ready_4, wrong_address_4, wrong_p_key_4, dropped_4, to_requester_4, goes_on_4;
  psn_op_e op_4;

  assign desc_4 = at_4_q.event_.content;
  assign body_4 = desc_4.body;
  assign probe_4 = desc_4.body[BODY_W-1-:$bits(peth_t)];
  assign command_4 = at_4_q.event_.content[$bits(command_t)-1:0];
  assign is_frame_4 = at_4_q.event_.kind == EVENT_FRAME;
  assign is_command_4 = at_4_q.event_.kind == EVENT_COMMAND;
  assign write_4 = is_write(desc_4.opcode);

  // The first objection counts.
  assign unknown_4 = is_frame_4 && !at_4_q.known;
  assign not_ready_4 = is_frame_4 && at_4_q.known && !ready_4_q;
  assign wrong_address_4 = is_frame_4 && at_4_q.known && ready_4_q && !peer_4_q;
  assign wrong_p_key_4 = is_frame_4 && at_4_q.known && ready_4_q && peer_4_q && !partition_4_q;
  assign dropped_4 = unknown_4 || not_ready_4 || wrong_address_4 || wrong_p_key_4;
  assign to_requester_4 = is_frame_4 && !dropped_4 && !write_4 &&
      desc_4.opcode != OPCODE_PROBE_REQUEST;

  assign whole_only_4 = desc_4.opcode inside {OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE};
  assign wrong_size_4 = too_long_4_q || (whole_only_4 && !whole_4_q);
  // A write of no bytes touches no memory, and its key is not looked at.
  assign bad_4 = wrong_size_4 || (desc_4.payload_bytes != '0 && !granted_4);

  always_comb begin
    packet_4 = '0;
    packet_4.ev = desc_4.ev;
    packet_4.stamped = desc_4.ts;
    if (!write_4) packet_4.stamp = probe_4.tx_timestamp;
    else if (desc_4.ts) packet_4.stamp = body_4.tseth.tx_timestamp;
    packet_4.ce = desc_4.ecn == ECN_CE;
    packet_4.prompt = desc_4.ack_req || desc_4.rtx;
    packet_4.rtx = desc_4.rtx;
    if (desc_4.trimmed) begin
      packet_4.refused = 1'b1;
      packet_4.reason  = desc_4.trimmed_lasthop ? NACK_TRIMMED_LASTHOP : NACK_TRIMMED;
    end else begin
      packet_4.refused = soft_4_q.resource != '0;
      packet_4.reason  = soft_4_q.resource;
    end
    packet_4.probe_id = probe_4.probe_id;
    packet_4.va = body_4.reth.va;
    packet_4.r_key = body_4.reth.r_key;
    packet_4.now = at_4_q.event_.now;
    packet_4.deadline = deadline_4_q;
    packet_4.nominal = nominal_4_q;
    packet_4.counted = counted_4_q;
    packet_4.left = 18'(config_4_q.sack_threshold) - 18'(counted_4_q);
    packet_4.trim_nack = config_4_q.trim_nack;
    packet_4.drop_above = config_4_q.drop_above;
  end

  always_comb begin
    ticket_4.op = command_4.op;
    ticket_4.port = is_command_4 ? command_4.port : at_4_q.event_.port;
    ticket_4.payload = is_frame_4 && desc_4.payload_bytes != '0;
    ticket_4.mpr_units = soft_4_q.mpr_units;
    ticket_4.dynamic_mpr = config_4_q.dynamic_mpr;
    ticket_4.penalty = soft_4_q.penalty;
    ticket_4.restore = soft_4_q.restore;
    ticket_4.planes = soft_4_q.planes;
    ticket_4.content = is_command_4 ? command_4.data : COMMAND_DATA_W'(packet_4);
    unique case (at_4_q.event_.kind)
      EVENT_FRAME: begin
        if (dropped_4) ticket_4.work = WORK_NONE;
        else if (!write_4) ticket_4.work = WORK_PROBE;
        else ticket_4.work = desc_4.trimmed ? WORK_TRIMMED : WORK_WRITE;
      end
      EVENT_TIMER: ticket_4.work = WORK_TIMER;
      default: ticket_4.work = WORK_COMMAND;
    endcase
  end

  always_comb begin
    message_4.op = DELIVERY_PASS;
    if (ticket_4.work == WORK_WRITE) message_4.op = DELIVERY_PACKET;
    else if (ticket_4.work == WORK_COMMAND) begin
      case (command_4.op)
        CMD_QP_RESET: message_4.op = DELIVERY_RESET;
        CMD_QP_READY: message_4.op = DELIVERY_READY;
        CMD_QP_ERROR: message_4.op = DELIVERY_ERROR;
        CMD_POST_RECEIVES: message_4.op = DELIVERY_POST;
        default: ;
      endcase
    end
    message_4.recorded = op_4 == PSN_RECORD;
    // A shortage comes before what is wrong with the packet.
    message_4.bad = bad_4 && !packet_4.refused;
    message_4.syndrome = wrong_size_4 ? AETH_NAK_INVALID_REQUEST : AETH_NAK_REMOTE_ACCESS;
    message_4.last = !whole_only_4;
    message_4.immediate_valid = desc_4.opcode inside {OPCODE_WRITE_LAST_IMMEDIATE,
                                                      OPCODE_WRITE_ONLY_IMMEDIATE};
    message_4.msn = body_4.meth.msn;
    message_4.rqmsn = body_4.meth.rqmsn;
    message_4.immediate = body_4.immdt.immediate;
    message_4.dma_length = body_4.reth.dma_length;
    message_4.wimm = config_4_q.wimm;
    message_4.value = command_4.value[15:0];
  end

  // What a command writes into the tables alone ends here.
  always_comb begin
    unique case (at_4_q.event_.kind)
      EVENT_FRAME:
      goes_on_4 = dropped_4 ? ticket_4.payload : write_4 || desc_4.opcode == OPCODE_PROBE_REQUEST;
      EVENT_TIMER: goes_on_4 = 1'b1;
      default:
      goes_on_4 = at_4_q.known && !(command_4.op inside {CMD_REGION, CMD_SET_PENALTY,
                                                         CMD_SET_RESTORE, CMD_SET_RESOURCE_NACK,
                                                         CMD_SET_PLANES});
    endcase
    op_4 = PSN_HEAD;
    if (is_command_4) begin
      if (command_4.op == CMD_QP_READY) op_4 = PSN_SET_UP;
      if (command_4.op == CMD_SET_MPR) op_4 = PSN_RESIZE;
    end else if (is_frame_4 && !dropped_4 && write_4) begin
      op_4 = packet_4.refused || bad_4 ? PSN_PEEK : PSN_RECORD;
    end
  end

  // ---------------------------------------------------------------- registers
  logic goes_on_5_q, to_requester_5_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[4:1], event_valid_i && event_ready_o && !is_endpoint_0};
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      at_1_q <= at_0;
      at_2_q <= at_1_q;
      at_3_q <= at_2_q;
      at_4_q <= at_3_q;

      own_3_q <= desc_2.ipv6 && desc_2.dst == address_i;
      ready_3_q <= ready_2;
      config_3_q <= config_2;
      soft_3_q <= soft_2;

      peer_4_q <= own_3_q && desc_3.src == config_3_q.peer_address;
      partition_4_q <= desc_3.p_key[P_KEY_FULL-1:0] == config_3_q.p_key[P_KEY_FULL-1:0] &&
          (desc_3.p_key[P_KEY_FULL] || config_3_q.p_key[P_KEY_FULL]);
      too_long_4_q <= desc_3.payload_bytes > 16'(config_3_q.mtu);
      whole_4_q <= desc_3.payload_bytes == 16'(config_3_q.mtu);
      counted_4_q <= counted_3;
      nominal_4_q <= 17'(desc_3.udp_length) + 17'(NOMINAL_OVERHEAD_BYTES - UDP_BYTES);
      deadline_4_q <= at_3_q.event_.now + config_3_q.quiet_clocks;
      ready_4_q <= ready_3_q;
      config_4_q <= config_3_q;
      soft_4_q <= soft_3_q;

      requester_o <= desc_4;
      goes_on_5_q <= goes_on_4;
      to_requester_5_q <= to_requester_4;
      work_op_o <= op_4;
      work_qp_o <= at_4_q.qp[QP_W-1:0];
      work_psn_o <= is_command_4 ? command_4.value[PSN_W-1:0] : desc_4.psn;
      work_window_o <= WINDOW_W'({soft_4_q.mpr_units, 7'd0});
      work_ticket_o <= ticket_4;
      work_message_o <= message_4;
    end
  end

  always_comb begin
    pulses_o = '0;
    if (valid_q[4] && advance) begin
      pulses_o.unknown_qp = unknown_4;
      pulses_o.qp_not_ready = not_ready_4;
      pulses_o.wrong_address = wrong_address_4;
      pulses_o.wrong_p_key = wrong_p_key_4;
    end
  end

  assign requester_valid_o = valid_q[5] && to_requester_5_q;
  assign work_valid_o = valid_q[5] && goes_on_5_q;
  assign advance = (!requester_valid_o || requester_ready_i) && (!work_valid_o || work_ready_i);

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH(3 + QP_W + PSN_W + WINDOW_W + $bits(ticket_t) + $bits(message_t))
  ) u_work_rule (
      .clk_i,
      .rst_ni,
      .valid_i(work_valid_o),
      .ready_i(work_ready_i),
      .data_i ({work_op_o, work_qp_o, work_psn_o, work_window_o, work_ticket_o, work_message_o})
  );

  mrc_stream_assert #(
      .WIDTH($bits(rx_desc_t))
  ) u_requester_rule (
      .clk_i,
      .rst_ni,
      .valid_i(requester_valid_o),
      .ready_i(requester_ready_i),
      .data_i (requester_o)
  );
`endif

endmodule

`default_nettype wire
