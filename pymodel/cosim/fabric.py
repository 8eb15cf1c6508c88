"""NICs and switches joined by links, run in virtual time by one queue of events.

A frame handed to a link reaches its far end as an arrival. A switch is asked for its frames when it says that it can
have some (`next_event_ps`). A NIC core gets arrivals, timers and posted work, and its actions are carried out here:
frames go to links, memory is written, timers are set, completions and notices are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pymodel.base.time import EventQueue
from pymodel.cosim.link import LinkDirection
from pymodel.nic.events import (
    Action,
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    Notify,
    SetTimer,
    TimerFired,
    WriteMemory,
)

__all__ = ["Cable", "Core", "Fabric", "Forwarder", "Host", "HostMemory", "Observer"]

Observer = Callable[[LinkDirection, int, bytes, bool], None]
"""Called for every frame handed to a link: direction, time in ps, frame, whether the link loses it."""


class Core(Protocol):
    """A NIC: the golden model's device, or anything with the same one method."""

    def handle(self, event: Event, now_ps: int) -> list[Action]:
        """Take one event at `now_ps` and return what follows."""
        ...


class Forwarder(Protocol):
    """What a fabric needs of a switch: three methods of `SwitchTarget`."""

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`."""
        ...

    def next_event_ps(self) -> int | None:
        """When the switch can next put out a frame, in ps, or None when it holds none."""
        ...

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """Frames that left at or before `until_ps`, in order, as (time in ps, port, frame)."""
        ...


class HostMemory:
    """Memory of one host: `contents` from address `base`. An access outside is a bug of the NIC and raises."""

    def __init__(self, base: int, contents: bytes) -> None:
        self.base = base
        self.data = bytearray(contents)
        self.placed_bytes = 0

    def write(self, address: int, data: bytes) -> None:
        """Place `data` at `address`."""
        start = self._start(address, len(data))
        self.data[start : start + len(data)] = data
        self.placed_bytes += len(data)

    def read(self, address: int, length: int) -> bytes:
        """Return `length` bytes from `address`."""
        start = self._start(address, length)
        return bytes(self.data[start : start + length])

    def _start(self, address: int, length: int) -> int:
        start = address - self.base
        if start < 0 or start + length > len(self.data):
            raise IndexError(f"{length} bytes at {address:#x} lie outside {self.base:#x} + {len(self.data):#x}")
        return start


class Host:
    """A NIC core, its memory, and what it reported: completions and notices, each with its time in ps."""

    def __init__(self, core: Core, memory: HostMemory) -> None:
        self.core = core
        self.memory = memory
        self.completions: list[tuple[int, Complete]] = []
        self.notices: list[tuple[int, Notify]] = []
        self.timers: dict[str, int] = {}

    def details(self, kind: str, **wanted: int) -> dict[str, int]:
        """Return the details of the first notice of `kind` that has all of `wanted`, or nothing."""
        for _, notice in self.notices:
            details = dict(notice.details)
            if notice.kind == kind and wanted.items() <= details.items():
                return details
        return {}


@dataclass(frozen=True, slots=True)
class Cable:
    """One direction of a link and the node and port at its far end."""

    direction: LinkDirection
    node: str
    port: int


@dataclass(frozen=True, slots=True)
class _Arrival:
    node: str
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _HostEvent:
    node: str
    event: Event


@dataclass(frozen=True, slots=True)
class _Poll:
    node: str


class Fabric:
    """Runs `hosts` and `switches`, joined by `cables` (from node and port to what lies at the other end).

    `observers` see every frame that is handed to a link.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        switches: Mapping[str, Forwarder],
        cables: Mapping[tuple[str, int], Cable],
        observers: tuple[Observer, ...] = (),
    ) -> None:
        self.hosts = hosts
        self.switches = switches
        self.now_ps = 0
        self.uncabled = 0
        self._cables = cables
        self._observers = observers
        self._queue: EventQueue[_Arrival | _HostEvent | _Poll] = EventQueue()
        self._polls: dict[str, int] = {}

    def post(self, host: str, event: Event, at_ps: int) -> None:
        """Give `event` to the NIC of `host` at `at_ps`."""
        self._queue.push(at_ps, _HostEvent(host, event))

    def step(self) -> bool:
        """Run the earliest event; False when there is none left."""
        if self.next_ps() is None:
            return False
        self.now_ps, item = self._queue.pop()
        match item:
            case _Arrival(node, port, data):
                if node in self.hosts:
                    self._give(node, FrameIn(port, data))
                else:
                    self.switches[node].inject(port, data, self.now_ps)
                    self._drain(node)
            case _HostEvent(node, event):
                if isinstance(event, TimerFired):
                    del self.hosts[node].timers[event.key]
                self._give(node, event)
            case _Poll(node):
                self._polls.pop(node, None)
                self._drain(node)
        return True

    def next_ps(self) -> int | None:
        """Time of the earliest event in ps, or None when the fabric is at rest.

        Timers that were cancelled or replaced are forgotten here, so that they neither happen nor move time.
        """
        while self._is_stale(self._queue.peek()):
            self._queue.pop()
        return self._queue.next_ps()

    def _is_stale(self, item: _Arrival | _HostEvent | _Poll | None) -> bool:
        if not isinstance(item, _HostEvent) or not isinstance(item.event, TimerFired):
            return False
        return self.hosts[item.node].timers.get(item.event.key) != item.event.generation

    def _give(self, node: str, event: Event) -> None:
        host = self.hosts[node]
        for action in host.core.handle(event, self.now_ps):
            match action:
                case FrameOut(port, data):
                    self._send(node, port, data, self.now_ps)
                case WriteMemory(address, data):
                    host.memory.write(address, data)
                case SetTimer(key, at_ps, generation):
                    host.timers[key] = generation
                    self._queue.push(max(at_ps, self.now_ps), _HostEvent(node, TimerFired(key, generation)))
                case CancelTimer(key):
                    host.timers.pop(key, None)
                case Complete():
                    host.completions.append((self.now_ps, action))
                case Notify():
                    host.notices.append((self.now_ps, action))

    def _drain(self, node: str) -> None:
        switch = self.switches[node]
        for at_ps, port, data in switch.drain(self.now_ps):
            self._send(node, port, data, at_ps)
        following = switch.next_event_ps()
        if following is not None and following < self._polls.get(node, following + 1):
            self._polls[node] = following
            self._queue.push(max(following, self.now_ps), _Poll(node))

    def _send(self, node: str, port: int, data: bytes, at_ps: int) -> None:
        cable = self._cables.get((node, port))
        if cable is None:
            self.uncabled += 1
            return
        arrival_ps = cable.direction.send(len(data), at_ps)
        for observe in self._observers:
            observe(cable.direction, at_ps, data, arrival_ps is None)
        if arrival_ps is not None:
            self._queue.push(arrival_ps, _Arrival(cable.node, cable.port, data))
