// The beat before: holds each beat of a frame until the next one is there, or it was the last, and
// says what the others must know ahead of it.
//
// Inner IP header, UDP and BTH stand in the first beat, 20 bytes earlier over IPv4. From them follow
// the bytes of each beat that the IP length covers, and where the payload begins.
//
// Latency: 1 clock to `beat_o`; `step_o` is high in its last clock there, in which the next beat of
// its frame stands at the input. Throughput: a beat each clock; there is no waiting.

`default_nettype none

module mrc_rx_hold
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic valid_i,
    input wire rx_beat_t beat_i,
    input wire rx_outer_t outer_i,
    output logic step_o,
    output rx_beat_t beat_o,
    output rx_outer_t outer_o,
    output logic [BUS_BYTES-1:0] keep_o,  // bytes within the IP length, the leftmost highest
    output logic [5:0] zeros_o,  // bytes of its last beat that are not
    output logic cut_o,  // the IP length reaches past this beat, the last
    output payload_place_e place_o,
    output logic starts_o  // the payload may begin in this beat
);

  localparam int unsigned BEHIND_IPV6 = IPV6_BYTES + UDP_BYTES;
  localparam int unsigned BEHIND_IPV4 = IPV4_BYTES + UDP_BYTES;
  // The longest packet is that of IPv6, with its header; and a sign.
  localparam int unsigned REST_W = LENGTH_W + 2;

  logic valid_q;
  // Bytes within the IP length from this beat on; stays where it is once it is negative.
  logic [REST_W-1:0] rest_q, rest_d;
  logic [LENGTH_W-1:0] length;
  logic [BUS_BYTES-1:0] keep_d;
  // Not every bit is used: a header is read as a whole.
  // verilator lint_off UNUSEDSIGNAL
  ipv6_t ip6;
  ipv4_t ip4;
  bth_t bth;
  // verilator lint_on UNUSEDSIGNAL
  payload_place_e place_d;
  logic immediate, early_d, early_q;

  assign ip6 = beat_i.data[BUS_W-1-:$bits(ipv6_t)];
  assign ip4 = beat_i.data[BUS_W-1-:$bits(ipv4_t)];
  assign bth = outer_i.ipv6 ? beat_i.data[BUS_W-1-8*BEHIND_IPV6-:$bits(
      bth_t
  )] : beat_i.data[BUS_W-1-8*BEHIND_IPV4-:$bits(
      bth_t
  )];
  assign length = outer_i.ipv6 ? ip6.payload_length : ip4.total_length;

  always_comb begin
    // Byte i of the first beat counts if the length, to which IPv6 does not count its header, is more.
    for (int unsigned i = 0; i < BUS_BYTES; i++) begin
      if (!beat_i.first) begin
        keep_d[BUS_BYTES-1-i] = !rest_q[REST_W-1] && (rest_q[REST_W-2:7] != '0
            || (rest_q[6] && rest_q[5:0] > 6'(i)));
      end else if (outer_i.ipv6) begin
        keep_d[BUS_BYTES-1-i] = i < IPV6_BYTES || length > LENGTH_W'(i - IPV6_BYTES);
      end else begin
        keep_d[BUS_BYTES-1-i] = length > LENGTH_W'(i);
      end
    end
    if (beat_i.first) begin
      rest_d = {2'b00, length} + (outer_i.ipv6 ? REST_W'(IPV6_BYTES) : '0);
    end else begin
      rest_d = rest_q[REST_W-1] ? rest_q : rest_q - REST_W'(BUS_BYTES);
    end
  end

  // METH and RETH stand ahead of every payload, TSETH and immediate data ahead of some.
  assign immediate = bth.opcode == OPCODE_WRITE_LAST_IMMEDIATE
      || bth.opcode == OPCODE_WRITE_ONLY_IMMEDIATE;
  always_comb begin
    if (outer_i.ipv6) begin
      place_d = PAYLOAD_AT_20;
      if (!immediate && !bth.ts) place_d = PAYLOAD_AT_16;
      if (immediate && bth.ts) place_d = PAYLOAD_AT_24;
    end else begin
      place_d = PAYLOAD_AT_0;
      if (!immediate && !bth.ts) place_d = PAYLOAD_AT_60;
      if (immediate && bth.ts) place_d = PAYLOAD_AT_4;
    end
  end
  assign early_d = place_d == PAYLOAD_AT_60;

  assign step_o = valid_q && (beat_o.last || valid_i);
  assign starts_o = !beat_o.first || early_q;
  assign zeros_o = -rest_q[5:0];
  assign cut_o = $signed(rest_q) > $signed(REST_W'(beat_o.bytes));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (valid_i) valid_q <= 1'b1;
    else if (step_o) valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      beat_o <= beat_i;
      keep_o <= keep_d;
      rest_q <= rest_d;
      if (beat_i.first) begin
        outer_o <= outer_i;
        place_o <= place_d;
        early_q <= early_d;
      end
    end
  end

endmodule

`default_nettype wire
