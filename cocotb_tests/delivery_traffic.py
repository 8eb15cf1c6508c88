"""Traffic for the delivery: events of many QPs, and what the golden model says about each.

Everything is worked out before the simulation starts, from a seed. A QP's sender numbers its messages as it must; its
packets arrive in any order, some again, some refused; its receiver posts receives early, late or too few. What the
packets are to the window comes from `ReceiveWindow`, what they do to messages from `Delivery`, and the rules of a QP's
failure are those of `pymodel/nic/responder.py`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from pymodel.nic.delivery import Delivery
from pymodel.nic.events import Action, Complete
from pymodel.nic.receive_window import ArrivalClass, ReceiveWindow

PSN_SPACE = 1 << 24
NUMBERS = 1 << 16
INVALID_REQUEST, REMOTE_ACCESS, REMOTE_OPERATION = 0x61, 0x62, 0x63

MakeDelivery = Callable[[int, deque[int]], Delivery]


class Op(IntEnum):
    """What happens to a QP."""

    PASS = 0
    PACKET = 1
    RESET = 2
    READY = 3
    ERROR = 4
    POST = 5


class State(IntEnum):
    """What a QP is in."""

    RESET = 0
    READY = 1
    REFUSED = 2
    STOPPED = 3


class Write(NamedTuple):
    """A packet of a message."""

    psn: int
    last: bool
    immediate: int | None
    msn: int
    rqmsn: int
    dma_length: int


@dataclass(frozen=True, slots=True)
class Result:
    """What the delivery says of an event; `nak` (syndrome and PSN) where it is asked for."""

    state: State
    fault: bool
    placed: bool
    nak: tuple[int, int] | None
    completed: int


@dataclass(frozen=True, slots=True)
class Event:
    """One event, the result that it must have, and the completions that it makes: (receive, bytes, immediate)."""

    op: Op
    qp: int
    result: Result
    completions: tuple[tuple[int, int, int] | int, ...] = ()
    write: Write | None = None
    cack: int = 0
    is_new: bool = False
    recorded: bool = False
    syndrome: int | None = None
    wimm: int = 0
    value: int = 0


class QpModel:
    """One QP as the golden model has it, its window as the tracker keeps it."""

    def __init__(self, qp: int, make: MakeDelivery = Delivery) -> None:
        self.qp = qp
        self.make = make
        self.window = ReceiveWindow(1, 0)
        self.wimm = 1
        self.state = State.RESET
        self.nak = (0, 0)
        self.posted = 0
        self.receives: deque[int] = deque()
        self.delivery = make(qp, self.receives)

    def _event(self, op: Op, before: State, completions: list[Action], **fields: object) -> Event:
        fault = before is State.READY and self.state is State.REFUSED
        nak = self.nak if fault or before is State.REFUSED else None
        made: list[tuple[int, int, int] | int] = []
        for each in completions:
            assert isinstance(each, Complete)
            made.append((each.wr_id, each.byte_count, each.immediate or 0))
        if self.state in (State.REFUSED, State.STOPPED):
            made += self.receives
            self.receives.clear()
        placed = bool(fields.pop("placed", False))
        result = Result(before, fault, placed, nak, self.delivery.completed)
        return Event(op, self.qp, result, tuple(made), cack=self.window.cack_psn, wimm=self.wimm, **fields)  # type: ignore[arg-type]

    def reset(self) -> Event:
        before, self.state = self.state, State.RESET
        self.posted = 0
        self.receives.clear()
        self.delivery = self.make(self.qp, self.receives)
        return self._event(Op.RESET, before, [])

    def ready(self, first_psn: int, window: int, wimm: int) -> Event:
        before, self.state = self.state, State.READY
        self.window, self.wimm = ReceiveWindow(window, first_psn), wimm
        return self._event(Op.READY, before, [])

    def error(self) -> Event:
        before = self.state
        if before is State.READY:
            self.state = State.STOPPED
        return self._event(Op.ERROR, before, [])

    def post(self, count: int) -> Event:
        self.receives.extend((self.posted + n) % NUMBERS for n in range(count))
        self.posted = (self.posted + count) % NUMBERS
        return self._event(Op.POST, self.state, [], value=count)

    def passes(self) -> Event:
        return self._event(Op.PASS, self.state, [])

    def packet(self, write: Write, recorded: bool = True, syndrome: int | None = None) -> Event:
        """`write` arrives; with a `syndrome` it is bad, and when not `recorded` there is no room for it."""
        recorded = recorded and syndrome is None
        before, placed, completions = self.state, False, list[Action]()
        is_new = self.window.classify(write.psn) is ArrivalClass.NEW
        if is_new and recorded:
            self.window.mark(write.psn)
        if self.state is State.READY and is_new:
            if syndrome is not None:
                self._fail(syndrome, write.psn)
            elif recorded:
                placed = self._record(write, completions)
        return self._event(
            Op.PACKET,
            before,
            completions,
            write=write,
            is_new=is_new,
            recorded=recorded,
            syndrome=syndrome,
            placed=placed,
        )

    def _record(self, write: Write, completions: list[Action]) -> bool:
        delivery = self.delivery
        if write.immediate is not None and delivery.immediates_before(write.rqmsn) >= self.wimm:
            self._fail(INVALID_REQUEST, write.psn)
            return False
        if write.last:
            delivery.landed(write.msn, write.psn, write.dma_length, write.immediate)
        if delivery.ends and not delivery.advance(self.window.cack_psn, completions):
            self._fail(INVALID_REQUEST, write.psn)
        return True

    def _fail(self, syndrome: int, psn: int) -> None:
        self.state = State.REFUSED
        self.nak = (syndrome, psn)


def first_psn(rng: random.Random) -> int:
    """Half of the QPs start where 24 bits are about to wrap."""
    return (-rng.choice([1, 3, 63, 64, 65, 200])) % PSN_SPACE if rng.random() < 0.5 else rng.randrange(PSN_SPACE)


class Sender:
    """Numbers messages and packets of one life of a QP."""

    def __init__(self, rng: random.Random, first: int, longest: int, immediates: float) -> None:
        self.rng = rng
        self.psn, self.msn, self.rqmsn = first, 0, 0
        self.longest, self.immediates = longest, immediates

    def message(self, with_immediate: bool | None = None, packets: int | None = None) -> list[Write]:
        """The packets of the next message. A plain write's RQMSN means nothing, so it is anything."""
        rng = self.rng
        count = packets or rng.randint(1, self.longest)
        chosen = rng.random() < self.immediates if with_immediate is None else with_immediate
        rqmsn = self.rqmsn if chosen else rng.randrange(NUMBERS)
        length = rng.getrandbits(32)
        immediate = rng.getrandbits(32) if chosen else None
        made = [
            Write(
                (self.psn + n) % PSN_SPACE,
                n == count - 1,
                immediate if n == count - 1 else None,
                self.msn,
                rqmsn,
                length,
            )
            for n in range(count)
        ]
        self.psn = (self.psn + count) % PSN_SPACE
        self.msn = (self.msn + 1) % NUMBERS
        self.rqmsn = (self.rqmsn + chosen) % NUMBERS
        return made


