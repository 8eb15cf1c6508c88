"""A BMv2 JSON program as typed structures: what `load` produces and the code generators read.

The names are those of the JSON, which are also those of the P4Info. Widths are in bits. The structures hold no run-time
state: tables, counters and registers that a running switch changes live in `tables` and `externs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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
    "ValueSet",
    "Vector",
    "walk",
]

VALID = "$valid$"
"""The hidden one-bit field of every header that tells whether the header is valid."""


# --- data ----------------------------------------------------------------------------------------------------------


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
    """A header stack: its elements' names, first to last."""

    name: str
    type: HeaderType
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """A header union: the names of its members, at most one of which is valid."""

    name: str
    headers: tuple[str, ...]


# --- expressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a header instance, or its validity (`field` is then `VALID`)."""

    header: str
    field: str


@dataclass(frozen=True, slots=True)
class LastField:
    """A field of the last element that the parser extracted into a stack."""

    stack: str
    field: str


@dataclass(frozen=True, slots=True)
class ParameterRef:
    """A run-time parameter of the action."""

    index: int


@dataclass(frozen=True, slots=True)
class HeaderRef:
    """A header instance."""

    name: str


@dataclass(frozen=True, slots=True)
class StackRef:
    """A header stack."""

    name: str


@dataclass(frozen=True, slots=True)
class UnionRef:
    """A header union."""

    name: str


@dataclass(frozen=True, slots=True)
class ElementRef:
    """The element of a header stack at an index known only when the packet is there."""

    stack: str
    index: Expression


@dataclass(frozen=True, slots=True)
class MemberField:
    """A field of such an element."""

    header: ElementRef
    field: str


@dataclass(frozen=True, slots=True)
class RegisterCell:
    """A register's cell, read in an expression."""

    register: str
    index: Expression


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Bits ahead of the parser's place: `offset` and `width` in bits."""

    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class StackSize:
    """How many elements of a stack are in use; with `last` one less, as an unsigned 64-bit number."""

    stack: str
    last: bool


@dataclass(frozen=True, slots=True)
class Unary:
    """An operation on one operand: ``not ~ d2b b2d valid valid_union``."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """An operation on two operands, named as in the JSON; ``==`` and ``!=`` take data, booleans, headers or unions."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Ternary:
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression


HeaderPlace: TypeAlias = HeaderRef | ElementRef

Expression: TypeAlias = (
    Constant
    | Boolean
    | FieldRef
    | LastField
    | ParameterRef
    | HeaderRef
    | StackRef
    | UnionRef
    | ElementRef
    | MemberField
    | RegisterCell
    | Lookahead
    | StackSize
    | Unary
    | Binary
    | Ternary
)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield `expression` and every expression inside it."""
    yield expression
    match expression:
        case Unary(_, operand):
            yield from walk(operand)
        case Binary(_, left, right):
            yield from walk(left)
            yield from walk(right)
        case Ternary(condition, then, otherwise):
            yield from walk(condition)
            yield from walk(then)
            yield from walk(otherwise)
        case ElementRef(_, index) | RegisterCell(_, index):
            yield from walk(index)
        case MemberField(header, _):
            yield from walk(header)
        case _:
            pass


# --- actions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalculationRef:
    """A named calculation as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class CounterRef:
    """A counter array as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class MeterRef:
    """A meter array as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class RegisterRef:
    """A register array as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string as an argument."""

    value: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Several values as one argument."""

    items: tuple[Expression, ...]


Argument: TypeAlias = Expression | CalculationRef | CounterRef | MeterRef | RegisterRef | Text | Vector


@dataclass(frozen=True, slots=True)
class Primitive:
    """One step of an action. `source` is the P4 source it stands for, where the compiler says."""

    op: str
    arguments: tuple[Argument, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An action: its parameters as (name, width), and its steps."""

    id: int
    name: str
    parameters: tuple[tuple[str, int], ...]
    primitives: tuple[Primitive, ...]


# --- parser and deparser -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extract:
    """Extract a header, or the next element of a stack; `length` gives the bits of a field of variable length."""

    target: HeaderRef | StackRef
    length: Expression | None = None


@dataclass(frozen=True, slots=True)
class ParserOp:
    """Another parser operation: ``set verify advance primitive`` with its operands."""

    op: str
    arguments: tuple[Expression, ...] = ()
    primitive: Primitive | None = None


@dataclass(frozen=True, slots=True)
class Transition:
    """One case of a state's select: `values` and `masks` per key (mask -1: exact), or the name of a value set.

    `values` empty and no value set is the default. `target` None accepts.
    """

    target: str | None
    values: tuple[int, ...] = ()
    masks: tuple[int, ...] = ()
    value_set: str | None = None

    @property
    def default(self) -> bool:
        """True for the case that always matches."""
        return not self.values and self.value_set is None


@dataclass(frozen=True, slots=True)
class ParseState:
    """A parser state: operations, the keys it selects on with their widths, its transitions in order."""

    name: str
    operations: tuple[Extract | ParserOp, ...]
    keys: tuple[tuple[Expression, int], ...]
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A parser value set: `width` is that of all its fields together, `size` what the P4 source asks for."""

    name: str
    width: int
    size: int


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


# --- controls ------------------------------------------------------------------------------------------------------


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


# --- stateful objects and lists ------------------------------------------------------------------------------------


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
