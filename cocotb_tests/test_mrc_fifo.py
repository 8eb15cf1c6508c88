"""mrc_fifo and mrc_stream_register: every word once, in order, a word a clock, nothing moves while the sink waits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from cocotb_tests.stream_bench import pass_words, start
from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import options, simulate

WIDTH = 16


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.4], stall=[0.0, 0.5, 0.9])
async def words_pass(dut: Any, idle: float, stall: float) -> None:
    rng = random.Random(1)
    await start(dut)
    passed = await pass_words(dut, WIDTH, [rng.getrandbits(WIDTH) for _ in range(500)], idle, stall)
    latencies = {out - went_in for went_in, out in passed}
    assert min(latencies) >= options()["latency"]
    if not idle and not stall:
        assert [went_in - passed[0][0] for went_in, _ in passed] == list(range(len(passed)))
    if not stall:
        assert latencies == {options()["latency"]}


@cocotb.test()
async def full_and_empty(dut: Any) -> None:
    """As many words go in as the depth says and no more; full, every take makes room for the next clock."""
    depth = options()["depth"]
    await start(dut)
    dut.valid_i.value = 1
    taken = 0
    for n in range(depth + 20):
        dut.data_i.value = n
        await RisingEdge(dut.clk_i)
        taken += int(dut.ready_o.value)
    assert taken == depth
    dut.ready_i.value = 1
    for _ in range(2 * depth + 20):
        await RisingEdge(dut.clk_i)
        taken += int(dut.ready_o.value)
    assert taken >= 2 * depth + 10  # it never runs dry, at whatever depth
    dut.valid_i.value = 0
    for _ in range(depth + 3):
        await RisingEdge(dut.clk_i)
    assert not int(dut.valid_o.value)
    assert int(dut.ready_o.value)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("depth", [4, 5, 64])
def test_fifo(depth: int, tmp_path: Path) -> None:
    sources = tuple(f"rtl_models/common/{name}.sv" for name in ("mrc_ram", "mrc_stream_assert", "mrc_fifo"))
    design = Design("mrc_fifo", sources, {"WIDTH": WIDTH, "DEPTH": depth})
    simulate(build(design), "cocotb_tests.test_mrc_fifo", tmp_path, {"latency": 2, "depth": depth})


@pytest.mark.rtl
@pytest.mark.slow
def test_stream_register(tmp_path: Path) -> None:
    sources = tuple(f"rtl_models/common/{name}.sv" for name in ("mrc_stream_assert", "mrc_stream_register"))
    design = Design("mrc_stream_register", sources, {"WIDTH": WIDTH})
    settings = {"latency": 1, "depth": 1}
    simulate(build(design), "cocotb_tests.test_mrc_fifo", tmp_path, settings)
