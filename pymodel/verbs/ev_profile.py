"""EV profiles: explicit, generated and automatic ones, their EVs and the states of these (mrc-facts.md 2.2, 2.3).

An EV on the API is a container of 32 bytes and a port, counted from 1: for SRv6 the outer destination in the first 16
bytes, the one SRH segment, or zero, in the other 16. The 32 bits that travel in the inner header, and come back in
SACKs, are those that a generated EV was expanded from. Those of an explicit EV say the same of its path as those of the
NIC's own EVs, plane and uplink, with random bits behind that tell copies apart.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import IntFlag

from pymodel.paths.ev import ADDRESS_BITS, EvField, EvFormat, EvRecord, EvTemplate
from pymodel.paths.topology import path_template
from pymodel.paths.usid import usids_of
from pymodel.verbs.errors import VerbsError, refusing
from pymodel.verbs.profiles import EvFormatProfile, Profile, ProfileAttr, ProfileState
from pymodel.wire.spec import USID_BLOCK_BITS, EvSourceMode

__all__ = ["UNPOPULATED", "Ev", "EvEntry", "EvProfile", "EvProfileAttr", "EvState", "ReplaceEv"]

EV_BYTES = 32
_HALF = EV_BYTES // 2


class EvState(IntFlag):
    """State of an EV as the API has it (OCP `mrc_ctl_ev_state`); SKIP is the NIC's own affair and reads GOOD."""

    GOOD = 1
    ASSUMED_BAD = 2
    DENIED = 4
    UNKNOWN = 1 << 31
    """Not known here: an entry that is not populated."""


@dataclass(frozen=True, slots=True)
class Ev:
    """An EV: 32 bytes and the local port, from 1 (OCP `mrc_ctl_ev`)."""

    value: bytes
    port: int

    def __post_init__(self) -> None:
        if len(self.value) != EV_BYTES:
            raise VerbsError(errno.EINVAL, "EV", f"{len(self.value)} bytes", f"{EV_BYTES} bytes")

    @classmethod
    def srv6(cls, address: int, port: int, segment: int | None = None) -> Ev:
        """The EV of an outer destination and, where one address is not enough, of a segment, 128 bits each."""
        with refusing(errno.EINVAL):
            for value in (address, segment or 0):
                if not 0 <= value < 1 << 128:
                    raise VerbsError(errno.EINVAL, "EV", f"{value:#x}", "an address of 128 bits")
        return cls(address.to_bytes(_HALF, "big") + (segment or 0).to_bytes(_HALF, "big"), port)

    @classmethod
    def of(cls, record: EvRecord) -> Ev:
        """The EV of a record of `pymodel.paths`, whose port counts from 0."""
        return cls.srv6(record.address, record.port + 1, record.segment)

    def record(self, rng: random.Random, taken: Collection[int] = ()) -> EvRecord:
        """The record of this EV; the bits that say nothing of its path come from `rng`, other than those `taken`."""
        address, segment = (int.from_bytes(half, "big") for half in (self.value[:_HALF], self.value[_HALF:]))
        block, usids = address >> ADDRESS_BITS - USID_BLOCK_BITS, usids_of(address)
        template = path_template(block, usids)
        unused = template.ev_bits - template.used_bits
        path = template.collect((block, *usids))
        if sum(ev >> unused == path >> unused for ev in taken) == 1 << unused:
            raise VerbsError(errno.E2BIG, "EV", f"path {address:#x} once more", f"at most {1 << unused} in a profile")
        while (ev := path | rng.getrandbits(unused)) in taken:
            pass
        return EvRecord(ev, self.port - 1, address, segment or None)


UNPOPULATED = Ev(bytes(EV_BYTES), 0)
"""What an entry of an explicit profile holds before it is replaced."""


@dataclass(frozen=True, slots=True)
class EvEntry:
    """An EV of a profile and its state."""

    ev: Ev
    state: EvState


@dataclass(frozen=True, slots=True)
class ReplaceEv:
    """Put `new` in the place of `ev`, in the first entry that holds it or in all, with `state` GOOD or DENIED."""

    ev: Ev
    new: Ev
    state: EvState = EvState.GOOD
    all_copies: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvProfileAttr(ProfileAttr):
    """Attributes of an EV profile (OCP `mrc_ctl_ev_profile_attr`)."""

    mode: EvSourceMode | None = None
    format_id: int | None = None
    """The EV format profile; an AUTO profile has none."""
    count: int | None = None
    """EVs of the profile."""
    min_active: int | None = None
    """EVs that stay in use whatever is lost on them."""
    event_mask: EvState | None = None
    """The states whose coming makes an EV event: GOOD, ASSUMED_BAD, both or neither."""
    fields: tuple[EvField, ...] | None = None
    """How an EV becomes the fields of the format."""


