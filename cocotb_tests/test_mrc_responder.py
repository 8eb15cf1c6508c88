"""mrc_responder in lock-step with the golden model: replies, verdicts, completions, answers, counts, and its clocks.

The traffic is that of the assembled receive side, given as descriptors. The tap says in which order frames, expiries of
timers and commands were accepted, and the model takes them in that order.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import cocotb
import pytest

from cocotb_tests.receive_faults import FAULTS
from cocotb_tests.receive_rows import PORTS, Command, EventKind, Op, QpRow, Round, RouteRow, Sent
from cocotb_tests.receive_sender import PSN_SPACE, Sender
from cocotb_tests.receive_traffic import Traffic
from cocotb_tests.receive_world import World
from cocotb_tests.responder_bench import REPLY_READY, TB, VERDICT_READY, Log, Pace
from cocotb_tests.responder_model import EngineGolden, Follower
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Build, Design, build, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.simulate import add, options, record, simulate, waves_wanted
from pymodel.wire.spec import Opcode

MODULE = "cocotb_tests.test_mrc_responder"
EVENTS = 20_000  # compared at each interval
REPLY_DEPTH = 64
VERDICT_DEPTH = 64
# Events inside when the reply queue is full and nothing moves: 2 at the arbiter, 5 in the lookup, 13 + interval and a
# register in the tracker, as many in the delivery, 8 behind it.
INSIDE = 61


def reply_latency(interval: int) -> int:
    """Clocks from an event's acceptance to its reply at the output, as the module's header has it."""
    return latency_of("responder: event to reply", interval)


def verdict_latency(interval: int) -> int:
    """Clocks from a frame's acceptance to the verdict at the output, as the module's header has it."""
    return latency_of("responder: event to verdict", interval)


# ---------------------------------------------------------------------- in the simulator


class Peer:
    """One peer that sends plain packets to QPs of one kind."""

    def __init__(self, seed: int, qps: int, **row: Any) -> None:
        self.world = World(seed)
        self.rng = self.world.rng
        self.row = QpRow(peer_qpn=77, peer_address=self.world.peers[0].address, mpr_units=1, **row)
        last = options()["qps"]
        self.qps = list(range(last - qps, last))
        self.senders = {qp: Sender(self.rng, self.world, qp, 0, self.row, PSN_SPACE - 3) for qp in self.qps}

    def opening(self) -> Round:
        """Regions, and QPs made ready."""
        commands = self.world.register()
        for qp in self.qps:
            commands.append(Command(Op.QP_RESET, qp))
            for port in range(PORTS):
                row = RouteRow(self.rng.getrandbits(32), self.rng.getrandbits(128))
                commands.append(Command(Op.QP_ROUTE, qp, port=port, row=row))
            commands.append(Command(Op.QP_CONFIG, qp, row=self.row))
            commands.append(Command(Op.QP_READY, qp, PSN_SPACE - 3))
        return Round(commands=commands)

    def packet(self, qp: int, length: int, *, immediate: bool = False, ack: bool = False) -> bytes:
        """The next message, of one packet."""
        self.senders[qp].begin(length, immediate)
        return self.next(qp, ack=ack)

    def next(self, qp: int, *, ack: bool = False) -> bytes:
        """The next packet of the message begun."""
        sender = self.senders[qp]
        packet = sender.new()
        return self.world.frame(self.rng, 0, 0, sender.transport(packet, ack=ack), sender.payload(packet))


async def opened(dut: Any, seed: int, peer: Peer) -> tuple[TB, Follower]:
    tb = TB(dut, seed)
    await tb.reset(peer.world.config.address)
    follower = Follower(peer.world.config, options()["qps"])
    script = peer.opening()
    follower.follow(script, await tb.run(script))
    return tb, follower


def spread(frames: list[bytes], ports: int = PORTS) -> Round:
    """Frames over ports, in turn."""
    script = Round()
    for number, data in enumerate(frames):
        script.frames[number % ports].append(Sent(data))
    return script


def accepted(log: Log) -> list[int]:
    """Clocks in which frames were accepted."""
    return [tap.now for tap in log.taps if tap.kind == EventKind.FRAME]


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.4], stall=[0.0, 0.3])
async def random_traffic(dut: Any, idle: float, stall: float) -> None:
    """{no idle clocks, idle} x {outputs always taken, stalls}: many QPs; faults, resets and settings."""
    given = options()
    traffic = Traffic(given["seed"] * 4 + 2 * bool(idle) + bool(stall), window=given["window"])
    tb = TB(dut, given["seed"])
    await tb.reset(traffic.world.config.address)
    follower = Follower(traffic.world.config, given["qps"])
    pace = Pace(idle, stall)
    script = traffic.opening()
    follower.follow(script, await tb.run(script, pace))
    while follower.met["events"] < given["events"] // 4:
        for script in (traffic.next(1500), traffic.queries()):
            follower.follow(script, await tb.run(script, pace))
        traffic.learn(follower.golden)
    follower.check_counts(tb.counts())
    add(**follower.met)


@cocotb.test()
async def one_event_a_clock(dut: Any) -> None:
    """Frames of many QPs by all ports: N in N clocks, each answered and judged after exactly the latency."""
    interval, qps, count = options()["interval"], 16, 1600
    peer = Peer(1, qps, sack_threshold=1, quiet_clocks=5000)
    tb, follower = await opened(dut, 2, peer)
    # The first packet of each QP never comes: no message completes, every packet draws a SACK and no ACK.
    for qp in peer.qps:
        peer.packet(qp, 0)
    script = spread([peer.packet(peer.qps[n % qps], 40) for n in range(count)])
    log = await tb.run(script)
    clocks = accepted(log)
    assert clocks == list(range(clocks[0], clocks[0] + count))
    replies = [seen.clock - log.offset - now for seen, now in zip(log.replies, clocks, strict=True)]
    assert set(replies) == {reply_latency(interval)}
    for port in range(PORTS):
        by_port = [tap.now for tap in log.taps if tap.port == port]
        verdicts = [seen.clock - log.offset - now for seen, now in zip(log.verdicts[port], by_port, strict=True)]
        assert set(verdicts) == {verdict_latency(interval)}
    follower.follow(script, log)


@cocotb.test()
async def one_qp_back_to_back(dut: Any) -> None:
    """One QP alone: a packet every SAME_QP_INTERVAL clocks, by one port and by all."""
    interval = options()["interval"]
    peer = Peer(2, 1, mtu=256, sack_threshold=1 << 16, quiet_clocks=600)
    tb, follower = await opened(dut, 3, peer)
    peer.senders[peer.qps[0]].begin(256 * 3000, immediate=False)
    for ports in (1, PORTS):
        script = spread([peer.next(peer.qps[0]) for _ in range(1000)], ports)
        log = await tb.run(script)
        clocks = accepted(log)
        # What has to wait for the interval waits inside: the first ones are accepted sooner.
        steady = [now for now in clocks if now > clocks[0] + INSIDE]
        assert {later - now for now, later in itertools.pairwise(steady)} == {interval}
        follower.follow(script, log)


@cocotb.test()
async def reply_queue_full(dut: Any) -> None:
    """Nobody takes replies: the queue fills, the engine takes no more, and nothing is lost when it goes on."""
    peer = Peer(3, 8, sack_threshold=1)
    tb, follower = await opened(dut, 4, peer)
    script = spread([peer.packet(peer.qps[n % 8], 16) for n in range(400)])
    log = await tb.run(script, Pace(blocked=REPLY_READY, blocked_for=1500))
    start = log.taps[0].now
    early = [now for now in accepted(log) if now < start + 1000]
    # Each of these packets ends a message: a SACK and its ACK wait in one place of the queue.
    assert REPLY_DEPTH <= len(early) <= REPLY_DEPTH + INSIDE
    assert max(early) < start + 300
    follower.follow(script, log)


@cocotb.test()
@cocotb.parametrize(others=[120, 0])
async def slow_memory_behind_a_port(dut: Any, others: int) -> None:
    """One port takes no verdicts: its queue fills, its descriptors wait, and the other ports' frames do not.

    Without the others its descriptors come back to back, and still no more than have room.
    """
    peer = Peer(4, 16, sack_threshold=1 << 16, quiet_clocks=100)
    tb, follower = await opened(dut, 5, peer)
    script = Round()
    # Port 3 has QPs of its own: what waits there must not make others run out of their windows.
    for n in range(120):
        for port in range(PORTS) if others else (3,):
            script.frames[port].append(Sent(peer.packet(peer.qps[port + PORTS * (n % 2)], 16)))
    log = await tb.run(script, Pace(blocked=VERDICT_READY << 3, blocked_for=2500))
    frames = [tap for tap in log.taps if tap.kind == EventKind.FRAME]
    for port in range(PORTS):
        early = len([tap for tap in frames if tap.port == port and tap.now < frames[0].now + 1500])
        assert early == (VERDICT_DEPTH if port == 3 else others), (port, early)
    follower.follow(script, log)


@cocotb.test()
async def quiet_timers(dut: Any) -> None:
    """A timer expires between its deadline and one scan period later, with all QPs' deadlines close together."""
    qps = options()["qps"]
    peer = Peer(5, min(60, qps - 3), quiet_clocks=300)
    tb, follower = await opened(dut, 6, peer)
    # The first packet of each QP never comes: an ACK behind each SACK would hold the engine up.
    for qp in peer.qps:
        peer.packet(qp, 0)
    for _ in range(6):
        script = spread([peer.packet(qp, 16) for qp in peer.qps])
        log = await tb.run(script)
        before = len(follower.late)
        follower.follow(script, log)
        late = follower.late[before:]
        assert len(late) == len(peer.qps)
        assert max(late) <= max(qps, 64)
    add(expiries=len(follower.late))
    record(latest=max(follower.late))


