// mrc_rx between files: frames for each port and what software does are read from the files of a round,
// all that comes out is written to others (cocotb_tests/receive_files.py), so that Python is awake only
// between rounds.

`default_nettype none

module mrc_rx_bench
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned SAME_QP_INTERVAL = 1
) (
    input  wire logic        clk,
    input  wire logic        rst_n,
    input  wire logic        start,      // one clock: round `run` begins
    input  wire logic        stop,       // one clock: its files are complete
    input  wire logic [31:0] run,
    input  wire logic [ 7:0] idle,       // chance of a pause within a frame, in 256ths
    input  wire logic [ 7:0] stall,      // chance that an output stops for a while, in 256ths
    input  wire logic [ 7:0] dma_stall,  // the same for DMA
    input  wire logic [31:0] rest,       // clocks without any event that count as rest
    input  wire logic [31:0] limit,      // clocks without any event after which waiting is in vain
    output logic             done,       // everything is played, and at rest
    output logic             stuck,
    output logic      [31:0] clocks      // since the round began, up to the last event
);

  localparam int unsigned CSR_ADDRESS_W = 12;

  logic [PORTS-1:0]
      s_tvalid, s_tlast, m_tvalid, m_tready, m_tlast, dma_tvalid, dma_tready, dma_tlast;
  logic [PORTS-1:0][BUS_W-1:0] s_tdata, m_tdata, dma_tdata;
  logic [PORTS-1:0][BUS_BYTES-1:0] s_tkeep, m_tkeep, dma_tkeep;
  logic [PORTS-1:0] cmd_valid, cmd_ready, accepted, dropped, played;
  dma_command_t [PORTS-1:0] cmd;
  drop_cause_e  [PORTS-1:0] drop_cause;
  logic cqe_valid, cqe_ready, requester_valid, requester_ready, tap_valid;
  cqe_t cqe;
  rx_desc_t requester;
  tap_t tap;

  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [CSR_ADDRESS_W-1:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [1:0] bresp, rresp;

  // At power-up everything is random, the reset and the clock too: nothing runs before a reset.
  logic begun = 1'b0;
  logic up;
  assign up = rst_n && begun;
  always @(posedge clk) if (!rst_n) begun <= 1'b1;

  logic [31:0] marks, quiet, elapsed;
  logic [PORTS-1:0][31:0] outcomes, accepts, taps;
  logic rested, told, event_now;

  mrc_rx #(
      .QPS(QPS),
      .WINDOW(WINDOW),
      .SAME_QP_INTERVAL(SAME_QP_INTERVAL)
  ) u_dut (
      .clk_i            (clk),
      .rst_ni           (up),
      .s_axis_tvalid_i  (s_tvalid),
      .s_axis_tdata_i   (s_tdata),
      .s_axis_tkeep_i   (s_tkeep),
      .s_axis_tlast_i   (s_tlast),
      .m_axis_tvalid_o  (m_tvalid),
      .m_axis_tready_i  (m_tready),
      .m_axis_tdata_o   (m_tdata),
      .m_axis_tkeep_o   (m_tkeep),
      .m_axis_tlast_o   (m_tlast),
      .m_dma_cmd_valid_o(cmd_valid),
      .m_dma_cmd_ready_i(cmd_ready),
      .m_dma_cmd_o      (cmd),
      .m_dma_tvalid_o   (dma_tvalid),
      .m_dma_tready_i   (dma_tready),
      .m_dma_tdata_o    (dma_tdata),
      .m_dma_tkeep_o    (dma_tkeep),
      .m_dma_tlast_o    (dma_tlast),
      .cqe_valid_o      (cqe_valid),
      .cqe_ready_i      (cqe_ready),
      .cqe_o            (cqe),
      .requester_valid_o(requester_valid),
      .requester_ready_i(requester_ready),
      .requester_o      (requester),
      .s_axil_awvalid_i (awvalid),
      .s_axil_awready_o (awready),
      .s_axil_awaddr_i  (awaddr),
      .s_axil_awprot_i  (3'd0),
      .s_axil_wvalid_i  (wvalid),
      .s_axil_wready_o  (wready),
      .s_axil_wdata_i   (wdata),
      .s_axil_wstrb_i   (4'hF),
      .s_axil_bvalid_o  (bvalid),
      .s_axil_bready_i  (bready),
      .s_axil_bresp_o   (bresp),
      .s_axil_arvalid_i (arvalid),
      .s_axil_arready_o (arready),
      .s_axil_araddr_i  (araddr),
      .s_axil_arprot_i  (3'd0),
      .s_axil_rvalid_o  (rvalid),
      .s_axil_rready_i  (rready),
      .s_axil_rdata_o   (rdata),
      .s_axil_rresp_o   (rresp),
      .tap_valid_o      (tap_valid),
      .tap_o            (tap),
      .accepted_o       (accepted),
      .dropped_o        (dropped),
      .drop_cause_o     (drop_cause)
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    int file;

    receive_player #(
        .PORT(p)
    ) u_player (
        .clk,
        .rst_n (up),
        .start,
        .run,
        .idle,
        .marks,
        .tvalid(s_tvalid[p]),
        .tdata (s_tdata[p]),
        .tkeep (s_tkeep[p]),
        .tlast (s_tlast[p]),
        .done  (played[p])
    );

    receive_frame_log #(
        .NAME("reply"),
        .PORT(p)
    ) u_replies (
        .clk,
        .rst_n (up),
        .start,
        .stop,
        .run,
        .stall,
        .tvalid(m_tvalid[p]),
        .tready(m_tready[p]),
        .tdata (m_tdata[p]),
        .tkeep (m_tkeep[p]),
        .tlast (m_tlast[p])
    );

    receive_frame_log #(
        .NAME("dma"),
        .PORT(p)
    ) u_data (
        .clk,
        .rst_n (up),
        .start,
        .stop,
        .run,
        .stall (dma_stall),
        .tvalid(dma_tvalid[p]),
        .tready(dma_tready[p]),
        .tdata (dma_tdata[p]),
        .tkeep (dma_tkeep[p]),
        .tlast (dma_tlast[p])
    );

    receive_log #(
        .NAME ("place"),
        .PORT (p),
        .WIDTH($bits(dma_command_t))
    ) u_commands (
        .clk,
        .rst_n(up),
        .start,
        .stop,
        .run,
        .stall(dma_stall),
        .valid(cmd_valid[p]),
        .ready(cmd_ready[p]),
        .data (cmd[p])
    );

    // A byte a frame: why it was dropped, or FF.
    always @(posedge clk) begin
      if (start) begin
        file = $fopen($sformatf("%0d_outcome_%0d", run, p), "wb");
        outcomes[p] <= '0;
        accepts[p] <= '0;
        taps[p] <= '0;
      end else if (stop) $fclose(file);
      else if (up) begin
        if (accepted[p]) begin
          $fwrite(file, "%c", 8'hFF);
          accepts[p] <= accepts[p] + 1;
        end
        if (dropped[p]) $fwrite(file, "%c", 8'(drop_cause[p]));
        if (accepted[p] || dropped[p]) outcomes[p] <= outcomes[p] + 1;
        if (tap_valid && tap.kind == EVENT_FRAME && 32'(tap.port) == p) taps[p] <= taps[p] + 1;
        assert (!(accepted[p] && dropped[p]))
        else $error("port %0d: two outcomes", p);
      end
    end
  end

  receive_log #(
      .NAME ("completion"),
      .WIDTH(32 + $bits(cqe_t))
  ) u_completions (
      .clk,
      .rst_n(up),
      .start,
      .stop,
      .run,
      .stall,
      .valid(cqe_valid),
      .ready(cqe_ready),
      .data ({elapsed, cqe})
  );

  receive_log #(
      .NAME ("requester"),
      .WIDTH($bits(rx_desc_t))
  ) u_strays (
      .clk,
      .rst_n(up),
      .start,
      .stop,
      .run,
      .stall,
      .valid(requester_valid),
      .ready(requester_ready),
      .data (requester)
  );

  receive_log #(
      .NAME ("tap"),
      .WIDTH(32 + $bits(tap_t))
  ) u_taps (
      .clk,
      .rst_n(up),
      .start,
      .stop,
      .run,
      .stall(8'd0),
      .valid(tap_valid),
      .ready(),
      .data ({elapsed, tap})
  );

  receive_software #(
      .ADDRESS_W(CSR_ADDRESS_W)
  ) u_software (
      .clk,
      .rst_n(up),
      .start,
      .stop,
      .run,
      .outcomes,
      .accepted(accepts),
      .tapped(taps),
      .rested,
      .marks,
      .done(told),
      .awvalid,
      .awready,
      .awaddr,
      .wvalid,
      .wready,
      .wdata,
      .bvalid,
      .bready,
      .bresp,
      .arvalid,
      .arready,
      .araddr,
      .rvalid,
      .rready,
      .rdata,
      .rresp
  );

  assign event_now = |{s_tvalid, m_tvalid, dma_tvalid, cmd_valid, accepted, dropped, cqe_valid,
                       requester_valid, tap_valid};
  assign rested = &played && quiet >= rest;
  assign done = rested && told;
  assign stuck = quiet >= limit && !done;

  always @(posedge clk) begin
    if (!up || start) begin
      quiet   <= '0;
      elapsed <= '0;
      clocks  <= '0;
    end else begin
      elapsed <= elapsed + 1;
      quiet   <= event_now ? '0 : quiet + 1;
      if (event_now) clocks <= elapsed;
    end
  end

endmodule

`default_nettype wire
