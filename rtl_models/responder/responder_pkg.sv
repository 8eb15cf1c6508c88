// What passes between the parts of the responder engine.

`default_nettype none
// verilator lint_off UNUSEDPARAM

package responder_pkg;

  import mrc_pkg::*;
  import mrc_rx_pkg::*;

  // Whatever the engine accepts, one a clock, in the order that the tap says.
  typedef struct packed {
    event_e                      kind;
    logic [PORT_W-1:0]           port;     // of a frame
    logic [TIME_W-1:0]           now;      // clock of acceptance
    logic [QP_ID_W-1:0]          qp;       // of a timer or command
    logic [$bits(rx_desc_t)-1:0] content;  // rx_desc_t, or command_t right-aligned, or junk
  } event_t;

  // What is left to do for an event behind the checks that need no state of its QP.
  typedef enum logic [2:0] {
    WORK_NONE    = 3'd0,  // dropped: at most its payload is discarded
    WORK_WRITE   = 3'd1,
    WORK_TRIMMED = 3'd2,
    WORK_PROBE   = 3'd3,
    WORK_TIMER   = 3'd4,
    WORK_COMMAND = 3'd5
  } work_e;

  // A packet as `mrc_respond` needs it.
  typedef struct packed {
    logic [EV_W-1:0]        ev;
    logic [TIMESTAMP_W-1:0] stamp;       // to be reflected; 0 when there is none
    logic                   stamped;     // there is one
    logic                   ce;
    logic                   prompt;      // asks for a SACK at once
    logic                   rtx;
    logic [7:0]             reason;      // of the NACK, if a new packet is refused
    logic                   refused;     // a new packet is
    logic [15:0]            probe_id;
    logic [63:0]            va;
    logic [31:0]            r_key;
    logic [TIME_W-1:0]      now;
    logic [TIME_W-1:0]      deadline;    // of the quiet timer, if it starts now
    logic [16:0]            nominal;     // bytes for which a new packet counts
    logic [16:0]            counted;     // bytes for which it counts towards the threshold
    logic [17:0]            left;        // threshold less that, signed
    logic                   trim_nack;
    logic                   drop_above;
  } packet_t;

  // What goes round the tracker and the delivery, to meet their results behind them.
  typedef struct packed {
    work_e                     work;
    command_e                  op;           // of a command
    logic [PORT_W-1:0]         port;         // of a frame, or of a route
    logic                      payload;      // a verdict is due
    logic [7:0]                mpr_units;    // window in use
    logic                      dynamic_mpr;
    logic [6:0]                penalty;
    logic                      restore;
    logic [PORTS-1:0]          planes;
    logic [COMMAND_DATA_W-1:0] content;      // packet_t or a command's row, right-aligned
  } ticket_t;

endpackage

// verilator lint_on UNUSEDPARAM
`default_nettype wire
