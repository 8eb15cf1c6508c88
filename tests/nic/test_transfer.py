"""Writes from end to end over a channel that loses, repeats, delays, reorders, marks and trims.

In every test memory is compared byte for byte, each completion must come once, and both ends must come to rest.
"""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodel.base.time import US
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.paths.usid import shift
from pymodel.wire.spec import NackReason, Opcode, OutOfWindow, WireOptions
from tests.nic.harness import DELAY, LoseNth, Pair, Weather
from tests.nic.trim import mark, trim

MTU = 4096
MOD = 1 << 24
FIRST_PSNS = [0, MOD - 3, 0xFFFFFE, 0x5A5A5A]
SIZES = [0, 1, MTU - 1, MTU, MTU + 1, 2 * MTU, 1 << 20]
QUICK = QpSettings(ack_timeout=4)


def payload(size, seed=1):
    return random.Random(seed).randbytes(size)


def transfer(pair, data, wr_id=1):
    pair.write(data, wr_id=wr_id)
    pair.run()
    assert bytes(pair.memory[: len(data)]) == data
    assert [(c.wr_id, c.status, c.byte_count) for _, c in pair.completions[0]] == [(wr_id, "success", len(data))]
    assert pair.completions[1] == []
    pair.assert_at_rest()
    return pair.statistics(wr_id)


