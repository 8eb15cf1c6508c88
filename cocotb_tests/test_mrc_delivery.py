"""mrc_delivery in lock-step with the golden model: every result and every completion is compared."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer

from cocotb_tests import delivery_faults
from cocotb_tests import delivery_traffic as traffic
from cocotb_tests.delivery_bench import CLOCK_NS, TB
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, record, simulate

MODULE = "cocotb_tests.test_mrc_delivery"
EVENTS = 24_000  # compared in each configuration, in the random runs alone
LATENCY = latency_of("delivery: event to result")  # from its acceptance, as the module's header has it
FIRST_COMPLETION = 25  # to the first completion that it makes
NEXT_QP = 8  # from a QP's last completion to the next QP's first
ROOM = 20  # more events than can be on their way behind one that waits
# (WINDOW, WIMM, QPS)
CONFIGURATIONS = [(64, 2, 2), (128, 8, 64), (1024, 128, 1024), (4096, 32, 64)]


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    given = options()
    seed = given["seed"] * 4 + 2 * bool(idle) + bool(stall)
    items = traffic.mixed(seed, given["qps"], given["window"], given["wimm"], given["events"] // 4)
    tb = TB(dut, seed)
    await tb.reset()
    await tb.run(items, idle=idle, stall=stall, cqe_stall=0.5 if stall else 0.0)
    add(compared=len(items), completions=len(tb.taken))


@cocotb.test()
async def reset_amid_traffic(dut: Any) -> None:
    """What is under way is lost, every QP is in reset, and nothing of before comes out."""
    given = options()
    tb = TB(dut, 8)
    for seed in range(6):
        await tb.reset()
        items = traffic.mixed(seed, given["qps"], given["window"], given["wimm"], 3000)
        task = cocotb.start_soon(tb.run(items, cqe_stall=0.5))
        await Timer(CLOCK_NS * (given["qps"] + 50 + 400 * seed), "ns")
        task.cancel()
    await tb.reset()
    await tb.run(traffic.mixed(9, given["qps"], given["window"], given["wimm"], 3000))


@cocotb.test()
async def numbers_wrap_S06(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """PSN, message and receive numbers all pass their ends, 70,000 messages on each of two QPs."""
    given = options()
    items = traffic.wrapping(given["seed"], given["window"], given["wimm"], 70_000)
    tb = TB(dut, 1)
    await tb.reset()
    await tb.run(items)
    record(**{"messages of one QP": max(item.result.completed for item in items)})


@cocotb.test()
async def one_event_a_clock(dut: Any) -> None:
    """Many QPs in turn, and one alone: N events are taken in N clocks, and each is answered after the latency."""
    given = options()
    immediates = 0.25 if given["wimm"] >= 8 else 0.0  # fewer places than a walk takes clocks would be waited for
    tb = TB(dut, 2)
    for qps in (min(16, given["qps"]), 1):
        await tb.reset()
        before, items = traffic.steady(given["seed"], qps, given["window"], given["wimm"], 2000, immediates)
        await tb.run(before)
        results = await tb.run(items)
        first = results[0][0]
        assert [accepted - first for accepted, _ in results] == list(range(len(items)))
        assert {answered - accepted for accepted, answered in results} == {LATENCY}


@cocotb.test()
async def a_completion_a_clock(dut: Any) -> None:
    """All that a QP has stashed completes at once: a completion each clock, and no event waits for that."""
    given = options()
    rng = random.Random(given["seed"])
    count, wimm = given["wimm"], given["wimm"]
    tb = TB(dut, 3)
    await tb.reset()
    models = [traffic.QpModel(qp) for qp in range(2)]
    stashes = [traffic.stashed(rng, model, count, given["window"], wimm) for model in models]
    for events, _ in stashes:
        await tb.run(events)
    assert not tb.taken
    heads = [model.packet(head) for model, (_, head) in zip(models, stashes, strict=True)]
    results = await tb.run([*heads, *(models[n % 2].passes() for n in range(4 * count))])
    first = results[0][0]
    assert [accepted - first for accepted, _ in results] == list(range(len(results)))
    clocks = [clock for _, clock in tb.taken]
    assert [qp for qp, _ in tb.taken] == [0] * count + [1] * count
    gaps = [after - before for before, after in itertools.pairwise(clocks)]
    assert gaps == [1] * (count - 1) + [NEXT_QP] + [1] * (count - 1)
    assert clocks[0] - first == FIRST_COMPLETION


@cocotb.test()
async def completions_that_nobody_takes(dut: Any) -> None:
    """Events go on until a write with immediate needs the place of a completion not taken; nothing is lost."""
    given = options()
    rng = random.Random(given["seed"])
    wimm = given["wimm"]
    model, other = traffic.QpModel(0), traffic.QpModel(1)
    first, start = traffic.first_psn(rng), traffic.first_psn(rng)
    sender = traffic.Sender(rng, first, 1, 1.0)
    tb = TB(dut, 4)
    await tb.reset()
    total = 5 * wimm
    items = [model.reset(), model.ready(first, given["window"], wimm), model.post(total)]
    items += [other.reset(), other.ready(start, given["window"], wimm)]
    await tb.run(items)
    writes = [model.packet(sender.message()[0]) for _ in range(total)]
    await tb.run(writes, patience=400)
    assert 2 * wimm <= tb.held < 2 * wimm + ROOM
    assert len(tb.taken) == total
    far = model.packet(sender.message()[0]._replace(rqmsn=(sender.rqmsn + 20 * wimm) % traffic.NUMBERS))
    assert far.result.fault
    await tb.run([far, other.passes(), model.passes()])


@cocotb.test()
async def receives_and_immediates_in_every_order(dut: Any) -> None:
    """A plain write, three behind it with immediate and two receives, each order of them, back to back."""
    given = options()
    items: list[traffic.Event] = []
    models = [traffic.QpModel(qp) for qp in range(given["qps"])]
    orders = sorted(set(itertools.permutations(["head", "a", "b", "c", "post", "post"])))
    for number, order in enumerate(orders):
        model = models[number % len(models)]
        first = traffic.first_psn(random.Random(number))
        sender = traffic.Sender(random.Random(number), first, 1, 1.0)
        writes = {name: sender.message(name != "head")[0] for name in ("head", "a", "b", "c")}
        items += [model.reset(), model.ready(first, given["window"], given["wimm"])]
        items += [model.post(1) if name == "post" else model.packet(writes[name]) for name in order]
        items += [model.passes(), model.post(1)]
    tb = TB(dut, 9)
    await tb.reset()
    await tb.run(items)
    add(**{"receives missing": sum(item.result.fault and item.result.placed for item in items)})


@cocotb.test()
async def a_reset_waits_for_completions_and_clears_beside_traffic(dut: Any) -> None:
    """What was complete before a reset is said; the next life of the QP finds none of the last one's immediates."""
    given = options()
    rng = random.Random(given["seed"])
    wimm = given["wimm"]
    models = [traffic.QpModel(qp) for qp in range(2)]
    tb = TB(dut, 5)
    await tb.reset()
    for cqe_stall in (0.0, 0.9):
        first = traffic.first_psn(rng)
        sender = traffic.Sender(rng, first, 1, 1.0)
        items = [models[1].reset(), models[1].ready(first, given["window"], wimm), models[1].post(3 * wimm)]
        events, head = traffic.stashed(rng, models[0], wimm, given["window"], wimm)
        items += [*events, models[0].packet(head), models[0].reset()]
        # Half of the clocks in which places are emptied, another QP's immediates land.
        for _ in range(3 * wimm):
            items += [models[1].packet(sender.message()[0]), models[1].passes()]
        # The same numbers again, of messages further on: only those that land may complete.
        first = traffic.first_psn(rng)
        sender = traffic.Sender(rng, first, 1, 1.0)
        items += [models[0].ready(first, given["window"], wimm), models[0].post(wimm)]
        items += [models[0].packet(sender.message(False)[0]) for _ in range(wimm + 2)]
        for _ in range(wimm):
            items += [models[0].packet(sender.message()[0]), *(models[0].passes() for _ in range(30))]
        await tb.run(items, cqe_stall=cqe_stall)
    events, head = traffic.stashed(rng, models[0], 1, given["window"], wimm)
    await tb.run(events[:1])
    results = await tb.run(events[1:2])
    # It was offered right behind the reset's result, when part of the clearing was done.
    assert LATENCY <= results[0][1] - results[0][0] <= LATENCY + 2 * wimm


