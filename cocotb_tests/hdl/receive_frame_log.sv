// Takes beats of an AXI4-Stream, ready in bursts, and writes them to files: the beats whole, and of each
// one byte with the number of its bytes and, in bit 7, tlast.

`default_nettype none

module receive_frame_log
  import mrc_rx_pkg::*;
#(
    parameter string NAME = "",
    parameter int unsigned PORT = 0
) (
    input wire logic        clk,
    input wire logic        rst_n,
    input wire logic        start,
    input wire logic        stop,
    input wire logic [31:0] run,
    input wire logic [ 7:0] stall,  // chance that a time without ready begins, in 256ths

    input  wire logic                 tvalid,
    output logic                      tready,
    input  wire logic [    BUS_W-1:0] tdata,
    input  wire logic [BUS_BYTES-1:0] tkeep,
    input  wire logic                 tlast
);

  int beats, bytes;
  logic [6:0] count;

  assign count = 7'($countones(tkeep));

  always @(posedge clk) begin
    tready <= stall == 0 || 8'($urandom) >= (tready ? stall : 8'd179);
    if (!rst_n) tready <= 1'b0;
    else if (start) begin
      beats = $fopen($sformatf("%0d_%s_beats_%0d", run, NAME, PORT), "wb");
      bytes = $fopen($sformatf("%0d_%s_bytes_%0d", run, NAME, PORT), "wb");
    end else if (stop) begin
      $fclose(beats);
      $fclose(bytes);
    end else if (tvalid && tready) begin
      assert (count != 0 && tkeep == '1 >> (BUS_BYTES - 32'(count)) && (tlast || &tkeep))
      else $error("%s %0d: tkeep %h, tlast %b", NAME, PORT, tkeep, tlast);
      $fwrite(beats, "%u", tdata);
      $fwrite(bytes, "%c", {tlast, count});
    end
  end

  mrc_stream_assert #(
      .WIDTH(BUS_W + BUS_BYTES + 1)
  ) u_rule (
      .clk_i  (clk),
      .rst_ni (rst_n),
      .valid_i(tvalid),
      .ready_i(tready),
      .data_i ({tdata, tkeep, tlast})
  );

endmodule

`default_nettype wire
