// Proof of mrc_region_check: a range is granted exactly when its key names a region that is there and
// all of it lies within. So no byte of a granted range lies outside, and the range does not go past the
// end of the address space, whatever the addresses are and however the pipeline stands still.

`default_nettype none

module mrc_region_check_proof
  import mrc_pkg::*;
  import mrc_rx_pkg::*;
#(
    parameter int unsigned REGIONS = 5
) (
    input wire logic           clk_i,
    input wire logic           advance_i,
    input wire logic    [63:0] va_i,
    input wire logic    [15:0] bytes_i,
    input wire logic    [31:0] r_key_i,
    input wire region_t        region_i,
    input wire logic    [15:0] byte_i      // one of a range, any of them
);

  logic granted;

  mrc_region_check #(
      .REGIONS(REGIONS)
  ) dut (
      .clk_i,
      .advance_i,
      .va_i,
      .bytes_i,
      .r_key_i,
      .region_i,
      .granted_o(granted)
  );

  // Ranges in stages 1 to 4, and the rows from stage 3 on.
  logic [4:1] there_q;
  logic [4:1][63:0] va_q;
  logic [4:1][15:0] bytes_q;
  logic [4:1][31:0] r_key_q;
  region_t [4:3] region_q;

  initial there_q = '0;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      there_q  <= {there_q[3:1], 1'b1};
      va_q     <= {va_q[3:1], va_i};
      bytes_q  <= {bytes_q[3:1], bytes_i};
      r_key_q  <= {r_key_q[3:1], r_key_i};
      region_q <= {region_q[3], region_i};
    end
  end

  function automatic logic [64:0] last_of(input logic [63:0] va, input logic [15:0] bytes);
    return 65'(va) + 65'(bytes) - 65'd1;
  endfunction

  logic named, inside_region;
  logic [64:0] last, chosen;
  assign named = 32'(r_key_q[4] >> R_KEY_TAG_W) < REGIONS && region_q[4].valid &&
      region_q[4].tag == r_key_q[4][R_KEY_TAG_W-1:0];
  assign last = last_of(va_q[4], bytes_q[4]);
  assign inside_region = va_q[4] >= region_q[4].first && last <= 65'(region_q[4].last);
  assign chosen = 65'(va_q[4]) + 65'(byte_i);

  // What makes each clock follow from the one before.
  logic parts_fit;
  always_comb begin
    parts_fit = 1'b1;
    for (int unsigned p = 0; p < 4; p++) begin
      if (dut.below_4_q[p] != (va_q[4][16*p+:16] < region_q[4].first[16*p+:16])) parts_fit = 1'b0;
      if (dut.not_above_4_q[p] != (va_q[4][16*p+:16] <= region_q[4].first[16*p+:16])) begin
        parts_fit = 1'b0;
      end
      if (dut.beyond_4_q[p] != (last[16*p+:16] > region_q[4].last[16*p+:16])) parts_fit = 1'b0;
      if (dut.not_within_4_q[p] != (last[16*p+:16] >= region_q[4].last[16*p+:16])) begin
        parts_fit = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    NotEmpty : assume (bytes_i != '0);
    if (there_q[4]) begin
      Granted : assert (granted == (named && inside_region));
      EachByteInside :
      assert (!granted || byte_i >= bytes_q[4] || (!chosen[64] &&
              chosen[63:0] >= region_q[4].first && chosen[63:0] <= region_q[4].last));
    end
    Stage1 :
    assert (!there_q[1] || (bytes_q[1] != '0 && dut.va_1_q == va_q[1] &&
            dut.more_1_q == bytes_q[1] - 1'b1 && dut.tag_1_q == r_key_q[1][R_KEY_TAG_W-1:0] &&
            dut.known_1_q == (32'(r_key_q[1] >> R_KEY_TAG_W) < REGIONS)));
    Stage2 :
    assert (!there_q[2] || (bytes_q[2] != '0 && dut.va_2_q == va_q[2] &&
            {dut.carry_2_q, dut.low_2_q} == 33'(va_q[2][31:0]) + 33'(bytes_q[2]) - 33'd1 &&
            dut.tag_2_q == r_key_q[2][R_KEY_TAG_W-1:0] &&
            dut.known_2_q == (32'(r_key_q[2] >> R_KEY_TAG_W) < REGIONS)));
    Stage3 :
    assert (!there_q[3] || (bytes_q[3] != '0 && dut.va_3_q == va_q[3] &&
            {dut.carry_3_q, dut.last_3_q} == last_of(
        va_q[3], bytes_q[3]
    ) && dut.first_3_q == region_q[3].first && dut.end_3_q == region_q[3].last &&
        dut.known_3_q == (32'(r_key_q[3] >> R_KEY_TAG_W) < REGIONS && region_q[3].valid &&
                          region_q[3].tag == r_key_q[3][R_KEY_TAG_W-1:0])));
    Stage4 :
    assert (!there_q[4] || (bytes_q[4] != '0 && parts_fit &&
            dut.known_4_q == (named && !last[64])));
  end

endmodule

`default_nettype wire
