"""mrc_rx in clocks: what eight ports at line rate lose, what waits for whom, when timers fire; all of it in lock-step.

pytest builds the design and runs this same file in the simulator, where the functions marked `cocotb.test` are the
tests.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_bench import TB, bench
from cocotb_tests.receive_files import Seen
from cocotb_tests.receive_rows import ACCEPTED, OVERFLOW, PORTS, Command, EventKind, Op, Round, Sent
from cocotb_tests.receive_scenes import BUS_BYTES, Scene
from pymodel.rtl.simulate import options, record, simulate

MODULE = "cocotb_tests.test_mrc_rx_clocks"
HEADERS = 142
"""Bytes of a frame with TSETH in SRv6 without SRH, besides its payload."""
SCAN = 64
"""Clocks of a scan over the quiet timers of 64 QPs."""
QPS = range(3, 43)
RTT = 3000
"""Clocks of a round trip of 12 us, which quiet timers run for; by then other SACKs have been sent under load."""
REST = RTT + SCAN + 200


# ---------------------------------------------------------------------- in the simulator


async def ready(dut: Any, scene: Scene, receives: int = 0, **fields: int) -> TB:
    """Forty QPs, ready."""
    tb = TB(dut, scene.world.config, options()["seed"])
    await tb.reset()
    defaults = {"mtu": 8192, "mpr_units": 8, "quiet_clocks": RTT}
    await tb.play(scene.opening({qp: scene.row(**defaults | fields) for qp in QPS}, receives))
    for sender in scene.senders.values():
        sender.stamps = True
    return tb


def dropped(seen: Seen) -> int:
    return sum(len(outcomes) - outcomes.count(ACCEPTED) for outcomes in seen.trace.outcomes)


def waits(script: Round, seen: Seen) -> list[int]:
    """For each frame, in the order of their acceptance, the clocks from its last beat to that."""
    ends: list[list[int]] = []  # clocks in which frames end, by port
    for frames in script.frames:
        ends.append([])
        clock = 0
        for each in frames:
            clock += each.gap + -(-len(each.data) // BUS_BYTES)
            ends[-1].append(clock)
    numbers = [0] * PORTS
    delays: list[int] = []
    for tap, elapsed in zip(seen.trace.taps, seen.elapsed, strict=True):
        if tap.kind == EventKind.FRAME:
            delays.append(elapsed - ends[tap.port][numbers[tap.port]])
            numbers[tap.port] += 1
    return delays


@cocotb.test()
@cocotb.parametrize(length=[376, 378, 512, 1518, HEADERS + 4096, HEADERS + 8192])
async def eight_ports_at_100_gigabit(dut: Any, length: int) -> None:
    """Frames of 376 bytes and more at full rate on all ports, all in step: none is lost, none waits but for the seven
    beside it."""
    scene = Scene(length)
    tb = await ready(dut, scene)
    count = max(800, 2_000_000 // length)
    payload = (length - HEADERS) // 4 * 4
    script = scene.paced(scene.writes(length, count, payload))
    seen = await tb.play(script, rest=REST)
    assert not dropped(seen)
    delays = waits(script, seen)
    assert len(delays) == count
    record(**{f"spread at {length}": max(delays) - min(delays)})
    assert max(delays) - min(delays) <= PORTS, f"from {min(delays)} to {max(delays)} clocks"


@cocotb.test()
async def more_than_an_event_a_clock(dut: Any) -> None:
    """The shortest writes at full rate are 2.4 events a clock: the engine takes one each clock, fairly, and the rest is
    lost as whole frames, before the tracker, and counted."""
    scene = Scene(1)
    tb = await ready(dut, scene)
    script = scene.paced(scene.writes(HEADERS, 16_000, 0))
    seen = await tb.play(script, read=True, rest=REST)
    lost = sum(outcomes.count(OVERFLOW) for outcomes in seen.trace.outcomes)
    assert lost == dropped(seen) > 1000
    events = len(seen.trace.taps)
    last = max(number for number, tap in enumerate(seen.trace.taps) if tap.kind == EventKind.FRAME)
    assert seen.elapsed[last] - seen.elapsed[0] == last, f"{events} events in {seen.elapsed[last]} clocks"
    ports = [tap.port for tap in seen.trace.taps[: last + 1] if tap.kind == EventKind.FRAME]
    # Once all ports have frames waiting, until the first one has none left.
    for start in range(800, len(ports) - 800, 80):
        shares = Counter(ports[start : start + 80])
        assert set(shares.values()) == {10}, f"events {start} to {start + 80}: {shares}"
    record(lost=lost)


@cocotb.test()
async def answers_faster_than_they_can_leave(dut: Any) -> None:
    """Each packet asks for a SACK, and outputs stall: the reply queues fill, the engine stops, whole frames are lost
    before it, and no answer is."""
    scene = Scene(2)
    tb = await ready(dut, scene, sack_threshold=1)
    seen = await tb.play(scene.paced(scene.writes(HEADERS, 8_000, 0)), stall=0.5, rest=REST)
    assert dropped(seen) > 1000
    assert tb.follower.met["replies"] > 1.2 * len(seen.trace.taps)


@cocotb.test()
async def completions_never_stop_the_engine(dut: Any) -> None:
    """120 immediates wait for one packet. When it comes, 120 completions follow in as many clocks, and other QPs'
    packets, one a clock, do not notice."""
    scene = Scene(3)
    tb = await ready(dut, scene, receives=130)
    busy = scene.senders.pop(QPS[-1])
    script = Round()
    busy.begin(8, immediate=False)
    hole = busy.new()
    for _ in range(120):
        busy.begin(0, immediate=True)
        script.frames[0].append(Sent(scene.frame(busy, busy.new(), 0), gap=4))
    await tb.play(script, rest=REST)
    others = scene.writes(512, 4_000, 368)
    script = scene.paced([*others[:2000], scene.frame(busy, hole, 0), *others[2000:]])
    seen = await tb.play(script, rest=REST)
    assert not dropped(seen)
    assert len(seen.completed) == 120
    assert seen.completed[-1] - seen.completed[0] == 119
    delays = waits(script, seen)
    assert max(delays) - min(delays) <= PORTS, f"from {min(delays)} to {max(delays)} clocks"


@cocotb.test()
async def quiet_timers(dut: Any) -> None:
    """A quiet timer fires between its deadline and one scan later, for QPs from the first to the last."""
    scene = Scene(4)
    tb = TB(dut, scene.world.config, options()["seed"])
    await tb.reset()
    clocks = dict(zip((3, 4, 31, 32, 62, 63), (100, 101, 127, 300, 999, 1023), strict=True))
    await tb.play(scene.opening({qp: scene.row(quiet_clocks=wait, mpr_units=8) for qp, wait in clocks.items()}))
    for start in range(30):
        script = Round()
        for number, sender in enumerate(scene.senders.values()):
            sender.begin(8, immediate=False)
            gap = scene.rng.randrange(300) if start % 2 else start
            script.frames[number].append(Sent(scene.frame(sender, sender.new(), number), gap))
        await tb.play(script)
    assert tb.follower.met["quiet timer"] == 30 * len(clocks)
    # Each of the other five that expire at the same time may go first.
    assert tb.follower.latest <= SCAN + 3 + len(clocks) - 1
    record(**{"latest quiet timer": tb.follower.latest})


@cocotb.test()
async def strays_leave_it_idle_R10(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """Answers to requests never made, for known and unknown QPs: nothing follows, and nothing is kept waiting."""
    scene = Scene(5)
    tb = await ready(dut, scene)
    senders = list(scene.senders.values())
    script = Round()
    for number in range(1000):
        data = scene.noise.stray(scene.rng.choice(senders), number % PORTS)
        script.frames[number % PORTS].append(Sent(data, gap=7))
    seen = await tb.play(script)
    assert len(seen.trace.taps) == 1000
    assert not any(seen.trace.replies)
    assert not seen.trace.completions
    last_in = max(sum(each.gap + -(-len(each.data) // BUS_BYTES) for each in frames) for frames in script.frames)
    assert int(dut.clocks.value) < last_in + 60
    script = Round(commands=[Command(Op.QUERY, qp) for qp in QPS])
    await tb.play(script)


# ---------------------------------------------------------------------- in pytest


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 2])
def test_clocks(interval: int, tmp_path: Path) -> None:
    figures = simulate(bench(interval), MODULE, tmp_path, {"interval": interval}, seed=3)
    assert figures["lost"] > 0
    assert figures["latest quiet timer"] > 0
