// Stages 8 to 14 of mrc_delivery: the loops from one event of a QP to the next. What fails it, the
// state it is in, and the messages it has completed.
//
// Three rows a QP, one behind the other, and each is little more than a choice:
//   watch      the message of the first immediate that has no receive, once it is there. It is set when
//              that immediate lands, and looked up anew when receives are posted.
//   state      what the QP is in, its NAK, and the low bits of the messages completed: the number that
//              mrc_delivery_count found, so nothing is added, unless that is behind (a peer whose numbers
//              contradict each other) or stops short of an immediate without a receive.
//   completed  the high bits, one more when the low ones wrap.
//
// Latency: 6 enabled clocks from stage 8 to stage 14. Throughput: an event each clock, of one QP too.

`default_nettype none

module mrc_delivery_state
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
  import mrc_delivery_pkg::*;
#(
    parameter int unsigned QPS = 64,  // queue pairs
    localparam int unsigned QP_W = $clog2(QPS)
) (
    input wire logic clk_i,
    input wire logic rst_ni,
    input wire logic advance_i,

    // Event in stage 8
    input  wire logic                       valid_i,
    input  wire delivery_op_e               op_i,
    input  wire logic           [ QP_W-1:0] qp_i,
    input  wire logic           [PSN_W-1:0] psn_i,
    input  wire logic           [MSN_W-1:0] msn_i,
    input  wire logic                       recorded_i,  // a new packet that was recorded,
    input  wire logic                       bad_i,       // and one that was not, for
    input  wire aeth_syndrome_e             syndrome_i,  // this
    output logic                [ QP_W-1:0] qp_12_o,     // QP of the event in stage 12

    // Stage 11: a write with immediate; it is one too many; it is the first without a receive; of
    // receives posted: the first immediate that is still without one is there, and its message
    input wire logic             immediate_11_i,
    input wire logic             excess_11_i,
    input wire logic             watched_11_i,
    input wire logic             found_11_i,
    input wire logic [MSN_W-1:0] found_msn_11_i,

    input wire logic [MSN_W-1:0] messages_12_i,  // that the cumulative PSN has passed

    // Stage 14
    output delivery_op_e op_o,
    output logic [QP_W-1:0] qp_o,
    output qp_state_e before_o,
    output logic placed_o,
    output logic fault_o,
    output logic failed_o,  // the state after, one that takes no packets any more
    output logic moved_o,  // more messages are complete
    output aeth_syndrome_e syndrome_o,
    output logic [PSN_W-1:0] nak_psn_o,
    output logic [23:0] completed_o
);

  localparam int unsigned HIGH_W = 24 - MSN_W;

  // ---------------------------------------------------------------- what of an event goes on
  typedef struct packed {
    delivery_op_e     op;
    logic [QP_W-1:0]  qp;
    logic [PSN_W-1:0] psn;
    logic [MSN_W-1:0] msn;
    logic             recorded;
    logic             bad;
    aeth_syndrome_e   syndrome;
  } part_t;

  localparam int unsigned LAST = 14;

  part_t part[8:LAST];
  logic [LAST+1:9] valid_q;

  assign part[8] = '{
          op: op_i,
          qp: qp_i,
          psn: psn_i,
          msn: msn_i,
          recorded: recorded_i,
          bad: bad_i,
          syndrome: syndrome_i
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance_i) valid_q <= {valid_q[LAST:9], valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) for (int s = 9; s <= LAST; s++) part[s] <= part[s-1];
  end

  assign qp_12_o = part[12].qp;
  assign op_o = part[LAST].op;
  assign qp_o = part[LAST].qp;

  // ---------------------------------------------------------------- stages 8 to 12: watch
  typedef struct packed {
    logic             valid;
    logic [MSN_W-1:0] msn;
  } watch_t;

  watch_t watch_10, watch_11, new_watch_11, watch_12;

  mrc_ram_forward #(
      .WIDTH($bits(watch_t)),
      .DEPTH(QPS)
  ) u_watch (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(part[8].qp),
      .rdata_o(watch_10),
      .we_i(valid_q[12]),
      .waddr_i(part[12].qp),
      .wdata_i(watch_12)
  );

  always_comb begin
    new_watch_11 = watch_11;
    unique case (part[11].op)
      DELIVERY_RESET, DELIVERY_READY: new_watch_11.valid = 1'b0;
      DELIVERY_POST: new_watch_11 = {found_11_i, found_msn_11_i};
      default: if (immediate_11_i && watched_11_i) new_watch_11 = {1'b1, part[11].msn};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      watch_11 <= valid_q[11] && part[11].qp == part[10].qp ? new_watch_11 : watch_10;
      watch_12 <= new_watch_11;
    end
  end

  // ---------------------------------------------------------------- stage 12: what is wrong with the packet
  logic excess_12, missing_12, excess_13, missing_13;
  logic [MSN_W-1:0] watch_behind_12, target_13;

  assign watch_behind_12 = watch_12.msn - messages_12_i;
  assign missing_12 = part[12].recorded && watch_12.valid && watch_behind_12[MSN_W-1];

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      excess_12  <= excess_11_i;
      excess_13  <= excess_12;
      missing_13 <= missing_12;
      target_13  <= missing_12 ? watch_12.msn : messages_12_i;
    end
  end

  // ---------------------------------------------------------------- stages 10 to 14: state
  typedef struct packed {
    qp_state_e        state;
    logic [MSN_W-1:0] completed;
    aeth_syndrome_e   syndrome;
    logic [PSN_W-1:0] nak_psn;
  } row_t;

  logic [$bits(row_t)-1:0] ram_row_12;
  row_t row_13, new_row_13, row_14;
  logic takes_13, fails_13, on_13, starts_13, wraps_14, starts_14;
  logic [MSN_W-1:0] ahead_13;

  mrc_ram_forward #(
      .WIDTH($bits(row_t)),
      .DEPTH(QPS)
  ) u_state (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(part[10].qp),
      .rdata_o(ram_row_12),
      .we_i(valid_q[14]),
      .waddr_i(part[14].qp),
      .wdata_i(row_14)
  );

  assign takes_13 = row_13.state == QP_READY;
  assign fails_13 = takes_13 && (part[13].bad || excess_13 || missing_13);
  assign starts_13 = part[13].op == DELIVERY_RESET || part[13].op == DELIVERY_READY;
  assign ahead_13 = target_13 - row_13.completed;
  assign on_13 = takes_13 && !part[13].bad && !excess_13 && !ahead_13[MSN_W-1];

  always_comb begin
    new_row_13 = row_13;
    if (fails_13) begin
      new_row_13.state = QP_REFUSED;
      new_row_13.syndrome = part[13].bad ? part[13].syndrome : AETH_NAK_INVALID_REQUEST;
      new_row_13.nak_psn = part[13].psn;
    end
    if (part[13].op == DELIVERY_ERROR && takes_13) new_row_13.state = QP_STOPPED;
    if (part[13].op == DELIVERY_RESET) new_row_13.state = QP_RESET;
    if (part[13].op == DELIVERY_READY) new_row_13.state = QP_READY;
    if (on_13) new_row_13.completed = target_13;
    if (starts_13) new_row_13.completed = '0;
  end

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      row_13 <= valid_q[13] && part[13].qp == part[12].qp ? new_row_13 : row_t'(ram_row_12);
      row_14 <= new_row_13;
      before_o <= row_13.state;
      fault_o <= fails_13;
      placed_o <= takes_13 && part[13].recorded && !excess_13;
      moved_o <= on_13 && ahead_13 != '0 && !starts_13;
      wraps_14 <= on_13 && target_13 < row_13.completed;
      starts_14 <= starts_13;
    end
  end

  assign failed_o   = row_14.state == QP_REFUSED || row_14.state == QP_STOPPED;
  assign syndrome_o = row_14.syndrome;
  assign nak_psn_o  = row_14.nak_psn;

  // ---------------------------------------------------------------- stages 11 to 15: high bits
  logic [HIGH_W-1:0] high_13, high_14, new_high_14, high_15;
  logic [QP_W-1:0] qp_15;

  mrc_ram_forward #(
      .WIDTH(HIGH_W),
      .DEPTH(QPS)
  ) u_high (
      .clk_i,
      .en_i(advance_i),
      .raddr_i(part[11].qp),
      .rdata_o(high_13),
      .we_i(valid_q[LAST+1]),
      .waddr_i(qp_15),
      .wdata_i(high_15)
  );

  assign new_high_14 = starts_14 ? '0 : high_14 + HIGH_W'(wraps_14);
  assign completed_o = {new_high_14, row_14.completed};

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      high_14 <= valid_q[14] && part[14].qp == part[13].qp ? new_high_14 : high_13;
      high_15 <= new_high_14;
      qp_15   <= part[14].qp;
    end
  end

endmodule

`default_nettype wire
