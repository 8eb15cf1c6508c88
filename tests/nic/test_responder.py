"""The responder alone, fed by hand: what it places, and what it answers."""

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import NS, US
from pymodel.nic.events import (
    Command,
    Complete,
    FrameIn,
    FrameOut,
    PortChange,
    PostReceive,
    SetTimer,
    TimerFired,
    WriteMemory,
)
from pymodel.nic.lifecycle import QpError, QpState
from pymodel.nic.responder import ResponderState
from pymodel.wire.headers import Ipv6
from pymodel.wire.spec import DEFAULT_OPTIONS, AethSyndrome, CcType, Ecn, NackReason, NextHeader, Opcode, SackM
from tests.nic.peer import BASE, OWN, OWN_QPN, PEER, PEER_EV, PEER_QPN, device, frames, probe, write

MTU = 4096
MOD = 1 << 24
QUIET = f"qp{OWN_QPN}/quiet"
DSCP = DEFAULT_OPTIONS.dscp
FIRST, MIDDLE, LAST, ONLY = Opcode.WRITE_FIRST, Opcode.WRITE_MIDDLE, Opcode.WRITE_LAST, Opcode.WRITE_ONLY
TRIMMED = {"dscp": DSCP.trimmed}


def responder_device(**settings):
    nic = device(**({"receive_psn": 0} | settings))
    nic.regions.register(BASE, 1 << 20)  # its key is 0
    return nic


def responder(nic):
    return nic.qp(OWN_QPN).responder


def of(actions, kind):
    return [action for action in actions if isinstance(action, kind)]


def answer(actions, opcode=Opcode.SACK):
    """The one frame of `opcode` among what was sent."""
    (frame,) = [frame for frame in frames(actions) if frame.opcode == opcode]
    return frame


def opcodes(actions):
    return [frame.opcode for frame in frames(actions)]


def full(psn, **fields):
    """A middle packet of a long message, which by itself triggers nothing."""
    return write(psn, bytes(MTU), opcode=MIDDLE, **fields)


# Placement


def test_payload_goes_where_reth_says():
    nic = responder_device()
    actions = nic.handle(write(0, b"abcde", va=BASE + 77), 0)
    assert of(actions, WriteMemory) == [WriteMemory(BASE + 77, b"abcde")]


def test_any_order_is_placed_at_once():
    nic = responder_device()
    for psn in (3, 1, 0, 2):
        actions = nic.handle(full(psn, va=BASE + psn * MTU), 0)
        assert of(actions, WriteMemory) == [WriteMemory(BASE + psn * MTU, bytes(MTU))]
    assert (responder(nic).window.cack_psn, responder(nic).window.ooo_count) == (3, 0)


def test_duplicates_are_not_placed_and_answered_at_once():
    nic = responder_device()
    nic.handle(full(0), 0)
    nic.handle(full(2), 0)
    for psn, offset in ((0, 0), (2, 2)):
        actions = nic.handle(full(psn), 0)
        assert of(actions, WriteMemory) == []
        assert answer(actions).seth.ack_psn_offset == offset


@pytest.mark.parametrize("length", [0, 8, 1 << 31])
def test_dma_length_bounds_nothing(length):
    """Both readings of DMALen interoperate (mrc-facts.md 1.6)."""
    nic = responder_device()
    assert of(nic.handle(full(0, length=length), 0), WriteMemory)


FAULTS = [
    ("unknown key", write(1, b"x", r_key=5 << 8), QpError.LOCAL_ACCESS),
    ("wrong tag", write(1, b"x", r_key=1), QpError.LOCAL_ACCESS),
    ("a byte in front of the region", write(1, b"xy", va=BASE - 1), QpError.LOCAL_ACCESS),
    ("a byte behind the region", write(1, b"xy", va=BASE + (1 << 20) - 1), QpError.LOCAL_ACCESS),
    ("around the end of the address space", write(1, b"xy", va=(1 << 64) - 1), QpError.LOCAL_ACCESS),
    ("more than an MTU", write(1, bytes(MTU + 4)), QpError.LOCAL_REQUEST),
    ("a first packet that is not full", write(1, bytes(MTU - 4), opcode=FIRST), QpError.LOCAL_REQUEST),
    ("a middle packet without payload", write(1, b"", opcode=MIDDLE), QpError.LOCAL_REQUEST),
    (
        "an immediate without a receive",
        write(0, b"x", opcode=Opcode.WRITE_ONLY_IMMEDIATE),
        QpError.NO_RECEIVE,
    ),
]


