"""Code for the controls: one function for ingress and one for egress, with the tables' lookups written in place.

The control flow graph of the JSON becomes nested ``if`` statements: a node's branches are written up to the node where
they join again (its immediate postdominator), which follows once. The functions return True when the packet left early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.actions import Actions
from pymodel.switch.engine.algorithms import ALGORITHMS
from pymodel.switch.engine.controls_json import successors
from pymodel.switch.engine.deparser import DeparserWriter
from pymodel.switch.engine.expressions import Expressions, cut
from pymodel.switch.engine.headers import Headers
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.source import Source
from pymodel.switch.engine.units import MOD

__all__ = ["ControlWriter", "is_hidden"]

# Python refuses a hundred levels of indentation; deeper branches go into functions of their own.
_MAX_DEPTH = 12


def is_hidden(table: ir.Table) -> bool:
    """Whether p4c made this table for statements of the program: no key and a constant action."""
    return not table.keys and table.kind == "simple" and table.default is not None and table.default.constant_entry


class ControlWriter:
    """Writes ``ingress(p)`` and ``egress(p)``."""

    def __init__(self, layout: Layout, headers: Headers, actions: Actions, deparser: DeparserWriter) -> None:
        self.layout = layout
        self.program = layout.program
        self.names = layout.names
        self.headers = headers
        self.actions = actions
        self.deparser = deparser

    def write(self, pipeline: ir.Pipeline) -> str:
        """The source of one pipeline's function, with those it needs."""
        return _PipelineWriter(self, pipeline).write()

    def selectors(self) -> str:
        """The functions that hash a packet for each action selector."""
        source = Source()
        for pipeline in self.program.pipelines:
            for table in pipeline.nodes.values():
                if isinstance(table, ir.Table) and table.kind == "indirect_ws":
                    assert table.profile is not None
                    profile = pipeline.profiles[table.profile]
                    where = f"{self.program.name}: action profile {profile.name}"
                    if profile.algorithm is None:
                        raise InputError(where, "no selector", f"one, for table {table.name}")
                    if profile.algorithm not in ALGORITHMS:
                        raise InputError(where, f"algorithm '{profile.algorithm}'", f"one of {', '.join(ALGORITHMS)}")
                    name = f"{self.names.table(table.name)}_hash"
                    self.deparser.calculation(source, name, profile.algorithm, profile.inputs)
        return source.text()


