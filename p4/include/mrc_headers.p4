// Header types and constants of the MRC wire.
// Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.

#ifndef MRC_HEADERS_P4
#define MRC_HEADERS_P4

// EtherType (IANA ieee-802-numbers)
@noWarn("unused") const bit<16> ETHERTYPE_IPV4 = 0x0800;
@noWarn("unused") const bit<16> ETHERTYPE_IPV6 = 0x86DD;

// IP protocol and IPv6 next-header numbers (IANA protocol-numbers; mrc-facts.md 1.1)
@noWarn("unused") const bit<8> NEXT_HEADER_UDP = 17;
@noWarn("unused") const bit<8> NEXT_HEADER_IPV6 = 41;
@noWarn("unused") const bit<8> NEXT_HEADER_ROUTING = 43;
@noWarn("unused") const bit<8> NEXT_HEADER_ICMPV6 = 58;
@noWarn("unused") const bit<8> NEXT_HEADER_NONE = 59;

// ICMPv6 message types (RFC 4443 section 2.1, RFC 4861 section 4.5). Those below 128 are errors
@noWarn("unused") const bit<8> ICMPV6_TYPE_DESTINATION_UNREACHABLE = 1;
@noWarn("unused") const bit<8> ICMPV6_TYPE_PACKET_TOO_BIG = 2;
@noWarn("unused") const bit<8> ICMPV6_TYPE_TIME_EXCEEDED = 3;
@noWarn("unused") const bit<8> ICMPV6_TYPE_PARAMETER_PROBLEM = 4;
@noWarn("unused") const bit<8> ICMPV6_TYPE_ECHO_REQUEST = 128;
@noWarn("unused") const bit<8> ICMPV6_TYPE_ECHO_REPLY = 129;
@noWarn("unused") const bit<8> ICMPV6_TYPE_REDIRECT = 137;

// Codes of ICMPv6 time exceeded (RFC 4443 section 3.3)
@noWarn("unused") const bit<8> TIME_EXCEEDED_CODE_HOP_LIMIT = 0;
@noWarn("unused") const bit<8> TIME_EXCEEDED_CODE_REASSEMBLY = 1;

// Codes of an ICMPv6 parameter problem (RFC 4443 section 3.4, RFC 8986 section 9)
@noWarn("unused") const bit<8> PARAMETER_PROBLEM_CODE_ERRONEOUS_HEADER_FIELD = 0;
@noWarn("unused") const bit<8> PARAMETER_PROBLEM_CODE_UNRECOGNISED_NEXT_HEADER = 1;
@noWarn("unused") const bit<8> PARAMETER_PROBLEM_CODE_SR_UPPER_LAYER_HEADER = 4;

// SRv6 endpoint behaviours without flavours (IANA segment-routing; RFC 8986 section 10, RFC 9800 section 12)
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END = 1;
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END_X = 5;
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END_DT6 = 18;
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END_NEXT_CSID = 43;
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END_X_NEXT_CSID = 52;
@noWarn("unused") const bit<16> ENDPOINT_BEHAVIOUR_END_DT6_NEXT_CSID = 62;

// Why a switch hands a packet to its controller, in packet-in metadata; this project's numbers
@noWarn("unused") const bit<8> PUNT_NONE = 0;
@noWarn("unused") const bit<8> PUNT_ECHO_REQUEST = 1;
@noWarn("unused") const bit<8> PUNT_HOP_LIMIT = 2;
@noWarn("unused") const bit<8> PUNT_BAD_SRH = 3;
@noWarn("unused") const bit<8> PUNT_UPPER_LAYER = 4;

// BTH opcode: the IBTA RC operation plus 0xC0 (mrc-facts.md 1.2)
@noWarn("unused") const bit<8> OPCODE_WRITE_FIRST = 0xC6;
@noWarn("unused") const bit<8> OPCODE_WRITE_MIDDLE = 0xC7;
@noWarn("unused") const bit<8> OPCODE_WRITE_LAST = 0xC8;
@noWarn("unused") const bit<8> OPCODE_WRITE_LAST_IMMEDIATE = 0xC9;
@noWarn("unused") const bit<8> OPCODE_WRITE_ONLY = 0xCA;
@noWarn("unused") const bit<8> OPCODE_WRITE_ONLY_IMMEDIATE = 0xCB;
@noWarn("unused") const bit<8> OPCODE_ACKNOWLEDGE = 0xD1;
@noWarn("unused") const bit<8> OPCODE_ENDPOINT_REQUEST = 0xD8;
@noWarn("unused") const bit<8> OPCODE_ENDPOINT_RESPONSE = 0xD9;
@noWarn("unused") const bit<8> OPCODE_SACK = 0xDC;
@noWarn("unused") const bit<8> OPCODE_NACK = 0xDD;
@noWarn("unused") const bit<8> OPCODE_PROBE_REQUEST = 0xDE;

