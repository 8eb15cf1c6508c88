"""Code for primitives: each becomes a statement or a few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.expressions import Expressions, cut
from pymodel.switch.engine.headers import Headers
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.source import Source, Value
from pymodel.switch.engine.structure import Choice, Leave, Node
from pymodel.switch.engine.units import MOD, Place

__all__ = ["Body"]

_SESSION_LIMIT, _SESSION_MASK = 0xFFFF, 0x7FFF
_WORD = (1 << 64) - 1


class Body:
    """Writes primitives one after the other into `source`.

    Changed headers are noted once in a straight run of statements; `exits` tells that an ``exit`` was seen.
    """

    def __init__(
        self,
        source: Source,
        layout: Layout,
        headers: Headers,
        where: str,
        parameters: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.source = source
        self.layout = layout
        self.program = layout.program
        self.headers = headers
        self.names = layout.names
        self.where = where
        self.expressions = Expressions(layout, where, parameters)
        self._noted: set[str] = set()
        self._counts_length = "packet_length" in layout.used

    def tree(self, nodes: Sequence[Node], leave: str) -> None:
        """Write a tree; `leave` is the statement that ends the action early."""
        for node in nodes:
            if isinstance(node, Leave):
                self.source.add(leave)
            elif isinstance(node, Choice):
                self._choice(node, leave)
            else:
                self.primitive(node)

    def _choice(self, node: Choice, leave: str) -> None:
        before = set(self._noted)
        with self.source.block(f"if {self.truth(node.condition)}:"):
            self.tree(node.then, leave)
        self._noted = set(before)
        if node.otherwise:
            with self.source.block("else:"):
                self.tree(node.otherwise, leave)
        self._noted = before

    def truth(self, condition: ir.Expression) -> str:
        """The text of a jump's condition, a number that is not 0."""
        if isinstance(condition, ir.Unary) and condition.op == "b2d":
            return self.expressions.boolean(condition.operand)
        value = self.expressions.data(condition)
        return f"{value.text} != 0"

    def primitive(self, primitive: ir.Primitive) -> None:
        """Write one primitive; InputError for one that isn't known."""
        entry = _PRIMITIVES.get(primitive.op)
        if entry is None:
            raise InputError(self.where, f"primitive '{primitive.op}'", "a primitive that the engine knows")
        write, count = entry
        if len(primitive.arguments) != count:
            raise InputError(
                self.where, f"{len(primitive.arguments)} arguments for '{primitive.op}'", f"{count} of them"
            )
        write(self, primitive)

    def forget(self) -> None:
        """Start a new straight run of statements."""
        self._noted.clear()

    def store(self, target: ir.Argument, value: Value) -> None:
        """Write a number to a field and note that its header has changed."""
        for place in self.headers.store(self.source, target, value, self.expressions):
            self._note(place)

    def _note(self, place: Place) -> None:
        text = place.part(MOD)
        if text not in self._noted:
            self._noted.add(text)
            self.source.add(f"{text} = True")

    def _data(self, argument: ir.Argument) -> Value:
        if isinstance(argument, ir.CalculationRef | ir.CounterRef | ir.MeterRef | ir.RegisterRef | ir.Text | ir.Vector):
            raise InputError(self.where, f"argument {argument!r}", "a number")
        return self.expressions.data(argument)

    # --- fields and headers ---

    def _assign(self, primitive: ir.Primitive) -> None:
        target, value = primitive.arguments
        self.store(target, self._data(value))

    def _assign_variable(self, primitive: ir.Primitive) -> None:
        places = []
        for argument in primitive.arguments:
            if not isinstance(argument, ir.FieldRef) or not self.program.field_type(argument).variable:
                raise InputError(self.where, f"assign_VL of {argument!r}", "fields of variable length")
            places.append((self.layout.place(argument.header), argument.field))
        (target, name), (origin, other) = places
        self.source.add(f"{target.part(name)} = {origin.part(other)}")
        if target.unit.keeps_mod:
            self._note(target)

    def _assign_header(self, primitive: ir.Primitive) -> None:
        target, origin = primitive.arguments
        self._with_places(lambda first, second: self.headers.copy(self.source, first, second), target, origin)
        self.forget()

    def _assign_stack(self, primitive: ir.Primitive) -> None:
        target, origin = primitive.arguments
        if not isinstance(target, ir.StackRef) or not isinstance(origin, ir.StackRef):
            raise InputError(self.where, f"assign_header_stack of {primitive.arguments!r}", "two header stacks")
        self._copy_stacks([target.name], [origin.name])

    def _assign_union_stack(self, primitive: ir.Primitive) -> None:
        target, origin = primitive.arguments
        if not isinstance(target, ir.UnionStackRef) or not isinstance(origin, ir.UnionStackRef):
            raise InputError(self.where, f"assign_union_stack of {primitive.arguments!r}", "two stacks of unions")
        stacks = [list(self.program.union_stacks[name].stacks.values()) for name in (target.name, origin.name)]
        self._copy_stacks(*stacks)

    def _copy_stacks(self, targets: list[str], origins: list[str]) -> None:
        """Copy stacks element by element, those of a stack of unions together."""
        first, second = ([self.layout.units[name] for name in names] for names in (targets, origins))
        if [(unit.size, unit.type.name) for unit in first] != [(unit.size, unit.type.name) for unit in second]:
            raise InputError(self.where, f"stacks {targets[0]} and {origins[0]}", "stacks of one type and size")
        self.source.add(f"p.{self.layout.next_of(targets[0])} = p.{self.layout.next_of(origins[0])}")
        for index in range(first[0].size or 0):
            for unit, other in zip(first, second, strict=True):
                self.headers.copy(self.source, Place(unit, str(index)), Place(other, str(index)))
        self.forget()

    def _assign_union(self, primitive: ir.Primitive) -> None:
        target, origin = primitive.arguments
        if not isinstance(target, ir.UnionRef) or not isinstance(origin, ir.UnionRef):
            raise InputError(self.where, f"assign_union of {primitive.arguments!r}", "two header unions")
        members = zip(self.program.unions[target.name].headers, self.program.unions[origin.name].headers, strict=True)
        for first, second in members:
            self.headers.copy(self.source, self.layout.place(first), self.layout.place(second))
        self.forget()

    def _add_header(self, primitive: ir.Primitive) -> None:
        self._with_places(lambda place: self.headers.add(self.source, place, self._counts_length), *primitive.arguments)
        self.forget()

    def _remove_header(self, primitive: ir.Primitive) -> None:
        self._with_places(
            lambda place: self.headers.remove(self.source, place, self._counts_length), *primitive.arguments
        )

    def _with_places(self, write: Callable[..., None], *arguments: ir.Argument) -> None:
        """Call `write` with the places of header arguments; a computed index outside its stack skips what it writes."""
        places: list[Place] = []
        guards: list[str] = []
        for number, argument in enumerate(arguments):
            if isinstance(argument, ir.HeaderRef):
                place = self.layout.place(argument.name)
                if place.unit.metadata:
                    raise InputError(self.where, f"metadata struct {argument.name}", "a header")
                places.append(place)
            elif isinstance(argument, ir.ElementRef):
                unit = self.layout.units[argument.stack]
                self.source.add(f"index{number} = {self._data(argument.index).text}")
                guards.append(f"0 <= index{number} < {unit.size}")
                places.append(Place(unit, f"index{number}"))
            else:
                raise InputError(self.where, f"argument {argument!r}", "a header")
        if len({place.unit.type.name for place in places}) > 1:
            raise InputError(self.where, "headers of different types", "headers of one type")
        if guards:
            with self.source.block(f"if {' and '.join(guards)}:"):
                write(*places)
        else:
            write(*places)

    def _push(self, primitive: ir.Primitive) -> None:
        stack, count = primitive.arguments
        if not isinstance(stack, ir.StackRef | ir.UnionStackRef) or not isinstance(count, ir.Constant):
            raise InputError(
                self.where, f"{primitive.op} with {primitive.arguments!r}", "a header stack and a constant"
            )
        sign = 1 if primitive.op == "push" else -1
        of_unions = isinstance(stack, ir.UnionStackRef)
        names = self.program.union_stacks[stack.name].stacks.values() if of_unions else [stack.name]
        units = [self.layout.units[name] for name in names]
        self.headers.shift(self.source, units, sign * count.value, of_unions)
        self.forget()

    # --- what happens to the packet ---

    def _mark_to_drop(self, primitive: ir.Primitive) -> None:
        self.source.add("p.egress_spec = DROP_PORT")
        if "mcast_grp" in self.layout.used:
            self.source.add("p.mcast_grp = 0")

    def _clone(self, primitive: ir.Primitive) -> None:
        session, fields = primitive.arguments
        value = self._data(session)
        limited = value.text if value.within(0, _SESSION_LIMIT) else f"min({value.text}, {_SESSION_LIMIT:#x})"
        self.source.add(f"p.clone = ({limited} & {_SESSION_MASK:#x}, {self._list(fields)})")

    def _again(self, primitive: ir.Primitive) -> None:
        self.source.add(f"p.{primitive.op} = {self._list(primitive.arguments[0])}")

    def _list(self, argument: ir.Argument) -> int:
        if not isinstance(argument, ir.Constant) or argument.value not in self.program.field_lists:
            raise InputError(self.where, f"field list {argument!r}", "the id of a field list")
        return argument.value

    def _digest(self, primitive: ir.Primitive) -> None:
        chosen = primitive.arguments[1]
        if not isinstance(chosen, ir.Constant) or chosen.value not in self.program.learn_lists:
            raise InputError(self.where, f"digest {chosen!r}", "the id of a learn list")
        self.source.add(f"p.learn = {chosen.value}")

    def _truncate(self, primitive: ir.Primitive) -> None:
        length = self._data(primitive.arguments[0]).text
        self.source.add(f"p.truncate = min({length}, p.truncate)")

    def _exit(self, primitive: ir.Primitive) -> None:
        self.source.add("leave = True")

    def _nothing(self, primitive: ir.Primitive) -> None:
        self.source.add("pass")

    def _assert(self, primitive: ir.Primitive) -> None:
        condition = primitive.arguments[0]
        truth = f"{self._data(condition).text} == 0"
        with self.source.block(f"if {truth}:"):
            self.source.add(f"fail(p, {primitive.source or self.where!r})")

    def _log(self, primitive: ir.Primitive) -> None:
        text, values = primitive.arguments
        if not isinstance(text, ir.Text) or not isinstance(values, ir.Vector):
            raise InputError(self.where, f"log_msg with {primitive.arguments!r}", "a format and its values")
        if text.value.count("{}") != len(values.items):
            raise InputError(self.where, f"{len(values.items)} values for log_msg {text.value!r}", "one for each {}")
        parts = "".join(f"{self._data(item).text}, " for item in values.items)
        self.source.add(f"log({text.value!r}, ({parts}))")

    # --- stateful objects ---

    def _count(self, primitive: ir.Primitive) -> None:
        counter, index = primitive.arguments
        if not isinstance(counter, ir.CounterRef):
            raise InputError(self.where, f"argument {counter!r}", "a counter array")
        name, size = self.names.counter(counter.name), self.program.counters[counter.name].size

        def write(at: str) -> None:
            self.source.add(f"{name}_packets[{at}] += 1; {name}_bytes[{at}] += p.size")

        self._within(self._data(index), size, write)

    def _register_read(self, primitive: ir.Primitive) -> None:
        target, register, index = primitive.arguments
        name, array = self._register(register)
        cell_range = (1 << array.width) - 1
        self._within(
            self._data(index), array.size, lambda at: self.store(target, Value(f"{name}[{at}]", 0, cell_range))
        )

    def _register_write(self, primitive: ir.Primitive) -> None:
        register, index, value = primitive.arguments
        name, array = self._register(register)
        stored = cut(self._data(value), array.width).text
        self._within(self._data(index), array.size, lambda at: self.source.add(f"{name}[{at}] = {stored}"))

    def _register(self, argument: ir.Argument) -> tuple[str, ir.RegisterArray]:
        if not isinstance(argument, ir.RegisterRef):
            raise InputError(self.where, f"argument {argument!r}", "a register array")
        return self.names.register(argument.name), self.program.registers[argument.name]

    def _execute_meter(self, primitive: ir.Primitive) -> None:
        meter, index, target = primitive.arguments
        if not isinstance(meter, ir.MeterRef):
            raise InputError(self.where, f"argument {meter!r}", "a meter array")
        name, size = self.names.meter(meter.name), self.program.meters[meter.name].size
        self._within(
            self._data(index), size, lambda at: self.store(target, Value(f"{name}({at}, p.now, p.size)", 0, 2))
        )

    def _within(self, index: Value, size: int, write: Callable[[str], None]) -> None:
        """Write a use of ``array[index]`` that an index outside the array skips."""
        if index.within(0, size - 1):
            write(index.text)
            return
        self.source.add(f"at = {index.text}")
        with self.source.block(f"if 0 <= at < {size}:"):
            before = set(self._noted)
            write("at")
            self._noted = before

    def _hash(self, primitive: ir.Primitive) -> None:
        target, base, calculation, size = primitive.arguments
        if not isinstance(calculation, ir.CalculationRef):
            raise InputError(self.where, f"argument {calculation!r}", "a calculation")
        start, limit = self._data(base), self._data(size)
        divisor = limit.text if limit.low is not None and limit.low > 0 else f"({limit.text} or 1)"
        text = f"{self.names.calculation(calculation.name)}(p) % {divisor}"
        if start.constant != 0:
            text = f"({text} + {start.text} & {_WORD:#x})"
        high = limit.high - 1 if start.constant == 0 and limit.high else _WORD
        self.store(target, Value(text, 0, high))

    def _random(self, primitive: ir.Primitive) -> None:
        target, low, high = primitive.arguments
        first, last = self._data(low), self._data(high)
        if first.constant is not None and last.constant is not None and first.constant <= last.constant:
            self.store(target, Value(f"random({first.text}, {last.text})", first.constant, last.constant))
            return
        self.source.add(f"low = {first.text}; high = {last.text}")
        with self.source.block("if low <= high:"):
            self.store(target, Value("random(low, high)", first.low, last.high))
        self.forget()