@cocotb.test()
async def quiet_sack_of_a_far_packet(dut: Any) -> None:
    """The SACK of a timer is as if its packet came now: more than 64 PSNs ahead, and when the window shrank since."""
    peer = Peer(8, 4, mtu=256, quiet_clocks=400, sack_threshold=1 << 16)
    tb, follower = await opened(dut, 9, peer)
    script = Round(commands=[Command(Op.SET_MPR, qp, 8) for qp in peer.qps])
    follower.follow(script, await tb.run(script))
    for units in (8, 1, 2, 8, 1):
        for lost in (20, 50, 40):
            for qp in peer.qps:
                peer.senders[qp].begin(256 * (lost + 3), immediate=False)
                for _ in range(lost):
                    peer.next(qp)
            # Each packet goes before the command, and each timer expires behind it.
            script = spread([peer.next(qp) for _ in range(3) for qp in peer.qps])
            behind = tuple(len(frames) for frames in script.frames)
            script.commands += [Command(Op.SET_MPR, qp, units, behind=behind) for qp in peer.qps]
            follower.follow(script, await tb.run(script))
            script = Round(commands=[Command(Op.SET_MPR, qp, 8) for qp in peer.qps])
            follower.follow(script, await tb.run(script))
    assert follower.met["quiet"] == 5 * 3 * len(peer.qps)


