"""Action profiles behind a P4Runtime server: members, groups of members, and the one-shot sets of single entries.

Clients number members and groups; the dataplane has handles of its own. As in BMv2's server, a member of weight n in a
group stands there n times, each time as a copy of its own in the dataplane, and a member that is in use stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pymodel.switch.p4runtime.codec import Refused, decode_action, invalid
from pymodel.switch.p4runtime.dataplane import Dataplane, Via
from pymodel.switch.p4runtime.externs import Add
from pymodel.switch.p4runtime.info import Profile, ProgramInfo, Table
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2

__all__ = ["ActionProfiles", "Choice"]

_MAX_WEIGHT = 256
"""Copies of one member in one group; more would be a mistake of the client."""


@dataclass(slots=True)
class Choice:
    """What an entry of a table with an action profile names instead of an action.

    `message` is the client's p4.v1.TableAction. A one-shot set owns its `members` and its `group` in the dataplane.
    """

    via: Via
    message: Any
    members: tuple[Any, ...] = ()
    group: Any = None


@dataclass(slots=True)
class _Member:
    message: Any
    action: str
    params: dict[str, int]
    handles: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    message: Any
    handle: Any


class ActionProfiles:
    """All action profiles of one pipeline."""

    def __init__(self, info: ProgramInfo, dataplane: Dataplane) -> None:
        self._info = info
        self._dataplane = dataplane
        self._members: dict[int, dict[int, _Member]] = {profile.id: {} for profile in info.profiles}
        self._groups: dict[int, dict[int, _Group]] = {profile.id: {} for profile in info.profiles}

    # --- members ---

    def write_member(self, kind: int, message: Any) -> None:
        """Insert, modify or delete a member."""
        profile = self._profile(message.action_profile_id)
        held, number = self._members[profile.id], message.member_id
        _check(kind, f"action profile {profile.name}: member {number}", number in held)
        if kind == p4runtime_pb2.Update.DELETE:
            for handle in held[number].handles:
                self._dataplane.delete_member(profile.name, handle)
            del held[number]
            return
        action, params = self._action(profile, message.action)
        if kind == p4runtime_pb2.Update.INSERT:
            handle = self._dataplane.add_member(profile.name, action, params)
            held[number] = _Member(_copy(message), action, params, [handle])
            return
        member = held[number]
        for handle in member.handles:
            self._dataplane.modify_member(profile.name, handle, action, params)
        member.message, member.action, member.params = _copy(message), action, params

    def read_members(self, request: Any, add: Add) -> None:
        """Add one member, a profile's (member id 0), or all (action profile id 0)."""
        for profile in self._asked(request.action_profile_id):
            held = self._members[profile.id]
            for number in _selected(held, request.member_id, f"action profile {profile.name}: member"):
                add().action_profile_member.CopyFrom(held[number].message)

    # --- groups ---

    def write_group(self, kind: int, message: Any) -> None:
        """Insert, modify or delete a group."""
        profile = self._profile(message.action_profile_id)
        if not profile.selector:
            raise invalid(f"action profile {profile.name}: it has no groups, for it has no selector")
        held, number = self._groups[profile.id], message.group_id
        where = f"action profile {profile.name}: group {number}"
        _check(kind, where, number in held)
        if kind == p4runtime_pb2.Update.DELETE:
            self._dataplane.delete_group(profile.name, held[number].handle)
            del held[number]
            return
        members = self._group_members(profile, message, where)
        if kind == p4runtime_pb2.Update.INSERT:
            held[number] = _Group(_copy(message), self._dataplane.add_group(profile.name, members))
        else:
            self._dataplane.modify_group(profile.name, held[number].handle, members)
            held[number].message = _copy(message)

    def read_groups(self, request: Any, add: Add) -> None:
        """Add one group, a profile's (group id 0), or all (action profile id 0)."""
        for profile in self._asked(request.action_profile_id):
            held = self._groups[profile.id]
            for number in _selected(held, request.group_id, f"action profile {profile.name}: group"):
                add().action_profile_group.CopyFrom(held[number].message)

    def _group_members(self, profile: Profile, message: Any, where: str) -> list[Any]:
        if not message.max_size >= 0 or 0 < profile.max_group_size < message.max_size:
            raise invalid(f"{where}: maximum size {message.max_size}; the profile's is {profile.max_group_size}")
        chosen = []
        for part in message.members:
            member = self._members[profile.id].get(part.member_id)
            if member is None:
                raise Refused(code_pb2.NOT_FOUND, f"{where}: there is no member {part.member_id}")
            _check_weight(part.weight, where)
            while len(member.handles) < part.weight:
                member.handles.append(self._dataplane.add_member(profile.name, member.action, member.params))
            chosen += member.handles[: part.weight]
        if len({part.member_id for part in message.members}) != len(message.members):
            raise invalid(f"{where}: a member is named twice")
        limit = message.max_size or profile.max_group_size
        if limit and len(chosen) > limit:
            raise Refused(code_pb2.RESOURCE_EXHAUSTED, f"{where}: {len(chosen)} members; at most {limit}")
        return chosen

    # --- entries ---

    def choose(self, table: Table, message: Any) -> Choice:
        """Return what a p4.v1.TableAction of an entry of `table` names; a one-shot set is made in the dataplane."""
        profile = self._info.profiles.by_id[table.action_profile]
        which = message.WhichOneof("type")
        if which == "action_profile_member_id":
            member = self._members[profile.id].get(message.action_profile_member_id)
            if member is None:
                raise Refused(code_pb2.NOT_FOUND, f"table {table.name}: there is no such member")
            return Choice(("member", member.handles[0]), _copy(message))
        if which == "action_profile_group_id":
            group = self._groups[profile.id].get(message.action_profile_group_id)
            if group is None:
                raise Refused(code_pb2.NOT_FOUND, f"table {table.name}: there is no such group")
            return Choice(("group", group.handle), _copy(message))
        if which == "action_profile_action_set":
            return self._choose_of_set(table, profile, message)
        raise invalid(f"table {table.name}: an entry names a member, a group or a set of actions")

    def release(self, table: Table, choice: Choice | None) -> None:
        """Remove what the one-shot set of an entry that is gone owned."""
        if choice is None or choice.group is None:
            return
        profile = self._info.profiles.by_id[table.action_profile]
        self._dataplane.delete_group(profile.name, choice.group)
        for member in choice.members:
            self._dataplane.delete_member(profile.name, member)

    def _choose_of_set(self, table: Table, profile: Profile, message: Any) -> Choice:
        if not profile.selector:
            raise invalid(f"table {table.name}: a set of actions needs a selector")
        wanted: list[tuple[str, dict[str, int]]] = []
        for part in message.action_profile_action_set.action_profile_actions:
            _check_weight(part.weight, f"table {table.name}")
            wanted += [self._action(profile, part.action)] * part.weight
        members: list[Any] = []
        try:
            for action, params in wanted:
                members.append(self._dataplane.add_member(profile.name, action, params))
            group = self._dataplane.add_group(profile.name, members)
        except Refused:
            for member in members:
                self._dataplane.delete_member(profile.name, member)
            raise
        return Choice(("group", group), _copy(message), tuple(members), group)

    # --- what they need ---

    def _profile(self, number: int) -> Profile:
        profile = self._info.profiles.by_id.get(number)
        if profile is None:
            raise invalid(f"no action profile has the id {number:#x}")
        return profile

    def _asked(self, number: int) -> Sequence[Profile]:
        return [self._profile(number)] if number else list(self._info.profiles)

    def _action(self, profile: Profile, message: Any) -> tuple[str, dict[str, int]]:
        # The tables of a profile use the same actions.
        table = self._info.tables.by_id[profile.tables[0]]
        action, params = decode_action(self._info, table, message, default=False)
        return action.name, params


def _check(kind: int, where: str, present: bool) -> None:
    update = p4runtime_pb2.Update
    if kind not in (update.INSERT, update.MODIFY, update.DELETE):
        raise invalid("the update has no type")
    if kind == update.INSERT and present:
        raise Refused(code_pb2.ALREADY_EXISTS, f"{where}: it exists")
    if kind != update.INSERT and not present:
        raise Refused(code_pb2.NOT_FOUND, f"{where}: there is none")


def _check_weight(weight: int, where: str) -> None:
    if not 0 < weight <= _MAX_WEIGHT:
        raise invalid(f"{where}: weight {weight}; 1 to {_MAX_WEIGHT} are possible")


def _selected(held: dict[int, Any], number: int, where: str) -> list[int]:
    if number == 0:
        return list(held)
    if number not in held:
        raise Refused(code_pb2.NOT_FOUND, f"{where} {number}: there is none")
    return [number]


def _copy(message: Any) -> Any:
    kept = type(message)()
    kept.CopyFrom(message)
    return kept
