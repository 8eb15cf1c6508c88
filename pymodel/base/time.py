"""Virtual time: integer picoseconds, and one queue of events.

No float ever carries a time. The queue is the only heap of the project; events of the same picosecond leave in the
order in which they were put in, so that a run does not depend on how a heap breaks ties.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["MS", "NS", "PS", "US", "EventQueue", "S", "serialisation_ps"]

PS = 1
NS = 1_000 * PS
US = 1_000 * NS
MS = 1_000 * US
S = 1_000 * MS

T = TypeVar("T")


def serialisation_ps(size_bytes: int, rate_bps: int) -> int:
    """Time in ps that `size_bytes` occupy a link of `rate_bps` bit/s, rounded up to a whole picosecond."""
    return -(-size_bytes * 8 * S // rate_bps)


class EventQueue(Generic[T]):
    """Events ordered by time in ps; ties leave in the order of arrival."""

    __slots__ = ("_heap", "_sequence")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, T]] = []
        self._sequence = 0

    def push(self, at_ps: int, event: T) -> None:
        """Schedule `event` at `at_ps`."""
        heapq.heappush(self._heap, (at_ps, self._sequence, event))
        self._sequence += 1

    def next_ps(self) -> int | None:
        """Time in ps of the earliest event, or None when nothing is scheduled."""
        return self._heap[0][0] if self._heap else None

    def peek(self) -> T | None:
        """Return the earliest event and leave it there, or None when nothing is scheduled."""
        return self._heap[0][2] if self._heap else None

    def pop(self) -> tuple[int, T]:
        """Remove the earliest event and return it with its time in ps; IndexError when empty."""
        at_ps, _, event = heapq.heappop(self._heap)
        return at_ps, event

    def pop_until(self, until_ps: int) -> Iterator[tuple[int, T]]:
        """Remove and yield every event scheduled at or before `until_ps`, those pushed meanwhile included."""
        while self._heap and self._heap[0][0] <= until_ps:
            yield self.pop()

    def __len__(self) -> int:
        return len(self._heap)
