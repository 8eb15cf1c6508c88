"""A device: which frame reaches which QP, and that no frame whatever breaks it."""

import random

import pytest

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig
from pymodel.nic.events import Command, FrameIn, FrameOut, PortChange, PostReceive, PostWrite, WriteMemory
from pymodel.paths.ev import EvRecord
from pymodel.wire.headers import Bth, Eeth, Erth
from pymodel.wire.icrc import icrc
from pymodel.wire.spec import ENDPOINT_QP, Opcode
from tests.nic.harness import BASE, THERE_QPN, Pair, Weather
from tests.nic.peer import OWN, OWN_QPN, PEER, PEER_QPN, arrive, device, evs, nack, sack, write

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
    ("MTU below 256", {"mtu": 255}),
    ("MTU above 8192", {"mtu": 8193}),
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
