"""`rtl.psn_tracker`: simulated clocks a second of the PSN tracker's bench, where Python is awake on every clock.

Seconds are those of the clock. Building the design, once for a set of sources and tools, does not count, nor does
starting the simulator.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from pymodel.base.toolpath import ROOT
from pymodel.bench.figure import Figure, Outcome, Step
from pymodel.rtl.build import Design, build, read_file_list
from pymodel.rtl.simulate import simulate

__all__ = ["FIGURES", "measure"]

FIGURES = ("rtl.psn_tracker",)
ROUNDS = 5
PACKETS = 10_000
WINDOW, INTERVAL, QPS = 1024, 1, 256
"""A configuration that the tests build as well."""


def measure(step: Step, packets: int = PACKETS, rounds: int = ROUNDS) -> Outcome:
    """Measure the median of `rounds` runs of `packets` packets, each in a simulator of its own."""
    step(0, rounds + 1)
    sources = read_file_list(ROOT / "rtl_models" / "responder" / "mrc_psn_tracker.f")
    parameters = {"QPS": QPS, "WINDOW": WINDOW, "SAME_QP_INTERVAL": INTERVAL}
    built = build(Design("mrc_psn_tracker_bench", (*sources, "cocotb_tests/hdl/mrc_psn_tracker_bench.sv"), parameters))
    settings = {"window": WINDOW, "interval": INTERVAL, "qps": QPS, "packets": packets}
    rates = []
    with tempfile.TemporaryDirectory(prefix="mrc-bench-") as folder:
        for number in range(rounds):
            step(number + 1, rounds + 1)
            found = simulate(
                built, "cocotb_tests.test_mrc_psn_tracker", Path(folder) / str(number), settings, tests=("speed",)
            )
            rates.append(found["clocks"] / found["seconds"])
    return Outcome([Figure("rtl.psn_tracker", statistics.median(rates), "clocks/s")])
