"""Noise into a QP in each state of its life: nothing raises, and nothing changes without a valid frame of that QP."""

from __future__ import annotations

import random

import pytest

from pymodel.bench.nightly import report_figure
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import Complete, FrameIn, FrameOut, PostReceive, PostWrite, WriteMemory
from pymodel.nic.lifecycle import QpState
from pymodel.nic.requester import RequesterState
from pymodel.nic.responder import ResponderState
from pymodel.wire.frame import Frame
from pymodel.wire.headers import Bth, Eeth, Erth
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import DATA_OPCODES, AethSyndrome, DscpMap, NackReason, Opcode
from tests.nic.frame_noise import icrc, mutated, noise, sealed
from tests.nic.harness import Pair, Weather
from tests.nic.peer import BASE, OWN, OWN_QPN, PEER, acknowledge, arrive, nack, probe, sack, write
from tests.nic.state import canonical
from tests.nic.test_lifecycle import made

RESET, INIT, RTR, RTS, ERROR = QpState
INNER = 14 + 40  # Ethernet and outer IPv6
MTU, FIRST_IN, FIRST_OUT = 1024, 7, 9  # as `made` has them
LENGTH = 1 << 20
ADDRESSES = PEER.to_bytes(16, "big") + OWN.to_bytes(16, "big")
ROUND = 500


def seeds():
    """A frame of each kind that means something to the QP of `busy`."""
    window = busy(RTS).qp(OWN_QPN).requester.window
    evs = {window.psn(index): packet.ev.ev for index, packet in window._packets.items()}
    sent = FIRST_OUT + 5
    events = [
        write(FIRST_IN + 3 + i, bytes(MTU), opcode=opcode, msn=1 + i, va=BASE + 5000 * i)
        for i, opcode in enumerate(sorted(DATA_OPCODES))
    ]
    events += [write(FIRST_IN + 9, b"", timestamp=None, msn=9), write(FIRST_IN + 1, bytes(5), msn=0)]
    events += [write(FIRST_IN + 2, bytes(MTU), dscp=DscpMap().trimmed), write(FIRST_IN + 4000, bytes(9))]
    events += [sack(FIRST_OUT + 4, 0b1011, offset=3), sack(FIRST_OUT + 3, 1 << 9), sack(sent, m=1, entropy=evs[sent])]
    events += [nack(sent, reason, evs[sent]) for reason in NackReason]
    events += [acknowledge(syndrome, 1, FIRST_OUT + 2) for syndrome in AethSyndrome]
    events += [probe(3), sack(FIRST_OUT, pr=1, ack_psn_offset=0)]
    events += [arrive(Bth(opcode=Opcode.ENDPOINT_REQUEST, dest_qp=2), Erth(op=op, port_status_mask=1)) for op in (0, 1)]
    events += [arrive(Bth(opcode=Opcode.ENDPOINT_RESPONSE, dest_qp=2), Eeth(op=op)) for op in (0, 1)]
    return [event.data for event in events]


def busy(state):
    """A device whose QP is in `state`, and in the middle of things where the state allows."""
    nic = made(RTS if state is ERROR else state)
    if state in (RTR, RTS, ERROR):
        for wr_id in range(3):
            nic.handle(PostReceive(OWN_QPN, wr_id), 0)
        for psn in (FIRST_IN, FIRST_IN + 2):
            nic.handle(write(psn, bytes(MTU), opcode=Opcode.WRITE_MIDDLE), 0)
    if state in (RTS, ERROR):
        nic.handle(PostWrite(OWN_QPN, 1, bytes(30 * MTU), BASE, 0), 0)
        nic.handle(PostWrite(OWN_QPN, 2, b"x", BASE, 0, immediate=5), 0)
        nic.handle(sack(FIRST_OUT + 3, 0b1), 0)
    if state is ERROR:
        nic.modify_qp(OWN_QPN, ERROR)
    assert nic.query_qp(OWN_QPN).state is state
    return nic


def is_valid(data):
    """Has `data` a claim to change the QP: does it parse, is it the QP's, or an endpoint operation of its peer?"""
    frame = parse(data)
    if not isinstance(frame, Frame):
        return False
    if frame.opcode in (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE):
        return True
    return frame.dest_qp == OWN_QPN and data[frame._ip + 8 : frame._ip + 40] == ADDRESSES


def flood(state, frames, seed):
    """Noise in rounds, each into a new device: first what is not valid, then what is. Returns how many were valid."""
    draw, templates, taken = random.Random(seed), seeds(), 0
    for _ in range(0, frames, ROUND):
        nic = busy(state)
        qp = nic.qp(OWN_QPN)
        before = canonical(qp)
        valid = []
        for _ in range(ROUND):
            data = noise(draw, templates)
            if is_valid(data):
                valid.append(data)
            else:
                assert nic.handle(FrameIn(draw.randrange(2), data), 0) == [], data.hex()
        assert canonical(qp) == before
        for data in valid:
            for action in nic.handle(FrameIn(draw.randrange(2), data), 0):
                check(state, nic, action)
        if state in (RESET, INIT):
            assert canonical(qp) == before
        after = nic.query_qp(OWN_QPN).state
        assert after is state or (state in (RTR, RTS) and after is ERROR)
        taken += len(valid)
    return taken


