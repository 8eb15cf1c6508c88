"""mrc_endpoint in lock-step with the golden model: every answer, notice and drop, each in its order.

Every test drives junk on idle lines (C10).
"""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.endpoint_bench import CAUSES, NOTICES, OVERFLOW, TB, Station
from cocotb_tests.receive_rows import PORTS
from cocotb_tests.reply_model import Model, endpoint_request, parsed
from cocotb_tests.reply_traffic import OTHER_OPTIONS, device, source
from pymodel.base.toolpath import ROOT
from pymodel.nic.config import DeviceConfig
from pymodel.rtl.build import Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, simulate
from pymodel.wire.build import build as build_frame
from pymodel.wire.headers import Bth, Eeth, EethOp54, Erth, Ethernet, Ipv4
from pymodel.wire.spec import (
    DEFAULT_OPTIONS,
    ENDPOINT_QP,
    USID_BITS,
    USID_BLOCK_BITS,
    USID_LOCAL_BLOCK_FIRST,
    EndpointOp,
    Opcode,
    WireOptions,
)

MODULE = "cocotb_tests.test_mrc_endpoint"
LATENCY, NOTICE_LATENCY = latency_of("endpoint: descriptor to answer"), latency_of("endpoint: descriptor to notice")
REQUESTS = 6_000
_BLOCK_AT = 128 - USID_BLOCK_BITS
_FIRST, _SECOND, _THIRD, _FOURTH = (_BLOCK_AT - USID_BITS * count for count in range(1, 5))


def own_device(rng: random.Random, wire: WireOptions = DEFAULT_OPTIONS) -> DeviceConfig:
    """A device of which some ports have a source from which no way leads back; its address is also one of IPv4."""
    own = device(rng, wire)
    ports = list(own.ports)
    good = ports[0].source_address
    for number, wrong in enumerate((
        good | 9 << _THIRD,  # three uSIDs
        good & ~(0xFFFF << _SECOND),  # one
        good & ~(0xFFFF << _FIRST) | USID_LOCAL_BLOCK_FIRST << _FIRST,  # of no role
        good & ((1 << _BLOCK_AT) - 1),  # no block
    )):  # fmt: skip
        ports[4 + number] = dataclasses.replace(ports[4 + number], source_address=wrong)
    return dataclasses.replace(own, ports=tuple(ports), address=rng.getrandbits(32))


def peer_source(rng: random.Random, own: int, plane: int) -> int:
    """An outer source, right or wrong in one of many ways."""
    good = source(plane, rng.choice((7, 9, (1 << 11) - 1)), rng.choice((0, 5, (1 << 11) - 1)))
    choices = (
        good,
        good | rng.getrandbits(_FOURTH),  # what stands behind the end says nothing
        own,
        good | 1 << _THIRD + rng.randrange(USID_BITS),  # three uSIDs
        good & ~(0xFFFF << _FIRST),
        good & ~(0xFFFF << _SECOND),
        good ^ 1 << _BLOCK_AT + rng.randrange(USID_BLOCK_BITS),  # another block
        good ^ 1 << _FIRST + rng.randrange(USID_BITS),  # another T0, plane or role
        good ^ 1 << _SECOND + rng.randrange(USID_BITS),
        good & ~(0xFFFF << _FIRST) | plane << _FIRST + 11,  # T0 of index 0
        good | USID_LOCAL_BLOCK_FIRST << _FIRST,
        good | USID_LOCAL_BLOCK_FIRST << _SECOND,
        good & ((1 << _BLOCK_AT) - 1),
        rng.getrandbits(128),
    )
    return rng.choice(choices) if rng.random() < 0.6 else good