// NETH reason (mrc-facts.md 1.8; the code points of UET 1.0)
@noWarn("unused") const bit<8> NACK_TRIMMED = 0x01;
@noWarn("unused") const bit<8> NACK_TRIMMED_LASTHOP = 0x02;
@noWarn("unused") const bit<8> NACK_NO_BITMAP = 0x06;
@noWarn("unused") const bit<8> NACK_NO_PKT_BUFFER = 0x07;
@noWarn("unused") const bit<8> NACK_NO_RESOURCE = 0x0A;
@noWarn("unused") const bit<8> NACK_PSN_OOR_WINDOW = 0x0B;
@noWarn("unused") const bit<8> NACK_UNEXP_EVENT = 0x19;

// SETH m: what the sender should do with the reflected EV (mrc-facts.md 1.7)
@noWarn("unused") const bit<2> SACK_M_NONE = 0;
@noWarn("unused") const bit<2> SACK_M_SKIP_ONCE = 1;
@noWarn("unused") const bit<2> SACK_M_ALWAYS_SKIP = 2;

// cc_type of SETH and NETH (mrc-facts.md 1.7, 1.8)
@noWarn("unused") const bit<4> CC_TYPE_NSCC = 0;
@noWarn("unused") const bit<4> CC_TYPE_NACK = 2;

// Operation of ERTH and EETH (mrc-facts.md 1.10)
@noWarn("unused") const bit<2> ENDPOINT_OP_PORT_STATUS_UPDATE = 0;
@noWarn("unused") const bit<2> ENDPOINT_OP_EV_PROBE = 1;

// AETH syndrome (mrc-facts.md 1.11, IBTA). An ACK is 0x00 to 0x1F; MRC has no credits, hence 0x1F
@noWarn("unused") const bit<8> AETH_ACK = 0x1F;
@noWarn("unused") const bit<8> AETH_NAK_PSN_SEQUENCE = 0x60;
@noWarn("unused") const bit<8> AETH_NAK_INVALID_REQUEST = 0x61;
@noWarn("unused") const bit<8> AETH_NAK_REMOTE_ACCESS = 0x62;
@noWarn("unused") const bit<8> AETH_NAK_REMOTE_OPERATION = 0x63;

// ftype of TSETH, PETH and ERTH (mrc-facts.md 1.5)
@noWarn("unused") const bit<4> FTYPE_NONE = 0;
@noWarn("unused") const bit<4> FTYPE_TIMESTAMP = 1;

// ECN code points (RFC 3168 section 5)
@noWarn("unused") const bit<2> ECN_NOT_ECT = 0;
@noWarn("unused") const bit<2> ECN_ECT1 = 1;
@noWarn("unused") const bit<2> ECN_ECT0 = 2;
@noWarn("unused") const bit<2> ECN_CE = 3;

// DSCP of each traffic class: laboratory values, settable per deployment (mrc-facts.md 1.12, 10)
@noWarn("unused") const bit<6> DSCP_TRIMMABLE = 4;
@noWarn("unused") const bit<6> DSCP_NO_TRIM = 0;
@noWarn("unused") const bit<6> DSCP_TRIMMABLE_RETX = 8;
@noWarn("unused") const bit<6> DSCP_TRIMMED = 12;
@noWarn("unused") const bit<6> DSCP_TRIMMED_LASTHOP = 16;
@noWarn("unused") const bit<6> DSCP_CONTROL = 46;

// Protocol numbers
@noWarn("unused") const bit<16> UDP_PORT_MRC = 4791;  // mrc-facts.md 1.12, 9
@noWarn("unused") const bit<16> UDP_PORT_MRC_SWAPPED = 4971;  // accepted too
@noWarn("unused") const bit<8> ROUTING_TYPE_SRH = 4;  // RFC 8754 section 2
@noWarn("unused") const bit<4> IP_VERSION_4 = 4;
@noWarn("unused") const bit<4> IP_VERSION_6 = 6;
@noWarn("unused") const bit<4> IPV4_IHL_WORDS = 5;  // no options
@noWarn("unused") const bit<8> HOP_LIMIT_DEFAULT = 64;  // mrc-facts.md 8.1
@noWarn("unused") const bit<16> P_KEY_DEFAULT = 0xFFFF;
@noWarn("unused") const bit<4> BTH_TRANSPORT_VERSION = 0;
@noWarn("unused") const bit<24> ENDPOINT_QP = 2;  // mrc-facts.md 1.3

