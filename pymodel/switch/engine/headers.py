"""Code that takes headers apart, changes them and puts them together again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.expressions import Expressions, cut
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.source import Source, Value
from pymodel.switch.engine.units import MOD, OK, RAW, Place, Unit, segments

__all__ = ["Headers", "Offset", "read_bits"]

_STRUCT = {8: "B", 16: "H", 32: "I", 64: "Q", 128: "QQ"}


@dataclass(frozen=True, slots=True)
class Offset:
    """A place in the packet's bytes: a number, after a local variable when it isn't known beforehand."""

    number: int = 0
    base: str = ""

    def at(self, more: int) -> str:
        """The text of the place `more` bytes on."""
        total = self.number + more
        if not self.base:
            return str(total)
        return f"{self.base} + {total}" if total else self.base

    def moved(self, more: int) -> Offset:
        """The offset `more` bytes on."""
        return Offset(self.number + more, self.base)


class Headers:
    """Writes header code for one layout; `structs` collects the struct formats that the module has to define."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.structs: dict[str, str] = {}

    # --- taking apart ---

    def extract(self, source: Source, place: Place, offset: Offset) -> None:
        """The statements that fill a header of fixed length from the packet."""
        unit = place.unit
        if unit.keeps_raw:
            source.add(f"{place.part(RAW)} = data[{offset.at(0)}:{offset.at(unit.type.bytes)}]")
        if unit.keeps_mod:
            source.add(f"{place.part(MOD)} = False")
        for line in self._fields(place, offset, unit.live_fields):
            source.add(line)
        self.mark_valid(source, place)

    def extract_variable(self, source: Source, place: Place, length: str) -> None:
        """The same for a header with a field of `length` bytes, at the local variable `o`; `end` is set to its end."""
        unit = place.unit
        variable = unit.type.variable
        assert variable is not None
        fields = list(unit.type.fields)
        position = fields.index(variable)
        before = sum(item.width for item in fields[:position]) // 8
        for line in self._fields(place, Offset(0, "o"), fields[:position]):
            source.add(line)
        source.add(f"{place.part(variable.name)} = data[o + {before}:o + {before} + {length}]")
        # After the field everything lies `length` bytes further on.
        for line in self._fields(place, Offset(0, f"o + {length}"), fields[position + 1 :]):
            source.add(line)
        if unit.keeps_raw:
            source.add(f"{place.part(RAW)} = data[o:end]")
        if unit.keeps_mod:
            source.add(f"{place.part(MOD)} = False")
        self.mark_valid(source, place)

    def _fields(self, place: Place, offset: Offset, wanted: list[ir.FieldType]) -> Iterator[str]:
        starts = self._starts(place.unit.type)
        whole = [item for item in wanted if starts[item.name] % 8 == 0 and item.width in _STRUCT and not item.signed]
        if sum(item.width > 8 for item in whole) >= 2:
            yield self._unpack(place, offset, whole, starts)
            wanted = [item for item in wanted if item not in whole]
        for item in wanted:
            if not item.variable:
                yield f"{place.part(item.name)} = {read_bits(item, starts[item.name], offset)}"

    def _unpack(self, place: Place, offset: Offset, fields: list[ir.FieldType], starts: dict[str, int]) -> str:
        """One struct call for several whole fields; a field of 128 bits comes as two halves."""
        layout, targets, joins = ">", [], []
        position = first = starts[fields[0].name] // 8
        for number, item in enumerate(fields):
            start = starts[item.name] // 8
            layout += f"{start - position}x" if start > position else ""
            layout += _STRUCT[item.width]
            position = start + item.width // 8
            if item.width == 128:
                targets += [f"high{number}", f"low{number}"]
                joins.append(f"{place.part(item.name)} = high{number} << 64 | low{number}")
            else:
                targets.append(place.part(item.name))
        name = self.structs.setdefault(layout, f"unpack_{len(self.structs)}")
        return "; ".join([f"{', '.join(targets)} = {name}(data, {offset.at(first)})", *joins])

    @staticmethod
    def _starts(header_type: ir.HeaderType) -> dict[str, int]:
        starts, position = {}, 0
        for item in header_type.fields:
            starts[item.name] = position
            position += item.width
        return starts

    # --- changing ---

    def mark_valid(self, source: Source, place: Place) -> None:
        """Make a header valid, and the other members of its union invalid."""
        source.add(f"{place.part(OK)} = True")
        for sibling in self.layout.siblings(place.unit):
            source.add(f"{Place(sibling, place.index).part(OK)} = False")

    def add(self, source: Source, place: Place, count_length: bool) -> None:
        """``setValid``: a header that was invalid becomes valid with every field 0."""
        unit = place.unit
        with source.block(f"if not {place.part(OK)}:"):
            self.mark_valid(source, place)
            variable = unit.type.variable
            for item in unit.live_fields:
                # A field of variable length keeps its length; its bytes become 0.
                zero = f"bytes(len({place.part(item.name)}))" if item.variable else "0"
                source.add(f"{place.part(item.name)} = {zero}")
            if unit.keeps_raw and variable is None:
                source.add(f"{place.part(RAW)} = {bytes(unit.type.bytes)!r}")
            if unit.keeps_mod:
                source.add(f"{place.part(MOD)} = {variable is not None}")
            elif unit.keeps_raw and variable is not None:
                source.add(f"{place.part(RAW)} = {self.composed(place)}")
            if count_length:
                source.add(f"p.length += {self.length(place)}")

    def remove(self, source: Source, place: Place, count_length: bool) -> None:
        """``setInvalid``; the fields keep their values."""
        if count_length:
            with source.block(f"if {place.part(OK)}:"):
                source.add(f"p.length -= {self.length(place)}", f"{place.part(OK)} = False")
        else:
            source.add(f"{place.part(OK)} = False")

    def copy(self, source: Source, target: Place, origin: Place) -> None:
        """Header assignment: validity, and the fields if the origin is valid."""
        with source.block(f"if {origin.part(OK)}:"):
            for column in target.unit.columns:
                if column != OK:
                    source.add(f"{target.part(column)} = {origin.part(column)}")
            self.mark_valid(source, target)
        with source.block("else:"):
            source.add(f"{target.part(OK)} = False")

    def shift(self, source: Source, units: list[Unit], count: int, of_unions: bool) -> None:
        """``push_front(count)``, or with a negative count ``pop_front``.

        `units` is a stack, or all the stacks that a stack of unions is made of. The freed elements become invalid,
        but not those of a stack of unions: BMv2 leaves there what the exchange of elements brought.
        """
        size = units[0].size or 0
        moved = min(abs(count), size)
        if moved == 0:
            return
        order = list(range(size))
        places = range(size - 1, moved - 1, -1) if count > 0 else range(size - moved)
        for place in places:
            other = place - moved if count > 0 else place + moved
            order[place], order[other] = order[other], order[place]
        freed = f"0:{moved}" if count > 0 else f"{size - moved}:"
        for unit in units:
            for column in unit.columns if order != list(range(size)) else ():
                source.add(f"old = p.{unit.slots[column]}")
                source.add(f"p.{unit.slots[column]} = [{', '.join(f'old[{place}]' for place in order)}]")
            if not of_unions:
                source.add(f"p.{unit.slots[OK]}[{freed}] = {[False] * moved}")
        following = f"p.{self.layout.next_of(units[0].name)}"
        bound = f"min({following} + {count}, {size})" if count > 0 else f"max({following} - {-count}, 0)"
        source.add(f"{following} = {bound}")

    def store(self, source: Source, target: ir.Argument, value: Value, expressions: Expressions) -> list[Place]:
        """Write a number to a field. Returns the headers whose kept bytes are out of date now."""
        match target:
            case ir.FieldRef(header, name) if name != ir.VALID:
                place = self.layout.place(header)
                return self._store_field(source, place, name, value, expressions)
            case ir.MemberField(ir.ElementRef(stack, index), name):
                return self._store_element(source, stack, expressions.data(index), name, value, expressions)
            case ir.LastField(stack, name):
                following = self.layout.next_of(stack)
                return self._store_element(source, stack, Value(f"p.{following} - 1", -1), name, value, expressions)
            case _:
                raise InputError(expressions.where, f"a write to {type(target).__name__}", "a field as target")

    def _store_field(
        self, source: Source, place: Place, name: str, value: Value, expressions: Expressions
    ) -> list[Place]:
        field = self.layout.type_of(place, name)
        if field.variable:
            raise InputError(
                expressions.where, f"a number for field {name} of variable length", "a copy of such a field"
            )
        source.add(f"{place.part(name)} = {expressions.stored(value, field)}")
        return [place] if place.unit.keeps_mod else []

    def _store_element(
        self, source: Source, stack: str, index: Value, name: str, value: Value, expressions: Expressions
    ) -> list[Place]:
        unit = self.layout.units[stack]
        place = Place(unit, "index")
        source.add(f"index = {index.text}")
        field = self.layout.type_of(place, name)
        with source.block(f"if 0 <= index < {unit.size}:"):
            source.add(f"{place.part(name)} = {expressions.stored(value, field)}")
            if unit.keeps_mod:
                source.add(f"{place.part(MOD)} = True")
        return []

    # --- putting together ---

    def length(self, place: Place) -> str:
        """The header's bytes on the wire, as text."""
        variable = place.unit.type.variable
        fixed = str(place.unit.type.bytes)
        return fixed if variable is None else f"({fixed} + len({place.part(variable.name)}))"

    def bytes_of(self, place: Place) -> str:
        """The expression for a valid header's bytes."""
        if not place.unit.keeps_mod:
            return place.part(RAW)
        return f"({self.composed(place)} if {place.part(MOD)} else {place.part(RAW)})"

    def composed(self, place: Place) -> str:
        """The expression that puts a header's bytes together from its live fields and, between them, its kept bytes."""
        pieces: list[str] = []
        run: list[ir.FieldType] = []
        dead_from: int | None = None
        position = 0

        def end_run() -> None:
            if run:
                pieces.append(self._packed(place, list(run)))
                run.clear()

        def end_dead(at: int) -> None:
            nonlocal dead_from
            if dead_from is not None:
                pieces.append(f"{place.part(RAW)}[{dead_from}:{at}]")
                dead_from = None

        for segment in segments(place.unit.type):
            if segment[0].variable:
                end_dead(position)
                end_run()
                pieces.append(place.part(segment[0].name))
            elif segment[0].name in place.unit.traits.live:
                end_dead(position)
                run += segment
            else:
                end_run()
                dead_from = position if dead_from is None else dead_from
            position += sum(item.width for item in segment) // 8
        end_dead(position)
        end_run()
        return " + ".join(pieces) or "b''"

    def _packed(self, place: Place, fields: list[ir.FieldType]) -> str:
        text, width = "", 0
        for item in fields:
            part = Value(place.part(item.name), None if item.signed else 0, (1 << item.width) - 1)
            bits = cut(part, item.width).text
            text = f"({text} << {item.width} | {bits})" if text else bits
            width += item.width
        return f"{text}.to_bytes({width // 8})"


def read_bits(field: ir.FieldType, start: int, offset: Offset) -> str:
    """The expression for one field at bit `start` of a header."""
    first, last = start // 8, (start + field.width + 7) // 8
    if last - first == 1:
        text = f"data[{offset.at(first)}]"
    else:
        text = f"from_bytes(data[{offset.at(first)}:{offset.at(last)}])"
    drop = last * 8 - start - field.width
    if drop:
        text = f"{text} >> {drop}"
    if start % 8:
        text = f"({text}) & {(1 << field.width) - 1:#x}" if drop else f"{text} & {(1 << field.width) - 1:#x}"
    if field.signed:
        half = 1 << field.width - 1
        text = f"(({text}) ^ {half:#x}) - {half:#x}"
    return text
