"""Takes a QP through its life: what the attributes of `mrc.h` become in the NIC."""

from __future__ import annotations

import errno
from typing import Any

from pymodel.nic.congestion import NoCongestionControl
from pymodel.nic.lifecycle import QpState
from pymodel.paths.ev import EvRecord
from pymodel.verbs.adapter import Adapter
from pymodel.verbs.cc_profile import CcProfile
from pymodel.verbs.errors import refusing
from pymodel.verbs.ev_profile import EvProfile
from pymodel.verbs.profiles import Profile, ProfileState
from pymodel.verbs.queue_pair import NO_PROFILE, Qp, QpAttr, QpCap, QpHint
from pymodel.wire.spec import EvSourceMode

__all__ = ["AUTO_EVS", "modify", "release"]

AUTO_EVS = 128
"""EVs that a QP without an EV profile takes at most (mrc-facts.md 2.1)."""


def modify(qp: Qp, attr: QpAttr, now_ps: int) -> None:
    """Take the step that `attr` asks for at `now_ps`. VerbsError, and no change, when it may not be taken."""
    adapter = qp.context.adapter
    merged = qp.check_step(attr)
    to = attr.state or qp.state
    match to:
        case QpState.RESET:
            adapter.perform(adapter.device.modify_qp(qp.qpn, QpState.RESET, now_ps=now_ps))
            release(qp)
            qp.clear()
            return
        case QpState.ERROR:
            qp.failed = True  # as asked for: no event
            adapter.perform(adapter.device.modify_qp(qp.qpn, QpState.ERROR, now_ps=now_ps))
            return
        case QpState.INIT:
            _to_init(adapter, qp, merged)
        case QpState.RTR:
            _to_rtr(adapter, qp, merged, now_ps)
        case QpState.RTS:
            _to_rts(adapter, qp, merged, now_ps)
    qp.attr = merged


def release(qp: Qp) -> None:
    """The QP gives back its profiles and its hint."""
    adapter = qp.context.adapter
    if isinstance(qp.attr.hint, QpHint):
        qp.attr.hint.users.remove(qp.qpn)
    for profile in (_ev_profile(adapter, qp.attr), _cc_profile(adapter, qp.attr)):
        if profile is not None:
            profile.users.remove(qp.qpn)


def _ev_profile(adapter: Adapter, attr: QpAttr) -> EvProfile | None:
    number = attr.ev_profile_id
    return None if number in (None, NO_PROFILE) else adapter.ev_profile(number)


def _cc_profile(adapter: Adapter, attr: QpAttr) -> CcProfile | None:
    number = attr.cc_profile_id
    return None if number in (None, NO_PROFILE) else adapter.cc_profile(number)


def _require_online(qp: Qp, profile: Profile[Any] | None) -> None:
    if profile is not None and profile.state is not ProfileState.ONLINE:
        raise qp.refuse(f"{profile.name} in {profile.state.value}", "a profile that is ONLINE")


def _to_init(adapter: Adapter, qp: Qp, attr: QpAttr) -> None:
    ev_profile, cc_profile = _ev_profile(adapter, attr), _cc_profile(adapter, attr)
    _require_online(qp, ev_profile)
    _require_online(qp, cc_profile)
    if cc_profile is not None:
        cc_profile.check_usable()
    hint = attr.hint if isinstance(attr.hint, QpHint) else None
    attributes: dict[str, Any] = {
        "hint": hint.number if hint else 0,
        "evs": _evs(adapter, qp, attr),
        "congestion": NoCongestionControl(),
        "seed": _seed(adapter, qp),
    }
    if attr.p_key is not None:
        attributes["p_key"] = attr.p_key
    _step(adapter, qp, QpState.INIT, attributes)
    release(qp)
    for users in (
        hint.users if hint else None,
        ev_profile.users if ev_profile else None,
        cc_profile.users if cc_profile else None,
    ):
        if users is not None:
            users.append(qp.qpn)


