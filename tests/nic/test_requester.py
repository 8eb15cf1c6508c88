"""The requester alone, answered by hand: what it sends, and what each answer makes of it."""

import random
from itertools import pairwise

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import NS, US
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.ev_table import EvState
from pymodel.nic.events import (
    CancelTimer,
    Command,
    Complete,
    FrameOut,
    Notify,
    PortChange,
    PostWrite,
    SetTimer,
    TimerFired,
)
from pymodel.nic.requester import RequesterState
from pymodel.paths.ev import EvRecord
from pymodel.wire.spec import (
    DEFAULT_OPTIONS,
    AethSyndrome,
    DscpMap,
    Ecn,
    NackReason,
    Opcode,
    SackM,
    WireOptions,
)
from tests.nic.peer import BASE, OWN, OWN_QPN, PEER, PEER_QPN, acknowledge, device, evs, frames, nack, sack

MTU = 4096
FULL = 12 + 4 + 4 + 16 + MTU + 4 + 40  # BTH, METH, TSETH, RETH, payload, ICRC, and what the nominal size adds
ACK, PAUSE, PROBE = (f"qp{OWN_QPN}/{name}" for name in ("ack", "pause", "probe"))
DSCP = DEFAULT_OPTIONS.dscp


def post(nic, size, now_ps=0, wr_id=1, immediate=None):
    return nic.handle(
        PostWrite(OWN_QPN, wr_id, random.Random(wr_id).randbytes(size), BASE, 0xC0FFEE, immediate), now_ps
    )


def requester(nic):
    return nic.qp(OWN_QPN).requester


def of(actions, kind):
    return [action for action in actions if isinstance(action, kind)]


def writes(actions):
    return [frame for frame in frames(actions) if frame.is_write]


def statuses(actions):
    return [(action.wr_id, action.status) for action in of(actions, Complete)]


def expire(nic, actions, key=ACK):
    """Let the last timer of `key` among `actions` fire; returns its time and what follows."""
    timer = [action for action in of(actions, SetTimer) if action.key == key][-1]
    return timer.at_ps, nic.handle(TimerFired(timer.key, timer.generation), timer.at_ps)


# What is sent


FIRST, MIDDLE, LAST, ONLY = Opcode.WRITE_FIRST, Opcode.WRITE_MIDDLE, Opcode.WRITE_LAST, Opcode.WRITE_ONLY
SEGMENTATION = [
    (0, [(ONLY, 0)]),
    (1, [(ONLY, 1)]),
    (MTU - 1, [(ONLY, MTU - 1)]),
    (MTU, [(ONLY, MTU)]),
    (MTU + 1, [(FIRST, MTU), (LAST, 1)]),
    (2 * MTU, [(FIRST, MTU), (LAST, MTU)]),
    (3 * MTU - 2, [(FIRST, MTU), (MIDDLE, MTU), (LAST, MTU - 2)]),
    (1 << 20, [(FIRST, MTU), *[(MIDDLE, MTU)] * 254, (LAST, MTU)]),
]


@pytest.mark.parametrize(("size", "expected"), SEGMENTATION, ids=[str(size) for size, _ in SEGMENTATION])
def test_r05_segmentation(size, expected):
    nic = device(send_psn=0xFFFFFE)
    sent = frames(post(nic, size))
    assert [(frame.opcode, len(frame.payload)) for frame in sent] == expected
    assert b"".join(frame.payload for frame in sent) == random.Random(1).randbytes(size)
    for i, frame in enumerate(sent):
        assert (frame.reth.va, frame.reth.r_key, frame.reth.dma_length) == (BASE + i * MTU, 0xC0FFEE, size)
        assert frame.psn == (0xFFFFFE + i) % (1 << 24)
        assert (frame.dest_qp, frame.rtx, frame.ts) == (PEER_QPN, False, True)
        assert frame.ack_req == (i == len(sent) - 1)


def test_an_immediate_goes_with_the_last_packet_alone():
    sent = frames(post(device(), 2 * MTU + 1, immediate=0xDEADBEEF))
    assert [frame.opcode for frame in sent] == [FIRST, MIDDLE, Opcode.WRITE_LAST_IMMEDIATE]
    assert sent[-1].immdt.immediate == 0xDEADBEEF
    assert frames(post(device(), 3, immediate=7))[0].opcode == Opcode.WRITE_ONLY_IMMEDIATE


