"""One posted write on the requester's side: where it stands, and how it is cut into packets."""

from __future__ import annotations

from pymodel.nic.events import PostWrite
from pymodel.wire.spec import MSN_BITS, Opcode

__all__ = ["Message"]

_FIRST, _MIDDLE = Opcode.WRITE_FIRST, Opcode.WRITE_MIDDLE


class Message:
    """A write from its posting until its completion.

    A write of n bytes takes ceil(n / MTU) packets, each full but the last; a write of no bytes takes one packet, and
    with it one PSN (mrc-facts.md 8.2).
    """

    __slots__ = (
        "acknowledged",
        "address",
        "data",
        "immediate",
        "last",
        "length",
        "meth",
        "msn",
        "nacks",
        "packets",
        "r_key",
        "retransmissions",
        "rqmsn",
        "sent",
        "timeouts",
        "wr_id",
    )

    def __init__(self, work: PostWrite, mtu: int, msn: int, rqmsn: int) -> None:
        """Cut `work` by `mtu`; `msn` numbers the QP's messages, `rqmsn` its writes with immediate, both 16 bits."""
        self.wr_id = work.wr_id
        self.data = work.data
        self.address = work.remote_address
        self.r_key = work.r_key
        self.length = len(work.data)
        self.packets = max(1, -(-self.length // mtu))
        self.last = self.packets - 1
        """Number of the last packet."""
        self.msn = msn
        self.rqmsn = rqmsn
        self.meth = rqmsn << MSN_BITS | msn
        """Both numbers as METH carries them."""
        self.immediate = work.immediate
        self.sent = 0
        """Packets sent for the first time."""
        self.acknowledged = 0
        """Packets acknowledged."""
        self.retransmissions = 0
        self.nacks = 0
        self.timeouts = 0

    def opcode(self, number: int) -> Opcode:
        """Opcode of packet `number`, counted from 0."""
        if number < self.last:
            return _MIDDLE if number else _FIRST
        if self.immediate is not None:
            return Opcode.WRITE_LAST_IMMEDIATE if number else Opcode.WRITE_ONLY_IMMEDIATE
        return Opcode.WRITE_LAST if number else Opcode.WRITE_ONLY

    @property
    def done(self) -> bool:
        """Every packet is acknowledged."""
        return self.acknowledged == self.packets
