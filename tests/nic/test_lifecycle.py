"""The life of a QP: which steps there are, what each needs, and what a QP takes in each state (mrc-facts.md 2.5)."""

import pytest

from pymodel.base.errors import InputError
from pymodel.nic.config import Capabilities, DeviceConfig, PortConfig, QpConfig
from pymodel.nic.congestion import NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.events import CancelTimer, Complete, FrameOut, PortChange, PostReceive, PostWrite, WriteMemory
from pymodel.nic.lifecycle import REQUIRED, QpState
from pymodel.wire.spec import NackReason, Opcode
from tests.nic.peer import BASE, OWN, OWN_QPN, PEER, PEER_QPN, evs, frames, sack, write

RESET, INIT, RTR, RTS, ERROR = QpState

ATTRIBUTES = {
    INIT: {"hint": 3, "evs": evs(), "congestion": NoCongestionControl()},
    RTR: {
        "peer_qpn": PEER_QPN,
        "peer_address": PEER,
        "mtu": 1024,
        "receive_psn": 7,
        "responder_wimm": 16,
        "responder_mpr_units": 4,
        "dynamic_mpr": False,
    },
    RTS: {"send_psn": 9, "wimm": 32, "mpr_units": 2, "linear_retries": 7, "backoff_retries": 25, "ack_timeout": 8},
}
WAYS = {RESET: [], INIT: [INIT], RTR: [INIT, RTR], RTS: [INIT, RTR, RTS], ERROR: [INIT, RTR, RTS, ERROR]}
ALLOWED = {
    RESET: {RESET, INIT},
    INIT: {RESET, INIT, RTR, ERROR},
    RTR: {RESET, RTS, ERROR},
    RTS: {RESET, ERROR},
    ERROR: {RESET, ERROR},
}


def made(state=RESET, **config):
    ports = tuple(PortConfig(0x02_0000_0000 + i, 0x02_1111_0000 + i, 0xFC00_0001 << 96 | i) for i in range(2))
    nic = Device(DeviceConfig(ports=ports, address=OWN, **config))
    nic.regions.register(BASE, 1 << 20)
    nic.create_qp(OWN_QPN)
    for step in WAYS[state]:
        nic.modify_qp(OWN_QPN, step, **ATTRIBUTES.get(step, {}))
    return nic


def completed(actions):
    return [(action.wr_id, action.status) for action in actions if isinstance(action, Complete)]


@pytest.mark.parametrize("to", QpState, ids=lambda state: f"to {state.value}")
@pytest.mark.parametrize("state", QpState, ids=lambda state: state.value)
def test_every_step_and_every_missing_one(state, to):
    nic = made(state)
    assert nic.query_qp(OWN_QPN).state is state
    if to in ALLOWED[state]:
        nic.modify_qp(OWN_QPN, to, **ATTRIBUTES.get(to, {}))
        assert nic.query_qp(OWN_QPN).state is to
    else:
        with pytest.raises(InputError, match=f"QP {OWN_QPN} in {state.value}: found a step to {to.value}"):
            nic.modify_qp(OWN_QPN, to, **ATTRIBUTES.get(to, {}))
        assert nic.query_qp(OWN_QPN).state is state


NEEDED = [(state, name) for state, names in REQUIRED.items() for name in names]


@pytest.mark.parametrize(("to", "name"), NEEDED, ids=[f"{state.value} {name}" for state, name in NEEDED])
def test_a_step_without_an_attribute_that_it_needs(to, name):
    before = {INIT: RESET, RTR: INIT, RTS: RTR}[to]
    nic = made(before)
    given = {key: value for key, value in ATTRIBUTES[to].items() if key != name}
    with pytest.raises(InputError, match=f"found no {name}"):
        nic.modify_qp(OWN_QPN, to, **given)
    assert nic.query_qp(OWN_QPN).state is before


