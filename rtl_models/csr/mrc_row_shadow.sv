// What the engine was last told: the row of each QP's configuration, of its routes and of each region,
// for software to read back. A row is written here when the engine accepts its command.
//
// Rows lie in RAM, each whole, and beside them a bit says whether one was written since reset; until
// then it reads as zeros. After reset these bits are cleared one by one: busy_o is high for max(QPS,
// REGIONS) clocks, in which nothing may be written. Nothing else ends a row; CMD_QP_RESET keeps it.
//
// Latency: a row that is written is read from the next clock on; a word is answered 3 clocks after
// read_i, in which the selection stands still. Throughput: a row written and a word read each clock;
// neither waits for the other.

`default_nettype none

module mrc_row_shadow
  import mrc_rx_pkg::*;
#(
    parameter int unsigned QPS = 64,
    parameter int unsigned REGIONS = 64
) (
    input  wire logic clk_i,
    input  wire logic rst_ni,
    output logic      busy_o,

    // A command that the engine accepts, whatever it is
    input wire logic     write_i,
    // verilator lint_off UNUSEDSIGNAL
    input wire command_t command_i, // but for the value
    // verilator lint_on UNUSEDSIGNAL

    // Which row: the command that writes it, and that command's qp and port
    input wire logic [        1:0] kind_i,
    input wire logic [QP_ID_W-1:0] index_i,
    input wire logic [ PORT_W-1:0] port_i,

    // Word 0: bit 0 it was written, bit 1 there is no such row. Words behind: the row, lowest first.
    input  wire logic        read_i,
    input  wire logic [ 3:0] word_i,
    output logic             done_o,
    output logic      [31:0] data_o   // in the clock of done_o
);

  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned REGION_W = $clog2(REGIONS);
  localparam int unsigned ROUTE_W = $clog2(QPS * PORTS);
  // Bits "was written" of an index: of the routes by port, then of the configuration, of the region.
  localparam int unsigned KEPT = PORTS + 2;
  localparam int unsigned MOST = QPS > REGIONS ? QPS : REGIONS;
  localparam int unsigned MOST_W = $clog2(MOST);

  // ---------------------------------------------------------------- after reset: nothing was written
  logic [MOST_W-1:0] clear_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_o  <= 1'b1;
      clear_q <= '0;
    end else begin
      if (clear_q == MOST_W'(MOST - 1)) busy_o <= 1'b0;
      if (busy_o) clear_q <= clear_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- rows
  logic is_config, is_route, is_region;
  qp_config_t config_row;
  route_t route_row;
  region_t region_row;
  logic [KEPT-1:0] write_kept, kept;

  assign is_config = write_i && command_i.op == CMD_QP_CONFIG;
  assign is_route  = write_i && command_i.op == CMD_QP_ROUTE;
  assign is_region = write_i && command_i.op == CMD_REGION;

  mrc_ram #(
      .WIDTH($bits(qp_config_t)),
      .DEPTH(QPS)
  ) u_config (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(index_i[QP_W-1:0]),
      .rdata_o(config_row),
      .we_i(is_config),
      .waddr_i(command_i.qp[QP_W-1:0]),
      .wdata_i(command_i.data[$bits(qp_config_t)-1:0])
  );

  mrc_ram #(
      .WIDTH($bits(route_t)),
      .DEPTH(QPS * PORTS)
  ) u_route (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(ROUTE_W'({index_i[QP_W-1:0], port_i})),
      .rdata_o(route_row),
      .we_i(is_route),
      .waddr_i(ROUTE_W'({command_i.qp[QP_W-1:0], command_i.port})),
      .wdata_i(command_i.data[$bits(route_t)-1:0])
  );

  mrc_ram #(
      .WIDTH($bits(region_t)),
      .DEPTH(REGIONS)
  ) u_region (
      .clk_i,
      .en_i(1'b1),
      .raddr_i(index_i[REGION_W-1:0]),
      .rdata_o(region_row),
      .we_i(is_region),
      .waddr_i(command_i.qp[REGION_W-1:0]),
      .wdata_i(command_i.data[$bits(region_t)-1:0])
  );

  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) begin
      write_kept[p] = is_route && command_i.port == PORT_W'(p);
    end
    write_kept[PORTS]   = is_config;
    write_kept[PORTS+1] = is_region;
  end

  // Each bit is written by itself: a RAM a bit.
  for (genvar k = 0; k < KEPT; k++) begin : gen_kept
    mrc_ram #(
        .WIDTH(1),
        .DEPTH(MOST)
    ) u_kept (
        .clk_i,
        .en_i(1'b1),
        .raddr_i(index_i[MOST_W-1:0]),
        .rdata_o(kept[k]),
        .we_i(busy_o || write_kept[k]),
        .waddr_i(busy_o ? clear_q : command_i.qp[MOST_W-1:0]),
        .wdata_i(!busy_o)
    );
  end

  // ---------------------------------------------------------------- a word of the row selected
  // Of each kind's row first, then of the kind: RAM and both would be too long for a clock.
  logic read_1_q, read_2_q, none_1_q, none_2_q, status_2_q, known_2_q, known_1;
  logic [3:0] word_1_q;
  logic [PORTS-1:0] route_kept;
  logic [15:0][31:0] config_words, route_words, region_words;
  logic [31:0] config_word_2_q, route_word_2_q, region_word_2_q, word_2;

  assign route_kept   = kept[PORTS-1:0];

  // Word 0 is the status; what lies above a row is zero.
  assign config_words = {($bits(config_words) - 32)'(config_row), 32'b0};
  assign route_words  = {($bits(route_words) - 32)'(route_row), 32'b0};
  assign region_words = {($bits(region_words) - 32)'(region_row), 32'b0};

  always_comb begin
    case (kind_i)
      2'(CMD_QP_CONFIG): known_1 = kept[PORTS];
      2'(CMD_QP_ROUTE): known_1 = route_kept[port_i];
      default: known_1 = kept[PORTS+1];
    endcase
    case (kind_i)
      2'(CMD_QP_CONFIG): word_2 = config_word_2_q;
      2'(CMD_QP_ROUTE): word_2 = route_word_2_q;
      default: word_2 = region_word_2_q;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {done_o, read_2_q, read_1_q} <= '0;
    else {done_o, read_2_q, read_1_q} <= {read_2_q, read_1_q, read_i};
  end

  always_ff @(posedge clk_i) begin
    word_1_q <= word_i;
    none_1_q <= kind_i == '1 ||
        32'(index_i) >= (kind_i == 2'(CMD_REGION) ? 32'(REGIONS) : 32'(QPS));

    status_2_q <= word_1_q == '0;
    none_2_q <= none_1_q;
    known_2_q <= known_1 && !none_1_q;
    config_word_2_q <= config_words[word_1_q];
    route_word_2_q <= route_words[word_1_q];
    region_word_2_q <= region_words[word_1_q];

    if (status_2_q) data_o <= {30'b0, none_2_q, known_2_q};
    else data_o <= known_2_q ? word_2 : '0;
  end

`ifndef SYNTHESIS
  too_early :
  assert property (@(posedge clk_i) disable iff (!rst_ni) busy_o |-> !write_i);
`endif

endmodule

`default_nettype wire
