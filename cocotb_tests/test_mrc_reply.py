"""mrc_reply in lock-step with the golden model: every frame, byte for byte, in its port's order.

Every test drives junk on idle lines (C10). What the model makes of a reply is that of `pymodel.nic`: framing, the turn
over planes, endpoint responses.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_rows import PORTS
from cocotb_tests.reply_bench import TB
from cocotb_tests.reply_model import OPCODES, Kind, Model, Reply
from cocotb_tests.reply_traffic import BODY_BYTES, FIRST_QP, OTHER_OPTIONS, Traffic, device
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, simulate, waves_wanted
from pymodel.wire.spec import DEFAULT_OPTIONS, WireOptions

MODULE = "cocotb_tests.test_mrc_reply"
LATENCY = latency_of("reply: reply to first beat")  # as the module's header has it
UNDER_WAY = 6  # a port's queue stops replies when it holds more than FRAMES less these
BEATS = {size: -(-size // 64) for size in (114, 122, 138, 146, 154, 162, 178)}
CONFIGURATIONS = [(128, 64), (1024, 16)]  # (QPS, FRAMES)
REPLIES = 10_000  # compared in each configuration, in the random runs alone


async def start(dut: Any, seed: int, wire: WireOptions = DEFAULT_OPTIONS) -> tuple[TB, Traffic]:
    rng = random.Random(seed)
    own = device(rng, wire)
    tb = TB(dut, own, seed)
    await tb.reset()
    return tb, Traffic(own, rng)


# ---------------------------------------------------------------------- in the simulator


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.1])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    """{no idle clocks, idle} x {ports always take, stalls}: every kind, planes go and come, routes change."""
    given = options()
    tb, traffic = await start(dut, given["seed"] * 4 + 2 * bool(idle) + bool(stall))
    qps = traffic.rng.sample(range(FIRST_QP, given["qps"]), 24)
    count = given["replies"] // 4
    endpoint = [traffic.response() for _ in range(count // 5)]
    left = await tb.run(traffic.set_up(qps) + list(traffic.mixed(qps, count)), endpoint, idle=idle, stall=stall)
    assert {frame.size for frame in left} == set(BEATS)
    assert {frame.port for frame in left} == set(range(PORTS))
    assert tb.model.dropped["no way back"] > count // 50
    add(**{"replies in random traffic": count + len(endpoint), "frames in random traffic": len(left)})


@cocotb.test()
async def other_choices_on_the_wire(dut: Any) -> None:
    """Every option of the wire another than the default: EV halves, dcids, EETH, UDP port, classes."""
    tb, traffic = await start(dut, 11, OTHER_OPTIONS)
    qps = range(FIRST_QP, FIRST_QP + 6)
    await tb.run(traffic.set_up(qps) + list(traffic.mixed(qps, 300)), [traffic.response() for _ in range(100)])


@cocotb.test()
async def every_mask_of_planes_at_every_turn(dut: Any) -> None:
    """One QP, a reply a clock: each of 256 masks at each of eight turns, which the reply right before it set."""
    tb, traffic = await start(dut, 12)
    items = traffic.set_up([FIRST_QP])
    for mask, turn in itertools.product(range(1 << PORTS), range(PORTS)):
        items.append(traffic.answer(FIRST_QP, Kind.ACK, planes=1 << (turn - 1) % PORTS))
        items.append(traffic.answer(FIRST_QP, Kind.ACK, planes=mask))
    left = await tb.run(items)
    assert len(left) == 2 * PORTS * (1 << PORTS) - PORTS
    assert tb.model.dropped["no way back"] == PORTS


@cocotb.test()
async def turns_of_qps_close_to_each_other(dut: Any) -> None:
    """Answers of one QP from one clock apart to further than the pipeline is long, others in between."""
    tb, traffic = await start(dut, 13)
    qps = range(FIRST_QP, FIRST_QP + 12)
    items = traffic.set_up(qps)
    for distance in (*range(1, 12), *range(11, 0, -1)):
        for _ in range(6):
            items += [traffic.answer(qp, planes=traffic.planes()) for qp in qps[:distance]]
    await tb.run(items)


@cocotb.test()
async def a_route_counts_from_its_place_on(dut: Any) -> None:
    """Route and answer in turn, a clock apart: each answer takes the route right before it, and no other port's."""
    tb, traffic = await start(dut, 14)
    items = traffic.set_up([FIRST_QP, FIRST_QP + 1])
    for _ in range(200):
        port = traffic.rng.randrange(PORTS)
        items.append(traffic.route(FIRST_QP, port))
        items.append(traffic.answer(FIRST_QP, planes=1 << port))
        items.append(traffic.answer(FIRST_QP + 1, planes=1 << port))
    await tb.run(items)


