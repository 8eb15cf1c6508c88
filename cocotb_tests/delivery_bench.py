"""Test bench of mrc_delivery: clock, reset, driver and monitors, in lock-step with the golden model."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.delivery_traffic import Event, Op, State

CLOCK_NS = 4
META_BITS = 16
EV_VALID, RES_READY, CQE_READY = 1 << 224, 1 << 225, 1 << 226
RES_VALID, CQE_VALID, EV_READY = 1 << 189, 1 << 190, 1 << 191
EVENT_BITS = 208


def packed_event(event: Event, rng: random.Random) -> int:
    """The bits of delivery_event_t, those that nobody looks at filled with junk."""
    fields: list[tuple[int, int | None]] = [
        (3, event.op),
        (16, event.qp),
        (24, event.write.psn if event.write else None),
        (24, event.cack),
        (1, event.is_new if event.write else None),
        (1, event.recorded if event.write else None),
        (1, event.syndrome is not None if event.write else None),
        (8, event.syndrome),
        (1, event.write.last if event.write else None),
        (1, event.write.immediate is not None if event.write else None),
        (16, event.write.msn if event.write else None),
        (16, event.write.rqmsn if event.write else None),
        (32, event.write.immediate if event.write else None),
        (32, event.write.dma_length if event.write else None),
        (16, event.wimm),
        (16, event.value),
    ]
    packed = 0
    for width, value in fields:
        packed = packed << width | (rng.getrandbits(width) if value is None else value)
    return packed


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as the delivery shows it."""

    qp: int
    state: State
    fault: bool
    placed: bool
    nak: tuple[int, int]
    completed: int
    meta: int


def shown_result(sense: int) -> Shown:
    """The result that `sense` shows."""
    return Shown(
        qp=sense >> 60 & 0xFFFF,
        state=State(sense >> 58 & 3),
        fault=bool(sense >> 57 & 1),
        placed=bool(sense >> 56 & 1),
        nak=(sense >> 48 & 0xFF, sense >> 24 & 0xFFFFFF),
        completed=sense & 0xFFFFFF,
        meta=sense >> 76 & 0xFFFF,
    )


def shown_completion(sense: int) -> tuple[int, bool, int, int, int]:
    """The completion that `sense` shows: QP, flushed, receive, bytes, immediate."""
    cqe = sense >> 92
    return cqe >> 81 & 0xFFFF, bool(cqe >> 80 & 1), cqe >> 64 & 0xFFFF, cqe >> 32 & 0xFFFFFFFF, cqe & 0xFFFFFFFF


class TB:
    """Drives events, takes results and completions, compares every one."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.clocks = 0
        self.made: defaultdict[int, deque[tuple[int, bool, int, int, int]]] = defaultdict(deque)
        """Completions that must come, of each QP."""
        self.taken: list[tuple[int, int]] = []
        """QP and clock of each completion taken."""
        self.held = 0
        self.completed: defaultdict[int, int] = defaultdict(int)
        self.next_receive: defaultdict[int, int] = defaultdict(int)
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        self.made.clear()
        self.dut.drive.value = self.rng.getrandbits(224)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        await RisingEdge(self.dut.clk)

    async def run(
        self,
        items: Sequence[Event],
        idle: float = 0.0,
        stall: float = 0.0,
        cqe_stall: float = 0.0,
        exact: bool = True,
        patience: int = 0,
    ) -> list[tuple[int, int]]:
        """Offer `items` in order; compare each result, and the completions of each QP in their order.

        `idle`, `stall` and `cqe_stall` are chances, in bursts, of a clock without an offer and of a taker that is not
        ready. Without `exact` the model is not asked: peers contradict themselves. With `patience` nobody takes a
        completion until so many clocks in a row took nothing at all; `held` is the number of items accepted by then.
        Returns the clocks in which each item was accepted and its result taken.
        """
        rng, edge, sense_port, drive_port = self.rng, RisingEdge(self.dut.clk), self.dut.sense, self.dut.drive
        accepted: list[int] = []
        answered: list[int] = []
        flags = 0
        drive = 0
        resting = stalling = cqe_stalling = False
        offer: Event | None = None
        last = self.clocks
        while len(answered) < len(items) or any(self.made.values()):
            await edge
            self.clocks += 1
            sense = int(sense_port.value)
            if offer and sense & EV_READY:
                accepted.append(self.clocks)
                if exact:
                    self._expect(offer)
                offer = None
                last = self.clocks
                resting = rng.random() < idle
            if sense & RES_VALID and flags & RES_READY:
                self._compare(sense, items[len(answered)], len(answered), exact)
                answered.append(self.clocks)
                last = self.clocks
            if sense & CQE_VALID and flags & CQE_READY:
                self._complete(sense, exact)
                last = self.clocks
            if patience and self.clocks - last > patience:
                patience, self.held = 0, len(accepted)
            assert self.clocks - last < 20_000, f"stuck after {len(answered)} of {len(items)} results"

            if resting:
                resting = rng.random() < 0.7 * idle + 0.2
            elif not offer and len(accepted) < len(items):
                offer = items[len(accepted)]
                drive = packed_event(offer, rng) | (len(accepted) & 0xFFFF) << EVENT_BITS | EV_VALID
            if not offer:
                drive = rng.getrandbits(224)
            stalling = rng.random() < (0.7 if stalling else stall) if stall else False
            cqe_stalling = rng.random() < max(cqe_stall, 0.7) if cqe_stalling else rng.random() < cqe_stall
            flags = (0 if stalling else RES_READY) | (0 if cqe_stalling or patience else CQE_READY)
            drive_port.value = drive | flags
        drive_port.value = rng.getrandbits(224)
        return list(zip(accepted, answered, strict=True))

    async def drain(self, clocks: int) -> None:
        """Take what comes for `clocks` clocks, unseen."""
        for _ in range(clocks):
            self.dut.drive.value = self.rng.getrandbits(224) | RES_READY | CQE_READY
            await RisingEdge(self.dut.clk)
            self.clocks += 1

    def _expect(self, event: Event) -> None:
        for made in event.completions:
            if isinstance(made, tuple):
                self.made[event.qp].append((event.qp, False, *made))
            else:
                self.made[event.qp].append((event.qp, True, made, 0, 0))

    def _compare(self, sense: int, event: Event, number: int, exact: bool) -> None:
        shown, want = shown_result(sense), event.result
        assert shown.meta == number & 0xFFFF, f"result {number} came with {shown.meta}"
        assert shown.qp == event.qp, f"result {number}: of QP {shown.qp}, not {event.qp}"
        if not exact:
            if event.op in (Op.RESET, Op.READY):
                self.completed[event.qp] = 0
            assert (shown.completed - self.completed[event.qp]) & 0xFFFFFF < 1 << 15, f"result {number} moves back"
            self.completed[event.qp] = shown.completed
            return
        said = want.nak if want.nak is not None else shown.nak
        model = Shown(event.qp, want.state, want.fault, want.placed, said, want.completed, shown.meta)
        assert shown == model, f"result {number}, {event}:\n rtl   {shown}\n model {model}"

    def _complete(self, sense: int, exact: bool) -> None:
        shown = shown_completion(sense)
        self.taken.append((shown[0], self.clocks))
        if not exact:
            assert shown[2] == self.next_receive[shown[0]], f"completion {shown} out of order"
            self.next_receive[shown[0]] = shown[2] + 1 & 0xFFFF
        if exact:
            queue = self.made[shown[0]]
            want = queue.popleft() if queue else None
            assert shown == want, f"completion (QP, flushed, receive, bytes, immediate):\n rtl   {shown}\n model {want}"
