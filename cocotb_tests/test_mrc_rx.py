"""mrc_rx, the assembled receive side, in lock-step with the golden model.

pytest builds each configuration and runs this same file in the simulator, where the functions marked `cocotb.test` are
the tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_bench import TB
from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_traffic import Traffic
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.simulate import add, options, simulate, waves_wanted

MODULE = "cocotb_tests.test_mrc_rx"
HDL = ("receive_player", "receive_frame_log", "receive_log", "receive_software", "mrc_rx_bench")


# ---------------------------------------------------------------------- in the simulator


async def random_rounds(dut: Any, traffic: Traffic, golden: type[Golden], packets: int, **chances: float) -> TB:
    """Play random traffic in rounds until `packets` frames have gone in."""
    tb = TB(dut, traffic.world.config, options()["seed"], golden, options().get("keep", False))
    await tb.reset()
    await tb.play(traffic.opening())
    sent = 0
    while sent < packets:
        script = traffic.next(min(packets, 5000))
        sent += script.count
        await tb.play(script, **chances)
        await tb.play(traffic.queries(), read=True)
        traffic.learn(tb.follower.golden)
    add(**{"packets compared": sent, "clocks": tb.clocks})
    return tb


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    """{no pauses within frames, pauses} x {outputs always taken, stalls}."""
    given = options()
    traffic = Traffic(given["seed"] * 4 + 2 * bool(idle) + bool(stall), window=given["window"])
    chances = {"idle": idle, "stall": stall, "dma_stall": stall}
    await random_rounds(dut, traffic, Golden, given["packets"] // 4, **chances)


# ---------------------------------------------------------------------- in pytest

SOURCES = (*read_file_list(ROOT / "rtl_models" / "top" / "mrc_rx.f"), *(f"cocotb_tests/hdl/{name}.sv" for name in HDL))


def bench(interval: int = 1, qps: int = 64, window: int = 1024, waves: bool = False) -> Build:
    return build(Design("mrc_rx_bench", SOURCES, {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": interval}), waves)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 2])
def test_lock_step_with_the_golden_model(interval: int, tmp_path: Path) -> None:
    waves = waves_wanted()
    folder = ROOT / "build" / "waves" / f"mrc_rx-{interval}" if waves else tmp_path
    settings = {"window": 1024, "interval": interval, "qps": 64, "packets": 500}
    figures = simulate(bench(interval, waves=waves), MODULE, folder, settings, seed=20, tests=("random_traffic",))
    print(figures)
