cocotb_tests/hdl/receive_player.sv
cocotb_tests/hdl/receive_frame_log.sv
cocotb_tests/hdl/receive_log.sv
cocotb_tests/hdl/receive_software.sv
cocotb_tests/hdl/mrc_rx_bench.sv