def _to_rtr(adapter: Adapter, qp: Qp, attr: QpAttr, now_ps: int) -> None:
    if attr.peer_address is None or attr.cap is None:
        raise AssertionError("checked by Qp.check_step")
    cc_profile = _cc_profile(adapter, attr)
    congestion = cc_profile.controller(attr.peer_address) if cc_profile else None
    # Who the peer is, and with it where an AUTO profile leads and which controller it shares, is known only now.
    evs = _evs(adapter, qp, attr)
    ev_profile = _ev_profile(adapter, attr)
    floor = None if ev_profile is None else ev_profile.attr.min_active
    known = {
        "evs": evs,
        "min_active_evs": None if floor is None else min(floor, len(evs)),
        "congestion": congestion or NoCongestionControl(),
    }
    _step(adapter, qp, QpState.INIT, known)
    settings = adapter.settings
    _step(
        adapter,
        qp,
        QpState.RTR,
        {
            "peer_qpn": attr.dest_qp_num,
            "peer_address": attr.peer_address,
            "mtu": attr.path_mtu,
            "receive_psn": attr.rq_psn,
            "responder_wimm": attr.max_wimm_dest,
            "responder_mpr_units": attr.mpr_dest,
            "dynamic_mpr": QpCap.DYNAMIC_MPR in attr.cap,
            "base_rtt_ps": settings.base_rtt_ps,
            "sack_threshold": settings.sack_threshold,
            "responder_trim_nack": settings.responder_trim_nack,
            "reverse_probes": settings.reverse_probes,
            "now_ps": now_ps,
        },
    )
    _deny(adapter, qp, ev_profile, now_ps)


def _to_rts(adapter: Adapter, qp: Qp, attr: QpAttr, now_ps: int) -> None:
    if attr.cap is None:
        raise AssertionError("checked by Qp.check_step")
    settings = adapter.settings
    _step(
        adapter,
        qp,
        QpState.RTS,
        {
            "send_psn": attr.sq_psn,
            "wimm": attr.max_wimm,
            "mpr_units": attr.mpr,
            "linear_retries": attr.linear_cnt,
            "backoff_retries": attr.exp_cnt,
            "ack_timeout": attr.timeout,
            "trim_nack": QpCap.TRIM_NACK_DEST_UNSUPPORTED not in attr.cap,
            "timestamps": settings.timestamps,
            "target_delay_ps": settings.target_delay_ps,
            "tail_probes": settings.tail_probes,
        },
    )
    _deny(adapter, qp, _ev_profile(adapter, attr), now_ps)


def _deny(adapter: Adapter, qp: Qp, profile: EvProfile | None, now_ps: int) -> None:
    """What is denied in the profile is denied in the QP."""
    for record, denied in profile.records() if profile else ():
        if denied:
            adapter.deny(qp, record.ev, now_ps, denied=True)


def _evs(adapter: Adapter, qp: Qp, attr: QpAttr) -> tuple[EvRecord, ...]:
    """The EVs that the QP gets; of an AUTO profile one stands in until the peer is known."""
    profile = _ev_profile(adapter, attr)
    if profile is not None and profile.attr.mode is not EvSourceMode.AUTO:
        return tuple(record for record, _ in profile.records())
    if adapter.find_paths is None:
        raise qp.refuse(
            "no EVs, and a NIC that cannot find paths by itself", "an EXPLICIT or GENERATED profile", errno.ENOTSUP
        )
    if attr.peer_address is None:
        return (EvRecord(0, 0, adapter.device.config.address),)
    count = AUTO_EVS if profile is None else profile.attr.count or AUTO_EVS
    with refusing(errno.EINVAL):
        found = tuple(adapter.find_paths(attr.peer_address, count))
    if not found:
        raise qp.refuse(f"no path to {attr.peer_address:#x}", "a peer that can be reached")
    return found


def _seed(adapter: Adapter, qp: Qp) -> int:
    """Settles the QP's order of EVs: 32 bits, not 0, different for neighbouring numbers."""
    return (adapter.seed * 0x9E3779B1 + qp.qpn * 0x85EBCA6B) % ((1 << 32) - 1) + 1


def _step(adapter: Adapter, qp: Qp, to: QpState, attributes: dict[str, Any]) -> None:
    with refusing(errno.EINVAL):
        adapter.perform(adapter.device.modify_qp(qp.qpn, to, **attributes))