def test_messages_are_numbered():
    nic = device()
    sent = [frame for i in range(4) for frame in frames(post(nic, MTU + 1, wr_id=i, immediate=None if i % 2 else i))]
    assert [frame.meth.msn for frame in sent] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [frame.meth.rqmsn for frame in sent if frame.meth.msn in (0, 2)] == [0, 0, 1, 1]


def test_headers_outside_the_transport():
    nic = device()
    actions = post(nic, 20 * MTU)
    by_ev = {record.ev: record for record in nic.qp(OWN_QPN).config.evs}
    for action, frame in zip(of(actions, FrameOut), frames(actions), strict=True):
        record, port = by_ev[frame.ev], nic.config.ports[action.port]
        assert action.port == record.port
        assert (frame.ethernet.src, frame.ethernet.dst) == (port.mac, port.switch_mac)
        assert (frame.outer.src, frame.outer.dst) == (port.source_address, record.address)
        assert (frame.ip.src, frame.ip.dst, frame.ip.dscp, frame.ip.ecn) == (OWN, PEER, DSCP.trimmable, Ecn.ECT0)
        assert (frame.outer.dscp, frame.outer.ecn) == (DSCP.trimmable, Ecn.ECT0)
    assert len({frame.ev for frame in frames(actions)[:16]}) == 16


def test_an_outside_vector_to_the_byte():
    """mrc-facts.md appendix A.3, the inner packet of a Write Only; seven messages precede it."""
    nic = device(
        options=WireOptions(dscp=DscpMap(trimmable=10)),
        evs=(EvRecord(0x0123C456, 0, 1 << 96),),
        peer_qpn=0x123,
        send_psn=0xABCD - 7,
    )
    now_ps = 0x1234 * 128 * NS
    for i in range(7):
        post(nic, 0, now_ps, wr_id=i)
    work = PostWrite(OWN_QPN, 7, bytes(range(8)), 0x7F0000001000, 0x00C0FFEE)
    (action,) = of(nic.handle(work, now_ps), FrameOut)
    assert action.data[14 + 40 :].hex() == (
        "62a001230038114020010db800000001000000000000000120010db800000002"
        "0000000000000002c45612b700380000ca00ffff000001239000abcd00000007"
        "1234000100007f000000100000c0ffee000000080001020304050607f045c3fc"
    )


def test_an_ev_with_a_segment_gets_an_srh():
    nic = device(evs=(EvRecord(5, 1, address=0xFC << 120, segment=0xFD << 120),))
    (frame,) = frames(post(nic, 100))
    assert (frame.outer.dst, frame.segments, frame.srh.segments_left) == (0xFC << 120, (0xFD << 120,), 1)


@pytest.mark.parametrize("timestamps", [False, True])
def test_timestamps_are_optional(timestamps):
    (frame,) = frames(post(device(timestamps=timestamps), 10, now_ps=300 * NS))
    assert frame.ts is timestamps
    assert (frame.tseth.tx_timestamp if timestamps else frame.tseth) == (2 if timestamps else None)


# Windows


def test_s01_new_packets_stop_at_cack_plus_mpr():
    nic = device(mtu=256, mpr_units=1, send_psn=0xFFFFF0)
    assert len(frames(post(nic, 300 * 256))) == 128
    more = frames(nic.handle(sack(0xFFFFF0 + 9), 1000))
    assert [frame.psn for frame in more] == [(0xFFFFF0 + 128 + i) % (1 << 24) for i in range(10)]
    assert frames(nic.handle(sack(0xFFFFF0 + 9, bitmap=(1 << 64) - 2), 2000)) == [], "SACKed PSNs widen nothing"


def test_s01_packets_sent_again_stop_there_too():
    nic = device(mtu=256, mpr_units=1, send_psn=0)
    evs = {frame.psn: frame.ev for frame in frames(post(nic, 100 * 256))}
    requester(nic).window.mpr = 50  # as a peer with dynamic MPR may ask
    again = [
        frame.psn
        for psn in (10, 49, 50, 99)
        for frame in frames(nic.handle(nack(psn, NackReason.TRIMMED, evs[psn]), 1000))
    ]
    assert again == [10, 49]
    assert [frame.psn for frame in frames(nic.handle(sack(0), 2000))] == [50]


def test_the_congestion_window_holds_back():
    nic = device(FixedWindow(3 * FULL), send_psn=0)
    sent = frames(post(nic, 10 * MTU))
    assert len(sent) == 3, "sent while the window exceeds what is in flight"
    assert requester(nic).window.inflight == 3 * FULL
    assert [frame.psn for frame in frames(nic.handle(sack(0), 1000))] == [3]


