"""A device: which frame reaches which QP, and that no frame whatever breaks it."""

import random

import pytest

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig, QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import Command, FrameIn, FrameOut, PortChange, PostReceive, PostWrite, WriteMemory
from pymodel.nic.requester import RequesterState
from pymodel.nic.responder import ResponderState
from pymodel.paths.ev import EvRecord
from pymodel.wire.headers import Bth, Eeth, Erth
from pymodel.wire.icrc import icrc
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import ENDPOINT_QP, Opcode
from tests.nic.harness import BASE, THERE_QPN, Pair, Weather
from tests.nic.peer import OWN, OWN_QPN, PEER, PEER_QPN, arrive, device, evs, nack, probe, sack, write

INNER = 14 + 40  # Ethernet and outer IPv6


def test_frames_without_effect_are_counted_by_cause():
    nic = device(receive_psn=0)
    nic.regions.register(BASE, 4096)
    good = write(0, b"x").data
    damaged = bytearray(good)
    damaged[-6] ^= 1
    causes = {
        "parse: TOO_SHORT": b"",
        "parse: ETHERTYPE": b"\x12" * 100,
        "parse: ICRC": bytes(damaged),
        "unknown QP": write(0, b"x", bth={}).data.replace(OWN_QPN.to_bytes(3, "big"), b"\x00\x09\x99"),
        "wrong address": write(0, b"x", src=PEER + 1).data,
        "endpoint operation": arrive(Bth(opcode=Opcode.ENDPOINT_REQUEST, dest_qp=ENDPOINT_QP), Erth(op=2)).data,
        "endpoint response to no request": arrive(
            Bth(opcode=Opcode.ENDPOINT_RESPONSE, dest_qp=ENDPOINT_QP), Eeth(op=1)
        ).data,
        "wrong P_Key": write(0, b"x", bth={"p_key": 0x8001}).data,
    }
    # A frame for another QP needs an ICRC of its own.
    other = bytearray(causes["unknown QP"])
    other[-4:] = icrc(bytes(other[14:-4])).to_bytes(4, "little")
    causes["unknown QP"] = bytes(other)
    for cause, data in causes.items():
        assert nic.handle(FrameIn(0, data), 0) == []
        assert nic.dropped[cause] == 1, cause
    response = arrive(Bth(opcode=Opcode.ENDPOINT_RESPONSE, dest_qp=OWN_QPN), Eeth())
    assert nic.handle(response, 0) == []
    assert nic.handle(write(0, b"x", dst=OWN + 1), 0) == []
    assert nic.dropped.total() == len(causes) + 2
    assert isinstance(nic.handle(FrameIn(0, good), 0)[0], WriteMemory)


def test_r10_late_and_stray_answers_leave_an_idle_qp_idle():
    nic = device(send_psn=0)
    for event in (sack(0), sack(5, bitmap=3), nack(0, 1, 7), nack(9, 0x0B, 7), sack(0, pr=1, ack_psn_offset=3)):
        assert [action for action in nic.handle(event, 0) if isinstance(action, FrameOut)] == []
    requester = nic.qp(OWN_QPN).requester
    assert not requester.busy
    assert requester.window.inflight == 0


def test_qps_are_apart():
    nic = device(receive_psn=0)
    nic.regions.register(BASE, 4096)
    nic.add_qp(QpConfig(qpn=0x200, peer_qpn=0x300, peer_address=PEER, evs=evs()))
    nic.handle(write(0, b"x"), 0)
    assert nic.qp(OWN_QPN).responder.window.cack_psn == 0
    assert nic.qp(0x200).responder.window.cack_psn == (1 << 24) - 1


def test_both_directions_at_once():
    pair = Pair(Weather(seed=4, loss=0.02, jitter=10**6))
    back = pair.here.regions.register(0x5000, 1 << 16)
    data = random.Random(8).randbytes(1 << 16)
    landed = bytearray(1 << 16)
    actions = pair.there.handle(PostWrite(THERE_QPN, 5, data, 0x5000, back.r_key), 0)
    original = pair._carry_out

    def carry_out(who, action):
        if who == 0 and isinstance(action, WriteMemory):
            landed[action.address - 0x5000 : action.address - 0x5000 + len(action.data)] = action.data
        else:
            original(who, action)

    pair._carry_out = carry_out
    for action in actions:
        carry_out(1, action)
    pair.write(data)
    pair.run()
    assert bytes(pair.memory[: 1 << 16]) == bytes(landed) == data
    assert [[c.wr_id for _, c in done] for done in pair.completions] == [[1], [5]]
    pair.assert_at_rest()


@pytest.mark.parametrize(
    "event",
    [PostReceive(7, 1), PostWrite(7, 1, b"", 0, 0), PortChange(2, True), PortChange(-1, True), Command("warp", 9)],
)
def test_wrong_requests_are_refused_in_one_sentence(event):
    with pytest.raises(InputError):
        device().handle(event, 0)


