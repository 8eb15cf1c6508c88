"""mrc_rx_port in lock-step with the golden model's parser: every frame's fate, every descriptor, every payload byte.

pytest builds the port and runs this same file in the simulator, where the functions marked `cocotb.test` are the tests.
Idle lines carry junk (C10), each payload ends in exactly one tlast (R05), and drops fall on all beats of a frame (R11).
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.rx_port_bench import TB, Pace
from cocotb_tests.rx_traffic import CAUSES, MAX_FRAME_BYTES, Outcome, Traffic, of_length, outcome
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, record, simulate, waves_wanted
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import DEFAULT_OPTIONS, DscpMap, EvSplit, Opcode, WireOptions

MODULE = "cocotb_tests.test_mrc_rx_port"
FRAMES_IN_CI = 20_000
LATENCY = latency_of("rx_port: last beat to descriptor")
VERDICT_LATENCY = latency_of("rx_port: verdict to first beat")
SHORTEST, LONGEST = 62, 9000
OTHER_OPTIONS = WireOptions(
    udp_port=20_000,
    accepted_udp_ports=(20_000,),
    ev_split=EvSplit.SOURCE_PORT_HIGH,
    dscp=DscpMap(trimmed=33, trimmed_lasthop=None),
)


def settings(chosen: WireOptions = DEFAULT_OPTIONS) -> int:
    """`chosen` as rx_config_t."""
    ports, dscp = chosen.accepted_udp_ports, chosen.dscp
    lasthop = dscp.trimmed if dscp.trimmed_lasthop is None else dscp.trimmed_lasthop
    value = ports[0] << 16 | ports[-1]
    return (value << 6 | dscp.trimmed) << 7 | lasthop << 1 | (chosen.ev_split is EvSplit.SOURCE_PORT_HIGH)


def latency(frame: bytes) -> int:
    """Clocks from the last beat of a good frame to its descriptor, as the module's header has it."""
    parsed = parse(frame)
    assert isinstance(parsed, Frame)
    offset = frame.index(parsed.addresses) - (12 if len(parsed.addresses) == 8 else 8)
    in_last_beat = (len(frame) - 1) % 64 + 1
    return LATENCY + (len(frame) <= 64 or in_last_beat > offset % 64)


def outcomes(frames: list[bytes], chosen: WireOptions = DEFAULT_OPTIONS) -> list[Outcome]:
    return [outcome(frame, chosen) for frame in frames]


