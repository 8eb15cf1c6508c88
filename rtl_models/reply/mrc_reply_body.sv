// What a reply says as a packet: opcode, where it goes, and its body with the QPs' numbers filled in.
//
// Combinational.

`default_nettype none

module mrc_reply_body
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_reply_pkg::*;
(
    // Structs are passed whole, whatever of them is needed.
    // verilator lint_off UNUSEDSIGNAL
    input  wire reply_config_t config_i,
    input  wire reply_t        reply_i,
    // verilator lint_on UNUSEDSIGNAL
    // Of the QP and the port, for all but endpoint responses.
    input  wire qp_peer_t      peer_i,
    input  wire route_t        route_i,
    output packet_t            packet_o
);

  endpoint_answer_t answer;
  seth_t seth;
  cc_state_t cc_state;
  neth_t neth;
  eeth_t eeth;
  eeth_op_54_t eeth_op_54;
  logic [15:0] own, peer, spdcid, dpdcid;

  assign own = 16'(reply_i.qp);
  assign peer = peer_i.qpn[15:0];
  assign spdcid = config_i.spdcid_is_sender ? own : peer;
  assign dpdcid = config_i.spdcid_is_sender ? peer : own;
  assign answer = reply_i.body[$bits(endpoint_answer_t)-1:0];

  always_comb begin
    {seth, cc_state} = reply_i.body[$bits(seth_t)+$bits(cc_state_t)-1:0];
    seth.spdcid = spdcid;
    seth.dpdcid = dpdcid;
    neth = reply_i.body[$bits(neth_t)-1:0];
    neth.spdcid = spdcid;
    neth.dpdcid = dpdcid;
    eeth = '0;
    eeth.op = answer.op;
    eeth.tx_timestamp = answer.stamp;
    eeth_op_54 = '0;
    eeth_op_54.op = answer.op;
    eeth_op_54.tx_timestamp = answer.stamp;
  end

  always_comb begin
    packet_o = '{
        size: BODY_FULL,
        opcode: OPCODE_SACK,
        endpoint: 1'b0,
        encapsulated: 1'b1,
        routing: route_i.segment_valid,
        port: reply_i.port,
        ev: route_i.ev,
        path: route_i.path,
        segment: route_i.segment,
        peer: peer_i.address,
        p_key: peer_i.p_key,
        dest_qp: peer_i.qpn,
        rtx: reply_i.rtx,
        psn: reply_i.psn,
        body: {seth, cc_state}
    };
    case (reply_i.kind)
      REPLY_NACK: begin
        packet_o.size   = BODY_NETH;
        packet_o.opcode = OPCODE_NACK;
        packet_o.body   = BODY_W'(neth);
      end
      REPLY_ACK: begin
        packet_o.size   = BODY_AETH;
        packet_o.opcode = OPCODE_ACKNOWLEDGE;
        packet_o.body   = BODY_W'(reply_i.body[$bits(aeth_t)-1:0]);
      end
      REPLY_ENDPOINT: begin
        packet_o.opcode = OPCODE_ENDPOINT_RESPONSE;
        packet_o.endpoint = 1'b1;
        packet_o.encapsulated = answer.encapsulated;
        packet_o.routing = 1'b0;
        packet_o.ev = answer.ev;
        packet_o.path = answer.path;
        packet_o.peer = answer.peer;
        packet_o.p_key = P_KEY_DEFAULT;
        packet_o.dest_qp = ENDPOINT_QP;
        packet_o.rtx = 1'b0;
        packet_o.body = config_i.eeth_op_54 ? eeth_op_54 : eeth;
      end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