PORT = PortConfig(1, 2, 3)
BAD_CONFIGURATIONS = [
    ("QPN of endpoint operations", {"qpn": 2}),
    ("QPN of 25 bits", {"qpn": 1 << 24}),
    ("PSN of 25 bits", {"send_psn": 1 << 24}),
    ("MTU below 256", {"mtu": 252}),
    ("MTU above 8192", {"mtu": 8196}),
    ("MTU with a rest", {"mtu": 1001}),
    ("MPR of 0 units", {"mpr_units": 0}),
    ("MPR of 256 units", {"responder_mpr_units": 256}),
    ("timeout exponent 25", {"ack_timeout": 25}),
    ("8 linear retries", {"linear_retries": 8}),
    ("26 back-off retries", {"backoff_retries": 26}),
    ("seed 0", {"seed": 0}),
    ("no EV", {"evs": ()}),
    ("EV on a port that is not there", {"evs": (EvRecord(1, 2, 3),)}),
    ("the same QPN again", {"qpn": OWN_QPN}),
]


@pytest.mark.parametrize("changes", [row[1] for row in BAD_CONFIGURATIONS], ids=[row[0] for row in BAD_CONFIGURATIONS])
def test_r09_bad_configurations_are_refused(changes):
    with pytest.raises(InputError):
        device().add_qp(QpConfig(**({"qpn": 9, "peer_qpn": PEER_QPN, "peer_address": PEER, "evs": evs()} | changes)))


def test_a_device_has_ports():
    with pytest.raises(InputError):
        DeviceConfig(ports=(), address=OWN)
    with pytest.raises(InputError):
        PortConfig(1 << 48, 2, 3)


def state(pair):
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
            qp.requester.window._sacked,
            qp.requester.state,
            [slot.state for slot in qp.requester.evs.slots()],
        )
        for qp in (pair.qp, pair.peer)
    ]


def recorded():
    """Frames of every kind, with their receiver, from a run in bad weather."""
    pair = Pair(Weather(seed=6, loss=0.2, duplicate=0.1), settings=QpSettings(mtu=256, ack_timeout=4), send_psn=0)
    pair.write(bytes(range(256)) * 40)
    pair.run()
    found = [(1 - who, frame.data) for _, who, frame in pair.sent]
    return [*found, (1, probe(7).data), (0, nack(3, 1, 9).data)]


def busy_pair():
    """Two devices in the middle of a long write, from the same first PSN as the recorded frames."""
    pair = Pair(settings=QpSettings(mtu=256), congestion=lambda: FixedWindow(30 * 330), send_psn=0, evs=4)
    pair.write(bytes(range(256)) * 200)
    for _ in range(20):
        pair.step()
    return pair


def mutate(draw, data, kinds=5):
    """One to four changes: a bit, a byte, a run of one value, and of five kinds also a cut and an insertion."""
    data = bytearray(data)
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(data))
        match draw.randrange(kinds):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                data[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
            case 2:
                data[at : at + 4] = bytes([draw.choice((0, 0xFF))]) * len(data[at : at + 4])
            case 3:
                del data[at + 1 :]
            case 4:
                data[at:at] = draw.randbytes(draw.randrange(1, 20))
    return bytes(data)


def with_icrc(data):
    """`data` with the ICRC that its content asks for, so that mutated fields reach the cores."""
    if len(data) < INNER + 4:
        return data
    body = data[INNER:-4]
    return data[:INNER] + body + icrc(body).to_bytes(4, "little") if len(body) >= 60 else data


def test_s07_no_frame_without_a_good_icrc_changes_anything():
    """50,000 random, cut and mutated frames into both ends of a busy pair."""
    draw = random.Random(2026)
    found, pair = recorded(), busy_pair()
    before, refused = state(pair), 0
    for number in range(50_000):
        who, data = draw.choice(found)
        match number % 3:
            case 0:
                data = draw.randbytes(draw.randrange(300))
            case 1:
                data = data[: draw.randrange(len(data))] + draw.randbytes(draw.randrange(100))
            case 2:
                data = mutate(draw, data)
        frame = parse(data)
        if isinstance(frame, ParseError) or frame.trimmed:
            actions = pair.devices[who].handle(FrameIn(draw.randrange(2), data), pair.now_ps)
            assert {type(action) for action in actions} <= {FrameOut}
            refused += 1
    assert state(pair) == before
    assert refused > 40_000


@pytest.mark.slow
def test_no_frame_raises_or_writes_outside_its_region():
    """50,000 mutated frames whose ICRC is good, so that every field takes every kind of value in the cores."""
    draw = random.Random(2027)
    found, pair, effects, failures = recorded(), busy_pair(), 0, 0
    for number in range(50_000):
        if number % 400 == 0:
            pair = busy_pair()  # one for which many of the recorded PSNs are new
        who, data = draw.choice(found)
        data = with_icrc(mutate(draw, data, kinds=draw.choice((3, 3, 3, 5))))
        for action in pair.devices[who].handle(FrameIn(draw.randrange(2), data), pair.now_ps):
            effects += 1
            if isinstance(action, WriteMemory):
                assert who == 1
                assert action.address >= BASE
                assert action.address + len(action.data) <= BASE + len(pair.memory)
        assert 0 <= pair.qp.requester.window.inflight <= 31 * 330
        if pair.qp.requester.state is not RequesterState.READY or pair.peer.responder.state is not ResponderState.READY:
            pair, failures = busy_pair(), failures + 1
    assert effects > 10_000
    assert failures > 10
