"""Code for the packet itself: a slotted class with what one program needs, and how it starts, is copied and goes on."""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.expressions import Expressions
from pymodel.switch.engine.layout import INTRINSIC, Layout
from pymodel.switch.engine.source import Source
from pymodel.switch.engine.units import MOD, NEXT, OK, RAW, Unit

__all__ = ["NO_TRUNCATION", "PacketWriter"]

NO_TRUNCATION = (1 << 63) - 1

_MICROSECOND = 1_000_000
"""In ps: BMv2's timestamps count microseconds."""


class PacketWriter:
    """Writes ``Packet``, ``copy``, ``reset_metadata``, ``start_egress`` and one ``keep_<id>`` for each field list.

    Beside headers and metadata a packet has: ``data`` (the frame as it entered), ``offset`` (where the payload starts),
    ``size`` (the length that counters and meters see), ``port`` (where it entered), ``now`` (the time in ps of the
    pipeline that it is in), and the requests of primitives, 0 or None while there are none.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.program = layout.program

    def write(self) -> str:
        """The source of the class and the functions."""
        source = Source()
        metadata, lists, scalars = self._groups()
        fixed = ["budget", "clone", "data", "failed", "learn", "length", "now", "offset", "port"]
        fixed += ["recirculate", "resubmit", "size", "truncate"]
        slots = [*fixed, *self.layout.slots]
        with source.block("class Packet:"):
            source.add(f"__slots__ = {tuple(dict.fromkeys(slots))!r}", "")
            with source.block("def __init__(self, data, port, now):"):
                self._start(source, metadata, lists, scalars)
        self._copy(source, slots, lists)
        self._reset(source, metadata)
        self._start_egress(source)
        for fields in self.program.field_lists.values():
            self._keep(source, fields)
        for fields in self.program.learn_lists.values():
            self._digest(source, fields)
        return source.text()

    def _groups(self) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]]]:
        """Metadata attributes; list attributes of stacks and plain ones of headers, with what they start as."""
        metadata: list[str] = []
        lists: list[tuple[str, str]] = []
        scalars: list[tuple[str, str]] = []
        for unit in self.layout.units.values():
            for column in unit.columns:
                start = _start_value(unit, column)
                if unit.metadata:
                    metadata.append(unit.slots[column])
                elif unit.size is not None:
                    lists.append((unit.slots[column], f"[{start}] * {unit.size}"))
                else:
                    scalars.append((unit.slots[column], start))
            if unit.size is not None:
                scalars.append((unit.slots[NEXT], "0"))
        return metadata, lists, scalars

    def _start(
        self, source: Source, metadata: list[str], lists: list[tuple[str, str]], scalars: list[tuple[str, str]]
    ) -> None:
        used = self.layout.used
        source.add("self.data = data", "self.port = port", "self.now = now", "self.size = self.length = len(data)")
        zero = ["learn", "resubmit", "recirculate", *metadata, *(name for name, start in scalars if start == "0")]
        starts: dict[str, list[str]] = {"0": zero, "None": ["clone"], "False": ["failed"]}
        for name, start in scalars:
            if start != "0":
                starts.setdefault(start, []).append(name)
        for start, names in starts.items():
            # Long chains of assignments are as fast as short ones and read worse.
            for number in range(0, len(names), 5):
                source.add(" = ".join(f"self.{name}" for name in names[number : number + 5]) + f" = {start}")
        source.add(f"self.truncate = {NO_TRUNCATION}")
        for name, start in lists:
            source.add(f"self.{name} = {start}")
        if "ingress_port" in used:
            source.add(f"self.ingress_port = port & {self._mask('ingress_port')}")
        if "packet_length" in used:
            source.add(f"self.packet_length = self.size & {self._mask('packet_length')}")
        if "ingress_timestamp" in used:
            source.add(f"self.ingress_timestamp = now // {_MICROSECOND} & {self._mask('ingress_timestamp')}")
        if "parser_error" in used and self.program.errors["NoError"]:
            source.add(f"self.parser_error = {self.program.errors['NoError']}")

    def _copy(self, source: Source, slots: list[str], lists: list[tuple[str, str]]) -> None:
        """A copy has the headers and metadata, and neither requests nor a truncation (BMv2's Packet::clone)."""
        names = {name for name, _ in lists}
        source.add("")
        with source.block("def copy(p):"):
            source.add("q = Packet(p.data, p.port, p.now)")
            keep = {"offset", "size", "length", "budget", *self.layout.slots}
            for name in dict.fromkeys(slots):
                if name in keep:
                    source.add(f"q.{name} = p.{name}{'[:]' if name in names else ''}")
            source.add("return q")

    def _reset(self, source: Source, metadata: list[str]) -> None:
        source.add("")
        with source.block("def reset_metadata(p):"):
            for name in metadata:
                source.add(f"p.{name} = 0")

    def _start_egress(self, source: Source) -> None:
        used = self.layout.used
        source.add("")
        with source.block("def start_egress(p, port, priority, now, depth):"):
            source.add("p.now = now", "p.egress_spec = NO_PORT")
            if "egress_port" in used:
                source.add(f"p.egress_port = port & {self._mask('egress_port')}")
            if "packet_length" in used:
                source.add(f"p.packet_length = p.length & {self._mask('packet_length')}")
            if "egress_timestamp" in used:
                source.add(f"p.egress_timestamp = now // {_MICROSECOND} & {self._mask('egress_timestamp')}")
            if "deq_timedelta" in used:
                source.add(f"p.deq_timedelta = now // {_MICROSECOND} - p.enq_timestamp & {self._mask('deq_timedelta')}")
            if "deq_qdepth" in used:
                source.add(f"p.deq_qdepth = depth & {self._mask('deq_qdepth')}")
            if "qid" in used:
                source.add(f"p.qid = priority & {self._mask('qid')}")
        source.add("")
        with source.block("def enqueue(p, now, depth):"):
            if "enq_timestamp" in used:
                source.add(f"p.enq_timestamp = now // {_MICROSECOND} & {self._mask('enq_timestamp')}")
            if "enq_qdepth" in used:
                source.add(f"p.enq_qdepth = depth & {self._mask('enq_qdepth')}")

    def _mask(self, slot: str) -> str:
        reference = self.program.intrinsic(INTRINSIC[slot])
        assert reference is not None
        return f"{(1 << self.program.field_type(reference).width) - 1:#x}"

    def _keep(self, source: Source, fields: ir.FieldList) -> None:
        source.add("")
        with source.block(f"def keep_{fields.id}(target, origin):"):
            for item in fields.fields:
                where = f"{self.program.name}: field list {fields.name}"
                if not self.program.headers[item.header].metadata or item.field == ir.VALID:
                    raise InputError(where, f"header field {item.header}.{item.field}", "metadata fields")
                text = self.layout.place(item.header).part(item.field, "")
                source.add(f"target{text} = origin{text}")

    def _digest(self, source: Source, fields: ir.FieldList) -> None:
        source.add("")
        with source.block(f"def digest_{fields.id}(p):"):
            expressions = Expressions(self.layout, f"{self.program.name}: digest {fields.name}")
            parts = "".join(f"{expressions.data(item).text}, " for item in fields.fields)
            source.add(f"return ({parts})")


def _start_value(unit: Unit, column: str) -> str:
    if column in (OK, MOD):
        return "False"
    if column == RAW:
        return "b''"
    item = unit.type.field(column)
    assert item is not None
    return "b''" if item.variable else "0"
