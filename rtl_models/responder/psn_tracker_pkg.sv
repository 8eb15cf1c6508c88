// What the PSN tracker says about a PSN.

`default_nettype none

package psn_tracker_pkg;

  typedef enum logic [1:0] {
    PSN_NEW       = 2'd0,  // in the window, not received before: place it
    PSN_DUPLICATE = 2'd1,  // in the window, received before: SACK
    PSN_BELOW     = 2'd2,  // at or below the cumulative PSN: SACK
    PSN_ABOVE     = 2'd3   // beyond the window: NACK, nothing is recorded
  } psn_class_e;

endpackage

`default_nettype wire
