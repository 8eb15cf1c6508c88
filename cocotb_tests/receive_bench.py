"""Test bench of mrc_rx: plays rounds through `hdl/mrc_rx_bench.sv` and has each followed in the golden model.

Frames and software's operations go in as files and everything comes out as files, so that Python sleeps while a round
runs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import First, RisingEdge, Timer

from cocotb_tests.receive_files import Seen, write_round
from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_model import Follower
from cocotb_tests.receive_registers import NOTICES, Software, What
from cocotb_tests.receive_rows import QPS, Round
from pymodel.base.toolpath import ROOT
from pymodel.nic.config import DeviceConfig
from pymodel.rtl.build import COVERAGE_FOLDER, Build, Design, build, read_file_list

CLOCK_NS = 4
REST = 1600
"""Clocks without an event after which nothing more can come: more than any quiet timer and the pipeline take."""
_NOTICES_EVERY = 8
"""Commands after which notices are taken."""
_FRAMES_A_LOOK = 100
"""Frames, and clocks, after which notices are taken besides."""

SOURCES = tuple(
    source
    for files in ("rtl_models/top/mrc_rx.f", "cocotb_tests/hdl/mrc_rx_bench.f")
    for source in read_file_list(ROOT / files)
)
WINDOW = 1024


def bench(interval: int = 1, waves: bool = False) -> Build:
    """The receive side in its bench, with `interval` clocks between two events of a QP."""
    parameters = {"QPS": QPS, "WINDOW": WINDOW, "SAME_QP_INTERVAL": interval}
    return build(Design("mrc_rx_bench", SOURCES, parameters), waves)


class TB:
    """One receive side, from reset on."""

    def __init__(
        self,
        dut: Any,
        config: DeviceConfig,
        seed: int,
        golden: Callable[[DeviceConfig], Golden] = Golden,
        keep: bool = False,
    ) -> None:
        """`keep` leaves the files of rounds that passed where they are, in the simulator's folder."""
        self.dut = dut
        self.rng = random.Random(f"bench {seed}")
        self.config = config
        self.software = Software()
        self.follower = self._follower(golden)
        self.folder, self.keep = Path.cwd(), keep
        self.number = 0
        self.clocks = 0
        """Clocks of all rounds, from the first frame to the last event of each."""
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    def _follower(self, golden: Callable[[DeviceConfig], Golden]) -> Follower:
        # What a faulty model says is no coverage.
        if COVERAGE_FOLDER not in os.environ or golden is not Golden:
            return Follower(self.config, golden)
        from cocotb_tests.receive_coverage import CoveredFollower  # its points cost time

        return CoveredFollower(self.config, int(self.dut.SAME_QP_INTERVAL.value))

    async def reset(self) -> None:
        dut = self.dut
        for name in ("start", "stop", "run", "idle", "stall", "dma_stall", "rest", "limit"):
            getattr(dut, name).value = 0
        dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(dut.clk)
        dut.rst_n.value = 1
        self.software.settings(self.config)
        await self.play(Round())

    async def play(
        self,
        script: Round,
        *,
        idle: float = 0.0,
        stall: float = 0.0,
        dma_stall: float = 0.0,
        read: bool = False,
        follow: bool = True,
        rest: int = REST,
    ) -> Seen:
        """Play a round to its end and to rest, then follow it. AssertionError at a difference, or when it gets stuck.

        `idle` is the chance of a pause before each beat of a frame, `stall` and `dma_stall` that of an output to stop
        for some clocks. With `read` every counter is read at the end. Without `follow` nothing is compared.
        `rest` clocks without an event count as rest.
        """
        dut, number = self.dut, self.number
        self.number += 1
        for given, command in enumerate(script.commands):
            self.software.command(command)
            if given % _NOTICES_EVERY == 0:
                self.software.notices(2)
        for _ in range(script.count // _FRAMES_A_LOOK):
            self.software.add(What.PAUSE, _FRAMES_A_LOOK)
            self.software.notices(2)
        self.software.rest()
        self.software.notices(NOTICES + 4)
        if read:
            self.software.counters()
        write_round(self.folder, number, script, self.software.taken(), self.rng)
        dut.run.value = number
        dut.rest.value, dut.limit.value = rest, 40 * rest
        dut.idle.value, dut.stall.value, dut.dma_stall.value = (round(256 * p) for p in (idle, stall, dma_stall))
        dut.start.value = 1
        await RisingEdge(dut.clk)
        dut.start.value = 0
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        if not dut.done.value:
            await First(RisingEdge(dut.done), RisingEdge(dut.stuck))
        stuck = not dut.done.value
        self.clocks += int(dut.clocks.value)
        dut.stop.value = 1
        await RisingEdge(dut.clk)
        dut.stop.value = 0
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        seen = Seen(self.folder, number, self.software)
        if stuck:
            taken, tapped = sum(map(len, seen.trace.outcomes)), len(seen.trace.taps)
            raise AssertionError(
                f"stuck: {script.count} frames and {len(script.commands)} commands given, {taken} frames taken or"
                f" dropped, {tapped} events accepted"
            )
        self.follower.stalls = stall > 0
        if follow:
            self.follower.follow(script, seen.trace)
        if follow and read:
            self.follower.compare_counters(seen.counters)
        if not self.keep:
            seen.discard()
        return seen