// Units
@noWarn("unused") const bit<32> TIMESTAMP_UNIT_NS = 128;  // mrc-facts.md 1.5
@noWarn("unused") const bit<32> MPR_UNIT_PSNS = 128;  // mrc-facts.md 2.5
@noWarn("unused") const bit<32> RCVD_BYTES_UNIT = 256;  // mrc-facts.md 1.7
@noWarn("unused") const bit<32> ACK_TIMEOUT_UNIT_NS = 1024;  // times 2**t; mrc-facts.md 2.4
@noWarn("unused") const bit<32> NOMINAL_OVERHEAD_BYTES = 40;  // mrc-facts.md 3
@noWarn("unused") const bit<32> SACK_THRESHOLD_BYTES = 16384;  // mrc-facts.md 10
@noWarn("unused") const bit<32> SACK_MIN_BYTES_PER_PACKET = 1024;  // mrc-facts.md 3
@noWarn("unused") const bit<32> ICRC_BYTES = 4;

// Trim sizes in bytes of the frame, Ethernet header included (mrc-facts.md 1.14, 10)
@noWarn("unused") const bit<32> TRIM_BYTES_SRV6 = 144;
@noWarn("unused") const bit<32> TRIM_BYTES_SRH_EXTRA = 24;  // added when there is an SRH
@noWarn("unused") const bit<32> TRIM_BYTES_PLAIN = 104;  // without an outer header

// Ports and queues of a switch (docs/switch.md)
@noWarn("unused") const bit<9> CPU_PORT = 510;  // packet-in and packet-out
@noWarn("unused") const bit<3> DATA_PRIORITY = 0;  // served last
@noWarn("unused") const bit<3> HIGH_PRIORITY = 7;  // control and trimmed packets; mrc-facts.md 1.12

// uSID format F3216 and the split of a uSID: role, plane, index (mrc-facts.md 4.1)
@noWarn("unused") const bit<32> USID_BLOCK_BITS = 32;
@noWarn("unused") const bit<32> USID_BITS = 16;
@noWarn("unused") const bit<32> USID_TABLE_PREFIX_BITS = 48;  // block and own uSID
@noWarn("unused") const bit<32> USID_PASSES_MAX = 2;  // own uSID twice; mrc-facts.md 11
@noWarn("unused") const bit<128> USID_BLOCK_MASK = 0xFFFFFFFF000000000000000000000000;
@noWarn("unused") const bit<128> USID_CARRIER_MASK = 0x00000000FFFFFFFFFFFFFFFFFFFFFFFF;  // every uSID, the active one first
@noWarn("unused") const bit<128> USID_ARGUMENT_MASK = 0x000000000000FFFFFFFFFFFFFFFFFFFF;  // uSIDs behind the active one
@noWarn("unused") const bit<32> USID_BLOCK_DEFAULT = 0xFC000000;
@noWarn("unused") const bit<16> USID_LOCAL_BLOCK_FIRST = 0xE000;  // up to FFFF: uA
@noWarn("unused") const bit<16> USID_ROLE_MASK = 0xC000;
@noWarn("unused") const bit<16> USID_PLANE_MASK = 0x3800;
@noWarn("unused") const bit<16> USID_INDEX_MASK = 0x07FF;

// Bits 15:14 of a uSID of the global block (mrc-facts.md 4.1; 3 is unused)
@noWarn("unused") const bit<2> USID_ROLE_T0 = 0;
@noWarn("unused") const bit<2> USID_ROLE_T1 = 1;
@noWarn("unused") const bit<2> USID_ROLE_NIC = 2;

