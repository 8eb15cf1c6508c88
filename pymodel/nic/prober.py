"""Reliability probes: what brings a retired EV back (mrc-facts.md 1.9, 2.3, 10).

While its QP has work, each retired EV whose port is up is probed once per interval. Three answers in a row make it
GOOD; it comes back as SKIP when the last answer says SKIP_ONCE. A probe without an answer by the next turn starts the
count anew.
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

__all__ = ["PROBE_INTERVAL_PS", "PROBE_SUCCESSES", "Prober"]

PROBE_INTERVAL_PS = 1 * MS
PROBE_SUCCESSES = 3

_ID_MASK = (1 << 16) - 1
_DCID_MASK = (1 << 16) - 1


class Prober:
    """Probes the retired EVs of one QP."""

    __slots__ = ("_evs", "_framer", "_next_id", "_qp", "_skip_once", "_waiting", "timer")

    def __init__(self, qp: QpConfig, framer: Framer, evs: EvTable, skip_once: ProbeSkipOnce) -> None:
        """`skip_once` says what state an EV takes whose probe is answered SKIP_ONCE."""
        self.timer = Timer(f"qp{qp.qpn}/probe")
        self._qp = qp
        self._framer = framer
        self._evs = evs
        self._skip_once = skip_once
        self._next_id = 0
        self._waiting: dict[int, EvSlot] = {}

    def update(self, busy: bool, now_ps: int, out: list[Action]) -> None:
        """Start or stop probing: it goes on while the QP is `busy` and has retired EVs."""
        if busy and self._evs.retired:
            if self.timer.deadline_ps is None:
                self.timer.start(now_ps + PROBE_INTERVAL_PS, out)
        elif self.timer.deadline_ps is not None:
            self.timer.stop(out)

    def probe_all(self, now_ps: int, out: list[Action]) -> None:
        """The interval is over: probe each retired EV."""
        for slot in self._waiting.values():
            slot.probe_successes = 0
        self._waiting.clear()
        for slot in self._evs.retired:
            if not self._evs.is_up(slot.port):
                continue
            body = Peth(
                probe_id=self._next_id,
                spdcid=self._qp.qpn & _DCID_MASK,
                dpdcid=self._qp.peer_qpn & _DCID_MASK,
                tx_timestamp=timestamp(now_ps),
            ).pack()
            self._waiting[self._next_id] = slot
            self._next_id = (self._next_id + 1) & _ID_MASK
            out.append(FrameOut(slot.port, self._framer.probe(slot, body)))

    def answered(self, probe_id: int, mark: int, out: list[Action]) -> None:
        """A SACK with pr = 1 came for `probe_id`, with `mark` in its m field."""
        slot = self._waiting.pop(probe_id & _ID_MASK, None)
        if slot is None or mark not in (SackM.NONE, SackM.SKIP_ONCE):
            return
        slot.probe_successes += 1
        if slot.probe_successes >= PROBE_SUCCESSES:
            self._evs.restore(slot, skip=mark == SackM.SKIP_ONCE and self._skip_once is ProbeSkipOnce.SKIP)
            out.append(Notify("ev_good", (("qpn", self._qp.qpn), ("ev", slot.ev), ("port", slot.port))))
