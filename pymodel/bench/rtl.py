"""Simulated clocks and packets a second of RTL benches, everything compared with the golden model.

`rtl.psn_tracker`: the PSN tracker, where Python is awake on every clock. `rtl.receive`: the assembled receive side
under random traffic, where Python makes, follows and compares a round while the simulator rests.

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

__all__ = ["FIGURES", "RECEIVE_FIGURES", "measure", "measure_receive"]

FIGURES = ("rtl.psn_tracker",)
RECEIVE_FIGURES = ("rtl.receive", "rtl.receive.packets")
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


def measure_receive(step: Step, packets: int = PACKETS, rounds: int = 3) -> Outcome:
    """Measure the medians of `rounds` runs of about `packets` packets, making and following them included."""
    step(0, rounds + 1)
    files = ("rtl_models/top/mrc_rx.f", "cocotb_tests/hdl/mrc_rx_bench.f")
    sources = tuple(source for name in files for source in read_file_list(ROOT / name))
    parameters = {"QPS": 64, "WINDOW": WINDOW, "SAME_QP_INTERVAL": INTERVAL}
    built = build(Design("mrc_rx_bench", sources, parameters))
    settings = {"window": WINDOW, "packets": packets}
    found: dict[str, list[float]] = {"clocks": [], "packets": []}
    with tempfile.TemporaryDirectory(prefix="mrc-bench-") as folder:
        for number in range(rounds):
            step(number + 1, rounds + 1)
            run = simulate(built, "cocotb_tests.test_mrc_rx", Path(folder) / str(number), settings, tests=("speed",))
            for name, rates in found.items():
                rates.append(run[name] / run["seconds"])
    units = ("clocks/s", "packets/s")
    return Outcome(
        [
            Figure(figure, statistics.median(rates), unit)
            for figure, rates, unit in zip(RECEIVE_FIGURES, found.values(), units, strict=True)
        ]
    )