def test_a_small_window_asks_for_an_answer_when_it_is_full():
    nic = device(FixedWindow(2 * FULL))
    assert [frame.ack_req for frame in frames(post(nic, 10 * MTU))] == [False, True]
    nic = device(FixedWindow(20 * FULL))
    assert [frame.ack_req for frame in frames(post(nic, 30 * MTU))] == [False] * 20


# Answers


def test_completion_once_when_all_psns_are_acknowledged():
    nic = device(send_psn=5)
    post(nic, 3 * MTU)
    assert statuses(nic.handle(sack(5, bitmap=0b10), 1000)) == []
    actions = nic.handle(sack(7), 2000)
    assert of(actions, Complete) == [Complete(OWN_QPN, 1, "success", 3 * MTU)]
    assert CancelTimer(ACK) in actions
    for stale in (sack(7), sack(5, bitmap=0b10), sack(6), sack(7, bitmap=0)):
        assert nic.handle(stale, 3000) == [], "late and repeated SACKs change nothing"


def test_plain_writes_complete_in_any_order():
    nic = device(send_psn=0)
    for wr_id in range(3):
        post(nic, MTU, wr_id=wr_id)
    assert statuses(nic.handle(sack((1 << 24) - 1, bitmap=0b110), 1000)) == [(1, "success"), (2, "success")]
    assert statuses(nic.handle(sack(2), 2000)) == [(0, "success")]


def test_a_write_with_immediate_waits_for_all_before_it():
    nic = device(send_psn=0)
    for wr_id, immediate in enumerate([None, 7, None, 8]):
        post(nic, MTU, wr_id=wr_id, immediate=immediate)
    assert statuses(nic.handle(sack((1 << 24) - 1, bitmap=0b1110), 1000)) == [(2, "success")]
    assert statuses(nic.handle(sack(3), 2000)) == [(0, "success"), (1, "success"), (3, "success")]


def test_writes_with_immediate_in_flight_are_limited():
    nic = device(send_psn=0, wimm=2)
    sent = [len(frames(post(nic, 10, wr_id=i, immediate=i))) for i in range(4)]
    assert sent == [1, 1, 0, 0]
    assert len(frames(nic.handle(sack(0), 1000))) == 1


def test_a_sack_of_what_was_never_sent_is_no_sack():
    nic = device(send_psn=0)
    post(nic, 3 * MTU)
    for bad in (sack(3), sack(0, bitmap=0b100), sack(1 << 22), sack((1 << 24) - 1, bitmap=1 << 63)):
        assert [action.kind for action in nic.handle(bad, 1000)] == ["sack_of_unsent"]
    assert statuses(nic.handle(sack(2), 2000)) == [(1, "success")]


def test_a_bitmap_that_begins_at_or_below_cack_counts():
    nic = device(send_psn=0)
    post(nic, 4 * MTU)
    nic.handle(sack(1, bitmap=0b1011, offset=-1), 1000)  # PSNs 0, 1 and 3
    assert statuses(nic.handle(sack(2), 2000)) == [(1, "success")]


def test_s02_the_bitmap_is_read_lowest_bit_first():
    nic = device(send_psn=0)
    post(nic, 64 * MTU)
    nic.handle(sack((1 << 24) - 1, bitmap=0x8000_0000_0000_0102), 1000)
    window = requester(nic).window
    missing = [psn for psn in range(64) if window.unacknowledged(psn) is not None]
    assert missing == [psn for psn in range(64) if psn not in (1, 8, 63)]


def test_ecn_echo_skips_the_ev_once():
    nic = device(send_psn=0)
    post(nic, MTU)
    slot = requester(nic).evs.slots()[3]
    nic.handle(sack(0, m=SackM.SKIP_ONCE, entropy=slot.ev), 1000)
    assert slot.state is EvState.SKIP
    nic.handle(sack(0, m=SackM.ALWAYS_SKIP, entropy=slot.ev), 1000)
    assert slot.state is EvState.ASSUMED_BAD


def test_transport_ack_is_noted_and_completes_nothing():
    nic = device(send_psn=0)
    post(nic, MTU)
    assert nic.handle(acknowledge(AethSyndrome.ACK, msn=1), 1000) == []
    assert requester(nic).messages_acknowledged == 1
    assert statuses(nic.handle(sack(0), 2000)) == [(1, "success")]


