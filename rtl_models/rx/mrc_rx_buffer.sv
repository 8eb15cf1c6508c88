// Store and forward: payloads of one port, from the wire until they are written or discarded.
//
// Write side: beats of a frame are put behind those of the frames before it, and count from the
// clock of `end_i` on if the frame is good and all its beats found room; else their places are used
// again for the next frame. So a frame is in the buffer as a whole or not at all.
//
// Read side: a verdict for each payload, in their order. A payload to be placed leaves as a command
// and its beats; one that is not is passed over in one clock, while the bus carries others.
//
// Latency: 5 clocks from a verdict to the command and the first beat. Throughput: a beat
// each clock on both sides, without a gap between payloads. A verdict always finds room if no more
// than VERDICTS payloads wait for theirs to be taken up, as `settled_o` tells.

`default_nettype none

module mrc_rx_buffer
  import mrc_rx_pkg::*;
  import mrc_rx_port_pkg::*;
#(
    parameter int unsigned BEATS = 512,  // of payload that the buffer holds, a power of 2
    parameter int unsigned VERDICTS = 64  // that may be there at once
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic write_i,  // up to and with the clock of end_i
    input wire logic [BUS_W-1:0] data_i,  // first byte on the left
    input wire logic end_i,  // the frame is complete
    input wire logic good_i,  // and good
    input wire logic [PAYLOAD_BEATS_W-1:0] beats_i,  // of its payload
    input wire logic [PAYLOAD_W-1:0] bytes_i,
    output logic fits_o,  // a good frame counts
    input wire logic verdict_valid_i,
    output logic verdict_ready_o,
    input wire rx_verdict_t verdict_i,
    output logic settled_o,  // a verdict was taken up
    output logic cmd_valid_o,
    input wire logic cmd_ready_i,
    output dma_command_t cmd_o,
    output logic m_axis_tvalid_o,
    input wire logic m_axis_tready_i,
    output logic [BUS_W-1:0] m_axis_tdata_o,
    output logic [BUS_BYTES-1:0] m_axis_tkeep_o,
    output logic m_axis_tlast_o
);

  localparam int unsigned ADDRESS_W = $clog2(BEATS);
  localparam int unsigned COUNT_W = ADDRESS_W + 1;

  if (BEATS != 1 << ADDRESS_W || BEATS * BUS_BYTES < MAX_FRAME_BYTES) begin : gen_bad_beats
    $fatal(1, "mrc_rx_buffer: BEATS is %0d, must be a power of 2 and hold a frame", BEATS);
  end

  // ------------------------------------------------ write side

  // Pointers have a bit more than an address, so that full and empty differ.
  logic [COUNT_W-1:0] base_q, base_d, put_q;  // the frame's first place; the next one
  logic [COUNT_W-1:0] free_q;  // the first place that is not free
  logic [COUNT_W-1:0] written_q;  // beats of the frame
  logic full, put, stopped_q, keeps;

  assign full = put_q == {!free_q[ADDRESS_W], free_q[ADDRESS_W-1:0]};
  assign put = write_i && !full && !stopped_q;
  assign fits_o = beats_i <= PAYLOAD_BEATS_W'(written_q)
      || (put && beats_i == PAYLOAD_BEATS_W'(written_q) + 1'b1);
  assign keeps = end_i && good_i && fits_o;
  assign base_d = keeps ? base_q + COUNT_W'(beats_i) : base_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      base_q <= '0;
      put_q <= '0;
      written_q <= '0;
      stopped_q <= 1'b0;
    end else if (end_i) begin
      base_q <= base_d;
      put_q <= base_d;
      written_q <= '0;
      stopped_q <= 1'b0;
    end else begin
      put_q <= put_q + COUNT_W'(put);
      written_q <= written_q + COUNT_W'(put);
      stopped_q <= stopped_q || (write_i && full);
    end
  end

  // Lengths of the payloads within, and what is to become of them.
  logic length_valid, length_ready, verdict_valid, pair_ready, pair, pass_valid, pass, queue_ready;
  logic [PAYLOAD_W-1:0] length_ram, length;
  rx_verdict_t verdict_ram, verdict;

  mrc_fifo #(
      .WIDTH(PAYLOAD_W),
      .DEPTH(BEATS)
  ) u_lengths (
      .clk_i,
      .rst_ni,
      .valid_i(keeps && beats_i != '0),
      .ready_o(length_ready),
      .data_i (bytes_i),
      .valid_o(length_valid),
      .ready_i(pair),
      .data_o (length_ram),
      // verilator lint_off PINCONNECTEMPTY
      .count_o()
      // verilator lint_on PINCONNECTEMPTY
  );

  mrc_fifo #(
      .WIDTH($bits(rx_verdict_t)),
      .DEPTH(VERDICTS)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .valid_i(verdict_valid_i),
      .ready_o(verdict_ready_o),
      .data_i (verdict_i),
      .valid_o(verdict_valid),
      .ready_i(pair),
      .data_o (verdict_ram),
      // verilator lint_off PINCONNECTEMPTY
      .count_o()
      // verilator lint_on PINCONNECTEMPTY
  );

  // A register, so that nothing is added up behind a RAM.
  assign pair = length_valid && verdict_valid && pair_ready;
  assign settled_o = pair;

  mrc_stream_register #(
      .WIDTH(PAYLOAD_W + $bits(rx_verdict_t))
  ) u_pair (
      .clk_i,
      .rst_ni,
      .valid_i(length_valid && verdict_valid),
      .ready_o(pair_ready),
      .data_i ({length_ram, verdict_ram}),
      .valid_o(pass_valid),
      .ready_i(queue_ready),
      .data_o ({length, verdict})
  );

  // ------------------------------------------------ read side: payloads that are to be placed

  typedef struct packed {
    logic [COUNT_W-1:0] start;
    dma_command_t       command;
  } order_t;

  logic [COUNT_W-1:0] start_q;  // of the payload whose verdict is next
  logic order_valid, load;
  order_t order_d, order;

  assign pass = pass_valid && queue_ready;
  assign order_d = '{
          start: start_q,
          command: '{qp: verdict.qp, va: verdict.va, r_key: verdict.r_key, bytes: 16'(length)}
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) start_q <= '0;
    else if (pass) begin
      start_q <= start_q + COUNT_W'(length[PAYLOAD_W-1:6]) + COUNT_W'(length[5:0] != '0);
    end
  end

  mrc_skid_buffer #(
      .WIDTH($bits(order_t))
  ) u_orders (
      .clk_i,
      .rst_ni,
      .valid_i(pass && verdict.place),
      .ready_o(queue_ready),
      .data_i (order_d),
      .valid_o(order_valid),
      .ready_i(load),
      .data_o (order)
  );

  // ------------------------------------------------ and their beats

  logic valid_q, take;
  logic [COUNT_W-1:0] at_q, at_d;  // of the beat that is shown
  logic [PAYLOAD_W-1:0] left_q, left_d;  // bytes of the payload from it on
  logic [BUS_W-1:0] row;

  assign take = valid_q && m_axis_tready_i;
  assign load = order_valid && (!cmd_valid_o || cmd_ready_i)
      && (!valid_q || (m_axis_tready_i && m_axis_tlast_o));

  always_comb begin
    at_d   = at_q;
    left_d = left_q;
    if (take) begin
      at_d   = at_q + 1'b1;
      left_d = left_q - PAYLOAD_W'(BUS_BYTES);
    end
    if (load) begin
      at_d   = order.start;
      left_d = PAYLOAD_W'(order.command.bytes);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      cmd_valid_o <= 1'b0;
      free_q <= '0;
    end else begin
      if (load) valid_q <= 1'b1;
      else if (take && m_axis_tlast_o) valid_q <= 1'b0;
      if (load) cmd_valid_o <= 1'b1;
      else if (cmd_ready_i) cmd_valid_o <= 1'b0;
      if (valid_q) free_q <= at_q;
      else if (order_valid) free_q <= order.start;
      else free_q <= start_q;
    end
  end

  always_ff @(posedge clk_i) begin
    at_q <= at_d;
    left_q <= left_d;
    m_axis_tlast_o <= left_d <= PAYLOAD_W'(BUS_BYTES);
    for (int unsigned i = 0; i < BUS_BYTES; i++) m_axis_tkeep_o[i] <= left_d > PAYLOAD_W'(i);
    if (load) cmd_o <= order.command;
  end

  mrc_ram #(
      .WIDTH(BUS_W),
      .DEPTH(BEATS)
  ) u_beats (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(at_d[ADDRESS_W-1:0]),
      .rdata_o(row),
      .we_i(put),
      .waddr_i(put_q[ADDRESS_W-1:0]),
      .wdata_i(data_i)
  );

  assign m_axis_tvalid_o = valid_q;
  assign m_axis_tdata_o  = swap_lanes(row);

`ifndef SYNTHESIS
  // Nothing means anything before the first reset.
  logic reset_seen_q, active;
  initial reset_seen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_seen_q <= 1'b1;
  end
  assign active = rst_ni && reset_seen_q;

  mrc_stream_assert #(
      .WIDTH($bits(dma_command_t))
  ) u_cmd_assert (
      .clk_i,
      .rst_ni,
      .valid_i(cmd_valid_o),
      .ready_i(cmd_ready_i),
      .data_i (cmd_o)
  );

  mrc_stream_assert #(
      .WIDTH(BUS_W + BUS_BYTES + 1)
  ) u_axis_assert (
      .clk_i,
      .rst_ni,
      .valid_i(m_axis_tvalid_o),
      .ready_i(m_axis_tready_i),
      .data_i ({m_axis_tdata_o, m_axis_tkeep_o, m_axis_tlast_o})
  );

  mrc_stream_assert #(
      .WIDTH($bits(rx_verdict_t))
  ) u_verdict_assert (
      .clk_i,
      .rst_ni,
      .valid_i(verdict_valid_i),
      .ready_i(verdict_ready_o),
      .data_i (verdict_i)
  );

  // Each length stands for a beat at least, so there is room for it where there is room for that.
  LengthFindsRoom :
  assert property (@(posedge clk_i) disable iff (!active) keeps && beats_i != '0 |-> length_ready)
  else $error("%m: a payload's length found no room");

  NoMoreThanThereIs :
  assert property (@(posedge clk_i) disable iff (!active) put_q - free_q <= COUNT_W'(BEATS))
  else $error("%m: the buffer holds more than it has");
`endif

endmodule

`default_nettype wire
