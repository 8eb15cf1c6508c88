"""A path back to the sender of a frame that belongs to no QP, from what the frame itself says (mrc-facts.md 4.1).

The outer source is block:T0:NIC:: of the sender's port; the EV names the uplink, and with it the T1 that the frame came
through. The answer goes [own T0][that T1][its T0][its NIC] in the same plane, or [T0][NIC] under the same T0.
"""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.paths.usid import Usid, address, usids_of
from pymodel.wire.spec import EV_BITS, USID_BLOCK_BITS, USID_PLANE_BITS, USID_UPLINK_BITS, UsidRole

__all__ = ["route_back"]

_UPLINK_SHIFT = EV_BITS - 2 * USID_PLANE_BITS - USID_UPLINK_BITS  # behind the planes of T0 and T1
_UPLINK_MASK = (1 << USID_UPLINK_BITS) - 1
_BLOCK_SHIFT = 128 - USID_BLOCK_BITS


def route_back(own_source: int, peer_source: int, ev: int) -> int | None:
    """Outer destination of an answer to a frame from outer source `peer_source` with `ev`, or None when there is none.

    `own_source` is the outer source address of the port at which the frame arrived.
    """
    own, peer = usids_of(own_source), usids_of(peer_source)
    block = peer_source >> _BLOCK_SHIFT
    if len(own) != 2 or len(peer) != 2 or own_source >> _BLOCK_SHIFT != block:
        return None
    try:
        plane = Usid.parse(own[0]).plane
        if any(Usid.parse(value).plane != plane for value in peer):
            return None
        if own[0] == peer[0]:
            return address(block, peer)
        t1 = Usid(UsidRole.T1, plane, ev >> _UPLINK_SHIFT & _UPLINK_MASK).value
        return address(block, (own[0], t1, *peer))
    except InputError:
        return None
