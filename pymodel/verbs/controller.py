"""The calls of `mrc_ctl.h`: the device's limits, ports, profiles, EVs and their events (mrc-facts.md 2.2, 2.3).

    context = create_context(adapter, privileged=True)
    modify_ev_format_profile(context, 13, EvFormatProfileAttr(state=OFFLINE, mode=mode, fields=SRV6.widths))
    modify_ev_format_profile(context, 13, EvFormatProfileAttr(state=ONLINE))
    modify_ev_profile(context, 1, EvProfileAttr(state=OFFLINE, mode=EXPLICIT, format_id=13, count=32))
    replace_evs(context, 1, [ReplaceEv(UNPOPULATED, Ev.srv6(address, port=1)), ...])
    modify_ev_profile(context, 1, EvProfileAttr(state=ONLINE, min_active=8, event_mask=EvState.ASSUMED_BAD))

Each call has its C name in `docs/api.md`. All of them want a privileged context (EPERM), and a call that refuses
changes nothing, unless its text says otherwise. Ports count from 1. `pymodel.verbs.endpoint` has the probes.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag

from pymodel.nic.lifecycle import QpState
from pymodel.paths.ev import EvRecord
from pymodel.verbs.adapter import Adapter
from pymodel.verbs.application import check_channel
from pymodel.verbs.cc_profile import ALGORITHMS, NO_CC, CcProfileAttr
from pymodel.verbs.completion import CompletionChannel
from pymodel.verbs.context import Context
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.ev_profile import Ev, EvEntry, EvProfile, EvProfileAttr, EvState, ReplaceEv
from pymodel.verbs.events import EvEvent, EvEventQueue
from pymodel.verbs.profiles import EvFormatProfileAttr
from pymodel.wire.spec import EV_BITS, EvFormatMode, EvSourceMode

__all__ = [
    "CtlDeviceAttr",
    "OptCap",
    "create_ev_event_cq",
    "modify_cc_profile",
    "modify_ev_format_profile",
    "modify_ev_profile",
    "modify_port",
    "poll_ev_event",
    "query_cc_profile",
    "query_device",
    "query_ev_array",
    "query_ev_format_profile",
    "query_ev_profile",
    "query_ev_states",
    "query_port",
    "replace_evs",
    "set_ev_states",
]

PROTOCOL_VERSION = 1


class OptCap(IntFlag):
    """Optional features (`mrc_ctl_attr_opt`)."""

    EV_PROFILE_MODIFY_ONLINE = 1
    CC_PROFILE_MODIFY_ONLINE = 2
    EV_EVENT = 4
    EV_EXPLICIT_RANGE = 8
    EV_EVENT_PRECISE_DROP_CNT = 16
    EP_OP_EV_PROBE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CtlDeviceAttr:
    """What the device has for its controller (`mrc_ctl_device_attr`)."""

    mrc_ctl_protocol_version: int
    """Bitmap of versions; bit 0 is version 1."""
    ev_max_fmt_profiles: int
    ev_max_profiles: int
    ev_max_count: int
    ev_free_count: int
    ev_max_count_profile: int
    ev_count_align: int
    """A profile's number of EVs is a multiple of this: the same number can go to each port."""
    ev_max_width: int
    """Bits of an EV that fields may take."""
    ev_fmt_modes: frozenset[EvFormatMode]
    ev_modes: frozenset[EvSourceMode]
    ev_op_max_entries: int
    """EVs in one call; 0 means any number."""
    cc_max_profiles: int
    cc_algorithms: tuple[str, ...]
    phy_port_mask: int
    """Bit n stands for port n; bit 0 is unused."""
    opt_attr: OptCap


def query_device(context: Context) -> CtlDeviceAttr:
    """What the device has, and what of it is free."""
    context.require_privilege()
    adapter, limits = context.adapter, context.adapter.limits
    modes = set(EvSourceMode) if adapter.find_paths else set(EvSourceMode) - {EvSourceMode.AUTO}
    return CtlDeviceAttr(
        mrc_ctl_protocol_version=PROTOCOL_VERSION,
        ev_max_fmt_profiles=limits.format_profiles,
        ev_max_profiles=limits.ev_profiles,
        ev_max_count=limits.evs,
        ev_free_count=adapter.free_evs,
        ev_max_count_profile=limits.evs_per_profile,
        ev_count_align=adapter.ports,
        ev_max_width=EV_BITS,
        ev_fmt_modes=limits.format_modes,
        ev_modes=frozenset(modes),
        ev_op_max_entries=0,
        cc_max_profiles=limits.cc_profiles,
        cc_algorithms=tuple(name for name in ALGORITHMS if name != NO_CC),
        phy_port_mask=((1 << adapter.ports) - 1) << 1,
        opt_attr=OptCap.EV_EVENT | OptCap.EV_EVENT_PRECISE_DROP_CNT | OptCap.EP_OP_EV_PROBE,
    )


# Ports


def _port(adapter: Adapter, port_num: int) -> int:
    if not 1 <= port_num <= adapter.ports:
        raise VerbsError(errno.EINVAL, "port", str(port_num), f"a port from 1 to {adapter.ports}")
    return port_num - 1


def query_port(context: Context, port_num: int) -> bool:
    """Whether port `port_num` is enabled. EINVAL: no such port."""
    context.require_privilege()
    return context.adapter.is_enabled(_port(context.adapter, port_num))