@pytest.mark.parametrize(
    ("syndrome", "status"),
    [
        (AethSyndrome.NAK_INVALID_REQUEST, "remote invalid request"),
        (AethSyndrome.NAK_REMOTE_ACCESS, "remote access error"),
        (AethSyndrome.NAK_REMOTE_OPERATION, "remote operation error"),
    ],
)
def test_a_nak_ends_the_qp(syndrome, status):
    nic = device(send_psn=0)
    for wr_id in range(3):
        post(nic, MTU, wr_id=wr_id)
    actions = nic.handle(acknowledge(syndrome, msn=0, psn=1), 1000)
    assert statuses(actions) == [(0, "flushed"), (1, status), (2, "flushed")]
    assert requester(nic).state is RequesterState.ERROR
    assert CancelTimer(ACK) in actions
    assert statuses(post(nic, MTU, wr_id=9)) == [(9, "flushed")]
    assert nic.handle(sack(0), 2000) == []


def test_unexpected_event_ends_the_qp():
    nic = device(send_psn=0)
    post(nic, MTU)
    assert statuses(nic.handle(nack(0, NackReason.UNEXP_EVENT, 0), 1000)) == [(1, "remote operation error")]


# Loss


def test_a_nack_sends_that_psn_again_on_another_ev():
    nic = device(send_psn=0)
    sent = frames(post(nic, 3 * MTU))
    (again,) = frames(nic.handle(nack(1, NackReason.TRIMMED, sent[1].ev), 1000))
    assert (again.psn, again.rtx, again.opcode, again.payload) == (1, True, MIDDLE, sent[1].payload)
    assert again.ev != sent[1].ev
    assert (again.dscp, again.ip.dscp) == (DSCP.trimmable_retx, DSCP.trimmable_retx)
    assert requester(nic).evs.find(sent[1].ev).state is EvState.SKIP


NACKS = [
    (NackReason.TRIMMED, EvState.SKIP, True),
    (NackReason.TRIMMED_LASTHOP, EvState.GOOD, True),
    (NackReason.NO_BITMAP, EvState.GOOD, False),
    (NackReason.NO_PKT_BUFFER, EvState.GOOD, False),
    (NackReason.NO_RESOURCE, EvState.GOOD, False),
    (NackReason.PSN_OOR_WINDOW, EvState.GOOD, False),
]


@pytest.mark.parametrize(("reason", "state", "at_once"), NACKS, ids=[reason.name for reason, _, _ in NACKS])
def test_s04_reactions_to_each_nack(reason, state, at_once):
    nic = device(send_psn=0)
    sent = frames(post(nic, 3 * MTU))
    actions = nic.handle(nack(2, reason, sent[2].ev), 1000)
    assert requester(nic).evs.find(sent[2].ev).state is state
    assert [frame.psn for frame in frames(actions)] == ([2] if at_once else [])
    if reason in (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE):
        at_ps, actions = expire(nic, actions, PAUSE)
        assert at_ps == 1000 + nic.qp(OWN_QPN).config.base_rtt_ps
        assert [frame.psn for frame in frames(actions)] == [2]
    elif not at_once:
        assert [frame.psn for frame in frames(nic.handle(sack(0), 2000))] == [2], "room again when cack has moved"
    assert statuses(nic.handle(sack(2), 10**9)) == [(1, "success")]


def test_one_retransmission_for_one_loss():
    nic = device(FixedWindow(8 * FULL), send_psn=0)
    sent = frames(post(nic, 60 * MTU))
    first = nack(0, NackReason.TRIMMED, sent[0].ev)
    (again,) = frames(nic.handle(first, 1000))
    assert frames(nic.handle(first, 1001)) == [], "the same NACK again"
    bitmap = 0
    for psn in range(1, 8):
        bitmap |= 1 << psn
        news = frames(nic.handle(sack((1 << 24) - 1, bitmap=bitmap), 2000 + psn))
        assert all(frame.psn != 0 for frame in news), "what the gap shows is known already"
    assert again.psn == 0


def test_a_late_nack_of_an_earlier_transmission_is_stale():
    nic = device(send_psn=0)
    (sent,) = frames(post(nic, MTU))
    (again,) = frames(nic.handle(nack(0, NackReason.TRIMMED, sent.ev), 1000))
    assert nic.handle(nack(0, NackReason.TRIMMED, sent.ev), 1001) == []
    (third,) = frames(nic.handle(nack(0, NackReason.TRIMMED, again.ev), 1002))
    assert third.ev not in (again.ev,)


def test_never_again_on_the_ev_that_failed_even_of_two():
    nic = device(send_psn=0, evs=evs(2))
    (frame,) = frames(post(nic, MTU))
    for i in range(20):
        (again,) = frames(nic.handle(nack(0, NackReason.TRIMMED_LASTHOP, frame.ev), 1000 * i))
        assert again.ev != frame.ev
        frame = again


