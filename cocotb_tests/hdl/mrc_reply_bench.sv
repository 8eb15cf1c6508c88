// mrc_reply behind one vector in and one out a clock, and a vector for each port's beat, so that a
// Python bench reads only the beats that it takes. cocotb_tests/reply_bench.py has the same table.

`default_nettype none

module mrc_reply_bench
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned FRAMES = 64
) (
    input wire logic clk,
    input wire logic rst_n,
    input wire reply_config_t device,
    input wire port_config_t [PORTS-1:0] ports,
    input wire logic [823:0] drive,
    output logic [18:0] sense,
    output logic [576:0] beat_0,
    output logic [576:0] beat_1,
    output logic [576:0] beat_2,
    output logic [576:0] beat_3,
    output logic [576:0] beat_4,
    output logic [576:0] beat_5,
    output logic [576:0] beat_6,
    output logic [576:0] beat_7
);

  logic [PORTS-1:0][BUS_W-1:0] data;
  logic [PORTS-1:0][BUS_BYTES-1:0] keep;
  logic [PORTS-1:0] last;

  mrc_reply #(
      .QPS(QPS),
      .FRAMES(FRAMES)
  ) u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .config_i(device),
      .port_config_i(ports),
      .engine_i(drive[406:0]),
      .endpoint_i(drive[813:407]),
      .m_axis_tready_i(drive[821:814]),
      .endpoint_valid_i(drive[822]),
      .engine_valid_i(drive[823]),
      .m_axis_tdata_o(data),
      .m_axis_tkeep_o(keep),
      .m_axis_tlast_o(last),
      .m_axis_tvalid_o(sense[7:0]),
      .sent_o(sense[15:8]),
      .no_way_back_o(sense[16]),
      .endpoint_ready_o(sense[17]),
      .engine_ready_o(sense[18])
  );

  assign beat_0 = {last[0], keep[0], data[0]};
  assign beat_1 = {last[1], keep[1], data[1]};
  assign beat_2 = {last[2], keep[2], data[2]};
  assign beat_3 = {last[3], keep[3], data[3]};
  assign beat_4 = {last[4], keep[4], data[4]};
  assign beat_5 = {last[5], keep[5], data[5]};
  assign beat_6 = {last[6], keep[6], data[6]};
  assign beat_7 = {last[7], keep[7], data[7]};

endmodule

`default_nettype wire
