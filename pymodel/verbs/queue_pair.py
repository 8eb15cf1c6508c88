"""A QP as an application has it: attributes by their names of `mrc.h`, requests on their way, completions.

The steps of its life are those of the NIC; the table below says which attributes each must bring and which it may.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, fields, replace
from enum import Enum, IntFlag
from typing import TYPE_CHECKING

from pymodel.nic.events import Complete
from pymodel.nic.lifecycle import QpError, QpState
from pymodel.nic.queue_pair import QueuePair
from pymodel.verbs.completion import CompletionQueue
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.work import WcOpcode, WcStatus, WorkCompletion

if TYPE_CHECKING:
    from pymodel.verbs.context import Context

__all__ = ["NO_HINT", "NO_PROFILE", "NoHint", "Qp", "QpAttr", "QpCap", "QpHint", "QpHintAttr", "QpInitAttr", "QpState"]

NO_PROFILE = 0
"""In the place of a profile's number: EVs as the NIC finds them (AUTO), or no congestion control."""

_STATUS = {
    "success": WcStatus.SUCCESS,
    "flushed": WcStatus.WR_FLUSH_ERR,
    "remote invalid request": WcStatus.REM_INV_REQ_ERR,
    "remote access error": WcStatus.REM_ACCESS_ERR,
    "remote operation error": WcStatus.REM_OP_ERR,
    "retry exceeded": WcStatus.RETRY_EXC_ERR,
}


class QpCap(IntFlag):
    """Further features of a QP (`mrc_qp_cap`)."""

    TRIM_NACK_DEST_UNSUPPORTED = 1
    """The peer does not answer trimmed packets."""
    DYNAMIC_MPR = 2
    SVC_TIME_DEST_UNSUPPORTED = 4
    """The peer does not take its service time out of the round trip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QpHintAttr:
    """What an application expects of the traffic of the QPs that share a hint (`mrc_qp_hint_attr`)."""

    num_qps_per_peer: int = 0
    num_send_peers: int = 0
    num_remote_recv_peers: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not 0 <= value < 1 << 31:
                raise VerbsError(errno.EINVAL, f"QP hint's {each.name}", str(value), "a number of 31 bits")


class QpHint:
    """A hint, and the QPs that have it. The NIC keeps it and draws nothing from it."""

    def __init__(self, context: Context, number: int, attr: QpHintAttr) -> None:
        self.context = context
        self.number = number
        self.attr = attr
        self.users: list[int] = []


class NoHint(Enum):
    """The null pointer in the place of a hint."""

    NO_HINT = "no hint"


NO_HINT = NoHint.NO_HINT


@dataclass(frozen=True, slots=True, kw_only=True)
class QpInitAttr:
    """What a QP is made with (`mrc_qp_init_attr`)."""

    send_cq: CompletionQueue
    recv_cq: CompletionQueue
    max_send_wr: int = 128
    """Send requests that have not completed, at most."""
    max_recv_wr: int = 128
    """Receive requests that have not completed, at most."""
    max_send_sge: int = 1
    sq_sig_all: bool = False
    """Every send request makes a completion, whatever it says itself."""

    def __post_init__(self) -> None:
        for name in ("max_send_wr", "max_recv_wr", "max_send_sge"):
            value = getattr(self, name)
            if not 1 <= value < 1 << 31:
                raise VerbsError(errno.EINVAL, name, str(value), "a number from 1 to 2147483647")


@dataclass(frozen=True, slots=True, kw_only=True)
class QpAttr:
    """Attributes of a QP: those of `ibv_qp_attr` that MRC knows, and those of `mrc_qp_attr`.

    None stands for a mask bit that is not set.
    """

    state: QpState | None = None
    """Move to this state."""
    cur_state: QpState | None = None
    """The call depends on the QP being in this state."""
    error: QpError | None = None
    """Why the QP went to ERROR by itself; said by a query, never set."""
    p_key: int | None = None
    hint: QpHint | NoHint | None = None
    ev_profile_id: int | None = None
    cc_profile_id: int | None = None
    peer_address: int | None = None
    """GID of the peer, 128 bits: its (inner) IPv6 address."""
    dest_qp_num: int | None = None
    rq_psn: int | None = None
    """First PSN received; the peer's `sq_psn`."""
    path_mtu: int | None = None
    """Payload bytes of a full packet."""
    max_wimm_dest: int | None = None
    """Writes with immediate in flight, as responder."""
    mpr_dest: int | None = None
    """Window as responder, in units of 128 PSNs."""
    cap: QpCap | None = None
    sq_psn: int | None = None
    """First PSN sent."""
    max_wimm: int | None = None
    """Writes with immediate in flight, as requester."""
    mpr: int | None = None
    """Window as requester, in units of 128 PSNs."""
    timeout: int | None = None
    """Exponent t of the ACK timeout, 1.024 us x 2^t, at most 24."""
    linear_cnt: int | None = None
    """Retries that wait the plain timeout, at most 7."""
    exp_cnt: int | None = None
    """Retries after those, each waiting twice as long, at most 25, which means for ever."""


