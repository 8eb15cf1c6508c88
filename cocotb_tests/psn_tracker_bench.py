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

from cocotb_tests.psn_traffic import Item, Packet, Setup
from pymodel.nic.receive_window import ArrivalClass

EV_VALID, INIT_VALID, RES_READY = 1 << 96, 1 << 97, 1 << 98
RES_VALID, EV_READY, INIT_READY = 1 << 170, 1 << 171, 1 << 172
EV_PAYLOAD = (1 << 40) - 1
INIT_PAYLOAD = ((1 << 56) - 1) << 40
RESULT = RES_VALID - 1
PSN_MASK = (1 << 24) - 1
CLOCK_NS = 4


def packed_result(packet: Packet) -> int:
    """The bits of `sense` that the tracker must show for `packet`."""
    arrival = packet.arrival
    base = (arrival.cack_psn + arrival.base_offset) & PSN_MASK
    fields = arrival.bitmap | base << 64 | arrival.cack_psn << 88 | packet.psn << 112 | packet.qp << 136
    return fields | arrival.ooo_count << 152 | int(arrival.kind) << 168


def result_text(sense: int) -> str:
    """The result that `sense` shows, for a person."""
    kind = ArrivalClass((sense >> 168) & 3).name
    base, cack, psn = ((sense >> low) & PSN_MASK for low in (64, 88, 112))
    qp, ooo_count = ((sense >> low) & 0xFFFF for low in (136, 152))
    bitmap = sense & ((1 << 64) - 1)
    return f"qp {qp} psn {psn:#x} {kind} cack {cack:#x} ooo {ooo_count} base {base:#x} bitmap {bitmap:#018x}"


class TB:
    """Drives set-ups and PSNs, takes results, compares every one."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.clocks = 0
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        self.dut.drive.value = self.rng.getrandbits(96)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        await RisingEdge(self.dut.clk)

    async def pause(self, clocks: int) -> None:
        """Let `clocks` pass with nothing offered."""
        for _ in range(clocks):
            self.dut.drive.value = self._junk(None, None) | RES_READY
            await RisingEdge(self.dut.clk)
            self.clocks += 1

    async def run(self, items: Sequence[Item], idle: float = 0.0, stall: float = 0.0) -> list[tuple[int, int]]:
        """Offer `items` in order and compare each result with the model's.

        `idle` and `stall` are the probabilities that a clock without an offer follows an accepted item, and that the
        result's taker is not ready; both come in bursts. Returns for each packet the clock in which it was accepted
        and the clock in which its result was taken.
        """
        rng, edge, sense_port, drive_port = self.rng, RisingEdge(self.dut.clk), self.dut.sense, self.dut.drive
        expected = [packed_result(item) for item in items if isinstance(item, Packet)]
        accepted: list[int] = []
        taken: list[int] = []
        position = 0  # of the first item that is not yet accepted
        offer: Packet | None = None
        setup: Setup | None = None
        resting = stalling = False
        limit = self.clocks + 40 * len(items) + 1000
        drive = 0
        while position < len(items) or offer or setup or len(taken) < len(expected):
            await edge
            self.clocks += 1
            assert self.clocks < limit, f"stuck after {len(taken)} of {len(expected)} results"
            sense = int(sense_port.value)
            if setup and sense & INIT_READY:
                setup = None
                resting = rng.random() < idle
            if offer and sense & EV_READY:
                offer = None
                accepted.append(self.clocks)
                resting = rng.random() < idle
            if sense & RES_VALID and drive & RES_READY:
                want = expected[len(taken)]
                if sense & RESULT != want:
                    shown, said = result_text(sense), result_text(want)
                    raise AssertionError(f"result {len(taken)}:\n rtl   {shown}\n model {said}")
                taken.append(self.clocks)

            # What comes next is offered beside a set-up that waits, unless it is of the same QP.
            if resting:
                resting = rng.random() < 0.7 * idle + 0.2
            else:
                while position < len(items):
                    item = items[position]
                    if isinstance(item, Setup):
                        if setup or offer:
                            break
                        setup = item
                    elif offer or (setup and setup.qp == item.qp):
                        break
                    else:
                        offer = item
                    position += 1
            stalling = rng.random() < (0.7 if stalling else stall) if stall else False
            drive = self._junk(offer, setup) | (0 if stalling else RES_READY)
            drive_port.value = drive
        return list(zip(accepted, taken, strict=True))

    def _junk(self, offer: Packet | None, setup: Setup | None) -> int:
        """The drive vector; a line without an offer carries other bits in every clock."""
        drive = 0
        if offer:
            drive |= EV_VALID | offer.qp << 24 | offer.psn
        else:
            drive |= self.rng.getrandbits(40)
        if setup:
            drive |= INIT_VALID | setup.window << 80 | setup.qp << 64 | setup.first_psn << 40
        else:
            drive |= self.rng.getrandbits(56) << 40
        return drive
