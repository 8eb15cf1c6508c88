"""mrc_rx where chance seldom leads: rounds laid out by hand, in lock-step with the golden model.

pytest builds the design and runs this same file in the simulator, where the functions marked `cocotb.test` are the
tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_bench import TB, bench
from cocotb_tests.receive_corners import Corners
from cocotb_tests.receive_failures import FAULTS, Failures
from cocotb_tests.receive_rows import DROP_NAMES, PORTS, QpRow, Round, State
from pymodel.rtl.simulate import options, simulate

MODULE = "cocotb_tests.test_mrc_rx_corners"
STALLS = {"idle": 0.2, "stall": 0.3, "dma_stall": 0.3}
CALM = 1 << 16
"""SACK threshold that 64 packets reach."""


# ---------------------------------------------------------------------- in the simulator


async def opened(dut: Any, corners: Corners, opening: Round) -> TB:
    tb = TB(dut, corners.world.config, options()["seed"])
    await tb.reset()
    await tb.play(opening)
    return tb


@cocotb.test()
async def every_kind_of_frame(dut: Any) -> None:
    """All that a port tells apart, on each of them, with outputs that stall and without."""
    corners = Corners(1)
    tb = await opened(dut, corners, Round(commands=corners.world.register()))
    for pauses in ({}, STALLS):
        await tb.play(corners.every_frame(3000), read=True, **pauses)
    causes = [name for name in DROP_NAMES if name != "OVERFLOW"]
    assert all(dropped[cause] for dropped in tb.follower.dropped for cause in causes), tb.follower.dropped


@cocotb.test()
async def objections(dut: Any) -> None:
    """Every kind of frame for a QP that it is not for."""
    corners = Corners(2)
    tb = await opened(dut, corners, corners.objections_opening())
    for _ in range(4):
        await tb.play(corners.objections(), read=True, stall=0.1)
    for port in range(PORTS):
        await tb.play(corners.endpoint_operations(port), read=True, stall=0.2 * (port & 1))
    dropped = tb.follower.golden.device.dropped
    assert all(dropped[cause] for cause in ("unknown QP", "QP not ready", "wrong address", "wrong P_Key")), dropped


@cocotb.test()
async def windows(dut: Any) -> None:
    """Both ends of windows that wrap, with what may be in front of the answer: trims, shortages, a smaller window."""
    corners = Corners(3)
    rows: dict[int, QpRow] = {
        8: corners.row(sack_threshold=CALM),
        9: corners.row(sack_threshold=CALM, drop_above=True),
        10: corners.row(sack_threshold=CALM, trim_nack=False, dynamic_mpr=True),
        11: corners.row(sack_threshold=CALM, mpr_units=2),
        12: corners.row(sack_threshold=CALM, quiet_clocks=100),
        13: corners.row(sack_threshold=CALM, mpr_units=8, dynamic_mpr=True),
    }
    tb = await opened(dut, corners, corners.opening(rows))
    for number, qp in enumerate((8, 9, 10, 11)):
        await tb.play(corners.window(qp, number), stall=0.1)
    await tb.play(corners.shortages(12, 4))
    await tb.play(corners.resized(13, 5))
    assert all(tb.follower.golden.state(qp) is State.READY for qp in rows)


@cocotb.test()
async def failures(dut: Any) -> None:
    """Each fault, and all that may be said to a QP ever after; regions of every place in the address space."""
    corners = Failures(4)
    qps = range(3, 3 + FAULTS + 4)
    sizes = dict(zip(range(50, 56), (256, 512, 1024, 2048, 4096, 8192), strict=True))
    rows = {qp: corners.row(mtu=sizes.get(qp, 256), sack_threshold=CALM) for qp in (*qps, 62, *sizes)}
    tb = await opened(dut, corners, corners.opening(rows))
    await tb.play(corners.failures(qps, 2))
    assert tb.follower.met["qp_error"] == FAULTS + 1
    await tb.play(corners.places(62, 3), stall=0.2)
    for qp in sizes:
        await tb.play(corners.lengths(qp, 4), stall=0.2)
    await tb.play(corners.regions())
    assert all(tb.follower.golden.state(qp) is State.READY for qp in (62, *sizes))


@cocotb.test()
@cocotb.parametrize(excess=[None, 0, 1])
async def immediates(dut: Any, excess: int | None) -> None:
    """As many in flight as there may be, and one too many."""
    corners = Failures(5)
    limits = {20: 2, 21: 9, 22: 127, 23: 128}
    rows = {qp: corners.row(wimm=wimm, mpr_units=8) for qp, wimm in limits.items()}
    tb = await opened(dut, corners, corners.opening(rows))
    await tb.play(corners.immediates(list(limits), 6, excess), stall=0.2)
    if excess is None:
        assert tb.follower.met["success"] == sum(limits.values())
    else:
        assert tb.follower.met["qp_error"] == len(limits)


@cocotb.test()
async def races(dut: Any) -> None:
    """Events of one QP in neighbouring clocks, timers among them, and timers that run out when their QP does."""
    corners = Failures(6)
    rows = {qp: corners.row(mpr_units=8, sack_threshold=CALM, quiet_clocks=32) for qp in range(3, 11)}
    tb = await opened(dut, corners, corners.opening(rows))
    await tb.play(corners.races(6000))
    for _ in range(6):
        rows = {
            qp: corners.row(sack_threshold=CALM, quiet_clocks=corners.rng.randint(40, 1200)) for qp in range(11, 51)
        }
        await tb.play(corners.opening(rows))
        for qp in range(3, 11):
            corners.senders.pop(qp, None)
        await tb.play(corners.stopped_timers())
    assert tb.follower.met["quiet timer, too late"]


# ---------------------------------------------------------------------- in pytest


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 2])
def test_corners(interval: int, tmp_path: Path) -> None:
    simulate(bench(interval), MODULE, tmp_path, {}, seed=7)