@cocotb.test()
async def a_configuration_counts_from_its_place_on(dut: Any) -> None:
    """Answers around a configuration: new peer behind it, and the turn begins anew with port 0."""
    tb, traffic = await start(dut, 15)
    items = traffic.set_up([FIRST_QP])
    for answers in (*range(1, 9), *range(8, 0, -1)):
        items += [traffic.answer(FIRST_QP) for _ in range(answers)] + [traffic.config(FIRST_QP)]
    items.append(traffic.answer(FIRST_QP))
    left = await tb.run(items)
    assert left[-1].port == 0


@cocotb.test()
async def latency(dut: Any) -> None:
    """Alone, a reply's frame begins after exactly the latency, and goes out without a gap."""
    tb, traffic = await start(dut, 16)
    await tb.run(traffic.set_up([FIRST_QP]))
    for kind in [*OPCODES] * PORTS:
        (frame,) = await tb.run([traffic.answer(FIRST_QP, kind)])
        assert frame.first - frame.accepted == LATENCY
        assert frame.last - frame.first == BEATS[frame.size] - 1
    for port in range(PORTS):
        (frame,) = await tb.run(endpoint=[traffic.response(port)])
        assert frame.first - frame.accepted == LATENCY


@cocotb.test()
async def one_reply_a_clock(dut: Any) -> None:
    """Eight ports that take a frame of three beats each in three clocks: N replies go in in N clocks.

    All QPs stand at the same turn, so that as many replies in a row as there are QPs take the same port.
    """
    tb, traffic = await start(dut, 17)
    in_step = (3 * (options()["frames"] - UNDER_WAY) - 10) // 2  # as the module's header has it
    qps = range(FIRST_QP, FIRST_QP + in_step)
    await tb.run(traffic.set_up(qps))
    count = 1500
    before = len(tb.accepted)
    left = await tb.run([traffic.answer(qp, Kind.SACK) for _, qp in zip(range(count), itertools.cycle(qps))])
    accepted = tb.accepted[before:]
    assert [clock - accepted[0] for clock in accepted] == list(range(count))
    assert {BEATS[frame.size] for frame in left} == {3}
    # One QP alone as well.
    before = len(tb.accepted)
    await tb.run([traffic.answer(FIRST_QP) for _ in range(count)])
    accepted = tb.accepted[before:]
    assert accepted[-1] - accepted[0] == count - 1


@cocotb.test()
async def both_sources_in_turn(dut: Any) -> None:
    """Engine and endpoint at once: a reply a clock, each source every other clock."""
    tb, traffic = await start(dut, 18)
    qps = range(FIRST_QP, FIRST_QP + 8)
    await tb.run(traffic.set_up(qps))
    count, before = 400, len(tb.accepted)
    responses = [traffic.response(number % PORTS) for number in range(count)]
    kinds: list[Kind] = []
    take = tb.take

    def watched(item: Reply) -> tuple[int, bytes] | None:
        kinds.append(item.kind)
        return take(item)

    tb.take = watched
    await tb.run([traffic.answer(qp) for _, qp in zip(range(count), itertools.cycle(qps))], responses)
    accepted = tb.accepted[before:]
    assert accepted[-1] - accepted[0] == 2 * count - 1
    assert all((a is Kind.ENDPOINT) != (b is Kind.ENDPOINT) for a, b in itertools.pairwise(kinds))


@cocotb.test()
async def one_plane_alone(dut: Any) -> None:
    """With one usable plane its port is the limit: it sends without a gap, and nothing is lost."""
    tb, traffic = await start(dut, 19)
    await tb.run(traffic.set_up([FIRST_QP]))
    left = await tb.run([traffic.answer(FIRST_QP, planes=1 << 5) for _ in range(300)])
    assert {frame.port for frame in left} == {5}
    assert all(after.first == before.last + 1 for before, after in itertools.pairwise(left))