def check(state, nic, action):
    """What may follow from a frame in `state`."""
    match action:
        case WriteMemory(address, data):
            assert state in (RTR, RTS)
            assert BASE <= address <= address + len(data) <= BASE + LENGTH
        case Complete():
            assert state in (RTR, RTS)
        case FrameOut(_, data):
            assert isinstance(parse(data), Frame)
    if state is RTS:
        assert nic.qp(OWN_QPN).requester.window.inflight >= 0


@pytest.mark.slow
@pytest.mark.parametrize("state", QpState, ids=lambda state: state.value)
def test_s07_noise_in_each_state(state):
    """20,000 frames for each of the five states."""
    valid = flood(state, 20_000, seed=f"noise {state.value}")
    assert 1_000 < valid < 10_000, "both kinds took part"


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("state", QpState, ids=lambda state: state.value)
def test_a_million_frames_of_noise(state):
    valid = flood(state, 1_000_000, seed=f"night {state.value}")
    report_figure(f"frames of noise in {state.value}", 1_000_000)
    report_figure(f"valid frames among the noise in {state.value}", valid)


def test_the_icrc_of_the_noise_is_that_of_the_frames():
    for data in seeds():
        frame = parse(data)
        assert isinstance(frame, Frame)
        assert frame.trim_reason is not None or icrc(data[:-4]) == data[-4:]


def test_each_seed_means_something_to_a_qp_in_rts():
    """Noise starts from frames that the cores act on; a frame that nothing came of would leave them untested."""
    silent = []
    for data in seeds():
        nic = busy(RTS)
        before = canonical(nic)
        if nic.handle(FrameIn(0, data), 0) == [] and canonical(nic) == before:
            silent.append(parse(data))
    # PSN sequence is no syndrome of MRC, and nobody sent the probe or the requests that three others answer.
    expected = [Opcode.ACKNOWLEDGE, Opcode.SACK, Opcode.ENDPOINT_RESPONSE, Opcode.ENDPOINT_RESPONSE]
    assert [frame.opcode for frame in silent] == expected


# Between two devices, encapsulated


def fates(pair):
    """All that a frame could change in either half of both QPs."""
    return [
        (
            qp.responder.window.cack_psn,
            qp.responder.window.ooo_count,
            qp.responder.state,
            qp.responder._received,
            qp.responder.delivery.completed,
            qp.requester.window.unack_index,
            qp.requester.window.next_index,
            qp.requester.window.inflight,
            qp.requester.window.sacked,
            qp.requester.state,
            [slot.state for slot in qp.requester.evs.slots()],
        )
        for qp in (pair.qp, pair.peer)
    ]


def weathered():
    """Frames of every kind, with their receiver, from a run in bad weather."""
    pair = Pair(Weather(seed=6, loss=0.2, duplicate=0.1), settings=QpSettings(mtu=256, ack_timeout=4), send_psn=0)
    pair.write(bytes(range(256)) * 40)
    pair.run()
    found = [(1 - who, frame.data) for _, who, frame in pair.sent]
    return [*found, (1, probe(7).data), (0, nack(3, 1, 9).data)]


def pair_at_work():
    """Two devices in the middle of a long write, from the same first PSN as the recorded frames."""
    pair = Pair(settings=QpSettings(mtu=256), congestion=lambda: FixedWindow(30 * 330), send_psn=0, evs=4)
    pair.write(bytes(range(256)) * 200)
    for _ in range(20):
        pair.step()
    return pair


def test_s07_no_frame_without_a_good_icrc_changes_anything():
    """50,000 random, cut and mutated frames into both ends of a busy pair."""
    draw = random.Random(2026)
    found, pair = weathered(), pair_at_work()
    before, refused = fates(pair), 0
    for number in range(50_000):
        who, data = draw.choice(found)
        match number % 3:
            case 0:
                data = draw.randbytes(draw.randrange(300))
            case 1:
                data = data[: draw.randrange(len(data))] + draw.randbytes(draw.randrange(100))
            case 2:
                data = mutated(draw, data)
        frame = parse(data)
        if isinstance(frame, ParseError) or frame.trimmed:
            actions = pair.devices[who].handle(FrameIn(draw.randrange(2), data), pair.now_ps)
            assert {type(action) for action in actions} <= {FrameOut}
            refused += 1
    assert fates(pair) == before
    assert refused > 40_000


@pytest.mark.slow
def test_no_frame_raises_or_writes_outside_its_region():
    """50,000 mutated frames whose ICRC is good, so that every field takes every kind of value in the cores."""
    draw = random.Random(2027)
    found, pair, effects, failures = weathered(), pair_at_work(), 0, 0
    for number in range(50_000):
        if number % 400 == 0:
            pair = pair_at_work()  # one for which many of the recorded PSNs are new
        who, data = draw.choice(found)
        data = sealed(mutated(draw, data[:-4], kinds=draw.choice((3, 3, 3, 5))), INNER)
        for action in pair.devices[who].handle(FrameIn(draw.randrange(2), data), pair.now_ps):
            effects += 1
            if isinstance(action, WriteMemory):
                assert who == 1
                assert action.address >= BASE
                assert action.address + len(action.data) <= BASE + len(pair.memory)
        assert 0 <= pair.qp.requester.window.inflight <= 31 * 330
        if pair.qp.requester.state is not RequesterState.READY or pair.peer.responder.state is not ResponderState.READY:
            pair, failures = pair_at_work(), failures + 1
    assert effects > 10_000
    assert failures > 10
