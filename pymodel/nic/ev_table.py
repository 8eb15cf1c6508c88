"""A QP's EVs and their states: which one the next packet takes, and what feedback does to it (mrc-facts.md 2.1, 2.3).

Every packet takes the next GOOD EV of the rotation whose local port is up; `ev_order` says how a rotation is ordered.
An EV in SKIP misses one turn. An EV that lost a packet untrimmed is retired (ASSUMED_BAD); a backup of the same plane
takes its place, so that the load on the planes stays equal. A plane's EVs are never retired below its share of the
floor (`min_active`), which guards against calling everything bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from pymodel.base.errors import InputError
from pymodel.nic.ev_order import EvOrder
from pymodel.paths.ev import EvRecord
from pymodel.wire.headers import Segment

__all__ = ["EvSlot", "EvState", "EvTable"]


class EvState(Enum):
    """State of an EV (mrc-facts.md 2.3)."""

    GOOD = "GOOD"
    SKIP = "SKIP"
    """Misses its next turn, then is GOOD again."""
    ASSUMED_BAD = "ASSUMED_BAD"
    """Retired by an untrimmed loss or ALWAYS_SKIP; only answered probes bring it back."""
    DENIED = "DENIED"
    """Taken out by the administrator."""


_GOOD = EvState.GOOD


class EvSlot:
    """One EV with its state and what happened to it."""

    __slots__ = ("drops", "ev", "path", "port", "probe_successes", "record", "sent", "state")

    def __init__(self, record: EvRecord) -> None:
        self.record = record
        self.ev = record.ev
        self.port = record.port
        route = (record.address,) if record.segment is None else (record.address, record.segment)
        self.path = b"".join(Segment(address=address).pack() for address in route)
        """Outer destination, and behind it the SRH segment if there is one, as bytes."""
        self.state = EvState.GOOD
        self.sent = 0
        """Data packets sent on it; of an EV for answers, answers."""
        self.drops = 0
        """Untrimmed losses blamed on it."""
        self.probe_successes = 0
        """Probes answered in a row since it was retired."""


class EvTable:
    """The active EVs of a QP and its backups."""

    def __init__(
        self,
        records: Sequence[EvRecord],
        seed: int,
        backups: Sequence[EvRecord] = (),
        min_active: int | None = None,
    ) -> None:
        """Start with all EVs GOOD and all ports up.

        `seed` (32 bits, not 0) settles the order; `min_active` is the floor, a quarter of the set unless given.
        """
        every = (*records, *backups)
        if len({record.ev for record in every}) != len(every):
            raise InputError("EV set", "an EV twice", "different EVs")
        floor = len(records) // 4 if min_active is None else min_active
        if not 0 <= floor <= len(records):
            raise InputError("EV set", f"a floor of {floor} EVs", f"0 to {len(records)}")
        self._order = EvOrder(len(records), seed)
        self._active = [EvSlot(record) for record in records]
        self._backups = [EvSlot(record) for record in backups]
        self._by_ev = {slot.ev: slot for slot in (*self._active, *self._backups)}
        self.retired: list[EvSlot] = []
        """EVs in ASSUMED_BAD, the one retired first leading."""
        ports = sorted({slot.port for slot in self._active})
        self._floor = {port: max(1, floor * self._usable(port) // len(records)) for port in ports}
        self._down: set[int] = set()
        self._rotation: list[int] = []
        self._turn = 0

    def slots(self) -> list[EvSlot]:
        """Every EV, the active ones first, in the order in which they were given."""
        return list(self._by_ev.values())

    def find(self, ev: int) -> EvSlot | None:
        """The slot of the 32-bit `ev`, or None for an EV that is not of this set."""
        return self._by_ev.get(ev)

    def next(self, avoid: EvSlot | None = None) -> EvSlot | None:
        """Take the EV for the next packet.

        `avoid` is the EV on which this packet just failed; it is taken only when no other is usable. None when
        every EV is out of use or every port down.
        """
        # A whole rotation may go to EVs whose turn is missed, so the second one decides, whatever turn the first
        # starts at.
        for _ in range(3 * len(self._active)):
            if self._turn == len(self._rotation):
                self._rotation = self._order.rotation()
                self._turn = 0
            slot = self._active[self._rotation[self._turn]]
            self._turn += 1
            if slot.state is _GOOD:
                if slot is not avoid and slot.port not in self._down:
                    slot.sent += 1
                    return slot
            elif slot.state is EvState.SKIP:
                slot.state = _GOOD
        if avoid is not None and avoid.state is EvState.GOOD and avoid.port not in self._down:
            avoid.sent += 1
            return avoid
        return None

    def take(self, count: int) -> list[EvSlot]:
        """Take the EVs for the next `count` packets, or as many as there are."""
        slots: list[EvSlot] = []
        active, down = self._active, self._down
        for index in self._rotation[self._turn : self._turn + count]:
            slot = active[index]
            if slot.state is not _GOOD or slot.port in down:
                break
            slot.sent += 1
            slots.append(slot)
        self._turn += len(slots)
        while len(slots) < count and (found := self.next()) is not None:
            slots.append(found)
        return slots

    def skip_once(self, ev: int) -> None:
        """ECN mark or trim: the EV misses its next turn. Unknown EVs, and EVs not GOOD, are left as they are."""
        slot = self._by_ev.get(ev)
        if slot is not None and slot.state is EvState.GOOD:
            slot.state = EvState.SKIP

    def assume_bad(self, slot: EvSlot) -> bool:
        """An untrimmed loss or ALWAYS_SKIP: retire the EV. False when it is out of use already or the floor forbids."""
        if slot.state not in (EvState.GOOD, EvState.SKIP):
            return False
        if not self._replace(slot) and self._usable(slot.port) <= self._floor.get(slot.port, 1):
            return False
        slot.state = EvState.ASSUMED_BAD
        slot.probe_successes = 0
        self.retired.append(slot)
        return True

    def restore(self, slot: EvSlot, skip: bool = False) -> None:
        """Probes were answered: the EV is GOOD again (SKIP with `skip`), as a backup if another took its place."""
        if slot.state is not EvState.ASSUMED_BAD:
            return
        self.retired.remove(slot)
        slot.state = EvState.SKIP if skip else EvState.GOOD
        if slot not in self._active and slot not in self._backups:
            self._backups.append(slot)

    def set_denied(self, slot: EvSlot, denied: bool) -> None:
        """The administrator takes an EV out of use, whatever the floor says, or gives it back (GOOD).

        A backup of the same plane takes its place; given back, it is a backup then.
        """
        if slot.state is EvState.ASSUMED_BAD:
            self.retired.remove(slot)
        if denied:
            self._replace(slot)
        slot.state = EvState.DENIED if denied else EvState.GOOD
        if not denied and slot not in self._active and slot not in self._backups:
            self._backups.append(slot)

    def _replace(self, slot: EvSlot) -> bool:
        """Put a good backup of the same plane into the place of an active EV; False when that can't be done."""
        backup = next((each for each in self._backups if each.port == slot.port and each.state is EvState.GOOD), None)
        if backup is None or slot not in self._active:
            return False
        self._backups.remove(backup)
        self._active[self._active.index(slot)] = backup
        return True

    def set_port(self, port: int, up: bool) -> None:
        """The plane of `port` went up or down, here or at the peer: EVs of a plane that is down are passed over."""
        if up:
            self._down.discard(port)
        else:
            self._down.add(port)

    def is_up(self, port: int) -> bool:
        """The plane of `port` is up."""
        return port not in self._down

    @property
    def any_up(self) -> bool:
        """Some plane that an active EV uses is up."""
        return not self._floor.keys() <= self._down

    def _usable(self, port: int) -> int:
        return sum(1 for slot in self._active if slot.port == port and slot.state in (EvState.GOOD, EvState.SKIP))
