// Software: carries out the operations of a file by AXI4-Lite, one after the other, and logs what it reads.
//
// An operation is four big-endian words: what, and three more.
//   0 write    address, data
//   1 read     address; logged
//   2 poll     address, mask, value: reads until (data & mask) == value; the last one is logged
//   3 skip     address, mask, n: reads; if (data & mask) == 0, the n operations behind it are passed over
//   4 frames   port, n: waits until n of the port's frames were dropped or taken by the engine
//   5 rest     waits until nothing has moved for the time that counts as rest
//   6 mark     one command more has been given
//   7 wait     n: clocks
//   8 refused  address, 0 write or 1 read, data: expects SLVERR
// The log has address, data and response of each read, as 32-bit words.

`default_nettype none

module receive_software
  import mrc_rx_pkg::*;
#(
    parameter int unsigned ADDRESS_W = 12
) (
    input wire logic        clk,
    input wire logic        rst_n,
    input wire logic        start,
    input wire logic        stop,
    input wire logic [31:0] run,

    input wire logic [PORTS-1:0][31:0] outcomes,  // frames taken or dropped, by port
    input wire logic [PORTS-1:0][31:0] accepted,  // of these, taken
    input wire logic [PORTS-1:0][31:0] tapped,    // of these, accepted by the engine
    input wire logic                   rested,

    output logic [31:0] marks,
    output logic        done,

    output logic                      awvalid,
    input  wire logic                 awready,
    output logic      [ADDRESS_W-1:0] awaddr,
    output logic                      wvalid,
    input  wire logic                 wready,
    output logic      [         31:0] wdata,
    input  wire logic                 bvalid,
    output logic                      bready,
    input  wire logic [          1:0] bresp,
    output logic                      arvalid,
    input  wire logic                 arready,
    output logic      [ADDRESS_W-1:0] araddr,
    input  wire logic                 rvalid,
    output logic                      rready,
    input  wire logic [         31:0] rdata,
    input  wire logic [          1:0] rresp
);

  typedef enum logic [31:0] {
    WRITE   = 0,
    READ    = 1,
    POLL    = 2,
    SKIP    = 3,
    FRAMES  = 4,
    REST    = 5,
    MARK    = 6,
    PAUSE   = 7,
    REFUSED = 8
  } what_e;

  int file, log;
  logic active, waiting, counted;
  logic [31:0] what, a, b, c, skips, least;

  task automatic next_operation();
    do begin
      active = $fread(what, file) == 4;
      if (active) begin
        void'($fread(a, file));
        void'($fread(b, file));
        void'($fread(c, file));
      end
      skips -= 1;
    end while (active && skips != '1);
    skips   = '0;
    waiting = 1'b0;
    counted = 1'b0;
  endtask

  task automatic send_write(input logic [31:0] address, input logic [31:0] data);
    awvalid <= 1'b1;
    wvalid  <= 1'b1;
    awaddr  <= ADDRESS_W'(address);
    wdata   <= data;
    waiting = 1'b1;
  endtask

  task automatic send_read(input logic [31:0] address);
    arvalid <= 1'b1;
    araddr  <= ADDRESS_W'(address);
    waiting = 1'b1;
  endtask

  assign done = !active;

  always @(posedge clk) begin
    bready <= $urandom_range(3) != 0;
    rready <= $urandom_range(3) != 0;
    if (awready) awvalid <= 1'b0;
    if (wready) wvalid <= 1'b0;
    if (arready) arvalid <= 1'b0;
    if (!rst_n) begin
      {awvalid, wvalid, arvalid, bready, rready} <= '0;
      active = 1'b0;
      marks <= '0;
    end else if (start) begin
      file  = $fopen($sformatf("%0d_software", run), "rb");
      log   = $fopen($sformatf("%0d_read_0", run), "wb");
      skips = '0;
      marks <= '0;
      next_operation();
      if (!active) $fclose(file);
    end else if (stop) $fclose(log);
    else if (active) begin
      if (waiting) begin
        if (bvalid && bready) begin
          assert (bresp == (what == REFUSED ? 2'd2 : 2'd0))
          else $error("write of %h answered %0d", a, bresp);
          next_operation();
        end else if (rvalid && rready) begin
          assert (rresp == (what == REFUSED ? 2'd2 : 2'd0))
          else $error("read of %h answered %0d", a, rresp);
          waiting = 1'b0;
          if (what == SKIP) begin
            skips = (rdata & b) == 0 ? c : '0;
            next_operation();
          end else if (what != POLL || (rdata & b) == c) begin
            $fwrite(log, "%u%u%u", a, rdata, 32'(rresp));
            next_operation();
          end
        end
      end else begin
        case (what)
          WRITE: send_write(a, b);
          READ, POLL, SKIP: send_read(a);
          REFUSED:
          if (b == 0) send_write(a, c);
          else send_read(a);
          FRAMES:
          if (!counted) begin
            counted = outcomes[3'(a)] >= b;
            least   = accepted[3'(a)];
          end else if (tapped[3'(a)] >= least) next_operation();
          REST: if (rested) next_operation();
          MARK: begin
            marks <= marks + 1;
            next_operation();
          end
          PAUSE:
          if (a == 0) next_operation();
          else a -= 1;
          default: $fatal(1, "operation %0d", what);
        endcase
      end
      if (!active) $fclose(file);
    end
  end

endmodule

`default_nettype wire
