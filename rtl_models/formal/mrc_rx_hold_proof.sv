// Proof of mrc_rx_hold for frames of every length, the link padding behind them included, and any gaps
// between beats: each beat is shown once, unchanged, and left in the clock in which the next beat of its
// frame stands at the input; which of its bytes the IP length covers, how many of its last beat it does
// not, whether the frame is shorter, and where the payload begins, are right.
//
// Assumed are beats that come as frames: a first one behind a last one, and only there.

`default_nettype none

module mrc_rx_hold_proof
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic valid_i,
    input wire rx_beat_t beat_i,
    input wire rx_outer_t outer_i
);

  logic step, cut, starts;
  rx_beat_t beat;
  rx_outer_t outer;
  logic [BUS_BYTES-1:0] keep;
  logic [5:0] zeros;
  payload_place_e place;

  mrc_rx_hold dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .beat_i,
      .outer_i,
      .step_o(step),
      .beat_o(beat),
      .outer_o(outer),
      .keep_o(keep),
      .zeros_o(zeros),
      .cut_o(cut),
      .place_o(place),
      .starts_o(starts)
  );

  // ---------------------------------------------------------------- an account of its own
  localparam int unsigned AT_W = 18;
  localparam logic [AT_W-1:0] FAR = AT_W'(1 << 17);  // behind every IP length

  logic started_q;  // a reset has been
  logic open_q;  // a frame has begun and not ended
  logic held_q;
  rx_beat_t beat_q;
  rx_outer_t outer_q;
  logic [AT_W-1:0] at_q, length_q, length;  // of the beat in its packet; of the packet
  logic [7:0] payload_q, payload;  // byte at which it begins

  initial started_q = 1'b0;

  logic [15:0] field;
  logic [ 7:0] opcode;
  logic stamped, immediate;
  // Bytes of the packet as they stand on the wire, its first one on the left of the first beat.
  function automatic logic [7:0] byte_at(input logic [BUS_W-1:0] data, input int unsigned number);
    return data[BUS_W-1-8*number-:8];
  endfunction

  bth_t bth;
  assign bth = outer_i.ipv6 ? beat_i.data[BUS_W-1-8*48-:$bits(
      bth_t
  )] : beat_i.data[BUS_W-1-8*28-:$bits(
      bth_t
  )];
  assign opcode = outer_i.ipv6 ? byte_at(beat_i.data, 48) : byte_at(beat_i.data, 28);
  assign stamped = bth.ts;
  assign immediate = opcode == OPCODE_WRITE_LAST_IMMEDIATE || opcode == OPCODE_WRITE_ONLY_IMMEDIATE;
  assign field = outer_i.ipv6 ? {byte_at(
      beat_i.data, 4
  ), byte_at(
      beat_i.data, 5
  )} : {byte_at(
      beat_i.data, 2
  ), byte_at(
      beat_i.data, 3
  )};
  assign length = AT_W'(field) + (outer_i.ipv6 ? AT_W'(IPV6_BYTES) : '0);
  assign payload = (outer_i.ipv6 ? 8'(IPV6_BYTES) : 8'(IPV4_BYTES)) +
      8'(UDP_BYTES + BTH_BYTES + METH_BYTES + RETH_BYTES) + (stamped ? 8'(TSETH_BYTES) : '0) +
      (immediate ? 8'(IMMDT_BYTES) : '0);

  always_ff @(posedge clk_i) begin
    started_q <= started_q || !rst_ni;
    if (!rst_ni) begin
      open_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      if (valid_i) open_q <= !beat_i.last;
      held_q <= valid_i || (held_q && !beat_q.last);
    end
    if (valid_i) begin
      beat_q <= beat_i;
      if (beat_i.first) begin
        outer_q <= outer_i;
        at_q <= '0;
        length_q <= length;
        payload_q <= payload;
      end else if (at_q < FAR) at_q <= at_q + AT_W'(BUS_BYTES);
    end
  end

  logic [BUS_BYTES-1:0] covered;
  logic [AT_W-1:0] behind;  // the beat's last byte
  always_comb begin
    for (int unsigned i = 0; i < BUS_BYTES; i++) begin
      covered[BUS_BYTES-1-i] = at_q + AT_W'(i) < length_q;
    end
  end
  assign behind = at_q + AT_W'(BUS_BYTES);

  logic [7:0] place_byte;
  always_comb begin
    unique case (place)
      PAYLOAD_AT_0:  place_byte = 8'd64;
      PAYLOAD_AT_4:  place_byte = 8'd68;
      PAYLOAD_AT_16: place_byte = 8'd80;
      PAYLOAD_AT_20: place_byte = 8'd84;
      PAYLOAD_AT_24: place_byte = 8'd88;
      PAYLOAD_AT_60: place_byte = 8'd60;
      default:       place_byte = '1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      Frames : assume (beat_i.first == !open_q);
      BytesFit : assume (beat_i.bytes <= BEAT_BYTES_W'(BUS_BYTES));
    end
    if (started_q && rst_ni) begin
      Step : assert (step == (held_q && (beat_q.last || valid_i)));
      if (held_q) begin
        Unchanged : assert (beat == beat_q && outer == outer_q);
        Keep : assert (keep == covered);
        Zeros : assert (at_q >= length_q || behind < length_q || zeros == 6'(behind - length_q));
        Cut : assert (cut == (length_q > at_q + AT_W'(beat_q.bytes)));
        Place : assert (place_byte == payload_q);
        Starts : assert (starts == (behind > AT_W'(payload_q)));
      end
      // What makes each clock follow from the one before.
      Held : assert (dut.valid_q == held_q);
      Open : assert (open_q == (held_q && !beat_q.last));
      if (held_q) begin
        Rest : assert (at_q > length_q ? dut.rest_q[AT_W-1] : dut.rest_q == AT_W'(length_q - at_q));
        At :
        assert (at_q <= FAR && length_q < FAR && at_q[5:0] == '0 && beat_q.first == (at_q == '0));
        Early : assert (dut.early_q == (place == PAYLOAD_AT_60) && payload_q <= 8'd88);
        Fits : assert (beat_q.bytes <= BEAT_BYTES_W'(BUS_BYTES));
      end
    end
  end

endmodule

`default_nettype wire
