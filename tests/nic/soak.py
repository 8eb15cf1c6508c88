"""Two devices that write to each other for a long time over links on which everything goes wrong.

Frames are lost, repeated, overtaken, trimmed, marked and damaged, and ports go down and come back, all from one seed.
What lands is compared with what was posted at once, byte for byte, and must land once; completions are held against
the rules of MRC. Messages go through a ring of slots, so that the memory in use does not grow with their number.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections import Counter, deque
from dataclasses import dataclass, field

from pymodel.base.time import US
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.device import Device
from pymodel.nic.events import (
    Action,
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    PortChange,
    PostReceive,
    PostWrite,
    SetTimer,
    TimerFired,
    WriteMemory,
)
from pymodel.paths.topology import Topology
from pymodel.wire.flow_parser import FlowParser
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import DATA_OPCODES
from tests.nic.state import reached
from tests.nic.trim import mark, trim

MTU = 512
SLOTS = 16
SLOT = 1 << 16
BASE = 0x7F00_0000_1000
QPNS = 0x123, 0x456
PLANES = 2
POOL = random.Random(1).randbytes(1 << 20)
_OPCODE_AT = 14 + 40 + 40 + 8


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities a frame, and how long ports stay down and up, in ps."""

    loss: float = 0.01
    repeat: float = 0.01
    trim: float = 0.01
    mark: float = 0.02
    damage: float = 0.01
    jitter_ps: int = 6 * US
    down_ps: int = 150 * US
    up_ps: int = 1500 * US


@dataclass(slots=True)
class Message:
    """A write on its way: what is left to land of it."""

    wr_id: int
    data: bytes
    immediate: int | None
    missing: set[int]


@dataclass(slots=True)
class Side:
    """One end: its device, its memory, and the writes that come into it."""

    device: Device
    r_key: int
    memory: bytearray = field(default_factory=lambda: bytearray(SLOTS * SLOT))
    arriving: dict[int, Message] = field(default_factory=dict)
    """By slot: what the other end is writing here."""
    immediates: deque[int] = field(default_factory=deque)
    """Immediates that will come, in the order in which they were posted."""
    timers: dict[str, int] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    posted: int = 0
    completed: int = 0
    open: deque[int] = field(default_factory=deque)
    """Numbers of the writes of this end that have not completed, oldest first."""


