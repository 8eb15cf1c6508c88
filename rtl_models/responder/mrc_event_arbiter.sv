// Brings what the responder engine works on into one order: descriptors of frames from every port,
// expiries of quiet timers, commands. One event a clock; each source's own order is kept.
//
// Fair: ports and commands take turns, so whoever waits is next after at most PORTS events of the
// others. Expiries go first. They cannot starve the rest: a quiet timer that expired stays silent
// until another frame of its QP starts it, so there are never more of them than frames.
// Latency: 1 clock from acceptance to event_valid_o. Throughput: an event each clock; commands are told
// that they were accepted a clock later (command_ready_o), so one of them at most every 2 clocks.
// Tap: every event's kind, source and clock, one clock after its acceptance, in the order of acceptance.

`default_nettype none

module mrc_event_arbiter
  import mrc_rx_pkg::*;
  import responder_pkg::*;
(
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous

    input  wire logic     [PORTS-1:0] desc_valid_i,
    output logic          [PORTS-1:0] desc_ready_o,
    input  wire rx_desc_t [PORTS-1:0] desc_i,

    input  wire logic               timer_valid_i,
    output logic                    timer_ready_o,
    input  wire logic [QP_ID_W-1:0] timer_qp_i,

    input  wire logic     command_valid_i,
    output logic          command_ready_o,
    input  wire command_t command_i,

    output logic      event_valid_o,
    input  wire logic event_ready_i,
    output event_t    event_o,

    output logic [TIME_W-1:0] now_o,  // clocks since reset

    output logic tap_valid_o,
    output tap_t tap_o
);

  localparam int unsigned SOURCES = PORTS + 1;  // the last one is the commands

  logic [SOURCES-1:0] request, grant, accepted;
  logic [PORT_W:0] source;
  logic take, granted, offered, accept;
  event_t chosen;

  assign offered = timer_valid_i || granted;
  assign request = {command_valid_i && !command_ready_o, desc_valid_i};

  mrc_arbiter #(
      .N(SOURCES)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .request_i(request),
      .valid_o  (granted),
      .grant_o  (grant),
      .index_o  (source),
      .taken_i  (take && !timer_valid_i)
  );

  assign timer_ready_o = take;
  assign accepted = grant & {SOURCES{take && !timer_valid_i}};
  assign desc_ready_o = accepted[PORTS-1:0];
  assign accept = take && offered;

  // A register, as the way on to the registers of software is long.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) command_ready_o <= 1'b0;
    else command_ready_o <= accepted[PORTS];
  end

  // The way back from the engine is long: a register cuts it.
  mrc_skid_buffer #(
      .WIDTH($bits(event_t))
  ) u_event (
      .clk_i,
      .rst_ni,
      .valid_i(offered),
      .ready_o(take),
      .data_i (chosen),
      .valid_o(event_valid_o),
      .ready_i(event_ready_i),
      .data_o (event_o)
  );

  always_comb begin
    chosen.now  = now_o;
    chosen.port = source[PORT_W-1:0];
    chosen.qp   = timer_valid_i ? timer_qp_i : command_i.qp;
    if (timer_valid_i) chosen.kind = EVENT_TIMER;
    else chosen.kind = source[PORT_W] ? EVENT_COMMAND : EVENT_FRAME;
    chosen.content = source[PORT_W] ? $bits(rx_desc_t)'(command_i) : '0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (grant[p]) chosen.content |= desc_i[p];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tap_valid_o <= 1'b0;
      now_o <= '0;
    end else begin
      tap_valid_o <= accept;
      now_o <= now_o + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    tap_o <= '{kind: chosen.kind, port: chosen.port, qp: chosen.qp, now: now_o};
  end

`ifndef SYNTHESIS
  for (genvar p = 0; p < PORTS; p++) begin : gen_desc_rule
    mrc_stream_assert #(
        .WIDTH($bits(rx_desc_t))
    ) u_desc_rule (
        .clk_i,
        .rst_ni,
        .valid_i(desc_valid_i[p]),
        .ready_i(desc_ready_o[p]),
        .data_i (desc_i[p])
    );
  end

  mrc_stream_assert #(
      .WIDTH(QP_ID_W)
  ) u_timer_rule (
      .clk_i,
      .rst_ni,
      .valid_i(timer_valid_i),
      .ready_i(timer_ready_o),
      .data_i (timer_qp_i)
  );

  mrc_stream_assert #(
      .WIDTH($bits(command_t))
  ) u_command_rule (
      .clk_i,
      .rst_ni,
      .valid_i(command_valid_i),
      .ready_i(command_ready_o),
      .data_i (command_i)
  );

  mrc_stream_assert #(
      .WIDTH($bits(event_t))
  ) u_event_rule (
      .clk_i,
      .rst_ni,
      .valid_i(event_valid_o),
      .ready_i(event_ready_i),
      .data_i (event_o)
  );
`endif

endmodule

`default_nettype wire
