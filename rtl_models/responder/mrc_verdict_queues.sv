// Verdicts on their way to the ports, in a queue each, so that a port whose memory is slow holds back
// nobody else.
//
// A descriptor with payload takes a place when it is accepted and gives it back when the port takes its
// verdict; a port without free places has no descriptor accepted (allow_o). So there is always room for
// a verdict. Latency: 2 clocks. Throughput: a verdict each clock.

`default_nettype none

module mrc_verdict_queues
  import mrc_rx_pkg::*;
#(
    parameter int unsigned DEPTH = 64  // places of a port, 2 or more
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    input  wire logic [PORTS-1:0] accepted_i,  // a descriptor with payload
    output logic      [PORTS-1:0] allow_o,     // one may be accepted; high until one is

    input wire logic                     valid_i,
    input wire logic        [PORT_W-1:0] port_i,
    input wire rx_verdict_t              verdict_i,

    output logic        [PORTS-1:0] verdict_valid_o,
    input  wire logic   [PORTS-1:0] verdict_ready_i,
    output rx_verdict_t [PORTS-1:0] verdict_o
);

  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    logic [COUNT_W-1:0] taken_q;  // places, but for the one of accepted_q
    logic [COUNT_W-1:0] unused_count;
    logic put, room, give_back, accepted_q, last;

    assign put = valid_i && port_i == PORT_W'(p);
    assign give_back = verdict_valid_o[p] && verdict_ready_i[p];
    assign last = taken_q == COUNT_W'(DEPTH - 1) - COUNT_W'(accepted_q);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        taken_q <= '0;
        accepted_q <= 1'b0;
        allow_o[p] <= 1'b0;
      end else begin
        // Whether one has payload is known late, out of a RAM: it is counted a clock later.
        accepted_q <= accepted_i[p];
        if (accepted_q != give_back) taken_q <= accepted_q ? taken_q + 1'b1 : taken_q - 1'b1;
        allow_o[p] <= taken_q < COUNT_W'(DEPTH - 1) - COUNT_W'(accepted_q)
            || (last && !accepted_i[p]);
      end
    end

    mrc_fifo #(
        .WIDTH($bits(rx_verdict_t)),
        .DEPTH(DEPTH)
    ) u_fifo (
        .clk_i,
        .rst_ni,
        .valid_i(put),
        .ready_o(room),
        .data_i (verdict_i),
        .valid_o(verdict_valid_o[p]),
        .ready_i(verdict_ready_i[p]),
        .data_o (verdict_o[p]),
        .count_o(unused_count)
    );

`ifdef SYNTHESIS
    logic unused;
    assign unused = room;
`else
    VerdictHasRoom :
    assert property (@(posedge clk_i) disable iff (!rst_ni) put |-> room)
    else $error("%m: a verdict without a place");
`endif
  end

endmodule

`default_nettype wire
