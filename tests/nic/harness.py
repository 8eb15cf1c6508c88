"""Two devices joined by a channel that a test bends: what the tests of this folder run on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from pymodel.base.time import US, EventQueue
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import CongestionControl, NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.events import (
    Action,
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    Notify,
    PostWrite,
    SetTimer,
    TimerFired,
    WriteMemory,
)
from pymodel.paths.topology import Topology
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import DEFAULT_OPTIONS, Opcode, WireOptions

HERE_QPN, THERE_QPN = 0x123, 0x456
BASE = 0x7F00_0000_1000
DELAY = 4 * US

Fault = Callable[[int, Frame, bytes], Iterable[tuple[int, bytes]]]
"""Called for every frame with its sender (0 here, 1 there), form and bytes; gives arrivals as (delay in ps, bytes)."""


def straight(sender: int, frame: Frame, data: bytes) -> list[tuple[int, bytes]]:
    return [(DELAY, data)]


class Pair:
    """Host `h0-0` (here) writes into memory of host `h1-0` (there) over two planes."""

    def __init__(
        self,
        fault: Fault = straight,
        *,
        settings: QpSettings | None = None,
        there_settings: QpSettings | None = None,
        congestion: Callable[[], CongestionControl] = NoCongestionControl,
        evs: int = 16,
        seed: int = 1,
        send_psn: int | None = None,
        memory: int = 1 << 20,
        options: WireOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.topology = Topology(planes=2, t0=2, t1=4, hosts_per_t0=1)
        self.here = device_for(self.topology, "h0-0", options)
        self.there = device_for(self.topology, "h1-0", options)
        settings = settings or QpSettings()
        ends = End("h0-0", self.here, HERE_QPN, send_psn), End("h1-0", self.there, THERE_QPN)
        self.qp, self.peer = connect(
            self.topology,
            *ends,
            evs=evs,
            seed=seed,
            settings=settings,
            there_settings=there_settings or settings,
            congestion=congestion,
        )
        self.region = self.there.regions.register(BASE, memory)
        self.memory = bytearray(memory)
        self.writes: list[tuple[int, int]] = []
        self.completions: list[list[tuple[int, Complete]]] = [[], []]
        self.notices: list[Notify] = []
        self.sent: list[tuple[int, int, Frame]] = []
        self.now_ps = 0
        self._fault = fault
        self._queue: EventQueue[tuple[int, Event]] = EventQueue()
        self._timers: list[dict[str, int]] = [{}, {}]

    @property
    def devices(self) -> tuple[Device, Device]:
        return self.here, self.there

    def write(self, data: bytes, offset: int = 0, wr_id: int = 1, immediate: int | None = None) -> None:
        """Post a write of `data` to `offset` of the far memory, now."""
        self.give(0, PostWrite(HERE_QPN, wr_id, data, BASE + offset, self.region.r_key, immediate))

    def give(self, who: int, event: Event) -> list[Action]:
        """Hand `event` to one device and carry out what follows."""
        actions = self.devices[who].handle(event, self.now_ps)
        for action in actions:
            self._carry_out(who, action)
        return actions

    def _carry_out(self, who: int, action: Action) -> None:
        match action:
            case FrameOut(port, data):
                frame = parse(data)
                assert isinstance(frame, Frame), f"a device sent a bad frame: {frame}"
                self.sent.append((self.now_ps, who, frame))
                for delay, arriving in self._fault(who, frame, data):
                    self._queue.push(self.now_ps + delay, (1 - who, FrameIn(port, arriving)))
            case SetTimer(key, at_ps, generation):
                assert at_ps >= self.now_ps
                self._timers[who][key] = generation
                self._queue.push(at_ps, (who, TimerFired(key, generation)))
            case CancelTimer(key):
                assert self._timers[who].pop(key, None) is not None, f"{key} cancelled, but it is not set"
            case WriteMemory(address, data):
                assert who == 1
                start = address - BASE
                assert data
                assert 0 <= start <= len(self.memory) - len(data)
                self.memory[start : start + len(data)] = data
                self.writes.append((start, len(data)))
            case Complete():
                self.completions[who].append((self.now_ps, action))
            case Notify():
                self.notices.append(action)

    def step(self) -> bool:
        """Run the next event; False at rest."""
        if not len(self._queue):
            return False
        at_ps, (who, event) = self._queue.pop()
        if isinstance(event, TimerFired):
            if self._timers[who].get(event.key) != event.generation:
                return True  # replaced or cancelled: nothing happens, and no time passes
            del self._timers[who][event.key]
        self.now_ps = at_ps
        self.give(who, event)
        assert self.qp.requester.window.inflight >= 0
        return True

    def run(self, limit_ps: int = 10**13) -> None:
        """Run until nothing is left to happen."""
        while self.step():
            assert self.now_ps < limit_ps, "never comes to rest"

    def frames(self, who: int, opcode: Opcode | None = None) -> list[Frame]:
        """Frames sent by one device, in order; of one opcode if given."""
        return [frame for _, sender, frame in self.sent if sender == who and opcode in (None, frame.opcode)]

    def data_frames(self) -> list[Frame]:
        return [frame for frame in self.frames(0) if frame.is_write]

    def notice_kinds(self) -> list[str]:
        return [notice.kind for notice in self.notices]

    def statistics(self, wr_id: int = 1) -> dict[str, int]:
        """The counts of a write that has ended."""
        (found,) = [
            dict(n.details) for n in self.notices if n.kind == "write_ended" and dict(n.details)["wr_id"] == wr_id
        ]
        return found

    def assert_at_rest(self) -> None:
        """Nothing outstanding, nothing in flight, no timer set, at either end."""
        assert not self._timers[0], self._timers
        assert not self._timers[1], self._timers
        for qp in (self.qp, self.peer):
            assert not qp.requester.busy
            assert qp.requester.window.inflight == 0
            assert not qp.requester.window.outstanding
        assert self.peer.responder.window.ooo_count == 0


class Weather:
    """Random loss and duplication, each a probability, and up to `jitter` ps of further delay, from a seed."""

    def __init__(self, seed: int, *, loss: float = 0.0, duplicate: float = 0.0, jitter: int = 0) -> None:
        self._random = random.Random(seed)
        self._loss, self._duplicate, self._jitter = loss, duplicate, jitter

    def __call__(self, sender: int, frame: Frame, data: bytes) -> Iterable[tuple[int, bytes]]:
        draw = self._random
        for _ in range(2 if draw.random() < self._duplicate else 1):
            if draw.random() >= self._loss:
                yield DELAY + draw.randrange(self._jitter + 1), data


class LoseNth:
    """Lose the listed data frames of the requester (counted from 0 over all transmissions), and the listed answers."""

    def __init__(self, data: Iterable[int] = (), answers: Iterable[int] = ()) -> None:
        self._lost = set(data), set(answers)
        self._seen = [0, 0]

    def __call__(self, sender: int, frame: Frame, data: bytes) -> list[tuple[int, bytes]]:
        number = self._seen[sender]
        self._seen[sender] += 1
        return [] if number in self._lost[sender] else [(DELAY, data)]
