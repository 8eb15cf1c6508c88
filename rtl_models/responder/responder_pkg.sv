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

  // What software may set while a QP is used.
  typedef struct packed {
    logic [7:0]       mpr_units;  // window in use, units of 128 PSNs
    logic [6:0]       penalty;
    logic             restore;
    logic [7:0]       resource;   // reason of the NACK of new packets; 0: they are taken
    logic [PORTS-1:0] planes;     // ports that answers may take
  } soft_t;

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

  // What `mrc_delivery` needs to know besides the tracker's result; its fields have their names.
  typedef struct packed {
    mrc_delivery_pkg::delivery_op_e op;
    logic                           recorded;         // the tracker was asked to
    logic                           bad;
    aeth_syndrome_e                 syndrome;
    logic                           last;
    logic                           immediate_valid;
    logic [MSN_W-1:0]               msn;
    logic [MSN_W-1:0]               rqmsn;
    logic [31:0]                    immediate;
    logic [31:0]                    dma_length;
    logic [15:0]                    wimm;
    logic [15:0]                    value;
  } message_t;

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

  // What the tracker found.
  typedef struct packed {
    logic [PSN_W-1:0]            psn;
    psn_tracker_pkg::psn_class_e psn_class;
    logic [PSN_W-1:0]            cack;
    logic [14:0]                 ooo_count;
    logic [PSN_W-1:0]            base;
    logic [SACK_BITMAP_W-1:0]    bitmap;
  } tracked_t;

  // All that is known of an event in the end.
  typedef struct packed {
    ticket_t                            ticket;
    tracked_t                           tracked;
    mrc_delivery_pkg::delivery_result_t delivered;
  } finding_t;

  // The packet that waits for its SACK. It carries neither a CE mark nor the rtx bit: those are answered
  // at once.
  typedef struct packed {
    logic [PSN_W-1:0]         psn;
    logic [EV_W-1:0]          ev;
    logic [TIMESTAMP_W-1:0]   stamp;
    logic                     stamped;
    logic [TIME_W-1:0]        now;      // when it was accepted
    logic [SACK_BITMAP_W-1:0] bitmap;   // of a SACK made then
  } held_t;

  // What `mrc_respond` has decided, for `mrc_reply_format` to write out.
  typedef struct packed {
    logic sack;
    logic quiet;  // its packet is the one that waited
    logic probe;
    logic nack;
    logic nak;
    logic ack;  // behind a SACK
    logic route;
    logic set_up;
    logic query;
  } answer_t;

endpackage

// verilator lint_on UNUSEDPARAM
`default_nettype wire
