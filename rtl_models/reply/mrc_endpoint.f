rtl_models/common/mrc_pkg.sv
rtl_models/common/mrc_rx_pkg.sv
rtl_models/common/mrc_ram.sv
rtl_models/common/mrc_fifo.sv
rtl_models/common/mrc_skid_buffer.sv
rtl_models/common/mrc_stream_assert.sv
rtl_models/reply/mrc_route_back.sv
rtl_models/reply/mrc_endpoint.sv