class _PipelineWriter:
    def __init__(self, control: ControlWriter, pipeline: ir.Pipeline) -> None:
        self.control = control
        self.pipeline = pipeline
        self.layout = control.layout
        self.program = control.program
        self.names = control.names
        self._joins = _postdominators(pipeline)
        self._functions: dict[tuple[str, str | None], str] = {}
        self._pending: list[tuple[str, str | None]] = []
        self._written: set[tuple[str, str | None]] = set()

    def write(self) -> str:
        source = Source()
        with source.block(f"def {self.pipeline.name}(p):"):
            self._region(source, self.pipeline.start, None, 0)
        while self._pending:
            start, stop = self._pending.pop()
            source.add("")
            with source.block(f"def {self._functions[start, stop]}(p):"):
                self._region(source, start, stop, 0)
        return source.text()

    def _region(self, source: Source, start: str | None, stop: str | None, depth: int) -> None:
        """Every node from `start` up to `stop`."""
        name = start
        while name is not None and name != stop:
            node = self.pipeline.nodes[name]
            join = self._joins[name]
            branches = successors(node)
            if isinstance(node, ir.Conditional):
                self._conditional(source, node, join, depth)
            else:
                self._table(source, node, join, depth)
            name = branches[0] if len(branches) == 1 else join

    def _branch(self, source: Source, start: str | None, stop: str | None, depth: int) -> None:
        """A branch, in place or, when it is written already or lies too deep, in a function of its own."""
        if start is None or start == stop:
            return
        if (start, stop) not in self._written and depth < _MAX_DEPTH:
            self._written.add((start, stop))
            self._region(source, start, stop, depth + 1)
            return
        if (start, stop) not in self._functions:
            self._functions[start, stop] = f"{self.pipeline.name}_part_{len(self._functions)}"
            self._pending.append((start, stop))
        with source.block(f"if {self._functions[start, stop]}(p):"):
            source.add("return True")

    def _conditional(self, source: Source, node: ir.Conditional, join: str | None, depth: int) -> None:
        where = f"{self.program.name}: condition {node.name}"
        if node.source:
            source.add("# " + " ".join(node.source.split()))
        text = Expressions(self.layout, where).boolean(node.expression)
        if node.true_next == join or (node.true_next is None and join is None):
            if node.false_next != join:
                with source.block(f"if not {text}:"):
                    self._branch(source, node.false_next, join, depth)
            return
        with source.block(f"if {text}:"):
            self._branch(source, node.true_next, join, depth)
        if node.false_next != join:
            with source.block("else:"):
                self._branch(source, node.false_next, join, depth)

    # --- tables ---

    def _table(self, source: Source, table: ir.Table, join: str | None, depth: int) -> None:
        if is_hidden(table):
            self._hidden(source, table)
            return
        name = self.names.table(table.name)
        source.add(f"# {table.name}")
        if table.keys:
            source.add(f"entry = {name}_find({self._key(table)})")
        by_hit = table.by_hit and table.next_hit != table.next_miss
        if by_hit:
            source.add(f"hit = {'entry is not None' if table.keys else 'False'}")
        self._found(source, table, name)
        exits = any(self.control.actions.exits(number) for number in table.actions.values())
        run = "chosen.run(p)" if table.kind != "simple" else "entry.run(p)"
        if table.kind == "indirect_ws":
            with source.block("if chosen is not None:"):
                self._run(source, run, exits)
        else:
            self._run(source, run, exits)
        if by_hit:
            self._hit_or_miss(source, table, join, depth)
        elif not table.by_hit:
            self._by_action(source, table, join, depth)

    def _run(self, source: Source, call: str, exits: bool) -> None:
        if not exits:
            source.add(call)
            return
        with source.block(f"if {call}:"):
            source.add("return True")

    def _hidden(self, source: Source, table: ir.Table) -> None:
        """The action of a table without a key: in place where that is possible."""
        assert table.default is not None
        action = self.program.actions[table.default.action]
        tree = self.control.actions.inline(action.id)
        if tree is not None:
            body = self.control.actions.body(source, action, ())
            body.tree(tree, "return")
            return
        call = f"{self.names.table(table.name)}_run(p)"
        self._run(source, call, self.control.actions.exits(action.id))

    def _key(self, table: ir.Table) -> str:
        parts = [self._part(key, table.name) for key in table.keys]
        match table.match_type:
            case "exact":
                return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
            case "lpm":
                position = next(number for number, key in enumerate(table.keys) if key.kind == "lpm")
                others = [part for number, part in enumerate(parts) if number != position]
                return parts[position] + (f", ({', '.join(others)},)" if others else "")
            case "ternary":
                return _joined(parts, [key.width for key in table.keys])
            case _:
                ranges = [part for part, key in zip(parts, table.keys, strict=True) if key.kind == "range"]
                others = [part for part, key in zip(parts, table.keys, strict=True) if key.kind != "range"]
                widths = [key.width for key in table.keys if key.kind != "range"]
                return f"{_joined(others, widths)}, ({', '.join(ranges)},)"

    def _part(self, key: ir.TableKey, table: str) -> str:
        """One key's value: its bits, 0 in an invalid header, under the static mask."""
        expressions = Expressions(self.layout, f"{self.program.name}: table {table}")
        value = cut(expressions.data(key.target), key.width)
        text = value.text
        if key.mask is not None and key.mask != (1 << key.width) - 1:
            text = f"({text} & {key.mask:#x})"
        if key.target.field == ir.VALID:
            return text
        valid = expressions.valid(ir.HeaderRef(key.target.header))
        return text if valid == "True" else f"({text} if {valid} else 0)"

    def _found(self, source: Source, table: ir.Table, name: str) -> None:
        """What a hit and a miss do before the action: counter, meter, the choice of a member."""
        hit = Source()
        if table.with_counters:
            hit.add("entry.packets += 1; entry.bytes += p.size")
        if table.with_timeout:
            hit.add("entry.last_hit = p.now")
        if table.direct_meter is not None:
            meter = self.program.meters[table.direct_meter]
            assert meter.target is not None
            place = self.layout.place(meter.target.header)
            width = self.program.field_type(meter.target).width
            units = "p.size" if meter.unit == "bytes" else "1"
            hit.add(f"{place.part(meter.target.field)} = entry.meter.execute(p.now, {units}) & {(1 << width) - 1}")
            if place.unit.keeps_mod:
                hit.add(f"{place.part(MOD)} = True")
        if table.keys:
            with source.block("if entry is None:"):
                source.add(f"entry = {name}.miss")
            if hit.lines:
                with source.block("else:"):
                    source.add(*hit.lines)
        else:
            source.add(f"entry = {name}.miss")
        if table.kind == "indirect":
            source.add("chosen = entry.member or entry")
        elif table.kind == "indirect_ws":
            group = f"entry.group.choose({name}_hash(p)) if entry.group is not None else entry"
            source.add(f"chosen = entry.member or ({group})")

    def _hit_or_miss(self, source: Source, table: ir.Table, join: str | None, depth: int) -> None:
        if table.next_hit == join:
            with source.block("if not hit:"):
                self._branch(source, table.next_miss, join, depth)
            return
        with source.block("if hit:"):
            self._branch(source, table.next_hit, join, depth)
        if table.next_miss != join:
            with source.block("else:"):
                self._branch(source, table.next_miss, join, depth)

    def _by_action(self, source: Source, table: ir.Table, join: str | None, depth: int) -> None:
        """Branches by the action that ran; actions with the same next node share one."""
        by_node: dict[str | None, list[int]] = {}
        for number, node in table.next.items():
            by_node.setdefault(node, []).append(number)
        if table.default is None:
            by_node.setdefault(table.default_next, []).append(-1)
        if len(by_node) == 1:
            return
        chosen = "entry" if table.kind == "simple" else "chosen"
        text = f"{chosen}.action_id"
        if table.kind == "indirect_ws":
            text = f"({text} if chosen is not None else -1)"
        source.add(f"action = {text}")
        word = "if"
        for node, numbers in by_node.items():
            if node == join:
                continue
            test = f"action == {numbers[0]}" if len(numbers) == 1 else f"action in {tuple(numbers)}"
            with source.block(f"{word} {test}:"):
                self._branch(source, node, join, depth)
            word = "elif"


def _joined(parts: Sequence[str], widths: Sequence[int]) -> str:
    """Several keys as one number, the first in the highest bits."""
    if not parts:
        return "0"
    text = parts[0]
    for part, width in zip(parts[1:], widths[1:], strict=True):
        text = f"({text} << {width} | {part})"
    return text


def _postdominators(pipeline: ir.Pipeline) -> Mapping[str, str | None]:
    """For each node the first node that every way from it leads through; None is the end of the pipeline."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str | None) -> None:
        if name is None or name in seen:
            return
        seen.add(name)
        for following in successors(pipeline.nodes[name]):
            visit(following)
        order.append(name)

    visit(pipeline.start)
    # `order` has every node after all that follow it, so the chains of its successors are complete.
    chains: dict[str, list[str]] = {}
    joins: dict[str, str | None] = {}
    for name in order:
        ways = [[] if each is None else [each, *chains[each]] for each in successors(pipeline.nodes[name])]
        common = next((node for node in ways[0] if all(node in way for way in ways[1:])), None)
        joins[name] = common
        chains[name] = [] if common is None else [common, *chains[common]]
    return joins