@pytest.mark.parametrize("first_psn", FIRST_PSNS)
@pytest.mark.parametrize("size", SIZES)
def test_s06_r13_every_size_from_every_first_psn(size, first_psn):
    pair = Pair(send_psn=first_psn)
    statistics = transfer(pair, payload(size))
    packets = max(1, -(-size // MTU))
    assert statistics["packets"] == packets
    assert statistics["retransmissions"] == statistics["nacks"] == statistics["timeouts"] == 0
    assert [frame.psn for frame in pair.data_frames()] == [(first_psn + i) % MOD for i in range(packets)]
    assert sorted(pair.writes) == [(i, min(MTU, size - i)) for i in range(0, size, MTU)], "each byte placed once"
    assert pair.peer.responder.window.cack_psn == (first_psn + packets - 1) % MOD


@pytest.mark.parametrize("first_psn", FIRST_PSNS)
@pytest.mark.parametrize("size", SIZES)
def test_r05_s06_every_size_through_loss(size, first_psn):
    weather = Weather(seed=size, loss=0.05, duplicate=0.02, jitter=2 * US)
    pair = Pair(weather, send_psn=first_psn, memory=1 << 20, settings=QUICK, congestion=lambda: FixedWindow(48 * 4300))
    statistics = transfer(pair, payload(size))
    assert statistics["retransmissions"] > 5 or size < 1 << 20
    assert sorted(pair.writes) == [(i, min(MTU, size - i)) for i in range(0, size, MTU)], "each byte placed once"


@pytest.mark.parametrize("mtu", [256, 257, 511, 1000, 1022, 1499, 2048, 4095, 4096, 8191, 8192])
def test_any_mtu_through_loss(mtu):
    """Full packets of an odd MTU carry pad bytes, which land nowhere and count at both ends alike."""
    weather = Weather(seed=mtu, loss=0.03, jitter=2 * US)
    given_settings = replace(QUICK, mtu=mtu)
    window = FixedWindow(20 * 8300)
    pair = Pair(weather, memory=1 << 20, settings=given_settings, congestion=lambda: window)
    size = 60 * mtu + 3
    assert transfer(pair, payload(size))["packets"] == 61
    assert sorted(pair.writes) == [(i, min(mtu, size - i)) for i in range(0, size, mtu)], "each byte placed once"
    lengths = {len(frame.payload) for frame in pair.data_frames()}
    assert lengths == {mtu, 3}


def test_s06_l07_the_same_run_from_any_psn():
    """Nothing but the PSNs differs between a run from 0 and one that wraps."""

    def run(first_psn):
        weather = Weather(seed=3, loss=0.05, duplicate=0.05, jitter=5 * US)
        pair = Pair(weather, send_psn=first_psn, settings=QUICK, congestion=lambda: FixedWindow(16 * 4300))
        transfer(pair, payload(40 * MTU))
        frames = [(at_ps, who, frame.opcode, frame.ev, frame.rtx, frame.ack_req) for at_ps, who, frame in pair.sent]
        psns = [(frame.psn - first_psn) % MOD for frame in pair.data_frames()]
        return frames, psns, pair.completions

    expected = run(0)
    for first_psn in (MOD - 3, MOD - 20, 1 << 23, 0x123456):
        assert run(first_psn) == expected


def test_r07_a_write_of_no_bytes_takes_one_psn():
    pair = Pair(send_psn=MOD - 1)
    for wr_id in range(3):
        pair.write(b"", wr_id=wr_id)
    pair.run()
    frames = pair.data_frames()
    assert [(frame.psn, frame.opcode, frame.reth.dma_length) for frame in frames] == [
        (psn, Opcode.WRITE_ONLY, 0) for psn in (MOD - 1, 0, 1)
    ]
    assert [c.wr_id for _, c in pair.completions[0]] == [0, 1, 2]
    assert pair.writes == []
    pair.assert_at_rest()


def test_the_last_packet_lost_costs_one_timeout():
    pair = Pair(LoseNth(data=[7]), settings=QUICK)
    statistics = transfer(pair, payload(8 * MTU))
    assert statistics == {**statistics, "retransmissions": 1, "timeouts": 1, "nacks": 0}
    assert pair.data_frames()[-1].rtx


def test_a_packet_lost_three_times():
    pair = Pair(LoseNth(data=[7, 8, 9]), settings=QUICK)
    statistics = transfer(pair, payload(8 * MTU))
    assert statistics == {**statistics, "retransmissions": 3, "timeouts": 3, "nacks": 0}
    evs = [frame.ev for frame in pair.data_frames()[7:]]
    assert all(a != b for a, b in pairwise(evs)), "never again on the EV that just failed"


def test_every_answer_lost_for_a_while():
    pair = Pair(LoseNth(answers=range(5)), settings=QUICK)
    statistics = transfer(pair, payload(8 * MTU))
    assert statistics["timeouts"] > 0
    assert sorted(pair.writes) == [(i * MTU, MTU) for i in range(8)], "what came twice was placed once"


def test_all_of_a_burst_lost_costs_one_timeout():
    pair = Pair(LoseNth(data=range(8)), settings=QUICK)
    statistics = transfer(pair, payload(8 * MTU))
    assert statistics == {**statistics, "retransmissions": 8, "timeouts": 1, "nacks": 0}


def test_a_gap_is_repaired_without_a_timeout():
    pair = Pair(LoseNth(data=[3]), congestion=lambda: FixedWindow(8 * 4300))
    statistics = transfer(pair, payload(60 * MTU))
    assert statistics == {**statistics, "retransmissions": 1, "timeouts": 0, "nacks": 0}


def test_a_retransmission_lost_again_is_repaired_by_gap():
    lost = []

    def lose_psn_3_twice(sender, frame, data):
        if sender == 0 and frame.is_write and frame.psn == 3 and len(lost) < 2:
            lost.append(frame.ev)
            return []
        return [(DELAY, data)]

    pair = Pair(lose_psn_3_twice, send_psn=0, congestion=lambda: FixedWindow(8 * 4300))
    statistics = transfer(pair, payload(60 * MTU))
    assert len(set(lost)) == 2
    assert statistics == {**statistics, "retransmissions": 2, "timeouts": 0, "nacks": 0}


@pytest.mark.parametrize("lost", range(12))
def test_any_one_frame_lost_in_either_direction(lost):
    for fault in (LoseNth(data=[lost]), LoseNth(answers=[lost])):
        pair = Pair(fault, settings=QUICK, congestion=lambda: FixedWindow(4 * 4300))
        transfer(pair, payload(12 * MTU - 5))


def test_trimmed_packets_are_nacked_and_sent_again_at_once():
    trimmed = []

    def trim_two(sender, frame, data):
        if sender == 0 and frame.psn in (2, 5) and not frame.rtx:
            trimmed.append(frame.ev)
            return [(DELAY, trim(data, frame))]
        return [(DELAY, data)]

    pair = Pair(trim_two, send_psn=0)
    statistics = transfer(pair, payload(8 * MTU))
    assert statistics == {**statistics, "retransmissions": 2, "nacks": 2, "timeouts": 0}
    nacks = pair.frames(1, Opcode.NACK)
    assert [(frame.neth.nack_psn, frame.neth.reason, frame.neth.entropy) for frame in nacks] == [
        (2, NackReason.TRIMMED, trimmed[0]),
        (5, NackReason.TRIMMED, trimmed[1]),
    ]
    again = [frame for frame in pair.data_frames() if frame.rtx]
    assert [frame.psn for frame in again] == [2, 5]
    assert not {frame.ev for frame in again} & set(trimmed)
    assert pair.now_ps < 30 * US


def test_everything_trimmed_or_marked_arrives_in_the_end():
    draw = random.Random(5)

    def bad_weather(sender, frame, data):
        if sender == 0 and draw.random() < 0.3:
            return [(DELAY, trim(data, frame, last_hop=draw.random() < 0.5))]
        if sender == 0 and draw.random() < 0.3:
            return [(DELAY, mark(data))]
        return [(DELAY + draw.randrange(3 * US), data)]

    pair = Pair(bad_weather, congestion=lambda: FixedWindow(32 * 4300))
    statistics = transfer(pair, payload(1 << 20))
    assert statistics["nacks"] > 50
    assert statistics["retransmissions"] >= statistics["nacks"]


@pytest.mark.parametrize("out_of_window", OutOfWindow)
def test_s04_a_requester_with_a_wider_window_than_the_responder(out_of_window):
    def lose_first_once(sender, frame, data):
        return [] if sender == 0 and frame.psn == 0 and not frame.rtx else [(DELAY, data)]

    pair = Pair(
        lose_first_once,
        settings=QpSettings(mtu=256, mpr_units=4, ack_timeout=4),
        there_settings=QpSettings(mtu=256, responder_mpr_units=1, ack_timeout=4),
        send_psn=0,
        memory=400 * 256,
        options=WireOptions(out_of_window=out_of_window),
    )
    statistics = transfer(pair, payload(400 * 256))
    reasons = {frame.neth.reason for frame in pair.frames(1, Opcode.NACK)}
    if out_of_window is OutOfWindow.NACK:
        assert reasons == {NackReason.PSN_OOR_WINDOW}
        assert statistics["nacks"] > 0
    else:
        assert reasons == set()
        assert "psn_above_window" in pair.notice_kinds()


def test_many_writes_complete_each_once():
    weather = Weather(seed=11, loss=0.03, duplicate=0.03, jitter=4 * US)
    pair = Pair(weather, settings=QUICK, congestion=lambda: FixedWindow(24 * 4300))
    draw = random.Random(2)
    offset, image = 0, bytearray(1 << 20)
    for wr_id in range(60):
        data = payload(draw.choice([0, 1, 100, MTU, 3 * MTU + 1, 20000]), seed=wr_id)
        pair.write(data, offset, wr_id)
        image[offset : offset + len(data)] = data
        offset += len(data)
    pair.run()
    assert pair.memory == image
    assert sorted(c.wr_id for _, c in pair.completions[0]) == list(range(60))
    assert {c.status for _, c in pair.completions[0]} == {"success"}
    pair.assert_at_rest()
    assert pair.qp.requester.messages_acknowledged == 60


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    sizes=st.lists(st.integers(0, 5 * 256 + 3), min_size=1, max_size=6),
    first_psn=st.one_of(st.just(MOD - 3), st.integers(0, MOD - 1)),
    loss=st.sampled_from([0, 0.1, 0.3]),
    cwnd=st.integers(1, 8),
)
def test_any_weather_ends_well(seed, sizes, first_psn, loss, cwnd):
    small = QpSettings(mtu=256, ack_timeout=4)
    weather = Weather(seed, loss=loss, duplicate=0.1, jitter=20 * US)
    pair = Pair(
        weather, settings=small, send_psn=first_psn, congestion=lambda: FixedWindow(cwnd * 350), seed=seed + 1, evs=4
    )
    offset = 0
    for wr_id, size in enumerate(sizes):
        pair.write(payload(size, wr_id), offset, wr_id)
        offset += size
    pair.run(10**15)
    assert bytes(pair.memory[:offset]) == b"".join(payload(size, wr_id) for wr_id, size in enumerate(sizes))
    assert sorted((c.wr_id, c.status) for _, c in pair.completions[0]) == [(i, "success") for i in range(len(sizes))]
    pair.assert_at_rest()


def test_l03_the_icrc_survives_the_shifts_of_the_outer_address():
    """What three switches do: outer destination shifted, hop limit lowered, MACs rewritten (mrc-facts.md 1.13, 4.1)."""

    def through_three_switches(sender, frame, data):
        ethernet, outer = frame.ethernet, frame.outer
        for _ in range(3):
            outer.dst = shift(outer.dst)
            outer.hop_limit -= 1
            ethernet.src, ethernet.dst = ethernet.dst, ethernet.src
        head = ethernet.pack() + outer.pack()
        return [(DELAY, head + data[len(head) :])]

    pair = Pair(through_three_switches)
    statistics = transfer(pair, payload(10 * MTU))
    assert statistics["retransmissions"] == 0
    assert pair.here.dropped.total() == pair.there.dropped.total() == 0
