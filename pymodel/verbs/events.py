"""What the NIC tells software unasked: asynchronous events, and events of EVs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from pymodel.nic.lifecycle import QpError
from pymodel.verbs.completion import BoundedQueue, CompletionChannel, CompletionQueue
from pymodel.verbs.ev_profile import Ev, EvState
from pymodel.verbs.queue_pair import Qp

if TYPE_CHECKING:
    from pymodel.verbs.context import Context

__all__ = ["QP_EVENT", "AsyncEvent", "AsyncEventType", "EvEvent", "EvEventQueue"]


class AsyncEventType(Enum):
    """Kinds of asynchronous events (`ibv_event_type`)."""

    CQ_ERR = "a completion queue overran"
    QP_FATAL = "a QP went to ERROR by itself"
    QP_REQ_ERR = "a QP went to ERROR: a request of the peer was against the rules"
    QP_ACCESS_ERR = "a QP went to ERROR: a write of the peer had no right to its memory"
    PORT_ACTIVE = "a port came up"
    PORT_ERR = "a port went down"


@dataclass(frozen=True, slots=True)
class AsyncEvent:
    """An asynchronous event (`mrc_async_event`): its type, and the queue, QP or port, counted from 1, it is about."""

    event_type: AsyncEventType
    element: CompletionQueue | Qp | int
    reason: QpError | None = None
    """Why the QP failed; None where it did so because its completion queue overran, and in other events."""


QP_EVENT = {
    QpError.LOCAL_ACCESS: AsyncEventType.QP_ACCESS_ERR,
    QpError.LOCAL_REQUEST: AsyncEventType.QP_REQ_ERR,
    QpError.WIMM_EXCEEDED: AsyncEventType.QP_REQ_ERR,
    QpError.NO_RECEIVE: AsyncEventType.QP_REQ_ERR,
}
"""The event of a QP that failed as responder, as IBTA names it; every other failure is QP_FATAL."""


@dataclass(frozen=True, slots=True)
class EvEvent:
    """An EV of `profile_id` came to `state` (`mrc_ctl_ev_event`).

    `drop_count` says how many events were dropped between the one before and this one.
    """

    profile_id: int
    ev: Ev
    state: EvState
    drop_count: int = 0


class EvEventQueue(BoundedQueue[EvEvent]):
    """Events of EVs. It never overruns: what finds it full is dropped, and counted in the next event that fits."""

    def __init__(self, context: Context, depth: int, channel: CompletionChannel | None = None) -> None:
        super().__init__(context, depth, channel)
        self._dropped = 0

    def push(self, entry: EvEvent) -> bool:
        """Append with the number dropped since the one before; False when the queue is full."""
        kept = super().push(replace(entry, drop_count=self._dropped))
        self._dropped = 0 if kept else self._dropped + 1
        return kept
