// What passes between the units of the receive side. Nothing here is on a wire: wire formats are in
// mrc_pkg. docs/rtl.md draws the units.

`default_nettype none
// verilog_lint: waive-start parameter-name-style
// verilator lint_off UNUSEDPARAM

package mrc_rx_pkg;

  import mrc_pkg::*;

  localparam int unsigned BUS_BYTES = 64;
  localparam int unsigned BUS_W = 8 * BUS_BYTES;
  localparam int unsigned PORTS = 8;
  localparam int unsigned PORT_W = 3;
  // A QP's number as units pass it on; inside, a unit uses as many bits as it has QPs.
  localparam int unsigned QP_ID_W = 16;
  localparam int unsigned TIME_W = 32;  // clocks, a serial number
  localparam int unsigned CLOCKS_PER_STAMP_LOG2 = 5;  // 128 ns of 4 ns clocks
  // The longest of what stands between BTH and ICRC where there is no payload.
  localparam int unsigned BODY_BYTES = 36;
  localparam int unsigned BODY_W = 8 * BODY_BYTES;
  localparam int unsigned MAX_FRAME_BYTES = 9216;

  // Why a port drops a frame, in the order in which the checks stand; the first that fails counts.
  typedef enum logic [4:0] {
    DROP_TOO_SHORT     = 5'd0,
    DROP_ETHERTYPE     = 5'd1,
    DROP_IP_VERSION    = 5'd2,
    DROP_IPV4_OPTIONS  = 5'd3,
    DROP_IPV4_CHECKSUM = 5'd4,
    DROP_FRAGMENT      = 5'd5,
    DROP_SRH           = 5'd6,
    DROP_NEXT_HEADER   = 5'd7,
    DROP_UDP_PORT      = 5'd8,
    DROP_BTH_VERSION   = 5'd9,
    DROP_OPCODE        = 5'd10,
    DROP_IP_LENGTH     = 5'd11,
    DROP_UDP_LENGTH    = 5'd12,
    DROP_BODY_LENGTH   = 5'd13,
    DROP_ICRC          = 5'd14,
    DROP_ECN           = 5'd15,
    DROP_OVERSIZE      = 5'd16,  // longer than MAX_FRAME_BYTES
    DROP_OVERFLOW      = 5'd17   // the port's buffer is full
  } drop_cause_e;
  localparam int unsigned DROP_CAUSES = 18;

  // Choices of a deployment that a port reads with each frame: hold them while frames come in.
  typedef struct packed {
    logic [15:0] udp_port;              // destination ports that are MRC's; equal where one is
    logic [15:0] udp_port_other;
    logic [5:0]  dscp_trimmed;          // outer DSCP of the trim marks
    logic [5:0]  dscp_trimmed_lasthop;  // equal to dscp_trimmed where it is not in use
    logic        ev_high_in_src_port;   // EV[31:16] in the UDP source port, else in the flow label
  } rx_config_t;

  localparam rx_config_t RX_CONFIG_DEFAULT = '{
      udp_port: UDP_PORT_MRC,
      udp_port_other: UDP_PORT_MRC_SWAPPED,
      dscp_trimmed: DSCP_TRIMMED,
      dscp_trimmed_lasthop: DSCP_TRIMMED_LASTHOP,
      ev_high_in_src_port: 1'b0
  };

  // What stands in a write between BTH and payload; parts that the packet lacks are zero.
  typedef struct packed {
    meth_t       meth;
    tseth_t      tseth;
    reth_t       reth;
    immdt_t      immdt;
    logic [63:0] unused;
  } write_body_t;  // BODY_W bits

  // A frame that a port found good (or trimmed): everything but its payload.
  typedef struct packed {
    // A write with its payload gone: only destination QP, PSN, EV, flags and stamp count.
    logic              trimmed;
    logic              trimmed_lasthop;  // trimmed, and by the last hop
    logic [7:0]        opcode;
    logic [1:0]        ecn;              // after RFC 6040
    logic              ack_req;
    logic              rtx;
    logic              ts;               // tseth is there (in writes)
    logic [15:0]       p_key;
    logic [QPN_W-1:0]  dest_qp;
    logic [PSN_W-1:0]  psn;
    logic [EV_W-1:0]   ev;
    logic [15:0]       udp_length;
    // Inner header; without it the addresses are IPv4's, right-aligned.
    logic              ipv6;
    logic [127:0]      src;              // inner
    logic [127:0]      dst;              // inner
    logic              encapsulated;
    logic [127:0]      outer_src;
    // Without pad. When not zero, the payload waits in the port for a verdict.
    logic [15:0]       payload_bytes;
    // write_body_t, or the bytes behind the BTH, the first one leftmost, then zeros.
    logic [BODY_W-1:0] body;
  } rx_desc_t;

  // What becomes of a descriptor's payload; one for each descriptor with payload, in their order.
  typedef struct packed {
    logic               place;  // else it is discarded
    logic [QP_ID_W-1:0] qp;
    logic [63:0]        va;
    logic [31:0]        r_key;
  } rx_verdict_t;

  // Write `bytes` bytes at `va`, a port's next payload.
  typedef struct packed {
    logic [QP_ID_W-1:0] qp;
    logic [63:0]        va;
    logic [31:0]        r_key;
    logic [15:0]        bytes;
  } dma_command_t;

  // What software asks of the engine. Commands are events like frames: they take effect in the
  // order of acceptance.
  typedef enum logic [3:0] {
    CMD_QP_CONFIG         = 4'd0,   // qp_config_t of a QP in reset
    CMD_QP_ROUTE          = 4'd1,   // route_t of QP and port: the EV for answers
    CMD_REGION            = 4'd2,   // region_t; qp is the region's index
    CMD_QP_RESET          = 4'd3,
    CMD_QP_READY          = 4'd4,   // value: first PSN expected; a QP in reset takes packets now
    CMD_QP_ERROR          = 4'd5,   // a QP that failed elsewhere stops, its receives are flushed
    CMD_POST_RECEIVES     = 4'd6,   // value: that many receives more
    CMD_SET_MPR           = 4'd7,   // value: window in units of 128 PSNs
    CMD_SET_PENALTY       = 4'd8,   // value: 0 to 127
    CMD_SET_RESTORE       = 4'd9,   // value: 0 or 1
    CMD_SET_RESOURCE_NACK = 4'd10,  // value: reason, or 0: packets are taken
    CMD_SET_PLANES        = 4'd11,  // value: mask of the ports that answers may take
    CMD_QUERY             = 4'd12   // answered by a query_t
  } command_e;

  localparam int unsigned COMMAND_DATA_W = 352;
  typedef struct packed {
    command_e                  op;
    logic [QP_ID_W-1:0]        qp;
    logic [PORT_W-1:0]         port;   // of a route
    logic [31:0]               value;
    logic [COMMAND_DATA_W-1:0] data;   // a row, right-aligned
  } command_t;

  typedef struct packed {
    logic [QPN_W-1:0] peer_qpn;
    logic [127:0] peer_address;  // inner
    logic [15:0] p_key;
    logic [13:0] mtu;  // bytes
    logic [16:0] sack_threshold;  // bytes
    logic [TIME_W-1:0] quiet_clocks;  // base RTT
    logic [15:0] wimm;  // writes with immediate in flight, at most the engine's WIMM
    logic [7:0] mpr_units;  // window at CMD_QP_READY, units of 128 PSNs
    logic dynamic_mpr;
    logic trim_nack;  // trimmed packets are answered, else dropped
    logic drop_above;  // PSNs above the window are dropped, else answered by NACK
  } qp_config_t;

  typedef struct packed {
    logic            segment_valid;  // there is an SRH
    logic [EV_W-1:0] ev;
    logic [127:0]    path;           // outer destination
    logic [127:0]    segment;
  } route_t;

  typedef struct packed {
    logic        valid;
    logic [7:0]  tag;    // low byte of the key
    logic [63:0] first;  // address of its first byte
    logic [63:0] last;   // and of its last
  } region_t;

  typedef enum logic [1:0] {
    QP_RESET   = 2'd0,  // not ready: frames for it are dropped
    QP_READY   = 2'd1,
    QP_REFUSED = 2'd2,  // met a fault: every write draws its NAK
    QP_STOPPED = 2'd3   // failed elsewhere: every write draws NACK UNEXP_EVENT
  } qp_state_e;

  // A QP's state, as of the place of the query in the order of events. The window of a QP that failed
  // means nothing any more: it may include PSNs that came behind the failure.
  typedef struct packed {
    logic [QP_ID_W-1:0] qp;
    qp_state_e          state;
    logic [PSN_W-1:0]   cack;
    logic [14:0]        ooo_count;
    logic [23:0]        completed;   // messages
    logic [31:0]        received;    // nominal bytes
    logic [16:0]        unanswered;  // bytes since the last SACK
  } query_t;

  typedef enum logic [2:0] {
    REPLY_SACK     = 3'd0,
    REPLY_NACK     = 3'd1,
    REPLY_ACK      = 3'd2,
    REPLY_ENDPOINT = 3'd3,
    REPLY_ROUTE    = 3'd4,  // no frame: a CMD_QP_ROUTE at its place in the order
    REPLY_CONFIG   = 3'd5   // no frame: a CMD_QP_CONFIG at its place in the order
  } reply_kind_e;

  typedef struct packed {
    reply_kind_e               kind;
    logic [QP_ID_W-1:0]        qp;
    logic [PORTS-1:0]          planes;  // ports that an answer may take
    logic                      rtx;
    logic [PSN_W-1:0]          psn;     // of the BTH
    logic [PORT_W-1:0]         port;    // of an endpoint answer, or of a route
    // seth_t and cc_state_t, neth_t, aeth_t (spdcid and dpdcid not filled in), endpoint_answer_t,
    // route_t or qp_config_t; right-aligned.
    logic [COMMAND_DATA_W-1:0] body;
  } reply_t;

  // What the answer to an endpoint request needs.
  typedef struct packed {
    logic [1:0]             op;
    logic [TIMESTAMP_W-1:0] stamp;         // as reflected
    logic [127:0]           peer;          // inner destination
    logic [EV_W-1:0]        ev;
    logic                   encapsulated;
    logic [127:0]           path;          // outer destination
  } endpoint_answer_t;

  // Static registers of one port.
  typedef struct packed {
    logic [47:0]  mac;
    logic [47:0]  switch_mac;
    logic [127:0] outer_source;  // block:T0:NIC:: of the port's plane
  } port_config_t;

  // Static registers of what answers are made of.
  typedef struct packed {
    logic [127:0] address;           // inner address of the device
    logic [5:0]   dscp_control;
    logic [5:0]   dscp_no_trim;
    logic [15:0]  udp_port;
    logic         flow_label_high;   // flow label = EV[31:16], else the UDP source port
    logic         spdcid_is_sender;  // spdcid = QPN of the SACK's sender
    logic         eeth_op_54;        // op of an EETH in bits 5:4 of byte 1, else in 3:2
  } reply_config_t;

  localparam reply_config_t REPLY_CONFIG_DEFAULT = '{
      address: '0,
      dscp_control: DSCP_CONTROL,
      dscp_no_trim: DSCP_NO_TRIM,
      udp_port: UDP_PORT_MRC,
      flow_label_high: 1'b1,
      spdcid_is_sender: 1'b1,
      eeth_op_54: 1'b0
  };

  // A peer said which of its ports are up.
  typedef struct packed {
    logic [127:0] peer;        // inner address
    logic [15:0]  request_id;  // an update that is not newer than the last one says nothing
    logic [31:0]  mask;        // bit i: its port i is up
  } port_status_t;

  // Why an endpoint operation had no effect, in the order in which the checks stand.
  typedef enum logic [2:0] {
    ENDPOINT_WRONG_ADDRESS   = 3'd0,
    ENDPOINT_UNKNOWN_QP      = 3'd1,
    ENDPOINT_NO_REQUEST      = 3'd2,  // a response, and nothing was asked
    ENDPOINT_OPERATION       = 3'd3,  // unknown
    ENDPOINT_NO_WAY_BACK     = 3'd4,
    ENDPOINT_NOTICE_OVERFLOW = 3'd5   // software lags: no answer, so that the peer says it again
  } endpoint_drop_e;
  localparam int unsigned ENDPOINT_DROPS = 6;

  // Why a completion was made.
  typedef enum logic [0:0] {
    CQE_SUCCESS = 1'b0,
    CQE_FLUSHED = 1'b1
  } cqe_status_e;

  // A receive completion. Receives of a QP are numbered from 0 in the order of their posting.
  typedef struct packed {
    logic [QP_ID_W-1:0] qp;
    cqe_status_e        status;
    logic [15:0]        receive;
    logic [31:0]        byte_count;
    logic [31:0]        immediate;
  } cqe_t;

  // The order in which the engine accepts events, for whoever wants to follow it.
  typedef enum logic [1:0] {
    EVENT_FRAME   = 2'd0,
    EVENT_TIMER   = 2'd1,
    EVENT_COMMAND = 2'd2
  } event_e;

  typedef struct packed {
    event_e             kind;
    logic [PORT_W-1:0]  port;  // of a frame
    logic [QP_ID_W-1:0] qp;    // of a timer
    logic [TIME_W-1:0]  now;   // the engine's clock when it accepted the event
  } tap_t;

  // Pulses of the responder engine, each at most once a clock, for counters.
  typedef struct packed {
    logic unknown_qp;       // frames dropped by the engine, by cause
    logic qp_not_ready;
    logic wrong_address;
    logic wrong_p_key;
    logic above_dropped;    // PSN above the window, not answered
    logic trimmed_dropped;  // trimmed, not answered
    logic placed;           // packets whose payload is written, or that are accepted without any
    logic quiet;            // SACKs made by the quiet timer
    logic sack;             // answers
    logic nack;
    logic ack;
    logic nak;
  } responder_pulses_t;

endpackage

// verilator lint_on UNUSEDPARAM
// verilog_lint: waive-stop parameter-name-style
`default_nettype wire
