"""A BMv2 JSON program as typed structures: what `load` produces and the code generators read.

The names are those of the JSON, which are also those of the P4Info. Widths are in bits. The structures hold no run-time
state: tables, counters and registers that a running switch changes live in `tables` and `externs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pymodel.switch.engine.nodes import (
    Action,
    Argument,
    Binary,
    Boolean,
    CalculationRef,
    Constant,
    CounterRef,
    ElementRef,
    Expression,
    Extract,
    FieldRef,
    HeaderPlace,
    HeaderRef,
    LastField,
    Lookahead,
    MemberField,
    MeterRef,
    ParameterRef,
    ParserOp,
    ParseState,
    Primitive,
    RegisterCell,
    RegisterRef,
    StackRef,
    StackSize,
    Ternary,
    Text,
    Transition,
    Unary,
    UnionRef,
    UnionStackRef,
    ValueSet,
    Vector,
    walk,
)

__all__ = [
    "VALID",
    "Action",
    "ActionProfile",
    "Argument",
    "Binary",
    "Boolean",
    "Calculation",
    "CalculationRef",
    "Checksum",
    "Conditional",
    "Constant",
    "CounterArray",
    "CounterRef",
    "DefaultEntry",
    "ElementRef",
    "Expression",
    "Extract",
    "FieldList",
    "FieldRef",
    "FieldType",
    "Header",
    "HeaderPlace",
    "HeaderRef",
    "HeaderType",
    "Input",
    "LastField",
    "Lookahead",
    "MemberField",
    "MeterArray",
    "MeterRef",
    "ParameterRef",
    "ParseState",
    "ParserOp",
    "Payload",
    "Pipeline",
    "Primitive",
    "Program",
    "RegisterArray",
    "RegisterCell",
    "RegisterRef",
    "Stack",
    "StackRef",
    "StackSize",
    "StaticEntry",
    "Table",
    "TableKey",
    "Ternary",
    "Text",
    "Transition",
    "Unary",
    "Union",
    "UnionRef",
    "UnionStack",
    "UnionStackRef",
    "ValueSet",
    "Vector",
    "walk",
]

VALID = "$valid$"
"""The hidden one-bit field of every header that tells whether the header is valid."""


# --- data ---


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field of a header type; `width` is 0 for a field of variable length."""

    name: str
    width: int
    signed: bool = False
    variable: bool = False


@dataclass(frozen=True, slots=True)
class HeaderType:
    """A header or struct type. `max_bytes` bounds a header with a field of variable length (0: no bound)."""

    name: str
    fields: tuple[FieldType, ...]
    max_bytes: int = 0

    @property
    def width(self) -> int:
        """Bits of the fixed part."""
        return sum(item.width for item in self.fields)

    @property
    def bytes(self) -> int:
        """Bytes of the fixed part."""
        return self.width // 8

    @property
    def variable(self) -> FieldType | None:
        """The field of variable length, if there is one."""
        return next((item for item in self.fields if item.variable), None)

    def field(self, name: str) -> FieldType | None:
        """The field called `name`, or None."""
        return next((item for item in self.fields if item.name == name), None)


@dataclass(frozen=True, slots=True)
class Header:
    """A header instance, or a metadata struct. `stack` and `index` place it in its stack; `union` names its union."""

    name: str
    type: HeaderType
    metadata: bool
    stack: str | None = None
    index: int = 0
    union: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack: its elements' names, first to last.

    The members of one kind in a stack of unions make such a stack too; `leader` is then the stack whose `next` counts.
    """

    name: str
    type: HeaderType
    headers: tuple[str, ...]
    leader: str | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """A header union: the names of its members, at most one of which is valid."""

    name: str
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnionStack:
    """A stack of header unions as the stacks that its members make, one for each kind, by the member's name."""

    name: str
    stacks: Mapping[str, str]


# --- checksums ---


@dataclass(frozen=True, slots=True)
class Payload:
    """The rest of the packet as input of a calculation."""


Input: TypeAlias = FieldRef | HeaderRef | Payload | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Calculation:
    """A hash or checksum over `inputs`; a pair among them is a constant and its width."""

    name: str
    algorithm: str
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum that the parser verifies or the deparser updates, if `condition` holds (None: always)."""

    name: str
    target: FieldRef
    calculation: str
    update: bool
    verify: bool
    condition: Expression | None


# --- controls ---


@dataclass(frozen=True, slots=True)
class TableKey:
    """One element of a table's key: `kind` is exact, lpm, ternary or range; `mask` applies before the match."""

    name: str
    kind: str
    target: FieldRef
    width: int
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class DefaultEntry:
    """A table's default action, its arguments, and whether the control plane may change either."""

    action: int
    arguments: tuple[int, ...]
    constant_action: bool
    constant_entry: bool