def test_s08_a_sack_for_a_packet_that_waits_to_be_sent_again():
    nic = device(send_psn=0)
    sent = frames(post(nic, 3 * MTU))
    window = requester(nic).window
    for port in (0, 1):
        nic.handle(PortChange(port, up=False), 500)
    assert frames(nic.handle(nack(1, NackReason.TRIMMED, sent[1].ev), 1000)) == []
    assert window.inflight == 2 * requester(nic).window.unacknowledged(0).size
    nic.handle(sack(0, bitmap=0b01), 2000)
    assert window.inflight == window.unacknowledged(2).size
    assert writes(nic.handle(PortChange(0, up=True), 3000)) == [], "nothing is left to send again"
    nic.handle(sack(2), 4000)
    assert window.inflight == 0


@pytest.mark.parametrize(
    ("cwnd", "max_cwnd", "mpr_units", "gap"),
    [(8, 100, 8, 12), (8, 9, 8, 9), (2, 100, 8, 5), (100, 200, 1, 64)],
    ids=["1.5 windows", "the largest window", "five packets", "half an MPR"],
)
def test_how_many_packets_must_overtake_one(cwnd, max_cwnd, mpr_units, gap):
    window = FixedWindow(cwnd * FULL)
    window.max_cwnd = max_cwnd * FULL
    nic = device(window, send_psn=0, mpr_units=mpr_units)
    sent = frames(post(nic, 100 * MTU))
    for psn in range(1, gap + 1):
        assert requester(nic).window.unacknowledged(0).order == 1, "sent once"
        base = max(0, psn - 63)
        answer = sack((1 << 24) - 1, bitmap=(2 << psn) - 2 >> base & ((1 << 64) - 1), offset=base + 1)
        again = [frame.psn for frame in frames(nic.handle(answer, 1000 * psn)) if frame.rtx]
    assert again == [0]
    assert requester(nic).evs.find(sent[0].ev).state is EvState.ASSUMED_BAD


