"""Match-action tables and action profiles of a running program, as the control plane changes them.

Names are those of the BMv2 JSON, which are also those of the P4Info. Every change is checked first, and what is wrong
is a `TableError` that names the table and the key; nothing is ever half done. The generated code looks entries up
through `Table.find` and runs `Entry.run`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pymodel.switch.engine import ir
from pymodel.switch.engine.entries import Binder, Run, TableError, check_arguments
from pymodel.switch.engine.externs import Meter, MeterRates
from pymodel.switch.engine.lookup import Match, make_lookup
from pymodel.switch.engine.profiles import ActionProfile, Group, Member

__all__ = ["Entry", "MatchValue", "Table"]

MatchValue: TypeAlias = int | tuple[int, int] | None
"""exact, optional: int; lpm: (value, prefix length); ternary: (value, mask); range: (low, high). None: don't care."""


class Entry:
    """One entry, or a table's default. `packets` and `bytes` are its direct counter, `last_hit` the time in ps of its
    last hit where the table supports timeouts."""

    __slots__ = (
        "action",
        "action_id",
        "arguments",
        "bytes",
        "group",
        "handle",
        "last_hit",
        "match",
        "member",
        "meter",
        "packets",
        "priority",
        "run",
    )

    def __init__(self) -> None:
        self.handle = -1
        self.match: Match = ()
        self.priority = 0
        self.action = ""
        self.action_id = -1
        self.arguments: tuple[int, ...] = ()
        self.run: Run = _nothing
        self.member: Member | None = None
        self.group: Group | None = None
        self.packets = 0
        self.bytes = 0
        self.last_hit = 0
        self.meter = Meter()


def _nothing(packet: Any) -> None:
    """What a table without a default action does on a miss."""


