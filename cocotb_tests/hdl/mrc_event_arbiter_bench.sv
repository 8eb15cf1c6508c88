// mrc_event_arbiter behind one vector in and one out. Every word carries a number, the rest of a descriptor
// is made of it. cocotb_tests/test_mrc_event_arbiter.py has the same positions.

`default_nettype none

module mrc_event_arbiter_bench
  import mrc_rx_pkg::*;
  import responder_pkg::*;
(
    input wire logic clk,
    input wire logic rst_n,

    // ready, valid and number of the timer, then of the command, valid and numbers of the ports
    input wire logic [170:0] drive,

    // event: valid, kind, port, now, qp, number; ready of timer, command and ports; tap: valid and tap_t
    output logic [133:0] sense
);

  localparam int unsigned COPIES = $bits(rx_desc_t) / 16;

  logic event_valid, timer_valid, timer_ready, command_valid, command_ready, event_ready;
  logic [15:0] timer_number, command_number, number;
  logic [PORTS-1:0] valid, ready;
  logic [PORTS-1:0][15:0] numbers;
  rx_desc_t [PORTS-1:0] desc;
  command_t command;
  event_t happened;
  logic tap_valid;
  tap_t tap;
  logic [TIME_W-1:0] unused_now;

  assign {event_ready, timer_valid, timer_number, command_valid, command_number, valid,
          numbers} = drive;

  always_comb begin
    for (int p = 0; p < PORTS; p++) desc[p] = $bits(rx_desc_t)'({COPIES{numbers[p]}});
    command = $bits(command_t)'({COPIES{command_number}});
    command.qp = command_number;
    number = happened.content[15:0];
    if (happened.kind == EVENT_FRAME && happened.content != $bits(
            rx_desc_t
        )'({COPIES{number}})) begin
      number = ~number;
    end
  end

  mrc_event_arbiter u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .desc_valid_i(valid),
      .desc_ready_o(ready),
      .desc_i(desc),
      .timer_valid_i(timer_valid),
      .timer_ready_o(timer_ready),
      .timer_qp_i(timer_number),
      .command_valid_i(command_valid),
      .command_ready_o(command_ready),
      .command_i(command),
      .event_valid_o(event_valid),
      .event_ready_i(event_ready),
      .event_o(happened),
      .now_o(unused_now),
      .tap_valid_o(tap_valid),
      .tap_o(tap)
  );

  assign sense = {
    event_valid,
    happened.kind,
    happened.port,
    happened.now,
    happened.qp,
    number,
    timer_ready,
    command_ready,
    ready,
    tap_valid,
    tap
  };

endmodule

`default_nettype wire
