"""Applications: a QP's life, work and its completions, memory, queues, and what each call refuses."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace

import pytest

from pymodel.nic.events import Complete, Notify, PortChange
from pymodel.nic.lifecycle import QpError
from pymodel.verbs.application import (
    ack_async_event,
    ack_cq_events,
    create_comp_channel,
    create_context,
    create_cq,
    create_qp,
    create_qp_hint,
    destroy_comp_channel,
    destroy_context,
    destroy_cq,
    destroy_qp,
    destroy_qp_hint,
    get_async_event,
    get_cq_event,
    modify_qp,
    modify_qp_hint,
    poll_cq,
    post_send,
    query_device,
    query_qp,
    query_qp_hint,
    req_notify_cq,
)
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.events import AsyncEventType
from pymodel.verbs.memory import dereg_mr, reg_mr
from pymodel.verbs.queue_pair import QpAttr, QpCap, QpHintAttr, QpInitAttr, QpState
from pymodel.verbs.work import Access, SendRequest, Sge, WcOpcode, WcStatus, WorkCompletion, WrOpcode
from tests.verbs.pair import BASE, INIT, RTR, RTS, SIZE, Pair, Side

RESET, ERROR = QpAttr(state=QpState.RESET), QpAttr(state=QpState.ERROR)


def refused(code: int, call: Callable[[], object], words: str = "") -> None:
    with pytest.raises(VerbsError) as caught:
        call()
    assert caught.value.code == code, str(caught.value)
    assert str(caught.value).endswith(f"({errno.errorcode[code]})")
    assert words in str(caught.value)


@pytest.fixture
def side() -> Side:
    return Pair().sides[0]


# Life of a QP

STEPS = {QpState.INIT: INIT, QpState.RTR: RTR, QpState.RTS: RTS, QpState.RESET: RESET, QpState.ERROR: ERROR}
WAY = {
    QpState.RESET: (),
    QpState.INIT: (INIT,),
    QpState.RTR: (INIT, RTR),
    QpState.RTS: (INIT, RTR, RTS),
    QpState.ERROR: (INIT, ERROR),
}
LEGAL = {
    QpState.RESET: {QpState.RESET, QpState.INIT},
    QpState.INIT: {QpState.RESET, QpState.INIT, QpState.RTR, QpState.ERROR},
    QpState.RTR: {QpState.RESET, QpState.RTS, QpState.ERROR},
    QpState.RTS: {QpState.RESET, QpState.ERROR},
    QpState.ERROR: {QpState.RESET, QpState.ERROR},
}


@pytest.mark.parametrize("to", QpState, ids=lambda state: f"to_{state.name}")
@pytest.mark.parametrize("start", QpState, ids=lambda state: f"from_{state.name}")
def test_each_step_of_a_qps_life(side: Side, start: QpState, to: QpState) -> None:
    qp = side.qp()
    for step in WAY[start]:
        modify_qp(qp, step, 0)
    assert query_qp(qp).state is start
    if to in LEGAL[start]:
        modify_qp(qp, STEPS[to], 0)
        assert query_qp(qp).state is to
        assert query_qp(qp) == (QpAttr(state=to) if to is QpState.RESET else query_qp(qp))
    else:
        before = query_qp(qp)
        refused(errno.EINVAL, lambda: modify_qp(qp, STEPS[to], 0), f"a move from {start.value} to {to.value}")
        assert query_qp(qp) == before


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (QpState.INIT, "hint"),
        (QpState.INIT, "ev_profile_id"),
        (QpState.INIT, "cc_profile_id"),
        (QpState.RTR, "peer_address"),
        (QpState.RTR, "dest_qp_num"),
        (QpState.RTR, "rq_psn"),
        (QpState.RTR, "path_mtu"),
        (QpState.RTR, "max_wimm_dest"),
        (QpState.RTR, "mpr_dest"),
        (QpState.RTR, "cap"),
        (QpState.RTS, "sq_psn"),
        (QpState.RTS, "max_wimm"),
        (QpState.RTS, "mpr"),
        (QpState.RTS, "linear_cnt"),
        (QpState.RTS, "exp_cnt"),
        (QpState.RTS, "timeout"),
    ],
)
def test_a_step_needs_each_of_its_attributes(side: Side, state: QpState, name: str) -> None:
    qp = side.qp()
    for step in WAY[state][:-1]:
        modify_qp(qp, step, 0)
    before = query_qp(qp)
    refused(errno.EINVAL, lambda: modify_qp(qp, replace(STEPS[state], **{name: None}), 0), name)
    assert query_qp(qp) == before
    modify_qp(qp, STEPS[state], 0)


@pytest.mark.parametrize(
    ("state", "changes", "words"),
    [
        (QpState.INIT, {"ev_profile_id": 9}, "EV profile 9 in INIT, expected a profile that is ONLINE"),
        (QpState.INIT, {"cc_profile_id": 9}, "CC profile 9 in INIT"),
        (QpState.INIT, {"p_key": 1 << 16}, "P_Key"),
        (QpState.INIT, {"timeout": 8}, "timeout with a move to INIT"),
        (QpState.RTR, {"peer_address": 1}, "expected the address of a host"),
        (QpState.RTR, {"dest_qp_num": 2}, "peer QPN: found 2"),
        (QpState.RTR, {"rq_psn": 1 << 24}, "first PSN received"),
        (QpState.RTR, {"path_mtu": 255}, "MTU"),
        (QpState.RTR, {"path_mtu": 8196}, "MTU"),
        (QpState.RTR, {"max_wimm_dest": 1 << 16}, "WIMM"),
        (QpState.RTR, {"mpr_dest": 256}, "256"),
        (QpState.RTR, {"cur_state": QpState.RTR}, "the state RTR that the call names"),
        (QpState.RTS, {"sq_psn": -1}, "first PSN sent"),
        (QpState.RTS, {"max_wimm": 0}, "WIMM"),
        (QpState.RTS, {"mpr": 0}, "0"),
        (QpState.RTS, {"timeout": 25}, "ACK timeout: found 25, expected a number from 0 to 24"),
        (QpState.RTS, {"linear_cnt": 8}, "linear retries"),
        (QpState.RTS, {"exp_cnt": 26}, "back-off retries"),
    ],
)
def test_a_wrong_attribute_is_refused_and_nothing_changes(
    side: Side, state: QpState, changes: dict[str, object], words: str
) -> None:
    qp = side.qp()
    for step in WAY[state][:-1]:
        modify_qp(qp, step, 0)
    before = query_qp(qp)
    refused(errno.EINVAL, lambda: modify_qp(qp, replace(STEPS[state], **changes), 0), words)
    assert query_qp(qp) == before
    modify_qp(qp, STEPS[state], 0)
    assert query_qp(qp).state is state


def test_what_rtr_brings_of_rts_need_not_be_repeated(side: Side) -> None:
    qp = side.qp()
    modify_qp(qp, INIT, 0)
    modify_qp(qp, replace(RTR, mpr=3, max_wimm=5, cap=QpCap.DYNAMIC_MPR | QpCap.TRIM_NACK_DEST_UNSUPPORTED), 0)
    modify_qp(qp, replace(RTS, mpr=None, max_wimm=None), 0)
    core = qp.core.config
    assert (core.mpr_units, core.wimm, core.dynamic_mpr, core.trim_nack) == (3, 5, True, False)
    assert (query_qp(qp).mpr, query_qp(qp).max_wimm) == (3, 5)


def test_a_query_says_what_was_set(side: Side) -> None:
    qp = side.qp()
    for step in (INIT, RTR, RTS):
        modify_qp(qp, step, 0)
    found = query_qp(qp)
    for step in (INIT, RTR):
        given = {name: getattr(step, name) for name in step.__dataclass_fields__ if name != "state"}
        assert {name: getattr(found, name) for name, value in given.items() if value is not None} == {
            name: value for name, value in given.items() if value is not None
        }


# Work


def test_writes_and_immediates_arrive_and_complete_once() -> None:
    pair = Pair()
    here, there = pair.connect(psns=(0xFFFFFE, 17))
    pair.sides[0].memory.data[:] = bytes(range(256)) * (SIZE // 256)
    pair.receive(1, there, wr_id=70)
    pair.write(0, here, 0, 5000, wr_id=1)
    pair.write(0, here, 8192, 3000, wr_id=2, imm=0xDEADBEEF)
    pair.write(0, here, 0, 0, wr_id=3, sg_list=())
    pair.run()
    success, write = WcStatus.SUCCESS, WcOpcode.RDMA_WRITE
    assert sorted(pair.sides[0].poll(), key=lambda done: done.wr_id) == [
        WorkCompletion(1, success, write, 5000, None, here.qpn),
        WorkCompletion(2, success, write, 3000, None, here.qpn),
        WorkCompletion(3, success, write, 0, None, here.qpn),
    ]
    assert pair.sides[1].poll() == [
        WorkCompletion(70, success, WcOpcode.RECV_RDMA_WITH_IMM, 3000, 0xDEADBEEF, there.qpn)
    ]
    assert pair.sides[0].poll() == pair.sides[1].poll() == []
    for start, length in ((0, 5000), (8192, 3000)):
        assert pair.sides[1].memory.read(BASE + start, length) == pair.sides[0].memory.read(BASE + start, length)


def test_a_fabric_sees_the_applications_numbers() -> None:
    pair = Pair()
    here, _ = pair.connect()
    seen = []
    handle = pair.sides[0].adapter.handle
    pair.sides[0].adapter.handle = lambda event, now_ps: seen.extend(actions := handle(event, now_ps)) or actions
    for wr_id in (2**40, 7, 7):
        pair.write(0, here, 0, 3000, wr_id=wr_id)
    pair.run()
    assert [action.wr_id for action in seen if isinstance(action, Complete)] == [2**40, 7, 7]
    ended = [dict(action.details) for action in seen if isinstance(action, Notify) and action.kind == "write_ended"]
    assert [(details["wr_id"], details["packets"]) for details in ended] == [(2**40, 3), (7, 3), (7, 3)]


def test_pieces_of_memory_are_written_one_after_the_other() -> None:
    pair = Pair()
    qps = pair.sides[0].qp(max_send_sge=2), pair.sides[1].qp()
    pair.connect(qps=qps)
    pair.sides[0].memory.data[:8] = b"abcdefgh"
    lkey = pair.sides[0].region.lkey
    pair.write(0, qps[0], 64, 0, sg_list=(Sge(BASE + 4, 4, lkey), Sge(BASE, 2, lkey)))
    pair.run()
    assert pair.sides[1].memory.data[64:72] == b"efghab\0\0"


@pytest.mark.parametrize(
    ("sq_sig_all", "signaled", "told"), [(False, False, 0), (False, True, 1), (True, False, 1), (True, True, 1)]
)
def test_a_success_is_told_when_signaled(sq_sig_all: bool, signaled: bool, told: int) -> None:
    pair = Pair()
    qps = pair.connect(qps=(pair.sides[0].qp(sq_sig_all=sq_sig_all), pair.sides[1].qp()))
    pair.write(0, qps[0], 0, 100, signaled=signaled)
    pair.run()
    assert len(pair.sides[0].poll()) == told
    assert qps[0].sends == {}


LKEY = 1
"""Of the whole memory of a `Side`: the first region."""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *[
            ({"opcode": opcode}, f"a {opcode.name} request, expected RDMA_WRITE or RDMA_WRITE_WITH_IMM")
            for opcode in WrOpcode
            if not opcode.name.startswith("RDMA_WRITE")
        ],
        ({"imm_data": 1}, "no imm_data"),
        ({"opcode": WrOpcode.RDMA_WRITE_WITH_IMM}, "expected imm_data"),
        ({"opcode": WrOpcode.RDMA_WRITE_WITH_IMM, "imm_data": 1 << 32}, "a number of 32 bits"),
        ({"sg_list": (Sge(BASE, 1, LKEY), Sge(BASE, 1, LKEY))}, "2 pieces of memory, expected at most 1"),
        ({"sg_list": (Sge(BASE, 1, 999),)}, "lkey 0x3e7"),
        ({"sg_list": (Sge(BASE - 1, 2, LKEY),)}, "a range within"),
        ({"sg_list": (Sge(BASE, SIZE + 1, LKEY),)}, "a range within"),
        ({"sg_list": (Sge(BASE, -1, LKEY),)}, "a range within"),
        ({"rkey": 1 << 32}, "R_Key"),
        ({"remote_address": (1 << 64) - 1, "sg_list": (Sge(BASE, 2, LKEY),)}, "within 64 bits"),
        ({"remote_address": -1}, "within 64 bits"),
    ],
)
def test_a_wrong_request_is_refused_and_leaves_nothing(changes: dict[str, object], words: str) -> None:
    pair = Pair()
    here, _ = pair.connect()
    assert pair.sides[0].region.lkey == LKEY
    refused(errno.EINVAL, lambda: post_send(here, replace(SendRequest(wr_id=1), **changes), 0), words)
    assert here.sends == {}
    assert pair.sides[0].adapter.drain() == []
    assert pair.sides[0].poll() == []


@pytest.mark.parametrize("state", [QpState.RESET, QpState.INIT, QpState.RTR])
def test_a_write_before_rts_is_refused(side: Side, state: QpState) -> None:
    qp = side.qp()
    for step in WAY[state]:
        modify_qp(qp, step, 0)
    refused(errno.EINVAL, lambda: post_send(qp, SendRequest(wr_id=1), 0), f"a write in {state.value}")
    assert qp.sends == {}


def test_a_receive_is_refused_in_reset_and_taken_from_init_on() -> None:
    pair = Pair()
    qp = pair.sides[0].qp()
    refused(errno.EINVAL, lambda: pair.receive(0, qp), "a receive in RESET")
    modify_qp(qp, INIT, 0)
    pair.receive(0, qp, wr_id=5)
    modify_qp(qp, ERROR, 0)
    assert [(done.wr_id, done.status) for done in pair.sides[0].poll()] == [(5, WcStatus.WR_FLUSH_ERR)]


def test_full_queues_of_work_refuse_with_enomem() -> None:
    pair = Pair(loss=lambda sender, data: True)
    qps = pair.connect(qps=(pair.sides[0].qp(max_send_wr=2, max_recv_wr=1), pair.sides[1].qp()))
    for wr_id in (1, 2):
        pair.write(0, qps[0], 0, 10, wr_id=wr_id)
    refused(errno.ENOMEM, lambda: pair.write(0, qps[0], 0, 10), "2 send requests, expected at most 2")
    pair.receive(0, qps[0])
    refused(errno.ENOMEM, lambda: pair.receive(0, qps[0]), "1 receive requests, expected at most 1")


def test_in_error_work_is_flushed_at_once_and_what_was_open_once() -> None:
    pair = Pair(loss=lambda sender, data: True)
    here, _ = pair.connect()
    pair.write(0, here, 0, 10, wr_id=1, signaled=False)
    pair.receive(0, here, wr_id=2)
    modify_qp(here, ERROR, 0)
    pair.settle(0)
    pair.write(0, here, 0, 10, wr_id=3)
    pair.receive(0, here, wr_id=4)
    flushed = [(done.wr_id, done.status, done.opcode) for done in pair.sides[0].poll()]
    status, write, receive = WcStatus.WR_FLUSH_ERR, WcOpcode.RDMA_WRITE, WcOpcode.RECV_RDMA_WITH_IMM
    assert flushed == [(1, status, write), (2, status, receive), (3, status, write), (4, status, receive)]
    pair.run()
    assert pair.sides[0].timers == {}
    refused(errno.EAGAIN, lambda: get_async_event(pair.sides[0].context))


def test_reset_and_destroy_forget_work_without_a_word() -> None:
    pair = Pair(loss=lambda sender, data: True)
    for leave in (lambda qp: modify_qp(qp, RESET, 0), destroy_qp):
        here, _ = pair.connect()
        pair.write(0, here, 0, 10)
        pair.receive(0, here)
        leave(here)
        pair.settle(0)
        pair.run()
        assert pair.sides[0].poll() == []
        assert pair.sides[0].timers == {}


def test_a_qp_lives_again_after_error_and_reset() -> None:
    pair = Pair()
    here, there = pair.connect()
    for qp in (here, there):
        modify_qp(qp, ERROR, 0)
        modify_qp(qp, RESET, 0)
    pair.connect(qps=(here, there), psns=(5, 6))
    pair.write(0, here, 0, 3000)
    pair.run()
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.SUCCESS]


# Errors from afar


def access_errors(pair: Pair) -> dict[str, dict[str, object]]:
    key = pair.sides[1].region.rkey
    local = reg_mr(pair.sides[1].context, BASE, 64, Access.LOCAL_WRITE)
    gone = reg_mr(pair.sides[1].context, BASE, 64)
    dereg_mr(gone)
    assert local.rkey is None
    return {
        "no such key": {"rkey": 0x7700},
        "key of a deregistered region": {"rkey": gone.rkey},
        "lkey in the place of a key": {"rkey": local.lkey},
        "below the region": {"rkey": key, "remote_address": BASE - 1},
        "beyond the region": {"rkey": key, "remote_address": BASE + SIZE - 99},
    }


@pytest.mark.parametrize("case", access_errors(Pair()))
def test_a_bad_key_or_range_fails_both_qps_and_writes_nothing(case: str) -> None:
    pair = Pair()
    here, there = pair.connect()
    pair.sides[0].memory.data[:100] = b"x" * 100
    changes = access_errors(pair)[case]
    pair.receive(0, here, wr_id=8)
    pair.receive(1, there, wr_id=9)
    pair.write(0, here, 0, 100, wr_id=1, **changes)
    pair.write(0, here, 0, 10, wr_id=2)
    pair.run()
    statuses = {done.wr_id: done.status for done in pair.sides[0].poll()}
    assert statuses == {1: WcStatus.REM_ACCESS_ERR, 2: WcStatus.WR_FLUSH_ERR, 8: WcStatus.WR_FLUSH_ERR}
    assert [(done.wr_id, done.status) for done in pair.sides[1].poll()] == [(9, WcStatus.WR_FLUSH_ERR)]
    assert pair.sides[1].memory.data == bytes(SIZE)
    told = {
        here: (AsyncEventType.QP_FATAL, QpError.REMOTE_ACCESS),
        there: (AsyncEventType.QP_ACCESS_ERR, QpError.LOCAL_ACCESS),
    }
    for side, qp in zip(pair.sides, (here, there), strict=True):
        assert query_qp(qp).state is QpState.ERROR
        event = get_async_event(side.context)
        kind, reason = told[qp]
        assert (event.event_type, event.element, event.reason) == (kind, qp, reason)
        assert query_qp(qp).error is reason
        refused(errno.EBUSY, lambda qp=qp: destroy_qp(qp), "1 events")
        ack_async_event(event)
        refused(errno.EINVAL, lambda event=event: ack_async_event(event))
        refused(errno.EAGAIN, lambda side=side: get_async_event(side.context))
        destroy_qp(qp)


def test_a_peer_that_is_gone_ends_in_retry_exceeded() -> None:
    pair = Pair(loss=lambda sender, data: True)
    here, _ = pair.connect(changes=({"linear_cnt": 1, "exp_cnt": 1, "timeout": 0}, {}))
    pair.write(0, here, 0, 10, signaled=False)
    pair.run()
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.RETRY_EXC_ERR]
    event = get_async_event(pair.sides[0].context)
    assert (event.event_type, event.reason) == (AsyncEventType.QP_FATAL, QpError.RETRY_EXCEEDED)
    modify_qp(here, QpAttr(state=QpState.RESET), pair.now_ps)
    assert query_qp(here).error is None


def test_a_qp_that_software_takes_to_error_has_no_reason_and_its_peer_learns_of_it() -> None:
    pair = Pair()
    here, there = pair.connect()
    modify_qp(there, QpAttr(state=QpState.ERROR), pair.now_ps)
    pair.settle(1)
    pair.write(0, here, 0, 10)
    pair.run()
    assert (query_qp(there).error, query_qp(here).error) == (None, QpError.REMOTE_OPERATION)
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.REM_OP_ERR]
    refused(errno.EAGAIN, lambda: get_async_event(pair.sides[1].context))


@pytest.mark.parametrize(
    ("receives", "immediates", "reason"),
    [(0, 1, QpError.NO_RECEIVE), (8, 3, QpError.WIMM_EXCEEDED)],
    ids=["no receive", "more immediates than agreed"],
)
def test_a_request_against_the_rules_is_a_request_error_there(receives: int, immediates: int, reason: QpError) -> None:
    pair = Pair()
    here, there = pair.connect(changes=({}, {"max_wimm_dest": 1}))
    for wr_id in range(receives):
        pair.receive(1, there, wr_id)
    if reason is QpError.WIMM_EXCEEDED:  # the first packet is late, so that no immediate can complete before
        sent, pair.loss = iter(range(1000)), lambda sender, data: sender == 0 and next(sent) == 0
    for wr_id in range(immediates):
        pair.write(0, here, 0, 10, wr_id=wr_id, imm=wr_id)
    pair.run()
    event = get_async_event(pair.sides[1].context)
    assert (event.event_type, event.element, event.reason) == (AsyncEventType.QP_REQ_ERR, there, reason)
    event = get_async_event(pair.sides[0].context)
    assert (event.event_type, event.reason) == (AsyncEventType.QP_FATAL, QpError.REMOTE_INVALID_REQUEST)


def test_an_error_is_queried_and_never_set(side: Side) -> None:
    qp = side.qp()
    refused(errno.EINVAL, lambda: modify_qp(qp, replace(INIT, error=QpError.NO_RECEIVE), 0), "only queried")


# Memory


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 0), "0 bytes"),
        ((-1, 8), "within 64 bits"),
        (((1 << 64) - 1, 2), "within 64 bits"),
        ((0, 8, Access.REMOTE_WRITE), "LOCAL_WRITE with it"),
        ((0, 8, Access.LOCAL_WRITE | Access.REMOTE_READ), "LOCAL_WRITE and REMOTE_WRITE alone"),
        ((0, 8, Access.LOCAL_WRITE | Access.REMOTE_ATOMIC), "LOCAL_WRITE and REMOTE_WRITE alone"),
    ],
)
def test_a_region_that_cannot_be_is_refused(side: Side, arguments: tuple[int, ...], words: str) -> None:
    refused(errno.EINVAL, lambda: reg_mr(side.context, *arguments), words)


def test_regions_run_out_and_come_back(side: Side) -> None:
    room = side.adapter.device.config.regions
    made = [reg_mr(side.context, 0, 8) for _ in range(room - 1)]
    refused(errno.ENOMEM, lambda: reg_mr(side.context, 0, 8), "none free")
    dereg_mr(made[0])
    refused(errno.EINVAL, lambda: dereg_mr(made[0]))
    again = reg_mr(side.context, 0, 8)
    assert again.rkey != made[0].rkey


# Completion queues, channels, hints, contexts


def test_a_completion_queue_that_overruns_takes_its_qp_down() -> None:
    pair = Pair()
    small = create_cq(pair.sides[0].context, 2)
    here, _ = pair.connect(qps=(pair.sides[0].qp(small), pair.sides[1].qp()))
    for wr_id in range(5):
        pair.write(0, here, 0, 10, wr_id=wr_id)
    pair.run()
    assert [done.wr_id for done in poll_cq(small, 10)] == [0, 1]
    assert small.lost == 3
    assert query_qp(here).state is QpState.ERROR
    events = [get_async_event(pair.sides[0].context) for _ in range(2)]
    assert [(event.event_type, event.element, event.reason) for event in events] == [
        (AsyncEventType.CQ_ERR, small, None),
        (AsyncEventType.QP_FATAL, here, None),
    ]
    refused(errno.EAGAIN, lambda: get_async_event(pair.sides[0].context))


def test_a_channel_tells_once_for_each_request() -> None:
    pair = Pair()
    context = pair.sides[0].context
    channel = create_comp_channel(context)
    queue = create_cq(context, 8, channel)
    here, _ = pair.connect(qps=(pair.sides[0].qp(queue), pair.sides[1].qp()))
    refused(errno.EAGAIN, lambda: get_cq_event(channel))
    req_notify_cq(queue)
    for wr_id in (1, 2):
        pair.write(0, here, 0, 10, wr_id=wr_id)
        pair.run()
    assert get_cq_event(channel) is queue
    refused(errno.EAGAIN, lambda: get_cq_event(channel))
    destroy_qp(here)
    refused(errno.EBUSY, lambda: destroy_cq(queue), "1 events")
    refused(errno.EINVAL, lambda: ack_cq_events(queue, 2))
    ack_cq_events(queue, 1)
    refused(errno.EBUSY, lambda: destroy_comp_channel(channel))
    destroy_cq(queue)
    destroy_comp_channel(channel)
    refused(errno.EINVAL, lambda: destroy_comp_channel(channel))
    refused(errno.EINVAL, lambda: create_cq(context, 8, channel))


def test_what_queues_refuse(side: Side) -> None:
    other = Pair().sides[0]
    refused(errno.EINVAL, lambda: create_cq(side.context, 0))
    refused(errno.EINVAL, lambda: poll_cq(side.cq, -1))
    refused(errno.EINVAL, lambda: req_notify_cq(side.cq), "no completion channel")
    refused(errno.ENOTSUP, lambda: req_notify_cq(side.cq, solicited_only=True))
    refused(errno.EINVAL, lambda: create_qp(side.context, QpInitAttr(send_cq=side.cq, recv_cq=other.cq)))
    refused(errno.EINVAL, lambda: QpInitAttr(send_cq=side.cq, recv_cq=side.cq, max_send_wr=0))
    qp = side.qp()
    refused(errno.EBUSY, lambda: destroy_cq(side.cq), f"QP {qp.qpn}")
    destroy_qp(qp)
    refused(errno.EINVAL, lambda: destroy_qp(qp), "a destroyed QP")
    destroy_cq(side.cq)
    refused(errno.EINVAL, lambda: destroy_cq(side.cq))


def test_a_hint_is_kept_and_cannot_go_while_a_qp_has_it(side: Side) -> None:
    hint = create_qp_hint(side.context, QpHintAttr(num_qps_per_peer=2))
    modify_qp_hint(hint, QpHintAttr(num_send_peers=7))
    assert query_qp_hint(hint) == QpHintAttr(num_send_peers=7)
    qp = side.qp()
    modify_qp(qp, replace(INIT, hint=hint), 0)
    refused(errno.EBUSY, lambda: destroy_qp_hint(hint), f"QP {qp.qpn}")
    modify_qp(qp, INIT, 0)
    destroy_qp_hint(hint)
    refused(errno.EINVAL, lambda: query_qp_hint(hint))
    refused(errno.EINVAL, lambda: modify_qp(qp, replace(INIT, hint=hint), 0))
    refused(errno.EINVAL, lambda: QpHintAttr(num_send_peers=-1))


def test_a_context_takes_all_that_is_its_own_with_it() -> None:
    pair = Pair(loss=lambda sender, data: True)
    side = pair.sides[0]
    here, _ = pair.connect()
    pair.write(0, here, 0, 10)
    destroy_context(side.context)
    pair.settle(0)
    assert side.timers == {}
    assert list(side.adapter.device.qps()) == []
    assert list(side.adapter.device.regions) == []
    refused(errno.EINVAL, lambda: create_cq(side.context, 1), "a destroyed one")
    refused(errno.EINVAL, lambda: destroy_context(side.context))


def test_what_the_device_says_of_itself(side: Side) -> None:
    found = query_device(side.adapter)
    assert (found.mrc_protocol_version, found.max_mpr, found.mpr_resolution) == (1, 255, 1)
    assert found.cap == side.adapter.device.config.capabilities


def test_port_events_reach_every_context_with_ports_from_1() -> None:
    pair = Pair()
    second = create_context(pair.sides[0].adapter)
    for up in (False, False, True):
        pair.give(0, PortChange(1, up))
    for context in (pair.sides[0].context, second):
        events = [get_async_event(context) for _ in range(2)]
        assert [(event.event_type, event.element) for event in events] == [
            (AsyncEventType.PORT_ERR, 2),
            (AsyncEventType.PORT_ACTIVE, 2),
        ]
        ack_async_event(events[0])
        refused(errno.EAGAIN, lambda context=context: get_async_event(context))