class QpTraffic:
    """Events of one QP, life after life."""

    def __init__(self, rng: random.Random, model: QpModel, window: int, wimm: int) -> None:
        self.rng, self.model = rng, model
        self.largest, self.most = window, wimm
        self.events = self.lives()

    def event(self) -> Event:
        return next(self.events)

    def lives(self) -> Iterator[Event]:
        rng, model = self.rng, self.model
        while True:
            yield model.reset()
            for _ in range(rng.choice([0, 0, 1, 5])):
                yield self.stray()
            if rng.random() < 0.1:
                yield model.error()
            if rng.random() < 0.5:
                yield model.post(rng.randint(0, 9))
            yield from self.life()
            for _ in range(rng.choice([0, 1, 10, 40])):
                yield rng.choice(
                    [self.stray, self.stray, lambda: model.post(rng.randint(0, 5)), model.passes, model.error]
                )()

    def stray(self) -> Event:
        """A packet that has no effect: of a QP in reset or in error, or received before."""
        rng, model = self.rng, self.model
        ahead = rng.randint(-3, 3) if model.state is not State.READY else rng.randint(-3, 0)
        psn = (model.window.cack_psn + ahead) % PSN_SPACE
        immediate = rng.getrandbits(32) if rng.random() < 0.5 else None
        rqmsn, msn = rng.randrange(rng.choice([4, NUMBERS])), rng.randrange(4)
        if model.state is not State.RESET:
            msn = (model.delivery.completed + rng.randrange(1000)) % NUMBERS  # what was not complete, as peers go on
        write = Write(psn, immediate is not None, immediate, msn, rqmsn, rng.getrandbits(32))
        return model.packet(write, rng.random() < 0.8, REMOTE_ACCESS if rng.random() < 0.2 else None)

    def life(self) -> Iterator[Event]:
        """From READY to a failure, or to where nobody cares any more."""
        rng, model = self.rng, self.model
        window = rng.choice([1, 2, 64, self.largest - 1, self.largest, self.largest])
        wimm = rng.choice([1, 2, self.most // 2, self.most, self.most])
        first = first_psn(rng)
        sender = Sender(rng, first, rng.choice([1, 1, 3, 20]), rng.choice([0.0, 0.2, 0.7, 1.0]))
        excess = rng.random() < 0.4  # now and then one write with immediate too many
        poor = rng.choice([0.0, 0.0, 0.05, 0.5])  # chance to find no receive when one is needed
        early = (
            poor == 0.0 and rng.random() < 0.5
        )  # receives are posted before the sender writes, else before they are needed
        order = rng.choice(["in order", "any", "any", "head last"])
        flight: list[Write] = []  # in the order of their PSNs
        recent: deque[Write] = deque(maxlen=100)
        waiting: deque[Write] = deque()
        yield model.ready(first, window, wimm)
        for _ in range(rng.choice([20, 300, 3000])):
            if model.state is not State.READY:
                return
            delivery = model.delivery
            while not waiting or (waiting[-1].psn - model.window.cack_psn) % PSN_SPACE < min(window, 200):
                full = delivery.immediates_before(sender.rqmsn) >= wimm and not (excess and rng.random() < 0.05)
                waiting.extend(sender.message(False if full else None))
            while waiting and (waiting[0].psn - model.window.cack_psn) % PSN_SPACE <= min(window, 200):
                flight.append(waiting.popleft())
            owed = (sender.rqmsn - model.posted) % NUMBERS
            owed -= NUMBERS if owed > NUMBERS // 2 else 0
            chance = rng.random()
            if early and owed > 0:
                yield model.post(owed + rng.randint(0, 10))
            elif chance < 0.03:
                yield model.passes()
            elif chance < 0.05 or (poor and chance > 0.8):
                yield model.post(rng.randint(0, max(0, owed) if rng.random() < 0.9 else 3))
            elif chance < 0.09 and recent:
                yield model.packet(rng.choice(recent), rng.random() < 0.7)
            elif chance < 0.10:
                yield model.packet(rng.choice(flight), recorded=False)
            elif chance < 0.1005:
                yield model.packet(rng.choice(flight), syndrome=rng.choice([INVALID_REQUEST, REMOTE_ACCESS]))
            elif chance < 0.101:
                yield model.error() if rng.random() < 0.5 else self.stray()
            else:
                chosen = 0 if order == "in order" else rng.randrange(len(flight))
                if order == "head last" and chosen == 0 and len(flight) > 1 and rng.random() < 0.98:
                    chosen = 1
                if chosen == 0 and owed > 0 and rng.random() >= poor:
                    yield model.post(owed)
                    if model.state is not State.READY:
                        return
                write = flight.pop(chosen)
                recent.append(write)
                yield model.packet(write)


def mixed(seed: int, qps: int, window: int, wimm: int, events: int, make: MakeDelivery = Delivery) -> list[Event]:
    """`events` events over many QPs: one QP back to back, a few in turn, all at random."""
    rng = random.Random(seed)
    traffic: dict[int, QpTraffic] = {}
    items: list[Event] = []
    while len(items) < events:
        active = [rng.randrange(qps) for _ in range(rng.choice([1, 1, 2, 3, 8, min(qps, 64)]))]
        in_turn = rng.random() < 0.5
        for i in range(rng.choice([20, 200, 1000])):
            qp = active[i % len(active)] if in_turn else rng.choice(active)
            if qp not in traffic:
                traffic[qp] = QpTraffic(rng, QpModel(qp, make), window, wimm)
            items.append(traffic[qp].event())
    return items


def steady(
    seed: int, qps: int, window: int, wimm: int, events: int, immediates: float
) -> tuple[list[Event], list[Event]]:
    """QPs made ready, then writes in turn, that part of them with immediate; no receive is ever missing."""
    rng = random.Random(seed)
    models = [QpModel(qp) for qp in range(qps)]
    senders = []
    before: list[Event] = []
    for model in models:
        first = first_psn(rng)
        before += [model.reset(), model.ready(first, window, wimm), model.post(events)]
        senders.append(Sender(rng, first, 1, immediates))
    items = [models[n % qps].packet(senders[n % qps].message()[0]) for n in range(events)]
    return before, items


def stashed(rng: random.Random, model: QpModel, count: int, window: int, wimm: int) -> tuple[list[Event], Write]:
    """A QP whose `count` writes with immediate have all landed but for one plain packet before them: that one too."""
    first = first_psn(rng)
    sender = Sender(rng, first, 1, 1.0)
    events = [model.reset(), model.ready(first, window, wimm), model.post(count)]
    (head,) = sender.message(False)
    events += [model.packet(sender.message()[0]) for _ in range(count)]
    return events, head


def wrapping(seed: int, window: int, wimm: int, messages: int) -> list[Event]:
    """Two QPs in turn whose message and receive numbers wrap, a few packets out of order all the time."""
    rng = random.Random(seed)
    items: list[Event] = []
    streams = []
    for qp in range(2):
        model = QpModel(qp)
        first = (-rng.randrange(messages)) % PSN_SPACE
        items += [model.reset(), model.ready(first, window, wimm)]
        sender = Sender(rng, first, 1, 0.97 if qp else 0.5)
        streams.append((model, sender))
    for _ in range(messages // 4):
        for model, sender in streams:
            owed = (sender.rqmsn - model.posted) % NUMBERS
            if owed < 4 or owed > NUMBERS // 2 or model.posted == sender.rqmsn:
                items.append(model.post(rng.choice([4, 4, 40]) if owed < NUMBERS // 2 else 4))
            batch = [sender.message()[0] for _ in range(4)]
            rng.shuffle(batch)
            missing = (sender.rqmsn - model.posted) % NUMBERS
            if 0 < missing < NUMBERS // 2:
                items.append(model.post(missing))
            items += (model.packet(write) for write in batch)
    return items


def unjudged(model: QpModel, write: Write) -> Event:
    """`write` arrives and is recorded; what the model would say of its message is left open."""
    is_new = model.window.classify(write.psn) is ArrivalClass.NEW
    if is_new:
        model.window.mark(write.psn)
    nothing = Result(State.READY, False, False, None, 0)
    return Event(
        Op.PACKET,
        model.qp,
        nothing,
        write=write,
        cack=model.window.cack_psn,
        is_new=is_new,
        recorded=True,
        wimm=model.wimm,
    )
