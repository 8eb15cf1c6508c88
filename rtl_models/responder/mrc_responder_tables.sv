// What software has told the responder engine: configuration of QPs, what it may set while they are
// used, memory regions. Read by every event, written by commands at the place in the order of events
// where the rows come out, so that a command counts for every event behind it and for none before.
//
// After reset the tables forget: max(QPS, REGIONS, 64) clocks long busy_o is high and nothing may be read.
// Latency: 2 enabled clocks from an event's QP and region to their rows. Throughput: an event each clock.

`default_nettype none

module mrc_responder_tables
  import mrc_rx_pkg::*;
  import responder_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned WINDOW = 4096,
    parameter int unsigned REGIONS = 64,
    localparam int unsigned QP_W = $clog2(QPS),
    localparam int unsigned REGION_W = $clog2(REGIONS)
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    input  wire logic advance_i,
    output logic      busy_o,

    // Two stages ahead of the rows
    input wire logic [    QP_W-1:0] qp_i,
    input wire logic [REGION_W-1:0] region_i,

    // With the rows
    output qp_config_t    config_o,
    output logic          ready_o,   // the QP takes packets, or has and failed
    output soft_t         soft_o,
    output region_t       region_o,
    input  wire logic     write_i,   // the event there is a command
    // verilator lint_off UNUSEDSIGNAL
    input  wire command_t command_i  // but for the port
    // verilator lint_on UNUSEDSIGNAL
);

  // No fewer than mrc_quiet_timer takes for the same.
  localparam int unsigned MOST = QPS > REGIONS ? QPS : REGIONS;
  localparam int unsigned ROWS = MOST > 64 ? MOST : 64;
  localparam int unsigned ROW_W = $clog2(ROWS);
  localparam logic [ROW_W-1:0] LAST_ROW = ROW_W'(ROWS - 1);
  localparam logic [7:0] MPR_MAX = 8'(WINDOW / mrc_pkg::MPR_UNIT_PSNS);

  // ---------------------------------------------------------------- after reset: rows are cleared one by one
  logic [ROW_W-1:0] row_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_o <= 1'b1;
      row_q  <= '0;
    end else begin
      if (row_q == LAST_ROW) busy_o <= 1'b0;
      if (busy_o) row_q <= row_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- what a command writes
  logic enable;
  logic [QP_W-1:0] qp;
  logic is_config, is_ready, is_reset, is_mpr, is_penalty, is_restore, is_resource, is_planes;
  logic is_region;
  logic [7:0] value, window;

  assign enable = advance_i || busy_o;
  assign qp = command_i.qp[QP_W-1:0];
  assign is_config = write_i && command_i.op == CMD_QP_CONFIG;
  assign is_ready = write_i && command_i.op == CMD_QP_READY;
  assign is_reset = write_i && command_i.op == CMD_QP_RESET;
  assign is_mpr = write_i && command_i.op == CMD_SET_MPR;
  assign is_penalty = write_i && command_i.op == CMD_SET_PENALTY;
  assign is_restore = write_i && command_i.op == CMD_SET_RESTORE;
  assign is_resource = write_i && command_i.op == CMD_SET_RESOURCE_NACK;
  assign is_planes = write_i && command_i.op == CMD_SET_PLANES;
  assign is_region = write_i && command_i.op == CMD_REGION;
  assign value = command_i.value[7:0];
  assign window = is_ready ? config_o.mpr_units : value;

  mrc_ram_forward #(
      .WIDTH($bits(qp_config_t)),
      .DEPTH(QPS)
  ) u_config (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(config_o),
      .we_i(is_config),
      .waddr_i(qp),
      .wdata_i(command_i.data[$bits(qp_config_t)-1:0])
  );

  mrc_ram_forward #(
      .WIDTH(1),
      .DEPTH(QPS)
  ) u_ready (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(ready_o),
      .we_i(busy_o || is_ready || is_reset),
      .waddr_i(busy_o ? QP_W'(row_q) : qp),
      .wdata_i(!busy_o && is_ready)
  );

  mrc_ram_forward #(
      .WIDTH(8),
      .DEPTH(QPS)
  ) u_mpr (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(soft_o.mpr_units),
      .we_i(is_ready || is_mpr),
      .waddr_i(qp),
      .wdata_i(window > MPR_MAX ? MPR_MAX : window == '0 ? 8'd1 : window)
  );

  mrc_ram_forward #(
      .WIDTH(7),
      .DEPTH(QPS)
  ) u_penalty (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(soft_o.penalty),
      .we_i(is_ready || is_penalty),
      .waddr_i(qp),
      .wdata_i(is_ready ? '0 : value[6:0])
  );

  mrc_ram_forward #(
      .WIDTH(1),
      .DEPTH(QPS)
  ) u_restore (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(soft_o.restore),
      .we_i(is_ready || is_restore),
      .waddr_i(qp),
      .wdata_i(!is_ready && value[0])
  );

  mrc_ram_forward #(
      .WIDTH(8),
      .DEPTH(QPS)
  ) u_resource (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(soft_o.resource),
      .we_i(is_ready || is_resource),
      .waddr_i(qp),
      .wdata_i(is_ready ? '0 : value)
  );

  mrc_ram_forward #(
      .WIDTH(PORTS),
      .DEPTH(QPS)
  ) u_planes (
      .clk_i,
      .en_i(enable),
      .raddr_i(qp_i),
      .rdata_o(soft_o.planes),
      .we_i(is_config || is_planes),
      .waddr_i(qp),
      .wdata_i(is_config ? '1 : value)
  );

  mrc_ram_forward #(
      .WIDTH($bits(region_t)),
      .DEPTH(REGIONS)
  ) u_regions (
      .clk_i,
      .en_i(enable),
      .raddr_i(region_i),
      .rdata_o(region_o),
      .we_i(busy_o || is_region),
      .waddr_i(busy_o ? REGION_W'(row_q) : command_i.qp[REGION_W-1:0]),
      .wdata_i(busy_o ? '0 : command_i.data[$bits(region_t)-1:0])
  );

endmodule

`default_nettype wire
