// What passes between the parts of mrc_reply.

`default_nettype none
// verilog_lint: waive-start parameter-name-style

package mrc_reply_pkg;

  import mrc_pkg::*;
  import mrc_rx_pkg::*;

  // Inner IPv6 header, UDP and BTH stand at the front of what the ICRC covers.
  localparam int unsigned FRONT_BYTES = IPV6_BYTES + UDP_BYTES + BTH_BYTES;
  localparam int unsigned FRONT_W = 8 * FRONT_BYTES;
  // The longest frame, an Ethernet header in front of what is stored.
  localparam int unsigned ROUTING_BYTES = SRH_BYTES + SEGMENT_BYTES;
  localparam int unsigned INNER_BYTES = FRONT_BYTES + BODY_BYTES + ICRC_BYTES;
  localparam int unsigned STORED_BYTES = IPV6_BYTES + ROUTING_BYTES + INNER_BYTES;
  localparam int unsigned STORED_W = 8 * STORED_BYTES;
  localparam int unsigned BEATS = 3;
  localparam int unsigned LENGTH_W = 8;

  // Bytes of the body: those of AETH, NETH, and SETH and CC_STATE or EETH.
  typedef enum logic [1:0] {
    BODY_AETH = 2'd0,
    BODY_NETH = 2'd1,
    BODY_FULL = 2'd2
  } body_size_e;

  // What answers need of qp_config_t.
  typedef struct packed {
    logic [QPN_W-1:0] qpn;
    logic [127:0]     address;
    logic [15:0]      p_key;
  } qp_peer_t;

  // All that a frame says but for what is the same in every frame, and its port's addresses.
  typedef struct packed {
    body_size_e size;
    logic [7:0] opcode;
    logic endpoint;  // of the class that is never trimmed, else of the control class
    logic encapsulated;
    logic routing;  // there is an SRH
    logic [PORT_W-1:0] port;
    logic [EV_W-1:0] ev;
    logic [127:0] path;  // outer destination
    logic [127:0] segment;
    logic [127:0] peer;  // inner destination
    logic [15:0] p_key;
    logic [QPN_W-1:0] dest_qp;
    logic rtx;
    logic [PSN_W-1:0] psn;
    logic [BODY_W-1:0] body;  // right-aligned, zeros in front of a shorter one
  } packet_t;

  // A frame as a port keeps it.
  typedef struct packed {
    logic [LENGTH_W-1:0] length;  // bytes, Ethernet header included
    logic [STORED_W-1:0] stored;  // behind the Ethernet header, zeros behind a shorter one
  } stored_frame_t;

  function automatic logic [15:0] body_bytes(input body_size_e size);
    unique case (size)
      BODY_AETH: return 16'(AETH_BYTES);
      BODY_NETH: return 16'(NETH_BYTES);
      default:   return 16'(EETH_BYTES);
    endcase
  endfunction

  // UDP's length, and with it the inner payload length.
  function automatic logic [15:0] udp_length(input body_size_e size);
    return 16'(UDP_BYTES + BTH_BYTES + ICRC_BYTES) + body_bytes(size);
  endfunction

endpackage

// verilog_lint: waive-stop parameter-name-style
`default_nettype wire
