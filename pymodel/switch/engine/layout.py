"""The attributes of a program's packet: which fields are live, which headers share their traits, what each is called.

See `units` for how a header lives in them.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

from pymodel.switch.engine import ir
from pymodel.switch.engine.names import Names
from pymodel.switch.engine.units import NEXT, Place, Traits, Unit, segments

__all__ = ["INTRINSIC", "Layout"]

INTRINSIC = {
    "ingress_port": "standard_metadata.ingress_port",
    "egress_spec": "standard_metadata.egress_spec",
    "egress_port": "standard_metadata.egress_port",
    "instance_type": "standard_metadata.instance_type",
    "packet_length": "standard_metadata.packet_length",
    "parser_error": "standard_metadata.parser_error",
    "checksum_error": "standard_metadata.checksum_error",
    "ingress_timestamp": "intrinsic_metadata.ingress_global_timestamp",
    "egress_timestamp": "intrinsic_metadata.egress_global_timestamp",
    "mcast_grp": "intrinsic_metadata.mcast_grp",
    "egress_rid": "intrinsic_metadata.egress_rid",
    "priority": "intrinsic_metadata.priority",
    "enq_timestamp": "queueing_metadata.enq_timestamp",
    "enq_qdepth": "queueing_metadata.enq_qdepth",
    "deq_timedelta": "queueing_metadata.deq_timedelta",
    "deq_qdepth": "queueing_metadata.deq_qdepth",
    "qid": "queueing_metadata.qid",
}
"""Attribute of the packet, and simple_switch's name, of each metadata field that the switch itself reads or writes."""

_QUEUEING = ("enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth")

_RESERVED = frozenset(
    [
        "data",
        "offset",
        "port",
        "length",
        "size",
        "now",
        "registers",
        "exit",
        "clone",
        "learn",
        "resubmit",
        "recirculate",
        "truncate",
        "budget",
        "failed",
    ]
)


_WRITES = {
    "assign": 0,
    "assign_VL": 0,
    "modify_field_with_hash_based_offset": 0,
    "modify_field_rng_uniform": 0,
    "register_read": 0,
    "execute_meter": 2,
}
"""The argument that each primitive writes a field through."""


