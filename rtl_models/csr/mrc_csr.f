rtl_models/common/mrc_pkg.sv
rtl_models/common/mrc_rx_pkg.sv
rtl_models/common/mrc_ram.sv
rtl_models/common/mrc_stream_assert.sv
rtl_models/common/mrc_counters.sv
rtl_models/csr/generated/mrc_rx_regs_pkg.sv
rtl_models/csr/generated/mrc_rx_regs.sv
rtl_models/csr/mrc_csr.sv
