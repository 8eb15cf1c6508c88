"""Code for what leaves the switch: checksums, and headers and payload put together."""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.algorithms import ALGORITHMS
from pymodel.switch.engine.expressions import Expressions, cut
from pymodel.switch.engine.headers import Headers
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.primitives import Body
from pymodel.switch.engine.source import Source
from pymodel.switch.engine.units import MOD, OK

__all__ = ["DeparserWriter"]


class DeparserWriter:
    """Writes the calculations, ``verify(p)`` and ``deparse(p)``."""

    def __init__(self, layout: Layout, headers: Headers) -> None:
        self.layout = layout
        self.program = layout.program
        self.headers = headers
        self._truncates = "truncate" in {
            primitive.op for action in self.program.actions.values() for primitive in action.primitives
        }

    def calculations(self) -> str:
        """One function for each calculation, from a packet to a number."""
        source = Source()
        for calculation in self.program.calculations.values():
            if calculation.algorithm not in ALGORITHMS:
                where = f"{self.program.name}: calculation {calculation.name}"
                raise InputError(where, f"algorithm '{calculation.algorithm}'", f"one of {', '.join(ALGORITHMS)}")
            self.calculation(
                source, self.layout.names.calculation(calculation.name), calculation.algorithm, calculation.inputs
            )
        return source.text()

    def calculation(self, source: Source, name: str, algorithm: str, inputs: tuple[ir.Input, ...]) -> None:
        """The function `name`: the inputs' bits in a row, invalid headers left out, then the algorithm."""
        source.add("")
        with source.block(f"def {name}(p):"):
            source.add("value = width = 0")
            group: list[tuple[str, int]] = []
            owner: str | None = None
            for item in inputs:
                header = item.header if isinstance(item, ir.FieldRef) else None
                if group and (header is None or header != owner):
                    self._append(source, owner, group)
                    group = []
                owner = header
                match item:
                    case ir.FieldRef(_, field) if self.program.field_type(item).variable:
                        self._append(source, owner, group)
                        group = []
                        self._append_bytes(source, header, self.layout.place(item.header).part(field))
                    case ir.FieldRef():
                        width = self.program.field_type(item).width
                        value = Expressions(self.layout, name).data(item)
                        group.append((cut(value, width).text, width))
                    case ir.HeaderRef(other):
                        self._append_bytes(source, other, self.headers.bytes_of(self.layout.place(other)))
                    case ir.Payload():
                        end = "[p.offset:p.offset + p.truncate]" if self._truncates else "[p.offset:]"
                        self._append_bytes(source, None, f"p.data{end}")
                    case (constant, width):
                        self._append(source, None, [(str(constant), width)])
            self._append(source, owner, group)
            source.add(f"return {algorithm}(value, width)")

    def _append(self, source: Source, header: str | None, group: list[tuple[str, int]]) -> None:
        if not group:
            return
        total = sum(width for _, width in group)
        text = group[0][0]
        for value, width in group[1:]:
            text = f"({text} << {width} | {value})"
        self._guarded(source, header, f"value = value << {total} | {text}; width += {total}")

    def _append_bytes(self, source: Source, header: str | None, text: str) -> None:
        line = f"part = {text}; value = value << 8 * len(part) | from_bytes(part); width += 8 * len(part)"
        self._guarded(source, header, line)

    def _guarded(self, source: Source, header: str | None, line: str) -> None:
        place = None if header is None else self.layout.place(header)
        if place is None or place.unit.metadata:
            source.add(line)
            return
        with source.block(f"if {place.part(OK)}:"):
            source.add(line)

    def verify(self) -> str:
        """``verify(p)``, which notes a wrong checksum; nothing when the program verifies none."""
        checksums = [item for item in self.program.checksums if item.verify]
        if not checksums or "checksum_error" not in self.layout.used:
            return ""
        source = Source()
        with source.block("def verify(p):"):
            for item in checksums:
                expressions = Expressions(self.layout, f"{self.program.name}: checksum {item.name}")
                tests = [expressions.valid(ir.HeaderRef(item.target.header))]
                if item.condition is not None:
                    tests.append(expressions.boolean(item.condition))
                computed = f"{self.layout.names.calculation(item.calculation)}(p)"
                tests.append(f"{computed} != {expressions.data(item.target).text}")
                with source.block(f"if {' and '.join(test for test in tests if test != 'True')}:"):
                    source.add("p.checksum_error = 1")
        return source.text()

    def write(self) -> str:
        """``deparse(p)``, which returns the frame."""
        source = Source()
        with source.block("def deparse(p):"):
            for item in self.program.checksums:
                if item.update:
                    self._update(source, item)
            steps = Body(source, self.layout, self.headers, f"{self.program.name}: deparser")
            for primitive in self.program.deparser_steps:
                steps.primitive(primitive)
            source.add("frame = b''")
            for name in self.program.deparser:
                place = self.layout.place(name)
                if place.unit.metadata:
                    raise InputError(f"{self.program.name}: deparser", f"metadata struct {name}", "headers")
                with source.block(f"if {place.part(OK)}:"):
                    source.add(f"frame += {self.headers.bytes_of(place)}")
            frame = "frame + p.data[p.offset:]"
            source.add(f"return ({frame})[:p.truncate]" if self._truncates else f"return {frame}")
        return source.text()

    def _update(self, source: Source, item: ir.Checksum) -> None:
        body = Body(source, self.layout, self.headers, f"{self.program.name}: checksum {item.name}")
        call = f"{self.layout.names.calculation(item.calculation)}(p)"
        place = self.layout.place(item.target.header)

        def store() -> None:
            field = self.program.field_type(item.target)
            source.add(f"{place.part(item.target.field)} = {call} & {(1 << field.width) - 1:#x}")
            if place.unit.keeps_mod:
                source.add(f"{place.part(MOD)} = True")

        if item.condition is None:
            store()
        else:
            with source.block(f"if {body.expressions.boolean(item.condition)}:"):
                store()
