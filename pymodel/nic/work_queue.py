"""The posted writes of one QP and their completions: the layer above packets (mrc-facts.md 3).

A plain write completes as soon as all its packets are acknowledged, in any order with others. A write with immediate
also waits for all writes before it, since the peer delivers it in order.
"""

from __future__ import annotations

from collections import deque

from pymodel.nic.events import Action, Complete, Notify, PostWrite
from pymodel.nic.message import Message
from pymodel.wire.serial import MSN

__all__ = ["WorkQueue"]


class WorkQueue:
    """Writes from posting to completion."""

    __slots__ = ("_mtu", "_next_msn", "_next_rqmsn", "_qpn", "backlog", "immediates", "open")

    def __init__(self, qpn: int, mtu: int) -> None:
        self._qpn = qpn
        self._mtu = mtu
        self._next_msn = 0
        self._next_rqmsn = 0
        self.backlog: deque[Message] = deque()
        """Writes not wholly sent yet, oldest first."""
        self.open: deque[Message] = deque()
        """Writes not completed yet, and those behind one that is not, oldest first."""
        self.immediates = 0
        """Writes with immediate of which something was sent and which have not completed."""

    def post(self, work: PostWrite) -> None:
        """Take a write."""
        message = Message(work, self._mtu, self._next_msn, self._next_rqmsn)
        self._next_msn = MSN.add(self._next_msn, 1)
        if work.immediate is not None:
            self._next_rqmsn = MSN.add(self._next_rqmsn, 1)
        self.backlog.append(message)
        self.open.append(message)

    def oldest_unfinished(self) -> Message | None:
        """The oldest write of which some packet is not acknowledged."""
        return next((message for message in self.open if not message.done), None)

    def finish(self, message: Message, out: list[Action]) -> None:
        """All packets of `message` are acknowledged: complete what can complete now."""
        if message.immediate is None:
            self._complete(message, "success", out)
        while self.open and self.open[0].done:
            first = self.open.popleft()
            if first.immediate is not None:
                self.immediates -= 1
                self._complete(first, "success", out)

    def fail(self, status: str, culprit: Message | None, out: list[Action]) -> None:
        """End all work: `culprit` completes with `status`, every other write is flushed."""
        for message in self.open:
            if message is culprit:
                self._complete(message, status, out)
            elif not message.done or message.immediate is not None:
                self._complete(message, "flushed", out)
        self.open.clear()
        self.backlog.clear()

    def _complete(self, message: Message, status: str, out: list[Action]) -> None:
        out.append(Complete(self._qpn, message.wr_id, status, message.length if status == "success" else 0))
        details = (
            ("qpn", self._qpn),
            ("wr_id", message.wr_id),
            ("packets", message.packets),
            ("retransmissions", message.retransmissions),
            ("nacks", message.nacks),
            ("timeouts", message.timeouts),
        )
        out.append(Notify("write_ended", details))