def modify_port(context: Context, port_num: int, *, enabled: bool, now_ps: int) -> None:
    """Enable port `port_num`, or disable it: it is down, whatever its link does. EINVAL: no such port."""
    context.require_privilege()
    context.adapter.enable_port(_port(context.adapter, port_num), enabled, now_ps)


# EV format profiles


def modify_ev_format_profile(context: Context, profile_id: int, attr: EvFormatProfileAttr) -> None:
    """Set and move an EV format profile.

    To OFFLINE it needs a mode, to ONLINE fields. EINVAL: wrong, missing or in the wrong state. E2BIG: more than the
    mode carries. EBUSY: an EV profile that has it is ONLINE.
    """
    context.require_privilege()
    context.adapter.format_profile(profile_id).modify(attr)


def query_ev_format_profile(context: Context, profile_id: int) -> EvFormatProfileAttr:
    """State and attributes; those that are not set are None."""
    context.require_privilege()
    return context.adapter.format_profile(profile_id).query()


# EV profiles


def modify_ev_profile(context: Context, profile_id: int, attr: EvProfileAttr) -> None:
    """Set and move an EV profile.

    To OFFLINE it needs a mode, a number of EVs, a format unless its mode is AUTO, and fields if it is GENERATED; to
    ONLINE `min_active`, an event mask, and all its EVs if it is EXPLICIT. EINVAL: wrong, missing or in the wrong
    state. E2BIG: more EVs or fields than there is room for. EBUSY: a QP has it.
    """
    context.require_privilege()
    adapter = context.adapter
    if attr.mode is EvSourceMode.AUTO and adapter.find_paths is None:
        raise VerbsError(errno.EINVAL, f"EV profile {profile_id}", "AUTO", "a mode of the device")
    adapter.ev_profile(profile_id).modify(attr)


def query_ev_profile(context: Context, profile_id: int) -> EvProfileAttr:
    """State and attributes; those that are not set are None."""
    context.require_privilege()
    return context.adapter.ev_profile(profile_id).query()


def replace_evs(context: Context, profile_id: int, changes: Sequence[ReplaceEv]) -> None:
    """Replace EVs of an EXPLICIT profile that is OFFLINE, in order; entries begin as `UNPOPULATED`.

    EINVAL: another mode or state, or a port that does not exist. ENOENT: no such EV. Those before the one refused stay
    replaced.
    """
    context.require_privilege()
    profile = context.adapter.ev_profile(profile_id)
    for change in changes:
        profile.replace(change)


def set_ev_states(context: Context, profile_id: int, evs: Sequence[Ev], state: EvState, now_ps: int) -> None:
    """Deny EVs (DENIED) or give them back (GOOD), in order, for the profile and at once for each QP that has it.

    EINVAL: another state, or a profile in INIT. ENOENT: no such EV. Those before the one refused stay changed.
    """
    context.require_privilege()
    adapter = context.adapter
    profile = adapter.ev_profile(profile_id)
    for ev in evs:
        for record, denied in profile.set_state(ev, state):
            for qpn in profile.users:
                if adapter.qps[qpn].state in (QpState.RTR, QpState.RTS):
                    adapter.deny(adapter.qps[qpn], record.ev, now_ps, denied=denied)


def query_ev_states(context: Context, profile_id: int, evs: Sequence[Ev]) -> list[EvState]:
    """The state of each EV, as `query_ev_array` has it. ENOENT: no such EV."""
    profile, entries = _entries(context, profile_id)
    return [entries[profile.find(ev)[0]].state for ev in evs]


def query_ev_array(context: Context, profile_id: int) -> list[EvEntry]:
    """Every EV of the profile with its state, in the order of the array; none for an AUTO profile.

    An EV is ASSUMED_BAD when at least one QP that has the profile has retired it.
    """
    return _entries(context, profile_id)[1]


def _entries(context: Context, profile_id: int) -> tuple[EvProfile, list[EvEntry]]:
    context.require_privilege()
    adapter = context.adapter
    profile = adapter.ev_profile(profile_id)
    retired = {
        slot.ev
        for qpn in profile.users
        if adapter.qps[qpn].state is QpState.RTS
        for slot in adapter.qps[qpn].core.requester.evs.retired
    }

    def state_of(record: EvRecord) -> EvState:
        return EvState.ASSUMED_BAD if record.ev in retired else EvState.GOOD

    return profile, profile.entries(state_of)


# CC profiles


def modify_cc_profile(context: Context, profile_id: int, attr: CcProfileAttr) -> None:
    """Set and move a CC profile.

    To OFFLINE it needs an algorithm, to ONLINE that algorithm's configuration. EINVAL: wrong, missing or in the wrong
    state. EBUSY: a QP has it.
    """
    context.require_privilege()
    context.adapter.cc_profile(profile_id).modify(attr)


def query_cc_profile(context: Context, profile_id: int) -> CcProfileAttr:
    """State and attributes; those that are not set are None."""
    context.require_privilege()
    return context.adapter.cc_profile(profile_id).query()


# EV events


def create_ev_event_cq(context: Context, cqe: int, channel: CompletionChannel | None = None) -> EvEventQueue:
    """Make a queue of `cqe` EV events of all profiles, as their event masks say. EINVAL: fewer than one."""
    context.require_privilege()
    check_channel(context, channel)
    queue = EvEventQueue(context, cqe, channel)
    context.queues.append(queue)
    context.adapter.ev_queues.append(queue)
    return queue


def poll_ev_event(queue: EvEventQueue, num_entries: int) -> list[EvEvent]:
    """Take at most `num_entries` events, oldest first. EINVAL: below 0."""
    return queue.poll(num_entries)
