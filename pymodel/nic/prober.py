"""Reliability probes (mrc-facts.md 1.9, 2.3, 2.4, 10): what brings a retired EV back, and what asks about a tail.

While its QP has work, each retired EV whose port is up is probed once per interval, as far as the port's budget allows,
which all QPs of a device share. Three answers in a row make the EV GOOD; it comes back as SKIP when the last answer
says SKIP_ONCE. A probe without an answer by the next turn starts the count anew.

A tail probe asks what became of the packets sent before it, when nothing has been heard for a while.
"""

from __future__ import annotations

from pymodel.base.time import MS
from pymodel.nic.config import QpConfig
from pymodel.nic.ev_table import EvSlot, EvTable
from pymodel.nic.events import Action, FrameOut, Notify
from pymodel.nic.framing import Framer, timestamp
from pymodel.nic.timer import Timer
from pymodel.wire.headers import Peth
from pymodel.wire.spec import ProbeSkipOnce, SackM

__all__ = ["PROBES_PER_PORT", "PROBE_INTERVAL_PS", "PROBE_SUCCESSES", "PortBudget", "Prober"]

PROBE_INTERVAL_PS = 1 * MS
PROBE_SUCCESSES = 3
PROBES_PER_PORT = 64
"""Most probes of retired EVs that leave a port per interval, of all QPs together."""

_ID_MASK = (1 << 16) - 1
_DCID_MASK = (1 << 16) - 1


class PortBudget:
    """How many probes may still leave each port of a device in the current interval."""

    __slots__ = ("_began_ps", "_used")

    def __init__(self) -> None:
        self._began_ps = 0
        self._used: dict[int, int] = {}

    def take(self, port: int, now_ps: int) -> bool:
        """One probe for `port`; False when its share of this interval is used up."""
        if now_ps - self._began_ps >= PROBE_INTERVAL_PS:
            self._began_ps = now_ps
            self._used.clear()
        used = self._used.get(port, 0)
        self._used[port] = used + 1
        return used < PROBES_PER_PORT


class Prober:
    """Sends the probes of one QP."""

    __slots__ = ("_budget", "_evs", "_framer", "_next_id", "_qp", "_skip_once", "_tails", "_waiting", "timer")

    def __init__(
        self, qp: QpConfig, framer: Framer, evs: EvTable, skip_once: ProbeSkipOnce, budget: PortBudget
    ) -> None:
        """`skip_once` says what state an EV takes whose probe is answered SKIP_ONCE."""
        self.timer = Timer(f"qp{qp.qpn}/probe")
        self._qp = qp
        self._framer = framer
        self._evs = evs
        self._skip_once = skip_once
        self._budget = budget
        self._next_id = 0
        self._waiting: dict[int, EvSlot] = {}
        self._tails: dict[int, int] = {}

    def update(self, busy: bool, now_ps: int, out: list[Action]) -> None:
        """Start or stop probing: it goes on while the QP is `busy` and has retired EVs."""
        if busy and self._evs.retired:
            if self.timer.deadline_ps is None:
                self.timer.start(now_ps + PROBE_INTERVAL_PS, out)
        elif self.timer.deadline_ps is not None:
            self.timer.stop(out)

    def probe_all(self, now_ps: int, out: list[Action]) -> None:
        """The interval is over: probe the retired EVs. Those for which no budget is left come first next time."""
        for slot in self._waiting.values():
            slot.probe_successes = 0
        self._waiting.clear()
        probed = []
        for slot in self._evs.retired:
            if self._evs.is_up(slot.port) and self._budget.take(slot.port, now_ps):
                self._waiting[self._next_id] = slot
                self._send(slot, now_ps, out)
                probed.append(slot)
        if len(probed) < len(self._evs.retired):
            for slot in probed:
                self._evs.retired.remove(slot)
                self._evs.retired.append(slot)

    def ask_about_tail(self, mark: int, now_ps: int, out: list[Action]) -> None:
        """Ask what the peer has received; `mark` comes back from `answered` and says what had been sent by now."""
        slot = self._evs.next()
        if slot is not None:
            slot.sent -= 1  # which counts data packets
            self._tails[self._next_id] = mark
            self._send(slot, now_ps, out)

    def forget_tails(self) -> None:
        """The peer was heard otherwise: answers to tail probes say nothing new."""
        self._tails.clear()

    def _send(self, slot: EvSlot, now_ps: int, out: list[Action]) -> None:
        body = Peth(
            probe_id=self._next_id,
            spdcid=self._qp.qpn & _DCID_MASK,
            dpdcid=self._qp.peer_qpn & _DCID_MASK,
            tx_timestamp=timestamp(now_ps),
        ).pack()
        self._next_id = (self._next_id + 1) & _ID_MASK
        out.append(FrameOut(slot.port, self._framer.probe(slot, body)))

    def answered(self, probe_id: int, mark: int, out: list[Action]) -> int | None:
        """A SACK with pr = 1 came for `probe_id`, with `mark` in its m field. The mark of a tail probe, else None."""
        probe_id &= _ID_MASK
        tail = self._tails.pop(probe_id, None)
        slot = self._waiting.pop(probe_id, None)
        if slot is None or mark not in (SackM.NONE, SackM.SKIP_ONCE):
            return tail
        slot.probe_successes += 1
        if slot.probe_successes >= PROBE_SUCCESSES:
            self._evs.restore(slot, skip=mark == SackM.SKIP_ONCE and self._skip_once is ProbeSkipOnce.SKIP)
            out.append(Notify("ev_good", (("qpn", self._qp.qpn), ("ev", slot.ev), ("port", slot.port))))
        return tail
