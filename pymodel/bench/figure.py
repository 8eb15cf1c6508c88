"""What a benchmark yields: figures, and sentences about what they stand for or why they are missing."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.base.errors import InputError

__all__ = ["Figure", "Outcome", "Step", "medians", "save"]

Step = Callable[[int, int], None]
"""Called with rounds done and rounds in all, so that progress can be shown."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of `bench.json`: `value` in `unit` and, where a peer did the same work in the same run, its value.

    `ratio` is ours divided by the peer's. JSON has four significant digits: no more can be repeated.
    """

    name: str
    value: float
    unit: str
    peer: str | None = None
    peer_value: float | None = None

    @property
    def ratio(self) -> float | None:
        """`value` divided by `peer_value`, or None without a peer."""
        return None if self.peer_value is None else self.value / self.peer_value

    def as_json(self) -> dict[str, Any]:
        """The object in `bench.json`; keys of a peer only where one ran."""
        form: dict[str, Any] = {"name": self.name, "value": _rounded(self.value), "unit": self.unit}
        if self.peer_value is not None and self.ratio is not None:
            form |= {"peer": self.peer, "peer_value": _rounded(self.peer_value), "ratio": _rounded(self.ratio)}
        return form


@dataclass(slots=True)
class Outcome:
    """Figures of one benchmark, and notes: whole sentences about peers, settings, and what was left out."""

    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def medians(
    contestants: Sequence[Callable[[], float]], rounds: int, step: Step, *, done: int = 0, total: int | None = None
) -> list[float]:
    """Let each contestant run once to warm up and then `rounds` times, in turn, and return the median of each.

    Taking turns spreads whatever else the machine does over all of them alike. `done` and `total` are for `step`, when
    these rounds are part of more.
    """
    results: list[list[float]] = [[] for _ in contestants]
    for number in range(rounds + 1):
        step(done + number, rounds + 1 if total is None else total)
        for contestant, values in zip(contestants, results, strict=True):
            value = contestant()
            if number:
                values.append(value)
    return [statistics.median(values) for values in results]


def save(figures: Sequence[Figure], path: Path) -> None:
    """Write `figures` to `path` as JSON, one object a line."""
    lines = ",\n".join("  " + json.dumps(figure.as_json(), ensure_ascii=False) for figure in figures)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[\n{lines}\n]\n" if lines else "[]\n", encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), str(error.strerror), "a file that can be written") from None


def _rounded(value: float) -> float | int:
    digits = float(f"{value:.4g}")
    return int(digits) if digits.is_integer() else digits