@dataclass(frozen=True, slots=True)
class StaticEntry:
    """An entry of the program: per key an integer or a pair, the action, and a priority (smaller wins)."""

    match: tuple[int | tuple[int, int], ...]
    action: int
    arguments: tuple[int, ...]
    priority: int


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table.

    `kind` is simple, indirect or indirect_ws (with a selector). `actions` maps each action's name to its id and `next`
    each action's id to the node that follows; `next_hit` and `next_miss` replace it when `by_hit` is set.
    """

    name: str
    match_type: str
    kind: str
    keys: tuple[TableKey, ...]
    max_size: int
    with_counters: bool
    with_timeout: bool
    direct_meter: str | None
    profile: str | None
    actions: Mapping[str, int]
    next: Mapping[int, str | None]
    by_hit: bool
    next_hit: str | None
    next_miss: str | None
    default_next: str | None
    default: DefaultEntry | None
    entries: tuple[StaticEntry, ...] | None


@dataclass(frozen=True, slots=True)
class Conditional:
    """A condition of the control flow."""

    name: str
    expression: Expression
    true_next: str | None
    false_next: str | None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ActionProfile:
    """An action profile; `algorithm` and `inputs` are those of its selector, if it has one."""

    name: str
    max_size: int
    algorithm: str | None
    inputs: tuple[FieldRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Ingress or egress: its nodes by name and the first one."""

    name: str
    start: str | None
    nodes: Mapping[str, Table | Conditional]
    profiles: Mapping[str, ActionProfile]


# --- stateful objects and lists ---


@dataclass(frozen=True, slots=True)
class CounterArray:
    """A counter array; a direct one has the name of its table as `table`."""

    name: str
    size: int
    table: str | None = None


@dataclass(frozen=True, slots=True)
class MeterArray:
    """A meter array that counts `unit` (bytes or packets); a direct one writes its colour to `target`."""

    name: str
    size: int
    rates: int
    unit: str
    table: str | None = None
    target: FieldRef | None = None


@dataclass(frozen=True, slots=True)
class RegisterArray:
    """A register array."""

    name: str
    size: int
    width: int


@dataclass(frozen=True, slots=True)
class FieldList:
    """Fields that a clone, resubmitted or recirculated packet keeps, or that a digest carries."""

    id: int
    name: str
    fields: tuple[FieldRef, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program. `aliases` maps the target's name of a metadata field to the program's own."""

    name: str
    headers: Mapping[str, Header]
    stacks: Mapping[str, Stack]
    unions: Mapping[str, Union]
    union_stacks: Mapping[str, UnionStack]
    errors: Mapping[str, int]
    value_sets: Mapping[str, ValueSet]
    start: str | None
    states: Mapping[str, ParseState]
    deparser: tuple[str, ...]
    deparser_steps: tuple[Primitive, ...]
    calculations: Mapping[str, Calculation]
    checksums: tuple[Checksum, ...]
    counters: Mapping[str, CounterArray]
    meters: Mapping[str, MeterArray]
    registers: Mapping[str, RegisterArray]
    actions: Mapping[int, Action]
    ingress: Pipeline
    egress: Pipeline
    field_lists: Mapping[int, FieldList]
    learn_lists: Mapping[int, FieldList]
    aliases: Mapping[str, FieldRef] = field(default_factory=dict)

    @property
    def pipelines(self) -> tuple[Pipeline, Pipeline]:
        """Ingress and egress."""
        return self.ingress, self.egress

    @property
    def tables(self) -> Iterator[Table]:
        """Every table, ingress first."""
        for pipeline in self.pipelines:
            for node in pipeline.nodes.values():
                if isinstance(node, Table):
                    yield node

    def field_type(self, ref: FieldRef) -> FieldType:
        """The type of a field; validity is one bit."""
        if ref.field == VALID:
            return FieldType(VALID, 1)
        found = self.headers[ref.header].type.field(ref.field)
        assert found is not None, ref
        return found

    def intrinsic(self, name: str) -> FieldRef | None:
        """The field that the target knows as `name` (``intrinsic_metadata.mcast_grp``), alias resolved, or None."""
        if name in self.aliases:
            return self.aliases[name]
        header, _, item = name.partition(".")
        if header in self.headers and self.headers[header].type.field(item):
            return FieldRef(header, item)
        return None
