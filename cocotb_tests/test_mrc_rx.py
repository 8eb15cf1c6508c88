"""mrc_rx, the assembled receive side, in lock-step with the golden model under random traffic.

Sizes: about a third of the frames carry a full MTU (256 to 8,192 bytes), the others anything below, most of them less
than 700 bytes. pytest builds each configuration and runs this same file in the simulator, where the functions marked
`cocotb.test` are the tests.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_bench import TB, WINDOW, bench
from cocotb_tests.receive_faults import FAULTS
from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_rows import PORTS, Command, Op, Round, Sent, State
from cocotb_tests.receive_scenes import Scene
from cocotb_tests.receive_sender import Packet
from cocotb_tests.receive_traffic import Traffic
from pymodel.base.toolpath import ROOT
from pymodel.rtl.simulate import add, options, record, simulate, waves_wanted

MODULE = "cocotb_tests.test_mrc_rx"
PACKETS = 50_000  # compared in each configuration
PACKETS_IN_CI = 100_000
ROUND = 5_000
BLOCK = 24  # messages whose order is lost
FULL_SHARE = 0.1  # of all frames, at least, carry a full MTU


# ---------------------------------------------------------------------- in the simulator


async def random_rounds(
    dut: Any, traffic: Traffic, packets: int, golden: type[Golden] = Golden, **chances: float
) -> tuple[TB, int]:
    """Play random traffic in rounds until `packets` frames have gone in; returns the bench and how many went in."""
    tb = TB(dut, traffic.world.config, options()["seed"], golden, options().get("keep", False))
    await tb.reset()
    await tb.play(traffic.opening())
    sent = 0
    while sent < packets:
        script = traffic.next(min(packets, ROUND))
        sent += script.count
        await tb.play(script, **chances)
        await tb.play(traffic.queries(), read=True)
        traffic.learn(tb.follower.golden)
    assert traffic.met["full MTU"] >= FULL_SHARE * sent
    return tb, sent


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    """{no pauses within frames, pauses} x {outputs always taken, stalls}: everything that happens, at rest the counters
    too."""
    given = options()
    traffic = Traffic(given["seed"] * 4 + 2 * bool(idle) + bool(stall), window=given["window"])
    tb, sent = await random_rounds(dut, traffic, given["packets"] // 4, idle=idle, stall=stall, dma_stall=stall)
    met = tb.follower.met
    for what in ("quiet timer", "success", "flushed", "placed", "answers", "notices", "strays", "qp_error"):
        assert met[what], f"no {what} in {sent} frames"
    assert tb.follower.golden.device.dropped["wrong P_Key"] > 0
    add(**{"packets compared": sent, "clocks": tb.clocks})


@cocotb.test()
@cocotb.parametrize(fault=["CeUnseen", "QuietALittleLonger", "RegionTooLong"])
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong: it is all of the model that is compared."""
    traffic = Traffic(2, window=options()["window"])
    with pytest.raises(AssertionError, match="rtl"):
        await random_rounds(dut, traffic, 12_000, FAULTS[fault])


