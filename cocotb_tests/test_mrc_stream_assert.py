"""mrc_stream_assert: silent on every stream that keeps the rule, and it stops a run on each way to break it (C10)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from pymodel.rtl.build import Build, Design, build
from pymodel.rtl.simulate import SimulationError, simulate

WIDTH = 8


async def drive(dut: Any, clocks: int, breach: str = "") -> None:
    """A stream with idle clocks and stalls, junk when idle; a while after the start one word breaks the rule."""
    rng = random.Random(7)
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    dut.rst_ni.value = 0
    valid, ready, word = False, False, 0
    for clock in range(clocks):
        await RisingEdge(dut.clk_i)
        reset = clock < 5 or 200 <= clock < 203
        waits = valid and not ready and not reset
        if not waits:
            valid, word = rng.random() < 0.6, rng.getrandbits(WIDTH)
        elif breach and clock > 300:
            valid, word = breach != "valid", word ^ (breach == "data")
            breach = ""
        ready = rng.random() < 0.5
        dut.rst_ni.value = not reset
        dut.valid_i.value, dut.ready_i.value, dut.data_i.value = valid, ready, word
    assert not breach, "nothing was broken"


@cocotb.test()
async def keeps_the_rule(dut: Any) -> None:
    await drive(dut, 2000)


@cocotb.test()
async def valid_falls(dut: Any) -> None:
    await drive(dut, 400, "valid")


@cocotb.test()
async def data_changes(dut: Any) -> None:
    await drive(dut, 400, "data")


def built() -> Build:
    return build(Design("mrc_stream_assert", ("rtl_models/common/mrc_stream_assert.sv",), {"WIDTH": WIDTH}))


@pytest.mark.rtl
@pytest.mark.slow
def test_a_good_stream(tmp_path: Path) -> None:
    simulate(built(), "cocotb_tests.test_mrc_stream_assert", tmp_path, {}, tests=("keeps_the_rule",))


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "said"), [("valid_falls", "valid fell before the word"), ("data_changes", "the word changed before")]
)
def test_a_broken_stream(test: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=said):
        simulate(built(), "cocotb_tests.test_mrc_stream_assert", tmp_path, {}, tests=(test,))