def request(rng: random.Random, own: DeviceConfig, port: int | None = None, op: int | None = None) -> Station:
    """A good endpoint request, encapsulated or not, with an SRH or without."""
    port = rng.randrange(PORTS) if port is None else port
    outer = None if rng.random() < 0.2 else peer_source(rng, own.ports[port].source_address, port)
    erth = Erth(
        op=rng.getrandbits(1) if op is None else op,
        port_status_mask=rng.getrandbits(32),
        tx_timestamp=rng.getrandbits(16),
    )
    segments = (rng.getrandbits(128),) if outer is not None and rng.random() < 0.2 else ()
    data = endpoint_request(
        own,
        rng.getrandbits(128),
        erth=erth,
        number=rng.getrandbits(24),
        ev=rng.getrandbits(32),
        outer_source=outer,
        segments=segments,
    )
    return Station(port, data)


def refused(rng: random.Random, own: DeviceConfig) -> Station:
    """One that has no effect, for one cause or several."""
    wrong = [rng.random() < 0.4 for _ in range(4)]
    port, ev = rng.randrange(PORTS), rng.getrandbits(32)
    eeth = (EethOp54 if own.options.eeth is EethOp54.SPEC else Eeth)(op=rng.getrandbits(1))
    opcode = Opcode.ENDPOINT_RESPONSE if wrong[2] else Opcode.ENDPOINT_REQUEST
    dest_qp = rng.getrandbits(24) if wrong[1] else ENDPOINT_QP
    op = rng.choice([value for value in range(4) if value not in list(EndpointOp)]) if wrong[3] else rng.getrandbits(1)
    extension = eeth if wrong[2] else Erth(op=op, port_status_mask=rng.getrandbits(32))
    if rng.random() < 0.2:  # over IPv4, whose right-aligned address looks like the device's
        data = build_frame(
            ethernet=Ethernet(dst=1, src=2),
            ip=Ipv4(src=rng.getrandbits(32), dst=own.address),
            ev=ev & 0xFFFF,
            bth=Bth(opcode=opcode, dest_qp=dest_qp, psn=rng.getrandbits(24)),
            extensions=(extension,),
            options=own.options,
        )
        return Station(port, data)
    data = endpoint_request(
        own,
        rng.getrandbits(128),
        erth=extension,
        number=rng.getrandbits(24),
        ev=ev,
        outer_source=peer_source(rng, own.ports[port].source_address, port),
        opcode=opcode,
        dest_qp=dest_qp,
        dst=own.address ^ 1 << rng.randrange(128) if wrong[0] else None,
    )
    return Station(port, data)


async def start(dut: Any, seed: int, wire: WireOptions = DEFAULT_OPTIONS) -> tuple[TB, DeviceConfig]:
    own = own_device(random.Random(seed), wire)
    tb = TB(dut, own, seed)
    await tb.reset()
    return tb, own


# ---------------------------------------------------------------------- in the simulator


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def random_requests(dut: Any, idle: float, stall: float) -> None:
    """{no idle clocks, idle} x {always taken, stalls}: answered, and refused for every cause."""
    given = options()
    tb, own = await start(dut, given["seed"] + 2 * bool(idle) + bool(stall))
    rng, count = tb.rng, given["requests"] // 4
    await tb.run([(refused if rng.random() < 0.3 else request)(rng, own) for _ in range(count)], idle=idle, stall=stall)
    assert {drop.value for drop in tb.drops} == set(range(len(CAUSES)))
    assert len(tb.answers) > count // 5
    assert len(tb.notices) > count // 4
    add(**{"requests compared": count, "answers compared": len(tb.answers)})


@cocotb.test()
async def other_choices_on_the_wire(dut: Any) -> None:
    """Other EV halves, another EETH: what an answer is made of stays the same."""
    tb, own = await start(dut, 5, OTHER_OPTIONS)
    await tb.run([request(tb.rng, own) for _ in range(300)])


@cocotb.test()
async def every_bit_of_the_sources(dut: Any) -> None:
    """From a pair of sources between which there is a way, each bit of either address flipped, and of the EV."""
    tb, own = await start(dut, 6)
    rng, erth = tb.rng, Erth(op=EndpointOp.EV_PROBE)
    for good in (own.ports[0].source_address, source(0, 9, 3)):
        stations = [
            Station(0, endpoint_request(own, 1, erth=erth, number=2, ev=rng.getrandbits(32), outer_source=good ^ flip))
            for flip in (0, *(1 << bit for bit in range(128)))
        ]
        stations += [
            Station(0, endpoint_request(own, 1, erth=erth, number=2, ev=1 << bit, outer_source=good))
            for bit in range(32)
        ]
        await tb.run(stations)
    assert tb.answers
    assert tb.drops