@cocotb.test()
async def peers_that_contradict_themselves(dut: Any) -> None:
    """Numbers at random: every event is answered, `completed` moves forward, receives go in order, others are exact."""
    given = options()
    rng = random.Random(given["seed"])
    tb = TB(dut, 6)
    await tb.reset()
    items: list[traffic.Event] = []
    for qp in range(min(30, given["qps"])):
        model = traffic.QpModel(qp)
        items += [model.reset(), model.ready(traffic.first_psn(rng), given["window"], given["wimm"])]
        near = rng.choice([2, 2 * given["wimm"], 1 << 16])
        for _ in range(200):
            ahead = rng.randint(1, 3) if rng.random() < 0.9 else rng.randint(-5, given["window"] + 2)
            psn = (model.window.cack_psn + ahead) % traffic.PSN_SPACE
            immediate = rng.getrandbits(32) if rng.random() < 0.5 else None
            last = immediate is not None or rng.random() < 0.5
            write = traffic.Write(psn, last, immediate, rng.randrange(near), rng.randrange(near), 0)
            # The model's window decides what is new; what it says of messages is not asked.
            items.append(traffic.unjudged(model, write) if rng.random() < 0.9 else model.post(rng.randint(0, 9)))
    await tb.run(items, idle=0.1, stall=0.1, cqe_stall=0.3, exact=False)
    await tb.drain(5000)
    model = traffic.QpModel(0)
    first = traffic.first_psn(rng)
    sender = traffic.Sender(rng, first, 1, 1.0)
    await tb.run([model.reset()], exact=False)
    good = [model.ready(first, given["window"], given["wimm"]), model.post(50)]
    tb.taken.clear()
    await tb.run([*good, *(model.packet(sender.message()[0]) for _ in range(50))])
    assert len(tb.taken) == 50


