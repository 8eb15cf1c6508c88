"""mrc_find_first against Python's own arithmetic: every value of 8 bits, and every lowest bit of 64."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer

from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import options, simulate


@cocotb.test()
async def lowest_set_bit(dut: Any) -> None:
    width = options()["width"]
    rng = random.Random(1)
    if width <= 8:
        values = list(range(1 << width))
    else:
        tops = [(rng.getrandbits(width) | 1, low) for low in range(width) for _ in range(40)]
        values = [0, *(bits << low & (1 << width) - 1 for bits, low in tops)]
    for value in values:
        dut.bits_i.value = value
        await Timer(1, "ns")
        assert int(dut.found_o.value) == (value != 0)
        if value:
            assert int(dut.index_o.value) == (value & -value).bit_length() - 1


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 8, 64])
def test_lowest_set_bit(width: int, tmp_path: Path) -> None:
    design = Design("mrc_find_first", ("rtl_models/common/mrc_find_first.sv",), {"WIDTH": width})
    simulate(build(design), "cocotb_tests.test_mrc_find_first", tmp_path, {"width": width})


@pytest.mark.rtl
def test_a_width_that_is_no_power_of_two_does_not_elaborate() -> None:
    design = Design("mrc_find_first", ("rtl_models/common/mrc_find_first.sv",), {"WIDTH": 6})
    with pytest.raises(RuntimeError, match="WIDTH is 6, must be a power of two"):
        build(design)