REQUIRED = {
    QpState.INIT: ("hint", "ev_profile_id", "cc_profile_id"),
    QpState.RTR: ("peer_address", "dest_qp_num", "rq_psn", "path_mtu", "max_wimm_dest", "mpr_dest", "cap"),
    QpState.RTS: ("sq_psn", "max_wimm", "mpr", "linear_cnt", "exp_cnt", "timeout"),
}
"""What the move to a state must bring (mrc-facts.md 2.5; the rest as RC has it)."""

OPTIONAL = {
    QpState.INIT: ("p_key",),
    QpState.RTR: ("max_wimm", "mpr"),
    QpState.RTS: (),
}
"""What it may bring besides. What RTR brings of RTS need not be repeated there."""

_PREVIOUS = {
    QpState.INIT: (QpState.RESET, QpState.INIT),
    QpState.RTR: (QpState.INIT,),
    QpState.RTS: (QpState.RTR,),
    QpState.RESET: tuple(QpState),
    QpState.ERROR: (QpState.INIT, QpState.RTR, QpState.RTS, QpState.ERROR),
}


class Qp:
    """A QP of a context (`mrc_qp`)."""

    def __init__(self, context: Context, core: QueuePair, init: QpInitAttr) -> None:
        self.context = context
        self.core = core
        """The NIC's QP."""
        self.qpn = core.qpn
        self.init = init
        self.failed = False
        """It is in ERROR, and that has been told or was asked for."""
        self.attr = QpAttr()
        """What has been set since RESET, with no state."""
        self.unacknowledged = 0
        """Asynchronous events about it, taken and not acknowledged."""
        self.sends: dict[int, tuple[int, bool]] = {}
        """Send requests on their way: the NIC's number to wr_id and whether a success is told."""
        self.receives: dict[int, int] = {}
        """Receive requests that wait: the NIC's number to wr_id."""

    @property
    def state(self) -> QpState:
        """Where it stands."""
        return self.core.state

    def query(self) -> QpAttr:
        """Every attribute as it stands, the state included."""
        return replace(self.attr, state=self.state, error=self.core.error)

    def refuse(self, found: str, expected: str, code: int = errno.EINVAL) -> VerbsError:
        """An error about this QP."""
        return VerbsError(code, f"QP {self.qpn}", found, expected)

    def check_step(self, attr: QpAttr) -> QpAttr:
        """The attributes after the step that `attr` asks for; VerbsError EINVAL when it is none."""
        if attr.cur_state not in (None, self.state):
            raise self.refuse(f"state {self.state.value}", f"the state {attr.cur_state.value} that the call names")
        given = {
            each.name: getattr(attr, each.name)
            for each in fields(attr)
            if each.name not in ("state", "cur_state", "error") and getattr(attr, each.name) is not None
        }
        if attr.error is not None:
            raise self.refuse(f"error {attr.error.name}", "no error, which is only queried")
        to = attr.state or self.state
        if self.state not in _PREVIOUS[to]:
            legal = ", ".join(state.value for state in QpState if self.state in _PREVIOUS[state])
            raise self.refuse(f"a move from {self.state.value} to {to.value}", f"a move to one of {legal}")
        known = (*REQUIRED.get(to, ()), *OPTIONAL.get(to, ()))
        for name in given:
            if name not in known:
                raise self.refuse(f"{name} with a move to {to.value}", ", ".join(known) or "no attribute")
        merged = replace(self.attr, **given)
        if to is not self.state:
            for name in REQUIRED.get(to, ()):
                if getattr(merged, name) is None:
                    raise self.refuse(f"a move to {to.value} without {name}", f"{name} with it")
        return merged

    def complete(self, action: Complete) -> tuple[Complete, WorkCompletion | None, CompletionQueue]:
        """Take what the NIC completes: the action with the application's wr_id, the entry if one is due, its queue."""
        status = _STATUS.get(action.status, WcStatus.GENERAL_ERR)
        if action.wr_id in self.sends:
            wr_id, signaled = self.sends.pop(action.wr_id)
            opcode, queue = WcOpcode.RDMA_WRITE, self.init.send_cq
        else:
            wr_id, signaled = self.receives.pop(action.wr_id), True
            opcode, queue = WcOpcode.RECV_RDMA_WITH_IMM, self.init.recv_cq
        entry = None
        if signaled or status is not WcStatus.SUCCESS:
            entry = WorkCompletion(wr_id, status, opcode, action.byte_count, action.immediate, self.qpn)
        return replace(action, wr_id=wr_id), entry, queue

    def clear(self) -> None:
        """Back in RESET: attributes and requests are forgotten."""
        self.attr = QpAttr()
        self.failed = False
        self.sends.clear()
        self.receives.clear()
