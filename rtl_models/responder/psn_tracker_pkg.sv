// What the PSN tracker is asked, and what it says about a PSN.

`default_nettype none

package psn_tracker_pkg;

  typedef enum logic [2:0] {
    PSN_RECORD = 3'd0,  // a PSN arrived: classify it and, when it is new, record it
    PSN_PEEK   = 3'd1,  // classify a PSN, change nothing
    PSN_HEAD   = 3'd2,  // no PSN: where the window stands
    PSN_SET_UP = 3'd3,  // the QP starts anew: first PSN expected and window in use
    PSN_RESIZE = 3'd4   // the window in use changes, and nothing else
  } psn_op_e;

  typedef enum logic [1:0] {
    PSN_NEW       = 2'd0,  // in the window, not received before: place it
    PSN_DUPLICATE = 2'd1,  // in the window, received before: SACK
    PSN_BELOW     = 2'd2,  // at or below the cumulative PSN: SACK
    PSN_ABOVE     = 2'd3   // beyond the window: NACK, nothing is recorded
  } psn_class_e;

endpackage

`default_nettype wire
