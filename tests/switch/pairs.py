"""Pairwise covering arrays: few cases in which every pair of values of every two factors occurs.

Greedy, one case at a time: it starts with a pair that is still missing, and takes for each other factor, in random
order, the value that covers most. The seed settles the result.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence

__all__ = ["Case", "covering", "missing"]

Case = Mapping[str, object]
_Pair = tuple[str, object, str, object]


def _pairs(case: Case) -> list[_Pair]:
    return [(a, case[a], b, case[b]) for a, b in itertools.combinations(case, 2)]


def _wanted(factors: Mapping[str, Sequence[object]], possible: Callable[[Case], bool]) -> dict[_Pair, None]:
    wanted = {}
    for a, b in itertools.combinations(factors, 2):
        for x, y in itertools.product(factors[a], factors[b]):
            if possible({a: x, b: y}):
                wanted[a, x, b, y] = None
    return wanted


def missing(
    cases: Sequence[Case], factors: Mapping[str, Sequence[object]], possible: Callable[[Case], bool]
) -> tuple[int, list[_Pair]]:
    """How many pairs there are, and those that no case has."""
    wanted = _wanted(factors, possible)
    covered = {pair for case in cases for pair in _pairs(case)}
    return len(wanted), [pair for pair in wanted if pair not in covered]


def covering(
    factors: Mapping[str, Sequence[object]], possible: Callable[[Case], bool], seed: int
) -> list[dict[str, object]]:
    """Cases that together have every pair. `possible` says of a part of a case whether its values can go together."""
    rng = random.Random(seed)
    left = _wanted(factors, possible)
    cases = []
    while left:
        case = _grown(next(iter(left)), factors, possible, left, rng)
        for pair in _pairs(case):
            left.pop(pair, None)
        cases.append(case)
    return cases


def _grown(
    start: _Pair,
    factors: Mapping[str, Sequence[object]],
    possible: Callable[[Case], bool],
    left: Mapping[_Pair, None],
    rng: random.Random,
) -> dict[str, object]:
    """A whole case from one pair."""
    case = {start[0]: start[1], start[2]: start[3]}
    order = [name for name in factors if name not in case]
    rng.shuffle(order)
    for name in order:
        values = list(factors[name])
        rng.shuffle(values)
        gains = {value: _gain(case, name, value, factors, left) for value in values if possible({**case, name: value})}
        case[name] = max(gains, key=lambda value: gains[value])
    return {name: case[name] for name in factors}


def _gain(
    case: Case, name: str, value: object, factors: Mapping[str, Sequence[object]], left: Mapping[_Pair, None]
) -> int:
    places = list(factors)
    gain = 0
    for other, held in case.items():
        first = places.index(other) < places.index(name)
        gain += ((other, held, name, value) if first else (name, value, other, held)) in left
    return gain
