// The way back to the sender of a frame that belongs to no QP, from what the frame says and the outer
// source of the port at which it came (mrc-facts.md 4.1).
//
// An outer source is block:T0:NIC::, the EV names the uplink and with it the T1 that the frame came
// through. The answer goes [own T0][that T1][peer's T0][peer's NIC], or [T0][NIC] under one T0. There
// is no way back for addresses of another shape, block or plane.
//
// Combinational.

`default_nettype none

module mrc_route_back
  import mrc_pkg::*;
(
    // What stands behind the end of a container, and outside an EV's uplink, says nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [   127:0] own_source_i,
    input  wire logic [   127:0] peer_source_i,
    input  wire logic [EV_W-1:0] ev_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                 found_o,
    output logic      [   127:0] path_o
);

  typedef struct packed {
    usid_role_e role;
    logic [USID_PLANE_W-1:0] plane;
    logic [USID_INDEX_W-1:0] index;
  } usid_t;

  // An outer source of two uSIDs: the one behind them is zero.
  typedef struct packed {
    logic [USID_BLOCK_BITS-1:0] block;
    usid_t                      t0;
    usid_t                      nic;
    logic [USID_W-1:0]          behind;
  } source_t;

  localparam int unsigned UPLINK_SHIFT = EV_W - 2 * USID_PLANE_W - USID_UPLINK_W;
  localparam int unsigned SOURCE_W = $bits(source_t);

  source_t own, peer;
  usid_t t1;

  assign own = own_source_i[127-:SOURCE_W];
  assign peer = peer_source_i[127-:SOURCE_W];
  assign t1 = '{
          role: USID_ROLE_T1,
          plane: own.t0.plane,
          index: USID_INDEX_W'(ev_i[UPLINK_SHIFT+:USID_UPLINK_W])
      };

  function automatic logic two_usids(input usid_t first, input usid_t second,
                                     input logic [USID_W-1:0] behind);
    return first != '0 && second != '0 && behind == '0;
  endfunction

  // T0s count from 1, so that no uSID is zero.
  function automatic logic is_usid(input usid_role_e role, input logic [USID_INDEX_W-1:0] index);
    return role inside {USID_ROLE_T1, USID_ROLE_NIC} || role == USID_ROLE_T0 && index != '0;
  endfunction

  always_comb begin
    found_o = two_usids(own.t0, own.nic, own.behind) && two_usids(peer.t0, peer.nic, peer.behind);
    if (own.block != peer.block || own.block == '0) found_o = 1'b0;
    if (!is_usid(own.t0.role, own.t0.index)) found_o = 1'b0;
    if (!is_usid(peer.t0.role, peer.t0.index)) found_o = 1'b0;
    if (!is_usid(peer.nic.role, peer.nic.index)) found_o = 1'b0;
    if (peer.t0.plane != own.t0.plane || peer.nic.plane != own.t0.plane) found_o = 1'b0;
    if (own.t0 == peer.t0) path_o = {own.block, peer.t0, peer.nic, 64'b0};
    else path_o = {own.block, own.t0, t1, peer.t0, peer.nic, 32'b0};
  end

endmodule

`default_nettype wire