@cocotb.test()
async def answers_to_nothing_leave_it_idle_R10(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """Duplicate, late and unknown-QP SACK, NACK and ACK: handed on or counted, no reply, and it goes on."""
    peer = Peer(6, 2, sack_threshold=1)
    traffic = Traffic(6, alive=3, window=options()["window"])
    tb, follower = await opened(dut, 7, peer)
    strays = []
    noise = traffic.noise
    noise.world = peer.world
    for sender in peer.senders.values():
        strays += [noise.stray(sender, 0) for _ in range(150)]
    log = await tb.run(spread(strays + strays[:50]))
    assert not log.replies
    assert not any(log.verdicts)
    follower.follow(spread(strays + strays[:50]), log)
    script = spread([peer.packet(qp, 16) for qp in peer.qps])
    log = await tb.run(script)
    assert log.taps[0].now + log.offset - log.entered[0] == latency_of("responder: descriptor to event")
    assert log.replies[0].clock - log.offset - log.taps[0].now == reply_latency(options()["interval"])
    follower.follow(script, log)
    follower.check_counts(tb.counts())


@cocotb.test()
async def numbers_wrap_S06(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """One QP through all MSNs and RQMSNs and over the top of the PSNs, by messages without payload."""
    peer = Peer(7, 1, sack_threshold=1 << 15, quiet_clocks=200, wimm=128)
    tb, follower = await opened(dut, 8, peer)
    (qp,) = peer.qps
    left = (1 << 16) + 500
    while left:
        count = min(left, 1100)
        script = spread([peer.packet(qp, 0, immediate=True) for _ in range(count)], 1)
        script.commands.append(Command(Op.POST_RECEIVES, qp, count))
        for frame in script.frames[0]:
            frame.behind = 1
        follower.follow(script, await tb.run(script))
        left -= count
    assert follower.golden.answer(qp).completed == (1 << 16) + 500


@cocotb.test()
@cocotb.parametrize(fault=[name for name in FAULTS if name not in ("RouteKept", "PlanesKept")])
async def notices_a_fault_in_the_model(dut: Any, fault: str) -> None:
    """The comparison fails when the model is wrong."""
    given = options()
    traffic = Traffic(2, window=given["window"])
    tb = TB(dut, 9)
    await tb.reset(traffic.world.config.address)
    faulty = type(fault, (EngineGolden, FAULTS[fault]), {})
    follower = Follower(traffic.world.config, given["qps"], faulty)
    script = traffic.opening()
    follower.follow(script, await tb.run(script))
    found = ""
    while not found:
        script = traffic.next(1500)
        log = await tb.run(script)
        try:
            follower.follow(script, log)
        except AssertionError as error:
            found = str(error)
        else:
            traffic.learn(follower.golden)
            assert follower.met["events"] < 12_000, "nothing was noticed"
    assert "rtl" in found.lower()


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *read_file_list(ROOT / "rtl_models" / "responder" / "mrc_responder.f"),
    "cocotb_tests/hdl/mrc_responder_bench.sv",
)
# (SAME_QP_INTERVAL, QPS, WINDOW)
CONFIGURATIONS = ((1, 64, 4096), (2, 256, 1024))
RTL_TESTS = (
    "random_traffic",
    "one_event_a_clock",
    "one_qp_back_to_back",
    "reply_queue_full",
    "slow_memory_behind_a_port",
    "quiet_timers",
    "quiet_sack_of_a_far_packet",
    "answers_to_nothing_leave_it_idle_R10",
)
MET = (
    *(opcode.name for opcode in Opcode),
    *(op.name for op in Op),
    "quiet", "sack", "nack", "ack", "nak", "completions", "placed payloads", "above dropped", "trimmed dropped",
)  # fmt: skip


def bench(interval: int, qps: int, window: int, waves: bool = False) -> Build:
    parameters = {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": interval, "REPLY_DEPTH": REPLY_DEPTH}
    return build(Design("mrc_responder_bench", SOURCES, parameters), waves)


def settings(interval: int, qps: int, window: int, events: int) -> dict[str, int]:
    return {"interval": interval, "qps": qps, "window": window, "events": events}


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize(("interval", "qps", "window"), CONFIGURATIONS)
def test_lock_step_with_the_golden_model(interval: int, qps: int, window: int, tmp_path: Path) -> None:
    """With WAVES=1 the run leaves its waves in `build/waves`."""
    waves = waves_wanted()
    folder = ROOT / "build" / "waves" / f"mrc_responder-{interval}" if waves else tmp_path
    built = bench(interval, qps, window, waves)
    figures = simulate(built, MODULE, folder, settings(interval, qps, window, EVENTS), seed=20, tests=RTL_TESTS)
    assert figures["events"] >= EVENTS
    assert [name for name in MET if not figures.get(name)] == []


@pytest.mark.rtl
@pytest.mark.slow
def test_planted_faults_are_noticed(tmp_path: Path) -> None:
    built, given = bench(*CONFIGURATIONS[0]), settings(*CONFIGURATIONS[0], EVENTS)
    simulate(built, MODULE, tmp_path, given, tests=("notices_a_fault_in_the_model",))


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("interval", "qps", "window"), CONFIGURATIONS)
def test_wraps_of_all_numbers(interval: int, qps: int, window: int, tmp_path: Path) -> None:
    """PSNs wrap in every run: half of all QPs start right below."""
    given = settings(interval, qps, window, EVENTS)
    simulate(bench(interval, qps, window), MODULE, tmp_path, given, tests=("numbers_wrap_S06",))
