"""The jumps of an action's primitives turned back into ``if``, ``else`` and ``return`` where they came from those.

p4c lowers conditionals and loops inside actions to `_jump` and `_jump_if_zero`, whose targets are numbers of
primitives. Loops, and whatever else doesn't nest, stay jumps: `structured` returns None for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir

__all__ = ["Choice", "Leave", "Node", "has_leave", "jump_target", "structured"]


@dataclass(frozen=True, slots=True)
class Choice:
    """``if condition: then else: otherwise``."""

    condition: ir.Expression
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """The end of the action."""


Node: TypeAlias = ir.Primitive | Choice | Leave


class _NotNestedError(Exception):
    """The jumps do not nest."""


def structured(primitives: Sequence[ir.Primitive], where: str) -> tuple[Node, ...] | None:
    """The primitives as a tree, or None when their jumps don't nest."""
    try:
        return _region(primitives, 0, len(primitives), where)
    except _NotNestedError:
        return None


def has_leave(nodes: Sequence[Node]) -> bool:
    """Whether the tree ends early anywhere."""
    return any(
        isinstance(node, Leave) or (isinstance(node, Choice) and (has_leave(node.then) or has_leave(node.otherwise)))
        for node in nodes
    )


def jump_target(primitive: ir.Primitive, where: str) -> int:
    """The number of the primitive that a jump goes to."""
    target = primitive.arguments[-1] if primitive.arguments else None
    if not isinstance(target, ir.Constant):
        raise InputError(where, f"a {primitive.op} without a constant target", "the number of a primitive")
    return target.value


def _region(primitives: Sequence[ir.Primitive], start: int, end: int, where: str) -> tuple[Node, ...]:
    nodes: list[Node] = []
    position = start
    while position < end:
        primitive = primitives[position]
        if primitive.op == "_jump":
            if jump_target(primitive, where) != len(primitives):
                raise _NotNestedError
            nodes.append(Leave())
            break
        if primitive.op == "_jump_if_zero":
            choice, position = _choice(primitives, position, end, where)
            nodes.append(choice)
        else:
            nodes.append(primitive)
            position += 1
    return tuple(nodes)


def _choice(primitives: Sequence[ir.Primitive], position: int, end: int, where: str) -> tuple[Choice, int]:
    """The choice that starts at `position`, and where the region goes on after it."""
    primitive = primitives[position]
    condition = primitive.arguments[0]
    if isinstance(condition, ir.CalculationRef | ir.CounterRef | ir.MeterRef | ir.RegisterRef | ir.Text | ir.Vector):
        raise InputError(where, f"condition {condition!r}", "a number")
    target = jump_target(primitive, where)
    if not position < target <= end:
        raise _NotNestedError
    last = primitives[target - 1]
    if last.op == "_jump" and target - 1 > position:
        after = jump_target(last, where)
        if target <= after <= end:
            then = _region(primitives, position + 1, target - 1, where)
            return Choice(condition, then, _region(primitives, target, after, where)), after
    return Choice(condition, _region(primitives, position + 1, target, where), ()), target