# ---------------------------------------------------------------------- in the simulator


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.3], stall=[0.0, 0.3])
async def lock_step(dut: Any, idle: float, stall: float) -> None:
    """{no idle clocks, idle} x {everything taken at once, stalls}, refused payloads and late verdicts among them."""
    given = options()
    seed = given["seed"] * 4 + 2 * bool(idle) + bool(stall)
    frames = Traffic(seed).mixed(given["frames"] // 4)
    tb = TB(dut, seed)
    await tb.reset(settings())
    pace = Pace(idle=idle, stall=stall / 3, verdict=3, spread=40 if stall else 0, place=0.7)
    seen = await tb.run(frames, outcomes(frames), pace, may_overflow=bool(stall))
    add(frames=len(frames), accepted=seen.accepted, **seen.drops)
    if not stall:
        assert set(seen.latencies) <= {LATENCY, LATENCY + 1}


@cocotb.test()
async def other_choices_of_a_deployment(dut: Any) -> None:
    """Another UDP port, EV halves the other way round, another trim mark and none of the last hop."""
    frames = Traffic(5, OTHER_OPTIONS).mixed(400) + Traffic(6).mixed(100)
    tb = TB(dut, 5)
    await tb.reset(settings(OTHER_OPTIONS))
    await tb.run(frames, outcomes(frames, OTHER_OPTIONS), Pace())


@cocotb.test()
async def every_length_back_to_back(dut: Any) -> None:
    """The bus is full, with every length from the shortest to 9,000 bytes: nothing waits and nothing is lost.

    Short frames several times, since there the stages overlap most; in random order, so that all ends meet all
    beginnings. A payload's beats follow at the pace at which they came.
    """
    traffic = Traffic(options()["seed"])
    lengths = [*range(SHORTEST, LONGEST + 1), *(list(range(SHORTEST, 600)) * 6)]
    traffic.rng.shuffle(lengths)
    frames = [of_length(traffic, length) for length in lengths]
    tb = TB(dut, 9)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(verdict=60))
    beats = sum(-(-len(frame) // 64) for frame in frames)
    assert seen.accepted == len(frames)
    assert seen.input_clocks == beats
    assert seen.latencies == [latency(frame) for frame in frames]
    record(**{"back to back": len(frames), "beats": beats})


@cocotb.test()
async def one_frame_a_beat(dut: Any) -> None:
    """Frames of one beat each clock, good and cut: the shortest there are, and a descriptor a clock."""
    traffic = Traffic(31)
    frames = [of_length(traffic, length) for length in (62, 63, 64)] * 300
    frames = [frame[: traffic.rng.randint(1, 64)] if n % 5 == 4 else frame for n, frame in enumerate(frames)]
    tb = TB(dut, 31)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace())
    assert seen.input_clocks == len(frames)
    assert set(seen.latencies) <= {LATENCY, LATENCY + 1}


@cocotb.test()
async def lengths_near_64_kilobytes(dut: Any) -> None:
    """The longest IP packets, and a frame of much link padding, are too long; an outer length that wraps is wrong."""
    traffic = Traffic(41)
    frames = []
    for shape in (0, 1, 2, 3):
        size = 65_480 if shape else 65_460
        frames += [traffic.good(opcode=Opcode.WRITE_LAST, size=size, shape=shape)[0], of_length(traffic, 90)]
    frames.append(of_length(traffic, 300).ljust(140_000, b"\0"))
    wanted = outcomes(frames)
    assert {CAUSES[each.cause] for each in wanted if each.cause is not None} == {"OVERSIZE", "IP_LENGTH"}
    tb = TB(dut, 41)
    await tb.reset(settings())
    await tb.run(frames, wanted, Pace())


@cocotb.test()
async def a_verdict_is_carried_out_at_once(dut: Any) -> None:
    """Command and first beat come the stated clocks after the verdict where nothing waits."""
    traffic = Traffic(29)
    frames = [traffic.good(opcode=Opcode.WRITE_LAST, size=size, shape=2)[0] for size in range(1, 65)]
    tb = TB(dut, 29)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(idle=0.6))
    assert seen.placings == [VERDICT_LATENCY] * len(frames)


@cocotb.test()
@cocotb.parametrize(closed=[0, 500])
async def verdicts_always_find_room(dut: Any, closed: int) -> None:
    """Descriptors with payload wait inside when as many as there is room for verdicts are out; then all go on.

    When nobody took descriptors for a while they leave back to back.
    """
    given = options()
    traffic = Traffic(37)
    frames = [traffic.good(opcode=Opcode.WRITE_ONLY, size=size % 200, shape=1)[0] for size in range(300)]
    tb = TB(dut, 37)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(closed=closed, verdict=1500), may_overflow=True)
    assert seen.most_out == given["verdicts"]
    assert seen.accepted >= given["verdicts"] + 64


