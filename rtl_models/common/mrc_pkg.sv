// Packed structs, enumerations and constants of the MRC wire.
// Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
//
// The first member of a struct holds the first bits on the wire: a header that arrives most significant byte first is
// assigned as it is.

// No design uses every constant of a package, and constants are written in capitals.

`default_nettype none
// verilator lint_off UNUSEDPARAM
// verilog_lint: waive-start parameter-name-style

package mrc_pkg;

  // Widths in bits
  localparam int unsigned PSN_W = 24;
  localparam int unsigned MSN_W = 16;
  localparam int unsigned QPN_W = 24;
  localparam int unsigned EV_W = 32;
  localparam int unsigned EV_HALF_W = 16;
  localparam int unsigned SACK_BITMAP_W = 64;
  localparam int unsigned TIMESTAMP_W = 16;
  localparam int unsigned RCVD_BYTES_W = 24;
  localparam int unsigned R_KEY_TAG_W = 8;
  localparam int unsigned USID_W = 16;
  localparam int unsigned USID_PLANE_W = 3;
  localparam int unsigned USID_INDEX_W = 11;
  localparam int unsigned USID_UPLINK_W = 8;

  // EtherType (IANA ieee-802-numbers)
  typedef enum logic [15:0] {
    ETHERTYPE_IPV4 = 16'h0800,
    ETHERTYPE_IPV6 = 16'h86DD
  } ethertype_e;

  // IP protocol and IPv6 next-header numbers (IANA protocol-numbers; mrc-facts.md 1.1)
  typedef enum logic [7:0] {
    NEXT_HEADER_UDP     = 8'd17,
    NEXT_HEADER_IPV6    = 8'd41,
    NEXT_HEADER_ROUTING = 8'd43,
    NEXT_HEADER_ICMPV6  = 8'd58,
    NEXT_HEADER_NONE    = 8'd59
  } next_header_e;

  // ICMPv6 message types (RFC 4443 section 2.1, RFC 4861 section 4.5). Those below 128 are errors
  typedef enum logic [7:0] {
    ICMPV6_TYPE_DESTINATION_UNREACHABLE = 8'd1,
    ICMPV6_TYPE_PACKET_TOO_BIG          = 8'd2,
    ICMPV6_TYPE_TIME_EXCEEDED           = 8'd3,
    ICMPV6_TYPE_PARAMETER_PROBLEM       = 8'd4,
    ICMPV6_TYPE_ECHO_REQUEST            = 8'd128,
    ICMPV6_TYPE_ECHO_REPLY              = 8'd129,
    ICMPV6_TYPE_REDIRECT                = 8'd137
  } icmpv6_type_e;

  // Codes of ICMPv6 time exceeded (RFC 4443 section 3.3)
  typedef enum logic [7:0] {
    TIME_EXCEEDED_CODE_HOP_LIMIT  = 8'd0,
    TIME_EXCEEDED_CODE_REASSEMBLY = 8'd1
  } time_exceeded_code_e;

  // Codes of an ICMPv6 parameter problem (RFC 4443 section 3.4, RFC 8986 section 9)
  typedef enum logic [7:0] {
    PARAMETER_PROBLEM_CODE_ERRONEOUS_HEADER_FIELD   = 8'd0,
    PARAMETER_PROBLEM_CODE_UNRECOGNISED_NEXT_HEADER = 8'd1,
    PARAMETER_PROBLEM_CODE_SR_UPPER_LAYER_HEADER    = 8'd4
  } parameter_problem_code_e;

  // SRv6 endpoint behaviours without flavours (IANA segment-routing; RFC 8986 section 10, RFC 9800 section 12)
  typedef enum logic [15:0] {
    ENDPOINT_BEHAVIOUR_END               = 16'd1,
    ENDPOINT_BEHAVIOUR_END_X             = 16'd5,
    ENDPOINT_BEHAVIOUR_END_DT6           = 16'd18,
    ENDPOINT_BEHAVIOUR_END_NEXT_CSID     = 16'd43,
    ENDPOINT_BEHAVIOUR_END_X_NEXT_CSID   = 16'd52,
    ENDPOINT_BEHAVIOUR_END_DT6_NEXT_CSID = 16'd62
  } endpoint_behaviour_e;

  // Why a switch hands a packet to its controller, in packet-in metadata; this project's numbers
  typedef enum logic [7:0] {
    PUNT_NONE         = 8'd0,
    PUNT_ECHO_REQUEST = 8'd1,
    PUNT_HOP_LIMIT    = 8'd2,
    PUNT_BAD_SRH      = 8'd3,
    PUNT_UPPER_LAYER  = 8'd4
  } punt_reason_e;

  // BTH opcode: the IBTA RC operation plus 0xC0 (mrc-facts.md 1.2)
  typedef enum logic [7:0] {
    OPCODE_WRITE_FIRST          = 8'hC6,
    OPCODE_WRITE_MIDDLE         = 8'hC7,
    OPCODE_WRITE_LAST           = 8'hC8,
    OPCODE_WRITE_LAST_IMMEDIATE = 8'hC9,
    OPCODE_WRITE_ONLY           = 8'hCA,
    OPCODE_WRITE_ONLY_IMMEDIATE = 8'hCB,
    OPCODE_ACKNOWLEDGE          = 8'hD1,
    OPCODE_ENDPOINT_REQUEST     = 8'hD8,
    OPCODE_ENDPOINT_RESPONSE    = 8'hD9,
    OPCODE_SACK                 = 8'hDC,
    OPCODE_NACK                 = 8'hDD,
    OPCODE_PROBE_REQUEST        = 8'hDE
  } opcode_e;

  // NETH reason (mrc-facts.md 1.8; the code points of UET 1.0)
  typedef enum logic [7:0] {
    NACK_TRIMMED         = 8'h01,
    NACK_TRIMMED_LASTHOP = 8'h02,
    NACK_NO_BITMAP       = 8'h06,
    NACK_NO_PKT_BUFFER   = 8'h07,
    NACK_NO_RESOURCE     = 8'h0A,
    NACK_PSN_OOR_WINDOW  = 8'h0B,
    NACK_UNEXP_EVENT     = 8'h19
  } nack_reason_e;

  // SETH m: what the sender should do with the reflected EV (mrc-facts.md 1.7)
  typedef enum logic [1:0] {
    SACK_M_NONE        = 2'd0,
    SACK_M_SKIP_ONCE   = 2'd1,
    SACK_M_ALWAYS_SKIP = 2'd2
  } sack_m_e;

  // cc_type of SETH and NETH (mrc-facts.md 1.7, 1.8)
  typedef enum logic [3:0] {
    CC_TYPE_NSCC = 4'd0,
    CC_TYPE_NACK = 4'd2
  } cc_type_e;

  // Operation of ERTH and EETH (mrc-facts.md 1.10)
  typedef enum logic [1:0] {
    ENDPOINT_OP_PORT_STATUS_UPDATE = 2'd0,
    ENDPOINT_OP_EV_PROBE           = 2'd1
  } endpoint_op_e;

  // AETH syndrome (mrc-facts.md 1.11, IBTA). An ACK is 0x00 to 0x1F; MRC has no credits, hence 0x1F
  typedef enum logic [7:0] {
    AETH_ACK                  = 8'h1F,
    AETH_NAK_PSN_SEQUENCE     = 8'h60,
    AETH_NAK_INVALID_REQUEST  = 8'h61,
    AETH_NAK_REMOTE_ACCESS    = 8'h62,
    AETH_NAK_REMOTE_OPERATION = 8'h63
  } aeth_syndrome_e;

  // ftype of TSETH, PETH and ERTH (mrc-facts.md 1.5)
  typedef enum logic [3:0] {
    FTYPE_NONE      = 4'd0,
    FTYPE_TIMESTAMP = 4'd1
  } ftype_e;

  // ECN code points (RFC 3168 section 5)
  typedef enum logic [1:0] {
    ECN_NOT_ECT = 2'd0,
    ECN_ECT1    = 2'd1,
    ECN_ECT0    = 2'd2,
    ECN_CE      = 2'd3
  } ecn_e;

  // DSCP of each traffic class: laboratory values, settable per deployment (mrc-facts.md 1.12, 10)
  typedef enum logic [5:0] {
    DSCP_TRIMMABLE       = 6'd4,
    DSCP_NO_TRIM         = 6'd0,
    DSCP_TRIMMABLE_RETX  = 6'd8,
    DSCP_TRIMMED         = 6'd12,
    DSCP_TRIMMED_LASTHOP = 6'd16,
    DSCP_CONTROL         = 6'd46
  } dscp_e;

  // Protocol numbers
  localparam logic [15:0] UDP_PORT_MRC = 16'd4791;  // mrc-facts.md 1.12, 9
  localparam logic [15:0] UDP_PORT_MRC_SWAPPED = 16'd4971;  // accepted too
  localparam logic [7:0] ROUTING_TYPE_SRH = 8'd4;  // RFC 8754 section 2
  localparam logic [3:0] IP_VERSION_4 = 4'd4;
  localparam logic [3:0] IP_VERSION_6 = 4'd6;
  localparam logic [3:0] IPV4_IHL_WORDS = 4'd5;  // no options
  localparam logic [7:0] HOP_LIMIT_DEFAULT = 8'd64;  // mrc-facts.md 8.1
  localparam logic [15:0] P_KEY_DEFAULT = 16'hFFFF;
  localparam logic [3:0] BTH_TRANSPORT_VERSION = 4'd0;
  localparam logic [23:0] ENDPOINT_QP = 24'd2;  // mrc-facts.md 1.3

  // Units
  localparam int unsigned TIMESTAMP_UNIT_NS = 128;  // mrc-facts.md 1.5
  localparam int unsigned MPR_UNIT_PSNS = 128;  // mrc-facts.md 2.5
  localparam int unsigned RCVD_BYTES_UNIT = 256;  // mrc-facts.md 1.7
  localparam int unsigned ACK_TIMEOUT_UNIT_NS = 1024;  // times 2**t; mrc-facts.md 2.4
  localparam int unsigned NOMINAL_OVERHEAD_BYTES = 40;  // mrc-facts.md 3
  localparam int unsigned SACK_THRESHOLD_BYTES = 16384;  // mrc-facts.md 10
  localparam int unsigned SACK_MIN_BYTES_PER_PACKET = 1024;  // mrc-facts.md 3
  localparam int unsigned ICRC_BYTES = 4;

  // Trim sizes in bytes of the frame, Ethernet header included (mrc-facts.md 1.14, 10)
  localparam int unsigned TRIM_BYTES_SRV6 = 144;
  localparam int unsigned TRIM_BYTES_SRH_EXTRA = 24;  // added when there is an SRH
  localparam int unsigned TRIM_BYTES_PLAIN = 104;  // without an outer header

  // Ports and queues of a switch (docs/switch.md)
  localparam logic [8:0] CPU_PORT = 9'd510;  // packet-in and packet-out
  localparam logic [2:0] DATA_PRIORITY = 3'd0;  // served last
  localparam logic [2:0] HIGH_PRIORITY = 3'd7;  // control and trimmed packets; mrc-facts.md 1.12

  // uSID format F3216 and the split of a uSID: role, plane, index (mrc-facts.md 4.1)
  localparam int unsigned USID_BLOCK_BITS = 32;
  localparam int unsigned USID_BITS = 16;
  localparam int unsigned USID_TABLE_PREFIX_BITS = 48;  // block and own uSID
  localparam int unsigned USID_PASSES_MAX = 2;  // own uSID twice; mrc-facts.md 11
  localparam logic [127:0] USID_BLOCK_MASK = 128'hFFFFFFFF000000000000000000000000;
  // every uSID, the active one first
  localparam logic [127:0] USID_CARRIER_MASK = 128'h00000000FFFFFFFFFFFFFFFFFFFFFFFF;
  // uSIDs behind the active one
  localparam logic [127:0] USID_ARGUMENT_MASK = 128'h000000000000FFFFFFFFFFFFFFFFFFFF;
  localparam logic [31:0] USID_BLOCK_DEFAULT = 32'hFC000000;
  localparam logic [15:0] USID_LOCAL_BLOCK_FIRST = 16'hE000;  // up to FFFF: uA
  localparam logic [15:0] USID_ROLE_MASK = 16'hC000;
  localparam logic [15:0] USID_PLANE_MASK = 16'h3800;
  localparam logic [15:0] USID_INDEX_MASK = 16'h07FF;

  // Bits 15:14 of a uSID of the global block (mrc-facts.md 4.1; 3 is unused)
  typedef enum logic [1:0] {
    USID_ROLE_T0  = 2'd0,
    USID_ROLE_T1  = 2'd1,
    USID_ROLE_NIC = 2'd2
  } usid_role_e;

  // Header sizes in bytes
  localparam int unsigned ETHERNET_BYTES = 14;
  localparam int unsigned IPV6_BYTES = 40;
  localparam int unsigned IPV4_BYTES = 20;
  localparam int unsigned SRH_BYTES = 8;
  localparam int unsigned SEGMENT_BYTES = 16;
  localparam int unsigned ICMPV6_BYTES = 8;
  localparam int unsigned UDP_BYTES = 8;
  localparam int unsigned BTH_BYTES = 12;
  localparam int unsigned METH_BYTES = 4;
  localparam int unsigned TSETH_BYTES = 4;
  localparam int unsigned RETH_BYTES = 16;
  localparam int unsigned IMMDT_BYTES = 4;
  localparam int unsigned AETH_BYTES = 4;
  localparam int unsigned SETH_BYTES = 28;
  localparam int unsigned CC_STATE_BYTES = 8;
  localparam int unsigned NETH_BYTES = 20;
  localparam int unsigned PETH_BYTES = 16;
  localparam int unsigned ERTH_BYTES = 16;
  localparam int unsigned EETH_BYTES = 36;
  localparam int unsigned EETH_OP_54_BYTES = 36;

  // Ethernet II, 14 bytes (IEEE 802.3; mrc-facts.md 1.1).
  typedef struct packed {
    logic [47:0] dst;
    logic [47:0] src;
    logic [15:0] ethertype;
  } ethernet_t;

  // IPv6, outer and inner, 40 bytes (RFC 8200 section 3; mrc-facts.md 1.1, 1.12).
  typedef struct packed {
    logic [3:0]   version;
    logic [5:0]   dscp;            // see the DSCP classes
    logic [1:0]   ecn;
    logic [19:0]  flow_label;      // low 16 bits: half of the EV
    logic [15:0]  payload_length;
    logic [7:0]   next_header;
    logic [7:0]   hop_limit;
    logic [127:0] src;
    logic [127:0] dst;             // outer: the uSID path
  } ipv6_t;

  // IPv4 without options, in UDP-EV mode, 20 bytes (RFC 791 section 3.1; mrc-facts.md 1.1).
  typedef struct packed {
    logic [3:0]  version;
    logic [3:0]  ihl;              // 32-bit words
    logic [5:0]  dscp;
    logic [1:0]  ecn;
    logic [15:0] total_length;
    logic [15:0] identification;
    logic        reserved0;
    logic        dont_fragment;
    logic        more_fragments;
    logic [12:0] fragment_offset;
    logic [7:0]  ttl;
    logic [7:0]  protocol;
    logic [15:0] checksum;
    logic [31:0] src;
    logic [31:0] dst;
  } ipv4_t;

  // Segment Routing Header, its fixed part, 8 bytes (RFC 8754 section 2; mrc-facts.md 8.1).
  typedef struct packed {
    logic [7:0]  next_header;
    logic [7:0]  hdr_ext_len;    // units of 8 bytes, without the first 8
    logic [7:0]  routing_type;
    logic [7:0]  segments_left;
    logic [7:0]  last_entry;     // index of the last element of the segment list
    logic [7:0]  flags;
    logic [15:0] tag;
  } srh_t;

  // One SRH segment, the last of the path first, 16 bytes (RFC 8754 section 2).
  typedef struct packed {logic [127:0] address;} segment_t;

  // Internet Control Message Protocol for IPv6, its first 8 bytes, 8 bytes (RFC 4443 section 2.1).
  typedef struct packed {
    logic [7:0]  message_type;
    logic [7:0]  code;
    logic [15:0] checksum;
    logic [31:0] body;          // identifier and sequence number; pointer; unused: by message type
  } icmpv6_t;

  // User Datagram Protocol, 8 bytes (RFC 768; mrc-facts.md 1.12).
  typedef struct packed {
    logic [15:0] src_port;  // half of the EV
    logic [15:0] dst_port;
    logic [15:0] length;
    logic [15:0] checksum;  // 0 when sent, ignored when received: the ICRC protects
  } udp_t;

  // Base Transport Header, 12 bytes (mrc-facts.md 1.3).
  typedef struct packed {
    logic [7:0]  opcode;
    logic        se;                  // solicited event; bit 7 as in IBTA, mrc-facts.md 9
    logic        m;                   // migration state; bit 6 as in IBTA
    logic [1:0]  pad_count;           // bytes of padding behind the payload
    logic [3:0]  version;
    logic [15:0] p_key;
    logic [7:0]  reserved_variant;    // all ones in the ICRC
    logic [23:0] dest_qp;
    logic        ack_req;             // asks for an immediate SACK
    logic        reserved_r;          // R: meaning not public
    logic        rtx;                 // 1 on a retransmission
    logic        ts;                  // 1 when TSETH follows
    logic [3:0]  reserved_invariant;  // covered by the ICRC
    logic [23:0] psn;                 // request id in bits 15:0 for endpoint operations
  } bth_t;

  // Message Extended Transport Header, 4 bytes (mrc-facts.md 1.4).
  typedef struct packed {
    logic [15:0] rqmsn;  // counts writes with immediate
    logic [15:0] msn;    // counts messages
  } meth_t;

  // Timestamp Extended Transport Header, 4 bytes (mrc-facts.md 1.5).
  typedef struct packed {
    logic [15:0] tx_timestamp;  // units of 128 ns when tsr = 0
    logic        tsr;           // 1: implementation-defined resolution
    logic [10:0] reserved_ts;
    logic [3:0]  ftype;
  } tseth_t;

  // RDMA Extended Transport Header, 16 bytes (mrc-facts.md 1.6).
  typedef struct packed {
    logic [63:0] va;          // where this packet's payload goes
    logic [31:0] r_key;
    logic [31:0] dma_length;  // bytes of the whole message, mrc-facts.md 10
  } reth_t;

  // Immediate Data, 4 bytes (mrc-facts.md 1.11).
  typedef struct packed {logic [31:0] immediate;} immdt_t;

  // Acknowledge Extended Transport Header, 4 bytes (mrc-facts.md 1.11).
  typedef struct packed {
    logic [7:0]  syndrome;
    logic [23:0] msn;
  } aeth_t;

  // SACK Extended Transport Header, 28 bytes (mrc-facts.md 1.7).
  typedef struct packed {
    logic [3:0]         header_type;     // 0
    logic [4:0]         nxt;
    logic [1:0]         m;
    logic [2:0]         reserved0;
    logic               pr;              // 1: answers a probe
    logic               reserved1;
    logic signed [15:0] ack_psn_offset;  // triggering PSN - cack_psn; the probe id when pr = 1
    logic [31:0]        entropy;         // EV of the triggering packet
    logic [15:0]        spdcid;          // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    logic [15:0]        dpdcid;          // low 16 bits of the other QPN
    logic [7:0]         reserved2;
    logic [23:0]        cack_psn;        // everything at or below has been received
    logic [3:0]         cc_type;
    logic [3:0]         cc_fl;
    logic [7:0]         mpr;             // units of 128 PSNs; 0 without Dynamic MPR
    logic signed [15:0] sack_offset;     // bitmap base - cack_psn
    logic [63:0]        sack_bitmap;     // bit i, LSB = 0, stands for base + i
  } seth_t;

  // Congestion control state, behind SETH, 8 bytes (mrc-facts.md 1.7).
  typedef struct packed {
    logic [15:0] tx_timestamp;  // reflected from TSETH
    logic        reserved0;
    logic [14:0] ooo_count;     // out-of-order packets held
    logic        restore_cwnd;
    logic [6:0]  rcv_cwnd_pen;
    logic [23:0] rcvd_bytes;    // running total in units of 256 bytes, rounded up
  } cc_state_t;

  // NACK Extended Transport Header, 20 bytes (mrc-facts.md 1.8).
  typedef struct packed {
    logic [3:0]  header_type;   // 0
    logic [4:0]  nxt;
    logic [6:0]  reserved0;
    logic [7:0]  reason;
    logic [7:0]  vendor_info;
    logic [31:0] entropy;       // EV of the triggering packet
    logic [15:0] spdcid;        // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    logic [15:0] dpdcid;        // low 16 bits of the other QPN
    logic [7:0]  reserved1;
    logic [23:0] nack_psn;
    logic [3:0]  cc_type;
    logic [3:0]  cc_fl;
    logic [7:0]  reserved2;
    logic [15:0] tx_timestamp;  // reflected from TSETH
  } neth_t;

  // Probe Extended Transport Header, 16 bytes (mrc-facts.md 1.9).
  typedef struct packed {
    logic [3:0]  header_type;   // 0
    logic [4:0]  nxt;
    logic [6:0]  reserved0;
    logic [7:0]  reserved1;
    logic [7:0]  vendor_info;
    logic [15:0] probe_id;
    logic [15:0] reserved2;
    logic [15:0] spdcid;        // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    logic [15:0] dpdcid;        // low 16 bits of the other QPN
    logic [15:0] tx_timestamp;  // units of 128 ns when tsr = 0
    logic        tsr;           // 1: implementation-defined resolution
    logic [10:0] reserved_ts;
    logic [3:0]  ftype;
  } peth_t;

  // Endpoint Request Extended Transport Header, 16 bytes (mrc-facts.md 1.10).
  typedef struct packed {
    logic [7:0]  reserved0;
    logic [5:0]  reserved1;
    logic [1:0]  op;
    logic [7:0]  reserved2;
    logic [7:0]  vendor_info;
    logic [31:0] port_status_mask;  // bit = 1: port reachable
    logic [31:0] reserved3;
    logic [15:0] tx_timestamp;      // units of 128 ns when tsr = 0
    logic        tsr;               // 1: implementation-defined resolution
    logic [10:0] reserved_ts;
    logic [3:0]  ftype;
  } erth_t;

  // Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: op in bits 3:2 of byte 1).
  typedef struct packed {
    logic [7:0]  reserved0;
    logic [3:0]  reserved1;
    logic [1:0]  op;
    logic [1:0]  reserved2;
    logic [47:0] reserved3;
    logic [63:0] reserved4;
    logic [63:0] reserved5;
    logic [31:0] reserved6;
    logic [15:0] tx_timestamp;  // reflected from the request
    logic [47:0] reserved7;
  } eeth_t;

  // Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: the other reading, op in bits 5:4 of byte 1).
  typedef struct packed {
    logic [7:0]  reserved0;
    logic [1:0]  reserved1;
    logic [1:0]  op;
    logic [3:0]  reserved2;
    logic [47:0] reserved3;
    logic [63:0] reserved4;
    logic [63:0] reserved5;
    logic [31:0] reserved6;
    logic [15:0] tx_timestamp;  // reflected from the request
    logic [47:0] reserved7;
  } eeth_op_54_t;

endpackage
// verilog_lint: waive-stop parameter-name-style
// verilator lint_on UNUSEDPARAM
`default_nettype wire
