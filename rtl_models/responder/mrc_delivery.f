rtl_models/common/mrc_pkg.sv
rtl_models/common/mrc_rx_pkg.sv
rtl_models/common/mrc_ram.sv
rtl_models/common/mrc_ram_forward.sv
rtl_models/common/mrc_skid_buffer.sv
rtl_models/common/mrc_stream_assert.sv
rtl_models/responder/mrc_delivery_pkg.sv
rtl_models/responder/mrc_delivery.sv
