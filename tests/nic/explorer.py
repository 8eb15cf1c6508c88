"""Every order of deliveries, and every place for a fault, of a small transfer: an exhaustive walk over its states.

A state is two ends, the frames on their way and how many faults are left. From each state every frame can arrive next,
whatever the others do; and while faults are left a frame can be lost, arrive twice, or arrive trimmed, or the next
timer can run out before any of them arrives (a delay). With nothing on its way the next timer runs out. A state met
before is not walked again.

An end does the same whenever it is in the same state and is given the same event, so what it did is remembered: the
states of each end are numbered, the real device is asked once for each pair of state and event, and the walk over
both ends moves numbers. Nothing is left out by that, and no order is taken for another.

The walk keeps the 64-bit hashes of the states that it met: among 10^7 the chance that two share one is 3 in 10^6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass

from pymodel.nic.device import Device
from pymodel.nic.ev_order import EvOrder
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
from pymodel.nic.framing import Framer
from pymodel.nic.memory import RegionTable
from pymodel.nic.send_window import PacketState
from pymodel.wire.flow_parser import FlowParser
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from tests.nic.state import EPOCH_PS, Canon, Shelf, canonical, reached
from tests.nic.trim import trim

State = tuple[int, int, int, tuple[int, ...]]
"""Faults left, state of the sender, state of the receiver, frames on their way (sorted)."""


class Task:
    """What is to be transferred: the writes, and the packets they take, by the address at which each lands."""

    def __init__(self, writes: list[PostWrite], receives: list[PostReceive], mtu: int) -> None:
        self.writes = writes
        self.receives = receives
        self.packets: dict[int, tuple[int, bytes]] = {}
        self.masks: list[int] = []  # by write: a bit for each of its packets
        for write in writes:
            mask = 0
            for offset in range(0, len(write.data), mtu):
                bit = 1 << len(self.packets)
                self.packets[write.remote_address + offset] = bit, write.data[offset : offset + mtu]
                mask |= bit
            self.masks.append(mask)


@dataclass(slots=True)
class End:
    """One end as it stands: its device, packed; the time; timers, packets placed and completions so far."""

    packed: bytes
    now_ps: int
    timers: dict[str, tuple[int, int]]
    placed: int = 0
    completed: tuple[Complete, ...] = ()


class Ends:
    """The states of one end, numbered from 0, and what became of each on each event."""

    def __init__(self, who: int, device: Device, task: Task) -> None:
        self.who = who
        self.task = task
        self._device = device
        self._numbers: dict[object, int] = {}
        self.ends: list[End] = []
        self.resting: list[bool] = []
        self.counts: list[int] = []
        """By state: packets placed at the receiver; at the sender, packets of the writes that are complete."""
        self.delivered: list[int] = []
        """By state: how many immediates have been completed."""

    def first(self, events: list[Event]) -> tuple[int, list[bytes]]:
        """The state after `events`, with which everything begins, and the frames sent."""
        start = End(b"", EPOCH_PS, {})
        frames: list[bytes] = []
        for event in events:
            frames += self._give(self._device, start, event)
        never_change = [self._device.config.options]
        never_change += [each for each in reached(self._device, never_change) if _never_changes(each)]
        self._shelf = Shelf(never_change)
        return self._number(self._device, start), frames

    def step(self, number: int, event: Event) -> tuple[int, list[bytes]]:
        """What becomes of state `number` on `event`: another state, and frames."""
        before = self.ends[number]
        device = self._shelf.unpack(before.packed)
        after = End(b"", before.now_ps, dict(before.timers), before.placed, before.completed)
        frames = self._give(device, after, event)
        return self._number(device, after), frames

    def age(self, number: int, elapsed_ps: int) -> int:
        """The state `elapsed_ps` later, if nothing else happens."""
        if not elapsed_ps:
            return number
        before = self.ends[number]
        after = End(b"", before.now_ps + elapsed_ps, before.timers, before.placed, before.completed)
        return self._number(self._shelf.unpack(before.packed), after)

    def next_timer(self, number: int) -> tuple[int, str] | None:
        """How long until the next timer runs out, in ps, and its key."""
        end = self.ends[number]
        if not end.timers:
            return None
        key = min(end.timers, key=lambda each: (end.timers[each][0], each))
        return max(0, end.timers[key][0] - end.now_ps), key

    def expire(self, number: int, key: str) -> tuple[int, list[bytes]]:
        """The timer `key` of state `number` runs out."""
        before = self.ends[number]
        timers = dict(before.timers)
        _, generation = timers.pop(key)
        device = self._shelf.unpack(before.packed)
        after = End(b"", before.now_ps, timers, before.placed, before.completed)
        frames = self._give(device, after, TimerFired(key, generation))
        return self._number(device, after), frames

    def _give(self, device: Device, end: End, event: Event) -> list[bytes]:
        """Give `event` to `device`, carry out what follows, and hold it against the rules."""
        task, frames = self.task, []
        for action in device.handle(event, end.now_ps):
            match action:
                case FrameOut(_, data):
                    frames.append(data)
                case SetTimer(key, at_ps, generation):
                    assert at_ps >= end.now_ps, "a timer set for the past"
                    end.timers[key] = (at_ps, generation)
                case CancelTimer(key):
                    del end.timers[key]
                case WriteMemory(address, data):
                    assert self.who == 1, "placed at the receiver alone"
                    bit, expected = task.packets[address]
                    assert data == expected, "placed as it was posted"
                    assert not end.placed & bit, "placed once"
                    end.placed |= bit
                case Complete(status=status, wr_id=wr_id):
                    assert status == "success", f"completed with {status}"
                    assert wr_id not in [each.wr_id for each in end.completed], "completed once"
                    end.completed += (action,)
                    self._check_order(end, action)
                case Notify(kind):
                    assert kind != "qp_error", "the QP fails"
        for qp in device.qps():
            assert qp.requester.window.inflight >= 0, "less than nothing in flight"
        return frames

    def _check_order(self, end: End, done: Complete) -> None:
        task = self.task
        if self.who == 0:
            # An immediate completes after all that was posted before it.
            if task.writes[done.wr_id].immediate is not None:
                earlier = set(range(done.wr_id))
                assert {each.wr_id for each in end.completed} >= earlier, "an immediate completes in order"
            return
        immediates = [write for write in task.writes if write.immediate is not None]
        write = immediates[len(end.completed) - 1]
        receive = task.receives[len(end.completed) - 1]
        expected = receive.wr_id, write.immediate, len(write.data)
        assert (done.wr_id, done.immediate, done.byte_count) == expected, "immediates in order"
        for mask in task.masks[: write.wr_id + 1]:
            assert end.placed & mask == mask, "an immediate comes after all that was sent before it"

    def _number(self, device: Device, end: End) -> int:
        key = (
            canonical(device, now_ps=end.now_ps, fixed=self._shelf.fixed, canon=abstraction(device)),
            tuple(sorted((key, at_ps - end.now_ps) for key, (at_ps, _) in end.timers.items())),
            end.placed,
            end.completed,
        )
        number = self._numbers.setdefault(key, len(self.ends))
        if number == len(self.ends):
            end.packed = self._shelf.pack(device)
            self.ends.append(end)
            self.resting.append(not end.timers and at_rest(device))
            if self.who == 1:
                self.counts.append(end.placed)
                self.delivered.append(len(end.completed))
            else:
                done = [each.wr_id for each in end.completed]
                self.counts.append(sum(self.task.masks[wr_id] for wr_id in done))
                self.delivered.append(sum(self.task.writes[wr_id].immediate is not None for wr_id in done))
        return number


def abstraction(device: Device) -> dict[str, Canon]:
    """How fields count that do not matter as they stand. Each is justified by how the model reads it."""
    (qp,) = device.qps()
    sent = qp.requester.window.transmissions
    ignored: Canon = lambda owner, value: None  # noqa: E731
    since: Canon = lambda owner, value: sent - value  # noqa: E731
    return {
        # Statistics, which nothing reads but what reports them.
        "FlowParser._flows": ignored,  # what is known already: makes it quicker, not different
        "EvSlot.sent": ignored,
        "EvSlot.drops": ignored,
        "Message.retransmissions": ignored,
        "Message.nacks": ignored,
        "Message.timeouts": ignored,
        # Transmissions are only ever compared with each other.
        "SendWindow.transmissions": ignored,
        "Packet.order": since,
        "Requester._timer_mark": since,
        # Of the heap only the packets that are still lost count, and they come out in order.
        "SendWindow.lost": lambda window, value: frozenset(
            i for i in value if i in window._packets and window._packets[i].state is PacketState.LOST
        ),
        # One rotation is like another (`OneOrder`), so only the place in it counts.
        "EvTable._rotation": ignored,
        "EvTable._turn": lambda table, value: value % len(table._active),
        # A timer that fires always carries the generation that was set last.
        "Timer._generation": ignored,
    }


def at_rest(device: Device) -> bool:
    """Nothing outstanding and nothing held."""
    (qp,) = device.qps()
    requester = qp.requester
    outstanding = requester.busy or requester.window.outstanding or requester.window.inflight
    return not outstanding and not qp.responder.window.ooo_count


def _never_changes(value: object) -> bool:
    """Frozen dataclasses; what only makes or reads frames, whose caches show nowhere; regions, and `OneOrder`."""
    if isinstance(value, (Framer, FlowParser, RegionTable, EvOrder)):
        return True
    return is_dataclass(value) and type(value).__dataclass_params__.frozen  # type: ignore[attr-defined]


@dataclass(slots=True)
class Walk:
    """What a walk found."""

    states: int
    rests: int
    sender_states: int
    receiver_states: int


class World:
    """A sender (device 0), a receiver (device 1), and all that lies between them."""

    def __init__(self, devices: tuple[Device, Device], task: Task) -> None:
        self.task = task
        self.ends = [Ends(who, device, task) for who, device in enumerate(devices)]
        self._frame_numbers: dict[tuple[int, bytes], int] = {}
        self._frames: list[tuple[int, bytes]] = []
        self._trimmed: list[int | None] = []
        self._arrivals: tuple[dict[tuple[int, int], tuple[int, tuple[int, ...]]], ...] = ({}, {})
        self._expiries: dict[tuple[int, int], tuple[int, int, tuple[int, ...]] | None] = {}

    def start(self, faults: int) -> State:
        """All work has just been posted; `faults` may happen."""
        sender, sent = self.ends[0].first(list(self.task.writes))
        receiver, answered = self.ends[1].first(list(self.task.receives))
        assert not answered, "a receive draws no frame"
        return faults, sender, receiver, self._flying(1, sent)

    def successors(self, state: State) -> Iterator[tuple[str, State]]:
        """All that can happen next."""
        faults, sender, receiver, flying = state
        last = -1
        for place, frame in enumerate(flying):
            if frame == last:
                continue  # one of two equal frames stands for both
            last = frame
            rest = flying[:place] + flying[place + 1 :]
            yield f"arrive {frame}", self._arrive(faults, sender, receiver, frame, rest)
            if faults:
                yield f"lose {frame}", (faults - 1, sender, receiver, rest)
                yield f"repeat {frame}", (faults - 1, sender, receiver, (*flying[:place], frame, *flying[place:]))
                trimmed = self._trimmed[frame]
                if trimmed is not None:
                    yield f"trim {frame}", self._arrive(faults - 1, sender, receiver, trimmed, rest)
        if faults or not flying:
            expired = self._expire(sender, receiver)
            if expired is not None:
                sender, receiver, sent = expired
                left = faults - 1 if flying else faults
                yield "timer", (left, sender, receiver, tuple(sorted(flying + sent)) if sent else flying)

    def _arrive(self, faults: int, sender: int, receiver: int, frame: int, rest: tuple[int, ...]) -> State:
        to, data = self._frames[frame]
        before = receiver if to else sender
        known = self._arrivals[to]
        found = known.get((before, frame))
        if found is None:
            after, frames = self.ends[to].step(before, FrameIn(0, data))
            found = known[before, frame] = after, self._flying(1 - to, frames)
        after, sent = found
        flying = tuple(sorted(rest + sent)) if sent else rest
        return (faults, sender, after, flying) if to else (faults, after, receiver, flying)

    def _expire(self, sender: int, receiver: int) -> tuple[int, int, tuple[int, ...]] | None:
        """The next timer of either end runs out; None when none is set."""
        if (sender, receiver) not in self._expiries:
            self._expiries[sender, receiver] = self._next_timer([sender, receiver])
        return self._expiries[sender, receiver]

    def _next_timer(self, numbers: list[int]) -> tuple[int, int, tuple[int, ...]] | None:
        due = [
            (*timer, who)
            for who, (ends, number) in enumerate(zip(self.ends, numbers, strict=True))
            if (timer := ends.next_timer(number)) is not None
        ]
        if not due:
            return None
        elapsed_ps, key, who = min(due)
        numbers = [ends.age(number, elapsed_ps) for ends, number in zip(self.ends, numbers, strict=True)]
        numbers[who], frames = self.ends[who].expire(numbers[who], key)
        return numbers[0], numbers[1], self._flying(1 - who, frames)

    def _flying(self, to: int, frames: list[bytes]) -> tuple[int, ...]:
        return tuple(sorted(self._frame(to, data) for data in frames))

    def _frame(self, to: int, data: bytes) -> int:
        number = self._frame_numbers.setdefault((to, data), len(self._frames))
        if number == len(self._frames):
            self._frames.append((to, data))
            self._trimmed.append(None)
            frame = parse(data)
            assert isinstance(frame, Frame), f"sent a bad frame: {frame}"
            if frame.is_write and frame.trim_reason is None:
                self._trimmed[number] = self._frame(to, trim(data, frame))
        return number

    def check(self, state: State) -> None:
        """What holds in every state, seen from both ends; each end's own rules were checked when it moved."""
        _, sender, receiver, _ = state
        missing = self.ends[0].counts[sender] & ~self.ends[1].counts[receiver]
        assert not missing, "completed after every byte has landed"
        assert self.ends[0].delivered[sender] <= self.ends[1].delivered[receiver], "an immediate ends there first"

    def check_rest(self, state: State) -> None:
        """What holds where nothing can happen any more: all is done, and both ends are quiet."""
        _, sender, receiver, _ = state
        assert self.ends[0].resting[sender], "the sender comes to rest"
        assert self.ends[1].resting[receiver], "the receiver comes to rest"
        assert self.ends[1].counts[receiver] == sum(self.task.masks), "every byte lands"
        done = self.ends[0].ends[sender].completed
        assert sorted(each.wr_id for each in done) == list(range(len(self.task.writes))), "every write completes"
        assert self.ends[1].delivered[receiver] == len(self.task.receives), "every immediate is delivered"

    def explore(self, faults: int) -> Walk:
        """Walk every state, depth first. A state that leads back to itself would mean that there is no coming to rest.

        What goes wrong is raised with the way that led there.
        """
        first = self.start(faults)
        seen = {hash(first)}
        way: list[tuple[str, int, Iterator[tuple[str, State]]]] = [("start", hash(first), self.successors(first))]
        on_the_way = {hash(first)}
        rests = 0
        move, moves = "start", 0
        try:
            self.check(first)
            while way:
                for move, state in way[-1][2]:
                    moves += 1
                    key = hash(state)
                    assert key not in on_the_way, "goes round in circles"
                    if key in seen:
                        continue
                    self.check(state)
                    seen.add(key)
                    if not state[3] and self._expire(state[1], state[2]) is None:
                        self.check_rest(state)
                        rests += 1
                        continue
                    way.append((move, key, self.successors(state)))
                    on_the_way.add(key)
                    break
                else:
                    on_the_way.remove(way.pop()[1])
        except AssertionError as error:
            error.add_note(" > ".join([step for step, _, _ in way] + [move]))
            raise
        return Walk(len(seen), rests, len(self.ends[0].ends), len(self.ends[1].ends))
