"""mrc_arbiter: one grant among the requests, which stands until taken; nobody waits for more than N - 1 others."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import options, simulate


@cocotb.test()
@cocotb.parametrize(asks=[0.05, 0.5, 1.0], takes=[0.3, 1.0])
async def everyone_has_a_turn(dut: Any, asks: float, takes: float) -> None:
    n = options()["n"]
    rng = random.Random(f"{n} {asks} {takes}")
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    dut.rst_ni.value = dut.request_i.value = dut.taken_i.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    waiting = [0] * n  # takes since the request rose
    grants = [0] * n
    requests, standing = 0, None
    for _ in range(3000):
        await FallingEdge(dut.clk_i)
        requests |= sum((rng.random() < asks) << k for k in range(n))
        taken = rng.random() < takes
        dut.request_i.value, dut.taken_i.value = requests, taken
        await Timer(1, "ns")
        assert int(dut.valid_o.value) == (requests != 0)
        grant, index = int(dut.grant_o.value), int(dut.index_o.value)
        if not requests:
            assert grant == index == 0
            continue
        assert grant == 1 << index
        assert grant & requests
        assert standing in (None, index)
        standing = index
        if taken:
            standing = None
            for k in range(n):
                waiting[k] += requests >> k & 1 and k != index
            waiting[index] = 0
            assert max(waiting) < n
            requests &= ~grant
            grants[index] += 1
    assert min(grants) * 2 > max(grants) > 0


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 8])
def test_everyone_has_a_turn(n: int, tmp_path: Path) -> None:
    design = Design("mrc_arbiter", ("rtl_models/common/mrc_arbiter.sv",), {"N": n})
    simulate(build(design), "cocotb_tests.test_mrc_arbiter", tmp_path, {"n": n})
