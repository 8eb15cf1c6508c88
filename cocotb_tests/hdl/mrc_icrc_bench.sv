// mrc_icrc behind one vector in. cocotb_tests/test_mrc_icrc.py has the same table.

`default_nettype none

module mrc_icrc_bench (
    input  wire logic         clk,
    input  wire logic [584:0] drive,
    output logic              good
);

  mrc_icrc u_dut (
      .clk_i  (clk),
      .data_i (drive[511:0]),
      .keep_i (drive[575:512]),
      .zeros_i(drive[581:576]),
      .ipv6_i (drive[582]),
      .first_i(drive[583]),
      .valid_i(drive[584]),
      .good_o (good)
  );

endmodule

`default_nettype wire
