// Proof of mrc_row_shadow for one word of one row, any of them, amid commands for any rows: what is read
// is what the last command for this row said before the clock of the read, or zeros if none did since
// reset, and the status says which; reads are answered in 3 clocks; a row that does not exist says so.
//
// Assumed are commands for what exists, none while busy, and a selection that stands while a read is
// on its way.

`default_nettype none

module mrc_row_shadow_proof
  import mrc_rx_pkg::*;
#(
    parameter int unsigned KIND = 1,  // of the row: 0 configuration, 1 route, 2 region; or none, 3
    parameter int unsigned PORT = 5,  // of a route
    parameter int unsigned QPS = 2,
    parameter int unsigned REGIONS = 4,
    localparam int unsigned MOST = QPS > REGIONS ? QPS : REGIONS,
    localparam int unsigned SETTLE_W = $clog2(MOST + 1)
) (
    input wire logic                   clk_i,
    input wire logic                   rst_ni,
    input wire logic                   write_i,
    input wire command_t               command_i,
    input wire logic     [        1:0] kind_i,
    input wire logic     [QP_ID_W-1:0] index_i,
    input wire logic     [ PORT_W-1:0] port_i,
    input wire logic                   read_i,
    input wire logic     [        3:0] word_i,
    // Chosen once
    input wire logic     [QP_ID_W-1:0] watched_index_i,
    input wire logic     [        3:0] watched_word_i
);

  logic busy, done;
  logic [31:0] data;

  mrc_row_shadow #(
      .QPS(QPS),
      .REGIONS(REGIONS)
  ) dut (
      .clk_i,
      .rst_ni,
      .busy_o(busy),
      .write_i,
      .command_i,
      .kind_i,
      .index_i,
      .port_i,
      .read_i,
      .word_i,
      .done_o(done),
      .data_o(data)
  );

  // ---------------------------------------------------------------- an account of its own
  localparam int unsigned WORDS = 16;
  typedef logic [WORDS-1:0][31:0] words_t;  // word 0 is the status

  function automatic words_t of_config(input qp_config_t row);
    return {480'(row), 32'b0};
  endfunction

  function automatic words_t of_route(input route_t row);
    return {480'(row), 32'b0};
  endfunction

  function automatic words_t of_region(input region_t row);
    return {480'(row), 32'b0};
  endfunction

  logic started_q, chosen_q;  // started: a reset has been
  localparam logic [1:0] WATCHED_KIND = 2'(KIND);
  localparam logic [PORT_W-1:0] WATCHED_PORT = PORT_W'(PORT);
  logic [QP_ID_W-1:0] watched_index_q;
  logic [3:0] watched_word_q;
  logic [SETTLE_W-1:0] settled_q;  // clocks since reset, up to MOST
  logic settled, exists, mine, selected, asks;
  logic told_q;  // a command has brought the row
  words_t row_q, said;
  logic [3:1]
      read_q, asked_q, want_told_q;  // that many clocks ago: a read, the watched one, what is right
  words_t [3:1] want_q;

  initial begin
    started_q = 1'b0;
    chosen_q  = 1'b0;
  end

  assign settled = settled_q == SETTLE_W'(MOST);
  assign exists = WATCHED_KIND != 2'd3 &&
      32'(watched_index_i) < (WATCHED_KIND == 2'(CMD_REGION) ? REGIONS : QPS);
  assign mine = write_i && command_i.op == command_e'(4'(WATCHED_KIND)) &&
      command_i.qp == watched_index_i &&
      (command_i.op != CMD_QP_ROUTE || command_i.port == WATCHED_PORT) && exists;
  assign selected = kind_i == WATCHED_KIND && index_i == watched_index_i &&
      (WATCHED_KIND != 2'(CMD_QP_ROUTE) || port_i == WATCHED_PORT);
  assign asks = read_i && selected && word_i == watched_word_i && settled;

  always_comb begin
    case (WATCHED_KIND)
      2'(CMD_QP_CONFIG): said = of_config(qp_config_t'(command_i.data[$bits(qp_config_t)-1:0]));
      2'(CMD_QP_ROUTE):  said = of_route(route_t'(command_i.data[$bits(route_t)-1:0]));
      default:           said = of_region(region_t'(command_i.data[$bits(region_t)-1:0]));
    endcase
  end

  always_ff @(posedge clk_i) begin
    started_q <= started_q || !rst_ni;
    chosen_q <= 1'b1;
    watched_index_q <= watched_index_i;
    watched_word_q <= watched_word_i;
    want_told_q <= {want_told_q[2:1], told_q};
    want_q <= {want_q[2:1], told_q ? row_q : '0};
    if (!rst_ni) begin
      settled_q <= '0;
      told_q <= 1'b0;
      read_q <= '0;
      asked_q <= '0;
    end else begin
      if (!settled) settled_q <= settled_q + 1'b1;
      if (mine) begin
        told_q <= 1'b1;
        row_q  <= said;
      end
      read_q  <= {read_q[2:1], read_i};
      asked_q <= {asked_q[2:1], asks};
    end
  end

  // ---------------------------------------------------------------- what the memories hold of the watched word
  logic [PORTS+1:0] kept_bits;
  for (genvar k = 0; k < PORTS + 2; k++) begin : gen_kept
    assign kept_bits[k] = dut.gen_kept[k].u_kept.memory[watched_index_i[$clog2(MOST)-1:0]];
  end

  logic kept_there, kept_out;
  words_t there, out;
  logic [31:0] word_2;
  localparam int unsigned QP_W = $clog2(QPS);
  localparam int unsigned REGION_W = $clog2(REGIONS);
  always_comb begin
    case (WATCHED_KIND)
      2'(CMD_QP_CONFIG): begin
        there = of_config(dut.u_config.memory[watched_index_i[QP_W-1:0]]);
        out = of_config(dut.config_row);
        word_2 = dut.config_word_2_q;
        kept_there = kept_bits[PORTS];
        kept_out = dut.kept[PORTS];
      end
      2'(CMD_QP_ROUTE): begin
        there = of_route(dut.u_route.memory[{watched_index_i[QP_W-1:0], WATCHED_PORT}]);
        out = of_route(dut.route_row);
        word_2 = dut.route_word_2_q;
        kept_there = kept_bits[WATCHED_PORT];
        kept_out = dut.kept[WATCHED_PORT];
      end
      default: begin
        there = of_region(dut.u_region.memory[watched_index_i[REGION_W-1:0]]);
        out = of_region(dut.region_row);
        word_2 = dut.region_word_2_q;
        kept_there = kept_bits[PORTS+1];
        kept_out = dut.kept[PORTS+1];
      end
    endcase
  end

  logic status;
  assign status = watched_word_i == '0;

  always_ff @(posedge clk_i) begin
    FixedChoice :
    assume (!chosen_q || (watched_index_i == watched_index_q && watched_word_i == watched_word_q));
    SelectionStands : assume (!(asked_q[1] || asked_q[2]) || selected);
    NotWhileBusy : assume (!busy || !write_i);
    CommandsForWhatExists :
    assume (command_i.op > CMD_REGION ||
            32'(command_i.qp) < (command_i.op == CMD_REGION ? REGIONS : QPS));
    if (started_q && rst_ni) begin
      Answered : assert (done == read_q[3]);
      Busy : assert (busy == !settled);
      Status : assert (!asked_q[3] || !status || data == {30'b0, !exists, want_told_q[3]});
      TheLastOneTold : assert (!asked_q[3] || status || data == want_q[3][watched_word_i]);
      // What makes each clock follow from the one before.
      OnlyWhatExists : assert (!told_q || (exists && settled));
      Clears :
      assert (settled_q <= SETTLE_W'(MOST) && (settled || 32'(dut.clear_q) == 32'(settled_q)));
      Kept :
      assert (!exists || (!settled && 32'(watched_index_i) >= 32'(settled_q)) ||
              kept_there == told_q);
      Row : assert (!told_q || there == row_q);
      OnItsWay : assert ({dut.read_2_q, dut.read_1_q} == read_q[2:1]);
      Wanted : assert (!(asked_q[1] && want_told_q[1]) || exists);
      Wanted2 : assert (!(asked_q[2] && want_told_q[2]) || exists);
      Out :
      assert (!asked_q[1] || (dut.word_1_q == watched_word_i && dut.none_1_q == !exists &&
              (!exists || kept_out == want_told_q[1]) &&
              (want_told_q[1] ? out == want_q[1] : want_q[1] == '0)));
      Picked :
      assert (!asked_q[2] || (dut.status_2_q == status && dut.none_2_q == !exists &&
              dut.known_2_q == want_told_q[2] &&
              (want_told_q[2] ? status || word_2 == want_q[2][watched_word_i] : want_q[2] == '0)));
    end
  end

endmodule

`default_nettype wire
