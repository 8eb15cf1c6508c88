"""Reading expressions and arguments of BMv2 JSON, and refusing by name whatever is not understood.

A `Reader` knows the declared objects and checks every reference against them, so that the code generators need not.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NoReturn

from pymodel.base.errors import InputError
from pymodel.switch.engine.ir import (
    VALID,
    Argument,
    Binary,
    Boolean,
    CalculationRef,
    Constant,
    CounterRef,
    ElementRef,
    Expression,
    FieldRef,
    Header,
    HeaderRef,
    LastField,
    Lookahead,
    MemberField,
    MeterRef,
    ParameterRef,
    Primitive,
    RegisterCell,
    RegisterRef,
    Stack,
    StackRef,
    StackSize,
    Ternary,
    Text,
    Unary,
    Union,
    UnionRef,
    UnionStack,
    UnionStackRef,
    Vector,
)

__all__ = ["BINARY", "UNARY", "Json", "Reader", "hexadecimal"]

Json = Mapping[str, Any]

UNARY = frozenset({"not", "~", "d2b", "b2d", "valid", "valid_union"})
BINARY = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        ">>",
        "==",
        "!=",
        ">",
        "<",
        ">=",
        "<=",
        "and",
        "or",
        "&",
        "|",
        "^",
        "==h",
        "!=h",
        "==b",
        "!=b",
        "==u",
        "!=u",
        "two_comp_mod",
        "usat_cast",
        "sat_cast",
    ]
)


def hexadecimal(text: Any, where: str) -> int:
    """The value of a JSON ``hexstr``, which may have a sign and the prefix 0x."""
    try:
        return int(text, 16)
    except (ValueError, TypeError):
        raise InputError(where, repr(text), "a hexadecimal number") from None


class Reader:
    """Reads parts of one program; `where` in its messages is the program's name and the object's."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.headers: dict[str, Header] = {}
        self.stacks: dict[str, Stack] = {}
        self.unions: dict[str, Union] = {}
        self.union_stacks: dict[str, UnionStack] = {}
        self.aliases: dict[str, FieldRef] = {}
        self.objects: dict[str, set[str]] = {
            kind: set() for kind in ("calculation", "counter_array", "meter_array", "register_array")
        }

    def where(self, what: str) -> str:
        """Name `what` inside the program."""
        return f"{self.program}: {what}"

    def get(self, item: Json, key: str, kind: type[Any] | tuple[type[Any], ...], where: str) -> Any:
        """The attribute `key` of `item`, which has to be there and be a `kind`."""
        value = item.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            names = kind.__name__ if isinstance(kind, type) else " or ".join(each.__name__ for each in kind)
            raise InputError(where, f"'{key}' is {value!r}"[:200], f"a JSON {names}")
        return value

    def reference(self, kind: str, name: Any, where: str) -> str:
        """`name`, after a check that an object of this kind is declared under it."""
        declared: Container[str]
        if kind in self.objects:
            declared = self.objects[kind]
        else:
            declared = {
                "header": self.headers.keys(),
                "header_stack": self.stacks.keys(),
                "header_union": self.unions.keys(),
                "header_union_stack": self.union_stacks.keys(),
            }[kind]
        if not isinstance(name, str) or name not in declared:
            raise InputError(where, f"{kind} {name!r}", f"the name of a declared {kind}")
        return name

    def field(self, value: Any, where: str) -> FieldRef:
        """A field reference: a pair of header and field name, an alias resolved."""
        if not isinstance(value, list) or len(value) != 2 or not all(isinstance(part, str) for part in value):
            raise InputError(where, f"field reference {value!r}", "a header name and a field name")
        header, name = value
        if (alias := self.aliases.get(f"{header}.{name}")) is not None:
            return alias
        self.reference("header", header, where)
        if name != VALID and self.headers[header].type.field(name) is None:
            raise InputError(
                where, f"field {header}.{name}", f"a field of header type {self.headers[header].type.name}"
            )
        return FieldRef(header, name)

    def member_stack(self, value: list[Any], where: str) -> str:
        """The stack that the members called ``value[1]`` of the union stack ``value[0]`` make."""
        name = self.reference("header_union_stack", value[0], where)
        if value[1] not in self.union_stacks[name].stacks:
            raise InputError(where, f"member {value[1]!r}", f"a member of the unions in {name}")
        return self.union_stacks[name].stacks[value[1]]

    def expression(self, item: Any, where: str) -> Expression:
        """An expression from its JSON form."""
        if not isinstance(item, dict):
            raise InputError(where, f"expression {item!r}", "a JSON object with type and value")
        kind, value = item.get("type"), item.get("value")
        match kind:
            case "expression":
                if isinstance(value, dict) and "op" in value:
                    return self._operation(value, where)
                return self.expression(value, where)
            case "hexstr":
                return Constant(hexadecimal(value, where))
            case "bool":
                return Boolean(bool(value))
            case "field":
                return self.field(value, where)
            case "stack_field":
                if not isinstance(value, list) or len(value) != 2:
                    self._bad(item, where)
                stack = self.reference("header_stack", value[0], where)
                if self.stacks[stack].type.field(value[1]) is None:
                    raise InputError(where, f"field {value[1]!r}", f"a field of the elements of {stack}")
                return LastField(stack, value[1])
            case "local" | "runtime_data":
                if not isinstance(value, int):
                    self._bad(item, where)
                return ParameterRef(value)
            case "header":
                return HeaderRef(self.reference("header", value, where))
            case "header_stack":
                return StackRef(self.reference("header_stack", value, where))
            case "header_union":
                return UnionRef(self.reference("header_union", value, where))
            case "header_union_stack":
                return UnionStackRef(self.reference("header_union_stack", value, where))
            case "union_stack_field":
                if not isinstance(value, list) or len(value) != 3:
                    self._bad(item, where)
                return self.expression(
                    {"type": "stack_field", "value": [self.member_stack(value, where), value[2]]}, where
                )
            case "register":
                if not isinstance(value, list) or len(value) != 2:
                    self._bad(item, where)
                name = self.reference("register_array", value[0], where)
                return RegisterCell(name, self.expression(value[1], where))
            case "lookahead":
                if not isinstance(value, list) or [type(part) for part in value] != [int, int]:
                    self._bad(item, where)
                return Lookahead(value[0], value[1])
            case _:
                raise InputError(where, f"an operand of type {kind!r}", "a type that the engine knows")

    def argument(self, item: Any, where: str) -> Argument:
        """An argument of a primitive from its JSON form."""
        if not isinstance(item, dict):
            raise InputError(where, f"argument {item!r}", "a JSON object with type and value")
        value = item.get("value")
        match item.get("type"):
            case "calculation":
                return CalculationRef(self.reference("calculation", value, where))
            case "counter_array":
                return CounterRef(self.reference("counter_array", value, where))
            case "meter_array":
                return MeterRef(self.reference("meter_array", value, where))
            case "register_array":
                return RegisterRef(self.reference("register_array", value, where))
            case "string":
                return Text(str(value))
            case "parameters_vector":
                # The compiler writes an empty object, not an empty list, where there is nothing to show.
                return Vector(tuple(self.expression(each, where) for each in value or ()))
            case _:
                return self.expression(item, where)

    def primitive(self, item: Any, where: str) -> Primitive:
        """A primitive call from its JSON form; whether the engine knows it is decided where code is made of it."""
        op = self.get(item, "op", str, where)
        inside = f"{where}, primitive '{op}'"
        arguments = tuple(self.argument(each, inside) for each in self.get(item, "parameters", list, inside))
        info = item.get("source_info") or {}
        return Primitive(op, arguments, str(info.get("source_fragment", "")))

    def _operation(self, value: Json, where: str) -> Expression:
        op = value.get("op")
        left, right = value.get("left"), value.get("right")
        if op == "?":
            return Ternary(
                self.expression(value.get("cond"), where), self.expression(left, where), self.expression(right, where)
            )
        if op in ("last_stack_index", "size_stack"):
            stack = self.expression(right, where)
            if isinstance(stack, UnionStackRef):
                stack = StackRef(next(iter(self.union_stacks[stack.name].stacks.values())))
            if not isinstance(stack, StackRef):
                self._bad(right, where)
            return StackSize(stack.name, op == "last_stack_index")
        if op in ("dereference_header_stack", "dereference_stack"):
            stack = self.expression(left, where)
            if not isinstance(stack, StackRef):
                self._bad(left, where)
            return ElementRef(stack.name, self.expression(right, where))
        if op == "access_field":
            return self._member(self.expression(left, where), right, where)
        if op in UNARY:
            return Unary(str(op), self.expression(right, where))
        if op in BINARY:
            # A missing left operand is a sign: 0 - right, or 0 + right.
            first = Constant(0) if left is None and op in ("+", "-") else self.expression(left, where)
            return Binary(str(op), first, self.expression(right, where))
        raise InputError(where, f"operation {op!r}", "an operation that the engine knows")

    def _member(self, header: Expression, index: Any, where: str) -> Expression:
        match header:
            case ElementRef(stack, _):
                fields = self.stacks[stack].type.fields
            case HeaderRef(name):
                fields = self.headers[name].type.fields
            case _:
                self._bad(index, where)
        if not isinstance(index, int) or not 0 <= index < len(fields):
            raise InputError(where, f"field number {index!r}", f"a number below {len(fields)}")
        name = fields[index].name
        return MemberField(header, name) if isinstance(header, ElementRef) else FieldRef(header.name, name)

    @staticmethod
    def _bad(item: Any, where: str) -> NoReturn:
        raise InputError(where, f"{item!r}"[:200], "an operand of the form that its type asks for")