@cocotb.test()
async def clocks(dut: Any) -> None:
    """N descriptors in N clocks; an answer, a drop and a notice each after exactly the latency."""
    tb, own = await start(dut, 7)
    rng = tb.rng
    await tb.run([request(rng, own, op=EndpointOp.EV_PROBE) for _ in range(300)])
    assert [clock - tb.accepted[0] for clock in tb.accepted] == list(range(300))
    assert {seen.came - seen.accepted for seen in [*tb.answers, *tb.drops]} == {LATENCY}
    for _ in range(10):
        await tb.run([request(rng, own, op=EndpointOp.PORT_STATUS_UPDATE)])
    assert {seen.came - seen.accepted for seen in tb.notices} == {NOTICE_LATENCY}


@cocotb.test()
async def software_that_does_not_listen(dut: Any) -> None:
    """Notices wait; then updates are dropped unanswered, and nothing else waits. Later all is as ever."""
    tb, own = await start(dut, 8)
    rng = tb.rng
    updates = [request(rng, own, op=EndpointOp.PORT_STATUS_UPDATE) for _ in range(NOTICES + 9)]
    probes = [request(rng, own, op=EndpointOp.EV_PROBE) for _ in range(40)]
    await tb.run(updates, listens=False, overflow_from=NOTICES)
    await tb.run(probes, listens=False)
    assert [drop.value for drop in tb.drops].count(OVERFLOW) == 9
    assert not tb.notices
    await tb.run([])
    assert len(tb.notices) == NOTICES
    await tb.run(updates[:NOTICES])
    assert len(tb.notices) == 2 * NOTICES


@cocotb.test()
async def answers_that_wait_stop_the_rest(dut: Any) -> None:
    """Long stalls of the answers: nothing is lost, no notice comes twice."""
    tb, own = await start(dut, 9)
    await tb.run([request(tb.rng, own) for _ in range(200)], stall=0.8)
    assert len(tb.answers) + len(tb.drops) == 200


def _next_port(model: Model, station: Station) -> tuple[int, bytes] | None:
    action = model.respond(parsed(station.data, model.device.options), station.port)
    return action and ((action[0] + 1) % PORTS, action[1])


def _other_t0(model: Model, station: Station) -> tuple[int, bytes] | None:
    """The model of a device under the T0 next to it."""
    ports = tuple(
        dataclasses.replace(port, source_address=port.source_address ^ 1 << _FIRST) for port in model.device.ports
    )
    other = Model(dataclasses.replace(model.device, ports=ports))
    action = other.respond(parsed(station.data, model.device.options), station.port)
    model.dropped += other.dropped
    return action


FAULTS = {"the answer takes the next port": _next_port, "it begins at another T0": _other_t0}


@cocotb.test()
@cocotb.parametrize(fault=list(FAULTS))
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong."""
    tb, own = await start(dut, 10)
    model = tb.model
    tb.respond = lambda station: FAULTS[fault](model, station)
    with pytest.raises(AssertionError, match="answers"):
        await tb.run([request(tb.rng, own) for _ in range(60)])


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "reply" / "mrc_endpoint.f"),
    "cocotb_tests/hdl/mrc_endpoint_bench.sv",
)


@pytest.mark.rtl
@pytest.mark.slow
def test_lock_step_with_the_golden_model(tmp_path: Path) -> None:
    built = build(Design("mrc_endpoint_bench", SOURCES))
    figures = simulate(built, MODULE, tmp_path, {"requests": REQUESTS}, seed=40)
    assert figures["requests compared"] >= REQUESTS
    assert figures["answers compared"] >= REQUESTS // 5
