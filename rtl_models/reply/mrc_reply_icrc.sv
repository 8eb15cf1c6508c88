// ICRC of an answer: matrix products over GF(2), which mrc_reply_icrc_pkg holds.
//
// Latency: 2 clocks. Throughput: one a clock.

`default_nettype none

module mrc_reply_icrc
  import mrc_rx_pkg::BODY_W;
  import mrc_reply_pkg::*;
  import mrc_reply_icrc_pkg::*;
(
    input wire logic clk_i,
    input wire logic [FRONT_W-1:0] front_i,  // inner IPv6 header, UDP and BTH as sent
    input wire logic [BODY_W-1:0] body_i,  // right-aligned, zeros in front of a shorter one
    input wire body_size_e size_i,
    output logic [31:0] icrc_o  // its lowest byte goes first on the wire
);

  // Rows of the matrices, so that each bit of a product is one parity.
  typedef logic [31:0][FRONT_W-1:0] front_rows_t;
  typedef logic [31:0][BODY_W-1:0] body_rows_t;
  typedef logic [31:0][31:0] advance_rows_t;

  function automatic front_rows_t front_rows();
    for (int unsigned r = 0; r < 32; r++) begin
      for (int unsigned c = 0; c < FRONT_W; c++) front_rows[r][c] = FRONT[c][r];
    end
  endfunction

  function automatic body_rows_t body_rows();
    for (int unsigned r = 0; r < 32; r++) begin
      for (int unsigned c = 0; c < BODY_W; c++) body_rows[r][c] = BODY[c][r];
    end
  endfunction

  function automatic advance_rows_t advance_rows(input logic [31:0][31:0] columns);
    for (int unsigned r = 0; r < 32; r++) begin
      for (int unsigned c = 0; c < 32; c++) advance_rows[r][c] = columns[c][r];
    end
  endfunction

  localparam front_rows_t FRONT_ROWS = front_rows();
  localparam body_rows_t BODY_ROWS = body_rows();
  localparam advance_rows_t ADVANCE_AETH = advance_rows(ADVANCE_4);
  localparam advance_rows_t ADVANCE_NETH = advance_rows(ADVANCE_20);
  localparam advance_rows_t ADVANCE_FULL = advance_rows(ADVANCE_36);

  logic [31:0] front_d, front_q, body_d, body_q, advanced;
  body_size_e size_q;

  for (genvar r = 0; r < 32; r++) begin : gen_bit
    assign front_d[r] = ^(front_i & FRONT_ROWS[r]) ^ FRONT_CONSTANT[r];
    assign body_d[r]  = ^(body_i & BODY_ROWS[r]);

    always_comb begin
      unique case (size_q)
        BODY_AETH: advanced[r] = ^(front_q & ADVANCE_AETH[r]);
        BODY_NETH: advanced[r] = ^(front_q & ADVANCE_NETH[r]);
        default:   advanced[r] = ^(front_q & ADVANCE_FULL[r]);
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    front_q <= front_d;
    body_q  <= body_d;
    size_q  <= size_i;
    icrc_o  <= ~(advanced ^ body_q);
  end

endmodule

`default_nettype wire