// Header sizes in bytes
@noWarn("unused") const bit<32> ETHERNET_BYTES = 14;
@noWarn("unused") const bit<32> IPV6_BYTES = 40;
@noWarn("unused") const bit<32> IPV4_BYTES = 20;
@noWarn("unused") const bit<32> SRH_BYTES = 8;
@noWarn("unused") const bit<32> SEGMENT_BYTES = 16;
@noWarn("unused") const bit<32> ICMPV6_BYTES = 8;
@noWarn("unused") const bit<32> UDP_BYTES = 8;
@noWarn("unused") const bit<32> BTH_BYTES = 12;
@noWarn("unused") const bit<32> METH_BYTES = 4;
@noWarn("unused") const bit<32> TSETH_BYTES = 4;
@noWarn("unused") const bit<32> RETH_BYTES = 16;
@noWarn("unused") const bit<32> IMMDT_BYTES = 4;
@noWarn("unused") const bit<32> AETH_BYTES = 4;
@noWarn("unused") const bit<32> SETH_BYTES = 28;
@noWarn("unused") const bit<32> CC_STATE_BYTES = 8;
@noWarn("unused") const bit<32> NETH_BYTES = 20;
@noWarn("unused") const bit<32> PETH_BYTES = 16;
@noWarn("unused") const bit<32> ERTH_BYTES = 16;
@noWarn("unused") const bit<32> EETH_BYTES = 36;
@noWarn("unused") const bit<32> EETH_OP_54_BYTES = 36;

// Ethernet II, 14 bytes (IEEE 802.3; mrc-facts.md 1.1).
header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> ethertype;
}

// IPv6, outer and inner, 40 bytes (RFC 8200 section 3; mrc-facts.md 1.1, 1.12).
header ipv6_t {
    bit<4> version;
    bit<6> dscp;  // see the DSCP classes
    bit<2> ecn;
    bit<20> flow_label;  // low 16 bits: half of the EV
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> src;
    bit<128> dst;  // outer: the uSID path
}