WRONG = [
    (RESET, INIT, {"evs": ()}),
    (RESET, INIT, {"hint": 1 << 32}),
    (RESET, INIT, {"min_active_evs": 17}),
    (RESET, INIT, {"mtu": 256}),
    (INIT, RTR, {"mtu": 255}),
    (INIT, RTR, {"responder_wimm": 0}),
    (INIT, RTR, {"responder_mpr_units": 256}),
    (INIT, RTR, {"wimm": 5}),
    (INIT, RTR, {"warp": 5}),
    (RTR, RTS, {"backoff_retries": 26}),
    (RTR, RTS, {"ack_timeout": 25}),
    (RTR, RTS, {"mtu": 256}),
    (RTS, ERROR, {"mtu": 256}),
    (RTS, RESET, {"hint": 1}),
]


@pytest.mark.parametrize(("state", "to", "given"), WRONG, ids=[f"{a.value} {b.value} {c}" for a, b, c in WRONG])
def test_an_attribute_that_is_wrong_or_of_another_step(state, to, given):
    nic = made(state)
    before = nic.query_qp(OWN_QPN)
    with pytest.raises(InputError):
        nic.modify_qp(OWN_QPN, to, **(ATTRIBUTES.get(to, {}) | given))
    assert nic.query_qp(OWN_QPN) == before


def test_a_query_says_what_was_given_and_the_defaults_of_the_rest():
    assert made(RESET).query_qp(OWN_QPN).attributes == {}
    assert made(INIT).query_qp(OWN_QPN).attributes == ATTRIBUTES[INIT]
    known = made(RTS).query_qp(OWN_QPN)
    given = ATTRIBUTES[INIT] | ATTRIBUTES[RTR] | ATTRIBUTES[RTS]
    assert {name: known.attributes[name] for name in given} == given
    assert (known.attributes["p_key"], known.attributes["tail_probes"]) == (0xFFFF, 3)


def test_init_again_changes_an_attribute():
    nic = made(INIT)
    nic.modify_qp(OWN_QPN, INIT, p_key=0x8001)
    assert nic.query_qp(OWN_QPN).attributes["p_key"] == 0x8001
    assert nic.query_qp(OWN_QPN).attributes["hint"] == 3


@pytest.mark.parametrize("state", QpState, ids=lambda state: state.value)
def test_work_posted_in_each_state(state):
    nic = made(state)
    send, receive = PostWrite(OWN_QPN, 1, b"x", BASE, 0), PostReceive(OWN_QPN, 2)
    match state:
        case QpState.RTS:
            assert len(frames(nic.handle(send, 0))) == 1
        case QpState.ERROR:
            assert completed(nic.handle(send, 0)) == [(1, "flushed")]
        case _:
            with pytest.raises(InputError, match="found a write in"):
                nic.handle(send, 0)
    match state:
        case QpState.RESET:
            with pytest.raises(InputError, match="a receive in RESET"):
                nic.handle(receive, 0)
        case QpState.ERROR:
            assert completed(nic.handle(receive, 0)) == [(2, "flushed")]
        case _:
            assert nic.handle(receive, 0) == []


@pytest.mark.parametrize("state", QpState, ids=lambda state: state.value)
def test_frames_in_each_state(state):
    nic = made(state)
    actions = nic.handle(write(7, b"data", bth={"ack_req": 1}), 0)
    receives = state in (RTR, RTS)
    assert bool([action for action in actions if isinstance(action, WriteMemory)]) is receives
    answers = [frame.opcode for frame in frames(actions)]
    expected = {RTR: [Opcode.SACK, Opcode.ACKNOWLEDGE], RTS: [Opcode.SACK, Opcode.ACKNOWLEDGE], ERROR: [Opcode.NACK]}
    assert answers == expected.get(state, [])
    if state in (RESET, INIT):
        assert nic.dropped["QP not ready"] == 1
    assert frames(nic.handle(sack(9), 0)) == []


def test_receives_posted_in_init_are_used_in_rtr():
    nic = made(INIT)
    nic.handle(PostReceive(OWN_QPN, 5), 0)
    nic.modify_qp(OWN_QPN, RTR, **ATTRIBUTES[RTR])
    actions = nic.handle(write(7, b"x", opcode=Opcode.WRITE_ONLY_IMMEDIATE, immediate=1), 0)
    assert completed(actions) == [(5, "success")]