def test_the_ack_timer_backs_off_linearly_then_exponentially():
    nic = device(send_psn=0, ack_timeout=3, linear_retries=2, backoff_retries=3)
    actions, at_ps, waits = post(nic, MTU), 0, []
    evs = [frames(actions)[0].ev]
    while True:
        before = at_ps
        at_ps, actions = expire(nic, actions)
        waits.append((at_ps - before) // (1024 * NS))
        if statuses(actions):
            break
        (frame,) = frames(actions)
        assert (frame.psn, frame.rtx, frame.ack_req) == (0, True, True)
        evs.append(frame.ev)
    assert waits == [8, 8, 8, 16, 32, 64]
    assert statuses(actions) == [(1, "retry exceeded")]
    assert all(a != b for a, b in pairwise(evs))
    retired = [slot.ev for slot in requester(nic).evs.slots() if slot.state is EvState.ASSUMED_BAD]
    assert sorted(retired) == sorted(evs[:-1])


def test_retries_without_end_saturate_the_timer():
    nic = device(send_psn=0, ack_timeout=22, linear_retries=0, backoff_retries=25)
    actions, at_ps, waits = post(nic, MTU), 0, []
    for _ in range(40):
        before = at_ps
        at_ps, actions = expire(nic, actions)
        waits.append((at_ps - before) // (1024 * NS))
    assert waits == [1 << 22, 1 << 23, *[1 << 24] * 38]
    assert statuses(nic.handle(sack(0), at_ps + 1)) == [(1, "success")]


def test_progress_forgets_earlier_timeouts():
    nic = device(send_psn=0, ack_timeout=3, linear_retries=1, backoff_retries=0)
    actions = post(nic, 2 * MTU)
    at_ps, actions = expire(nic, actions)
    nic.handle(sack(0), at_ps + 1)
    at_ps, actions = expire(nic, actions)
    at_ps, actions = expire(nic, actions)
    assert statuses(actions) == [], "the second packet has its own retries"
    at_ps, actions = expire(nic, actions)
    assert statuses(actions) == [(1, "retry exceeded")]


def test_the_timer_belongs_to_the_oldest_psn():
    """Answers that do not move cack do not put the timeout off."""
    nic = device(send_psn=0, ack_timeout=3)
    actions = post(nic, 3 * MTU)
    nic.handle(sack((1 << 24) - 1, bitmap=0b10), 4 * US)
    at_ps, actions = expire(nic, actions)
    assert at_ps == 8 * 1024 * NS
    assert [frame.psn for frame in frames(actions)] == [0, 2], "all that was on its way then, and not what is SACKed"


def test_a_timer_moves_with_cack():
    nic = device(send_psn=0, ack_timeout=3)
    actions = post(nic, 3 * MTU)
    nic.handle(sack(0), 5 * US)
    at_ps, early = expire(nic, actions)
    assert frames(early) == []
    at_ps, actions = expire(nic, early)
    assert at_ps == 5 * US + 8 * 1024 * NS
    assert [frame.psn for frame in frames(actions)] == [1, 2]


def test_an_old_generation_of_a_timer_is_ignored():
    nic = device(send_psn=0, ack_timeout=3)
    post(nic, MTU)
    for generation in (0, 2, -1):
        assert nic.handle(TimerFired(ACK, generation), 10**9) == []
    assert nic.handle(TimerFired("qp7/ack", 1), 10**9) == []


# Ports and probes


def test_a_port_that_is_down_is_not_used():
    nic = device(send_psn=0)
    nic.handle(PortChange(1, up=False), 0)
    assert {action.port for action in of(post(nic, 20 * MTU), FrameOut)} == {0}


def test_all_ports_down_and_back():
    nic = device(send_psn=0)
    for port in (0, 1):
        nic.handle(PortChange(port, up=False), 0)
    assert frames(post(nic, 3 * MTU)) == []
    assert len(writes(nic.handle(PortChange(1, up=True), 5000))) == 3
    assert statuses(nic.handle(sack(2), 9000)) == [(1, "success")]


@pytest.mark.parametrize(
    ("marks", "after"),
    [
        ([0, 0, 0], EvState.GOOD),
        ([0, 0, SackM.SKIP_ONCE], EvState.SKIP),
        ([0, 0], EvState.ASSUMED_BAD),
        ([0, None, 0, 0], EvState.ASSUMED_BAD),
        ([0, None, 0, 0, 0], EvState.GOOD),
    ],
    ids=["three answers", "the last one marked", "two answers", "one missing", "three after one missing"],
)
def test_probes_bring_an_ev_back(marks, after):
    nic = device(send_psn=0, ack_timeout=20)
    sent = frames(post(nic, 70 * MTU))
    bad = requester(nic).evs.find(sent[0].ev)
    actions = nic.handle(sack((1 << 24) - 1, m=SackM.ALWAYS_SKIP, entropy=bad.ev), 1000)
    for mark in marks:
        at_ps, actions = expire(nic, actions, PROBE)
        (probe,) = frames(actions)
        assert (probe.opcode, probe.ev, probe.dscp) == (Opcode.PROBE_REQUEST, bad.ev, DSCP.no_trim)
        assert probe.peth.tx_timestamp == at_ps // (128 * NS) % (1 << 16)
        if mark is not None:
            answer = sack((1 << 24) - 1, pr=1, ack_psn_offset=probe.peth.probe_id, m=mark, entropy=bad.ev)
            nic.handle(answer, at_ps + 1)
            nic.handle(answer, at_ps + 2)  # a repeated answer counts once
    assert bad.state is after


def test_probing_ends_with_the_work():
    nic = device(send_psn=0)
    sent = frames(post(nic, MTU))
    actions = nic.handle(nack(0, NackReason.TRIMMED, sent[0].ev), 1000)
    actions = nic.handle(sack((1 << 24) - 1, m=SackM.ALWAYS_SKIP, entropy=sent[0].ev), 1000)
    assert of(actions, SetTimer)[-1].key == PROBE
    assert CancelTimer(PROBE) in nic.handle(sack(0), 2000)


# What software may get wrong


@pytest.mark.parametrize(
    "work",
    [
        PostWrite(OWN_QPN + 1, 1, b"x", BASE, 0),
        PostWrite(OWN_QPN, 1, b"x", (1 << 64), 0),
        PostWrite(OWN_QPN, 1, b"xx", (1 << 64) - 1, 0),
        PostWrite(OWN_QPN, 1, b"x", -1, 0),
        PostWrite(OWN_QPN, 1, b"x", BASE, 1 << 32),
        PostWrite(OWN_QPN, 1, b"x", BASE, 0, immediate=1 << 32),
    ],
    ids=["unknown QP", "address of 65 bits", "end beyond 64 bits", "negative address", "wide key", "wide immediate"],
)
def test_r09_work_that_fits_no_field_is_refused(work):
    nic = device()
    with pytest.raises(InputError):
        nic.handle(work, 0)
    assert not requester(nic).busy


def test_write_statistics_follow_the_completion():
    nic = device(send_psn=0)
    sent = frames(post(nic, 3 * MTU))
    nic.handle(nack(1, NackReason.TRIMMED, sent[1].ev), 1000)
    actions = nic.handle(sack(2), 2000)
    index = actions.index(Complete(OWN_QPN, 1, "success", 3 * MTU))
    counts = (("packets", 3), ("retransmissions", 1), ("nacks", 1), ("timeouts", 0))
    assert actions[index + 1] == Notify("write_ended", (("qpn", OWN_QPN), ("wr_id", 1), *counts))


# What the peer's software sets


@pytest.mark.parametrize(
    ("penalty", "packets"), [(0, 127), (1, 126), (63, 64), (126, 1), (127, 1)], ids=lambda value: str(value)
)
def test_a_receivers_penalty_narrows_the_window(penalty, packets):
    nic = device(FixedWindow(127 * FULL), send_psn=0)
    post(nic, 400 * MTU)
    nic.handle(sack(126, rcv_cwnd_pen=penalty), 1000)
    assert requester(nic).transmitter.cwnd() == packets * FULL
    assert requester(nic).window.inflight == packets * FULL
    nic.handle(sack(126 + packets, rcv_cwnd_pen=penalty, restore_cwnd=1), 2000)
    assert requester(nic).window.inflight == 127 * FULL, "restored"


@pytest.mark.parametrize(
    ("dynamic", "units", "sent"), [(True, 1, 128), (True, 8, 256), (True, 0, 256), (False, 1, 256)]
)
def test_s01_dynamic_mpr_is_obeyed_up_to_the_own(dynamic, units, sent):
    nic = device(mtu=256, mpr_units=2, send_psn=0, dynamic_mpr=dynamic)
    assert len(frames(post(nic, 900 * 256))) == 256
    nic.handle(sack(255, mpr=units), 1000)
    window = requester(nic).window
    assert window.next_index - window.unack_index == sent


def test_without_trim_nack_data_is_not_trimmable():
    nic = device(send_psn=0, trim_nack=False)
    sent = frames(post(nic, MTU + 1))
    again = frames(nic.handle(nack(0, NackReason.PSN_OOR_WINDOW, sent[0].ev), 1000))
    assert {frame.dscp for frame in sent + again} == {DSCP.no_trim}
    assert again


# Tails


TAIL = f"qp{OWN_QPN}/tail"


def quiet(nic, actions):
    """Let the tail timer run out, as often as it has moved meanwhile."""
    while True:
        at_ps, actions = expire(nic, actions, TAIL)
        if not [action for action in actions if isinstance(action, SetTimer)] or frames(actions):
            return at_ps, actions


def test_a_tail_probe_repairs_a_lost_tail_once():
    nic = device(send_psn=0, base_rtt_ps=12 * US, target_delay_ps=9 * US)
    actions = post(nic, 4 * MTU)
    sent = frames(actions)
    post(nic, 1, 3 * US, wr_id=2)
    nic.handle(sack(1), 4 * US)
    at_ps, actions = quiet(nic, actions)
    (probe,) = frames(actions)
    assert (probe.opcode, probe.dscp) == (Opcode.PROBE_REQUEST, DSCP.no_trim)
    assert at_ps == 25 * US, "a base RTT and the target delay after anything was sent or heard"
    answer = sack(1, pr=1, ack_psn_offset=probe.peth.probe_id)
    again = frames(nic.handle(answer, 30 * US))
    assert [(frame.psn, frame.rtx) for frame in again] == [(2, True), (3, True), (4, True)]
    assert frames(nic.handle(answer, 31 * US)) == [], "the same answer again"
    bad = requester(nic).evs.find(sent[2].ev)
    assert bad.state is EvState.ASSUMED_BAD


def test_a_tail_probe_blames_nothing_that_arrived_or_was_sent_after_it():
    nic = device(FixedWindow(3 * FULL), send_psn=0, base_rtt_ps=12 * US, target_delay_ps=9 * US)
    actions = post(nic, 3 * MTU)
    _, actions = quiet(nic, actions)
    (probe,) = frames(actions)
    requester(nic).congestion.cwnd = 4 * FULL
    assert [frame.psn for frame in frames(post(nic, 8, 22 * US, wr_id=2))] == [3]
    answer = sack((1 << 24) - 1, bitmap=0b101, pr=1, ack_psn_offset=probe.peth.probe_id)
    assert [frame.psn for frame in frames(nic.handle(answer, 30 * US))] == [1]


def test_tail_probes_stop_after_three_and_leave_it_to_the_ack_timer():
    nic = device(send_psn=0, base_rtt_ps=12 * US, target_delay_ps=9 * US)
    actions = post(nic, MTU)
    times = []
    while [action for action in actions if isinstance(action, SetTimer) and action.key == TAIL]:
        at_ps, actions = expire(nic, actions, TAIL)
        times += [at_ps // US for frame in frames(actions) if frame.opcode == Opcode.PROBE_REQUEST]
    assert times == [21, 42, 63]
    assert not [a for a in of(post(device(send_psn=0, tail_probes=0), MTU), SetTimer) if a.key == TAIL]


def test_with_more_to_send_the_tail_probe_waits_three_round_trips():
    nic = device(FixedWindow(2 * FULL), send_psn=0, base_rtt_ps=12 * US)
    (timer,) = [action for action in of(post(nic, 5 * MTU), SetTimer) if action.key == TAIL]
    assert timer.at_ps == 36 * US


# Planes and the administrator


def test_an_ev_of_a_plane_that_is_down_is_not_to_blame():
    nic = device(send_psn=0, ack_timeout=3)
    actions = post(nic, 4 * MTU)
    nic.handle(PortChange(0, up=False), 100)
    expire(nic, actions)
    assert {slot.port for slot in requester(nic).evs.retired} == {1}


def test_no_retry_is_counted_while_every_plane_is_down():
    nic = device(send_psn=0, ack_timeout=3, linear_retries=1, backoff_retries=0)
    actions = post(nic, MTU)
    for port in (0, 1):
        nic.handle(PortChange(port, up=False), 100)
    for _ in range(20):
        at_ps, actions = expire(nic, actions)
        assert statuses(actions) == []
    assert [frame.psn for frame in writes(nic.handle(PortChange(0, up=True), at_ps + 1))] == [0]


def test_the_administrator_denies_and_allows_an_ev():
    nic = device(send_psn=0, evs=evs(4), backup_evs=evs(6)[4:])
    ev = evs(4)[2].ev
    nic.handle(Command("deny_ev", ev, OWN_QPN), 0)
    used = {frame.ev for frame in frames(post(nic, 40 * MTU))}
    assert used == {record.ev for record in (*evs(4), evs(6)[4])} - {ev}, "a backup of its plane has its place"
    nic.handle(sack(39), 1000)
    slot = requester(nic).evs.find(ev)
    nic.handle(sack(39, m=SackM.ALWAYS_SKIP, entropy=ev), 1000)
    assert slot.state is EvState.DENIED
    nic.handle(Command("allow_ev", ev, OWN_QPN), 0)
    assert slot.state is EvState.GOOD
    assert ev not in {frame.ev for frame in frames(post(nic, 40 * MTU, 2000, wr_id=2))}, "a backup now"


def test_with_every_ev_denied_nothing_is_sent_until_one_is_allowed():
    nic = device(send_psn=0, evs=evs(2))
    for record in evs(2):
        nic.handle(Command("deny_ev", record.ev, OWN_QPN), 0)
    assert frames(post(nic, MTU)) == []
    actions = nic.handle(Command("allow_ev", evs(2)[1].ev, OWN_QPN), 10)
    assert [frame.ev for frame in frames(actions)] == [evs(2)[1].ev]


def test_a_backup_that_is_called_bad_stays_a_backup():
    nic = device(send_psn=0, evs=evs(4), backup_evs=evs(6)[4:])
    post(nic, MTU)
    backup = evs(6)[4].ev
    nic.handle(sack((1 << 24) - 1, m=SackM.ALWAYS_SKIP, entropy=backup), 1000)
    slot = requester(nic).evs.find(backup)
    assert slot.state in (EvState.GOOD, EvState.ASSUMED_BAD)
    requester(nic).evs.restore(slot)
    assert len(requester(nic).evs._backups) == 2


def test_probes_of_all_qps_share_the_budget_of_a_port(monkeypatch):
    monkeypatch.setattr("pymodel.nic.prober.PROBES_PER_PORT", 2)
    nic = device(send_psn=0, ack_timeout=20, min_active_evs=0)
    sent = frames(post(nic, 70 * MTU))
    actions = []
    for frame in sent[:10]:
        actions += nic.handle(sack((1 << 24) - 1, m=SackM.ALWAYS_SKIP, entropy=frame.ev), 1000)
    seen = []
    for _ in range(6):
        _, actions = expire(nic, actions, PROBE)
        probes = frames(actions)
        assert len(probes) == 4, "two a port"
        seen.append({frame.ev for frame in probes})
    assert len(set.union(*seen[:3])) == 10, "those left out come first the next time"