_Writer = Callable[[Body, ir.Primitive], None]

_PRIMITIVES: Mapping[str, tuple[_Writer, int]] = {
    "assign": (Body._assign, 2),
    "assign_VL": (Body._assign_variable, 2),
    "assign_header": (Body._assign_header, 2),
    "assign_header_stack": (Body._assign_stack, 2),
    "assign_union": (Body._assign_union, 2),
    "assign_union_stack": (Body._assign_union_stack, 2),
    "add_header": (Body._add_header, 1),
    "remove_header": (Body._remove_header, 1),
    "push": (Body._push, 2),
    "pop": (Body._push, 2),
    "mark_to_drop": (Body._mark_to_drop, 1),
    "drop": (Body._mark_to_drop, 0),
    "no_op": (Body._nothing, 0),
    "clone_ingress_pkt_to_egress": (Body._clone, 2),
    "clone_egress_pkt_to_egress": (Body._clone, 2),
    "resubmit": (Body._again, 1),
    "recirculate": (Body._again, 1),
    "generate_digest": (Body._digest, 2),
    "truncate": (Body._truncate, 1),
    "exit": (Body._exit, 0),
    "assert": (Body._assert, 1),
    "assume": (Body._assert, 1),
    "log_msg": (Body._log, 2),
    "count": (Body._count, 2),
    "register_read": (Body._register_read, 3),
    "register_write": (Body._register_write, 3),
    "execute_meter": (Body._execute_meter, 3),
    "modify_field_with_hash_based_offset": (Body._hash, 4),
    "modify_field_rng_uniform": (Body._random, 3),
}
"""What each primitive is written by, and its number of arguments."""
