"""What the controller's profiles have in common, and the EV format profile (mrc-facts.md 2.2).

A profile is named by a number, 1 to 64 bits wide, and lives INIT -> OFFLINE -> ONLINE -> OFFLINE -> INIT. Its
attributes are set in OFFLINE or on the way there, and may go along with the move to ONLINE. A call gives those
attributes that it means to change; the others are None, which stands for a mask bit that is not set. It takes effect
as a whole or not at all.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Generic, TypeVar

from pymodel.paths.ev import EvFormat
from pymodel.verbs.errors import VerbsError, refusing
from pymodel.wire.spec import EvFormatMode

__all__ = ["EvFormatProfile", "EvFormatProfileAttr", "Profile", "ProfileAttr", "ProfileState"]


class ProfileState(Enum):
    """Life of a profile (OCP `mrc_ctl_profile_state`)."""

    INIT = "INIT"
    """Nothing is set."""
    OFFLINE = "OFFLINE"
    """Configured, not usable."""
    ONLINE = "ONLINE"
    """QPs may use it."""


_NEXT_STATES = {
    ProfileState.INIT: (ProfileState.OFFLINE,),
    ProfileState.OFFLINE: (ProfileState.ONLINE, ProfileState.INIT),
    ProfileState.ONLINE: (ProfileState.OFFLINE,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAttr:
    """Attributes of every profile: `state` moves it, `cur_state` makes the call depend on the state it is in."""

    state: ProfileState | None = None
    cur_state: ProfileState | None = None


A = TypeVar("A", bound=ProfileAttr)


class Profile(Generic[A]):
    """State, attributes, and the rules by which they change. `attr` holds what has been set, with no state."""

    def __init__(self, name: str, empty: A) -> None:
        self.name = name
        self.state = ProfileState.INIT
        self.attr = empty
        self._empty = empty

    def modify(self, attr: A) -> None:
        """Set the attributes of `attr` that are not None, then move to its state, if it names one.

        VerbsError: EINVAL for what is wrong or comes in the wrong state, EBUSY while the profile is in use, E2BIG for
        more than the device can take.
        """
        given = {
            each.name: getattr(attr, each.name)
            for each in fields(attr)
            if each.name not in ("state", "cur_state") and getattr(attr, each.name) is not None
        }
        self._admit(attr, bool(given))
        merged = replace(self.attr, **given)
        self._check(merged)
        if attr.state is not None:
            self._check_move(attr.state, merged)
        self.attr = merged
        if given:
            self._changed(frozenset(given))
        if attr.state is not None:
            self.state = attr.state
            if attr.state is ProfileState.INIT:
                self.attr = self._empty
                self._cleared()

    def query(self) -> A:
        """Every attribute as it stands, the state included."""
        return replace(self.attr, state=self.state)

    def refuse(self, found: str, expected: str, code: int = errno.EINVAL) -> VerbsError:
        """An error about this profile."""
        return VerbsError(code, self.name, found, expected)

    def _admit(self, attr: A, changes: bool) -> None:
        if attr.cur_state not in (None, self.state):
            raise self.refuse(f"state {self.state.value}", f"the state {attr.cur_state.value} that the call names")
        if changes and self.state is ProfileState.ONLINE:
            raise self.refuse("a change while ONLINE", "the profile moved to OFFLINE first")
        if changes and self.state is ProfileState.INIT and attr.state is not ProfileState.OFFLINE:
            raise self.refuse("attributes of a profile in INIT", "a move to OFFLINE with them")
        if changes and attr.state is ProfileState.INIT:
            raise self.refuse("attributes together with a move to INIT", "the move alone, which clears them")

    def _check_move(self, to: ProfileState, attr: A) -> None:
        if to not in _NEXT_STATES[self.state]:
            legal = " or ".join(state.value for state in _NEXT_STATES[self.state])
            raise self.refuse(f"a move from {self.state.value} to {to.value}", f"a move to {legal}")
        missing = "" if to is ProfileState.INIT or self.state is ProfileState.ONLINE else self._missing_for(to, attr)
        if missing:
            raise self.refuse(f"a move to {to.value} without {missing}", f"{missing} first")
        user = self._user() if self.state is ProfileState.ONLINE else None
        if user is not None:
            raise self.refuse(f"{user} using it", "a profile that nothing uses", errno.EBUSY)

    def _check(self, attr: A) -> None:
        """Refuse what is wrong about `attr` in whatever state."""
        raise NotImplementedError

    def _missing_for(self, to: ProfileState, attr: A) -> str:
        """What of `attr` is missing for the move, in words; empty when nothing is."""
        raise NotImplementedError

    def _user(self) -> str | None:
        """What uses the profile, in words."""
        raise NotImplementedError

    def _changed(self, names: frozenset[str]) -> None:
        """The attributes `names` were set."""

    def _cleared(self) -> None:
        """The profile is back in INIT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvFormatProfileAttr(ProfileAttr):
    """Attributes of an EV format profile (OCP `mrc_ctl_ev_fmt_profile_attr`)."""

    mode: EvFormatMode | None = None
    fields: tuple[int, ...] | None = None
    """Widths of the fields on the wire in bits, most significant first."""


class EvFormatProfile(Profile[EvFormatProfileAttr]):
    """An EV format under the controller's management. `users` are the ONLINE EV profiles that have it."""

    def __init__(self, name: str, modes: frozenset[EvFormatMode]) -> None:
        super().__init__(name, EvFormatProfileAttr())
        self.users: list[str] = []
        self._modes = modes

    @property
    def format(self) -> EvFormat | None:
        """The format, once mode and fields are set."""
        if self.attr.mode is None or self.attr.fields is None:
            return None
        return EvFormat(self.attr.mode, self.attr.fields)

    def _check(self, attr: EvFormatProfileAttr) -> None:
        if attr.mode is not None and attr.mode not in self._modes:
            known = " or ".join(sorted(mode.name for mode in self._modes))
            raise self.refuse(f"EV format mode {attr.mode.name}", f"{known}, as the device has")
        if attr.mode is None or attr.fields is None:
            return
        widths_fit = all(1 <= width <= 32 for width in attr.fields)
        with refusing(errno.E2BIG if widths_fit else errno.EINVAL):
            EvFormat(attr.mode, attr.fields)

    def _missing_for(self, to: ProfileState, attr: EvFormatProfileAttr) -> str:
        if attr.mode is None:
            return "a mode"
        return "fields" if to is ProfileState.ONLINE and not attr.fields else ""

    def _user(self) -> str | None:
        return self.users[0] if self.users else None