def test_error_flushes_all_work_and_stops_every_timer():
    nic = made(RTS)
    nic.handle(PostReceive(OWN_QPN, 5), 0)
    nic.handle(PostWrite(OWN_QPN, 1, bytes(3000), BASE, 0), 0)
    nic.handle(PostWrite(OWN_QPN, 2, b"", BASE, 0, immediate=1), 0)
    nic.handle(write(7, b"x"), 0)
    actions = nic.modify_qp(OWN_QPN, ERROR)
    assert completed(actions) == [(1, "flushed"), (2, "flushed"), (5, "flushed")]
    stopped = [action.key for action in actions if isinstance(action, CancelTimer)]
    assert {f"qp{OWN_QPN}/ack", f"qp{OWN_QPN}/quiet"} <= set(stopped)
    (frame,) = frames(nic.handle(write(8, b"x", bth={"ack_req": 1}), 0))
    assert (frame.opcode, frame.neth.reason) == (Opcode.NACK, NackReason.UNEXP_EVENT), "the peer shall know"
    assert nic.handle(sack(9), 0) == []
    assert nic.modify_qp(OWN_QPN, ERROR) == []


@pytest.mark.parametrize("destroy", [False, True], ids=["reset", "destroyed"])
def test_reset_and_destruction_forget_work_without_completions(destroy):
    nic = made(RTS)
    nic.handle(PostReceive(OWN_QPN, 5), 0)
    nic.handle(PostWrite(OWN_QPN, 1, bytes(3000), BASE, 0), 0)
    actions = nic.destroy_qp(OWN_QPN) if destroy else nic.modify_qp(OWN_QPN, RESET)
    assert actions
    assert {type(action) for action in actions} == {CancelTimer}
    if destroy:
        assert nic.handle(write(7, b"x"), 0) == []
        assert nic.dropped["unknown QP"] == 1
        with pytest.raises(InputError, match="QPN"):
            nic.query_qp(OWN_QPN)
        nic.create_qp(OWN_QPN)
    assert nic.query_qp(OWN_QPN).attributes == {}
    for step in WAYS[RTS]:
        nic.modify_qp(OWN_QPN, step, **ATTRIBUTES[step])
    (frame,) = frames(nic.handle(PostWrite(OWN_QPN, 2, b"x", BASE, 0), 0))
    assert (frame.psn, frame.meth.msn) == (9, 0)


def test_a_qp_made_while_a_port_is_down_knows_it():
    nic = made()
    nic.handle(PortChange(1, up=False), 0)
    for step in WAYS[RTS]:
        nic.modify_qp(OWN_QPN, step, **ATTRIBUTES[step])
    actions = nic.handle(PostWrite(OWN_QPN, 1, bytes(9000), BASE, 0), 0)
    assert {action.port for action in actions if isinstance(action, FrameOut)} == {0}


@pytest.mark.parametrize("qpn", [0, 2, 1 << 24, OWN_QPN])
def test_r09_bad_numbers_of_qps_are_refused(qpn):
    with pytest.raises(InputError, match="QPN"):
        made().create_qp(qpn)


def test_dynamic_mpr_needs_a_device_that_can_do_it():
    nic = made(INIT, capabilities=Capabilities(dynamic_mpr=False))
    with pytest.raises(InputError, match="dynamic MPR"):
        nic.modify_qp(OWN_QPN, RTR, **(ATTRIBUTES[RTR] | {"dynamic_mpr": True}))


def test_parts_that_a_state_does_not_have():
    nic = made(INIT)
    for name in ("config", "requester", "responder"):
        with pytest.raises(InputError, match=f"QP {OWN_QPN} in INIT"):
            getattr(nic.qp(OWN_QPN), name)


def test_a_qp_that_was_refused_leaves_its_number_free():
    nic = made()
    config = {"peer_qpn": 9, "peer_address": PEER, "evs": evs()}
    with pytest.raises(InputError):
        nic.add_qp(QpConfig(qpn=77, **config, min_active_evs=100))
    assert nic.add_qp(QpConfig(qpn=77, **config)).state is RTS
