"""The NIC as the host's software finds it: the device, and what is kept beside it.

An adapter has the one method of a NIC core, so that a fabric drives it in the core's place: `handle(event, now_ps)`
returns the actions that the caller carries out. Calls of the API act on the device at once; what they make it do waits
in the adapter until `drain` or the next `handle` hands it over. An event `Call` lets software act at its time.
Completions and notices become completion queue entries and events here, and are handed on too, with the application's
own wr_id.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pymodel.nic.config import QpSettings
from pymodel.nic.device import Device
from pymodel.nic.events import Action, Command, Complete, Event, FrameIn, Notify, Payload, PortChange
from pymodel.nic.lifecycle import QpState
from pymodel.paths.ev import EvRecord
from pymodel.verbs.cc_profile import CcProfile
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.ev_profile import Ev, EvProfile, EvState
from pymodel.verbs.events import QP_EVENT, AsyncEvent, AsyncEventType, EvEvent, EvEventQueue
from pymodel.verbs.profiles import EvFormatProfile, Profile, ProfileState
from pymodel.verbs.queue_pair import NO_PROFILE, Qp
from pymodel.wire.spec import (
    ENDPOINT_QP,
    MPR_UNITS_MAX,
    QPN_BITS,
    R_KEY_TAG_BITS,
    USID_BITS,
    USID_BLOCK_BITS,
    EvFormatMode,
)

__all__ = ["Adapter", "Call", "Limits", "LocalMemory", "PathFinder"]

PathFinder = Callable[[int, int], Sequence[EvRecord]]
"""The NIC's own way to find paths: the peer's address and how many EVs at most, to that many EVs or fewer."""

_UINT64_MAX = (1 << 64) - 1
_FIRST_USID_SHIFT = 128 - USID_BLOCK_BITS - USID_BITS


@dataclass(frozen=True, slots=True)
class Call:
    """Software acts, as an event for the adapter: `act` is given the time and makes calls of the API."""

    act: Callable[[int], object]


class LocalMemory(Protocol):
    """The host's memory, from which writes take their bytes."""

    def read(self, address: int, length: int) -> Payload:
        """Return `length` bytes from `address`, which nobody changes before the write completes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the device has room for, as queries report it."""

    format_profiles: int = 64
    ev_profiles: int = 1024
    evs: int = 1 << 16
    """EVs of all profiles together."""
    evs_per_profile: int = 4096
    cc_profiles: int = 64
    qp_hints: int = 1024
    wimm: int = (1 << 16) - 1
    mpr: int = MPR_UNITS_MAX
    """Units of 128 PSNs."""
    format_modes: frozenset[EvFormatMode] = frozenset({EvFormatMode.SRV6})


