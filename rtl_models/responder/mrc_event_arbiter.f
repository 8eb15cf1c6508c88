rtl_models/common/mrc_pkg.sv
rtl_models/common/mrc_rx_pkg.sv
rtl_models/common/mrc_stream_assert.sv
rtl_models/common/mrc_arbiter.sv
rtl_models/responder/psn_tracker_pkg.sv
rtl_models/responder/mrc_delivery_pkg.sv
rtl_models/responder/responder_pkg.sv
rtl_models/responder/mrc_event_arbiter.sv