@cocotb.test()
async def message_sizes_R05(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """Messages of 1, MTU-1, MTU, MTU+1, 2 MTU bytes and 1 MiB, with losses and stalls: each arrives whole, and DMA has
    one packet, with one tlast, for each of theirs."""
    scene = Scene(6)
    tb = TB(dut, scene.world.config, options()["seed"])
    await tb.reset()
    mtus = {5: 1024, 6: 4096, 7: 8192}
    await tb.play(scene.opening({qp: scene.row(mtu=mtu, mpr_units=8) for qp, mtu in mtus.items()}, receives=16))
    memory: dict[int, bytes] = {}
    left: dict[int, list[Packet]] = {}
    for qp, sender in scene.senders.items():
        mtu = mtus[qp]
        for length in (1, mtu - 1, mtu, mtu + 1, 2 * mtu, 1 << 20):
            sender.begin(length, immediate=length > 1)
        left[qp] = []
        while sender.begun:
            left[qp].append(sender.new())
    while any(left.values()):
        script = Round()
        for qp, sender in scene.senders.items():
            for packet in left[qp][:700]:
                if scene.rng.random() < 0.9:
                    port = scene.rng.randrange(PORTS)
                    script.frames[port].append(Sent(scene.frame(sender, packet, port), scene.rng.randrange(8)))
        seen = await tb.play(script, idle=0.1, stall=0.3, dma_stall=0.4)
        memory |= {placed.va: placed.data for each in seen.trace.placed for placed in each}
        for qp, sender in scene.senders.items():
            model = tb.follower.golden.device.qp(qp)
            missing = {packet.psn for packet in sender.learn(model.responder.window, len(model._receives))}
            left[qp] = [packet for packet in left[qp] if packet.psn in missing]
    for qp, sender in scene.senders.items():
        assert tb.follower.golden.answer(qp).completed == sender.msn == 6
    assert tb.follower.met["success"] == 5 * len(mtus)
    total = sum(map(len, memory.values()))
    assert total == sum(1 + 5 * mtu + (1 << 20) for mtu in mtus.values())


@cocotb.test()
async def message_numbers_wrap(dut: Any) -> None:
    """More than 2^16 messages, all with immediate, on one QP: MSN, RQMSN and numbers of receives wrap, PSNs too, and
    what comes early stands across the wrap."""
    scene = Scene(7)
    tb = TB(dut, scene.world.config, options()["seed"])
    await tb.reset()
    await tb.play(scene.opening({9: scene.row(mpr_units=8)}, receives=100, first_psn=(1 << 24) - 30_000))
    sender = scene.senders[9]
    messages = (1 << 16) + 300
    while sender.msn != messages % (1 << 16) or tb.follower.met["success"] < messages - 100:
        script = Round(commands=[Command(Op.POST_RECEIVES, 9, 3000)])
        block: list[Packet] = []
        for number in range(3000):
            sender.begin(0, immediate=True)
            block.append(sender.new())
            done = sender.msn == messages % (1 << 16) and tb.follower.met["success"] > 1 << 15
            if done or len(block) == BLOCK or number == 2999:
                # Ports in turn and slow enough that no two are further apart than the window and the stash take.
                scene.rng.shuffle(block)
                for port, packet in zip(itertools.cycle(range(PORTS)), block, strict=False):
                    script.frames[port].append(Sent(scene.frame(sender, packet, port), gap=16))
                block = []
            if done:
                break
        await tb.play(script)
        assert tb.follower.golden.state(9) is State.READY
    assert tb.follower.golden.answer(9).completed == messages
    await tb.play(Round(commands=[Command(Op.QUERY, 9)]))


@cocotb.test()
async def speed(dut: Any) -> None:
    """Simulated clocks and packets per second, everything compared; for the benchmarks."""
    given = options()
    traffic = Traffic(given["seed"], window=given["window"])
    start = time.perf_counter()
    tb, sent = await random_rounds(dut, traffic, given["packets"])
    record(clocks=tb.clocks, packets=sent, seconds=time.perf_counter() - start)


# ---------------------------------------------------------------------- in pytest


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 2])
def test_lock_step_with_the_golden_model(interval: int, tmp_path: Path) -> None:
    """With WAVES=1 the run leaves its waves in `build/waves`."""
    assert 2 * PACKETS >= PACKETS_IN_CI
    waves = waves_wanted()
    folder = ROOT / "build" / "waves" / f"mrc_rx-{interval}" if waves else tmp_path
    settings = {"window": WINDOW, "packets": PACKETS}
    tests = ("random_traffic", "notices_a_fault_in_the_model", "message_sizes_R05")
    figures = simulate(bench(interval, waves=waves), MODULE, folder, settings, seed=20, tests=tests)
    assert figures["packets compared"] >= PACKETS


@pytest.mark.rtl
@pytest.mark.slow
def test_message_numbers_wrap(tmp_path: Path) -> None:
    simulate(bench(), MODULE, tmp_path, {"window": WINDOW}, tests=("message_numbers_wrap",))
