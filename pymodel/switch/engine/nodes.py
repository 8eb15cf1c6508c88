"""Expressions, actions and parser states of a P4 program as typed structures; `ir` holds what they are part of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Action",
    "Argument",
    "Binary",
    "Boolean",
    "CalculationRef",
    "Constant",
    "CounterRef",
    "ElementRef",
    "Expression",
    "Extract",
    "FieldRef",
    "HeaderPlace",
    "HeaderRef",
    "LastField",
    "Lookahead",
    "MemberField",
    "MeterRef",
    "ParameterRef",
    "ParseState",
    "ParserOp",
    "Primitive",
    "RegisterCell",
    "RegisterRef",
    "StackRef",
    "StackSize",
    "Ternary",
    "Text",
    "Transition",
    "Unary",
    "UnionRef",
    "UnionStackRef",
    "ValueSet",
    "Vector",
    "walk",
]


# --- expressions ---


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
class UnionStackRef:
    """A stack of header unions."""

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
    | UnionStackRef
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


# --- actions ---


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


# --- parser ---


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
