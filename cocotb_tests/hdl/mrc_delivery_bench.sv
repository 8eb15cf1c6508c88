// mrc_delivery behind one vector in and one vector out, so that a Python bench writes and reads once a
// clock. cocotb_tests/delivery_bench.py has the same fields.

`default_nettype none

module mrc_delivery_bench
  import mrc_rx_pkg::*;
  import mrc_delivery_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned WIMM = 128
) (
    input  wire logic         clk,
    input  wire logic         rst_n,
    input  wire logic [226:0] drive,
    output logic      [191:0] sense
);

  delivery_result_t res;
  cqe_t cqe;

  mrc_delivery #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .WIMM(WIMM),
      .META_W(16)
  ) u_dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .ev_i(drive[207:0]),
      .ev_meta_i(drive[223:208]),
      .ev_valid_i(drive[224]),
      .res_ready_i(drive[225]),
      .cqe_ready_i(drive[226]),
      .res_o(res),
      .res_meta_o(sense[91:76]),
      .cqe_o(cqe),
      .res_valid_o(sense[189]),
      .cqe_valid_o(sense[190]),
      .ev_ready_o(sense[191])
  );

  assign sense[75:0]   = res;
  assign sense[188:92] = cqe;

endmodule

`default_nettype wire
