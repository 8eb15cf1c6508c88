"""mrc_popcount against int.bit_count: every value of few bits, and random ones of many at every density."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer
from cocotb_coverage.coverage import CoverPoint

from pymodel.rtl.build import Design, build
from pymodel.rtl.coverage import keep_bins
from pymodel.rtl.simulate import options, simulate


@cocotb.test()
async def set_bits(dut: Any) -> None:
    width = options()["width"]
    rng = random.Random(width)
    if width <= 10:
        values = list(range(1 << width))
    else:
        values = [sum((rng.random() < n / 40) << bit for bit in range(width)) for n in range(41) for _ in range(10)]
    counts = CoverPoint("popcount.count", xf=lambda count: count, bins=list(range(width + 1)))(lambda count: None)
    for value in values:
        counts(value.bit_count())
        dut.bits_i.value = value
        await Timer(1, "ns")
        assert int(dut.count_o.value) == value.bit_count()
    keep_bins()


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("width", [7, 64])
def test_set_bits(width: int, tmp_path: Path) -> None:
    design = Design("mrc_popcount", ("rtl_models/common/mrc_popcount.sv",), {"WIDTH": width})
    simulate(build(design), "cocotb_tests.test_mrc_popcount", tmp_path, {"width": width})
