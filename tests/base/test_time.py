"""Virtual time: order of events, ties, and serialisation in whole picoseconds."""

from __future__ import annotations

import pytest

from pymodel.base.time import EventQueue, serialisation_ps


def test_events_leave_by_time_and_ties_in_order_of_arrival() -> None:
    queue: EventQueue[str] = EventQueue()
    for at_ps, name in [(20, "c"), (10, "a"), (20, "d"), (10, "b")]:
        queue.push(at_ps, name)
    assert queue.next_ps() == 10
    assert list(queue.pop_until(10)) == [(10, "a"), (10, "b")]
    assert list(queue.pop_until(15)) == []
    assert [queue.pop(), queue.pop()] == [(20, "c"), (20, "d")]
    assert (queue.next_ps(), len(queue)) == (None, 0)


def test_what_is_pushed_while_popping_is_seen() -> None:
    queue: EventQueue[int] = EventQueue()
    queue.push(1, 0)
    seen = []
    for at_ps, value in queue.pop_until(3):
        seen.append((at_ps, value))
        queue.push(at_ps + 1, value + 1)
    assert seen == [(1, 0), (2, 1), (3, 2)]
    assert queue.next_ps() == 4


@pytest.mark.parametrize(
    ("size", "rate", "expected_ps"),
    [(125, 1_000_000_000_000, 1_000), (4_262, 100_000_000_000, 340_960), (1, 3, 2_666_666_666_667), (0, 1, 0)],
)
def test_serialisation_rounds_up_to_a_picosecond(size: int, rate: int, expected_ps: int) -> None:
    assert serialisation_ps(size, rate) == expected_ps
