// What passes between the parts of a receive port. docs/rtl.md draws them.

`default_nettype none
// verilog_lint: waive-start parameter-name-style
// verilator lint_off UNUSEDPARAM

package mrc_rx_port_pkg;

  import mrc_rx_pkg::*;

  localparam int unsigned BEAT_BYTES_W = $clog2(BUS_BYTES + 1);
  // Headers ahead of a payload and the ICRC behind it take at least one beat, so what a frame holds
  // in the buffer is less than this.
  localparam int unsigned PAYLOAD_W = $clog2(MAX_FRAME_BYTES + 1);
  localparam int unsigned LENGTH_W = 16;  // of an IP packet
  localparam int unsigned PAYLOAD_BEATS_W = LENGTH_W - $clog2(BUS_BYTES) + 1;

  // Clocks from a frame's last beat to its descriptor, where nothing waits: as many, or one more
  // where the last beat reaches past the offset of the inner IP header.
  localparam int unsigned RX_PORT_LATENCY = 8;

  // A beat of a frame, its first byte on the left.
  typedef struct packed {
    logic [BUS_W-1:0] data;
    logic first;
    logic last;
    logic [BEAT_BYTES_W-1:0] bytes;  // that belong to the frame; may be 0 in a frame cut short
    logic oversize;  // the frame is longer than MAX_FRAME_BYTES; known in the last
  } rx_beat_t;

  // What stands ahead of the inner IP header; the same for all beats of a frame.
  typedef struct packed {
    logic                bad;
    drop_cause_e         cause;
    logic                ipv6;          // of the inner header
    logic                encapsulated;
    logic [5:0]          dscp;          // of the outermost IP header, as ecn
    logic [1:0]          ecn;
    logic [127:0]        src;           // of the outer header
    logic                room_bad;      // no inner payload can fill the outer packet
    logic [LENGTH_W-1:0] room;          // length of the inner payload that fills it
  } rx_outer_t;

  // Where the payload begins, seen from the beat of which its first byte, or the word ahead of it,
  // is part: six places, since headers come in words of four bytes.
  typedef enum logic [2:0] {
    PAYLOAD_AT_0  = 3'd0,
    PAYLOAD_AT_4  = 3'd1,
    PAYLOAD_AT_16 = 3'd2,
    PAYLOAD_AT_20 = 3'd3,
    PAYLOAD_AT_24 = 3'd4,
    PAYLOAD_AT_60 = 3'd5
  } payload_place_e;

  // The same bytes in the other order: from the lanes of AXI4-Stream, in which the first byte is
  // the lowest, to the order within, and back.
  function automatic logic [BUS_W-1:0] swap_lanes(input logic [BUS_W-1:0] word);
    for (int unsigned i = 0; i < BUS_BYTES; i++) begin
      swap_lanes[8*i+:8] = word[8*(BUS_BYTES-1-i)+:8];
    end
  endfunction

endpackage

// verilator lint_on UNUSEDPARAM
// verilog_lint: waive-stop parameter-name-style
`default_nettype wire
