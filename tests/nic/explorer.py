"""Every order of deliveries, and every place for a fault, of a small transfer: an exhaustive walk over its states.

A state is two devices, the frames on their way and the timers that are set. From each state every frame can arrive
next, whatever the others do; and while faults are left a frame can be lost, arrive twice, or arrive trimmed, or the
next timer can run out before any of them arrives (a delay). With nothing on its way the next timer runs out. A state
met before is not walked again.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator

from pymodel.nic.device import Device
from pymodel.nic.events import (
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    Notify,
    PostReceive,
    PostWrite,
    SetTimer,
    TimerFired,
    WriteMemory,
)
from pymodel.nic.queue_pair import QueuePair
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from tests.nic.trim import trim

Move = Callable[["World"], None]


class World:
    """A sender (device 0), a receiver (device 1), and all that lies between and before them."""

    def __init__(self, devices: tuple[Device, Device], faults: int) -> None:
        self.devices = devices
        self.faults = faults
        self.now_ps = 0
        self.flying: list[tuple[int, bytes]] = []
        self.timers: list[dict[str, tuple[int, int]]] = [{}, {}]
        self.placed: list[tuple[int, bytes]] = []
        self.completed: list[list[Complete]] = [[], []]

    # What can happen

    def moves(self) -> Iterator[Move]:
        """All that can happen next, each to be done to a copy."""
        for number, (to, data) in enumerate(self.flying):
            if (to, data) in self.flying[:number]:
                continue  # one of two equal frames stands for both
            yield lambda world, n=number: world.arrive(n)
            if self.faults:
                yield lambda world, n=number: world.lose(n)
                yield lambda world, n=number: world.repeat(n)
                if to == 1:
                    yield lambda world, n=number: world.arrive_trimmed(n)
        if any(self.timers) and (self.faults or not self.flying):
            yield lambda world: world.next_timer()

    def arrive(self, number: int) -> None:
        to, data = self.flying.pop(number)
        self.give(to, FrameIn(0, data))

    def lose(self, number: int) -> None:
        self.faults -= 1
        del self.flying[number]

    def repeat(self, number: int) -> None:
        self.faults -= 1
        self.flying.append(self.flying[number])

    def arrive_trimmed(self, number: int) -> None:
        self.faults -= 1
        to, data = self.flying.pop(number)
        frame = parse(data)
        assert isinstance(frame, Frame)
        self.give(to, FrameIn(0, trim(data, frame)))

    def next_timer(self) -> None:
        if self.flying:
            self.faults -= 1
        who, key = min(
            ((who, key) for who in (0, 1) for key in self.timers[who]), key=lambda at: self.timers[at[0]][at[1]]
        )
        at_ps, generation = self.timers[who].pop(key)
        self.now_ps = max(self.now_ps, at_ps)
        self.give(who, TimerFired(key, generation))

    def give(self, who: int, event: Event) -> None:
        for action in self.devices[who].handle(event, self.now_ps):
            match action:
                case FrameOut(_, data):
                    self.flying.append((1 - who, data))
                case SetTimer(key, at_ps, generation):
                    self.timers[who][key] = (at_ps, generation)
                case CancelTimer(key):
                    del self.timers[who][key]
                case WriteMemory(address, data):
                    assert who == 1
                    self.placed.append((address, data))
                case Complete():
                    self.completed[who].append(action)
                case Notify():
                    pass

    # What a state is

    def key(self) -> tuple[object, ...]:
        """All that the future depends on, times counted from now."""
        timers = [sorted((key, at - self.now_ps) for key, (at, _) in each.items()) for each in self.timers]
        qps = [_qp_key(qp, self.now_ps) for device in self.devices for qp in device._qps.values()]
        return (self.faults, *sorted(self.flying), repr((timers, sorted(self.placed), self.completed, qps)))


def _qp_key(qp: QueuePair, now_ps: int) -> tuple[object, ...]:
    requester, responder, window = qp.requester, qp.responder, qp.requester.window
    packets = [
        (p.index, p.state.name, p.ev and p.ev.ev, window.transmissions - p.order, window.next_index - p.position)
        for p in window._packets.values()
    ]
    deadline = requester.ack_timer.deadline_ps
    return (
        (window.unack_index, window.next_index, window.inflight, window._sacked, window._refused, packets),
        (deadline and deadline - now_ps, window.transmissions - requester._timer_mark, requester._expiries),
        (requester.state.name, [(m.msn, m.sent, m.acknowledged) for m in requester._open]),
        [_ev_key(table) for table in (requester.evs, responder._evs)],
        (responder.window.cack_psn, sorted(responder.window._held), responder.state.name, responder._unanswered),
        (responder._held and (responder._held.psn, responder._held.ev), responder._acknowledged, responder._received),
        (responder.delivery.completed, sorted(responder.delivery._ends.items()), list(responder.delivery._receives)),
    )


def _ev_key(table: object) -> tuple[object, ...]:
    return [(slot.ev, slot.state.name) for slot in table._active], table._turn, [slot.ev for slot in table.retired]


class _Shelf:
    """Packs worlds into bytes and back. What never changes in them is left out and shared by all."""

    def __init__(self, world: World) -> None:
        self._fixed: list[object] = []
        for device in world.devices:
            self._fixed += [device.config, device.config.options, device.regions]
            for qp in device._qps.values():
                self._fixed += [qp.config, qp.requester._framer]
                self._fixed += [slot.record for slot in (*qp.requester.evs.slots(), *qp.responder._evs.slots())]
        names = {id(each): number for number, each in enumerate(self._fixed)}

        class Pickler(pickle.Pickler):
            def persistent_id(self, each: object) -> int | None:
                return names.get(id(each))

        class Unpickler(pickle.Unpickler):
            def persistent_load(_, name: int) -> object:  # noqa: N805
                return self._fixed[name]

        self._pickler, self._unpickler = Pickler, Unpickler

    def pack(self, world: World) -> bytes:
        buffer = io.BytesIO()
        self._pickler(buffer, protocol=5).dump(world)
        return buffer.getvalue()

    def unpack(self, data: bytes) -> World:
        return self._unpickler(io.BytesIO(data)).load()


def explore(world: World, check: Callable[[World], None], at_rest: Callable[[World], None]) -> int:
    """Walk every state: `check` sees each, `at_rest` those in which nothing can happen any more.

    Returns the number of different states.
    """
    shelf = _Shelf(world)
    seen = {hash(world.key())}
    stack = [world]
    while stack:
        here = stack.pop()
        moves = list(here.moves())
        if not moves:
            at_rest(here)
            continue
        packed = shelf.pack(here)
        for move in moves:
            there = shelf.unpack(packed)
            move(there)
            key = hash(there.key())
            if key not in seen:
                check(there)
                seen.add(key)
                stack.append(there)
    return len(seen)


def start(devices: tuple[Device, Device], faults: int, writes: list[PostWrite], receives: list[PostReceive]) -> World:
    """A world in which all work has just been posted."""
    world = World(devices, faults)
    for receive in receives:
        world.give(1, receive)
    for write in writes:
        world.give(0, write)
    return world
