"""mrc_rx under frames that are wrong in every way: no hang, no write outside a region, no completion, and every frame
counted once.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_bench import TB, bench
from cocotb_tests.receive_fuzz import Fuzz, check
from cocotb_tests.receive_registers import port_counters
from cocotb_tests.receive_rows import PORTS, Command, Op, Round, Sent, State
from cocotb_tests.receive_scenes import Scene
from pymodel.rtl.simulate import add, options, simulate

MODULE = "cocotb_tests.test_mrc_rx_fuzz"
FRAMES = 200_000
ROUND = 10_000
QPS = range(3, 19)


# ---------------------------------------------------------------------- in the simulator


async def opened(dut: Any, seed: int) -> tuple[TB, Scene, Fuzz]:
    scene = Scene(seed)
    tb = TB(dut, scene.world.config, options()["seed"])
    await tb.reset()
    await tb.play(scene.opening({qp: scene.row(mtu=256, mpr_units=8, trim_nack=qp & 1) for qp in QPS}))
    return tb, scene, Fuzz(scene.rng, scene.world)


def good(scene: Scene, number: int, port: int) -> bytes:
    """A frame to begin with: a write, also over IPv4 or misdirected, a probe, an endpoint operation, a stray answer."""
    rng, noise = scene.rng, scene.noise
    sender = scene.senders[QPS[number % len(QPS)]]
    match rng.randrange(8):
        case 0:
            return noise.probe(sender, port)
        case 1:
            return noise.endpoint(port)
        case 2:
            return noise.stray(sender, port)
        case 3:
            return noise.misdirected(sender, port)
    if not sender.begun:
        sender.begin(rng.choice((0, 1, 40, 255, 256, 300)), immediate=False)
    packet = sender.new()
    sender.arrived(packet)
    transport = sender.transport(packet, ack=rng.random() < 0.2, rtx=rng.random() < 0.2)
    return scene.world.frame(rng, port, sender.peer, transport, sender.payload(packet))


@cocotb.test()
async def damaged(dut: Any) -> None:
    """Random bytes, cut frames, and fields changed without a new ICRC, in lock-step."""
    tb, scene, fuzz = await opened(dut, 1)
    sent = 0
    while sent < options()["frames"] // 2:
        script = Round()
        for number in range(ROUND):
            port = scene.rng.randrange(PORTS)
            data = good(scene, number, port)
            match number % 4:
                case 0:
                    data = fuzz.bytes()
                case 1:
                    data = fuzz.cut(data)
                case _:
                    data = fuzz.field(data, repaired=False)
            script.frames[port].append(Sent(data, scene.rng.randrange(6)))
        sent += script.count
        await tb.play(script, idle=0.05, stall=0.1, dma_stall=0.1, read=True)
        assert not tb.follower.met["success"]
    assert all(count >= options()["each"] for count in fuzz.met.values()), fuzz.met
    add(frames=sent)


@cocotb.test()
async def wrong_but_whole(dut: Any) -> None:
    """Every field of every header changed, the ICRC right: whatever it means, nothing is written but where a key says,
    nothing completes, nothing hangs, and the counters add up. Then every QP can begin anew."""
    tb, scene, fuzz = await opened(dut, 2)
    sent = 0
    outcomes: Counter[str] = Counter()
    while sent < options()["frames"] // 2:
        script = Round()
        for qp in QPS:
            sender = scene.senders[qp]
            script.commands += scene.world.life(scene.rng, qp, sender.row, sender.psn)
        commands = len(script.commands)
        for number in range(ROUND):
            port = scene.rng.randrange(PORTS)
            data = fuzz.field(good(scene, number, port), repaired=True)
            script.frames[port].append(Sent(data, scene.rng.randrange(6), commands))
        sent += script.count
        seen = await tb.play(script, idle=0.05, stall=0.1, dma_stall=0.1, read=True, follow=False)
        outcomes += check(script, seen.trace, scene.world)
    total: Counter[str] = Counter()
    for counters in port_counters(seen.counters):
        total.update({name: count for name, count in counters.items() if name != "SENT"})
    total["accepted"] = total.pop("ACCEPTED")
    assert +total == +outcomes
    assert total.total() == sent
    # It is as good as new.
    script = Round()
    for qp in QPS:
        script.commands += scene.world.life(scene.rng, qp, scene.senders[qp].row, 5)
        script.commands.append(Command(Op.QUERY, qp))
    seen = await tb.play(script, follow=False)
    assert [(answer.qp, answer.state, answer.cack) for answer in seen.trace.answers] == [
        (qp, State.READY, 4) for qp in QPS
    ]
    assert all(count >= options()["each"] for count in fuzz.met.values()), fuzz.met
    add(frames=sent)


# ---------------------------------------------------------------------- in pytest


def run(folder: Path, interval: int, frames: int, each: int) -> None:
    """`frames` frames, `interval` clocks between two events of a QP; each field is changed at least `each` times."""
    figures = simulate(bench(interval), MODULE, folder, {"frames": frames, "each": each}, seed=4 + interval)
    assert figures["frames"] >= frames


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(("interval", "frames", "each"), [(1, FRAMES, 3), (2, FRAMES // 5, 1)])
def test_frames_that_are_wrong(interval: int, frames: int, each: int, tmp_path: Path) -> None:
    run(tmp_path, interval, frames, each)


@pytest.mark.rtl
@pytest.mark.nightly
def test_as_many_at_the_other_interval(tmp_path: Path) -> None:
    run(tmp_path, 2, FRAMES, 3)
