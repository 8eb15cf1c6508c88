"""Points of cocotb-coverage that are sampled together, and crosses of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from cocotb_coverage.coverage import CoverCross, CoverPoint

Never = Sequence[tuple[Hashable | None, ...]]


def of(bins: Sequence[tuple[str, int]], value: int) -> str:
    """The name of the first bin whose upper end is not below `value`; the last one takes everything beyond."""
    return next((name for name, last in bins if value <= last), bins[-1][0])


def names(bins: Sequence[tuple[str, int]]) -> list[str]:
    return [name for name, _ in bins]


class Group:
    """Named points, each a list of bins, and crosses of points by name, each with the bins that cannot be.

    In such a bin None stands for every value. A value that is no bin, None above all, hits nothing.
    """

    def __init__(
        self,
        name: str,
        points: Mapping[str, Sequence[Hashable]],
        crosses: Mapping[tuple[str, ...], Never] | None = None,
    ) -> None:
        self._fields = tuple(points)
        self._seen: set[tuple[Hashable, ...]] = set()
        made = [
            CoverPoint(f"{name}.{point}", xf=lambda *values, at=at: values[at], bins=list(bins))
            for at, (point, bins) in enumerate(points.items())
        ]
        sample: Callable[..., Any] = lambda *values: None  # noqa: E731 - what the points wrap, one after the other
        for items, never in (crosses or {}).items():
            cross = CoverCross(
                f"{name}.{' x '.join(items)}", items=[f"{name}.{item}" for item in items], ign_bins=list(never)
            )
            sample = cross(sample)
        for point in made:
            sample = point(sample)
        self._sample = sample

    def sample(self, **values: Hashable) -> None:
        """Take one value of some points. One hit of a bin is enough, so what was met before is not counted again."""
        assert values.keys() <= set(self._fields), f"no such point: {values.keys() - set(self._fields)}"
        row = tuple(values.get(field) for field in self._fields)
        if row not in self._seen:
            self._seen.add(row)
            self._sample(*row)