@cocotb.test()
@cocotb.parametrize(fault=list(delivery_faults.FAULTS))
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong."""
    given = options()
    items = traffic.mixed(7, 8, given["window"], given["wimm"], 40_000, delivery_faults.FAULTS[fault])
    tb = TB(dut, 7)
    await tb.reset()
    with pytest.raises(AssertionError, match=r"rtl|stuck"):
        await tb.run(items)


SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "responder" / "mrc_delivery.f"),
    "cocotb_tests/hdl/mrc_delivery_bench.sv",
)


def bench(window: int, wimm: int, qps: int) -> Build:
    return build(Design("mrc_delivery_bench", SOURCES, {"QPS": qps, "WINDOW": window, "WIMM": wimm}))


TESTS = (
    "random_traffic",
    "reset_amid_traffic",
    "one_event_a_clock",
    "a_completion_a_clock",
    "completions_that_nobody_takes",
    "receives_and_immediates_in_every_order",
    "a_reset_waits_for_completions_and_clears_beside_traffic",
    "peers_that_contradict_themselves",
)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(("window", "wimm", "qps"), CONFIGURATIONS)
def test_lock_step_with_the_golden_model(window: int, wimm: int, qps: int, tmp_path: Path) -> None:
    settings = {"window": window, "wimm": wimm, "qps": qps, "events": EVENTS}
    figures = simulate(bench(window, wimm, qps), MODULE, tmp_path, settings, seed=20, tests=TESTS)
    assert figures["compared"] >= EVENTS
    assert figures["completions"] > 0
    assert figures["receives missing"] > 0


@pytest.mark.rtl
@pytest.mark.slow
def test_wraps_and_faults_in_the_model(tmp_path: Path) -> None:
    window, wimm, qps = CONFIGURATIONS[1]
    settings = {"window": window, "wimm": wimm, "qps": qps}
    tests = ("numbers_wrap_S06", "notices_a_fault_in_the_model")
    figures = simulate(bench(window, wimm, qps), MODULE, tmp_path, settings, seed=20, tests=tests)
    assert figures["messages of one QP"] > 1 << 16
