"""mrc_psn_tracker in lock-step with the golden model: every result of every event is compared.

pytest builds each configuration and runs this same file in the simulator, where the functions marked `cocotb.test` are
the tests. Every one of them drives junk on idle lines (C10), and half of all QPs start where PSNs wrap (S06).
"""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests import psn_faults, psn_traffic
from cocotb_tests.psn_tracker_bench import TB
from pymodel.base.toolpath import ROOT
from pymodel.nic.receive_window import ReceiveWindow
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, record, simulate, waves_wanted

MODULE = "cocotb_tests.test_mrc_psn_tracker"
PACKETS = 18_000  # compared in each configuration, in the random runs alone
PACKETS_IN_CI = 100_000
# (WINDOW, SAME_QP_INTERVAL, QPS): more QPs where the window is small, so that each size of memory is met
CONFIGURATIONS = [
    (window, interval, qps) for window, qps in ((128, 1024), (1024, 256), (4096, 64)) for interval in (1, 2)
]


def latency(interval: int) -> int:
    """Clocks from an event's acceptance to its result, as the module's header has it."""
    return latency_of("psn_tracker: event to result", interval)


def set_up_gap(interval: int) -> int:
    """Clocks between the result of a set-up and that of its QP's PSN right behind it, as the header has it."""
    return latency_of("psn_tracker: set-up to its QP's next result", interval)


# ---------------------------------------------------------------------- in the simulator


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    """{no idle clocks, idle} x {results always taken, stalls}, over many QPs that are set up again and again."""
    given = options()
    seed = given["seed"] * 4 + 2 * bool(idle) + bool(stall)
    items = psn_traffic.mixed(seed, given["qps"], given["window"], given["packets"] // 4)
    tb = TB(dut, seed)
    await tb.reset()
    results = await tb.run(items, idle=idle, stall=stall)
    add(**{"compared in random traffic": len(results)})


@cocotb.test()
async def every_distance_in_the_pipeline(dut: Any) -> None:
    """PSNs that matter to each other, from one clock apart to further than the pipeline is long."""
    given = options()
    tb = TB(dut, 7)
    await tb.reset()
    results = await tb.run(psn_traffic.Timed(given["seed"], given["window"]).all(2))
    record(**{"compared at every distance": len(results)})


@cocotb.test()
async def window_edges_S07(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """Jumps by window-1, window, window+1 and half the number space, from 2^24-3 and from 0, for each window in use."""
    largest = options()["window"]
    items: list[psn_traffic.Event] = []
    for qp, window in enumerate(sorted({1, 2, 63, 64, 65, largest - 1, largest})):
        if window > largest:
            continue
        for first in (0, (1 << 24) - 3):
            items += psn_traffic.edge_walk(qp, first, window)
    tb = TB(dut, 1)
    await tb.reset()
    await tb.run(items)


@cocotb.test()
async def one_psn_a_clock(dut: Any) -> None:
    """Many QPs in turn: N events are taken in N clocks, and each is answered after exactly the latency."""
    given = options()
    qps, packets = 16, 3000
    items = psn_traffic.in_turn(given["seed"], qps, given["window"], packets)
    tb = TB(dut, 2)
    await tb.reset()
    await tb.run(items[:qps])
    results = await tb.run(items[qps:])
    first = results[0][0]
    assert [accepted - first for accepted, _ in results] == list(range(packets))
    assert {taken - accepted for accepted, taken in results} == {latency(given["interval"])}


@cocotb.test()
async def one_qp_back_to_back(dut: Any) -> None:
    """One QP alone: an event every SAME_QP_INTERVAL clocks, and never later."""
    given = options()
    interval, packets = given["interval"], 3000
    items = psn_traffic.one_qp(given["seed"], given["window"], packets)
    tb = TB(dut, 3)
    await tb.reset()
    (alone,) = await tb.run(items[:1])
    assert alone[1] - alone[0] == latency(interval)
    results = await tb.run(items[1:])
    first, answered = results[0]
    assert answered - first == latency(interval)
    assert [taken - answered for _, taken in results] == [interval * n for n in range(packets)]
    # Where the interval makes a PSN wait, it waits within: the next one is accepted a clock before it could be used.
    assert [accepted - first for accepted, _ in results] == [max(0, interval * (n - 1) + 1) for n in range(packets)]


@cocotb.test()
async def set_up_under_traffic(dut: Any) -> None:
    """A set-up holds back its own QP until it is decided, and nothing else: PSNs of other QPs keep their clock."""
    given = options()
    interval, packets = given["interval"], 200
    setups, flow = psn_traffic.with_set_ups(given["seed"], given["window"], packets)
    tb = TB(dut, 8)
    await tb.reset()
    await tb.run(setups)
    results = await tb.run(flow)
    # The set-up takes a place of its own in the pipeline; its QP's first PSN, right behind it, waits for the decision.
    gaps = [after - before for (_, before), (_, after) in itertools.pairwise(results)]
    behind = [n for n, item in enumerate(flow) if item.op is psn_traffic.Op.SET_UP]
    assert {gaps[n] for n in behind} == {set_up_gap(interval)}
    assert gaps.count(1) == len(gaps) - len(behind)


@cocotb.test()
async def set_ups_in_a_row(dut: Any) -> None:
    """Of other QPs or of the same one: each waits for the one before, and the last one counts."""
    given = options()
    rng = random.Random(given["seed"])
    items: list[psn_traffic.Event] = []
    for qps in ((0, 1, 2), (3, 3, 3), (4, 5, 4)):
        models = {}
        for qp in qps:
            models[qp] = ReceiveWindow(given["window"], psn_traffic.first_psn(rng))
            items.append(psn_traffic.set_up(qp, models[qp]))
        for qp, model in models.items():
            psns = [(model.cack_psn + ahead) % psn_traffic.PSN_SPACE for ahead in (2, 1, 1, 2, 4)]
            items += (psn_traffic.Event(qp, psn, model.receive(psn)) for psn in psns)
    tb = TB(dut, 9)
    await tb.reset()
    results = await tb.run(items)
    gaps = [after - before for (_, before), (_, after) in itertools.pairwise(results)]
    assert gaps[:2] == [set_up_gap(given["interval"])] * 2


@cocotb.test()
async def whole_window_at_once(dut: Any) -> None:
    """The window arrives whole but for head, then head: cack passes all of it in one event, three windows long."""
    window = options()["window"]
    tb = TB(dut, 4)
    await tb.reset()
    await tb.run(psn_traffic.whole_windows(3, (1 << 24) - 3, window, 3))


@cocotb.test()
@cocotb.parametrize(fault=list(psn_faults.FAULTS))
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong: it is the model's every value that is compared."""
    given = options()
    items = psn_traffic.mixed(7, 8, given["window"], 12_000, psn_faults.FAULTS[fault])
    tb = TB(dut, 5)
    await tb.reset()
    with pytest.raises(AssertionError, match="result"):
        await tb.run(items)


@cocotb.test()
async def speed(dut: Any) -> None:
    """Simulated clocks per second of this bench, the traffic made beforehand; for the benchmarks."""
    given = options()
    items = psn_traffic.mixed(given["seed"], given["qps"], given["window"], given["packets"])
    tb = TB(dut, 6)
    await tb.reset()
    before, start = tb.clocks, time.perf_counter()
    await tb.run(items)
    record(clocks=tb.clocks - before, seconds=time.perf_counter() - start)


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "responder" / "mrc_psn_tracker.f"),
    "cocotb_tests/hdl/mrc_psn_tracker_bench.sv",
)
RTL_TESTS = (
    "random_traffic",
    "every_distance_in_the_pipeline",
    "window_edges_S07",
    "one_psn_a_clock",
    "one_qp_back_to_back",
    "set_up_under_traffic",
    "set_ups_in_a_row",
    "whole_window_at_once",
)


