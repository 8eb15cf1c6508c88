"""One Python module for one P4 program: the pieces put together, compiled, and joined with their run-time objects.

The source stays readable and at hand (`Compiled.source`), and tracebacks and profilers show its lines.
"""

from __future__ import annotations

import itertools
import linecache
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymodel.switch.engine import ir
from pymodel.switch.engine.actions import Actions
from pymodel.switch.engine.algorithms import ALGORITHMS
from pymodel.switch.engine.controls import ControlWriter, is_hidden
from pymodel.switch.engine.deparser import DeparserWriter
from pymodel.switch.engine.entries import Run
from pymodel.switch.engine.expressions import HELPERS
from pymodel.switch.engine.externs import CounterArray, MeterArray, RegisterArray
from pymodel.switch.engine.headers import Headers
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.packet import PacketWriter
from pymodel.switch.engine.parser import ParserWriter
from pymodel.switch.engine.profiles import ActionProfile
from pymodel.switch.engine.source import Source
from pymodel.switch.engine.tables import Table

__all__ = ["Compiled", "compile_program"]

_serial = itertools.count(1)


@dataclass(slots=True)
class Compiled:
    """A program ready to run. `namespace` holds the generated functions by name."""

    program: ir.Program
    layout: Layout
    source: str
    namespace: dict[str, Any]
    tables: dict[str, Table] = field(default_factory=dict)
    profiles: dict[str, ActionProfile] = field(default_factory=dict)
    counters: dict[str, CounterArray] = field(default_factory=dict)
    meters: dict[str, MeterArray] = field(default_factory=dict)
    registers: dict[str, RegisterArray] = field(default_factory=dict)
    value_sets: dict[str, set[int]] = field(default_factory=dict)

    def bind(self, action: int, arguments: Sequence[int]) -> Run:
        """The code of an action with its arguments."""
        run: Run = self.namespace[self.layout.names.action(action)](*arguments)
        return run


def compile_program(
    program: ir.Program,
    drop_port: int,
    seed: int,
    fail: Callable[[Any, str], None],
    log: Callable[[str, tuple[int, ...]], None],
) -> Compiled:
    """Generate, compile and link. `fail` is called for a failed assertion, `log` for each `log_msg`."""
    layout = Layout(program)
    headers = Headers(layout)
    actions = Actions(layout, headers)
    deparser = DeparserWriter(layout, headers)
    control = ControlWriter(layout, headers, actions, deparser)
    parts = [PacketWriter(layout).write(), ParserWriter(layout, headers).write()]
    parts += [deparser.calculations(), control.selectors(), deparser.verify()]
    for action in program.actions.values():
        parts.append(_action(actions, action))
    parts += [control.write(pipeline) for pipeline in program.pipelines]
    parts.append(deparser.write())
    structs = "".join(
        f"{name} = Struct({layout_text!r}).unpack_from\n" for layout_text, name in headers.structs.items()
    )
    text = "\n\n".join(part.strip("\n") for part in ("from_bytes = int.from_bytes\n" + structs, *parts) if part.strip())
    source = f'"""{program.name}, compiled for the embedded engine."""\n\n' + text + "\n"
    namespace: dict[str, Any] = {
        **HELPERS,
        **ALGORITHMS,
        "Struct": struct.Struct,
        "DROP_PORT": drop_port,
        # BMv2 starts egress with the port after the drop port, cut to the field's width.
        "NO_PORT": drop_port + 1 & (1 << _port_width(program)) - 1,
        "random": random.Random(seed).randint,
        "fail": fail,
        "log": log,
    }
    compiled = Compiled(program, layout, source, namespace)
    _make_objects(compiled)
    name = f"<P4 program {program.name} #{next(_serial)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), namespace)
    _make_tables(compiled)
    return compiled


def _action(actions: Actions, action: ir.Action) -> str:
    source = Source()
    actions.write(source, action)
    return source.text()


def _port_width(program: ir.Program) -> int:
    reference = program.intrinsic("standard_metadata.egress_spec")
    assert reference is not None
    return program.field_type(reference).width


def _make_objects(compiled: Compiled) -> None:
    """Counters, registers, meters and value sets, under the names that the code uses."""
    program, names, namespace = compiled.program, compiled.layout.names, compiled.namespace
    for item in program.counters.values():
        if item.table is None:
            counter = compiled.counters[item.name] = CounterArray(item.name, item.size)
            namespace[f"{names.counter(item.name)}_packets"] = counter.packets
            namespace[f"{names.counter(item.name)}_bytes"] = counter.bytes
    for register in program.registers.values():
        made = compiled.registers[register.name] = RegisterArray(register.name, register.size, register.width)
        namespace[names.register(register.name)] = made.cells
    for meter in program.meters.values():
        if meter.table is None:
            array = compiled.meters[meter.name] = MeterArray(meter.name, meter.size, meter.unit)
            namespace[names.meter(meter.name)] = array.execute
    for value_set in program.value_sets.values():
        members = compiled.value_sets[value_set.name] = set()
        namespace[names.value_set(value_set.name)] = members


def _make_tables(compiled: Compiled) -> None:
    """Tables and action profiles; a table that the compiler made for statements is only its action."""
    program, names, namespace = compiled.program, compiled.layout.names, compiled.namespace
    for pipeline in program.pipelines:
        for item in pipeline.profiles.values():
            compiled.profiles[item.name] = ActionProfile(item, _profile_actions(program, item), compiled.bind)
    for table in program.tables:
        if is_hidden(table):
            assert table.default is not None
            namespace[f"{names.table(table.name)}_run"] = compiled.bind(table.default.action, table.default.arguments)
            continue
        profile = compiled.profiles[table.profile] if table.profile is not None else None
        made = Table(table, program.actions, compiled.bind, profile)
        compiled.tables[table.name] = made
        namespace[names.table(table.name)] = made
        namespace[f"{names.table(table.name)}_find"] = made.find


def _profile_actions(program: ir.Program, profile: ir.ActionProfile) -> Mapping[str, ir.Action]:
    return {
        name: program.actions[number]
        for table in program.tables
        if table.profile == profile.name
        for name, number in table.actions.items()
    }
