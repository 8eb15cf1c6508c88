// What passes through mrc_delivery.

`default_nettype none

package mrc_delivery_pkg;

  import mrc_pkg::*;
  import mrc_rx_pkg::*;

  typedef enum logic [2:0] {
    DELIVERY_PASS   = 3'd0,  // changes nothing: timers, probes, trimmed frames, queries, settings
    DELIVERY_PACKET = 3'd1,  // a write, whatever its class
    DELIVERY_RESET  = 3'd2,  // the QP is in reset, its receives are forgotten
    DELIVERY_READY  = 3'd3,  // a QP in reset takes packets; it was PSN_SET_UP in the tracker
    DELIVERY_ERROR  = 3'd4,  // a QP that takes packets failed elsewhere
    DELIVERY_POST   = 3'd5   // `value` receives more
  } delivery_op_e;

  typedef struct packed {
    delivery_op_e       op;
    logic [QP_ID_W-1:0] qp;
    logic [PSN_W-1:0]   psn;              // of a packet
    logic [PSN_W-1:0]   cack;             // the tracker's, after the event
    logic               is_new;           // of a packet: its class is PSN_NEW
    // Of a packet that is new: it was recorded. Else it was only looked at, and has no effect here
    // but for `bad`.
    logic               recorded;
    logic               bad;              // of a new packet that was not recorded: it fails the QP,
    aeth_syndrome_e     syndrome;         // with this
    logic               last;             // of a recorded packet: it ends its message,
    logic               immediate_valid;  // which is one with immediate
    logic [MSN_W-1:0]   msn;
    logic [MSN_W-1:0]   rqmsn;
    logic [31:0]        immediate;
    logic [31:0]        dma_length;
    logic [15:0]        wimm;             // the QP's limit, at most WIMM
    logic [15:0]        value;
  } delivery_event_t;

  typedef struct packed {
    logic [QP_ID_W-1:0] qp;
    qp_state_e state;  // before the event
    logic fault;  // a packet failed the QP: it draws the NAK
    // A recorded packet in QP_READY whose payload goes to memory: every one that no fault kept out. One
    // beyond WIMM is; one that completes an immediate for which no receive is posted has been placed
    // when that shows, and is not (Responder._on_write in the golden model).
    logic placed;
    aeth_syndrome_e syndrome;  // of the QP's NAK, when it is a fault or the state is QP_REFUSED
    logic [PSN_W-1:0] nak_psn;  // likewise
    logic [23:0] completed;  // messages, after the event
  } delivery_result_t;

endpackage

`default_nettype wire
