// mrc_rx_port behind one vector in, a few bits out that are read each clock, and the wide outputs that are read when
// those say so. cocotb_tests/rx_port_bench.py has the same table.

`default_nettype none

module mrc_rx_port_bench
  import mrc_rx_pkg::*;
#(
    parameter int unsigned BUFFER_BEATS = 512,
    parameter int unsigned DESCRIPTORS = 64,
    parameter int unsigned VERDICTS = 64
) (
    input  wire logic                            clk,
    input  wire logic                            rst_n,
    input  wire logic [  $bits(rx_config_t)-1:0] settings,
    input  wire logic [                   694:0] drive,
    output logic      [                    11:0] sense,
    output logic      [    $bits(rx_desc_t)-1:0] desc,
    output logic      [$bits(dma_command_t)-1:0] command,
    output logic      [                   575:0] beat
);

  mrc_rx_port #(
      .BUFFER_BEATS(BUFFER_BEATS),
      .DESCRIPTORS(DESCRIPTORS),
      .VERDICTS(VERDICTS)
  ) u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .config_i(settings),
      .s_axis_tdata_i(drive[511:0]),
      .s_axis_tkeep_i(drive[575:512]),
      .s_axis_tlast_i(drive[576]),
      .s_axis_tvalid_i(drive[577]),
      .verdict_i(drive[690:578]),
      .verdict_valid_i(drive[691]),
      .desc_ready_i(drive[692]),
      .m_dma_cmd_ready_i(drive[693]),
      .m_dma_tready_i(drive[694]),
      .drop_cause_o(sense[4:0]),
      .dropped_o(sense[5]),
      .accepted_o(sense[6]),
      .verdict_ready_o(sense[7]),
      .desc_valid_o(sense[8]),
      .m_dma_cmd_valid_o(sense[9]),
      .m_dma_tvalid_o(sense[10]),
      .m_dma_tlast_o(sense[11]),
      .desc_o(desc),
      .m_dma_cmd_o(command),
      .m_dma_tdata_o(beat[511:0]),
      .m_dma_tkeep_o(beat[575:512])
  );

endmodule

`default_nettype wire
