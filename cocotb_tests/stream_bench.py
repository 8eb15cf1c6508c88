"""What the benches of one-word streams share: words in and out, with idle clocks, stalls, and junk when idle."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

__all__ = ["pass_words", "start"]


async def start(dut: Any) -> None:
    """Start the clock and reset, inputs at rest."""
    Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
    dut.rst_ni.value = 0
    dut.valid_i.value = dut.ready_i.value = 0
    await Timer(10, "ns")
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)


async def pass_words(dut: Any, width: int, words: Sequence[int], idle: float, stall: float) -> list[tuple[int, int]]:
    """Send `words` and return for each the clocks in which it went in and came out; order and values are compared.

    Asserted on the way: what is shown stays until it is taken; with `count_o`, that it counts what is inside.
    """
    rng = random.Random(len(words))
    counts = hasattr(dut, "count_o")
    offered = held = None
    went_in: list[int] = []
    came_out: list[int] = []
    clock, ready = 0, False
    while len(came_out) < len(words):
        await RisingEdge(dut.clk_i)
        clock += 1
        assert clock < 20 * len(words) + 100
        if counts:
            assert int(dut.count_o.value) == len(went_in) - len(came_out)
        if offered is not None and int(dut.ready_o.value):
            went_in.append(clock)
            offered = None
        shown = int(dut.data_o.value) if int(dut.valid_o.value) else None
        assert held is None or shown == held
        held = shown
        if shown is not None and ready:
            assert shown == words[len(came_out)]
            came_out.append(clock)
            held = None
        if offered is None and len(went_in) < len(words) and rng.random() >= idle:
            offered = words[len(went_in)]
        ready = rng.random() >= stall
        dut.valid_i.value = offered is not None
        dut.data_i.value = rng.getrandbits(width) if offered is None else offered
        dut.ready_i.value = ready
    return list(zip(went_in, came_out, strict=True))
