"""The life of a QP: its states, what may follow what, and the attributes that each step needs (mrc-facts.md 2.5).

RESET -> INIT -> RTR (ready to receive) -> RTS (ready to send), each step with its attributes; ERROR from INIT on, and
RESET from everywhere. A step to the same state changes nothing but optional attributes of that step before RTR.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from pymodel.base.errors import InputError
from pymodel.nic.config import QpConfig
from pymodel.wire.spec import ENDPOINT_QP

__all__ = ["OPTIONAL", "REQUIRED", "QpError", "QpInformation", "QpState", "require_step", "validated"]


class QpState(Enum):
    """State of a QP."""

    RESET = "RESET"
    """Just made: neither sends nor receives, and takes no work."""
    INIT = "INIT"
    """Takes receive work requests; frames have no effect."""
    RTR = "RTR"
    """Receives."""
    RTS = "RTS"
    """Receives and sends."""
    ERROR = "ERROR"
    """Flushes work."""


class QpError(Enum):
    """Why a QP went to ERROR by itself: the first thing that went wrong, seen from this end."""

    RETRY_EXCEEDED = "no answer after the last retry"
    REMOTE_INVALID_REQUEST = "the peer said NAK invalid request"
    REMOTE_ACCESS = "the peer said NAK remote access error"
    REMOTE_OPERATION = "the peer said NAK remote operation error or NACK UNEXP_EVENT"
    LOCAL_ACCESS = "a write of the peer named an unknown key or left its region"
    LOCAL_REQUEST = "a write of the peer was longer than an MTU, or a first or middle packet was not full"
    WIMM_EXCEEDED = "the peer had more writes with immediate in flight than agreed"
    NO_RECEIVE = "a write with immediate found no receive work request"


REQUIRED: Mapping[QpState, tuple[str, ...]] = {
    QpState.INIT: ("hint", "evs", "congestion"),
    QpState.RTR: (
        "peer_qpn",
        "peer_address",
        "mtu",
        "receive_psn",
        "responder_wimm",
        "responder_mpr_units",
        "dynamic_mpr",
    ),
    QpState.RTS: ("send_psn", "wimm", "mpr_units", "linear_retries", "backoff_retries", "ack_timeout"),
}
"""Attributes without which a step is refused: fields of `QpConfig`, and `congestion`, a `CongestionControl`."""

OPTIONAL: Mapping[QpState, tuple[str, ...]] = {
    QpState.INIT: ("p_key", "backup_evs", "control_evs", "min_active_evs", "seed"),
    QpState.RTR: ("base_rtt_ps", "sack_threshold", "responder_trim_nack", "reverse_probes"),
    QpState.RTS: ("timestamps", "trim_nack", "target_delay_ps", "tail_probes"),
}
"""Attributes that a step takes besides; without them the defaults of `QpConfig` hold."""

_NEXT: Mapping[QpState, tuple[QpState, ...]] = {
    QpState.RESET: (QpState.RESET, QpState.INIT),
    QpState.INIT: (QpState.RESET, QpState.INIT, QpState.RTR, QpState.ERROR),
    QpState.RTR: (QpState.RESET, QpState.RTS, QpState.ERROR),
    QpState.RTS: (QpState.RESET, QpState.ERROR),
    QpState.ERROR: (QpState.RESET, QpState.ERROR),
}


@dataclass(frozen=True, slots=True)
class QpInformation:
    """What a query of a QP says: its state, and every attribute given so far by name (defaults from RTR on)."""

    qpn: int
    state: QpState
    attributes: Mapping[str, Any]
    error: QpError | None = None
    """Why it went to ERROR by itself; None when it did not, or software took it there."""


def require_step(qpn: int, state: QpState, to: QpState, given: Iterable[str]) -> None:
    """InputError when no step leads from `state` to `to`, or attributes are missing or not of that step."""
    where = f"QP {qpn} in {state.value}"
    if to not in _NEXT[state]:
        raise InputError(where, f"a step to {to.value}", " or ".join(each.value for each in _NEXT[state]))
    required, known = REQUIRED.get(to, ()), (*REQUIRED.get(to, ()), *OPTIONAL.get(to, ()))
    names = list(given)
    for name in names:
        if name not in known:
            raise InputError(f"{where}, step to {to.value}", f"attribute {name!r}", ", ".join(known) or "no attribute")
    if to is not state:
        for name in required:
            if name not in names:
                raise InputError(f"{where}, step to {to.value}", f"no {name}", ", ".join(required))


_FIELDS = frozenset(field.name for field in fields(QpConfig))


def validated(qpn: int, attributes: Mapping[str, Any]) -> QpConfig:
    """The configuration that `attributes` make so far, checked; what later steps give has its default or a stand-in."""
    stand_ins = {"peer_qpn": ENDPOINT_QP + 1, "peer_address": 0}
    known = {name: value for name, value in attributes.items() if name in _FIELDS}
    return QpConfig(qpn=qpn, **(stand_ins | known))
