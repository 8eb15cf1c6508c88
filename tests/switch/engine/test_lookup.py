"""Every lookup structure against a search through all entries."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodel.switch.engine import ir
from pymodel.switch.engine.lookup import ExactLookup, Lookup, LpmLookup, Match, RangeLookup, TernaryLookup


def keys(*kinds: str, width: int = 8) -> tuple[ir.TableKey, ...]:
    return tuple(ir.TableKey(f"k{number}", kind, ir.FieldRef("h", "f"), width) for number, kind in enumerate(kinds))


def matches(kind: str, part: int | tuple[int, int], value: int) -> bool:
    if isinstance(part, int):
        return part == value
    first, second = part
    if kind == "lpm":
        return first >> 8 - second == value >> 8 - second
    if kind == "range":
        return first <= value <= second
    return value & second == first


def find(lookup: Lookup, kinds: Sequence[str], values: Sequence[int]) -> object:
    """Call `find` with the key in the shape that each structure asks for."""
    if isinstance(lookup, ExactLookup):
        return lookup.find(values[0] if len(values) == 1 else tuple(values))
    if isinstance(lookup, LpmLookup):
        place = kinds.index("lpm")
        others = tuple(value for number, value in enumerate(values) if number != place)
        return lookup.find(values[place], others) if others else lookup.find(values[place])
    whole = 0
    for kind, value in zip(kinds, values, strict=True):
        if kind != "range":
            whole = whole << 8 | value
    if isinstance(lookup, TernaryLookup):
        return lookup.find(whole)
    return lookup.find(whole, tuple(value for kind, value in zip(kinds, values, strict=True) if kind == "range"))


small = st.sampled_from([0, 1, 2, 3, 0x0F, 0x10, 0x80, 0xF0, 0xFF])


def part(kind: str) -> st.SearchStrategy[int | tuple[int, int]]:
    if kind == "exact":
        return small
    if kind == "lpm":
        return st.tuples(small, st.integers(0, 8)).map(lambda pair: (pair[0] >> 8 - pair[1] << 8 - pair[1], pair[1]))
    if kind == "range":
        return st.tuples(small, small).map(lambda pair: (min(pair), max(pair)))
    return st.tuples(small, st.sampled_from([0, 0x0F, 0xF0, 0xFF, 0x81])).map(lambda pair: (pair[0] & pair[1], pair[1]))


@pytest.mark.parametrize(
    ("structure", "kinds"),
    [
        (ExactLookup, ("exact",)),
        (ExactLookup, ("exact", "exact")),
        (LpmLookup, ("lpm",)),
        (LpmLookup, ("exact", "lpm", "exact")),
        (TernaryLookup, ("ternary",)),
        (TernaryLookup, ("ternary", "lpm", "exact")),
        (RangeLookup, ("range",)),
        (RangeLookup, ("range", "exact", "range", "ternary")),
    ],
)
def test_against_a_search(structure: type[Lookup], kinds: tuple[str, ...]) -> None:
    ranked = structure in (TernaryLookup, RangeLookup)

    @settings(max_examples=120, deadline=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        lookup = structure(keys(*kinds))  # type: ignore[call-arg]
        present: dict[tuple[Match, int], tuple[int, int]] = {}
        for handle in range(data.draw(st.integers(0, 12))):
            match = tuple(data.draw(part(kind)) for kind in kinds)
            priority = data.draw(st.integers(1, 4)) if ranked else 0
            if (match, priority) in present:
                lookup.remove(match, present.pop((match, priority)))
            else:
                present[match, priority] = (-priority, handle)
                lookup.add(match, (-priority, handle), (match, priority))
        for _ in range(6):
            values = [data.draw(small) for _ in kinds]
            hits = [
                (rank, entry)
                for entry, rank in present.items()
                if all(matches(kind, each, value) for kind, each, value in zip(kinds, entry[0], values, strict=True))
            ]
            if structure is LpmLookup:
                place = kinds.index("lpm")
                hits.sort(key=lambda hit: -hit[1][0][place][1])  # type: ignore[index]
            else:
                hits.sort(key=lambda hit: hit[0])
            assert find(lookup, kinds, values) == (hits[0][1] if hits else None)

    run()


def test_of_equal_priorities_the_older_handle_wins() -> None:
    lookup = TernaryLookup(keys("ternary"))
    lookup.add(((0, 0x0F),), (-5, 1), "second")
    lookup.add(((0, 0xF0),), (-5, 0), "first")
    assert lookup.find(0) == "first"


def test_two_entries_of_one_value_and_mask_by_priority() -> None:
    lookup = TernaryLookup(keys("ternary"))
    lookup.add(((1, 0xFF),), (-1, 0), "low")
    lookup.add(((1, 0xFF),), (-2, 1), "high")
    assert lookup.find(1) == "high"
    lookup.remove(((1, 0xFF),), (-2, 1))
    assert lookup.find(1) == "low"
