// Sends the frames of a file to one receive port, AXI4-Stream.
//
// Of each frame the file has 16 bytes (length, clocks without a beat before it, commands that must have
// been given before it, 0; big-endian words) and its bytes in whole beats. Idle lines, and lanes behind
// a frame's end, carry junk.

`default_nettype none

module receive_player
  import mrc_rx_pkg::*;
#(
    parameter int unsigned PORT = 0
) (
    input wire logic        clk,
    input wire logic        rst_n,
    input wire logic        start,  // opens the file of round `run`
    input wire logic [31:0] run,
    input wire logic [ 7:0] idle,   // chance of a pause within a frame, in 256ths
    input wire logic [31:0] marks,  // commands given so far

    output logic                 tvalid,
    output logic [    BUS_W-1:0] tdata,
    output logic [BUS_BYTES-1:0] tkeep,
    output logic                 tlast,
    output logic                 done
);

  int file;
  logic [31:0] bytes, gap, behind, unused;
  logic [31:0] left;
  logic active;
  logic [BUS_W-1:0] beat;

  task automatic next_frame();
    if ($fread(bytes, file) == 4 && $fread(gap, file) == 4 && $fread(behind, file) == 4) begin
      void'($fread(unused, file));
      left = bytes;
    end else begin
      $fclose(file);
      active = 1'b0;
    end
  endtask

  assign done = !active;

  always @(posedge clk) begin
    tvalid <= 1'b0;
    tdata  <= {tdata[BUS_W-33:0], $urandom};
    tkeep  <= {tkeep[31:0], $urandom};
    tlast  <= tkeep[7];
    if (!rst_n) begin
      active = 1'b0;
      left   = '0;
    end else if (start) begin
      file   = $fopen($sformatf("%0d_in_%0d", run, PORT), "rb");
      active = 1'b1;
      next_frame();
    end else if (active) begin
      if (gap != 0) gap -= 1;
      else if (marks >= behind && (left == bytes || 8'($urandom) >= idle)) begin
        void'($fread(beat, file));
        tvalid <= 1'b1;
        tdata  <= {<<8{beat}};
        tlast  <= left <= BUS_BYTES;
        if (left <= BUS_BYTES) begin
          tkeep <= '1 >> (BUS_BYTES - left);
          next_frame();
        end else begin
          tkeep <= '1;
          left -= BUS_BYTES;
        end
      end
    end
  end

endmodule

`default_nettype wire
