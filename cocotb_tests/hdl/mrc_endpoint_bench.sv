// mrc_endpoint behind one vector in and one out, so that a Python bench writes and reads once a clock.
// cocotb_tests/endpoint_bench.py has the same table.

`default_nettype none

module mrc_endpoint_bench
  import mrc_rx_pkg::*;
(
    input  wire logic                      clk,
    input  wire logic                      rst_n,
    input  wire reply_config_t             device,
    input  wire port_config_t  [PORTS-1:0] ports,
    input  wire logic          [    822:0] drive,
    output logic               [    589:0] sense
);

  mrc_endpoint u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .config_i(device),
      .port_config_i(ports),
      .desc_i(drive[816:0]),
      .desc_port_i(drive[819:817]),
      .desc_valid_i(drive[820]),
      .reply_ready_i(drive[821]),
      .notice_ready_i(drive[822]),
      .reply_o(sense[406:0]),
      .notice_o(sense[582:407]),
      .drop_cause_o(sense[585:583]),
      .drop_o(sense[586]),
      .notice_valid_o(sense[587]),
      .reply_valid_o(sense[588]),
      .desc_ready_o(sense[589])
  );

endmodule

`default_nettype wire
