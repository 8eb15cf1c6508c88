"""Traffic for the PSN tracker: what a set of QPs receives, and what the golden model says about each PSN.

Everything is worked out before the simulation starts, from a seed, so a bench only offers and compares. The patterns
are chosen for what is hard: holes that close in the clock after each other, jumps of the whole window, the window's
edges, and numbers that wrap.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from pymodel.nic.receive_window import Arrival, ArrivalClass, ReceiveWindow

PSN_SPACE = 1 << 24
HALF = PSN_SPACE // 2
WORD = 64

Model = Callable[[int, int], ReceiveWindow]


class Op(IntEnum):
    """What the tracker is asked."""

    RECORD = 0
    PEEK = 1
    HEAD = 2
    SET_UP = 3
    RESIZE = 4


@dataclass(frozen=True, slots=True)
class Event:
    """`op` on `qp`, and what the model says; what `op` does not need of `psn` and `window` may be anything."""

    qp: int
    psn: int
    arrival: Arrival
    op: Op = Op.RECORD
    window: int = 0


def standing(model: ReceiveWindow) -> Arrival:
    """Where the window stands, as an event that is about no PSN shows it."""
    head = (model.cack_psn + 1) % PSN_SPACE
    return Arrival(ArrivalClass.BELOW, model.cack_psn, model.ooo_count, 1, model.bitmap(head))


def set_up(qp: int, model: ReceiveWindow) -> Event:
    """`qp` starts anew, as the untouched `model` stands."""
    return Event(qp, (model.cack_psn + 1) % PSN_SPACE, standing(model), Op.SET_UP, model.window)


def peek(qp: int, psn: int, model: ReceiveWindow) -> Event:
    """What `psn` would be, with the SACK that it would draw."""
    base = model.sack_base(psn)
    offset = (base - model.cack_psn) % PSN_SPACE
    seen = Arrival(model.classify(psn), model.cack_psn, model.ooo_count, offset, model.bitmap(base))
    return Event(qp, psn, seen, Op.PEEK)


class QpTraffic:
    """PSNs of one QP, planned a pattern at a time from where its window stands."""

    def __init__(self, rng: random.Random, model: ReceiveWindow, largest: int) -> None:
        """`largest` is the largest window that the tracker can have."""
        self.rng = rng
        self.model = model
        self.largest = largest
        self.plan: deque[int] = deque()
        if rng.random() < 0.3:
            self.plan.extend(psn % PSN_SPACE for psn in self.fresh())

    def event(self, qp: int) -> Event:
        """What comes next: a PSN, sometimes a question before it, seldom another size of the window."""
        rng, model = self.rng, self.model
        while not self.plan:
            pattern = rng.choice(self.PATTERNS)
            self.plan.extend(psn % PSN_SPACE for psn in pattern(self))
        if rng.random() < 0.06:
            psn = self.plan[0] if rng.random() < 0.5 else (self.head + rng.randint(-3, model.window + 2)) % PSN_SPACE
            kind = rng.random()
            if kind < 0.7:
                return peek(qp, psn, model)
            if kind < 0.95:
                return Event(qp, psn, standing(model), Op.HEAD, rng.randrange(self.largest))
            model.window = window_in_use(rng, self.largest)
            return Event(qp, psn, standing(model), Op.RESIZE, model.window)
        psn = self.plan.popleft()
        return Event(qp, psn, model.receive(psn))

    def fresh(self) -> Iterator[int]:
        """Of a QP just set up: the rest of head's word, the start of a word never written, some noise, then head."""
        head = self.head
        following = head - head % WORD + WORD
        yield from range(head + 1, following)
        for place in range(self.rng.choice([1, 1, 2])):
            yield following + place
        for _ in range(self.rng.randint(0, 8)):
            yield head - 1
        yield head

    @property
    def head(self) -> int:
        return self.model.cack_psn + 1

    def span(self, most: int) -> int:
        """A number of PSNs up to `most` and the window, small ones more often."""
        most = min(most, self.model.window)
        return self.rng.randint(1, most if self.rng.random() < 0.3 else min(most, 12))

    def in_order(self) -> Iterator[int]:
        yield from range(self.head, self.head + self.span(3 * WORD))

    def reversed(self) -> Iterator[int]:
        n = self.span(3 * WORD)
        yield from range(self.head + n - 1, self.head - 1, -1)

    def shuffled(self) -> Iterator[int]:
        """Some PSNs in any order, a few of them lost, then the lost ones."""
        head, n = self.head, self.span(300)
        psns = list(range(head, head + n))
        self.rng.shuffle(psns)
        lost = psns[: self.rng.choice([0, 0, 1, n // 8])]
        yield from psns[len(lost) :]
        if self.rng.random() < 0.7:
            yield from sorted(lost)

    def crowded(self) -> Iterator[int]:
        """A few places around head again and again, so that each event hits what those before it left."""
        head, width = self.head, self.rng.choice([2, 3, 5, 9])
        for _ in range(self.rng.randint(4, 40)):
            yield head + self.rng.randint(-2, width)

    def pointer_chase(self) -> Iterator[int]:
        """One hole in each of many words, then the holes, one a clock: head jumps a word each time."""
        head, window = self.head, self.model.window
        most = 64 if self.rng.random() < 0.3 else 8
        words = self.rng.randint(2, max(2, min(window // WORD, most)))
        n = min(words * WORD, window)
        start = -(head % WORD)  # the words of the memory, which head may stand in the middle of
        places = [self.rng.choice([0, 1, 31, 62, 63, self.rng.randrange(WORD)]) for _ in range(words)]
        holes = [start + WORD * word + place for word, place in enumerate(places)]
        holes = [hole for hole in holes if 0 <= hole < n]
        yield from (head + i for i in range(n) if i not in holes)
        order = self.rng.choice(["up", "down", "any"])
        if order == "down":
            holes.reverse()
        elif order == "any":
            self.rng.shuffle(holes)
        yield from (head + hole for hole in holes)

    def long_jump(self) -> Iterator[int]:
        """All but head, then head: cack moves past the run at once; what follows lies at the new window's edges."""
        head, window = self.head, self.model.window
        n = window if self.rng.random() < 0.5 else self.rng.randint(1, window)
        yield from range(head + 1, head + n)
        yield head
        after = [0, 1, 2, window - 1, window, window + 1, -1, -n, self.rng.randrange(window)]
        for _ in range(self.rng.randint(0, 12)):
            yield head + n + self.rng.choice(after)

    def closing(self) -> Iterator[int]:
        """A full window with a few holes left; they close in turn, and between them comes what each lets in on top."""
        head, window = self.head, self.model.window
        ends = [place for place in range(window) if (head + place) % WORD in (0, 63)]
        holes = sorted({0, *(self.rng.choice([*ends, window - 1, self.rng.randrange(window)]) for _ in range(3))})
        yield from (head + place for place in range(window) if place not in holes)
        top = head + window
        for hole in holes:
            yield head + hole
            for _ in range(self.rng.choice([0, 1, 1, 2])):
                yield top
                top += 1

    def edges(self) -> Iterator[int]:
        window = self.model.window
        near = [-window, -2, -1, 0, 1, 63, 64, 65, window - 1, window, window + 1]
        far = [-HALF - 1, -HALF, -HALF + 1, HALF - 2, HALF - 1, HALF]
        for _ in range(self.rng.randint(1, 6)):
            yield self.head + self.rng.choice([*near, *far])

    def anywhere(self) -> Iterator[int]:
        for _ in range(self.span(30)):
            yield self.head + self.rng.randrange(-2 * WORD, self.model.window + WORD)

    def top_down(self) -> Iterator[int]:
        """The window's upper end, word by word from above."""
        head, window = self.head, self.model.window
        for psn in range(head + window - 1, head + max(0, window - self.span(3 * WORD)) - 1, -1):
            yield psn
            if self.rng.random() < 0.1:
                yield psn

    PATTERNS = (
        *(in_order, in_order, shuffled, shuffled, crowded, crowded),
        *(reversed, pointer_chase, long_jump, closing, edges, anywhere, top_down),
    )


def first_psn(rng: random.Random) -> int:
    """Half of the QPs start where 24 bits are about to wrap."""
    return (-rng.choice([1, 3, 64, 65, 200])) % PSN_SPACE if rng.random() < 0.5 else rng.randrange(PSN_SPACE)


def window_in_use(rng: random.Random, largest: int) -> int:
    if rng.random() < 0.6:
        return largest
    return rng.choice([1, 2, 63, 64, largest // 2, largest - 1, rng.randint(1, largest)])


def mixed(seed: int, qps: int, window: int, packets: int, model: Model = ReceiveWindow) -> list[Event]:
    """`packets` packets over many QPs, set up now and then: one QP back to back, a few in turn, all at random."""
    rng = random.Random(seed)
    traffic: dict[int, QpTraffic] = {}
    items: list[Event] = []

    def setup(qp: int) -> None:
        first, used = first_psn(rng), window_in_use(rng, window)
        traffic[qp] = QpTraffic(rng, model(used, first), window)
        items.append(set_up(qp, traffic[qp].model))

    sent = 0
    while sent < packets:
        active = [rng.randrange(qps) for _ in range(rng.choice([1, 1, 1, 2, 3, 4, 8, qps]))]
        for qp in active:
            if qp not in traffic or rng.random() < 0.02:
                setup(qp)
        in_turn = rng.random() < 0.5
        for i in range(min(packets - sent, rng.choice([20, 200, 1000]) * min(len(active), 4))):
            qp = active[i % len(active)] if in_turn else rng.choice(active)
            if rng.random() < 0.002:
                setup(qp)
            items.append(traffic[qp].event(qp))
            sent += 1
    return items


def one_qp(seed: int, window: int, packets: int) -> list[Event]:
    """One QP back to back: the case that SAME_QP_INTERVAL is about."""
    rng = random.Random(seed)
    first = first_psn(rng)
    traffic = QpTraffic(rng, ReceiveWindow(window, first), window)
    return [set_up(5, traffic.model), *(traffic.event(5) for _ in range(packets))]


def in_turn(seed: int, qps: int, window: int, packets: int) -> list[Event]:
    """`qps` QPs, one after the other, so that no QP comes twice within an interval of 2."""
    rng = random.Random(seed)
    items: list[Event] = []
    traffic = []
    for qp in range(qps):
        first = first_psn(rng)
        traffic.append(QpTraffic(rng, ReceiveWindow(window, first), window))
        items.append(set_up(qp, traffic[qp].model))
    items += (traffic[i % qps].event(i % qps) for i in range(packets))
    return items


class Timed:
    """Pairs of PSNs that matter to each other, at every distance that the pipeline can hold.

    Each round brings QP 0 into a state, sends one PSN, a number of QP 1's, and the other one, and then closes what is
    left, which shows whether the second knew of the first.
    """

    DISTANCES = range(1, 12)
    QUIET = 14  # PSNs of the other QP that empty the pipeline
    CASES = (
        *("touch", "complete", "complete behind full words", "same word", "first hole", "repeat", "top"),
        *("peek before", "peek behind"),
    )

    def __init__(self, seed: int, largest: int) -> None:
        self.rng = random.Random(seed)
        self.largest = largest
        self.other = QpTraffic(self.rng, ReceiveWindow(largest, 0), largest)
        self.items = [set_up(1, self.other.model)]
        self.model = ReceiveWindow(1, 0)

    def setup(self, window: int, place: int | None = None) -> None:
        """Start QP 0 anew; with `place`, head is that bit of its word."""
        first = first_psn(self.rng)
        if place is not None:
            first += place - first % WORD
        self.model = ReceiveWindow(window, first)
        self.items.append(set_up(0, self.model))

    def send(self, psns: Iterable[int]) -> None:
        self.items += (Event(0, psn % PSN_SPACE, self.model.receive(psn % PSN_SPACE)) for psn in psns)

    def peek(self, psn: int) -> None:
        self.items.append(peek(0, psn % PSN_SPACE, self.model))

    def fill(self, count: int) -> None:
        self.items += (self.other.event(1) for _ in range(count))

    def round(self, case: str, distance: int) -> None:
        rng, top = self.rng, case == "top"
        window = min(self.largest, self.largest if top else 256)
        if top:
            self.setup(window, rng.choice([0, 62, 63, 63]))
        elif case == "touch" or self.model.window != window or rng.random() < 0.5:
            self.setup(window)
        head = self.model.cack_psn + 1
        end = head + window
        words = [range(max(head, word), min(word + WORD, end)) for word in range(head - head % WORD, end, WORD)]
        a, b, c = words[0], words[1], words[-2 if len(words) > 3 else -1]
        inside = rng.choice([b[0], b[-1], rng.choice(b)])
        if case == "touch":
            holes, first, second = {head, *b, *c}, b[0], head
        elif case == "complete":
            holes, first, second = {head, inside, c[0]}, inside, head
        elif case == "complete behind full words":
            holes, first, second = {head, c[0], end - 1}, c[0], head
        elif case == "same word":
            hole = rng.choice(a)
            holes, first, second = {head, hole, inside}, hole, head
        elif case == "first hole":
            early, late = sorted(rng.sample(b, 2)) if len(b) > 1 else (b[0], b[0])
            holes, first, second = {head, early, late, c[-1]}, early, late
        elif case in ("repeat", "peek before", "peek behind"):
            inside = rng.choice([head, inside])
            holes, first, second = {head, inside}, inside, inside
        else:
            holes, first, second = {head, inside}, head, end
        self.send(psn for psn in range(head, end) if psn not in holes)
        self.fill(self.QUIET)
        if case == "peek before":
            self.peek(first)
        else:
            self.send([first])
        self.fill(distance - 1)
        if case == "peek behind":
            self.peek(second)
        else:
            self.send([second])
        if top:
            self.fill(rng.randrange(3))
            self.send([inside])  # head's next hole is now the one that was on top
        self.fill(self.QUIET)
        self.send([*sorted(holes), first, second, end, end + 1])

    def all(self, times: int) -> list[Event]:
        """Every case at every distance, `times` times."""
        for case in self.CASES:
            if case != "top" or self.largest <= 2 * WORD:  # filling a larger ring each time takes too long
                for distance in self.DISTANCES:
                    for _ in range(times):
                        self.round(case, distance)
        return self.items


def with_set_ups(seed: int, largest: int, packets: int) -> tuple[list[Event], list[Event]]:
    """Set-ups of 16 QPs, and then packets of them in turn, where each 50th packet is its QP's first after a new one."""
    rng = random.Random(seed)
    setups: list[Event] = []
    models: dict[int, ReceiveWindow] = {}
    items: list[Event] = []

    def setup(qp: int, into: list[Event]) -> None:
        models[qp] = ReceiveWindow(largest, first_psn(rng))
        into.append(set_up(qp, models[qp]))

    for qp in range(16):
        setup(qp, setups)
    for number in range(packets):
        qp = number % 16
        if number % 50 == 25:
            setup(qp, items)
        psn = (models[qp].cack_psn + rng.randint(1, 3)) % PSN_SPACE
        items.append(Event(qp, psn, models[qp].receive(psn)))
    return setups, items


def edge_walk(qp: int, first: int, window: int) -> list[Event]:
    """Jumps to the window's edges and to half the number space, from where it starts and from where they lead."""
    model = ReceiveWindow(window, first)
    items = [set_up(qp, model)]
    jumps = [window - 1, window, window + 1, HALF - 2, HALF - 1, HALF, HALF + 1, -1, -window, 63, 64, 65, window]
    for _ in range(3):
        head = model.cack_psn + 1
        psns = [head + jump for jump in [*jumps, *range(min(window, 70))]]
        items += (Event(qp, psn % PSN_SPACE, model.receive(psn % PSN_SPACE)) for psn in psns)
    return items


def whole_windows(qp: int, first: int, window: int, times: int) -> list[Event]:
    """`times` windows in full, each with its first PSN last, so that cack passes all of it at once."""
    model = ReceiveWindow(window, first)
    items = [set_up(qp, model)]
    for start in range(first, first + times * window, window):
        psns = [*range(start + 1, start + window), start]
        items += (Event(qp, psn % PSN_SPACE, model.receive(psn % PSN_SPACE)) for psn in psns)
    return items
