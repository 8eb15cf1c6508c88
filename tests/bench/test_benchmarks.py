"""Each benchmark once, in small: the work is done, by both contestants, and its result compared."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pymodel.base.errors import InputError
from pymodel.bench import bmv2_files, engine, main_job, rtl, topology, wire
from pymodel.bench.bmv2_files import FileFedBmv2, records
from pymodel.bench.cores import contest_core, pinned
from pymodel.bench.engine import Size
from pymodel.bench.figure import Outcome, Step
from pymodel.bench.traffic import FABRIC, LONG, SHORT, SWITCH, entries, frames, packets
from pymodel.switch.program import mrc_switch
from pymodel.wire import Frame, parse

SMALL = (Size("engine.un", SHORT, 60), Size("engine.un.4238", LONG, 60))


def ignore(done: int, total: int) -> None:
    assert 0 <= done < total


@pytest.mark.parametrize(("payload_bytes", "size"), [(SHORT, 142), (LONG, 4238)])
def test_frames_are_data_packets_of_the_two_sizes(payload_bytes: int, size: int) -> None:
    made = frames(payload_bytes, 60)
    assert {len(frame) for frame in made} == {size}
    assert len(set(made)) == 60
    assert len({packet.path for packet in packets(payload_bytes, 60)}) == (FABRIC.t0 - 1) * FABRIC.uplinks
    for frame, packet in zip(made, packets(payload_bytes, 60), strict=True):
        parsed = parse(frame)
        assert isinstance(parsed, Frame)
        assert (parsed.psn, parsed.ev, len(parsed.payload)) == (packet.psn, packet.ev, payload_bytes)


@pytest.mark.parametrize(
    ("measure", "name", "peer"),
    [
        (lambda step: wire.pack(step, count=20, peer_count=2, rounds=1), "wire.pack", "scapy "),
        (lambda step: wire.unpack(step, count=20, peer_count=2, rounds=1), "wire.unpack", "scapy "),
        (lambda step: wire.icrc(step, count=20, rounds=1), "wire.icrc", "zlib.crc32"),
    ],
    ids=["pack", "unpack", "icrc"],
)
def test_wire_has_a_peer_that_did_the_same(measure: Callable[[Step], Outcome], name: str, peer: str) -> None:
    (figure,) = measure(ignore).figures
    assert (figure.name, figure.unit) == (name, "frames/s")
    assert figure.peer
    assert figure.peer.startswith(peer)
    assert figure.value > 0
    assert figure.ratio is not None
    # Whatever the machine does meanwhile, C code that is part of ours is no slower than ours by a factor.
    assert figure.ratio < 2 if name == "wire.icrc" else figure.ratio > 1


def test_a_scapy_that_makes_other_bytes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_scapy_pack", lambda layers: b"")
    with pytest.raises(InputError, match=r"wire\.pack: found other bytes from scapy than from us"):
        wire.pack(ignore, count=1, peer_count=1, rounds=1)


def test_topology_gives_milliseconds_and_megabytes() -> None:
    time, memory = topology.measure(ignore, rounds=1).figures
    assert (time.name, time.unit, memory.name, memory.unit) == ("topology.full", "ms", "topology.full.memory", "MB")
    assert time.value > 0
    assert 0.1 < memory.value < 100


def test_pinning_ends_with_its_block() -> None:
    before = os.sched_getaffinity(0)
    with pinned(contest_core()):
        assert os.sched_getaffinity(0) == {contest_core()}
    assert os.sched_getaffinity(0) == before


def test_without_bmv2_the_engine_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find", lambda name: None)
    outcome = engine.measure(ignore, SMALL, rounds=1)
    assert [(figure.name, figure.unit, figure.peer) for figure in outcome.figures] == [
        ("engine.un", "packets/s", None),
        ("engine.un.4238", "packets/s", None),
    ]
    (note,) = outcome.notes
    assert note.startswith("engine.un has no peer: simple_switch_grpc is missing")


@pytest.mark.bmv2
def test_the_engine_and_bmv2_forward_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def require_same(ours: dict[int, list[bytes]], theirs: dict[int, list[bytes]], rounds: int) -> None:
        compared.append((sum(map(len, ours.values())), sum(map(len, theirs.values())), len(ours), rounds))
        same(ours, theirs, rounds)

    same = engine._require_same
    monkeypatch.setattr(engine, "_require_same", require_same)
    outcome = engine.measure(ignore, SMALL[:1], rounds=1)
    (figure,) = outcome.figures
    assert figure.peer
    assert figure.peer.startswith("BMv2 1.")
    assert figure.ratio is not None
    assert figure.ratio > 0
    assert compared == [(60, 120, FABRIC.uplinks, 2)]
    (note,) = outcome.notes
    assert "logging macros compiled" in note
    assert "--log-level off --use-files 0" in note


@pytest.mark.parametrize(
    "theirs",
    [{8: [b"a", b"b", b"a"]}, {8: [b"a", b"a", b"b", b"b"]}, {8: [b"a", b"b"] * 2, 9: [b"c"]}, {}],
    ids=["one lost", "other order", "one too many", "none"],
)
def test_frames_that_differ_are_told(theirs: dict[int, list[bytes]]) -> None:
    engine._require_same({8: [b"a", b"b"]}, {8: [b"a", b"b"] * 2}, 2)
    with pytest.raises(InputError, match=r"engine\.un, port [89]: found other frames from BMv2"):
        engine._require_same({8: [b"a", b"b"]}, theirs, 2)


@pytest.mark.bmv2
def test_bmv2_that_loses_a_frame_is_told_and_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = frames(SHORT, 10)
    lost = good[0][:38] + bytes(16) + good[0][54:]  # to the unspecified address
    with FileFedBmv2(tmp_path, FABRIC.port_count(SWITCH), contest_core()) as bmv2:
        bmv2.program(mrc_switch(), entries(), depth=100)
        assert bmv2.run(records(good)) > 0
        assert sum(map(len, bmv2.came().values())) == 10
        process = bmv2._process._process
        assert process
        pids = (process.pid, bmv2._process._pid)
        assert [os.sched_getaffinity(pid) for pid in pids] == [{contest_core()}] * 2
        monkeypatch.setattr(bmv2_files, "_ROUND_S", 0.3)
        with pytest.raises(InputError, match="BMv2 in file mode: found 158 bytes missing"):
            bmv2.run(records([lost]))
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.slow
def test_main_job_stays_within_its_memory() -> None:
    rate, seconds, memory = main_job.measure(ignore, rounds=1).figures
    assert (rate.name, seconds.name, memory.name) == main_job.FIGURES
    assert (rate.unit, seconds.unit, memory.unit) == ("packets/s", "s", "MiB")
    # 513 data packets at the least: two writes of 1 MiB in packets of 4096 bytes, and a loss.
    assert rate.value * seconds.value > 512
    assert 20 < memory.value < 512


@pytest.mark.rtl
@pytest.mark.slow
def test_rtl_counts_simulated_clocks() -> None:
    (figure,) = rtl.measure(ignore, packets=200, rounds=1).figures
    assert (figure.name, figure.unit) == ("rtl.psn_tracker", "clocks/s")
    assert figure.value > 0


@pytest.mark.rtl
@pytest.mark.slow
def test_the_receive_side_counts_clocks_and_packets() -> None:
    clocks, packets = rtl.measure_receive(ignore, packets=300, rounds=1).figures
    assert (clocks.name, packets.name) == rtl.RECEIVE_FIGURES
    assert (clocks.unit, packets.unit) == ("clocks/s", "packets/s")
    assert clocks.value > packets.value > 0


def test_a_main_job_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_job, "_COMMAND", ("-c", "import sys; sys.exit('memory differs')"))
    with pytest.raises(InputError, match=r"main_job: found exit code 1 \(memory differs\), expected a run"):
        main_job.measure(ignore, rounds=1)