class Table:
    """One table. `miss` is the entry used when no key matches; `find` is what the generated code calls."""

    def __init__(
        self,
        table: ir.Table,
        actions: Mapping[int, ir.Action],
        bind: Binder,
        profile: ActionProfile | None,
    ) -> None:
        self.name = table.name
        self.keys = table.keys
        self.match_type = table.match_type
        self.max_size = table.max_size
        self.size = 0
        self.constant = table.entries is not None
        self.profile = profile
        self.miss = Entry()
        self._table = table
        self._where = f"table {table.name}"
        self._actions = {name: actions[number] for name, number in table.actions.items()}
        self._bind = bind
        self._lookup = make_lookup(table) if table.keys else None
        self._entries: dict[int, Entry] = {}
        self._handles: dict[tuple[Match, int], int] = {}
        self._free: list[int] = []
        self._names = {action.id: action.name for action in self._actions.values()}
        self.find = self._lookup.find if self._lookup is not None else None
        self.reset_default()
        for entry in table.entries or ():
            self._add_static(entry, actions)

    # --- entries ---

    def insert(
        self,
        match: Mapping[str, MatchValue],
        action: str = "",
        arguments: Sequence[int] = (),
        priority: int = 0,
        *,
        member: int | None = None,
        group: int | None = None,
    ) -> int:
        """Add an entry and return its handle.

        A key that is left out is don't care, which an exact key cannot be. `priority` is above 0 for tables with
        ternary, optional or range keys, where the larger wins, and 0 for all others. An entry of a table with an action
        profile names a `member` or a `group` (by handle) instead of an action.
        """
        self._check_mutable()
        if self._lookup is None:
            raise TableError("invalid", self._where, "an entry", "none: the table has no key")
        checked = self._check_match(match)
        self._check_priority(priority)
        entry = Entry()
        self._set_action(entry, action, arguments, member, group)
        if (checked, priority) in self._handles:
            self._release(entry)
            raise TableError("duplicate", self._where, f"a second entry for {dict(match)}", "one entry for each match")
        if self.size >= self.max_size:
            self._release(entry)
            raise TableError("full", self._where, f"entry number {self.size + 1}", f"at most {self.max_size}")
        self._place(entry, checked, priority, -priority)
        return entry.handle

    def modify(
        self,
        handle: int,
        action: str = "",
        arguments: Sequence[int] = (),
        *,
        member: int | None = None,
        group: int | None = None,
    ) -> None:
        """Give an entry another action; its counter and meter stay."""
        self._check_mutable()
        entry = self.get(handle)
        before = entry.member, entry.group
        self._set_action(entry, action, arguments, member, group)
        for item in before:
            if item is not None:
                item.references -= 1

    def delete(self, handle: int) -> None:
        """Remove an entry."""
        self._check_mutable()
        entry = self.get(handle)
        assert self._lookup is not None
        self._lookup.remove(entry.match, (-entry.priority, handle))
        self._release(entry)
        del self._entries[handle], self._handles[entry.match, entry.priority]
        heapq.heappush(self._free, handle)
        self.size -= 1

    def get(self, handle: int) -> Entry:
        """The entry with this handle."""
        entry = self._entries.get(handle)
        if entry is None:
            raise TableError("missing", self._where, f"handle {handle}", "the handle of an entry")
        return entry

    def handle(self, match: Mapping[str, MatchValue], priority: int = 0) -> int:
        """The handle of the entry with this match and priority."""
        handle = self._handles.get((self._check_match(match), priority))
        if handle is None:
            raise TableError("missing", self._where, f"no entry for {dict(match)}", "the match of an entry")
        return handle

    def entries(self) -> Iterator[Entry]:
        """The entries in the order of their handles."""
        yield from (self._entries[handle] for handle in sorted(self._entries))

    def match_of(self, entry: Entry) -> dict[str, int | tuple[int, int]]:
        """An entry's match by the names of the keys."""
        return {key.name: part for key, part in zip(self.keys, entry.match, strict=True)}

    def clear(self) -> None:
        """Remove every entry that the control plane may remove, and reset the default action."""
        if not self.constant:
            for handle in list(self._entries):
                self.delete(handle)
        self.reset_default()

    # --- the default action ---

    def set_default(self, action: str, arguments: Sequence[int] = ()) -> None:
        """Set the action of a miss."""
        default = self._table.default
        if self.profile is not None:
            raise TableError("invalid", self._where, "a default action", "none: the table uses an action profile")
        if default is not None and default.constant_entry:
            raise TableError("constant", self._where, "a change of the default action", "none: it is constant")
        known = self._actions.get(action)
        if default is not None and default.constant_action and known is not None and known.id != default.action:
            raise TableError("constant", self._where, f"default action {action}", self._names[default.action])
        self._set_action(self.miss, action, arguments, None, None)

    def reset_default(self) -> None:
        """Set the default action of the program."""
        default = self._table.default
        if default is None:
            self.miss.action, self.miss.action_id, self.miss.arguments, self.miss.run = "", -1, (), _nothing
            return
        self.miss.action = self._names.get(default.action, "")
        self.miss.action_id = default.action
        self.miss.arguments = default.arguments
        self.miss.run = self._bind(default.action, default.arguments)

    # --- direct resources ---

    @property
    def has_counters(self) -> bool:
        """Whether the table has a direct counter."""
        return self._table.with_counters

    @property
    def has_meter(self) -> bool:
        """Whether the table has a direct meter."""
        return self._table.direct_meter is not None

    def set_meter(self, handle: int, rates: MeterRates | None) -> None:
        """Set the rates of an entry's direct meter."""
        if not self.has_meter:
            raise TableError("invalid", self._where, "meter rates", "none: the table has no direct meter")
        self.get(handle).meter.set(rates, self._where)

    # --- checks ---

    def _check_mutable(self) -> None:
        if self.constant:
            raise TableError("constant", self._where, "a change of its entries", "none: they are constant")

    def _check_priority(self, priority: int) -> None:
        if self.match_type in ("ternary", "range"):
            if not 0 < priority < 1 << 31:
                raise TableError("invalid", self._where, f"priority {priority}", "1 to 2147483647")
        elif priority:
            raise TableError("invalid", self._where, f"priority {priority}", "0: its keys cannot overlap at one length")

    def _check_match(self, match: Mapping[str, MatchValue]) -> Match:
        names = [key.name for key in self.keys]
        for name in match:
            if name not in names:
                raise TableError("invalid", self._where, f"key {name}", f"one of {', '.join(names)}")
        return tuple(self._check_key(key, match.get(key.name)) for key in self.keys)

    def _check_key(self, key: ir.TableKey, value: MatchValue) -> int | tuple[int, int]:
        where = f"{self._where}, key {key.name}"
        full = (1 << key.width) - 1
        mask = full if key.mask is None else key.mask
        if value is None:
            if key.kind == "exact":
                raise TableError("invalid", where, "no value", "one: the key is exact")
            return (0, full) if key.kind == "range" else (0, 0)
        if isinstance(value, int) and key.kind in ("exact", "ternary"):
            if not 0 <= value <= full:
                raise TableError("invalid", where, f"{value:#x}", f"a value of {key.width} bits")
            return value & mask if key.kind == "exact" else (value & mask, full)
        if isinstance(value, int) or key.kind == "exact":
            raise TableError("invalid", where, f"{value!r}", f"a match of kind {key.kind}")
        first, second = value
        limit = key.width if key.kind == "lpm" else full
        if not 0 <= first <= full or not 0 <= second <= limit:
            raise TableError("invalid", where, f"({first:#x}, {second:#x})", f"values of {key.width} bits")
        if key.kind == "range":
            if first > second:
                raise TableError("invalid", where, f"{first:#x} to {second:#x}", "a range from low to high")
            return first, second
        care = full ^ ((1 << key.width - second) - 1) if key.kind == "lpm" else second
        if first & ~care:
            raise TableError("invalid", where, f"{first:#x} under mask {care:#x}", "no bits outside the mask")
        return first & mask, second

    # --- changes ---

    def _set_action(
        self, entry: Entry, action: str, arguments: Sequence[int], member: int | None, group: int | None
    ) -> None:
        if self.profile is not None:
            if (member is None) == (group is None) or action:
                raise TableError(
                    "invalid", self._where, "an entry's action", "a member or a group of its action profile"
                )
            chosen = self.profile.member(member) if member is not None else None
            several = self.profile.group(group) if group is not None else None
            entry.member, entry.group = chosen, several
            for item in (chosen, several):
                if item is not None:
                    item.references += 1
            return
        if member is not None or group is not None:
            raise TableError("invalid", self._where, "a member or group", "an action: the table has no action profile")
        known = self._actions.get(action)
        if known is None:
            raise TableError("invalid", self._where, f"action {action!r}", f"one of {', '.join(self._actions)}")
        checked = check_arguments(self._where, known, arguments)
        entry.run = self._bind(known.id, checked)
        entry.action, entry.action_id, entry.arguments = action, known.id, checked

    @staticmethod
    def _release(entry: Entry) -> None:
        for item in (entry.member, entry.group):
            if item is not None:
                item.references -= 1

    def _place(self, entry: Entry, match: Match, priority: int, rank: int) -> None:
        entry.handle = heapq.heappop(self._free) if self._free else self.size
        entry.match, entry.priority = match, priority
        self._entries[entry.handle] = entry
        self._handles[match, priority] = entry.handle
        assert self._lookup is not None
        self._lookup.add(match, (rank, entry.handle), entry)
        self.size += 1

    def _add_static(self, static: ir.StaticEntry, actions: Mapping[int, ir.Action]) -> None:
        parts: list[int | tuple[int, int]] = []
        for key, part in zip(self.keys, static.match, strict=True):
            mask = (1 << key.width) - 1 if key.mask is None else key.mask
            if key.kind == "ternary":
                assert isinstance(part, tuple)
                parts.append((part[0] & part[1] & mask, part[1]))
            else:
                parts.append(part & mask if isinstance(part, int) else part)
        entry = Entry()
        entry.action, entry.action_id = actions[static.action].name, static.action
        entry.arguments, entry.run = static.arguments, self._bind(static.action, static.arguments)
        # In the JSON the smaller number wins, for the control plane the larger: BMv2's P4Runtime server turns one into
        # the other by this difference, which is therefore the priority that a read of the table shows.
        shown = (1 << 31) - 1 - static.priority if self.match_type in ("ternary", "range") else 0
        if (tuple(parts), shown) in self._handles:
            raise TableError("duplicate", self._where, "two equal entries in the program", "one entry for each match")
        self._place(entry, tuple(parts), shown, -shown)