@pytest.mark.parametrize(("event", "error"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_draws_a_nak_and_ends_the_qp(event, error):
    syndrome = AethSyndrome.NAK_REMOTE_ACCESS if error is QpError.LOCAL_ACCESS else AethSyndrome.NAK_INVALID_REQUEST
    nic = responder_device()
    assert nic.query_qp(OWN_QPN).error is None
    psn = frames([FrameOut(0, event.data)])[0].psn
    actions = nic.handle(event, 0)
    nak = answer(actions, Opcode.ACKNOWLEDGE)
    assert (nak.aeth.syndrome, nak.aeth.msn, nak.psn) == (syndrome, 0, psn)
    if psn:
        assert of(actions, WriteMemory) == []
        assert responder(nic).window.cack_psn == MOD - 1
    assert responder(nic).state is ResponderState.REFUSED
    assert nic.query_qp(OWN_QPN).error is error
    again = nic.handle(full(0), 0)
    assert opcodes(again) == [Opcode.ACKNOWLEDGE], "the NAK may have been lost"
    assert of(again, WriteMemory) == []
    assert frames(again)[0].aeth.syndrome == syndrome
    assert of(nic.handle(PostReceive(OWN_QPN, 9), 0), Complete) == [Complete(OWN_QPN, 9, "flushed", 0)]


def test_a_failed_qp_flushes_its_receives():
    nic = responder_device()
    for wr_id in (4, 5):
        nic.handle(PostReceive(OWN_QPN, wr_id), 0)
    actions = nic.handle(write(0, b"x", r_key=9), 0)
    assert [(c.wr_id, c.status) for c in of(actions, Complete)] == [(4, "flushed"), (5, "flushed")]


def test_r07_no_bytes_take_one_psn_and_touch_no_memory():
    nic = responder_device()
    actions = nic.handle(write(0, b"", r_key=0xBAD, va=0, bth={"ack_req": 1}), 0)
    assert of(actions, WriteMemory) == []
    assert answer(actions).seth.cack_psn == 0
    assert answer(actions, Opcode.ACKNOWLEDGE).aeth.msn == 1


# SACK


def test_s02_a_sack_to_the_byte():
    nic = responder_device(receive_psn=0x000100)
    for psn in (0x101, 0x102, 0x104, 0x108, 0x13E):
        nic.handle(full(psn), 0)
    frame = frames(nic.handle(full(0x140, bth={"rtx": 1}, ecn=Ecn.CE, timestamp=0xBEEF, ev=0xA1B2C3D4), 0))[-1]
    received = 6 * (12 + 4 + 4 + 16 + MTU + 4 + 40)
    expected = bytes.fromhex(
        "0020"  # type 0, nxt 0, m = SKIP_ONCE
        "0041"  # the triggering PSN is cack + 65
        "a1b2c3d4"
        "0123"  # spdcid: the SACK's sender
        "0456"
        "00"
        "0000ff"  # cack
        "00"  # NSCC state follows
        "00"  # no dynamic MPR
        "0002"  # base = cack + 2: moved up by one to include the trigger
        "a00000000000008b"  # 0x101, 0x102, 0x104, 0x108, 0x13E and 0x140 from base 0x101
        "beef"
        "0006"  # out-of-order packets held
        "00"
    ) + (-(-received // 256)).to_bytes(3, "big")
    body = frame.data[14 + 40 + 40 + 8 + 12 : -4]
    assert body.hex() == expected.hex()
    assert (frame.opcode, frame.psn, frame.rtx, frame.dest_qp) == (Opcode.SACK, 0xFF, True, PEER_QPN)


def test_control_frames_have_their_class_and_both_planes():
    nic = responder_device()
    ports = []
    for psn in range(16):
        actions = nic.handle(full(psn, bth={"ack_req": 1}), 0)
        (out,) = of(actions, FrameOut)
        ports.append(out.port)
        (frame,) = frames(actions)
        assert (frame.outer.dscp, frame.ip.dscp, frame.outer.ecn) == (DSCP.control, DSCP.control, Ecn.NOT_ECT)
        assert (frame.ip.src, frame.ip.dst) == (OWN, PEER)
    assert sorted(ports) == [0] * 8 + [1] * 8


TRIGGERS = [
    ("nothing", {}, False),
    ("A bit", {"bth": {"ack_req": 1}}, True),
    ("retransmission", {"bth": {"rtx": 1}}, True),
    ("CE", {"ecn": Ecn.CE}, True),
]


@pytest.mark.parametrize(("fields", "triggers"), [row[1:] for row in TRIGGERS], ids=[row[0] for row in TRIGGERS])
def test_what_triggers_a_sack(fields, triggers):
    nic = responder_device()
    actions = nic.handle(full(0, **fields), 0)
    assert opcodes(actions) == ([Opcode.SACK] if triggers else [])
    if triggers:
        frame = answer(actions)
        assert frame.seth.m == (SackM.SKIP_ONCE if "ecn" in fields else SackM.NONE)
        assert frame.rtx == ("rtx" in fields.get("bth", {}))
        assert frame.seth.entropy == PEER_EV


@pytest.mark.parametrize(("size", "packets"), [(4096, 4), (1024, 16), (1, 16), (0, 16), (2048, 8)])
def test_the_byte_counter(size, packets):
    """16,384 bytes, each packet counting at least 1,024 (mrc-facts.md 3)."""
    nic = responder_device()
    fired = [bool(frames(nic.handle(write(psn, bytes(size), msn=psn), 0))) for psn in range(2 * packets)]
    assert fired == ([False] * (packets - 1) + [True]) * 2


def test_a_sack_for_any_reason_resets_the_counter():
    nic = responder_device()
    for psn in range(3):
        nic.handle(full(psn), 0)
    assert opcodes(nic.handle(full(3, ecn=Ecn.CE), 0)) == [Opcode.SACK]
    assert [opcodes(nic.handle(full(psn), 0)) for psn in range(4, 8)] == [[], [], [], [Opcode.SACK]]


def test_every_ce_mark_is_echoed_by_itself():
    nic = responder_device()
    answers = [answer(nic.handle(full(psn, ecn=Ecn.CE, ev=psn + 100), 0)) for psn in range(4)]
    assert [(frame.seth.m, frame.seth.entropy) for frame in answers] == [(SackM.SKIP_ONCE, 100 + i) for i in range(4)]


def test_the_quiet_timer_answers_a_tail():
    nic = responder_device(base_rtt_ps=10 * US)
    (timer,) = of(nic.handle(full(0, timestamp=100), 3 * US), SetTimer)
    assert (timer.key, timer.at_ps) == (QUIET, 13 * US)
    nic.handle(full(1, timestamp=101, ev=9), 5 * US)
    actions = nic.handle(TimerFired(QUIET, timer.generation), 13 * US)
    frame = answer(actions)
    assert (frame.seth.cack_psn, frame.seth.ack_psn_offset, frame.seth.entropy) == (1, 0, 9)
    assert frame.cc_state.tx_timestamp == 101 + 8 * US // (128 * NS), "held for 8 us"
    assert nic.handle(TimerFired(QUIET, timer.generation), 14 * US) == []


def test_the_quiet_timer_starts_with_the_first_packet_not_answered():
    nic = responder_device(base_rtt_ps=10 * US)
    (timer,) = of(nic.handle(full(0), 0), SetTimer)
    nic.handle(full(1, bth={"ack_req": 1}), 1 * US)
    nic.handle(full(2), 2 * US)
    (later,) = nic.handle(TimerFired(QUIET, timer.generation), 10 * US)
    assert (later.key, later.at_ps) == (QUIET, 12 * US)
    assert opcodes(nic.handle(TimerFired(QUIET, later.generation), 12 * US)) == [Opcode.SACK]


def test_an_answered_tail_stays_answered():
    nic = responder_device(base_rtt_ps=10 * US)
    (timer,) = of(nic.handle(full(0), 0), SetTimer)
    nic.handle(full(1, bth={"ack_req": 1}), 1 * US)
    assert nic.handle(TimerFired(QUIET, timer.generation), 10 * US) == []


def test_received_bytes_count_each_packet_once():
    nic = responder_device()
    nominal = 12 + 4 + 4 + 16 + 4 + 40

    def units(total):
        return -(-total // 256)

    actions = nic.handle(write(0, bytes(5), bth={"ack_req": 1}), 0)
    assert answer(actions).cc_state.rcvd_bytes == units(nominal + 8), "5 bytes and their pad"
    assert answer(nic.handle(write(0, bytes(5)), 0)).cc_state.rcvd_bytes == units(nominal + 8), "a duplicate"
    nic.handle(write(2, bytes(MTU), **TRIMMED), 0)
    actions = nic.handle(write(1, bytes(400), timestamp=None, bth={"ack_req": 1}), 0)
    assert answer(actions).cc_state.rcvd_bytes == units(nominal + 8 + nominal - 4 + 400), "nothing trimmed"


def test_received_bytes_wrap():
    nic = responder_device()
    responder(nic)._received = (256 << 24) - 100
    actions = nic.handle(full(0, bth={"ack_req": 1}), 0)
    assert answer(actions).cc_state.rcvd_bytes == -(-(4176 - 100) // 256)


@pytest.mark.parametrize("behind", [1, 100, 32767, 32768, 40000, 1 << 22])
def test_a_psn_far_below_cack_saturates_the_offset(behind):
    nic = responder_device(receive_psn=5)
    nic.handle(full(5), 0)
    frame = answer(nic.handle(full((5 - behind) % MOD), 0))
    assert frame.seth.ack_psn_offset == max(-32768, -behind)
    assert (frame.seth.sack_offset, frame.seth.sack_bitmap) == (1, 0)


# NACK


def test_s04_above_the_window():
    nic = responder_device(responder_mpr_units=1)
    assert opcodes(nic.handle(full(127), 0)) == []
    frame = answer(nic.handle(full(128, ev=0x77), 0), Opcode.NACK)
    neth = frame.neth
    assert (neth.reason, neth.nack_psn, neth.entropy) == (NackReason.PSN_OOR_WINDOW, 128, 0x77)
    assert (neth.spdcid, neth.dpdcid, neth.tx_timestamp, neth.cc_type) == (OWN_QPN, PEER_QPN, 0x1234, CcType.NACK)
    assert responder(nic).window.ooo_count == 1
    nic.handle(full(0), 0)
    assert of(nic.handle(full(128), 0), WriteMemory), "in the window now"


@pytest.mark.parametrize("jump", [127, 128, 129, 1 << 22, (1 << 23) - 1, 1 << 23, MOD - 1])
def test_s07_jumps(jump):
    nic = responder_device(responder_mpr_units=1, receive_psn=1)
    actions = nic.handle(full(jump), 0)
    inside = jump <= 128
    assert bool(of(actions, WriteMemory)) == inside
    assert responder(nic).window.ooo_count == (1 if inside else 0)
    assert responder(nic).window.cack_psn == 0
    assert opcodes(actions) == ([] if inside else [Opcode.NACK if jump < 1 << 23 else Opcode.SACK])


@pytest.mark.parametrize("whole", [False, True], ids=["cut", "whole, re-marked"])
@pytest.mark.parametrize(
    ("dscp", "reason"),
    [(DSCP.trimmed, NackReason.TRIMMED), (DSCP.trimmed_lasthop, NackReason.TRIMMED_LASTHOP)],
)
def test_l04_trimmed_packets_are_nacked_and_place_nothing(dscp, reason, whole):
    nic = responder_device()
    event = write(0, bytes(range(200)), dscp=dscp)
    if not whole:
        event = type(event)(event.port, event.data[:104])
    actions = nic.handle(event, 0)
    assert of(actions, WriteMemory) == []
    neth = answer(actions, Opcode.NACK).neth
    assert (neth.reason, neth.nack_psn, neth.entropy, neth.tx_timestamp) == (reason, 0, PEER_EV, 0x1234)
    assert responder(nic).window.cack_psn == MOD - 1
    assert len(frames(nic.handle(write(0, bytes(200), bth={"ack_req": 1}), 0))) == 2, "SACK and ACK: not counted yet"


@pytest.mark.parametrize("size", range(120))
def test_l04_a_trimmed_packet_of_any_size(size):
    """From the BTH on there is an answer; where TSETH is cut off, it reflects no timestamp."""
    nic = responder_device()
    event = write(0, bytes(64), **TRIMMED)
    actions = nic.handle(type(event)(0, event.data[:size]), 0)
    bth_end = 14 + 40 + 8 + 12
    assert opcodes(actions) == ([Opcode.NACK] if size >= bth_end else [])
    if size >= bth_end:
        assert frames(actions)[0].neth.tx_timestamp == (0x1234 if size >= bth_end + 8 else 0)


def test_a_trimmed_packet_received_before_draws_a_sack():
    nic = responder_device()
    nic.handle(full(0), 0)
    nic.handle(full(2), 0)
    for psn in (0, 2):
        assert opcodes(nic.handle(full(psn, **TRIMMED), 0)) == [Opcode.SACK]
    assert answer(nic.handle(full(2000, **TRIMMED), 0), Opcode.NACK).neth.reason == NackReason.PSN_OOR_WINDOW


# Messages


def test_transport_ack_when_messages_complete_in_order():
    nic = responder_device(receive_psn=MOD - 1)
    assert opcodes(nic.handle(write(0, b"x", msn=1, bth={"ack_req": 1}), 0)) == [Opcode.SACK]
    actions = nic.handle(write(MOD - 1, b"x", msn=0, bth={"ack_req": 1}), 0)
    assert opcodes(actions) == [Opcode.SACK, Opcode.ACKNOWLEDGE]
    frame = answer(actions, Opcode.ACKNOWLEDGE)
    assert (frame.aeth.syndrome, frame.aeth.msn, frame.psn) == (AethSyndrome.ACK, 2, 0)
    assert opcodes(nic.handle(write(1, b"x", msn=2), 0)) == [], "coalesced with the next SACK"
    assert opcodes(nic.handle(write(1, b"x", msn=2), 0)) == [Opcode.SACK, Opcode.ACKNOWLEDGE]


def test_immediates_complete_in_send_order_after_all_before_them():
    nic = responder_device()
    for wr_id in (10, 11):
        nic.handle(PostReceive(OWN_QPN, wr_id), 0)
    only = Opcode.WRITE_ONLY_IMMEDIATE
    early = nic.handle(write(3, b"yy", opcode=only, msn=2, rqmsn=1, immediate=0xB), 0)
    early += nic.handle(write(0, b"x", opcode=only, msn=0, immediate=0xA), 0)
    early += nic.handle(write(2, bytes(9), opcode=LAST, msn=1), 0)
    assert of(early, Complete) == [Complete(OWN_QPN, 10, "success", 1, 0xA)]
    late = nic.handle(full(1, msn=1), 0)
    assert of(late, Complete) == [Complete(OWN_QPN, 11, "success", 2, 0xB)]


def test_message_numbers_wrap():
    nic = responder_device()
    delivery = responder(nic).delivery
    delivery._next_msn, delivery.completed = 0xFFFF, MOD - 1
    nic.handle(write(0, b"", msn=0xFFFF), 0)
    actions = nic.handle(write(1, b"", msn=0, bth={"ack_req": 1}), 0)
    assert answer(actions, Opcode.ACKNOWLEDGE).aeth.msn == 1


# Probes and ports


def test_a_probe_is_answered_with_its_id():
    nic = responder_device(receive_psn=10)
    nic.handle(full(12), 0)
    frame = answer(nic.handle(probe(0xFEDC), 5 * US))
    assert (frame.seth.pr, frame.seth.ack_psn_offset & 0xFFFF, frame.seth.m) == (1, 0xFEDC, SackM.NONE)
    assert (frame.seth.cack_psn, frame.seth.sack_offset, frame.seth.sack_bitmap) == (9, 1, 0b100)
    assert (frame.seth.entropy, frame.cc_state.tx_timestamp) == (PEER_EV, 0x77)
    assert answer(nic.handle(probe(1, ecn=Ecn.CE), 0)).seth.m == SackM.SKIP_ONCE
    assert answer(nic.handle(probe(2, dscp=DSCP.trimmed), 0)).seth.pr == 1, "a trim mark does not matter to a probe"


def test_a_probe_answers_for_no_packet():
    nic = responder_device()
    for psn in range(3):
        nic.handle(full(psn), 0)
    nic.handle(probe(1), 0)
    assert opcodes(nic.handle(full(3), 0)) == [Opcode.SACK], "the byte counter went on"


def test_answers_take_the_ports_that_are_up():
    nic = responder_device()
    nic.handle(PortChange(0, up=False), 0)
    for psn in range(20):
        actions = nic.handle(full(psn, bth={"ack_req": 1}), 0)
        assert [action.port for action in of(actions, FrameOut)] == [1]
    nic.handle(PortChange(1, up=False), 0)
    actions = nic.handle(full(20, bth={"ack_req": 1}), 0)
    assert of(actions, WriteMemory)
    assert frames(actions) == []


# What software sets, and what the QP was made for


def command(nic, name, value):
    return nic.handle(Command(name, value, OWN_QPN), 0)


def prompt(nic, psn, **fields):
    """The SACK that a full packet with the A bit draws."""
    return answer(nic.handle(full(psn, bth={"ack_req": 1}, **fields), 0))


def test_penalty_and_restore_are_carried():
    nic = responder_device()
    states = []
    for psn, (name, value) in enumerate(
        [("rcv_cwnd_pen", 127), ("rcv_cwnd_pen", 1), ("restore_cwnd", 1), ("restore_cwnd", 0), ("rcv_cwnd_pen", 0)]
    ):
        assert command(nic, name, value) == []
        cc_state = prompt(nic, psn).cc_state
        states.append((cc_state.rcv_cwnd_pen, cc_state.restore_cwnd))
    assert states == [(127, 0), (1, 0), (1, 1), (1, 0), (0, 0)]


def test_s01_dynamic_mpr_is_carried_in_units_and_kept():
    nic = responder_device(dynamic_mpr=True, responder_mpr_units=8)
    assert prompt(nic, 0).seth.mpr == 8
    for psn, units in ((1, 1), (2, 2), (3, 255)):
        command(nic, "mpr", units)
        assert prompt(nic, psn).seth.mpr == units
    command(nic, "mpr", 1)
    assert opcodes(nic.handle(full(4 + 128), 0)) == [Opcode.NACK]
    assert of(nic.handle(full(3 + 128), 0), WriteMemory)
    assert prompt(responder_device(), 0).seth.mpr == 0, "off"


@pytest.mark.parametrize("reason", [NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE])
def test_a_shortage_draws_its_nack_until_it_is_over(reason):
    nic = responder_device()
    nic.handle(full(0), 0)
    command(nic, "resource_nack", reason)
    actions = nic.handle(full(1, ev=0x77), 0)
    neth = answer(actions, Opcode.NACK).neth
    assert (neth.reason, neth.nack_psn, neth.entropy) == (reason, 1, 0x77)
    assert of(actions, WriteMemory) == []
    assert opcodes(nic.handle(full(0), 0)) == [Opcode.SACK], "what is there already needs no room"
    command(nic, "resource_nack", 0)
    assert of(nic.handle(full(1), 0), WriteMemory)


BAD_COMMANDS = [
    ("rcv_cwnd_pen", 128),
    ("rcv_cwnd_pen", -1),
    ("restore_cwnd", 2),
    ("mpr", 0),
    ("mpr", 256),
    ("resource_nack", NackReason.TRIMMED),
    ("deny_ev", 5),
    ("warp", 1),
]


@pytest.mark.parametrize(("name", "value"), BAD_COMMANDS, ids=[f"{name} {value}" for name, value in BAD_COMMANDS])
def test_r09_bad_commands_are_refused(name, value):
    nic = responder_device()
    with pytest.raises(InputError):
        command(nic, name, value)
    with pytest.raises(InputError):
        nic.handle(Command(name, value), 0)
    seen = prompt(nic, 0)
    assert (seen.cc_state.rcv_cwnd_pen, seen.cc_state.restore_cwnd, seen.seth.mpr) == (0, 0, 0)


def test_one_immediate_too_many_in_flight_takes_the_qp_down():
    only = Opcode.WRITE_ONLY_IMMEDIATE
    for rqmsn, fine in ((3, True), (4, False), (0xFFFF, False)):
        nic = responder_device(responder_wimm=4)
        for wr_id in range(10):
            nic.handle(PostReceive(OWN_QPN, wr_id), 0)
        actions = nic.handle(write(7, b"x", opcode=only, msn=7, rqmsn=rqmsn), 0)
        assert bool(of(actions, WriteMemory)) is fine
        assert (responder(nic).state is ResponderState.READY) is fine
        if not fine:
            nak = answer(actions, Opcode.ACKNOWLEDGE)
            assert (nak.aeth.syndrome, nak.psn) == (AethSyndrome.NAK_INVALID_REQUEST, 7)
            assert [c.status for c in of(actions, Complete)] == ["flushed"] * 10


def test_the_wimm_limit_moves_with_what_is_delivered():
    nic = responder_device(responder_wimm=1)
    for i in range(5):
        nic.handle(PostReceive(OWN_QPN, i), 0)
        actions = nic.handle(write(i, b"x", opcode=Opcode.WRITE_ONLY_IMMEDIATE, msn=i, rqmsn=i, immediate=i), 0)
        assert [c.immediate for c in of(actions, Complete)] == [i]


def test_without_trim_nack_a_trimmed_packet_is_dropped():
    nic = responder_device(responder_trim_nack=False)
    assert [action.kind for action in nic.handle(write(0, bytes(64), **TRIMMED), 0)] == ["trimmed_dropped"]


P_KEYS = [
    ("the same, full member", 0x8005, 0x8005, True),
    ("limited to full", 0x8005, 0x0005, True),
    ("full to limited", 0x0005, 0x8005, True),
    ("limited to limited", 0x0005, 0x0005, False),
    ("another partition", 0x8005, 0x8006, False),
    ("the default to a partition", 0x8005, 0xFFFF, False),
]


@pytest.mark.parametrize(("own", "theirs", "taken"), [row[1:] for row in P_KEYS], ids=[row[0] for row in P_KEYS])
def test_partitions(own, theirs, taken):
    """IBTA: 15 bits must be equal, and one of the two a full member."""
    nic = responder_device(p_key=own)
    actions = nic.handle(write(0, b"x", bth={"p_key": theirs}), 0)
    assert bool(of(actions, WriteMemory)) is taken
    assert nic.dropped["wrong P_Key"] == (0 if taken else 1)


def test_a_qp_that_failed_elsewhere_tells_its_peer():
    nic = responder_device()
    nic.modify_qp(OWN_QPN, QpState.ERROR)
    neth = answer(nic.handle(full(3), 0), Opcode.NACK).neth
    assert (neth.reason, neth.nack_psn) == (NackReason.UNEXP_EVENT, 3)
    assert nic.handle(probe(1), 0) == []


RFC_6040 = [
    # inner, outer, what the responder sees: (RFC 6040 section 4.2); None: dropped
    (Ecn.NOT_ECT, Ecn.NOT_ECT, False),
    (Ecn.NOT_ECT, Ecn.ECT0, False),
    (Ecn.NOT_ECT, Ecn.ECT1, False),
    (Ecn.NOT_ECT, Ecn.CE, None),
    (Ecn.ECT0, Ecn.NOT_ECT, False),
    (Ecn.ECT0, Ecn.ECT0, False),
    (Ecn.ECT0, Ecn.ECT1, False),
    (Ecn.ECT0, Ecn.CE, True),
    (Ecn.ECT1, Ecn.NOT_ECT, False),
    (Ecn.ECT1, Ecn.CE, True),
    (Ecn.CE, Ecn.NOT_ECT, True),
    (Ecn.CE, Ecn.ECT0, True),
    (Ecn.CE, Ecn.CE, True),
]


@pytest.mark.parametrize(("inner", "outer", "marked"), RFC_6040, ids=[f"{a.name} {b.name}" for a, b, _ in RFC_6040])
def test_ecn_of_both_headers_counts_after_decapsulation(inner, outer, marked):
    nic = responder_device()
    plain = full(0, ecn=inner)
    header = Ipv6(ecn=outer, next_header=NextHeader.IPV6, payload_length=len(plain.data) - 14, src=1, dst=2)
    for _ in range(2):  # the second one as a flow that is known
        nic = responder_device() if marked is not None else nic
        actions = nic.handle(FrameIn(0, plain.data[:14] + header.pack() + plain.data[14:]), 0)
        assert opcodes(actions) == ([Opcode.SACK] if marked else [])
        assert bool(of(actions, WriteMemory)) is (marked is not None)
    assert nic.dropped["parse: ECN"] == (2 if marked is None else 0)