@cocotb.test()
async def drops_on_every_beat_R11(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """A wrong bit in the first, a middle and the last beat, between good frames: lengths and payloads stay paired."""
    traffic = Traffic(11)
    frames, faults = [], 0
    for size in (1, 60, 64, 65, 128, 200, 1000, 4096):
        for shape in (0, 1, 2, 3) * 3:
            good, inner = traffic.good(opcode=Opcode.WRITE_MIDDLE, size=size, shape=shape)
            for at in (inner + 16, (inner + 60 + len(good)) // 2, len(good) - 5, len(good) - 1):
                wrong = bytearray(good)
                wrong[at] ^= 1 << traffic.rng.randrange(8)
                frames += [bytes(wrong), of_length(traffic, traffic.rng.randint(SHORTEST, 500))]
                faults += 1
    tb = TB(dut, 11)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(idle=0.1, verdict=20, spread=30, place=0.5))
    assert sum(seen.drops.values()) == faults


@cocotb.test()
@cocotb.parametrize(what=["nothing taken", "slow memory", "slow commands"])
async def overflow_drops_whole_frames(dut: Any, what: str) -> None:
    """Nobody takes descriptors, or memory is slow: whole frames are lost and counted, the others come in order."""
    traffic = Traffic(13)
    frames = [traffic.good(size=traffic.rng.choice((0, 64, 500, 4096)))[0] for _ in range(700)]
    tb = TB(dut, 13)
    await tb.reset(settings())
    pace = {
        "nothing taken": Pace(closed=3000),
        "slow memory": Pace(dma_stall=0.8),
        "slow commands": Pace(cmd_stall=0.5, sticky=0.98),
    }[what]
    seen = await tb.run(frames, outcomes(frames), pace, may_overflow=True)
    assert seen.drops.keys() == {"OVERFLOW"}
    assert seen.drops["OVERFLOW"] > 50
    assert seen.accepted > 50
    frames = traffic.mixed(60)
    await tb.run(frames, outcomes(frames), Pace())  # and nothing is left of it


@cocotb.test()
async def a_full_buffer_is_used_to_its_last_beat(dut: Any) -> None:
    """Payloads of all of the buffer's beats wait for their verdicts; the next byte is too many."""
    given = options()
    traffic = Traffic(17)
    full = [traffic.good(size=64 * given["beats"] // 16, shape=1, opcode=Opcode.WRITE_ONLY)[0] for _ in range(16)]
    frames = [*full, traffic.good(size=1, shape=1, opcode=Opcode.WRITE_ONLY)[0], traffic.good(opcode=Opcode.SACK)[0]]
    tb = TB(dut, 17)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(verdict=2000), may_overflow=True)
    assert seen.drops == {"OVERFLOW": 1}
    assert seen.accepted == 17


@cocotb.test()
async def refused_payloads_cost_no_bus_time(dut: Any) -> None:
    """Nine of ten payloads are refused, and memory takes a beat every fourth clock: no loss, at a full input."""
    traffic = Traffic(19)
    frames = [of_length(traffic, traffic.rng.choice((200, 1000, 4200))) for _ in range(800)]
    tb = TB(dut, 19)
    await tb.reset(settings())
    seen = await tb.run(frames, outcomes(frames), Pace(place=0.1, dma_stall=0.6))
    assert seen.accepted == len(frames)


@cocotb.test()
async def speed(dut: Any) -> None:
    """Simulated clocks per second of this bench, the traffic made beforehand; for the benchmarks."""
    frames = Traffic(1).mixed(options()["frames"])
    wanted = outcomes(frames)
    tb = TB(dut, 6)
    await tb.reset(settings())
    start = time.perf_counter()
    seen = await tb.run(frames, wanted, Pace())
    record(clocks=seen.clocks, seconds=time.perf_counter() - start)


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "rx" / "mrc_rx_port.f"),
    "cocotb_tests/hdl/mrc_rx_port_bench.sv",
)
BEATS = 512
VERDICTS = 64
OF_THE_BUFFER = (
    "a_verdict_is_carried_out_at_once",
    "verdicts_always_find_room",
    "drops_on_every_beat_R11",
    "overflow_drops_whole_frames",
    "a_full_buffer_is_used_to_its_last_beat",
    "refused_payloads_cost_no_bus_time",
)


def bench(waves: bool = False) -> Build:
    return build(Design("mrc_rx_port_bench", SOURCES, {"BUFFER_BEATS": BEATS, "VERDICTS": VERDICTS}), waves)


def run(folder: Path, tests: tuple[str, ...], **given: Any) -> dict[str, Any]:
    return simulate(
        bench(waves_wanted()), MODULE, folder, {"beats": BEATS, "verdicts": VERDICTS, **given}, seed=20, tests=tests
    )


@pytest.mark.rtl
@pytest.mark.slow
def test_lock_step_with_the_golden_model(tmp_path: Path) -> None:
    """With WAVES=1 the run leaves its waves in `build/waves`."""
    folder = ROOT / "build" / "waves" / "mrc_rx_port" if waves_wanted() else tmp_path
    figures = Counter(run(folder, ("lock_step", "other_choices_of_a_deployment"), frames=FRAMES_IN_CI))
    assert figures["frames"] >= FRAMES_IN_CI
    assert figures["accepted"] > FRAMES_IN_CI // 3
    for cause in CAUSES[:-1]:
        assert figures[cause] >= 10, cause


@pytest.mark.rtl
@pytest.mark.slow
def test_full_rate_for_every_length(tmp_path: Path) -> None:
    figures = run(tmp_path, ("every_length_back_to_back", "one_frame_a_beat", "lengths_near_64_kilobytes"))
    assert figures["back to back"] > LONGEST - SHORTEST


@pytest.mark.rtl
@pytest.mark.slow
def test_store_and_forward(tmp_path: Path) -> None:
    assert BEATS * 64 > MAX_FRAME_BYTES
    run(tmp_path, OF_THE_BUFFER)
