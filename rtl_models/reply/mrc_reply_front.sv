// Inner IPv6 header, UDP and BTH of an answer, from what it says and the static registers.
//
// Combinational.

`default_nettype none

module mrc_reply_front
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_reply_pkg::*;
(
    // Structs are passed whole, whatever of them is needed.
    // verilator lint_off UNUSEDSIGNAL
    input  wire reply_config_t               config_i,
    input  wire packet_t                     packet_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic               [FRONT_W-1:0] front_o
);

  ipv6_t ip;
  udp_t  udp;
  bth_t  bth;
  logic [EV_HALF_W-1:0] high, low;

  assign {high, low} = packet_i.ev;

  always_comb begin
    ip = '{
        version: IP_VERSION_6,
        dscp: packet_i.endpoint ? config_i.dscp_no_trim : config_i.dscp_control,
        ecn: packet_i.endpoint ? ECN_ECT0 : ECN_NOT_ECT,
        flow_label: 20'(config_i.flow_label_high ? high : low),
        payload_length: udp_length(packet_i.size),
        next_header: NEXT_HEADER_UDP,
        hop_limit: HOP_LIMIT_DEFAULT,
        src: config_i.address,
        dst: packet_i.peer
    };
    udp = '{
        src_port: config_i.flow_label_high ? low : high,
        dst_port: config_i.udp_port,
        length: udp_length(packet_i.size),
        checksum: '0
    };
    bth = '{
        opcode: packet_i.opcode,
        version: BTH_TRANSPORT_VERSION,
        p_key: packet_i.p_key,
        dest_qp: packet_i.dest_qp,
        rtx: packet_i.rtx,
        psn: packet_i.psn,
        default: '0
    };
  end

  assign front_o = {ip, udp, bth};

endmodule

`default_nettype wire
