"""Action profiles: actions kept as members, and groups of members of which a hash chooses one for each packet.

Handles are given in rising order, the lowest free one first, as BMv2 gives them; a group's members are numbered in the
order of their handles, which decides what a hash chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymodel.switch.engine import ir
from pymodel.switch.engine.entries import Binder, Problem, Run, TableError, check_arguments

__all__ = ["ActionProfile", "Group", "Member"]


class Member:
    """An action with its arguments. `references` counts the entries and groups that use it."""

    __slots__ = ("action", "action_id", "arguments", "handle", "references", "run")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.action = ""
        self.action_id = -1
        self.arguments: tuple[int, ...] = ()
        self.references = 0
        self.run: Run


class Group:
    """Members in the order of their handles. `references` counts the entries that use it."""

    __slots__ = ("handle", "members", "references")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.members: list[Member] = []
        self.references = 0

    def choose(self, number: int) -> Member | None:
        """The member that a hash value falls on, None when the group is empty."""
        return self.members[number % len(self.members)] if self.members else None


class ActionProfile:
    """One action profile, with a selector (`has_selector`) or without."""

    def __init__(
        self,
        profile: ir.ActionProfile,
        actions: Mapping[str, ir.Action],
        bind: Binder,
    ) -> None:
        self.name = profile.name
        self.max_size = profile.max_size
        self.has_selector = profile.algorithm is not None
        self.members: dict[int, Member] = {}
        self.groups: dict[int, Group] = {}
        self._actions = actions
        self._bind = bind
        self._where = f"action profile {profile.name}"

    def add_member(self, action: str, arguments: Sequence[int] = ()) -> int:
        """Add a member and return its handle."""
        if len(self.members) >= self.max_size:
            raise self._error("full", f"member number {len(self.members) + 1}", f"at most {self.max_size}")
        member = Member(_lowest_free(self.members))
        self._set(member, action, arguments)
        self.members[member.handle] = member
        return member.handle

    def modify_member(self, handle: int, action: str, arguments: Sequence[int] = ()) -> None:
        """Give a member another action, in every entry and group that uses it."""
        self._set(self.member(handle), action, arguments)

    def delete_member(self, handle: int) -> None:
        """Remove a member that nothing uses."""
        if self.member(handle).references:
            raise self._error("invalid", f"member {handle} in use", "one that no entry or group uses")
        del self.members[handle]

    def member(self, handle: int) -> Member:
        """The member with this handle."""
        if handle not in self.members:
            raise self._error("missing", f"member {handle}", "the handle of a member")
        return self.members[handle]

    def create_group(self, members: Sequence[int] = ()) -> int:
        """Create a group of these members and return its handle."""
        if not self.has_selector:
            raise self._error("invalid", "a group", "members alone: there is no selector")
        chosen = [self.member(handle) for handle in members]
        group = Group(_lowest_free(self.groups))
        self.groups[group.handle] = group
        self._fill(group, chosen)
        return group.handle

    def set_group(self, handle: int, members: Sequence[int]) -> None:
        """Replace a group's members."""
        self._fill(self.group(handle), [self.member(each) for each in members])

    def delete_group(self, handle: int) -> None:
        """Remove a group that no entry uses."""
        group = self.group(handle)
        if group.references:
            raise self._error("invalid", f"group {handle} in use", "one that no entry uses")
        self._fill(group, [])
        del self.groups[handle]

    def group(self, handle: int) -> Group:
        """The group with this handle."""
        if handle not in self.groups:
            raise self._error("missing", f"group {handle}", "the handle of a group")
        return self.groups[handle]

    def _fill(self, group: Group, members: list[Member]) -> None:
        if len({member.handle for member in members}) < len(members):
            raise self._error("duplicate", f"a member twice in group {group.handle}", "each member once")
        for member in members:
            member.references += 1
        for member in group.members:
            member.references -= 1
        group.members = sorted(members, key=lambda member: member.handle)

    def _set(self, member: Member, action: str, arguments: Sequence[int]) -> None:
        known = self._actions.get(action)
        if known is None:
            raise self._error("invalid", f"action {action!r}", f"one of {', '.join(self._actions)}")
        checked = check_arguments(self._where, known, arguments)
        member.run = self._bind(known.id, checked)
        member.action, member.action_id, member.arguments = action, known.id, checked

    def _error(self, problem: Problem, found: str, expected: str) -> TableError:
        return TableError(problem, self._where, found, expected)


def _lowest_free(handles: Mapping[int, object]) -> int:
    return next(number for number in range(len(handles) + 1) if number not in handles)
