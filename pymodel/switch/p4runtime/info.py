"""The control-plane side of a compiled program: P4Info as an index of names and ids.

P4Runtime speaks in numeric ids, everything else here in names. A name is the P4Info's full name (``Ingress.acl``) or
any dotted end of it that no other object of its kind shares (``acl``), as p4runtime-shell has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.protos import p4info_pb2, text_format

__all__ = ["Action", "ActionUse", "Array", "Bits", "Index", "Key", "MatchKind", "Profile", "ProgramInfo", "Table"]

MatchKind = Literal["exact", "lpm", "ternary", "range", "optional"]

_KINDS: dict[int, MatchKind] = {
    p4info_pb2.MatchField.EXACT: "exact",
    p4info_pb2.MatchField.LPM: "lpm",
    p4info_pb2.MatchField.TERNARY: "ternary",
    p4info_pb2.MatchField.RANGE: "range",
    p4info_pb2.MatchField.OPTIONAL: "optional",
}


@dataclass(frozen=True, slots=True)
class Bits:
    """A named bit field: an action's parameter or a field of a controller header. `width` is in bits."""

    id: int
    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Key:
    """One match key of a table. `width` is in bits."""

    id: int
    name: str
    width: int
    kind: MatchKind


@dataclass(frozen=True, slots=True)
class Action:
    """An action with its parameters in order."""

    id: int
    name: str
    params: tuple[Bits, ...]


@dataclass(frozen=True, slots=True)
class ActionUse:
    """An action as one table may use it: as an entry, as the default, or as either."""

    action: Action
    in_entries: bool
    as_default: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table. `keys` and `actions` are in the order of the P4Info, `size` is in entries.

    `needs_priority`: its entries carry a priority, because a key is ternary, range or optional (P4Runtime 9.1.1).
    """

    id: int
    name: str
    keys: tuple[Key, ...]
    actions: tuple[ActionUse, ...]
    size: int
    is_const: bool
    const_default: bool
    idle_timeout: bool
    action_profile: int
    direct_counter: int
    direct_meter: int
    needs_priority: bool


@dataclass(frozen=True, slots=True)
class Array:
    """An indexed extern (counter or meter) of `size` cells, or the direct one of a table; `table` is 0 for indexed."""

    id: int
    name: str
    size: int
    packets: bool
    bytes: bool
    table: int = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile: with a selector it has groups, of at most `max_group_size` members (0: no limit)."""

    id: int
    name: str
    size: int
    selector: bool
    max_group_size: int
    tables: tuple[int, ...]


T = TypeVar("T", Table, Action, Array, Profile)


@dataclass(frozen=True, slots=True)
class Index(Generic[T]):
    """Objects of one kind by id and by name."""

    kind: str
    by_id: Mapping[int, T]
    _by_name: Mapping[str, T] = field(repr=False)

    @classmethod
    def of(cls, kind: str, objects: Iterable[T]) -> Index[T]:
        """Index `objects`; an end of a name that two of them share is no name."""
        by_id: dict[int, T] = {}
        by_name: dict[str, T | None] = {}
        for item in objects:
            by_id[item.id] = item
            parts = item.name.split(".")
            for first in range(len(parts)):
                end = ".".join(parts[first:])
                by_name[end] = item if end not in by_name else None
        # A whole name is always a name, even where it is the end of a longer one.
        by_name.update((item.name, item) for item in by_id.values())
        return cls(kind, by_id, {name: item for name, item in by_name.items() if item is not None})

    def get(self, name: str) -> T | None:
        """Return the object of that name, or None."""
        return self._by_name.get(name)

    def find(self, name: str) -> T:
        """Return the object of that name; InputError lists what there is."""
        item = self._by_name.get(name)
        if item is None:
            known = ", ".join(sorted(item.name for item in self.by_id.values())) or "none, the program has no such"
            raise InputError(self.kind, repr(name), f"one of {known}")
        return item

    def __iter__(self) -> Iterator[T]:
        return iter(self.by_id.values())


