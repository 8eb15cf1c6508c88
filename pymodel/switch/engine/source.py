"""Writing Python source: lines with indentation, and values with what is known of their range."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Source", "Value"]


class Source:
    """Lines of Python under construction."""

    def __init__(self, indent: int = 0) -> None:
        self.lines: list[str] = []
        self._indent = indent

    def add(self, *lines: str) -> None:
        """Append lines at the current indentation."""
        self.lines += ["    " * self._indent + line if line else "" for line in lines]

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """A compound statement; an empty body becomes ``pass``."""
        self.add(header)
        self._indent += 1
        before = len(self.lines)
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.add("pass")
        self._indent -= 1

    def text(self) -> str:
        """The source so far."""
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True, slots=True)
class Value:
    """A Python expression of an integer with its bounds; None is no bound. Text is safe as an operand as it stands."""

    text: str
    low: int | None = None
    high: int | None = None

    @property
    def constant(self) -> int | None:
        """The value, when there is only one."""
        return self.low if self.low is not None and self.low == self.high else None

    def within(self, low: int, high: int) -> bool:
        """Whether every possible value lies in [low, high]."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high