def bench(window: int, interval: int, qps: int, waves: bool = False) -> Build:
    parameters = {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": interval}
    return build(Design("mrc_psn_tracker_bench", SOURCES, parameters), waves)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(("window", "interval", "qps"), CONFIGURATIONS)
def test_lock_step_with_the_golden_model(window: int, interval: int, qps: int, tmp_path: Path) -> None:
    """With WAVES=1 the run leaves its waves in `build/waves`."""
    assert PACKETS * len(CONFIGURATIONS) >= PACKETS_IN_CI
    waves = waves_wanted()
    folder = ROOT / "build" / "waves" / f"mrc_psn_tracker-{window}-{interval}" if waves else tmp_path
    settings = {"window": window, "interval": interval, "qps": qps, "packets": PACKETS}
    tests = (*RTL_TESTS, "notices_a_fault_in_the_model")
    figures = simulate(bench(window, interval, qps, waves), MODULE, folder, settings, seed=20, tests=tests)
    assert figures["compared in random traffic"] >= PACKETS
    assert figures["compared at every distance"] > 0


@pytest.mark.rtl
@pytest.mark.slow
def test_nothing_depends_on_when_a_write_is_applied_C03(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802
    """cocotb applies writes itself when it may not trust the simulator's: the same clocks, the same results."""
    monkeypatch.setenv("COCOTB_TRUST_INERTIAL_WRITES", "0")
    window, interval, qps = CONFIGURATIONS[0]
    settings = {"window": window, "interval": interval, "qps": qps, "packets": 2_000}
    figures = simulate(bench(window, interval, qps), MODULE, tmp_path, settings, tests=RTL_TESTS)
    assert figures["compared in random traffic"] >= 2_000
