// Reads inner IP header, UDP, BTH and what follows, and judges all of a frame but its ICRC.
//
// Three stages: fields and what can be said of each alone; lengths, entropy value and the headers
// of a write in their places; the first fault from the front. What must be seen of the whole frame
// is known when its last beat passes, so all stages go on each clock and what leaves them is right
// three clocks behind the step of the last beat.
//
// Latency: 3 clocks from the step of the last beat. Throughput: a frame each clock.

`default_nettype none

module mrc_rx_headers
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire rx_config_t config_i,
    // The beat of a frame, the one behind it, and the one that will be held next.
    input wire logic step_i,
    input wire rx_beat_t beat_i,
    input wire rx_outer_t outer_i,
    input wire logic cut_i,
    input wire logic next_valid_i,
    // Not every bit is used: no more than its start, and how long it is.
    // verilator lint_off UNUSEDSIGNAL
    input wire rx_beat_t next_i,
    // verilator lint_on UNUSEDSIGNAL
    // In the clock of `end_o`.
    output logic end_o,
    output logic bad_o,  // for one of the causes ahead of the ICRC
    output drop_cause_e cause_o,
    output logic no_icrc_o,  // trimmed: nothing to check
    output logic ecn_bad_o,
    output logic oversize_o,
    output rx_desc_t desc_o,
    output logic [PAYLOAD_BEATS_W-1:0] beats_o
);

  localparam int unsigned TRANSPORT_W = $bits(udp_t) + $bits(bth_t) + BODY_W;
  localparam int unsigned STAMP_END = UDP_BYTES + BTH_BYTES + METH_BYTES + TSETH_BYTES;
  localparam int unsigned SIZE_W = $clog2(BODY_BYTES + 1);

  // ------------------------------------------------ fields

  typedef struct packed {
    logic        bad;
    drop_cause_e cause;
  } fault_t;

  typedef struct packed {
    rx_outer_t outer;
    logic [127:0] src;
    logic [127:0] dst;
    logic [EV_HALF_W-1:0] flow_label;
    logic [1:0] ecn;
    logic [LENGTH_W-1:0] length;  // of the inner IP packet, without its header over IPv6
    udp_t udp;
    bth_t bth;
    logic [BODY_W-1:0] body;
    logic stamp_there;
    logic is_write;
    logic immediate;
    logic [SIZE_W-1:0] body_bytes;  // without TSETH
    fault_t before_checksum;
    fault_t behind_checksum;
  } fields_t;

  // Not every bit is used: a header is read as a whole.
  // verilator lint_off UNUSEDSIGNAL
  ipv6_t ip6;
  ipv4_t ip4;
  logic [2*BUS_W-1:0] pair;
  // verilator lint_on UNUSEDSIGNAL
  logic v6;
  logic [BEAT_BYTES_W-1:0] ip_bytes;
  fields_t fields_d, fields_q;
  logic cut_q, oversize_q;

  assign v6 = outer_i.ipv6;
  assign ip6 = beat_i.data[BUS_W-1-:$bits(ipv6_t)];
  assign ip4 = beat_i.data[BUS_W-1-:$bits(ipv4_t)];
  assign pair = {beat_i.data, next_i.data};
  assign ip_bytes = v6 ? BEAT_BYTES_W'(IPV6_BYTES) : BEAT_BYTES_W'(IPV4_BYTES);

  always_comb begin
    fields_d = '0;
    fields_d.outer = outer_i;
    fields_d.src = v6 ? ip6.src : 128'(ip4.src);
    fields_d.dst = v6 ? ip6.dst : 128'(ip4.dst);
    fields_d.flow_label = v6 ? ip6.flow_label[EV_HALF_W-1:0] : '0;
    fields_d.ecn = v6 ? ip6.ecn : ip4.ecn;
    fields_d.length = v6 ? ip6.payload_length : ip4.total_length;
    {fields_d.udp, fields_d.bth, fields_d.body} = v6 ? pair[2*BUS_W-1-8*IPV6_BYTES-:TRANSPORT_W]
        : pair[2*BUS_W-1-8*IPV4_BYTES-:TRANSPORT_W];
    // A trimmed frame may end ahead of its stamp.
    fields_d.stamp_there = v6
        ? !beat_i.last && next_i.bytes >= BEAT_BYTES_W'(IPV6_BYTES + STAMP_END - BUS_BYTES)
        : beat_i.bytes >= BEAT_BYTES_W'(IPV4_BYTES + STAMP_END);

    fields_d.is_write = 1'b1;
    fields_d.body_bytes = SIZE_W'(METH_BYTES + RETH_BYTES);
    unique case (fields_d.bth.opcode)
      OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE, OPCODE_WRITE_LAST, OPCODE_WRITE_ONLY: ;
      OPCODE_WRITE_LAST_IMMEDIATE, OPCODE_WRITE_ONLY_IMMEDIATE: begin
        fields_d.immediate  = 1'b1;
        fields_d.body_bytes = SIZE_W'(METH_BYTES + RETH_BYTES + IMMDT_BYTES);
      end
      default: fields_d.is_write = 1'b0;
    endcase
    if (!fields_d.is_write) begin
      unique case (fields_d.bth.opcode)
        OPCODE_ACKNOWLEDGE: fields_d.body_bytes = SIZE_W'(AETH_BYTES);
        OPCODE_ENDPOINT_REQUEST: fields_d.body_bytes = SIZE_W'(ERTH_BYTES);
        OPCODE_ENDPOINT_RESPONSE: fields_d.body_bytes = SIZE_W'(EETH_BYTES);
        OPCODE_SACK: fields_d.body_bytes = SIZE_W'(SETH_BYTES + CC_STATE_BYTES);
        OPCODE_NACK: fields_d.body_bytes = SIZE_W'(NETH_BYTES);
        OPCODE_PROBE_REQUEST: fields_d.body_bytes = SIZE_W'(PETH_BYTES);
        default: fields_d.body_bytes = '0;
      endcase
    end

    fields_d.before_checksum.bad = 1'b1;
    if (outer_i.bad) fields_d.before_checksum.cause = outer_i.cause;
    else if (beat_i.bytes < ip_bytes) fields_d.before_checksum.cause = DROP_TOO_SHORT;
    else if (ip6.version != (v6 ? IP_VERSION_6 : IP_VERSION_4)) begin
      fields_d.before_checksum.cause = DROP_IP_VERSION;
    end else begin
      fields_d.before_checksum.bad   = !v6 && ip4.ihl != IPV4_IHL_WORDS;
      fields_d.before_checksum.cause = DROP_IPV4_OPTIONS;
    end

    fields_d.behind_checksum.bad = 1'b1;
    if (!v6 && (ip4.more_fragments || ip4.fragment_offset != '0)) begin
      fields_d.behind_checksum.cause = DROP_FRAGMENT;
    end else if ((v6 ? ip6.next_header : ip4.protocol) != NEXT_HEADER_UDP) begin
      fields_d.behind_checksum.cause = DROP_NEXT_HEADER;
    end else if (beat_i.bytes < ip_bytes + BEAT_BYTES_W'(UDP_BYTES + BTH_BYTES)) begin
      fields_d.behind_checksum.cause = DROP_TOO_SHORT;
    end else if (fields_d.udp.dst_port != config_i.udp_port
        && fields_d.udp.dst_port != config_i.udp_port_other) begin
      fields_d.behind_checksum.cause = DROP_UDP_PORT;
    end else if (fields_d.bth.version != BTH_TRANSPORT_VERSION) begin
      fields_d.behind_checksum.cause = DROP_BTH_VERSION;
    end else begin
      fields_d.behind_checksum.bad   = fields_d.body_bytes == '0;
      fields_d.behind_checksum.cause = DROP_OPCODE;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i && beat_i.first) fields_q <= fields_d;
    if (step_i) begin
      cut_q <= cut_i;
      oversize_q <= beat_i.oversize;
    end
  end

  // Starts with the header at the input, a clock ahead of the others.
  ipv4_t next_ip4;
  logic  checksum_bad;
  assign next_ip4 = next_i.data[BUS_W-1-:$bits(ipv4_t)];

  mrc_ipv4_checksum u_checksum (
      .clk_i,
      .load_i  (next_valid_i && next_i.first),
      .header_i(next_ip4),
      .bad_o   (checksum_bad)
  );

  // ------------------------------------------------ lengths, and everything in its place

  typedef struct packed {
    rx_desc_t desc;  // but for the payload's length
    fault_t before_checksum;
    fault_t behind_checksum;
    logic ipv6;
    logic is_write;
    logic ip_length_bad;
    logic udp_length_bad;
    logic [LENGTH_W:0] padded;  // payload and pad; negative when headers are missing
    logic [1:0] pad;
    logic ecn_bad;
    logic oversize;
  } lengths_t;

  lengths_t lengths_d, lengths_q;
  rx_desc_t desc_d;
  write_body_t write_body;
  logic ts, trimmed, trimmed_lasthop;
  logic [LENGTH_W:0] udp_end;  // from the IPv4 header on
  logic [LENGTH_W:0] ahead;  // of the payload, from the UDP header on, and the ICRC

  always_comb begin
    ts = fields_q.is_write && fields_q.bth.ts;
    trimmed_lasthop = fields_q.is_write && fields_q.outer.dscp == config_i.dscp_trimmed_lasthop
        && config_i.dscp_trimmed_lasthop != config_i.dscp_trimmed;
    trimmed = trimmed_lasthop
        || (fields_q.is_write && fields_q.outer.dscp == config_i.dscp_trimmed);

    write_body = '0;
    if (!trimmed) begin
      write_body.meth = fields_q.body[BODY_W-1-:$bits(meth_t)];
      {write_body.reth, write_body.immdt} = ts
          ? fields_q.body[BODY_W-1-8*(METH_BYTES+TSETH_BYTES)-:8*(RETH_BYTES+IMMDT_BYTES)]
          : fields_q.body[BODY_W-1-8*METH_BYTES-:8*(RETH_BYTES+IMMDT_BYTES)];
      if (!fields_q.immediate) write_body.immdt = '0;
    end
    if (ts && fields_q.stamp_there) begin
      write_body.tseth = fields_q.body[BODY_W-1-8*METH_BYTES-:$bits(tseth_t)];
    end

    desc_d = '{
        trimmed: trimmed,
        trimmed_lasthop: trimmed_lasthop,
        opcode: fields_q.bth.opcode,
        ecn: fields_q.ecn,
        ack_req: fields_q.bth.ack_req,
        rtx: fields_q.bth.rtx,
        ts: ts && fields_q.stamp_there,
        p_key: fields_q.bth.p_key,
        dest_qp: fields_q.bth.dest_qp,
        psn: fields_q.bth.psn,
        ev: {fields_q.flow_label, fields_q.udp.src_port},
        udp_length: fields_q.udp.length,
        ipv6: fields_q.outer.ipv6,
        src: fields_q.src,
        dst: fields_q.dst,
        encapsulated: fields_q.outer.encapsulated,
        outer_src: fields_q.outer.encapsulated ? fields_q.outer.src : '0,
        payload_bytes: '0,
        body: write_body
    };
    if (config_i.ev_high_in_src_port && fields_q.outer.ipv6) begin
      desc_d.ev = {fields_q.udp.src_port, fields_q.flow_label};
    end
    if (!fields_q.is_write) begin
      for (int unsigned i = 0; i < BODY_BYTES; i++) begin
        desc_d.body[8*(BODY_BYTES-1-i)+:8] = SIZE_W'(i) < fields_q.body_bytes
            ? fields_q.body[8*(BODY_BYTES-1-i)+:8] : '0;
      end
    end
    // RFC 6040 section 4.2.
    if (fields_q.outer.encapsulated) begin
      if (fields_q.outer.ecn == ECN_CE) desc_d.ecn = ECN_CE;
      else if (fields_q.outer.ecn == ECN_ECT1 && fields_q.ecn == ECN_ECT0) desc_d.ecn = ECN_ECT1;
    end

    udp_end = {1'b0, fields_q.udp.length} + (LENGTH_W + 1)'(IPV4_BYTES);
    ahead = (LENGTH_W + 1)'(UDP_BYTES + BTH_BYTES + ICRC_BYTES)
        + (LENGTH_W + 1)'(fields_q.body_bytes) + (ts ? (LENGTH_W + 1)'(TSETH_BYTES) : '0);
    lengths_d.desc = desc_d;
    lengths_d.before_checksum = fields_q.before_checksum;
    lengths_d.behind_checksum = fields_q.behind_checksum;
    lengths_d.ipv6 = fields_q.outer.ipv6;
    lengths_d.is_write = fields_q.is_write;
    lengths_d.ip_length_bad = cut_q || (fields_q.outer.encapsulated
        && (fields_q.outer.room_bad || fields_q.outer.room != fields_q.length));
    if (fields_q.outer.ipv6) lengths_d.udp_length_bad = fields_q.udp.length != fields_q.length;
    else lengths_d.udp_length_bad = udp_end != {1'b0, fields_q.length};
    lengths_d.padded = {1'b0, fields_q.udp.length} - ahead;
    lengths_d.pad = fields_q.bth.pad_count;
    lengths_d.ecn_bad = fields_q.outer.encapsulated && fields_q.outer.ecn == ECN_CE
        && fields_q.ecn == ECN_NOT_ECT;
    lengths_d.oversize = oversize_q;
  end

  always_ff @(posedge clk_i) lengths_q <= lengths_d;

  // ------------------------------------------------ the first fault from the front

  fault_t   fault_d;
  rx_desc_t final_desc;
  logic body_bad, no_payload;

  always_comb begin
    no_payload = lengths_q.padded == '0;
    // A pad is shorter than the words that payload and pad make.
    body_bad = lengths_q.padded[1:0] != '0 || lengths_q.padded[LENGTH_W]
        || (no_payload && lengths_q.pad != '0) || (!no_payload && !lengths_q.is_write);
    fault_d.bad = 1'b1;
    if (lengths_q.before_checksum.bad) fault_d.cause = lengths_q.before_checksum.cause;
    else if (!lengths_q.ipv6 && checksum_bad) fault_d.cause = DROP_IPV4_CHECKSUM;
    else if (lengths_q.behind_checksum.bad) fault_d.cause = lengths_q.behind_checksum.cause;
    else if (lengths_q.ip_length_bad) fault_d.cause = DROP_IP_LENGTH;
    else if (lengths_q.udp_length_bad) fault_d.cause = DROP_UDP_LENGTH;
    else fault_d.cause = DROP_BODY_LENGTH;
    fault_d.bad = lengths_q.before_checksum.bad || (!lengths_q.ipv6 && checksum_bad)
        || lengths_q.behind_checksum.bad || (!lengths_q.desc.trimmed
            && (lengths_q.ip_length_bad || lengths_q.udp_length_bad || body_bad));
    final_desc = lengths_q.desc;
    if (!lengths_q.desc.trimmed) begin
      final_desc.payload_bytes = lengths_q.padded[LENGTH_W-1:0] - LENGTH_W'(lengths_q.pad);
    end
  end

  logic [2:0] end_q;
  assign end_o = end_q[2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) end_q <= '0;
    else end_q <= {end_q[1:0], step_i && beat_i.last};
  end

  always_ff @(posedge clk_i) begin
    bad_o <= fault_d.bad;
    cause_o <= fault_d.cause;
    no_icrc_o <= lengths_q.desc.trimmed;
    ecn_bad_o <= lengths_q.ecn_bad;
    oversize_o <= lengths_q.oversize;
    desc_o <= final_desc;
    // A pad never makes the difference of a beat.
    beats_o <= lengths_q.desc.trimmed ? '0 : PAYLOAD_BEATS_W'(lengths_q.padded[LENGTH_W-1:6])
        + PAYLOAD_BEATS_W'(lengths_q.padded[5:2] != '0);
  end

endmodule

`default_nettype wire