class Layout:
    """The attributes of a program's packet. `used` says which of `INTRINSIC` the program reads or writes by name."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.names = Names(program)
        self.units: dict[str, Unit] = {}
        for header in program.headers.values():
            if header.stack is None:
                self.units[header.name] = Unit(header.name, header.type, header.metadata, None, header.union)
        for stack in program.stacks.values():
            self.units[stack.name] = Unit(stack.name, stack.type, False, len(stack.headers))
        for union_stack in program.union_stacks.values():
            for name in union_stack.stacks.values():
                self.units[name].union = union_stack.name
        self._leaders = {name: name for name in self.units}
        found = {slot: ref for slot, name in INTRINSIC.items() if (ref := program.intrinsic(name)) is not None}
        # BMv2 fills queueing metadata if the program has all of it.
        absent = set() if set(_QUEUEING) <= found.keys() else {*_QUEUEING, "qid"}
        self._alias_names = {ref: slot for slot, ref in found.items() if slot not in absent}
        self.used: set[str] = set()
        self._find_live()
        self._share_between_copies()
        self._name()

    # --- what the generators ask ---

    def unit(self, header: str) -> Unit:
        """The unit that a header instance belongs to."""
        stack = self.program.headers[header].stack
        return self.units[stack or header]

    def place(self, header: str) -> Place:
        """Where a header instance is."""
        item = self.program.headers[header]
        return Place(self.unit(header), None if item.stack is None else str(item.index))

    def type_of(self, place: Place, name: str) -> ir.FieldType:
        """The type of a field of the header at `place`."""
        found = place.unit.type.field(name)
        assert found is not None, name
        return found

    def next_of(self, stack: str) -> str:
        """The attribute that counts the elements of a stack in use."""
        return self.units[self.program.stacks[stack].leader or stack].slots[NEXT]

    def siblings(self, unit: Unit) -> list[Unit]:
        """The other members of a union, or of a stack of unions, that `unit` is in."""
        if unit.union is None:
            return []
        if unit.union in self.program.union_stacks:
            stacks = self.program.union_stacks[unit.union].stacks.values()
            return [self.units[name] for name in stacks if name != unit.name]
        return [self.units[name] for name in self.program.unions[unit.union].headers if name != unit.name]

    @property
    def slots(self) -> list[str]:
        """Every attribute that holds a header or metadata."""
        found = []
        for unit in self.units.values():
            found += [unit.slots[column] for column in unit.columns]
            if unit.size is not None:
                found.append(unit.slots[NEXT])
        return found

    # --- how it is worked out ---

    def _find_live(self) -> None:
        for expression in self._expressions():
            for part in ir.walk(expression):
                self._mark(part)
        for unit in self.units.values():
            variable = unit.type.variable
            if variable is not None:
                unit.traits.live.update(item.name for item in unit.type.fields)
        for name in self.program.deparser:
            self.unit(name).traits.emitted = True
        for calculation in self.program.calculations.values():
            for item in calculation.inputs:
                if isinstance(item, ir.HeaderRef):
                    self.unit(item.name).traits.emitted = True
        if "deq_timedelta" in self.used and (enqueued := self.program.intrinsic(INTRINSIC["enq_timestamp"])):
            self._mark(enqueued)
        for target in self._targets():
            match target:
                case ir.FieldRef(header, _):
                    self.unit(header).traits.written = True
                case ir.LastField(stack, _) | ir.MemberField(ir.ElementRef(stack, _), _):
                    self.units[stack].traits.written = True
                case _:
                    pass

    def _mark(self, part: ir.Expression) -> None:
        match part:
            case ir.FieldRef(header, name) if name != ir.VALID:
                self._mark_field(header, name)
            case ir.LastField(stack, name) | ir.MemberField(ir.ElementRef(stack, _), name):
                self.units[stack].traits.live.add(name)
            case ir.Binary("==" | "!=" | "==h" | "!=h" | "==u" | "!=u", left, right):
                for side in (left, right):
                    for unit in self._headers_in(side):
                        unit.traits.live.update(item.name for item in unit.type.fields)
            case _:
                pass

    def _mark_field(self, header: str, name: str) -> None:
        ref = ir.FieldRef(header, name)
        if ref in self._alias_names:
            self.used.add(self._alias_names[ref])
        self.unit(header).traits.live.add(name)

    def _headers_in(self, side: ir.Expression) -> Iterator[Unit]:
        match side:
            case ir.HeaderRef(name):
                yield self.unit(name)
            case ir.ElementRef(stack, _):
                yield self.units[stack]
            case ir.UnionRef(name):
                yield from (self.unit(member) for member in self.program.unions[name].headers)
            case _:
                pass

    def _expressions(self) -> Iterator[ir.Expression]:
        """Every expression of the program, and every field named outside one."""
        program = self.program
        for state in program.states.values():
            yield from (key for key, _ in state.keys)
            for operation in state.operations:
                if isinstance(operation, ir.Extract):
                    yield from () if operation.length is None else (operation.length,)
                else:
                    yield from operation.arguments
        for primitive in self._primitives():
            yield from _operands(primitive)
        for pipeline in program.pipelines:
            for node in pipeline.nodes.values():
                if isinstance(node, ir.Conditional):
                    yield node.expression
                else:
                    yield from (key.target for key in node.keys)
            for profile in pipeline.profiles.values():
                yield from profile.inputs
        for calculation in program.calculations.values():
            yield from (item for item in calculation.inputs if isinstance(item, ir.FieldRef))
        for checksum in program.checksums:
            yield checksum.target
            if checksum.condition is not None:
                yield checksum.condition
        for fields in (*program.field_lists.values(), *program.learn_lists.values()):
            yield from fields.fields
        for meter in program.meters.values():
            if meter.target is not None:
                yield meter.target
        egress_spec = program.intrinsic(INTRINSIC["egress_spec"])
        assert egress_spec is not None
        yield egress_spec

    def _targets(self) -> Iterator[ir.Argument]:
        """Every field that is written, as the program names it."""
        for primitive in self._primitives():
            position = _WRITES.get(primitive.op)
            if position is not None and position < len(primitive.arguments):
                yield primitive.arguments[position]
        for state in self.program.states.values():
            for operation in state.operations:
                if isinstance(operation, ir.ParserOp) and operation.op == "set":
                    yield operation.arguments[0]
        yield from (checksum.target for checksum in self.program.checksums if checksum.update)
        yield from (meter.target for meter in self.program.meters.values() if meter.target is not None)

    def _primitives(self) -> Iterator[ir.Primitive]:
        program = self.program
        for action in program.actions.values():
            yield from action.primitives
        for state in program.states.values():
            for operation in state.operations:
                if isinstance(operation, ir.ParserOp) and operation.primitive is not None:
                    yield operation.primitive
        yield from program.deparser_steps

    def _share_between_copies(self) -> None:
        """Headers that are copied into each other must agree on their live fields and on keeping their bytes."""
        for primitive in self._primitives():
            if primitive.op not in ("assign_header", "assign_header_stack", "assign_union", "assign_union_stack"):
                continue
            sides = [list(self._copied(argument)) for argument in primitive.arguments]
            if len(sides) == 2:
                for left, right in zip(*sides, strict=False):
                    self._leaders[self._leader(left)] = self._leader(right)
        groups: dict[str, list[Unit]] = {}
        for name, unit in self.units.items():
            groups.setdefault(self._leader(name), []).append(unit)
        for group in groups.values():
            live = set().union(*(unit.traits.live for unit in group))
            if not group[0].metadata:
                live |= self._completed(group[0].type, live)
            shared = Traits(
                live, any(unit.traits.emitted for unit in group), any(unit.traits.written for unit in group)
            )
            for unit in group:
                unit.traits = shared

    @staticmethod
    def _completed(header_type: ir.HeaderType, live: set[str]) -> set[str]:
        """The fields that share a byte with a live one: bytes are put together from whole segments."""
        found: set[str] = set()
        for part in segments(header_type):
            names = {item.name for item in part}
            if names & live:
                found |= names
        return found

    def _copied(self, argument: ir.Argument) -> Iterator[str]:
        match argument:
            case ir.HeaderRef(name):
                yield self.unit(name).name
            case ir.StackRef(name) | ir.ElementRef(name, _):
                yield name
            case ir.UnionRef(name):
                yield from (self.unit(member).name for member in self.program.unions[name].headers)
            case ir.UnionStackRef(name):
                yield from self.program.union_stacks[name].stacks.values()
            case _:
                pass

    def _leader(self, name: str) -> str:
        while self._leaders[name] != name:
            name = self._leaders[name]
        return name

    def _name(self) -> None:
        taken = set(_RESERVED) | set(INTRINSIC)
        for unit in self.units.values():
            unit.prefix = _identifier(unit.name, taken)
            taken.add(unit.prefix)
            for column in [*unit.columns, *([NEXT] if unit.size is not None else [])]:
                alias = self._alias_names.get(ir.FieldRef(unit.name, column))
                if alias is not None and unit.size is None:
                    unit.slots[column] = alias
                    continue
                unit.slots[column] = _identifier(f"{unit.prefix}_{column.removeprefix('$')}", taken)
                taken.add(unit.slots[column])


def _operands(primitive: ir.Primitive) -> Iterable[ir.Expression]:
    for argument in primitive.arguments:
        if isinstance(argument, ir.Vector):
            yield from argument.items
        elif not isinstance(argument, ir.CalculationRef | ir.CounterRef | ir.MeterRef | ir.RegisterRef | ir.Text):
            yield argument


def _identifier(name: str, taken: set[str]) -> str:
    """A Python identifier like `name` that is not taken yet."""
    text = re.sub(r"\W", "_", name)
    if text[:1].isdigit() or keyword.iskeyword(text):
        text = f"_{text}"
    candidate, number = text, 2
    while candidate in taken:
        candidate, number = f"{text}_{number}", number + 1
    return candidate