class Soak:
    """The run. `step` until it is False."""

    def __init__(self, seed: int, packets: int, faults: Faults = Faults()) -> None:
        """Post writes until `packets` data packets have been sent, then let all come to rest."""
        self.draw = random.Random(seed)
        self.faults = faults
        self.wanted = packets
        self.packets = 0
        self.bytes = 0
        self.happened: Counter[str] = Counter()
        self.now_ps = 0
        self._queue: list[tuple[int, int, int, Event]] = []
        self._pushed = 0
        topology = Topology(planes=PLANES, t0=2, t1=4, hosts_per_t0=1)
        devices = [device_for(topology, name) for name in ("h0-0", "h1-0")]
        ends = [End(name, device, qpn) for name, device, qpn in zip(("h0-0", "h1-0"), devices, QPNS, strict=True)]
        connect(
            topology,
            *ends,
            evs=16,
            seed=seed,
            settings=QpSettings(mtu=MTU, ack_timeout=5),
            congestion=lambda: FixedWindow(32 * (MTU + 80)),
        )
        regions = [device.regions.register(BASE, SLOTS * SLOT) for device in devices]
        self.sides = [Side(device, region.r_key) for device, region in zip(devices, regions, strict=True)]
        for who in (0, 1):
            for port in range(PLANES):
                self._flap_later(who, port)
            self._post(who)

    def step(self) -> bool:
        """Run the next event; False when nothing is left."""
        if not self._queue:
            return False
        at_ps, _, who, event = heapq.heappop(self._queue)
        side = self.sides[who]
        match event:
            case TimerFired(key, generation):
                if side.timers.get(key) != generation:
                    return True
                del side.timers[key]
            case FrameIn(port):
                if port in side.down:
                    self.happened["lost on a port that is down"] += 1
                    return True
            case PortChange(port, up):
                if up:
                    side.down.discard(port)
                    self._flap_later(who, port)
                else:
                    self.happened["port down"] += 1
                    side.down.add(port)
                    self._push(at_ps + self.draw.randrange(self.faults.down_ps), who, PortChange(port, up=True))
        self.now_ps = at_ps
        self._give(who, event)
        assert all(qp.requester.window.inflight >= 0 for qp in side.device.qps()), "less than nothing in flight"
        return True

    def run(self) -> None:
        """Run to the end."""
        while self.step():
            pass

    def check_rest(self) -> None:
        """All is done, and both ends are quiet."""
        for side in self.sides:
            assert not side.arriving
            assert not side.immediates
            assert not side.timers, side.timers
            assert side.completed == side.posted
            for qp in side.device.qps():
                window = qp.requester.window
                assert (qp.requester.busy, window.outstanding, window.inflight) == (False, False, 0)
                assert qp.responder.window.ooo_count == 0

    # Work

    def _post(self, who: int) -> None:
        """Keep the writes of one end coming."""
        side, peer, draw = self.sides[who], self.sides[1 - who], self.draw
        while self.packets < self.wanted and side.posted % SLOTS not in peer.arriving and len(side.open) < SLOTS:
            size = draw.choice((0, 1, MTU - 1, MTU, MTU + 1, draw.randrange(8 * MTU), draw.randrange(SLOT)))
            start = draw.randrange(len(POOL) - size)
            slot, number = side.posted % SLOTS, side.posted
            immediate = number & 0xFFFFFFFF if draw.random() < 0.3 else None
            message = Message(number, POOL[start : start + size], immediate, set(range(0, size, MTU)))
            peer.arriving[slot] = message
            side.posted += 1
            side.open.append(number)
            if immediate is not None:
                peer.immediates.append(immediate)
                self._give(1 - who, PostReceive(QPNS[1 - who], number))
            self._give(
                who, PostWrite(QPNS[who], number, message.data, BASE + slot * SLOT, peer.r_key, message.immediate)
            )

    def _give(self, who: int, event: Event) -> None:
        done = False
        for action in self.sides[who].device.handle(event, self.now_ps):
            done |= self._carry_out(who, action)
        if done:
            self._post(who)

    def _carry_out(self, who: int, action: Action) -> bool:
        """Do what a device asks for; True when a write completed."""
        side = self.sides[who]
        match action:
            case FrameOut(port, data):
                self._send(who, port, data)
            case SetTimer(key, at_ps, generation):
                assert at_ps >= self.now_ps
                side.timers[key] = generation
                self._push(at_ps, who, TimerFired(key, generation))
            case CancelTimer(key):
                del side.timers[key]
            case WriteMemory(address, data):
                self._place(side, address - BASE, data)
            case Complete():
                return self._complete(who, action)
        return False

    def _place(self, side: Side, start: int, data: bytes) -> None:
        message = side.arriving[start // SLOT]
        offset = start % SLOT
        message.missing.remove(offset)  # each packet lands once
        assert data == message.data[offset : offset + MTU]
        side.memory[start : start + len(data)] = data
        self.bytes += len(data)

    def _complete(self, who: int, done: Complete) -> bool:
        assert done.status == "success", done
        side, peer = self.sides[who], self.sides[1 - who]
        if done.immediate is not None:
            assert done.immediate == side.immediates.popleft(), "immediates in the order of posting"
            earlier = [m for m in side.arriving.values() if m.wr_id <= done.wr_id]
            assert not any(message.missing for message in earlier), "after all that was posted before"
            return False
        slot = done.wr_id % SLOTS
        message = peer.arriving.pop(slot)
        assert (message.wr_id, done.byte_count) == (done.wr_id, len(message.data))
        assert not message.missing
        assert peer.memory[slot * SLOT : slot * SLOT + len(message.data)] == message.data
        if message.immediate is not None:
            assert side.open[0] == done.wr_id, "after all that was posted before"
        side.open.remove(done.wr_id)
        side.completed += 1
        return True

    # Links

    def _send(self, who: int, port: int, data: bytes) -> None:
        is_write = len(data) > _OPCODE_AT and data[_OPCODE_AT] in DATA_OPCODES
        self.packets += is_write
        draw, faults = self.draw, self.faults
        chance = draw.random()
        if port in self.sides[who].down:
            self.happened["sent into a port that is down"] += 1
            return
        copies = 1
        if chance < faults.loss:
            self.happened["lost"] += 1
            return
        chance -= faults.loss
        if chance < faults.repeat:
            self.happened["repeated"] += 1
            copies = 2
        elif (chance := chance - faults.repeat) < faults.damage:
            self.happened["damaged"] += 1
            at = draw.randrange(8 * len(data))
            damaged = bytearray(data)
            damaged[at // 8] ^= 1 << at % 8
            data = bytes(damaged)
        elif is_write and (chance := chance - faults.damage) < faults.mark:
            self.happened["marked"] += 1
            data = mark(data)
        elif is_write and chance - faults.mark < faults.trim:
            self.happened["trimmed"] += 1
            frame = parse(data)
            assert isinstance(frame, Frame)
            data = trim(data, frame, last_hop=draw.random() < 0.2)
        for _ in range(copies):
            self._push(self.now_ps + 2 * US + draw.randrange(faults.jitter_ps), 1 - who, FrameIn(port, data))

    def _flap_later(self, who: int, port: int) -> None:
        """The port goes down some time from now; not any more when the work is done."""
        if self.packets < self.wanted:
            self._push(self.now_ps + self.draw.randrange(self.faults.up_ps), who, PortChange(port, up=False))

    def _push(self, at_ps: int, who: int, event: Event) -> None:
        self._pushed += 1
        heapq.heappush(self._queue, (at_ps, self._pushed, who, event))


def run(soak: Soak, samples: int = 10) -> list[int]:
    """Run `soak` and return the number of memory blocks in use, taken `samples` times at equal distances.

    The flows that a parser remembers are forgotten before each: there may be some thousands of them, and damaged
    frames make new ones for a long time.
    """
    parsers = [each for side in soak.sides for each in reached(side.device) if isinstance(each, FlowParser)]
    taken: list[int] = []
    due = soak.wanted // samples
    while soak.step():
        if soak.packets >= due * (len(taken) + 1):
            for parser in parsers:
                parser._flows.clear()
            taken.append(sys.getallocatedblocks())
    return taken
