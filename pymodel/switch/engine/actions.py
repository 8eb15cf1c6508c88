"""Code for actions: a function for each; jumps become ``if`` and ``else`` where they nest."""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.switch.engine import ir
from pymodel.switch.engine.headers import Headers
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.primitives import Body
from pymodel.switch.engine.source import Source
from pymodel.switch.engine.structure import Node, has_leave, jump_target, structured

__all__ = ["Actions"]


class Actions:
    """Writes every action of a program as a function that makes a function: parameters first, then the packet."""

    def __init__(self, layout: Layout, headers: Headers) -> None:
        self.layout = layout
        self.headers = headers
        self.names = layout.names
        self.trees = {
            action.id: structured(action.primitives, self._where(action)) for action in layout.program.actions.values()
        }

    def exits(self, action: int) -> bool:
        """Whether an action can end the pipeline."""
        return any(primitive.op == "exit" for primitive in self.layout.program.actions[action].primitives)

    def inline(self, action: int) -> Sequence[Node] | None:
        """The tree of an action that can be written in place: without parameters, exits or early ends."""
        tree = self.trees[action]
        found = self.layout.program.actions[action]
        if tree is None or has_leave(tree) or self.exits(action) or found.parameters:
            return None
        return tree

    def body(self, source: Source, action: ir.Action, parameters: Sequence[tuple[str, int]]) -> Body:
        """A writer of the action's primitives into `source`."""
        return Body(source, self.layout, self.headers, self._where(action), parameters)

    def write(self, source: Source, action: ir.Action) -> None:
        """Write the function ``action_<name>``, which takes the parameters and returns the action for a packet."""
        name = self.names.action(action.id)
        parameters = [(self.names.parameter(each), width) for each, width in action.parameters]
        listed = ", ".join(each for each, _ in parameters)
        source.add("", f"# {action.name}")
        with source.block(f"def {name}({listed}):"):
            with source.block("def run(p):"):
                self._function(source, action, parameters)
            source.add("return run")

    def _function(self, source: Source, action: ir.Action, parameters: Sequence[tuple[str, int]]) -> None:
        leave = "return leave" if self.exits(action.id) else "return"
        if self.exits(action.id):
            source.add("leave = False")
        body = self.body(source, action, parameters)
        tree = self.trees[action.id]
        if tree is None:
            self._jumps(source, action, body)
        else:
            body.tree(tree, leave)
        if self.exits(action.id):
            source.add(leave)

    def _jumps(self, source: Source, action: ir.Action, body: Body) -> None:
        """Blocks of primitives under a variable that says which one is next."""
        where, primitives = self._where(action), action.primitives
        starts = {0}
        for number, primitive in enumerate(primitives):
            if primitive.op in ("_jump", "_jump_if_zero"):
                starts |= {jump_target(primitive, where), number + 1}
        source.add("at_primitive = 0")
        with source.block("while True:"):
            ordered = sorted(start for start in starts if start < len(primitives))
            for start, following in zip(ordered, [*ordered[1:], len(primitives)], strict=True):
                with source.block(f"if at_primitive == {start}:"):
                    body.forget()
                    for primitive in primitives[start:following]:
                        if primitive.op == "_jump":
                            source.add(f"at_primitive = {jump_target(primitive, where)}", "continue")
                        elif primitive.op == "_jump_if_zero":
                            with source.block(f"if not ({body.truth(primitive.arguments[0])}):"):  # type: ignore[arg-type]
                                source.add(f"at_primitive = {jump_target(primitive, where)}", "continue")
                            source.add(f"at_primitive = {following}")
                        else:
                            body.primitive(primitive)
                    if primitives[following - 1].op not in ("_jump", "_jump_if_zero"):
                        source.add(f"at_primitive = {following}")
            source.add("break")

    def _where(self, action: ir.Action) -> str:
        return f"{self.layout.program.name}: action {action.name}"
