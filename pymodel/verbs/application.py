"""The calls of `mrc.h`: device, QPs, work, completions, events. Memory is registered by `pymodel.verbs.memory`.

    adapter = Adapter(device, memory)
    context = create_context(adapter)
    cq = create_cq(context, 128)
    qp = create_qp(context, QpInitAttr(send_cq=cq, recv_cq=cq))
    modify_qp(qp, QpAttr(state=QpState.INIT, hint=NO_HINT, ev_profile_id=1, cc_profile_id=NO_PROFILE), now_ps)
    post_send(qp, SendRequest(wr_id=1, sg_list=(Sge(address, length, mr.lkey),), remote_address=..., rkey=...), now_ps)
    for action in adapter.drain(): ...          # frames to send, timers to set
    for done in poll_cq(cq, 16): ...

Each call has its C name in `docs/api.md`. A call that refuses raises VerbsError with the errno of the C call and
changes nothing. Nothing here blocks: what would wait in C is asked for again.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any

from pymodel.nic.config import Capabilities
from pymodel.nic.events import PostReceive, PostWrite
from pymodel.verbs import transition
from pymodel.verbs.adapter import Adapter
from pymodel.verbs.completion import BoundedQueue, CompletionChannel, CompletionQueue
from pymodel.verbs.context import Context
from pymodel.verbs.errors import VerbsError, refusing
from pymodel.verbs.events import AsyncEvent
from pymodel.verbs.memory import dereg_mr, read
from pymodel.verbs.queue_pair import Qp, QpAttr, QpHint, QpHintAttr, QpInitAttr
from pymodel.verbs.work import RecvRequest, SendRequest, WorkCompletion, WrOpcode

__all__ = [
    "DeviceAttr",
    "ack_async_event",
    "ack_cq_events",
    "create_comp_channel",
    "create_context",
    "create_cq",
    "create_qp",
    "create_qp_hint",
    "destroy_comp_channel",
    "destroy_context",
    "destroy_cq",
    "destroy_qp",
    "destroy_qp_hint",
    "get_async_event",
    "get_cq_event",
    "modify_qp",
    "modify_qp_hint",
    "poll_cq",
    "post_recv",
    "post_send",
    "query_device",
    "query_qp",
    "query_qp_hint",
    "req_notify_cq",
]

PROTOCOL_VERSION = 1
_IMMEDIATE = {WrOpcode.RDMA_WRITE: False, WrOpcode.RDMA_WRITE_WITH_IMM: True}


def _invalid(where: str, found: str, expected: str, code: int = errno.EINVAL) -> VerbsError:
    return VerbsError(code, where, found, expected)


# Device and context


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAttr:
    """What a device can do (`mrc_device_attr`)."""

    mrc_protocol_version: int
    """Bitmap of versions; bit 0 is version 1."""
    max_wimm: int
    max_wimm_dest: int
    max_mpr: int
    """Units of 128 PSNs."""
    mpr_resolution: int
    """Units of 128 PSNs."""
    max_qp_hint: int
    cap: Capabilities


def query_device(adapter: Adapter) -> DeviceAttr:
    """What the device can do."""
    limits = adapter.limits
    return DeviceAttr(
        mrc_protocol_version=PROTOCOL_VERSION,
        max_wimm=limits.wimm,
        max_wimm_dest=limits.wimm,
        max_mpr=limits.mpr,
        mpr_resolution=1,
        max_qp_hint=limits.qp_hints,
        cap=adapter.device.config.capabilities,
    )


def create_context(adapter: Adapter, *, privileged: bool = False) -> Context:
    """Open the device; with `privileged` (CAP_NET_ADMIN) for the controller API too."""
    return Context(adapter, privileged)


def destroy_context(context: Context) -> None:
    """Close it and destroy all that was made with it, QPs first."""
    context.require_open()
    adapter = context.adapter
    for qp in list(context.qps.values()):
        qp.unacknowledged = 0
        destroy_qp(qp)
    for lkey in list(context.regions):
        dereg_mr(context.regions[lkey])
    adapter.ev_queues[:] = [queue for queue in adapter.ev_queues if queue not in context.queues]
    adapter.listeners[:] = [listener for listener in adapter.listeners if listener is not context.events]
    context.open = False


# Completion queues and channels


def create_comp_channel(context: Context) -> CompletionChannel:
    """Make a completion channel."""
    context.require_open()
    channel = CompletionChannel(context)
    context.channels.append(channel)
    return channel


def destroy_comp_channel(channel: CompletionChannel) -> None:
    """EBUSY: a completion queue still has it."""
    context = channel.context
    check_channel(context, channel)
    if any(queue.channel is channel for queue in context.queues):
        raise _invalid("completion channel", "a queue that has it", "none", errno.EBUSY)
    context.channels.remove(channel)


def check_channel(context: Context, channel: CompletionChannel | None) -> None:
    """EINVAL when `channel` is not of the context."""
    if channel is not None and channel not in context.channels:
        raise _invalid("completion channel", "one of another context or a destroyed one", "one of this context")


def create_cq(context: Context, cqe: int, channel: CompletionChannel | None = None) -> CompletionQueue:
    """Make a completion queue of `cqe` entries. EINVAL: fewer than one."""
    context.require_open()
    check_channel(context, channel)
    queue = CompletionQueue(context, cqe, channel)
    context.queues.append(queue)
    return queue


def destroy_cq(queue: BoundedQueue[Any]) -> None:
    """EBUSY: a QP has it, or completion events of it are not acknowledged. EINVAL: not of this context."""
    context = queue.context
    _check_queue(context, queue)
    if isinstance(queue, CompletionQueue) and queue.users:
        raise _invalid("completion queue", f"QP {queue.users[0]} with it", "no QP", errno.EBUSY)
    if queue.unacknowledged:
        raise _invalid("completion queue", f"{queue.unacknowledged} events", "all acknowledged", errno.EBUSY)
    context.queues.remove(queue)
    context.adapter.ev_queues[:] = [each for each in context.adapter.ev_queues if each is not queue]
    if queue.channel is not None:
        queue.channel.drop(queue)


def _check_queue(context: Context, queue: BoundedQueue[Any]) -> None:
    if not any(each is queue for each in context.queues):
        raise _invalid("completion queue", "one of another context or a destroyed one", "one of this context")


def poll_cq(queue: CompletionQueue, num_entries: int) -> list[WorkCompletion]:
    """Take at most `num_entries` completions, oldest first; fewer mean that it is empty. EINVAL: below 0."""
    return queue.poll(num_entries)


def req_notify_cq(queue: BoundedQueue[Any], *, solicited_only: bool = False) -> None:
    """Ask for one completion event at the next entry. EINVAL: no channel. ENOTSUP: solicited ones alone."""
    if solicited_only:
        raise _invalid("completion queue", "solicited events alone", "all events", errno.ENOTSUP)
    queue.arm()


def get_cq_event(channel: CompletionChannel) -> BoundedQueue[Any]:
    """Take the next completion event: the queue that has something new. EAGAIN: there is none."""
    if not channel.events:
        raise _invalid("completion channel", "no event", "one", errno.EAGAIN)
    queue = channel.events.popleft()
    queue.unacknowledged += 1
    return queue


def ack_cq_events(queue: BoundedQueue[Any], nevents: int) -> None:
    """Acknowledge `nevents` completion events. EINVAL: more than were taken."""
    if not 0 <= nevents <= queue.unacknowledged:
        raise _invalid("completion queue", f"{nevents} events", f"at most the {queue.unacknowledged} taken")
    queue.unacknowledged -= nevents


# Hints


def create_qp_hint(context: Context, attr: QpHintAttr) -> QpHint:
    """Make a hint. ENOMEM: the device has no more."""
    context.require_open()
    if len(context.hints) >= context.adapter.limits.qp_hints:
        raise _invalid("QP hint", f"{len(context.hints)} already", "room for one more", errno.ENOMEM)
    hint = QpHint(context, context.adapter.new_lkey(), attr)
    context.hints.append(hint)
    return hint


def destroy_qp_hint(hint: QpHint) -> None:
    """EBUSY: a QP has it. EINVAL: not of this context."""
    _check_hint(hint.context, hint)
    if hint.users:
        raise _invalid("QP hint", f"QP {hint.users[0]} with it", "no QP", errno.EBUSY)
    hint.context.hints.remove(hint)


def query_qp_hint(hint: QpHint) -> QpHintAttr:
    """What the hint says."""
    _check_hint(hint.context, hint)
    return hint.attr


def modify_qp_hint(hint: QpHint, attr: QpHintAttr) -> None:
    """Change what the hint says."""
    _check_hint(hint.context, hint)
    hint.attr = attr


def _check_hint(context: Context, hint: QpHint) -> None:
    if hint not in context.hints:
        raise _invalid("QP hint", "one of another context or a destroyed one", "one of this context")


# QPs


def create_qp(context: Context, attr: QpInitAttr) -> Qp:
    """Make a QP in RESET. EINVAL: a queue of another context. ENOMEM: no number is left."""
    context.require_open()
    for queue in (attr.send_cq, attr.recv_cq):
        _check_queue(context, queue)
    adapter = context.adapter
    qp = Qp(context, adapter.device.create_qp(adapter.new_qpn()), attr)
    adapter.qps[qp.qpn] = context.qps[qp.qpn] = qp
    for queue in (attr.send_cq, attr.recv_cq):
        queue.users.append(qp.qpn)
    return qp


def modify_qp(qp: Qp, attr: QpAttr, now_ps: int) -> None:
    """Move the QP at `now_ps` and set its attributes (mrc-facts.md 2.5).

    EINVAL: no such move, or an attribute missing, wrong or of another move. ENOTSUP: congestion control or paths that
    the NIC does not have.
    """
    _check_qp(qp)
    if isinstance(attr.hint, QpHint):
        _check_hint(qp.context, attr.hint)
    transition.modify(qp, attr, now_ps)


def query_qp(qp: Qp) -> QpAttr:
    """State and attributes; those that are not set are None."""
    _check_qp(qp)
    return qp.query()


def destroy_qp(qp: Qp) -> None:
    """Forget the QP. What it had not completed makes no completion; entries already queued stay.

    EBUSY: asynchronous events about it are not acknowledged.
    """
    _check_qp(qp)
    if qp.unacknowledged:
        raise qp.refuse(f"{qp.unacknowledged} events", "all acknowledged", errno.EBUSY)
    context, adapter = qp.context, qp.context.adapter
    adapter.perform(adapter.device.destroy_qp(qp.qpn))
    transition.release(qp)
    qp.clear()
    for queue in (qp.init.send_cq, qp.init.recv_cq):
        queue.users.remove(qp.qpn)
    del adapter.qps[qp.qpn], context.qps[qp.qpn]
    for event in [each for each in context.events if each.element is qp]:
        context.events.remove(event)


def _check_qp(qp: Qp) -> None:
    if qp.context.qps.get(qp.qpn) is not qp:
        raise qp.refuse("a destroyed QP", "one that exists")


# Work


def post_send(qp: Qp, wr: SendRequest, now_ps: int) -> None:
    """Post a write at `now_ps`. Its bytes are those that memory holds, which stay as they are until it completes.

    EINVAL: an operation that MRC does not have, a local key or range that is wrong, a QP before RTS. ENOMEM: as many
    requests as `max_send_wr` are on their way. In ERROR it completes as flushed.
    """
    _check_qp(qp)
    if wr.opcode not in _IMMEDIATE:
        raise qp.refuse(f"a {wr.opcode.name} request", "RDMA_WRITE or RDMA_WRITE_WITH_IMM")
    if (wr.imm_data is not None) is not _IMMEDIATE[wr.opcode]:
        expected = "imm_data" if wr.imm_data is None else "no imm_data"
        raise qp.refuse(f"imm_data {wr.imm_data} with {wr.opcode.name}", expected)
    if len(wr.sg_list) > qp.init.max_send_sge:
        raise qp.refuse(f"{len(wr.sg_list)} pieces of memory", f"at most {qp.init.max_send_sge}")
    if len(qp.sends) >= qp.init.max_send_wr:
        raise qp.refuse(f"{len(qp.sends)} send requests", f"at most {qp.init.max_send_wr}", errno.ENOMEM)
    pieces = [read(qp.context, sge) for sge in wr.sg_list]
    data = pieces[0] if len(pieces) == 1 else b"".join(piece[:] for piece in pieces)
    number = qp.context.adapter.new_work()
    work = PostWrite(qp.qpn, number, data, wr.remote_address, wr.rkey, wr.imm_data)
    qp.sends[number] = wr.wr_id, wr.signaled or qp.init.sq_sig_all
    _post(qp.context.adapter, qp.sends, work, now_ps)


def post_recv(qp: Qp, wr: RecvRequest, now_ps: int) -> None:
    """Post a receive at `now_ps`, for one Write with Immediate.

    EINVAL: a QP in RESET. ENOMEM: as many requests as `max_recv_wr` wait. In ERROR it completes as flushed.
    """
    _check_qp(qp)
    if len(qp.receives) >= qp.init.max_recv_wr:
        raise qp.refuse(f"{len(qp.receives)} receive requests", f"at most {qp.init.max_recv_wr}", errno.ENOMEM)
    number = qp.context.adapter.new_work()
    qp.receives[number] = wr.wr_id
    _post(qp.context.adapter, qp.receives, PostReceive(qp.qpn, number), now_ps)


def _post(adapter: Adapter, pending: dict[int, Any], work: PostWrite | PostReceive, now_ps: int) -> None:
    try:
        with refusing(errno.EINVAL):
            actions = adapter.device.handle(work, now_ps)
    except VerbsError:
        del pending[work.wr_id]
        raise
    adapter.perform(actions)


# Asynchronous events


def get_async_event(context: Context) -> AsyncEvent:
    """Take the next event, to be acknowledged. EAGAIN: there is none."""
    if not context.events:
        raise _invalid("asynchronous events", "none", "one", errno.EAGAIN)
    event = context.events.popleft()
    if isinstance(event.element, (Qp, CompletionQueue)):
        event.element.unacknowledged += 1
    return event


def ack_async_event(event: AsyncEvent) -> None:
    """Acknowledge an event, so that what it is about may be destroyed. EINVAL: acknowledged already."""
    element = event.element
    if not isinstance(element, (Qp, CompletionQueue)):
        return
    if not element.unacknowledged:
        raise _invalid("asynchronous event", "one acknowledged before", "one taken and not acknowledged")
    element.unacknowledged -= 1
