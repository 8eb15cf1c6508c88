"""The coverage of the rows in `rows/pairs.py`, printed; and the covering array itself, on factors that fit the eye."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.switch.pairs import Case, covering, missing
from tests.switch.rows import pairs

ARRAYS = {
    "every value": (pairs.CASES, pairs.FACTORS, pairs.possible),
    "what reaches a queue": (pairs.LIVE_CASES, pairs.LIVE_FACTORS, pairs.live),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_every_pair_of_values_is_in_a_row(name: str, record_property: Callable[[str, object], None]) -> None:
    cases, factors, possible = ARRAYS[name]
    count, left = missing(cases, factors, possible)
    values = ", ".join(f"{len(held)} {factor}" for factor, held in factors.items())
    text = f"pair coverage, {name}: {count - len(left)} of {count} pairs in {len(cases)} rows ({values})"
    record_property("print", text)
    assert left == []
    assert len(cases) >= 250
    assert all(possible(case) for case in cases)


def test_what_reaches_a_queue_does() -> None:
    """The rows that hide nothing end in a queue: out, or dropped there."""
    ends = Counter(row.drop for row in pairs.ROWS[len(pairs.CASES) :])
    assert set(ends) == {None, "drop_queue_full", "drop_trim_disabled", "drop_high_queue_full"}
    assert ends[None] > 200


def test_a_covering_array_has_every_possible_pair_and_no_other() -> None:
    factors: dict[str, list[object]] = {"a": [1, 2, 3], "b": [1, 2, 3], "c": [0, 1], "d": list("xyz")}

    def possible(case: Case) -> bool:
        return case.get("a") != case.get("b") or "a" not in case

    cases = covering(factors, possible, seed=1)
    assert cases == covering(factors, possible, seed=1)
    assert missing(cases, factors, possible) == (3 * 2 + 3 * 2 + 3 * 3 + 3 * 2 + 3 * 3 + 2 * 3, [])
    assert all(case["a"] != case["b"] for case in cases)
    assert 9 <= len(cases) <= 16
    assert missing(cases[:-1], factors, possible)[1] != []
