"""mrc_skid_buffer: every word once, in order, a word a clock, and valid and data hold while the sink waits (C10)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import simulate

MODULE = "cocotb_tests.test_mrc_skid_buffer"
WIDTH = 16


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.4], stall=[0.0, 0.5])
async def words_pass(dut: Any, idle: float, stall: float) -> None:
    rng = random.Random(1)
    words = [rng.getrandbits(WIDTH) for _ in range(500)]
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    dut.rst_ni.value = 0
    dut.valid_i.value = dut.ready_i.value = 0
    await Timer(10, "ns")
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)

    offered: int | None = None
    held: int | None = None  # what was shown and not taken
    sent, received, clocks, ready = 0, [], 0, False
    while len(received) < len(words):
        await RisingEdge(dut.clk_i)
        clocks += 1
        assert clocks < 5000
        if offered is not None and int(dut.ready_o.value):
            sent, offered = sent + 1, None
        shown = int(dut.data_o.value) if int(dut.valid_o.value) else None
        if held is not None:
            assert shown == held
        held = shown
        if shown is not None and ready:
            received.append(shown)
            held = None
        if offered is None and sent < len(words) and rng.random() >= idle:
            offered = words[sent]
        ready = rng.random() >= stall
        dut.valid_i.value = offered is not None
        dut.data_i.value = rng.getrandbits(WIDTH) if offered is None else offered
        dut.ready_i.value = ready
    assert received == words
    if not idle and not stall:
        assert clocks == len(words) + 2  # one clock to offer the first, one to see it at the output


@pytest.mark.rtl
@pytest.mark.slow
def test_words_pass(tmp_path: Path) -> None:
    sources = ("rtl_models/common/mrc_skid_buffer.sv",)
    simulate(build(Design("mrc_skid_buffer", sources, {"WIDTH": WIDTH})), MODULE, tmp_path, {})
