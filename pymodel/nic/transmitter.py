"""What a requester sends when: lost packets first, oldest first, then new ones, as far as the windows allow.

A packet leaves while the bytes in flight are fewer than the congestion window and its PSN is at most cack + MPR
(mrc-facts.md 2.4 to 2.6), each on the next EV of the rotation; a packet sent again takes another EV than the one that
failed.
"""

from __future__ import annotations

from pymodel.nic.config import QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvTable
from pymodel.nic.events import Action, FrameOut
from pymodel.nic.framing import Framer
from pymodel.nic.message import Message
from pymodel.nic.send_window import SendWindow, mpr_to_psns
from pymodel.nic.work_queue import WorkQueue

__all__ = ["Transmitter"]

_PENALTY_MAX = 127


class Transmitter:
    """One QP's work, windows and EVs, and the frames that they let out."""

    __slots__ = (
        "_framer",
        "_sack_threshold",
        "_wimm",
        "congestion",
        "evs",
        "oldest_again",
        "penalty",
        "window",
        "work",
    )

    def __init__(self, config: QpConfig, framer: Framer, evs: EvTable, congestion: CongestionControl) -> None:
        self.window = SendWindow(config.send_psn, mpr_to_psns(config.mpr_units))
        self.work = WorkQueue(config.qpn, config.mtu)
        self.evs = evs
        self.congestion = congestion
        self.penalty = 0
        """The peer's receiver penalty in force, 0 (none) to 127."""
        self.oldest_again = False
        """The oldest unacknowledged packet was sent again; whoever reads it resets it."""
        self._framer = framer
        self._wimm = config.wimm
        self._sack_threshold = config.sack_threshold

    def cwnd(self) -> int:
        """Bytes that may be in flight: the congestion window, narrowed by the receiver's penalty (mrc-facts.md 2.6).

        A penalty p leaves (127 - p)/127 of it, and at least one full packet. The controller's own window stays as it
        is, so that lifting the penalty restores it.
        """
        cwnd = self.congestion.cwnd
        if self.penalty:
            return max(self._framer.full_size, cwnd * (_PENALTY_MAX - self.penalty) // _PENALTY_MAX)
        return cwnd

    def send(self, now_ps: int, out: list[Action]) -> bool:
        """Send what may be sent now; True when that was anything."""
        window = self.window
        cwnd = self.cwnd()
        if window.inflight >= cwnd:
            return False
        limit, before, stamp = window.limit, window.transmissions, self._framer.stamp(now_ps)
        if not window.lost or self._send_lost(cwnd, limit, stamp, out):
            self._send_new(cwnd, limit, stamp, out)
        return window.transmissions != before

    def _send_lost(self, cwnd: int, limit: int, stamp: int | None, out: list[Action]) -> bool:
        """Send lost packets, each on another EV than the one that failed; False when no EV is usable."""
        window = self.window
        while window.inflight < cwnd and (packet := window.next_lost()) is not None:
            slot = self.evs.next(packet.ev)
            if slot is None:
                return False
            window.send_again(packet, slot)
            packet.message.retransmissions += 1
            if packet.index == window.unack_index:
                self.oldest_again = True
            ask = self._asks_for_answer(cwnd, limit)
            frame = self._framer.write_again(slot, window.psn(packet.index), packet.message, packet.number, ask, stamp)
            out.append(FrameOut(slot.port, frame))
        return True

    def _send_new(self, cwnd: int, limit: int, stamp: int | None, out: list[Action]) -> None:
        """Send packets of the backlog while the windows allow."""
        window, work, framer, evs = self.window, self.work, self._framer, self.evs
        backlog = work.backlog
        while backlog and window.inflight < cwnd and window.next_index < limit:
            message = backlog[0]
            run = self._run(message, cwnd, limit)
            if run > 0:
                if not self._send_run(message, run, stamp, out):
                    return
                continue
            number = message.sent
            begins_immediate = not number and message.immediate is not None
            if begins_immediate and work.immediates >= self._wimm:
                return
            slot = evs.next()
            if slot is None:
                return
            if begins_immediate:
                work.immediates += 1
            message.sent = number + 1
            if number == message.last:
                backlog.popleft()
            psn = window.send_new(message, number, framer.nominal_size(message, number), (slot,))
            ask = self._asks_for_answer(cwnd, limit)
            out.append(FrameOut(slot.port, framer.write(slot, psn, message, number, ask, stamp)))

    def _run(self, message: Message, cwnd: int, limit: int) -> int:
        """How many packets of `message` can leave now, one like the other: full ones between its first and its last
        that need not ask for an answer, since the responder's threshold is reached by what is in flight."""
        window, full_size = self.window, self._framer.full_size
        if not message.sent or not self._framer.makes_runs or window.inflight + full_size < self._sack_threshold:
            return 0
        return min(message.last - message.sent, limit - window.next_index, -((window.inflight - cwnd) // full_size))

    def _send_run(self, message: Message, count: int, stamp: int | None, out: list[Action]) -> bool:
        """Send `count` packets of which `_run` spoke; False when not enough EVs are usable."""
        number, slots = message.sent, self.evs.take(count)
        message.sent += len(slots)
        psn = self.window.send_new(message, number, self._framer.full_size, slots)
        for slot, frame in zip(slots, self._framer.write_run(slots, psn, message, number, stamp), strict=True):
            out.append(FrameOut(slot.port, frame))
        return len(slots) == count

    def _asks_for_answer(self, cwnd: int, limit: int) -> bool:
        """Must the packet just sent ask for a SACK, since the responder might not send one by itself?

        At the end of all work, and when a window smaller than the responder's threshold is full (mrc-facts.md 3).
        """
        window = self.window
        if window.inflight < cwnd and (
            (self.work.backlog and window.next_index < limit) or window.next_lost() is not None
        ):
            return False
        return not self.work.backlog or window.inflight < self._sack_threshold
