// mrc_psn_tracker behind one vector in and one vector out, so that a Python bench writes and reads once a clock.
// Field positions do not depend on the parameters; cocotb_tests/psn_tracker_bench.py has the same table.

`default_nettype none

module mrc_psn_tracker_bench
  import mrc_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1
) (
    input  wire logic         clk,
    input  wire logic         rst_n,
    input  wire logic [ 60:0] drive,
    output logic      [171:0] sense
);

  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned WINDOW_W = $clog2(WINDOW + 1);

  logic [QP_W-1:0] res_qp;
  logic [WINDOW_W-1:0] res_ooo_count;

  mrc_psn_tracker #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL)
  ) u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .ev_psn_i(drive[23:0]),
      .ev_qp_i(QP_W'(drive[39:24])),
      .ev_window_i(WINDOW_W'(drive[55:40])),
      .ev_op_i(psn_tracker_pkg::psn_op_e'(drive[58:56])),
      .ev_valid_i(drive[59]),
      .res_ready_i(drive[60]),
      .res_bitmap_o(sense[63:0]),
      .res_base_o(sense[87:64]),
      .res_cack_o(sense[111:88]),
      .res_psn_o(sense[135:112]),
      .res_qp_o(res_qp),
      .res_ooo_count_o(res_ooo_count),
      .res_class_o(sense[169:168]),
      .res_valid_o(sense[170]),
      .ev_ready_o(sense[171])
  );

  assign sense[151:136] = 16'(res_qp);
  assign sense[167:152] = 16'(res_ooo_count);

endmodule

`default_nettype wire