@dataclass(slots=True)
class _Slot:
    record: EvRecord
    ev: Ev
    denied: bool = False


class EvProfile(Profile[EvProfileAttr]):
    """An EV profile of a device.

    `formats` finds a format profile by its number, `port_of` the local port (from 0) of an outer destination, or None;
    `room` says how many EVs the profile may have at most. `users` are the QPs that have it.
    """

    def __init__(
        self,
        name: str,
        seed: str,
        ports: int,
        *,
        formats: Callable[[int], EvFormatProfile],
        port_of: Callable[[int], int | None],
        room: Callable[[EvProfile], int],
    ) -> None:
        super().__init__(name, EvProfileAttr())
        self.users: list[int] = []
        self._seed = seed
        self._ports = ports
        self._formats = formats
        self._port_of = port_of
        self._room = room
        self._slots: list[_Slot | None] = []
        self._made_for: EvFormat | None = None
        self._draws = random.Random(f"{seed} explicit")

    @property
    def size(self) -> int:
        """EVs that the profile takes of what the device has."""
        return self.attr.count or 0

    # EVs

    def entries(self, state_of: Callable[[EvRecord], EvState]) -> list[EvEntry]:
        """The EV array; `state_of` says how the QPs see an EV that is not denied."""
        return [
            EvEntry(UNPOPULATED, EvState.UNKNOWN)
            if slot is None
            else EvEntry(slot.ev, EvState.DENIED if slot.denied else state_of(slot.record))
            for slot in self._slots
        ]

    def records(self) -> list[tuple[EvRecord, bool]]:
        """The EVs as the NIC takes them, each with whether it is denied."""
        return [(slot.record, slot.denied) for slot in self._slots if slot is not None]

    def find(self, ev: Ev) -> list[int]:
        """Places of `ev` in the array; VerbsError ENOENT when it has none."""
        places = [place for place, slot in enumerate(self._slots) if (UNPOPULATED if slot is None else slot.ev) == ev]
        if not places:
            raise self.refuse(f"EV {ev.value.hex()} of port {ev.port}", "an EV of the profile", errno.ENOENT)
        return places

    def replace(self, change: ReplaceEv) -> None:
        """Replace one EV, or all its copies, of an explicit profile that is OFFLINE."""
        if self.attr.mode is not EvSourceMode.EXPLICIT:
            raise self.refuse("an EV to replace", "a profile whose mode is EXPLICIT")
        if self.state is not ProfileState.OFFLINE:
            raise self.refuse(f"an EV to replace while {self.state.value}", "the profile moved to OFFLINE first")
        if change.state not in (EvState.GOOD, EvState.DENIED):
            raise self.refuse(f"state {change.state.name} of a new EV", "GOOD or DENIED")
        if not 1 <= change.new.port <= self._ports:
            raise self.refuse(f"port {change.new.port}", f"a port from 1 to {self._ports}")
        places = self.find(change.ev)
        for place in places if change.all_copies else places[:1]:
            taken = {slot.record.ev for slot in self._slots if slot is not None}
            record = change.new.record(self._draws, taken)
            self._slots[place] = _Slot(record, change.new, change.state is EvState.DENIED)

    def set_state(self, ev: Ev, state: EvState) -> list[tuple[EvRecord, bool]]:
        """Deny all copies of `ev`, or give them back; returns what changed, as `records` does."""
        if self.state is ProfileState.INIT:
            raise self.refuse("an EV's state in INIT", "the profile moved to OFFLINE first")
        if state not in (EvState.GOOD, EvState.DENIED):
            raise self.refuse(f"state {state.name} for an EV", "GOOD or DENIED")
        slots = [slot for slot in (self._slots[place] for place in self.find(ev)) if slot is not None]
        if not slots:
            raise self.refuse("the state of an entry without an EV", "an EV")
        for slot in slots:
            slot.denied = state is EvState.DENIED
        return [(slot.record, slot.denied) for slot in slots]

    # Attributes

    def _check(self, attr: EvProfileAttr) -> None:
        if attr.count is not None:
            room = self._room(self)
            if attr.count > room:
                raise self.refuse(f"{attr.count} EVs", f"at most {room}", errno.E2BIG)
            if attr.count < 1 or attr.count % self._ports:
                raise self.refuse(f"{attr.count} EVs", f"a multiple of the {self._ports} ports")
        if attr.min_active is not None and not 0 <= attr.min_active <= (attr.count or 0):
            raise self.refuse(f"{attr.min_active} EVs to keep active", f"0 to {attr.count or 0}, the number of EVs")
        if attr.event_mask is not None and attr.event_mask & ~(EvState.GOOD | EvState.ASSUMED_BAD):
            raise self.refuse(f"event mask {attr.event_mask.name}", "GOOD, ASSUMED_BAD, both or 0")
        if attr.mode is EvSourceMode.AUTO:
            if attr.fields or attr.format_id is not None:
                raise self.refuse("a format or fields of an AUTO profile", "neither")
        elif attr.format_id is not None:
            self._check_fields(attr, self._formats(attr.format_id))

    def _check_fields(self, attr: EvProfileAttr, format_profile: EvFormatProfile) -> None:
        if attr.fields is None:
            return
        ev_format = format_profile.format
        if ev_format is None:
            raise self.refuse(f"fields, with {format_profile.name} not configured", "a format with fields")
        if len(attr.fields) > len(ev_format.widths):
            most = len(ev_format.widths)
            raise self.refuse(f"{len(attr.fields)} fields", f"at most the {most} of the format", errno.E2BIG)
        with refusing(errno.EINVAL):
            template = EvTemplate(ev_format, attr.fields)
            if attr.mode is EvSourceMode.GENERATED and attr.count is not None:
                template.generate(attr.count, random.Random(self._seed))

    def _missing_for(self, to: ProfileState, attr: EvProfileAttr) -> str:
        named = attr.mode is not EvSourceMode.AUTO
        missing: tuple[tuple[bool, str], ...] = (
            (attr.mode is None, "a mode"),
            (named and attr.format_id is None, "a format profile"),
            (attr.count is None, "a number of EVs"),
            (attr.mode is EvSourceMode.GENERATED and attr.fields is None, "fields"),
        )
        if to is ProfileState.ONLINE:
            missing += (
                (attr.min_active is None, "a number of EVs to keep active"),
                (attr.event_mask is None, "an event mask"),
                (self._unpopulated(attr), "its EVs"),
                (named and not self._format_online(attr), f"EV format profile {attr.format_id} being ONLINE"),
                (self._outdated(attr), "its fields set anew, since the format has changed"),
            )
        return next((words for is_missing, words in missing if is_missing), "")

    def _unpopulated(self, attr: EvProfileAttr) -> bool:
        return attr.mode is EvSourceMode.EXPLICIT and (attr.count != len(self._slots) or None in self._slots)

    def _format_online(self, attr: EvProfileAttr) -> bool:
        return attr.format_id is not None and self._formats(attr.format_id).state is ProfileState.ONLINE

    def _format(self, attr: EvProfileAttr) -> EvFormat | None:
        return None if attr.format_id is None else self._formats(attr.format_id).format

    def _outdated(self, attr: EvProfileAttr) -> bool:
        return attr.mode is EvSourceMode.GENERATED and self._made_for != self._format(attr)

    def _user(self) -> str | None:
        return f"QP {self.users[0]}" if self.users else None

    def modify(self, attr: EvProfileAttr) -> None:
        """As `Profile.modify`; the format profile cannot leave ONLINE while an EV profile that has it is."""
        super().modify(attr)
        if attr.state is None or self.attr.format_id is None:
            return
        users = self._formats(self.attr.format_id).users
        if self.state is ProfileState.ONLINE:
            users.append(self.name)
        elif self.name in users:
            users.remove(self.name)

    def _changed(self, names: frozenset[str]) -> None:
        attr = self.attr
        if names.isdisjoint(("mode", "format_id", "count", "fields")):
            return
        if attr.mode is EvSourceMode.GENERATED:
            ev_format = self._format(attr)
            if ev_format is not None and attr.fields is not None and attr.count is not None:
                self._slots = list(self._generate(ev_format, attr.fields, attr.count))
                self._made_for = ev_format
        elif names != {"fields"}:
            self._slots = [None] * (attr.count or 0) if attr.mode is EvSourceMode.EXPLICIT else []

    def _generate(self, ev_format: EvFormat, fields: tuple[EvField, ...], count: int) -> Iterator[_Slot]:
        """Draw the EVs. Each leaves by the port whose uSIDs its path begins with; else they take ports in turn."""
        template = EvTemplate(ev_format, fields)
        for place, ev in enumerate(template.generate(count, random.Random(self._seed))):
            route = template.route(ev)
            port = self._port_of(route.address)
            record = EvRecord(ev, place % self._ports if port is None else port, route.address, route.segment)
            yield _Slot(record, Ev.of(record))

    def _cleared(self) -> None:
        self._slots = []