// IPv4 without options, in UDP-EV mode, 20 bytes (RFC 791 section 3.1; mrc-facts.md 1.1).
header ipv4_t {
    bit<4> version;
    bit<4> ihl;  // 32-bit words
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved0;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

// Segment Routing Header, its fixed part, 8 bytes (RFC 8754 section 2; mrc-facts.md 8.1).
header srh_t {
    bit<8> next_header;
    bit<8> hdr_ext_len;  // units of 8 bytes, without the first 8
    bit<8> routing_type;
    bit<8> segments_left;
    bit<8> last_entry;  // index of the last element of the segment list
    bit<8> flags;
    bit<16> tag;
}

// One SRH segment, the last of the path first, 16 bytes (RFC 8754 section 2).
header segment_t {
    bit<128> address;
}

// Internet Control Message Protocol for IPv6, its first 8 bytes, 8 bytes (RFC 4443 section 2.1).
header icmpv6_t {
    bit<8> message_type;
    bit<8> code;
    bit<16> checksum;
    bit<32> body;  // identifier and sequence number; pointer; unused: by message type
}

// User Datagram Protocol, 8 bytes (RFC 768; mrc-facts.md 1.12).
header udp_t {
    bit<16> src_port;  // half of the EV
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;  // 0 when sent, ignored when received: the ICRC protects
}

// Base Transport Header, 12 bytes (mrc-facts.md 1.3).
header bth_t {
    bit<8> opcode;
    bit<1> se;  // solicited event; bit 7 as in IBTA, mrc-facts.md 9
    bit<1> m;  // migration state; bit 6 as in IBTA
    bit<2> pad_count;  // bytes of padding behind the payload
    bit<4> version;
    bit<16> p_key;
    bit<8> reserved_variant;  // all ones in the ICRC
    bit<24> dest_qp;
    bit<1> ack_req;  // asks for an immediate SACK
    bit<1> reserved_r;  // R: meaning not public
    bit<1> rtx;  // 1 on a retransmission
    bit<1> ts;  // 1 when TSETH follows
    bit<4> reserved_invariant;  // covered by the ICRC
    bit<24> psn;  // request id in bits 15:0 for endpoint operations
}

// Message Extended Transport Header, 4 bytes (mrc-facts.md 1.4).
header meth_t {
    bit<16> rqmsn;  // counts writes with immediate
    bit<16> msn;  // counts messages
}

// Timestamp Extended Transport Header, 4 bytes (mrc-facts.md 1.5).
header tseth_t {
    bit<16> tx_timestamp;  // units of 128 ns when tsr = 0
    bit<1> tsr;  // 1: implementation-defined resolution
    bit<11> reserved_ts;
    bit<4> ftype;
}

// RDMA Extended Transport Header, 16 bytes (mrc-facts.md 1.6).
header reth_t {
    bit<64> va;  // where this packet's payload goes
    bit<32> r_key;
    bit<32> dma_length;  // bytes of the whole message, mrc-facts.md 10
}

// Immediate Data, 4 bytes (mrc-facts.md 1.11).
header immdt_t {
    bit<32> immediate;
}

// Acknowledge Extended Transport Header, 4 bytes (mrc-facts.md 1.11).
header aeth_t {
    bit<8> syndrome;
    bit<24> msn;
}

// SACK Extended Transport Header, 28 bytes (mrc-facts.md 1.7).
header seth_t {
    bit<4> header_type;  // 0
    bit<5> nxt;
    bit<2> m;
    bit<3> reserved0;
    bit<1> pr;  // 1: answers a probe
    bit<1> reserved1;
    bit<16> ack_psn_offset;  // triggering PSN - cack_psn; the probe id when pr = 1
    bit<32> entropy;  // EV of the triggering packet
    bit<16> spdcid;  // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    bit<16> dpdcid;  // low 16 bits of the other QPN
    bit<8> reserved2;
    bit<24> cack_psn;  // everything at or below has been received
    bit<4> cc_type;
    bit<4> cc_fl;
    bit<8> mpr;  // units of 128 PSNs; 0 without Dynamic MPR
    bit<16> sack_offset;  // bitmap base - cack_psn
    bit<64> sack_bitmap;  // bit i, LSB = 0, stands for base + i
}

// Congestion control state, behind SETH, 8 bytes (mrc-facts.md 1.7).
header cc_state_t {
    bit<16> tx_timestamp;  // reflected from TSETH
    bit<1> reserved0;
    bit<15> ooo_count;  // out-of-order packets held
    bit<1> restore_cwnd;
    bit<7> rcv_cwnd_pen;
    bit<24> rcvd_bytes;  // running total in units of 256 bytes, rounded up
}

// NACK Extended Transport Header, 20 bytes (mrc-facts.md 1.8).
header neth_t {
    bit<4> header_type;  // 0
    bit<5> nxt;
    bit<7> reserved0;
    bit<8> reason;
    bit<8> vendor_info;
    bit<32> entropy;  // EV of the triggering packet
    bit<16> spdcid;  // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    bit<16> dpdcid;  // low 16 bits of the other QPN
    bit<8> reserved1;
    bit<24> nack_psn;
    bit<4> cc_type;
    bit<4> cc_fl;
    bit<8> reserved2;
    bit<16> tx_timestamp;  // reflected from TSETH
}

// Probe Extended Transport Header, 16 bytes (mrc-facts.md 1.9).
header peth_t {
    bit<4> header_type;  // 0
    bit<5> nxt;
    bit<7> reserved0;
    bit<8> reserved1;
    bit<8> vendor_info;
    bit<16> probe_id;
    bit<16> reserved2;
    bit<16> spdcid;  // low 16 bits of a QPN, see WireOptions.spdcid_is_sender
    bit<16> dpdcid;  // low 16 bits of the other QPN
    bit<16> tx_timestamp;  // units of 128 ns when tsr = 0
    bit<1> tsr;  // 1: implementation-defined resolution
    bit<11> reserved_ts;
    bit<4> ftype;
}

// Endpoint Request Extended Transport Header, 16 bytes (mrc-facts.md 1.10).
header erth_t {
    bit<8> reserved0;
    bit<6> reserved1;
    bit<2> op;
    bit<8> reserved2;
    bit<8> vendor_info;
    bit<32> port_status_mask;  // bit = 1: port reachable
    bit<32> reserved3;
    bit<16> tx_timestamp;  // units of 128 ns when tsr = 0
    bit<1> tsr;  // 1: implementation-defined resolution
    bit<11> reserved_ts;
    bit<4> ftype;
}

// Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: op in bits 3:2 of byte 1).
header eeth_t {
    bit<8> reserved0;
    bit<4> reserved1;
    bit<2> op;
    bit<2> reserved2;
    bit<48> reserved3;
    bit<64> reserved4;
    bit<64> reserved5;
    bit<32> reserved6;
    bit<16> tx_timestamp;  // reflected from the request
    bit<48> reserved7;
}

// Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: the other reading, op in bits 5:4 of byte 1).
header eeth_op_54_t {
    bit<8> reserved0;
    bit<2> reserved1;
    bit<2> op;
    bit<4> reserved2;
    bit<48> reserved3;
    bit<64> reserved4;
    bit<64> reserved5;
    bit<32> reserved6;
    bit<16> tx_timestamp;  // reflected from the request
    bit<48> reserved7;
}

#endif  // MRC_HEADERS_P4
