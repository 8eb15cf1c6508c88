"""Message semantics at the receiving end: which messages are complete, in order, and what their completions say.

A message is complete when its last packet and everything before it have landed, that is when cack has passed its last
PSN. Messages complete in the order of their MSN. A plain write says nothing then but that the count moves; a write
with immediate consumes a receive work request. An immediate that came early waits, keyed by its MSN (mrc-facts.md 3).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from pymodel.nic.events import Action, Complete
from pymodel.wire.serial import MSN, PSN

__all__ = ["MESSAGES_MASK", "Delivery"]

MESSAGES_MASK = (1 << 24) - 1
"""AETH counts messages in 24 bits."""


class _End(NamedTuple):
    psn: int
    byte_count: int
    immediate: int | None


class Delivery:
    """Messages of one QP on their way to completion."""

    __slots__ = ("_next_msn", "_next_rqmsn", "_qpn", "_receives", "completed", "ends")

    def __init__(self, qpn: int, receives: deque[int]) -> None:
        """`receives` holds the receive work requests (their wr_id), oldest first; whoever posts adds to it."""
        self._qpn = qpn
        self._receives = receives
        self.ends: dict[int, _End] = {}
        """Messages whose last packet has landed and that are not complete, by MSN."""
        self._next_msn = 0
        self._next_rqmsn = 0
        self.completed = 0
        """Messages complete in order, 24 bits: what a transport ACK carries."""

    def immediates_before(self, rqmsn: int) -> int:
        """Writes with immediate in flight that the one numbered `rqmsn` (16 bits) comes behind."""
        return MSN.forward(rqmsn, self._next_rqmsn)

    def landed(self, msn: int, psn: int, byte_count: int, immediate: int | None) -> None:
        """The last packet of message `msn` (16 bits), carried by `psn`, has been placed."""
        self.ends[msn] = _End(psn, byte_count, immediate)

    def advance(self, cack_psn: int, out: list[Action]) -> bool:
        """Complete every message that `cack_psn` has passed; False when an immediate finds no receive work request."""
        while True:
            end = self.ends.get(self._next_msn)
            if end is None or PSN.gt(end.psn, cack_psn):
                return True
            if end.immediate is not None:
                if not self._receives:
                    return False
                wr_id = self._receives.popleft()
                self._next_rqmsn = MSN.add(self._next_rqmsn, 1)
                out.append(Complete(self._qpn, wr_id, "success", end.byte_count, end.immediate))
            del self.ends[self._next_msn]
            self._next_msn = MSN.add(self._next_msn, 1)
            self.completed = (self.completed + 1) & MESSAGES_MASK
