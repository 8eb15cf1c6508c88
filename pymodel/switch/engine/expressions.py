"""From expressions to Python: BMv2 computes with integers of any size and cuts them when they are stored.

Bounds are followed through each operation, so that a mask that changes nothing is left out; p4c writes one after nearly
every operation. Where BMv2 stops the process or reads foreign memory (division by zero, an index outside a stack), the
value is 0 and a write is ignored: no packet may stop the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.source import Value
from pymodel.switch.engine.units import OK, Place

__all__ = ["HELPERS", "Expressions", "signed_range"]

_WORD = (1 << 64) - 1
_MAX_SHIFT = 1 << 16


# --- what the generated code calls ---


def _divide(left: int, right: int) -> int:
    return left // right if right > 0 else 0


def _modulo(left: int, right: int) -> int:
    return left % right if right > 0 else 0


def _shift_left(left: int, right: int) -> int:
    return left << right if 0 <= right < _MAX_SHIFT else 0


def _shift_right(left: int, right: int) -> int:
    return left >> right if right >= 0 else 0


def _clamp(value: int, low: int, high: int) -> int:
    return low if value < low else min(value, high)


def _wrap(value: int, width: int) -> int:
    """Store into a signed field; a value above its maximum that fits its bits unsigned stays (BMv2's fields.h)."""
    mask = (1 << width) - 1
    if value < -(1 << width - 1) or value > mask:
        value &= mask
        if value > mask >> 1:
            value -= mask + 1
    return value


def _item(values: Sequence[int], index: int) -> int:
    return values[index] if 0 <= index < len(values) else 0


HELPERS: dict[str, Callable[..., int]] = {
    "divide": _divide,
    "modulo": _modulo,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "clamp": _clamp,
    "wrap": _wrap,
    "item": _item,
}
"""Functions that generated code calls by these names."""


def signed_range(width: int) -> tuple[int, int]:
    """The smallest and largest number of `width` bits in two's complement."""
    return -(1 << width - 1), (1 << width - 1) - 1


# --- the generator ---


class Expressions:
    """Writes expressions of one program. `parameters` are the names and widths of the action around them, if any."""

    def __init__(self, layout: Layout, where: str, parameters: Sequence[tuple[str, int]] = ()) -> None:
        self.layout = layout
        self.where = where
        self.parameters = parameters

    def data(self, expression: ir.Expression) -> Value:
        """An integer."""
        match expression:
            case ir.Constant(number):
                return Value(_number(number), number, number)
            case ir.FieldRef(header, ir.VALID):
                return Value(self.valid(ir.HeaderRef(header)), 0, 1)
            case ir.FieldRef(header, name):
                place = self.layout.place(header)
                return self._field(place, name)
            case ir.MemberField(ir.ElementRef(stack, index), name):
                return self._element_field(stack, self.data(index), name)
            case ir.LastField(stack, name):
                unit = self.layout.units[stack]
                last = Value(f"p.{self.layout.next_of(stack)} - 1", -1, (unit.size or 0) - 1)
                return self._element_field(stack, last, name)
            case ir.ParameterRef(index):
                if index >= len(self.parameters):
                    raise InputError(self.where, f"parameter number {index}", f"one of {len(self.parameters)}")
                name, width = self.parameters[index]
                return Value(name, 0, (1 << width) - 1)
            case ir.RegisterCell(name, index):
                width = self.layout.program.registers[name].width
                return Value(f"item({self.layout.names.register(name)}, {self.data(index).text})", 0, (1 << width) - 1)
            case ir.StackSize(stack, last):
                unit = self.layout.units[stack]
                count = f"p.{self.layout.next_of(stack)}"
                return Value(f"({count} - 1 & {_WORD:#x})", 0, _WORD) if last else Value(count, 0, unit.size)
            case ir.Ternary(condition, then, otherwise):
                first, second = self.data(then), self.data(otherwise)
                text = f"({first.text} if {self.boolean(condition)} else {second.text})"
                return Value(text, _least(first.low, second.low), _most(first.high, second.high))
            case ir.Unary("b2d", operand):
                return Value(f"int({self.boolean(operand)})", 0, 1)
            case ir.Unary("~", operand):
                value = self.data(operand)
                low = None if value.high is None else ~value.high
                high = None if value.low is None else ~value.low
                return Value(f"(~{value.text})", low, high)
            case ir.Binary(op, left, right) if op in _ARITHMETIC:
                return _ARITHMETIC[op](self.data(left), self.data(right))
            case _:
                if self.is_boolean(expression):
                    return Value(f"int({self.boolean(expression)})", 0, 1)
                raise InputError(self.where, f"{type(expression).__name__} where a number is due", "a number")

    def boolean(self, expression: ir.Expression) -> str:
        """A condition."""
        match expression:
            case ir.Boolean(truth):
                return str(truth)
            case ir.Unary("not", operand):
                return f"(not {self.boolean(operand)})"
            case ir.Unary("d2b", operand):
                value = self.data(operand)
                return (
                    value.text
                    if isinstance(operand, ir.FieldRef) and operand.field == ir.VALID
                    else f"({value.text} != 0)"
                )
            case ir.Unary("valid", operand) if isinstance(operand, ir.HeaderRef | ir.ElementRef):
                return self.valid(operand)
            case ir.Unary("valid_union", ir.UnionRef(name)):
                members = self.layout.program.unions[name].headers
                return "(" + " or ".join(self.valid(ir.HeaderRef(member)) for member in members) + ")"
            case ir.Binary("and" | "or" as op, left, right):
                return f"({self.boolean(left)} {op} {self.boolean(right)})"
            case ir.Binary(op, left, right) if op[:2] in ("==", "!="):
                same = self._equal(left, right)
                return same if op[0] == "=" else f"(not {same})"
            case ir.Binary(">" | ">=" | "<" | "<=" as op, left, right):
                return f"({self.data(left).text} {op} {self.data(right).text})"
            case ir.Ternary(condition, then, otherwise):
                return f"({self.boolean(then)} if {self.boolean(condition)} else {self.boolean(otherwise)})"
            case _:
                raise InputError(self.where, f"{type(expression).__name__} where a condition is due", "a condition")

    def is_boolean(self, expression: ir.Expression) -> bool:
        """Whether an expression is a condition and not a number."""
        match expression:
            case ir.Boolean() | ir.Unary("not" | "d2b" | "valid" | "valid_union"):
                return True
            case ir.Binary(op):
                return op not in _ARITHMETIC
            case ir.Ternary(_, then, _):
                return self.is_boolean(then)
            case _:
                return False

    def valid(self, header: ir.HeaderPlace) -> str:
        """Whether a header is valid; metadata always is."""
        if isinstance(header, ir.ElementRef):
            unit, index = self.layout.units[header.stack], self.data(header.index)
            if index.within(0, (unit.size or 0) - 1):
                return Place(unit, index.text).part(OK)
            return f"item(p.{unit.slots[OK]}, {index.text})"
        place = self.layout.place(header.name)
        return "True" if place.unit.metadata else place.part(OK)

    def stored(self, value: Value, field: ir.FieldType) -> str:
        """The text of `value` as the field keeps it: cut to its width, or wrapped."""
        if not field.signed:
            return cut(value, field.width).text
        low, high = signed_range(field.width)
        return value.text if value.within(low, high) else f"wrap({value.text}, {field.width})"

    def unsigned(self, value: Value, width: int) -> Value:
        """The bits of `value` in a field of `width` bits."""
        return cut(value, width)

    def _field(self, place: Place, name: str) -> Value:
        field = self.layout.type_of(place, name)
        if field.variable:
            raise InputError(self.where, f"field {name} of variable length in an expression", "a copy of it as a whole")
        return Value(place.part(name), *_field_range(field))

    def _element_field(self, stack: str, index: Value, name: str) -> Value:
        unit = self.layout.units[stack]
        field = self.layout.type_of(Place(unit), name)
        if index.within(0, (unit.size or 0) - 1):
            return self._field(Place(unit, index.text), name)
        return Value(f"item(p.{unit.slots[name]}, {index.text})", *_field_range(field))

    def _equal(self, left: ir.Expression, right: ir.Expression) -> str:
        match left, right:
            case (ir.HeaderRef() | ir.ElementRef(), ir.HeaderRef() | ir.ElementRef()):
                return self._same_headers(left, right)
            case (ir.UnionRef(first), ir.UnionRef(second)):
                unions = self.layout.program.unions
                pairs = zip(unions[first].headers, unions[second].headers, strict=True)
                return "(" + " or ".join(self._same_headers(ir.HeaderRef(a), ir.HeaderRef(b)) for a, b in pairs) + ")"
            case (ir.FieldRef(), ir.FieldRef()) if self.layout.program.field_type(left).variable:
                # As numbers: BMv2 does not compare their lengths.
                sides = [self.layout.place(side.header).part(side.field) for side in (left, right)]
                return f"(from_bytes({sides[0]}) == from_bytes({sides[1]}))"
        if self.is_boolean(left):
            return f"({self.boolean(left)} == {self.boolean(right)})"
        return f"({self.data(left).text} == {self.data(right).text})"

    def _same_headers(self, left: ir.HeaderPlace, right: ir.HeaderPlace) -> str:
        """Both valid, of one type, and equal field by field (BMv2's Header::cmp)."""
        first, second = self._checked_place(left), self._checked_place(right)
        if first.unit.type.name != second.unit.type.name:
            return "False"
        tests = [self.valid(left), self.valid(right)]
        tests += [f"{first.part(item.name)} == {second.part(item.name)}" for item in first.unit.type.fields]
        return "(" + " and ".join(tests) + ")"

    def _checked_place(self, header: ir.HeaderPlace) -> Place:
        """The place of a header; an index outside the stack is seen as invalid by `valid` before this is evaluated."""
        if isinstance(header, ir.ElementRef):
            return Place(self.layout.units[header.stack], self.data(header.index).text)
        return self.layout.place(header.name)


def cut(value: Value, width: int) -> Value:
    """`value` modulo 2**width; as it stands when it is known to fit."""
    mask = (1 << width) - 1
    if value.within(0, mask):
        return value
    if value.constant is not None:
        return Value(_number(value.constant & mask), value.constant & mask, value.constant & mask)
    return Value(f"({value.text} & {_number(mask)})", 0, mask)


def _field_range(field: ir.FieldType) -> tuple[int, int]:
    # A signed field may hold any unsigned value of its bits too: see `_wrap`.
    return (signed_range(field.width)[0] if field.signed else 0), (1 << field.width) - 1


def _number(value: int) -> str:
    if value < 0:
        return f"({value:#x})"
    return str(value) if value < 10 else f"{value:#x}"


def _least(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else min(left, right)


def _most(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)


def _folded(op: Callable[[int, int], int], left: Value, right: Value) -> Value | None:
    if left.constant is None or right.constant is None:
        return None
    value = op(left.constant, right.constant)
    return Value(_number(value), value, value)


def _add(left: Value, right: Value) -> Value:
    low = None if left.low is None or right.low is None else left.low + right.low
    high = None if left.high is None or right.high is None else left.high + right.high
    return _folded(int.__add__, left, right) or Value(f"({left.text} + {right.text})", low, high)


def _subtract(left: Value, right: Value) -> Value:
    low = None if left.low is None or right.high is None else left.low - right.high
    high = None if left.high is None or right.low is None else left.high - right.low
    return _folded(int.__sub__, left, right) or Value(f"({left.text} - {right.text})", low, high)


def _multiply(left: Value, right: Value) -> Value:
    text = f"({left.text} * {right.text})"
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return Value(text)
    corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return _folded(int.__mul__, left, right) or Value(text, min(corners), max(corners))


def _quotient(left: Value, right: Value) -> Value:
    if right.constant and right.constant > 0:
        low = None if left.low is None else left.low // right.constant
        high = None if left.high is None else left.high // right.constant
        return Value(f"({left.text} // {right.text})", low, high)
    high = left.high if left.low is not None and left.low >= 0 else None
    return Value(f"divide({left.text}, {right.text})", 0 if high is not None else None, high)


def _remainder(left: Value, right: Value) -> Value:
    if right.constant and right.constant > 0:
        return Value(f"({left.text} % {right.text})", 0, right.constant - 1)
    return Value(f"modulo({left.text}, {right.text})", 0, None if right.high is None else max(right.high - 1, 0))


def _left_shift(left: Value, right: Value) -> Value:
    if not right.within(0, 512):
        return Value(f"shift_left({left.text}, {right.text})")
    assert right.high is not None
    low = None if left.low is None else min(left.low, left.low << right.high)
    high = None if left.high is None else max(left.high, left.high << right.high)
    folded = _folded(int.__lshift__, left, right)
    return folded or Value(f"({left.text} << {right.text})", low, high)


def _right_shift(left: Value, right: Value) -> Value:
    if right.low is None or right.low < 0:
        return Value(f"shift_right({left.text}, {right.text})")
    low = None if left.low is None else 0 if left.low >= 0 else left.low >> right.low
    high = None if left.high is None else left.high >> right.low if left.high >= 0 else -1
    return _folded(int.__rshift__, left, right) or Value(f"({left.text} >> {right.text})", low, high)


def _and(left: Value, right: Value) -> Value:
    if left.constant is not None:
        left, right = right, left
    mask = right.constant
    if mask is not None and mask >= 0:
        if mask & (mask + 1) == 0:
            return cut(left, mask.bit_length())
        return _folded(int.__and__, left, right) or Value(f"({left.text} & {right.text})", 0, mask)
    bounds = [
        value.high for value in (left, right) if value.low is not None and value.low >= 0 and value.high is not None
    ]
    return Value(f"({left.text} & {right.text})", 0 if bounds else None, min(bounds) if bounds else None)


def _or_like(op: str) -> Callable[[Value, Value], Value]:
    def write(left: Value, right: Value) -> Value:
        text = f"({left.text} {op} {right.text})"
        if (
            left.high is None
            or right.high is None
            or left.low is None
            or right.low is None
            or min(left.low, right.low) < 0
        ):
            return Value(text)
        return Value(text, 0, (1 << max(left.high, right.high).bit_length()) - 1)

    return write


def _two_complement(left: Value, right: Value) -> Value:
    if right.constant is None:
        raise InputError("two_comp_mod", "a width known only at run time", "a constant width")
    low, high = signed_range(right.constant)
    if left.within(low, high):
        return left
    half, mask = 1 << right.constant - 1, (1 << right.constant) - 1
    return Value(f"(({left.text} + {half:#x} & {mask:#x}) - {half:#x})", low, high)


def _saturated(signed: bool) -> Callable[[Value, Value], Value]:
    def write(left: Value, right: Value) -> Value:
        if right.constant is None:
            raise InputError("saturating cast", "a width known only at run time", "a constant width")
        low, high = signed_range(right.constant) if signed else (0, (1 << right.constant) - 1)
        return left if left.within(low, high) else Value(f"clamp({left.text}, {low:#x}, {high:#x})", low, high)

    return write


_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _quotient,
    "%": _remainder,
    "<<": _left_shift,
    ">>": _right_shift,
    "&": _and,
    "|": _or_like("|"),
    "^": _or_like("^"),
    "two_comp_mod": _two_complement,
    "usat_cast": _saturated(False),
    "sat_cast": _saturated(True),
}
