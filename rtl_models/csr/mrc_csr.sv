// Registers of the receive side on AXI4-Lite (docs/registers.md): commands to the engine and answers to
// queries, the rows that it was told, what peers say of their ports, static registers, counters.
//
// The registers themselves are PeakRDL's (generated/). Here is what it cannot know: writes of part of a
// word, writes to counters or rows and unaligned addresses are turned to an address that does not
// exist, so that they answer SLVERR; a command whose operation, QP or region does not exist is refused;
// counters lie in RAM, and so do the rows that commands have brought, to be read back. Nothing that
// software does holds up traffic: a command waits for its turn among the engine's events, and the
// mailbox is busy meanwhile. After reset commands wait for max(QPS, REGIONS) clocks, in which the rows
// are forgotten.
//
// Latency: an event is in its counter within 40 clocks, a row in its shadow 2 clocks after the engine
// accepts its command. Throughput: one access at a time.

`default_nettype none

module mrc_csr
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    // What is built, for software to read and for commands to be checked against.
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned REGIONS = 64,
    parameter int unsigned WIMM = 128
) (
    input wire logic clk_i,
    input wire logic rst_ni,

    // AXI4-Lite
    input  wire logic        s_axil_awvalid,
    output logic             s_axil_awready,
    input  wire logic [11:0] s_axil_awaddr,
    input  wire logic [ 2:0] s_axil_awprot,
    input  wire logic        s_axil_wvalid,
    output logic             s_axil_wready,
    input  wire logic [31:0] s_axil_wdata,
    input  wire logic [ 3:0] s_axil_wstrb,
    output logic             s_axil_bvalid,
    input  wire logic        s_axil_bready,
    output logic      [ 1:0] s_axil_bresp,
    input  wire logic        s_axil_arvalid,
    output logic             s_axil_arready,
    input  wire logic [11:0] s_axil_araddr,
    input  wire logic [ 2:0] s_axil_arprot,
    output logic             s_axil_rvalid,
    input  wire logic        s_axil_rready,
    output logic      [31:0] s_axil_rdata,
    output logic      [ 1:0] s_axil_rresp,

    // To the engine, and what it answers
    output logic        command_valid_o,
    input  wire logic   command_ready_i,
    output command_t    command_o,
    input  wire logic   query_valid_i,
    output logic        query_ready_o,
    input  wire query_t query_i,

    // What peers say of their ports
    input  wire logic         notice_valid_i,
    output logic              notice_ready_o,
    input  wire port_status_t notice_i,

    // Static registers
    output rx_config_t                rx_config_o,
    output reply_config_t             reply_config_o,
    output port_config_t  [PORTS-1:0] port_config_o,

    // Events for counters, each a pulse of one clock
    input wire logic              [PORTS-1:0] accepted_i,           // by a port
    input wire logic              [PORTS-1:0] dropped_i,
    input wire drop_cause_e       [PORTS-1:0] drop_cause_i,
    input wire logic              [PORTS-1:0] sent_i,
    input wire responder_pulses_t             engine_i,
    input wire logic                          endpoint_answered_i,
    input wire logic                          endpoint_dropped_i,
    input wire endpoint_drop_e                endpoint_cause_i,
    input wire logic                          no_way_back_i,
    input wire logic                          completed_i,          // receives, with data
    input wire logic                          flushed_i             // and without
);

  localparam int unsigned WORDS = COMMAND_DATA_W / 32;
  localparam int unsigned PORT_KINDS = 2 + DROP_CAUSES;
  localparam int unsigned ENGINE_KINDS = $bits(responder_pulses_t) + 1 + ENDPOINT_DROPS + 3;
  localparam int unsigned KIND_W = 5;
  localparam int unsigned BANKS = PORTS + 1;  // of counters: the ports', and the engine's
  localparam logic [11:0] NOWHERE = 12'hFFC;
  localparam logic [11:0] COUNTERS = 12'h400;  // and everything behind
  localparam logic [11:0] ROW = 12'h1C0;
  localparam int unsigned ROW_BYTES_LOG2 = 6;

  // ---------------------------------------------------------------- what is turned away
  logic join_valid, aw_ready, w_ready;
  logic [11:0] write_address, read_address;

  // Address and data of a write enter together, so that one can spoil the other.
  assign join_valid = s_axil_awvalid && s_axil_wvalid;
  assign s_axil_awready = join_valid && aw_ready && w_ready;
  assign s_axil_wready = s_axil_awready;

  always_comb begin
    write_address = s_axil_awaddr;
    if (s_axil_wstrb != '1 || s_axil_awaddr[1:0] != '0 || s_axil_awaddr >= COUNTERS ||
        s_axil_awaddr[11:ROW_BYTES_LOG2] == ROW[11:ROW_BYTES_LOG2]) begin
      write_address = NOWHERE;
    end
    read_address = s_axil_araddr[1:0] == '0 ? s_axil_araddr : NOWHERE;
  end

  mrc_rx_regs_pkg::mrc_rx__in_t  hw_in;
  // Of accesses to counters the address alone matters.
  // verilator lint_off UNUSEDSIGNAL
  mrc_rx_regs_pkg::mrc_rx__out_t hw_out;
  // verilator lint_on UNUSEDSIGNAL

  mrc_rx_regs u_regs (
      .clk(clk_i),
      .rst(!rst_ni),
      .s_axil_awready(aw_ready),
      .s_axil_awvalid(join_valid && w_ready),
      .s_axil_awaddr(write_address),
      .s_axil_awprot,
      .s_axil_wready(w_ready),
      .s_axil_wvalid(join_valid && aw_ready),
      .s_axil_wdata,
      .s_axil_wstrb,
      .s_axil_bready,
      .s_axil_bvalid,
      .s_axil_bresp,
      .s_axil_arready,
      .s_axil_arvalid,
      .s_axil_araddr(read_address),
      .s_axil_arprot,
      .s_axil_rready,
      .s_axil_rvalid,
      .s_axil_rdata,
      .s_axil_rresp,
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );

  // ---------------------------------------------------------------- commands
  logic go_q, waiting_q, refused_q, free, known, send, forgetting;
  command_e op, op_q;

  assign op   = command_e'(hw_out.command.go.op.value);
  assign free = !waiting_q && !go_q && !hw_out.command.go.op.swmod;

  always_comb begin
    if (op > CMD_QUERY) known = 1'b0;
    else if (op == CMD_REGION) known = 32'(command_o.qp) < REGIONS;
    else known = 32'(command_o.qp) < QPS;
  end

  assign send = go_q && !waiting_q && known;
  assign command_valid_o = waiting_q && !forgetting;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      go_q <= 1'b0;
      waiting_q <= 1'b0;
      refused_q <= 1'b0;
    end else begin
      go_q <= hw_out.command.go.op.swmod;
      if (send) waiting_q <= 1'b1;
      else if (command_valid_o && command_ready_i) waiting_q <= 1'b0;
      if (go_q) refused_q <= !send;
    end
  end

  always_ff @(posedge clk_i) begin
    if (send) op_q <= op;
  end

  always_comb begin
    command_o.op = op_q;
    command_o.qp = hw_out.command.qp.qp.value;
    command_o.port = hw_out.command.port.port.value;
    command_o.value = hw_out.command.value.value.value;
    for (int unsigned w = 0; w < WORDS; w++) begin
      command_o.data[32*w+:32] = hw_out.command.data[w].data.value;
    end
  end

  // ---------------------------------------------------------------- rows that were told
  // A clock after the engine's ready, which comes late. The registers of the command still stand then.
  logic told_q, row_done;
  logic [31:0] row_word;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) told_q <= 1'b0;
    else told_q <= command_valid_o && command_ready_i;
  end

  mrc_row_shadow #(
      .QPS(QPS),
      .REGIONS(REGIONS)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .busy_o(forgetting),
      .write_i(told_q),
      .command_i(command_o),
      .kind_i(hw_out.row_select.select.kind.value),
      .index_i(hw_out.row_select.select.index.value),
      .port_i(hw_out.row_select.select.port.value),
      .read_i(hw_out.row.req),
      .word_i(hw_out.row.addr[5:2]),
      .done_o(row_done),
      .data_o(row_word)
  );

  // ---------------------------------------------------------------- answers
  logic   answered_q;
  query_t query_q;

  assign query_ready_o = 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answered_q <= 1'b0;
    else if (query_valid_i) answered_q <= 1'b1;
    else if (send && op == CMD_QUERY) answered_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (query_valid_i) query_q <= query_i;
  end

  assign notice_ready_o = hw_out.notice.take.take.swmod;

  // ---------------------------------------------------------------- static registers
  always_comb begin
    rx_config_o = '{
        udp_port: hw_out.rx.udp.port.value,
        udp_port_other: hw_out.rx.udp.other.value,
        dscp_trimmed: hw_out.rx.dscp.trimmed.value,
        dscp_trimmed_lasthop: hw_out.rx.dscp.trimmed_lasthop.value,
        ev_high_in_src_port: hw_out.rx.ev.ev_high_in_src_port.value
    };
    reply_config_o.dscp_control = hw_out.reply.dscp.control.value;
    reply_config_o.dscp_no_trim = hw_out.reply.dscp.no_trim.value;
    reply_config_o.udp_port = hw_out.reply.udp.port.value;
    reply_config_o.flow_label_high = hw_out.reply.options.flow_label_high.value;
    reply_config_o.spdcid_is_sender = hw_out.reply.options.spdcid_is_sender.value;
    reply_config_o.eeth_op_54 = hw_out.reply.options.eeth_op_54.value;
    for (int unsigned w = 0; w < 4; w++) begin
      reply_config_o.address[32*w+:32] = hw_out.reply.address[w].data.value;
    end
    for (int unsigned p = 0; p < PORTS; p++) begin
      port_config_o[p].mac = {hw_out.port[p].mac_high.high.value, hw_out.port[p].mac_low.low.value};
      port_config_o[p].switch_mac = {
        hw_out.port[p].switch_mac_high.high.value, hw_out.port[p].switch_mac_low.low.value
      };
      for (int unsigned w = 0; w < 4; w++) begin
        port_config_o[p].outer_source[32*w+:32] = hw_out.port[p].outer_source[w].data.value;
      end
    end
  end

  // ---------------------------------------------------------------- counters
  logic [BANKS-1:0] asked, asking_q, done;
  logic [BANKS-1:0][31:0] count;
  logic [KIND_W-1:0] kind_q;
  logic [ENGINE_KINDS-1:0] engine_event;

  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) asked[p] = hw_out.port_count[p].req;
    asked[PORTS] = hw_out.engine_count.req;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) asking_q <= '0;
    else asking_q <= (asking_q | asked) & ~done;
  end

  // Every bank is told the same address.
  always_ff @(posedge clk_i) begin
    if (asked != '0) begin
      kind_q <= asked[PORTS] ? hw_out.engine_count.addr[2+:KIND_W] : '0;
      for (int unsigned p = 0; p < PORTS; p++) begin
        if (asked[p]) kind_q <= hw_out.port_count[p].addr[2+:KIND_W];
      end
    end
  end

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    logic [PORT_KINDS-1:0] port_event;
    assign port_event[1:0] = {sent_i[p], accepted_i[p]};
    for (genvar c = 0; c < DROP_CAUSES; c++) begin : gen_cause
      assign port_event[2+c] = dropped_i[p] && drop_cause_i[p] == drop_cause_e'(c);
    end

    mrc_counters #(
        .KINDS(PORT_KINDS)
    ) u_counters (
        .clk_i,
        .rst_ni,
        .event_i(port_event),
        .read_i (asking_q[p]),
        .kind_i (kind_q),
        .done_o (done[p]),
        .count_o(count[p])
    );
  end

  always_comb begin
    int unsigned k;
    k = 0;
    // In the order of the registers; a struct's first member is its highest bit.
    for (int b = $bits(responder_pulses_t) - 1; b >= 0; b--) begin
      engine_event[k] = engine_i[b];
      k++;
    end
    engine_event[k] = endpoint_answered_i;
    k++;
    for (int unsigned c = 0; c < ENDPOINT_DROPS; c++) begin
      engine_event[k] = endpoint_dropped_i && endpoint_cause_i == endpoint_drop_e'(c);
      k++;
    end
    engine_event[k+:3] = {flushed_i, completed_i, no_way_back_i};
  end

  mrc_counters #(
      .KINDS(ENGINE_KINDS)
  ) u_engine_counters (
      .clk_i,
      .rst_ni,
      .event_i(engine_event),
      .read_i (asking_q[PORTS]),
      .kind_i (kind_q),
      .done_o (done[PORTS]),
      .count_o(count[PORTS])
  );

  // ---------------------------------------------------------------- what software reads
  always_comb begin
    hw_in.default_rx_udp_port = RX_CONFIG_DEFAULT.udp_port;
    hw_in.default_rx_udp_port_other = RX_CONFIG_DEFAULT.udp_port_other;
    hw_in.default_rx_dscp_trimmed = RX_CONFIG_DEFAULT.dscp_trimmed;
    hw_in.default_rx_dscp_trimmed_lasthop = RX_CONFIG_DEFAULT.dscp_trimmed_lasthop;
    hw_in.default_reply_dscp_control = REPLY_CONFIG_DEFAULT.dscp_control;
    hw_in.default_reply_dscp_no_trim = REPLY_CONFIG_DEFAULT.dscp_no_trim;
    hw_in.default_reply_udp_port = REPLY_CONFIG_DEFAULT.udp_port;

    hw_in.built.qps.qps.next = QPS;
    hw_in.built.window.window.next = WINDOW;
    hw_in.built.regions.regions.next = REGIONS;
    hw_in.built.wimm.wimm.next = WIMM;

    for (int unsigned w = 0; w < WORDS; w++) hw_in.command.data[w].data.swwe = free;
    hw_in.command.qp.qp.swwe = free;
    hw_in.command.port.port.swwe = free;
    hw_in.command.value.value.swwe = free;
    hw_in.command.status.busy.next = waiting_q;
    hw_in.command.status.refused.next = refused_q;

    hw_in.query.status.valid.next = answered_q;
    hw_in.query.qp.qp.next = query_q.qp;
    hw_in.query.state.state.next = query_q.state;
    hw_in.query.cack.cack.next = query_q.cack;
    hw_in.query.ooo_count.ooo_count.next = query_q.ooo_count;
    hw_in.query.completed.completed.next = query_q.completed;
    hw_in.query.received.received.next = query_q.received;
    hw_in.query.unanswered.unanswered.next = query_q.unanswered;

    hw_in.notice.status.valid.next = notice_valid_i;
    hw_in.notice.request_id.request_id.next = notice_i.request_id;
    hw_in.notice.mask.mask.next = notice_i.mask;
    for (int unsigned w = 0; w < 4; w++) begin
      hw_in.notice.peer[w].data.next = notice_i.peer[32*w+:32];
    end

    hw_in.row.rd_ack  = row_done;
    hw_in.row.rd_data = row_word;
    hw_in.row.wr_ack  = 1'b0;

    for (int unsigned p = 0; p < PORTS; p++) begin
      hw_in.port_count[p].rd_ack  = done[p];
      hw_in.port_count[p].rd_data = count[p];
      hw_in.port_count[p].wr_ack  = 1'b0;
    end
    hw_in.engine_count.rd_ack  = done[PORTS];
    hw_in.engine_count.rd_data = count[PORTS];
    hw_in.engine_count.wr_ack  = 1'b0;
  end

`ifndef SYNTHESIS
  mrc_stream_assert #(
      .WIDTH($bits(command_t))
  ) u_command_assert (
      .clk_i,
      .rst_ni,
      .valid_i(command_valid_o),
      .ready_i(command_ready_i),
      .data_i (command_o)
  );
`endif

endmodule

`default_nettype wire
