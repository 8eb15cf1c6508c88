"""The names that generated code uses for a program's objects."""

from __future__ import annotations

import re

from pymodel.switch.engine import ir

__all__ = ["Names"]


class Names:
    """Gives each object of a program one Python name, readable and unique."""

    def __init__(self, program: ir.Program) -> None:
        self._given: dict[tuple[str, str | int], str] = {}
        self._taken: set[str] = set()
        for action in program.actions.values():
            self._give("action", action.id, action.name)
        for kind, objects in (
            ("counter", program.counters),
            ("register", program.registers),
            ("meter", program.meters),
            ("calculation", program.calculations),
            ("members", program.value_sets),
        ):
            for name in objects:
                self._give(kind, name, name)
        for table in program.tables:
            self._give("table", table.name, table.name)

    def action(self, number: int) -> str:
        """The function that makes an action."""
        return self._given["action", number]

    def counter(self, name: str) -> str:
        """A counter array's prefix; ``_packets`` and ``_bytes`` are its lists."""
        return self._given["counter", name]

    def register(self, name: str) -> str:
        """A register array's list of cells."""
        return self._given["register", name]

    def meter(self, name: str) -> str:
        """The function that runs one meter of an array."""
        return self._given["meter", name]

    def calculation(self, name: str) -> str:
        """The function of a calculation."""
        return self._given["calculation", name]

    def value_set(self, name: str) -> str:
        """The set of a parser value set's members."""
        return self._given["members", name]

    def table(self, name: str) -> str:
        """A table's prefix; ``_find`` looks a key up."""
        return self._given["table", name]

    @staticmethod
    def parameter(name: str) -> str:
        """A parameter of an action; the underscore keeps it apart from every other name."""
        return re.sub(r"\W", "_", name) + "_"

    def _give(self, kind: str, key: str | int, name: str) -> None:
        text = f"{kind}_{re.sub(r'[^0-9A-Za-z_]', '_', name)}"
        candidate, number = text, 2
        while candidate in self._taken:
            candidate, number = f"{text}_{number}", number + 1
        self._taken.add(candidate)
        self._given[kind, key] = candidate
