"""One timer of a core, moved without telling the caller each time.

A deadline that moves later is only noted: when the caller's timer fires early, it is set again for what is left. A busy
QP so sets one timer per interval, not one per packet.
"""

from __future__ import annotations

from pymodel.nic.events import Action, CancelTimer, SetTimer, TimerFired

__all__ = ["Timer"]


class Timer:
    """A deadline in ps, or none, and the caller's timer that watches it."""

    __slots__ = ("_generation", "_set_for_ps", "deadline_ps", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self.deadline_ps: int | None = None
        self._set_for_ps: int | None = None
        self._generation = 0

    def start(self, at_ps: int, out: list[Action]) -> None:
        """Make `at_ps` the deadline."""
        self.deadline_ps = at_ps
        if self._set_for_ps is None or at_ps < self._set_for_ps:
            self._set(at_ps, out)

    def stop(self, out: list[Action]) -> None:
        """Have no deadline."""
        self.deadline_ps = None
        if self._set_for_ps is not None:
            self._set_for_ps = None
            out.append(CancelTimer(self.key))

    def rest(self) -> None:
        """Have no deadline for the moment; the caller's timer may run out, unheard."""
        self.deadline_ps = None

    def fired(self, event: TimerFired, now_ps: int, out: list[Action]) -> bool:
        """Take the caller's timer; True when the deadline has come, which also removes it."""
        if self._set_for_ps is None or event.generation != self._generation:
            return False
        self._set_for_ps = None
        if self.deadline_ps is None:
            return False
        if now_ps < self.deadline_ps:
            self._set(self.deadline_ps, out)
            return False
        self.deadline_ps = None
        return True

    def _set(self, at_ps: int, out: list[Action]) -> None:
        self._generation += 1
        self._set_for_ps = at_ps
        out.append(SetTimer(self.key, at_ps, self._generation))
