// The receive side of a NIC: eight ports of 512 bits, the responder engine that they share, its answers,
// and registers. docs/rtl.md draws it; its golden model is a pymodel.nic.device.Device whose QPs receive.
//
// A MAC gives whole frames without FCS on s_axis and cannot wait; what does not fit is lost as a whole,
// before the engine sees it, and counted. Payload leaves by m_dma: a command, and its data as one AXI4-
// Stream packet, in the order of the port's frames. Answers leave on m_axis. Receive completions, and
// SACKs, NACKs and ACKs for a requesting side, have streams of their own. Everything else is registers.
//
// Latency and throughput are those of the units. The tap shows in which order the engine accepts frames,
// timers and commands; with it and the outcomes of frames at their ports all else follows.

`default_nettype none

module mrc_rx
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs, numbered from 0; QPN = number
    // Largest window in PSNs, a power of two from 128 to 4096
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1,  // clocks between two events of one QP, 1 or 2
    parameter int unsigned REGIONS = 64,  // memory regions
    parameter int unsigned WIMM = 128,  // most writes with immediate in flight of a QP
    parameter int unsigned BUFFER_BEATS = 512,  // of payload, in each port
    parameter int unsigned DESCRIPTORS = 64,  // frames that may wait in each port
    parameter int unsigned VERDICTS = 64,  // frames of a port that may wait for memory
    parameter int unsigned REPLY_DEPTH = 64,  // replies that may wait in the engine
    parameter int unsigned REPLY_FRAMES = 32,  // frames that may wait at each port
    parameter int unsigned NOTICES = 16  // port status updates that may wait for software
) (
    input wire logic clk_i,
    input wire logic rst_ni, // synchronous

    // Frames in, the first byte in lane 0
    input wire logic [PORTS-1:0]                s_axis_tvalid_i,
    input wire logic [PORTS-1:0][    BUS_W-1:0] s_axis_tdata_i,
    input wire logic [PORTS-1:0][BUS_BYTES-1:0] s_axis_tkeep_i,
    input wire logic [PORTS-1:0]                s_axis_tlast_i,

    // Answers out
    output logic      [PORTS-1:0]                m_axis_tvalid_o,
    input  wire logic [PORTS-1:0]                m_axis_tready_i,
    output logic      [PORTS-1:0][    BUS_W-1:0] m_axis_tdata_o,
    output logic      [PORTS-1:0][BUS_BYTES-1:0] m_axis_tkeep_o,
    output logic      [PORTS-1:0]                m_axis_tlast_o,

    // To memory
    output logic         [PORTS-1:0]                m_dma_cmd_valid_o,
    input  wire logic    [PORTS-1:0]                m_dma_cmd_ready_i,
    output dma_command_t [PORTS-1:0]                m_dma_cmd_o,
    output logic         [PORTS-1:0]                m_dma_tvalid_o,
    input  wire logic    [PORTS-1:0]                m_dma_tready_i,
    output logic         [PORTS-1:0][    BUS_W-1:0] m_dma_tdata_o,
    output logic         [PORTS-1:0][BUS_BYTES-1:0] m_dma_tkeep_o,
    output logic         [PORTS-1:0]                m_dma_tlast_o,

    // Receive completions, and what concerns a requesting side
    output logic      cqe_valid_o,
    input  wire logic cqe_ready_i,
    output cqe_t      cqe_o,
    output logic      requester_valid_o,
    input  wire logic requester_ready_i,
    output rx_desc_t  requester_o,

    // Registers, AXI4-Lite
    input  wire logic        s_axil_awvalid_i,
    output logic             s_axil_awready_o,
    input  wire logic [11:0] s_axil_awaddr_i,
    input  wire logic [ 2:0] s_axil_awprot_i,
    input  wire logic        s_axil_wvalid_i,
    output logic             s_axil_wready_o,
    input  wire logic [31:0] s_axil_wdata_i,
    input  wire logic [ 3:0] s_axil_wstrb_i,
    output logic             s_axil_bvalid_o,
    input  wire logic        s_axil_bready_i,
    output logic      [ 1:0] s_axil_bresp_o,
    input  wire logic        s_axil_arvalid_i,
    output logic             s_axil_arready_o,
    input  wire logic [11:0] s_axil_araddr_i,
    input  wire logic [ 2:0] s_axil_arprot_i,
    output logic             s_axil_rvalid_o,
    input  wire logic        s_axil_rready_i,
    output logic      [31:0] s_axil_rdata_o,
    output logic      [ 1:0] s_axil_rresp_o,

    // Whoever follows: accepted events, and for each frame of a port one pulse, in their order
    output logic                    tap_valid_o,
    output tap_t                    tap_o,
    output logic        [PORTS-1:0] accepted_o,
    output logic        [PORTS-1:0] dropped_o,
    output drop_cause_e [PORTS-1:0] drop_cause_o
);

  // ---------------------------------------------------------------- static registers
  rx_config_t rx_config;
  reply_config_t reply_config;
  port_config_t [PORTS-1:0] port_config;

  // ---------------------------------------------------------------- ports
  logic [PORTS-1:0] desc_valid, desc_ready, verdict_valid, verdict_ready;
  rx_desc_t [PORTS-1:0] desc;
  rx_verdict_t [PORTS-1:0] verdict;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    mrc_rx_port #(
        .BUFFER_BEATS(BUFFER_BEATS),
        .DESCRIPTORS (DESCRIPTORS),
        .VERDICTS    (VERDICTS)
    ) u_port (
        .clk_i,
        .rst_ni,
        .config_i         (rx_config),
        .s_axis_tdata_i   (s_axis_tdata_i[p]),
        .s_axis_tkeep_i   (s_axis_tkeep_i[p]),
        .s_axis_tlast_i   (s_axis_tlast_i[p]),
        .s_axis_tvalid_i  (s_axis_tvalid_i[p]),
        .desc_valid_o     (desc_valid[p]),
        .desc_ready_i     (desc_ready[p]),
        .desc_o           (desc[p]),
        .verdict_valid_i  (verdict_valid[p]),
        .verdict_ready_o  (verdict_ready[p]),
        .verdict_i        (verdict[p]),
        .m_dma_cmd_valid_o(m_dma_cmd_valid_o[p]),
        .m_dma_cmd_ready_i(m_dma_cmd_ready_i[p]),
        .m_dma_cmd_o      (m_dma_cmd_o[p]),
        .m_dma_tdata_o    (m_dma_tdata_o[p]),
        .m_dma_tkeep_o    (m_dma_tkeep_o[p]),
        .m_dma_tlast_o    (m_dma_tlast_o[p]),
        .m_dma_tvalid_o   (m_dma_tvalid_o[p]),
        .m_dma_tready_i   (m_dma_tready_i[p]),
        .accepted_o       (accepted_o[p]),
        .dropped_o        (dropped_o[p]),
        .drop_cause_o     (drop_cause_o[p])
    );
  end

  // ---------------------------------------------------------------- engine
  logic command_valid, command_ready, query_valid, query_ready;
  logic reply_valid, reply_ready, endpoint_valid, endpoint_ready;
  command_t command;
  query_t query;
  reply_t reply;
  rx_desc_t endpoint_desc;
  logic [PORT_W-1:0] endpoint_port;
  responder_pulses_t engine_pulses;

  mrc_responder #(
      .QPS             (QPS),
      .WINDOW          (WINDOW),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL),
      .REGIONS         (REGIONS),
      .WIMM            (WIMM),
      .REPLY_DEPTH     (REPLY_DEPTH),
      .VERDICT_DEPTH   (VERDICTS)
  ) u_responder (
      .clk_i,
      .rst_ni,
      .address_i       (reply_config.address),
      .desc_valid_i    (desc_valid),
      .desc_ready_o    (desc_ready),
      .desc_i          (desc),
      .verdict_valid_o (verdict_valid),
      .verdict_ready_i (verdict_ready),
      .verdict_o       (verdict),
      .command_valid_i (command_valid),
      .command_ready_o (command_ready),
      .command_i       (command),
      .query_valid_o   (query_valid),
      .query_ready_i   (query_ready),
      .query_o         (query),
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o,
      .reply_valid_o   (reply_valid),
      .reply_ready_i   (reply_ready),
      .reply_o         (reply),
      .requester_valid_o,
      .requester_ready_i,
      .requester_o,
      .endpoint_valid_o(endpoint_valid),
      .endpoint_ready_i(endpoint_ready),
      .endpoint_port_o (endpoint_port),
      .endpoint_o      (endpoint_desc),
      .tap_valid_o,
      .tap_o,
      .pulses_o        (engine_pulses)
  );

  // ---------------------------------------------------------------- answers
  logic answer_valid, answer_ready, notice_valid, notice_ready;
  logic endpoint_drop, no_way_back;
  logic [PORTS-1:0] sent;
  reply_t answer;
  port_status_t notice;
  endpoint_drop_e endpoint_cause;

  mrc_endpoint #(
      .NOTICES(NOTICES)
  ) u_endpoint (
      .clk_i,
      .rst_ni,
      .config_i      (reply_config),
      .port_config_i (port_config),
      .desc_valid_i  (endpoint_valid),
      .desc_ready_o  (endpoint_ready),
      .desc_port_i   (endpoint_port),
      .desc_i        (endpoint_desc),
      .reply_valid_o (answer_valid),
      .reply_ready_i (answer_ready),
      .reply_o       (answer),
      .notice_valid_o(notice_valid),
      .notice_ready_i(notice_ready),
      .notice_o      (notice),
      .drop_o        (endpoint_drop),
      .drop_cause_o  (endpoint_cause)
  );

  mrc_reply #(
      .QPS   (QPS),
      .FRAMES(REPLY_FRAMES)
  ) u_reply (
      .clk_i,
      .rst_ni,
      .config_i        (reply_config),
      .port_config_i   (port_config),
      .engine_valid_i  (reply_valid),
      .engine_ready_o  (reply_ready),
      .engine_i        (reply),
      .endpoint_valid_i(answer_valid),
      .endpoint_ready_o(answer_ready),
      .endpoint_i      (answer),
      .m_axis_tvalid_o,
      .m_axis_tready_i,
      .m_axis_tdata_o,
      .m_axis_tkeep_o,
      .m_axis_tlast_o,
      .no_way_back_o   (no_way_back),
      .sent_o          (sent)
  );

  // ---------------------------------------------------------------- registers
  logic completed;
  assign completed = cqe_valid_o && cqe_ready_i;

  mrc_csr #(
      .QPS    (QPS),
      .WINDOW (WINDOW),
      .REGIONS(REGIONS),
      .WIMM   (WIMM)
  ) u_csr (
      .clk_i,
      .rst_ni,
      .s_axil_awvalid     (s_axil_awvalid_i),
      .s_axil_awready     (s_axil_awready_o),
      .s_axil_awaddr      (s_axil_awaddr_i),
      .s_axil_awprot      (s_axil_awprot_i),
      .s_axil_wvalid      (s_axil_wvalid_i),
      .s_axil_wready      (s_axil_wready_o),
      .s_axil_wdata       (s_axil_wdata_i),
      .s_axil_wstrb       (s_axil_wstrb_i),
      .s_axil_bvalid      (s_axil_bvalid_o),
      .s_axil_bready      (s_axil_bready_i),
      .s_axil_bresp       (s_axil_bresp_o),
      .s_axil_arvalid     (s_axil_arvalid_i),
      .s_axil_arready     (s_axil_arready_o),
      .s_axil_araddr      (s_axil_araddr_i),
      .s_axil_arprot      (s_axil_arprot_i),
      .s_axil_rvalid      (s_axil_rvalid_o),
      .s_axil_rready      (s_axil_rready_i),
      .s_axil_rdata       (s_axil_rdata_o),
      .s_axil_rresp       (s_axil_rresp_o),
      .command_valid_o    (command_valid),
      .command_ready_i    (command_ready),
      .command_o          (command),
      .query_valid_i      (query_valid),
      .query_ready_o      (query_ready),
      .query_i            (query),
      .notice_valid_i     (notice_valid),
      .notice_ready_o     (notice_ready),
      .notice_i           (notice),
      .rx_config_o        (rx_config),
      .reply_config_o     (reply_config),
      .port_config_o      (port_config),
      .accepted_i         (accepted_o),
      .dropped_i          (dropped_o),
      .drop_cause_i       (drop_cause_o),
      .sent_i             (sent),
      .engine_i           (engine_pulses),
      .endpoint_answered_i(answer_valid && answer_ready),
      .endpoint_dropped_i (endpoint_drop),
      .endpoint_cause_i   (endpoint_cause),
      .no_way_back_i      (no_way_back),
      .completed_i        (completed && cqe_o.status == CQE_SUCCESS),
      .flushed_i          (completed && cqe_o.status == CQE_FLUSHED)
  );

endmodule

`default_nettype wire
