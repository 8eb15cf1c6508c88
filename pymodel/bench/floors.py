"""What no figure may fall below: `floors.json`, committed, by figure.

``least_ratio`` bounds the ratio to the peer, which hardly depends on the machine; ``least`` and ``most`` bound the
value itself, with room for a slower machine. Without a peer in this run there is no ratio, and its bound is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pymodel.base.errors import InputError
from pymodel.bench.figure import Figure

__all__ = ["BOUNDS", "FLOORS", "Bounds", "below", "read"]

FLOORS = Path(__file__).with_name("floors.json")

BOUNDS = ("least_ratio", "least", "most")

Bounds = Mapping[str, float]
"""One or more of `BOUNDS`."""


def read(path: Path = FLOORS) -> dict[str, Bounds]:
    """The bounds of `path` by figure; InputError names a bound that is none."""
    floors: dict[str, Bounds] = json.loads(path.read_text(encoding="utf-8"))
    for name, bounds in floors.items():
        for kind, value in bounds.items():
            if kind not in BOUNDS or not isinstance(value, (int, float)):
                raise InputError(f"{path}: {name}", f"{kind}: {value!r}", f"a number for one of {', '.join(BOUNDS)}")
    return floors


def below(figures: Iterable[Figure], floors: Mapping[str, Bounds]) -> list[str]:
    """One sentence for each figure that is not within its bounds."""
    sentences = []
    for figure in figures:
        bounds = floors.get(figure.name, {})
        measured = {"least_ratio": figure.ratio, "least": figure.value, "most": figure.value}
        for kind, bound in bounds.items():
            value = measured[kind]
            if value is None or (value <= bound if kind == "most" else value >= bound):
                continue
            what = f"of the rate of {figure.peer}" if kind == "least_ratio" else figure.unit
            side = "above the most" if kind == "most" else "below the least"
            sentences.append(f"{figure.name}: {value:.4g} {what} is {side} that is allowed, {bound:g}.")
    return sentences
