// Takes words of a stream, ready in bursts, and writes them to a file, as 32-bit words, the lowest first.

`default_nettype none

module receive_log #(
    parameter string NAME = "",
    parameter int unsigned PORT = 0,
    parameter int unsigned WIDTH = 32,
    localparam int unsigned WORDS_W = (WIDTH + 31) / 32 * 32
) (
    input wire logic        clk,
    input wire logic        rst_n,
    input wire logic        start,
    input wire logic        stop,
    input wire logic [31:0] run,
    input wire logic [ 7:0] stall,  // chance that a time without ready begins, in 256ths

    input  wire logic             valid,
    output logic                  ready,
    input  wire logic [WIDTH-1:0] data
);

  int file;
  logic [WORDS_W-1:0] words;

  assign words = WORDS_W'(data);

  always @(posedge clk) begin
    ready <= stall == 0 || 8'($urandom) >= (ready ? stall : 8'd179);
    if (!rst_n) ready <= 1'b0;
    else if (start) file = $fopen($sformatf("%0d_%s_%0d", run, NAME, PORT), "wb");
    else if (stop) $fclose(file);
    else if (valid && ready) $fwrite(file, "%u", words);
  end

endmodule

`default_nettype wire