class Adapter:
    """One NIC with its host's software side. `device` has no QPs of its own making."""

    def __init__(
        self,
        device: Device,
        memory: LocalMemory,
        *,
        find_paths: PathFinder | None = None,
        settings: QpSettings | None = None,
        limits: Limits | None = None,
        seed: int = 1,
    ) -> None:
        """Put software on `device`.

        `find_paths` serves AUTO profiles; `settings` are those of every QP that the API leaves to the NIC; `seed`
        settles generated EVs and the order in which QPs take theirs.
        """
        self.device = device
        self.memory = memory
        self.find_paths = find_paths
        self.settings = settings or QpSettings()
        self.limits = limits or Limits()
        self.seed = seed
        self.ports = len(device.config.ports)
        self.qps: dict[int, Qp] = {}
        self.formats: dict[int, EvFormatProfile] = {}
        self.ev_profiles: dict[int, EvProfile] = {}
        self.cc_profiles: dict[int, CcProfile] = {}
        self.ev_queues: list[EvEventQueue] = []
        self.endpoint_requests: dict[int, Callable[[Notify], None]] = {}
        """Who waits for the answer to which endpoint request."""
        self.listeners: list[deque[AsyncEvent]] = []
        """Where asynchronous events of the ports go: one place for each context."""
        self._actions: list[Action] = []
        self._next_qpn = ENDPOINT_QP + 1
        self._next_work = 0
        self._next_lkey = 0
        self._key_tags: dict[int, int] = {}
        self._link_up = [True] * self.ports
        self._enabled = [True] * self.ports

    # The NIC's side

    def handle(self, event: Event | Call, now_ps: int) -> list[Action]:
        """Take one event at `now_ps` and return what follows, and what calls have left since."""
        match event:
            case Call(act):
                act(now_ps)
            case FrameIn(port) if 0 <= port < self.ports and not self._enabled[port]:
                pass
            case PortChange(port, up) if 0 <= port < self.ports:
                self._set_port(port, now_ps, link_up=up)
            case _:
                self.perform(self.device.handle(event, now_ps))
        return self.drain()

    def drain(self) -> list[Action]:
        """Hand over the actions that calls have left, for the caller to carry out now."""
        actions, self._actions = self._actions, []
        return actions

    def perform(self, actions: Sequence[Action]) -> None:
        """Take what the device wants: completions and notices are told, all of it is kept for the caller."""
        waiting = deque(actions)
        wr_ids: dict[int, int] = {}
        while waiting:
            action = waiting.popleft()
            if isinstance(action, Complete):
                number = action.wr_id
                action = self._complete(action, waiting)
                wr_ids[number] = action.wr_id
            elif isinstance(action, Notify):
                self._notice(action)
                if action.kind == "write_ended":
                    action = _renumbered(action, wr_ids)
            self._actions.append(action)

    def _complete(self, action: Complete, waiting: deque[Action]) -> Complete:
        qp = self.qps[action.qpn]
        told, entry, queue = qp.complete(action)
        if entry is not None and not queue.push(entry):
            if not queue.lost:
                qp.context.events.append(AsyncEvent(AsyncEventType.CQ_ERR, queue))
            queue.lost += 1
            if qp.state is not QpState.ERROR:
                waiting.extend(self.device.modify_qp(qp.qpn, QpState.ERROR))
                self._failed(qp)
        return told

    def _notice(self, notice: Notify) -> None:
        details = dict(notice.details)
        waiting = self.endpoint_requests.pop(details.get("request", -1), None)
        if waiting is not None:
            waiting(notice)
            return
        qp = self.qps.get(details.get("qpn", -1))
        if qp is None:
            return
        match notice.kind:
            case "qp_error":
                self._failed(qp)
            case "ev_assumed_bad":
                self._ev_event(qp, details["ev"], EvState.ASSUMED_BAD)
            case "ev_good":
                self._ev_event(qp, details["ev"], EvState.GOOD)

    def _failed(self, qp: Qp) -> None:
        if not qp.failed:
            qp.failed = True
            reason = qp.core.error
            kind = AsyncEventType.QP_FATAL if reason is None else QP_EVENT.get(reason, AsyncEventType.QP_FATAL)
            qp.context.events.append(AsyncEvent(kind, qp, reason))

    def _ev_event(self, qp: Qp, ev: int, state: EvState) -> None:
        number = qp.attr.ev_profile_id
        profile = None if number is None else self.ev_profiles.get(number)
        if number is None or profile is None or profile.attr.event_mask is None or not profile.attr.event_mask & state:
            return
        slot = qp.core.requester.evs.find(ev)
        if slot is not None:
            for queue in self.ev_queues:
                queue.push(EvEvent(number, Ev.of(slot.record), state))

    def deny(self, qp: Qp, ev: int, now_ps: int, *, denied: bool) -> None:
        """Take the EV of 32 bits `ev` out of a QP's use, or give it back."""
        self.perform(self.device.handle(Command("deny_ev" if denied else "allow_ev", ev, qp.qpn), now_ps))

    # Ports, from 0 here

    def is_enabled(self, port: int) -> bool:
        """The administrator lets the port work."""
        return self._enabled[port]

    def enable_port(self, port: int, enabled: bool, now_ps: int) -> None:
        """Let the port work, or take it down whatever its link does."""
        self._set_port(port, now_ps, enabled=enabled)

    def is_up(self, port: int) -> bool:
        """The port works: its link is up and the administrator lets it."""
        return self._link_up[port] and self._enabled[port]

    def _set_port(self, port: int, now_ps: int, *, link_up: bool | None = None, enabled: bool | None = None) -> None:
        before = self.is_up(port)
        if link_up is not None:
            self._link_up[port] = link_up
        if enabled is not None:
            self._enabled[port] = enabled
        after = self.is_up(port)
        if after == before:
            return
        kind = AsyncEventType.PORT_ACTIVE if after else AsyncEventType.PORT_ERR
        for listener in self.listeners:
            listener.append(AsyncEvent(kind, port + 1))
        self.perform(self.device.handle(PortChange(port, after), now_ps))

    def port_of(self, address: int) -> int | None:
        """The port whose own outer address begins with the same block and uSID as `address`."""
        for port, config in enumerate(self.device.config.ports):
            if config.source_address >> _FIRST_USID_SHIFT == address >> _FIRST_USID_SHIFT:
                return port
        return None

    # Numbers

    def new_qpn(self) -> int:
        """The next QPN that no QP has; numbers come round late, so that old frames find no new QP."""
        for _ in range(1 << QPN_BITS):
            qpn = self._next_qpn
            self._next_qpn = qpn + 1 if qpn + 1 < 1 << QPN_BITS else ENDPOINT_QP + 1
            if qpn not in self.qps:
                return qpn
        raise VerbsError(errno.ENOMEM, "QP", "no free number", f"at most {1 << QPN_BITS} QPs")

    def register(self, address: int, length: int) -> int:
        """Let peers write `length` bytes from `address` and return the key.

        Each new region at an index of the NIC's table has the next tag, so that the key of an earlier one is refused.
        """
        table = self.device.regions
        key = table.register(address, length).r_key
        index = key >> R_KEY_TAG_BITS
        tag = self._key_tags.get(index, 0)
        self._key_tags[index] = (tag + 1) % (1 << R_KEY_TAG_BITS)
        if tag:
            table.deregister(key)
            key = table.register(address, length, tag).r_key
        return key

    def new_lkey(self) -> int:
        """A number for a memory region or a hint, never given twice."""
        self._next_lkey += 1
        return self._next_lkey

    def new_work(self) -> int:
        """The NIC's number for the next work request."""
        self._next_work = self._next_work + 1 & _UINT64_MAX
        return self._next_work

    # Profiles

    def format_profile(self, number: int) -> EvFormatProfile:
        """The EV format profile of that number; one that nobody has touched is in INIT."""
        self._check_number("EV format profile", number, self.formats, self.limits.format_profiles)
        if number not in self.formats:
            self.formats[number] = EvFormatProfile(f"EV format profile {number}", self.limits.format_modes)
        return self.formats[number]

    def ev_profile(self, number: int) -> EvProfile:
        """The EV profile of that number; one that nobody has touched is in INIT."""
        self._check_number("EV profile", number, self.ev_profiles, self.limits.ev_profiles)
        if number not in self.ev_profiles:
            self.ev_profiles[number] = EvProfile(
                f"EV profile {number}",
                f"{self.seed} EV profile {number}",
                self.ports,
                formats=self.format_profile,
                port_of=self.port_of,
                room=self._room,
            )
        return self.ev_profiles[number]

    def cc_profile(self, number: int) -> CcProfile:
        """The CC profile of that number; one that nobody has touched is in INIT."""
        self._check_number("CC profile", number, self.cc_profiles, self.limits.cc_profiles)
        if number not in self.cc_profiles:
            self.cc_profiles[number] = CcProfile(f"CC profile {number}")
        return self.cc_profiles[number]

    @property
    def free_evs(self) -> int:
        """EVs that no profile takes."""
        return self.limits.evs - sum(profile.size for profile in self.ev_profiles.values())

    def _room(self, profile: EvProfile) -> int:
        return min(self.limits.evs_per_profile, self.free_evs + profile.size)

    def _check_number(self, what: str, number: int, known: Mapping[int, Profile[Any]], most: int) -> None:
        if not NO_PROFILE < number <= _UINT64_MAX:
            raise VerbsError(errno.EINVAL, f"{what}'s number", str(number), "a number from 1 to 2^64 - 1")
        used = sum(1 for other, profile in known.items() if other != number and profile.state is not ProfileState.INIT)
        if used >= most:
            raise VerbsError(errno.EINVAL, f"{what} {number}", f"{used} others in use", f"at most {most}")


def _renumbered(notice: Notify, wr_ids: Mapping[int, int]) -> Notify:
    """The counts of a write, which stand right behind its completion, with the application's number of it."""
    return Notify(notice.kind, tuple((k, wr_ids[v] if k == "wr_id" else v) for k, v in notice.details))
