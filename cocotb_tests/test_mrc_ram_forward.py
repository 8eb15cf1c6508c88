"""mrc_ram_forward against a dict: a read shows every write presented up to the clock in which it comes out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import options, simulate

DEPTH, WIDTH = 5, 9


@cocotb.test()
async def newest_write_wins(dut: Any) -> None:
    """Few rows, so that nearly every read meets writes before, with, one and two clocks after its address."""
    rng = random.Random(options()["seed"])
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    rows: dict[int, int] = {}
    reads: list[int] = []  # addresses of the enabled clocks, the newest last
    distances = dict.fromkeys(range(3), 0)
    for _ in range(6000):
        await FallingEdge(dut.clk_i)
        enabled, writes = rng.random() < 0.8, rng.random() < 0.7
        address, row, value = rng.randrange(DEPTH), rng.randrange(DEPTH), rng.getrandbits(WIDTH)
        dut.en_i.value, dut.we_i.value = enabled, writes
        dut.raddr_i.value, dut.waddr_i.value, dut.wdata_i.value = address, row, value
        await cocotb.triggers.Timer(1, "ns")
        if len(reads) >= 2:  # what was addressed two enabled clocks ago is out, this clock's write included
            shown = value if writes and row == reads[-2] else rows.get(reads[-2])
            if shown is not None:
                assert int(dut.rdata_o.value) == shown
        if enabled:
            reads.append(address)
            if writes:
                rows[row] = value
                for distance in range(min(3, len(reads))):
                    distances[distance] += reads[-1 - distance] == row
    assert min(distances.values()) > 300


@pytest.mark.rtl
@pytest.mark.slow
def test_newest_write_wins(tmp_path: Path) -> None:
    sources = ("rtl_models/common/mrc_ram.sv", "rtl_models/common/mrc_ram_forward.sv")
    design = Design("mrc_ram_forward", sources, {"DEPTH": DEPTH, "WIDTH": WIDTH})
    simulate(build(design), "cocotb_tests.test_mrc_ram_forward", tmp_path, {}, seed=3)
