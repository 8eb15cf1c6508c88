"""mrc_ram against a dict: a row comes one enabled clock after its address, as it was before a write in that clock."""

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
async def reads_first(dut: Any) -> None:
    """Few rows, so that many writes meet the read of their row; while it is disabled, the output stays."""
    rng = random.Random(options()["seed"])
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    rows: dict[int, int] = {}
    shown: int | None = None  # undefined until a written row was read
    met = 0
    for _ in range(4000):
        await FallingEdge(dut.clk_i)
        if shown is not None:
            assert int(dut.rdata_o.value) == shown
        enabled, writes = rng.random() < 0.8, rng.random() < 0.6
        address, row, value = rng.randrange(DEPTH), rng.randrange(DEPTH), rng.getrandbits(WIDTH)
        dut.en_i.value, dut.we_i.value = enabled, writes
        dut.raddr_i.value, dut.waddr_i.value, dut.wdata_i.value = address, row, value
        if enabled:
            shown = rows.get(address)
            if writes:
                met += row == address
                rows[row] = value
    assert met > 200


@pytest.mark.rtl
@pytest.mark.slow
def test_reads_first(tmp_path: Path) -> None:
    design = Design("mrc_ram", ("rtl_models/common/mrc_ram.sv",), {"DEPTH": DEPTH, "WIDTH": WIDTH})
    simulate(build(design), "cocotb_tests.test_mrc_ram", tmp_path, {}, seed=3)
