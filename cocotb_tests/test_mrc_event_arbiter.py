"""mrc_event_arbiter: an event a clock, each source in its own order, nobody starves, the tap says what was accepted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.receive_rows import PORTS, EventKind
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build, read_file_list
from pymodel.rtl.simulate import simulate

TIMER, COMMAND, SOURCES = PORTS, PORTS + 1, PORTS + 2
NUMBER = 0xFFFF
# Positions in `drive`
_VALID, _COMMAND_NUMBER, _COMMAND = 128, 136, 152
_TIMER_NUMBER, _TIMER, _EVENT_READY = 153, 169, 170
# Positions in `sense`
_TAP_VALID, _READY, _NUMBER, _QP, _NOW, _PORT, _KIND, _EVENT_VALID = 53, 54, 64, 80, 96, 128, 131, 133


class TB:
    """Offers numbered words and keeps account of what is accepted, in which clock."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        Clock(dut.clk, 4, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        self.dut.rst_n.value = 0
        await RisingEdge(self.dut.clk)
        self.dut.drive.value = self.rng.getrandbits(171)
        await Timer(40, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        self.dut.drive.value = 0
        await RisingEdge(self.dut.clk)

    async def run(self, clocks: int, offers: list[float], stall: float = 0.0) -> list[list[int]]:
        """Run from reset and check; `offers` are the sources' chances to offer a word in a clock when they offer none.

        Returns for each source the numbers of its events in the order of all events.
        """
        await self.reset()
        rng, dut = self.rng, self.dut
        numbers, valid = [0] * SOURCES, [False] * SOURCES
        order: list[list[int]] = [[] for _ in range(SOURCES)]
        waits = [0] * SOURCES  # events of others since a word is offered
        pending: list[tuple[int, int]] = []  # accepted: source and number
        tapped: list[tuple[int, ...]] = []
        drive = events = 0
        for _ in range(clocks):
            await RisingEdge(dut.clk)
            sense = int(dut.sense.value)
            ready = sense >> _READY
            # A command learns a clock later that it was accepted, just when a word of another source may be.
            taken = [
                source
                for source in (COMMAND, *range(PORTS), TIMER)
                if valid[source] and ready >> {TIMER: PORTS + 1, COMMAND: PORTS}.get(source, source) & 1
            ]
            assert len(taken) <= 1 + (COMMAND in taken)
            for source in taken:
                pending.append((source, numbers[source]))
                for other in range(SOURCES):
                    if other != source and source != TIMER and valid[other]:
                        waits[other] += 1
                        assert waits[other] <= PORTS, f"source {other} starves"
                waits[source] = 0
                valid[source] = False
                numbers[source] = numbers[source] + 1 & NUMBER
            if sense >> _TAP_VALID & 1:
                tap = sense & (1 << _TAP_VALID) - 1
                tapped.append((tap >> 51, tap >> 48 & 7, tap & 0xFFFFFFFF))
                source, number = pending[len(tapped) - 1]
                kind = {TIMER: EventKind.TIMER, COMMAND: EventKind.COMMAND}.get(source, EventKind.FRAME)
                assert tapped[-1][0] == kind
                if source < PORTS:
                    assert tapped[-1][1] == source
                if source == TIMER:
                    assert tap >> 32 & 0xFFFF == number
            if sense >> _EVENT_VALID & 1 and drive >> _EVENT_READY & 1:
                source, number = pending[events]
                kind, port, now = sense >> _KIND & 3, sense >> _PORT & 7, sense >> _NOW & 0xFFFFFFFF
                # The tap comes no later than the event.
                assert (kind, now) == (tapped[events][0], tapped[events][2])
                if source < PORTS:
                    assert (port, sense >> _NUMBER & NUMBER) == (source, number)
                else:
                    assert sense >> _QP & NUMBER == number
                order[source].append(events)
                events += 1
            for source in range(SOURCES):
                valid[source] = valid[source] or rng.random() < offers[source]
            drive = (rng.random() >= stall) << _EVENT_READY
            for source in range(SOURCES):
                number = numbers[source] if valid[source] else rng.getrandbits(16)
                if source < PORTS:
                    drive |= valid[source] << _VALID + source | number << 16 * source
                elif source == TIMER:
                    drive |= valid[source] << _TIMER | number << _TIMER_NUMBER
                else:
                    drive |= valid[source] << _COMMAND | number << _COMMAND_NUMBER
            dut.drive.value = drive
        return order


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def random_offers(dut: Any, stall: float) -> None:
    """Each source's order is kept, whoever waits is next after at most one event of each other source."""
    tb = TB(dut, 1)
    for chance in (0.05, 0.3, 1.0):
        order = await tb.run(1500, [chance] * PORTS + [0.1, 0.1], stall)
        assert all(order)


@cocotb.test()
async def an_event_a_clock(dut: Any) -> None:
    """All offer always: an event in every clock, shared alike."""
    tb = TB(dut, 2)
    order = await tb.run(920, [1.0] * PORTS + [0.0, 1.0])
    counts = [len(each) for each in order]
    assert sum(counts) >= 915
    del counts[TIMER]
    assert max(counts) - min(counts) <= 1


@cocotb.test()
async def one_source_alone(dut: Any) -> None:
    """A source alone has every clock, and commands every second one."""
    tb = TB(dut, 3)
    for source in range(SOURCES):
        order = await tb.run(200, [float(other == source) for other in range(SOURCES)])
        assert len(order[source]) >= (98 if source == COMMAND else 196)


SOURCES_OF_IT = (
    *read_file_list(ROOT / "rtl_models" / "responder" / "mrc_event_arbiter.f"),
    "cocotb_tests/hdl/mrc_event_arbiter_bench.sv",
)


@pytest.mark.rtl
@pytest.mark.slow
def test_order_and_fairness(tmp_path: Path) -> None:
    built = build(Design("mrc_event_arbiter_bench", SOURCES_OF_IT))
    simulate(built, "cocotb_tests.test_mrc_event_arbiter", tmp_path, {})