@dataclass(frozen=True, slots=True)
class ProgramInfo:
    """A P4Info message (`proto`) as indices by kind, and the two controller headers as bit fields in order."""

    proto: Any
    tables: Index[Table]
    actions: Index[Action]
    counters: Index[Array]
    meters: Index[Array]
    direct_counters: Index[Array]
    direct_meters: Index[Array]
    profiles: Index[Profile]
    packet_in: tuple[Bits, ...]
    packet_out: tuple[Bits, ...]

    @classmethod
    def read(cls, path: Path) -> ProgramInfo:
        """Read a P4Info text file; InputError when it is missing or is none."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(str(path), str(error), "a readable P4Info text file") from error
        proto = p4info_pb2.P4Info()
        try:
            text_format.Parse(text, proto, allow_unknown_field=True)
        except text_format.ParseError as error:
            raise InputError(str(path), str(error), "P4Info in protobuf text format, as p4c writes it") from error
        return cls.of(proto, str(path))

    @classmethod
    def of(cls, proto: Any, where: str = "P4Info") -> ProgramInfo:
        """Index a P4Info message; InputError when a reference in it leads nowhere or a key's kind is unknown."""
        actions = Index.of("action", (_action(action) for action in proto.actions))
        tables = Index.of("table", [_table(table, actions, proto, where) for table in proto.tables])
        headers = {header.preamble.name: _bits(header.metadata) for header in proto.controller_packet_metadata}
        return cls(
            proto,
            tables,
            actions,
            Index.of("counter", (_array(item, item.size) for item in proto.counters)),
            Index.of("meter", (_array(item, item.size) for item in proto.meters)),
            Index.of("direct counter", (_array(item, 0, item.direct_table_id) for item in proto.direct_counters)),
            Index.of("direct meter", (_array(item, 0, item.direct_table_id) for item in proto.direct_meters)),
            Index.of("action profile", [_profile(item, tables, where) for item in proto.action_profiles]),
            headers.get("packet_in", ()),
            headers.get("packet_out", ()),
        )


def _bits(fields: Iterable[Any]) -> tuple[Bits, ...]:
    return tuple(Bits(item.id, item.name, item.bitwidth) for item in fields)


def _action(action: Any) -> Action:
    return Action(action.preamble.id, action.preamble.name, _bits(action.params))


def _profile(item: Any, tables: Index[Table], where: str) -> Profile:
    name = item.preamble.name
    users = tuple(item.table_ids)
    if not users or not all(number in tables.by_id for number in users):
        raise InputError(f"{where}: action profile {name}", "no table, or an unknown one", "tables that the file has")
    return Profile(item.preamble.id, name, item.size, item.with_selector, item.max_group_size, users)


def _array(item: Any, size: int, table: int = 0) -> Array:
    unit = item.spec.unit
    both = unit == p4info_pb2.CounterSpec.BOTH
    return Array(
        item.preamble.id,
        item.preamble.name,
        size,
        both or unit == p4info_pb2.CounterSpec.PACKETS,
        both or unit == p4info_pb2.CounterSpec.BYTES,
        table,
    )


def _table(table: Any, actions: Index[Action], proto: Any, where: str) -> Table:
    name = table.preamble.name
    keys = []
    for key in table.match_fields:
        kind = _KINDS.get(key.match_type)
        if kind is None:
            raise InputError(f"{where}: table {name}, key {key.name}", f"match type {key.match_type}", "a known kind")
        keys.append(Key(key.id, key.name, key.bitwidth, kind))
    uses = []
    for use in table.action_refs:
        action = actions.by_id.get(use.id)
        if action is None:
            raise InputError(f"{where}: table {name}", f"an action of id {use.id}", "an action that the file describes")
        uses.append(
            ActionUse(
                action,
                use.scope != p4info_pb2.ActionRef.DEFAULT_ONLY,
                use.scope != p4info_pb2.ActionRef.TABLE_ONLY,
            )
        )
    direct = list(table.direct_resource_ids)
    return Table(
        table.preamble.id,
        name,
        tuple(keys),
        tuple(uses),
        table.size,
        table.is_const_table,
        table.const_default_action_id != 0,
        table.idle_timeout_behavior == p4info_pb2.Table.NOTIFY_CONTROL,
        table.implementation_id,
        next((item.preamble.id for item in proto.direct_counters if item.preamble.id in direct), 0),
        next((item.preamble.id for item in proto.direct_meters if item.preamble.id in direct), 0),
        any(key.kind in ("ternary", "range", "optional") for key in keys),
    )
