// Proof of mrc_arbiter: the grant is one request, it stands until it is taken, and a requester, any of
// them, sees at most N - 1 takes of others before its own.

`default_nettype none

module mrc_arbiter_proof #(
    parameter  int unsigned N       = 5,
    localparam int unsigned INDEX_W = $clog2(N)
) (
    input wire logic               clk_i,
    input wire logic               rst_ni,
    input wire logic [      N-1:0] request_i,
    input wire logic               taken_i,
    input wire logic [INDEX_W-1:0] watched_i
);

  logic valid;
  logic [N-1:0] grant;
  logic [INDEX_W-1:0] index;

  mrc_arbiter #(
      .N(N)
  ) dut (
      .clk_i,
      .rst_ni,
      .request_i,
      .valid_o(valid),
      .grant_o(grant),
      .index_o(index),
      .taken_i
  );

  logic started_q;  // a reset has been
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= started_q || !rst_ni;

  logic running_q, waiting_q;
  logic [N-1:0] request_q, grant_q;
  logic [INDEX_W-1:0] watched_q, passed_q;  // takes by others while the watched one asks

  always_ff @(posedge clk_i) begin
    running_q <= rst_ni;
    waiting_q <= rst_ni && valid && !taken_i;
    request_q <= rst_ni ? request_i & ~(taken_i ? grant : '0) : '0;
    grant_q   <= grant;
    watched_q <= watched_i;
    if (!rst_ni || !request_i[watched_i] || (taken_i && grant[watched_i])) passed_q <= '0;
    else passed_q <= passed_q + INDEX_W'(taken_i);
  end

  // Numbers whose turn comes before the watched one's: they alone may still pass it.
  logic [N-1:0] turn;
  logic turn_fits;
  logic [INDEX_W:0] ahead;
  assign turn = dut.turn_q;
  always_comb begin
    ahead = '0;
    for (int unsigned n = 0; n < N; n++) begin
      if (n == 32'(watched_i)) begin
      end else if (turn[watched_i]) ahead += (INDEX_W + 1)'(turn[n] && n < 32'(watched_i));
      else ahead += (INDEX_W + 1)'(turn[n] || n < 32'(watched_i));
    end
    // Ones from some number on.
    turn_fits = 1'b1;
    for (int unsigned n = 1; n < N; n++) if (turn[n-1] && !turn[n]) turn_fits = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    FixedChoice : assume (watched_i < N && (!running_q || watched_i == watched_q));
    RequestsStand : assume ((request_q & ~request_i) == '0);
    if (started_q && rst_ni) begin
      OneHot : assert (valid ? $onehot(grant) && (grant & request_i) != '0 : grant == '0);
      Index : assert (!valid || grant[index]);
      Works : assert (valid == (request_i != '0));
      Stands : assert (!waiting_q || grant == grant_q);
      Turn : assert (turn_fits);
      Turns : assert ((INDEX_W + 1)'(passed_q) + ahead < (INDEX_W + 1)'(N));
      Fair : assert (passed_q < N);
    end
  end

endmodule

`default_nettype wire