@cocotb.test()
async def a_port_that_stands_still(dut: Any) -> None:
    """Its queue fills, then no reply is accepted; the others' frames leave. When it goes on, nothing was lost."""
    tb, traffic = await start(dut, 20)
    frames = options()["frames"]
    qps = range(FIRST_QP, FIRST_QP + 4)
    await tb.run(traffic.set_up(qps))
    before, shut = len(tb.accepted), 1 << 3
    items = [traffic.answer(qps[0], planes=shut) for _ in range(2 * frames)]
    left = await tb.run(items, shut=shut, patience=100)
    assert not left
    # The queue holds too much with reply FRAMES - 5; those of the next five clocks come in before it is known.
    assert len(tb.accepted) - before == frames
    left = await tb.run()
    assert len(left) == 2 * frames

    items = [traffic.answer(traffic.rng.choice(qps)) for _ in range(PORTS * 2 * frames)]
    left = await tb.run(items, shut=shut, patience=100)
    assert {frame.port for frame in left} == set(range(PORTS)) - {3}
    count = len(left)
    left = await tb.run()
    assert count + len(left) == len(items)


@cocotb.test()
async def reset_amid_traffic(dut: Any) -> None:
    """Frames under way are lost, whole; QPs that are configured anew answer as ever."""
    tb, traffic = await start(dut, 21)
    qps = range(FIRST_QP, FIRST_QP + 8)
    for clocks in (1, 5, 9, 12, 13, 14, 30):
        items = [traffic.answer(qp) for qp in qps for _ in range(8)]
        await tb.run(traffic.set_up(qps))
        await tb.run(items, clocks=clocks)
        await tb.reset()
    await tb.run(traffic.set_up(qps) + list(traffic.mixed(qps, 100)))


def _other_port(model: Model, item: Reply) -> tuple[int, bytes] | None:
    action = model.take(item)
    return action and ((action[0] + 1) % PORTS, action[1])


def _flipped(bit: int) -> Callable[[Model, Reply], tuple[int, bytes] | None]:
    def take(model: Model, item: Reply) -> tuple[int, bytes] | None:
        action = model.take(item)
        if action is None or item.kind is not Kind.NACK:
            return action
        at = len(action[1]) - 1 - bit // 8
        flipped = action[1][at] ^ 1 << bit % 8
        return action[0], action[1][:at] + bytes([flipped]) + action[1][at + 1 :]

    return take


def _late_route(model: Model, item: Reply) -> tuple[int, bytes] | None:
    if item.kind is Kind.ROUTE and model.device.address & 1 == item.qp & 1:
        return None
    return model.take(item)


def _stays(model: Model, item: Reply) -> tuple[int, bytes] | None:
    """Planes do not go by turns where one is not usable."""
    return model.take(dataclasses.replace(item, planes=item.planes | 1) if item.planes else item)


FAULTS = {
    "the frame takes the next port": _other_port,
    "a bit of the ICRC": _flipped(7),
    "a bit of the body": _flipped(40),
    "a bit of the front": _flipped(8 * (BODY_BYTES[Kind.NACK] + 4) + 3),
    "a route is forgotten": _late_route,
    "a plane that is down is taken": _stays,
}


@cocotb.test()
@cocotb.parametrize(fault=list(FAULTS))
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong: it is the model's every byte that is compared."""
    tb, traffic = await start(dut, 22)
    qps = range(FIRST_QP, FIRST_QP + 8)
    await tb.run(traffic.set_up(qps))
    model = tb.model
    tb.take = lambda item: FAULTS[fault](model, item)
    with pytest.raises(AssertionError, match=r"port|stuck"):
        await tb.run(list(traffic.mixed(qps, 600)))


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "reply" / "mrc_reply.f"),
    "cocotb_tests/hdl/mrc_reply_bench.sv",
)


def bench(qps: int, frames: int, waves: bool = False) -> Build:
    return build(Design("mrc_reply_bench", SOURCES, {"QPS": qps, "FRAMES": frames}), waves)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(("qps", "frames"), CONFIGURATIONS)
def test_lock_step_with_the_golden_model(qps: int, frames: int, tmp_path: Path) -> None:
    """With WAVES=1 the run leaves its waves in `build/waves`."""
    waves = waves_wanted()
    folder = ROOT / "build" / "waves" / f"mrc_reply-{qps}" if waves else tmp_path
    settings = {"qps": qps, "frames": frames, "replies": REPLIES}
    figures = simulate(bench(qps, frames, waves), MODULE, folder, settings, seed=30)
    assert figures["replies in random traffic"] >= REPLIES
    assert figures["frames in random traffic"] >= REPLIES * 3 // 4
