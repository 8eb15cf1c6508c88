"""What tables and action profiles share: how an action gets its arguments, and how a change is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir

__all__ = ["Binder", "Problem", "Run", "TableError", "check_arguments"]

Run: TypeAlias = Callable[[Any], Any]
"""An action with its arguments; it takes the packet."""

Binder: TypeAlias = Callable[[int, Sequence[int]], Run]
"""Makes the code of an action, given its id and arguments."""

Problem: TypeAlias = Literal["invalid", "duplicate", "missing", "full", "constant"]


class TableError(InputError):
    """A change that a table or action profile refuses. `problem` is its kind, for whoever must answer with a code."""

    def __init__(self, problem: Problem, where: str, found: str, expected: str) -> None:
        super().__init__(where, found, expected)
        self.problem: Problem = problem


def check_arguments(where: str, action: ir.Action, arguments: Sequence[int]) -> tuple[int, ...]:
    """`arguments` as a tuple, after a check of their number and widths."""
    if len(arguments) != len(action.parameters):
        raise TableError("invalid", where, f"{len(arguments)} arguments for {action.name}", f"{len(action.parameters)}")
    for value, (name, width) in zip(arguments, action.parameters, strict=True):
        if not isinstance(value, int) or not 0 <= value < 1 << width:
            raise TableError("invalid", f"{where}, parameter {name}", f"{value!r}", f"a value of {width} bits")
    return tuple(arguments)
