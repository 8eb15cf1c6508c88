"""Test bench of mrc_psn_tracker: clock, reset, driver and monitor, in lock-step with the golden model.

One integer is written and one value read in each clock (`hdl/mrc_psn_tracker_bench.sv` packs the ports), which keeps a
Python bench at tens of thousands of clocks a second.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.psn_traffic import Event
from pymodel.nic.receive_window import ArrivalClass

EV_VALID, RES_READY = 1 << 59, 1 << 60
RES_VALID, EV_READY = 1 << 170, 1 << 171
RESULT = RES_VALID - 1
PSN_MASK = (1 << 24) - 1
CLOCK_NS = 4


def packed_result(event: Event) -> int:
    """The bits of `sense` that the tracker must show for `event`."""
    arrival = event.arrival
    base = (arrival.cack_psn + arrival.base_offset) & PSN_MASK
    fields = arrival.bitmap | base << 64 | arrival.cack_psn << 88 | event.psn << 112 | event.qp << 136
    return fields | arrival.ooo_count << 152 | int(arrival.kind) << 168


def result_text(sense: int) -> str:
    """The result that `sense` shows, for a person."""
    kind = ArrivalClass((sense >> 168) & 3).name
    base, cack, psn = ((sense >> low) & PSN_MASK for low in (64, 88, 112))
    qp, ooo_count = ((sense >> low) & 0xFFFF for low in (136, 152))
    bitmap = sense & ((1 << 64) - 1)
    return f"qp {qp} psn {psn:#x} {kind} cack {cack:#x} ooo {ooo_count} base {base:#x} bitmap {bitmap:#018x}"


class TB:
    """Drives events, takes results, compares every one."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.clocks = 0
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        self.dut.drive.value = self._junk(None)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        await RisingEdge(self.dut.clk)

    async def run(self, items: Sequence[Event], idle: float = 0.0, stall: float = 0.0) -> list[tuple[int, int]]:
        """Offer `items` in order and compare each result with the model's.

        `idle` and `stall` are the probabilities that a clock without an offer follows an accepted item, and that the
        result's taker is not ready; both come in bursts. Returns for each item the clock in which it was accepted and
        the clock in which its result was taken.
        """
        rng, edge, sense_port, drive_port = self.rng, RisingEdge(self.dut.clk), self.dut.sense, self.dut.drive
        expected = [packed_result(item) for item in items]
        accepted: list[int] = []
        taken: list[int] = []
        position = 0  # of the first item that is not yet offered
        offer: Event | None = None
        resting = stalling = False
        limit = self.clocks + 40 * len(items) + 1000
        drive = 0
        while len(taken) < len(expected):
            await edge
            self.clocks += 1
            assert self.clocks < limit, f"stuck after {len(taken)} of {len(expected)} results"
            sense = int(sense_port.value)
            if offer and sense & EV_READY:
                offer = None
                accepted.append(self.clocks)
                resting = rng.random() < idle
            if sense & RES_VALID and drive & RES_READY:
                assert len(taken) < len(accepted), f"a result that no event asked for: {result_text(sense)}"
                want = expected[len(taken)]
                if sense & RESULT != want:
                    shown, said = result_text(sense), result_text(want)
                    raise AssertionError(f"result {len(taken)}:\n rtl   {shown}\n model {said}")
                taken.append(self.clocks)

            if resting:
                resting = rng.random() < 0.7 * idle + 0.2
            elif not offer and position < len(items):
                offer = items[position]
                position += 1
            stalling = rng.random() < (0.7 if stalling else stall) if stall else False
            drive = self._junk(offer) | (0 if stalling else RES_READY)
            drive_port.value = drive
        return list(zip(accepted, taken, strict=True))

    def _junk(self, offer: Event | None) -> int:
        """The drive vector; a line without an offer carries other bits in every clock."""
        if offer:
            return EV_VALID | offer.op << 56 | offer.window << 40 | offer.qp << 24 | offer.psn
        return self.rng.getrandbits(59)
