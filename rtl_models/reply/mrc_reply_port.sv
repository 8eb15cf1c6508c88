// Answers on their way out of one port: a FIFO of whole frames, and the AXI4-Stream that they leave on.
//
// A place in the FIFO is reserved when the port is chosen, before the frame is made. `room_o` falls
// while there are still places for the answers that have started and not yet chosen a port.
//
// Latency: 3 clocks from put_i to the first beat. Throughput: a beat a clock, without gaps between
// frames; frames are of 2 or 3 beats. FIFO: FRAMES frames, and one of which some beats are out.

`default_nettype none

module mrc_reply_port
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_reply_pkg::*;
#(
    parameter int unsigned FRAMES = 64,  // frames that wait
    // Answers that may have started before room_o falls and are not yet reserved.
    parameter int unsigned UNDER_WAY = 6
) (
    input wire logic        clk_i,
    input wire logic        rst_ni,
    input wire logic [47:0] mac_i,
    input wire logic [47:0] switch_mac_i,

    output logic room_o,  // from a register
    input wire logic reserve_i,
    input wire logic put_i,
    input wire stored_frame_t frame_i,

    output logic                      m_axis_tvalid_o,
    input  wire logic                 m_axis_tready_i,
    output logic      [    BUS_W-1:0] m_axis_tdata_o,   // the frame's first byte lowest
    output logic      [BUS_BYTES-1:0] m_axis_tkeep_o,
    output logic                      m_axis_tlast_o
);

  localparam int unsigned COUNT_W = $clog2(FRAMES + 1);
  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES);

  if (FRAMES < UNDER_WAY + 1) begin : gen_bad_depth
    $fatal(1, "mrc_reply_port: FRAMES is %0d, must be %0d or more", FRAMES, UNDER_WAY + 1);
  end

  logic fifo_ready, fifo_valid, beat_ready, last, pop;
  logic [COUNT_W-1:0] fifo_count, reserved_q, reserved_d;
  stored_frame_t frame;
  logic [1:0] beat_q, last_beat;

  // ---------------------------------------------------------------- places
  always_comb begin
    reserved_d = reserved_q;
    if (reserve_i && !pop) reserved_d = reserved_q + 1'b1;
    if (!reserve_i && pop) reserved_d = reserved_q - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reserved_q <= '0;
      room_o <= 1'b0;
    end else begin
      reserved_q <= reserved_d;
      room_o <= reserved_q <= COUNT_W'(FRAMES - UNDER_WAY);
    end
  end

  mrc_fifo #(
      .WIDTH($bits(stored_frame_t)),
      .DEPTH(FRAMES)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(put_i),
      .ready_o(fifo_ready),
      .data_i (frame_i),
      .valid_o(fifo_valid),
      .ready_i(pop),
      .data_o (frame),
      .count_o(fifo_count)
  );

  // ---------------------------------------------------------------- beats
  logic [BEATS*BUS_W-1:0] whole;
  logic [BUS_W-1:0] beat, data;
  logic [BUS_BYTES-1:0] keep;

  assign whole = {
    switch_mac_i,
    mac_i,
    ETHERTYPE_IPV6,
    frame.stored,
    {(BEATS * BUS_W - 8 * ETHERNET_BYTES - STORED_W) {1'b0}}
  };
  assign last_beat = frame.length > LENGTH_W'(2 * BUS_BYTES) ? 2'd2 : 2'd1;
  assign last = beat_q == last_beat;
  assign pop = fifo_valid && beat_ready && last;

  always_comb begin
    unique case (beat_q)
      2'd0: beat = whole[3*BUS_W-1-:BUS_W];
      2'd1: beat = whole[2*BUS_W-1-:BUS_W];
      default: beat = whole[BUS_W-1:0];
    endcase
    for (int unsigned b = 0; b < BUS_BYTES; b++) begin
      data[8*b+:8] = beat[BUS_W-1-8*b-:8];
      keep[b] = !last || OFFSET_W'(b) < frame.length[OFFSET_W-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_q <= '0;
    else if (fifo_valid && beat_ready) beat_q <= last ? '0 : beat_q + 1'b1;
  end

  mrc_stream_register #(
      .WIDTH(BUS_W + BUS_BYTES + 1)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid),
      .ready_o(beat_ready),
      .data_i ({data, keep, last}),
      .valid_o(m_axis_tvalid_o),
      .ready_i(m_axis_tready_i),
      .data_o ({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o})
  );

`ifndef SYNTHESIS
  ReservedPlaceIsFree :
  assert property (@(posedge clk_i) disable iff (!rst_ni) put_i |-> fifo_ready)
  else $error("%m: a frame found no place");

  EveryFrameIsReserved :
  assert property (@(posedge clk_i) disable iff (!rst_ni) fifo_count <= reserved_q)
  else $error("%m: more frames than places reserved");
`endif

endmodule

`default_nettype wire
