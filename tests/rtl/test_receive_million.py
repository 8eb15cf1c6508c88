"""A million packets through the assembled receive side, in lock-step with the golden model."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests.receive_bench import WINDOW, bench
from cocotb_tests.test_mrc_rx import MODULE
from pymodel.bench.nightly import report_figure
from pymodel.rtl.simulate import simulate

PACKETS = 1_000_000


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("interval", [1, 2])
def test_lock_step(interval: int, tmp_path: Path) -> None:
    settings = {"window": WINDOW, "packets": PACKETS // 2}
    figures = simulate(bench(interval), MODULE, tmp_path, settings, seed=100 + interval, tests=("random_traffic",))
    assert figures["packets compared"] >= PACKETS // 2
    report_figure(f"receive side, interval {interval}: packets in lock-step", figures["packets compared"])
