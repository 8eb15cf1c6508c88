"""Code for the parser: one function; a state that only one place leads to is written where that place is.

The function reads ``p.data`` from the start, fills the headers and sets ``p.offset`` to the first byte that it left. A
parser error stops it; what was extracted before stays, and the packet goes on to ingress (v1model).
"""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.expressions import Expressions, cut
from pymodel.switch.engine.headers import Headers, Offset, read_bits
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.primitives import Body
from pymodel.switch.engine.source import Source, Value
from pymodel.switch.engine.units import Place

__all__ = ["ParserWriter"]

# Python refuses a hundred levels of indentation; beyond this depth a state gets a number of its own.
_MAX_DEPTH = 12


class ParserWriter:
    """Writes ``parse(p)``."""

    def __init__(self, layout: Layout, headers: Headers) -> None:
        self.layout = layout
        self.program = layout.program
        self.headers = headers
        self.source = Source()
        self._numbers = self._numbered()

    def write(self) -> str:
        """The source of the function."""
        source = self.source
        with source.block("def parse(p):"):
            source.add("data = p.data", "size = p.size")
            if self.program.start is None:
                source.add("p.offset = 0")
                return source.text()
            if self.program.start in self._numbers:
                source.add("o = 0", f"state = {self._numbers[self.program.start]}")
            else:
                self._state(self.program.start, Offset(), looping=False)
            if self._numbers:
                with source.block("while True:"):
                    for name, number in self._numbers.items():
                        with source.block(f"{'if' if number == 1 else 'elif'} state == {number}:"):
                            self._state(name, Offset(0, "o"), looping=True)
        return source.text()

    def _numbered(self) -> dict[str, int]:
        """The states that need a number: several places lead to them, or they lie too deep."""
        incoming: dict[str, int] = dict.fromkeys(self.program.states, 0)
        for state in self.program.states.values():
            for target in _targets(state):
                if target is not None:
                    incoming[target] += 1
        shared = {name for name, count in incoming.items() if count > 1 or (name == self.program.start and count)}
        reached: dict[str, None] = {}
        pending = [(self.program.start, 0)]
        seen: set[str] = set()
        while pending:
            name, depth = pending.pop()
            if name is None or name in seen:
                continue
            seen.add(name)
            if name in shared or depth > _MAX_DEPTH:
                reached[name] = None
                depth = 0
            pending += [(target, depth + 1) for target in _targets(self.program.states[name])]
        self._refuse_idle_loops()
        return {name: number for number, name in enumerate(reached, 1)}

    def _refuse_idle_loops(self) -> None:
        """Refuse states that lead back to themselves without taking a byte: they would never end."""
        idle = {
            name: [target for target in _targets(state) if target is not None]
            for name, state in self.program.states.items()
            if not any(_consumes(operation) for operation in state.operations)
        }
        for start in idle:
            pending, seen = list(idle[start]), set()
            while pending:
                name = pending.pop()
                if name == start:
                    where = f"{self.program.name}: parser state {start}"
                    raise InputError(where, "a loop that takes no byte of the packet", "states that extract or advance")
                if name in idle and name not in seen:
                    seen.add(name)
                    pending += idle[name]

    # --- one state ---

    def _state(self, name: str, offset: Offset, looping: bool) -> None:
        state = self.program.states[name]
        where = f"{self.program.name}: parser state {name}"
        self.source.add(f"# {name}")
        body = Body(self.source, self.layout, self.headers, where)
        for operation in state.operations:
            if isinstance(operation, ir.Extract):
                offset = self._extract(operation, offset, body.expressions)
                body.forget()
            else:
                offset = self._operation(operation, offset, body)
        self._select(state, offset, body.expressions, looping)

    def _extract(self, operation: ir.Extract, offset: Offset, expressions: Expressions) -> Offset:
        source = self.source
        stack = operation.target if isinstance(operation.target, ir.StackRef) else None
        if stack is not None:
            unit = self.layout.units[stack.name]
            source.add(f"index = p.{self.layout.next_of(stack.name)}")
            self._error(f"index >= {unit.size}", "StackOutOfBounds", offset)
            place = Place(unit, "index")
        else:
            place = self.layout.place(operation.target.name)
        if operation.length is None:
            size = place.unit.type.bytes
            self._error(f"size < {offset.at(size)}", "PacketTooShort", offset)
            self.headers.extract(source, place, offset)
            offset = offset.moved(size)
        else:
            offset = self._extract_variable(place, operation.length, offset, expressions)
        if stack is not None:
            source.add(f"p.{self.layout.next_of(stack.name)} = index + 1")
        return offset

    def _extract_variable(
        self, place: Place, length: ir.Expression, offset: Offset, expressions: Expressions
    ) -> Offset:
        source, header_type = self.source, place.unit.type
        source.add(f"bits = {expressions.data(length).text}")
        self._error("bits & 7", "ParserInvalidArgument", offset)
        source.add("length = bits >> 3")
        if offset != Offset(0, "o"):
            source.add(f"o = {offset.at(0)}")
        source.add(f"end = o + {header_type.bytes} + length")
        self._error("size < end", "PacketTooShort", Offset(0, "o"))
        if header_type.max_bytes:
            self._error(f"end - o > {header_type.max_bytes}", "HeaderTooShort", Offset(0, "o"))
        self.headers.extract_variable(source, place, "length")
        source.add("o = end")
        return Offset(0, "o")

    def _operation(self, operation: ir.ParserOp, offset: Offset, body: Body) -> Offset:
        match operation.op:
            case "set":
                self._set(operation.arguments[0], operation.arguments[1], offset, body)
            case "verify":
                condition, error = operation.arguments
                failed = f"not {body.expressions.boolean(condition)}"
                self._error(failed, body.expressions.data(error).text, offset)
            case "advance":
                return self._advance(operation.arguments[0], offset, body.expressions)
            case _:
                assert operation.primitive is not None
                if operation.primitive.op in ("exit", "_jump", "_jump_if_zero"):
                    raise InputError(body.where, f"primitive '{operation.primitive.op}'", "one without jumps")
                body.primitive(operation.primitive)
        return offset

    def _set(self, target: ir.Expression, value: ir.Expression, offset: Offset, body: Body) -> None:
        if isinstance(value, ir.Lookahead):
            body.store(target, self._lookahead(value, target, offset))
        elif (
            isinstance(target, ir.FieldRef)
            and isinstance(value, ir.FieldRef)
            and self.program.field_type(target).variable
        ):
            body.primitive(ir.Primitive("assign_VL", (target, value)))
        else:
            body.store(target, body.expressions.data(value))

    def _lookahead(self, value: ir.Lookahead, target: ir.Expression, offset: Offset) -> Value:
        self._error(f"size < {offset.at((value.offset + value.width + 7) // 8)}", "PacketTooShort", offset)
        signed = False
        if isinstance(target, ir.FieldRef):
            field = self.program.field_type(target)
            signed = field.signed and field.width == value.width
        text = read_bits(ir.FieldType("", value.width, signed), value.offset, offset)
        low, high = (-(1 << value.width - 1), (1 << value.width - 1) - 1) if signed else (0, (1 << value.width) - 1)
        return Value(f"({text})", low, high)

    def _advance(self, amount: ir.Expression, offset: Offset, expressions: Expressions) -> Offset:
        bits = expressions.data(amount)
        if bits.constant is not None:
            if bits.constant % 8:
                self._error("True", "ParserInvalidArgument", offset)
            self._error(f"size < {offset.at(bits.constant // 8)}", "PacketTooShort", offset)
            return offset.moved(bits.constant // 8)
        self.source.add(f"bits = {bits.text}")
        self._error("bits & 7", "ParserInvalidArgument", offset)
        self.source.add(f"end = {offset.at(0)} + (bits >> 3)")
        self._error("size < end", "PacketTooShort", offset)
        self.source.add("o = end")
        return Offset(0, "o")

    def _error(self, condition: str, error: str, offset: Offset) -> None:
        """Stop with `error` (a core error's name, or a number's text) if `condition` holds."""
        code = str(self.program.errors[error]) if error in self.program.errors else error
        with self.source.block(f"if {condition}:"):
            if "parser_error" in self.layout.used:
                self.source.add(f"p.parser_error = {code}")
            self.source.add(f"p.offset = {offset.at(0)}", "return")

    # --- transitions ---

    def _select(self, state: ir.ParseState, offset: Offset, expressions: Expressions, looping: bool) -> None:
        cases = [case for case in state.transitions if not case.default]
        defaults = [case.target for case in state.transitions if case.default]
        default = defaults[-1] if defaults else None
        if not state.keys or not cases:
            self._go(default, offset, looping)
            return
        keys = [
            self._key(key, width, number, offset, expressions, len(cases))
            for number, (key, width) in enumerate(state.keys)
        ]
        widths = [width for _, width in state.keys]
        word = "if"
        for case in cases:
            condition = self._condition(case, keys, widths)
            if condition is None:
                default = case.target
                break
            with self.source.block(f"{word} {condition}:"):
                self._go(case.target, offset, looping)
            word = "elif"
        if word == "if":
            self._go(default, offset, looping)
            return
        with self.source.block("else:"):
            self._go(default, offset, looping)

    def _key(
        self, key: ir.Expression, width: int, number: int, offset: Offset, expressions: Expressions, uses: int
    ) -> str:
        if isinstance(key, ir.Lookahead):
            self._error(f"size < {offset.at((key.offset + width + 7) // 8)}", "PacketTooShort", offset)
            text = read_bits(ir.FieldType("", width), key.offset, offset)
        else:
            if isinstance(key, ir.LastField):
                self._error(f"p.{self.layout.next_of(key.stack)} == 0", "StackOutOfBounds", offset)
            text = cut(expressions.data(key), width).text
        if uses == 1 and not isinstance(key, ir.Lookahead):
            return text
        self.source.add(f"key{number} = {text}")
        return f"key{number}"

    def _condition(self, case: ir.Transition, keys: list[str], widths: list[int]) -> str | None:
        """The text of a case's test, None when it always holds."""
        if case.value_set is not None:
            text = keys[0]
            for key, width in zip(keys[1:], widths[1:], strict=True):
                text = f"({text} << {width} | {key})"
            return f"{text} in {self.layout.names.value_set(case.value_set)}"
        tests = []
        for key, value, mask in zip(keys, case.values, case.masks, strict=True):
            if mask == -1:
                tests.append(f"{key} == {value:#x}")
            elif mask:
                tests.append(f"{key} & {mask:#x} == {value & mask:#x}")
        return " and ".join(tests) or None

    def _go(self, target: str | None, offset: Offset, looping: bool) -> None:
        """Accept, go on with the next state here, or leave its number for the loop."""
        if target is None:
            self.source.add(f"p.offset = {offset.at(0)}", "return")
        elif target in self._numbers:
            if offset != Offset(0, "o"):
                self.source.add(f"o = {offset.at(0)}")
            self.source.add(f"state = {self._numbers[target]}")
            if looping:
                self.source.add("continue")
        else:
            self._state(target, offset, looping)


def _targets(state: ir.ParseState) -> list[str | None]:
    """The states that may follow, once for each place in the code that leads to them."""
    cases = [case.target for case in state.transitions if not case.default] if state.keys else []
    defaults = [case.target for case in state.transitions if case.default]
    return [*cases, *defaults[-1:]]


def _consumes(operation: ir.Extract | ir.ParserOp) -> bool:
    if isinstance(operation, ir.Extract):
        return True
    if operation.op != "advance":
        return False
    amount = operation.arguments[0]
    return not isinstance(amount, ir.Constant) or amount.value >= 8
