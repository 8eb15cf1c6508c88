"""Seeded frames and table entries for the small programs, for comparison with BMv2.

Frames follow a shape, bytes at a time, so that they reach every branch; some are cut short, some are noise. What the
two targets cannot have in common is left out: an index outside an array (undefined in BMv2), time and so the colours
of meters, `random()`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from pymodel.switch.target import TableEntry
from tests.switch.programs.case import Profile, Setup, entry

__all__ = ["PROGRAMS", "frames", "setup"]

_SMALL = (0, 0, 0, 1, 2, 5)
_WORDS = (0, 1, 2, 0x10, 0xF0, 0x0FF0, 0x1234, 0x1235, 0x8001, 0xAB12, 0xFFFF)
_ANY = None

_SHAPES: dict[str, Sequence[tuple[int, Sequence[int] | None]]] = {
    "again": ((1, (0, 1, 2, 3, 4, 0xA5)), (1, (0, 1, 2, 3)), (2, _ANY)),
    "arithmetic": (
        (1, (*range(1, 16), *range(33, 45), *range(65, 71))),
        (4, (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678)),
        (4, (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678)),
        (2, _ANY),
        (2, (0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1280)),
        (2, (0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x00FF)),
        (16, _ANY),
    ),
    "checksum": (
        (1, (0x45, 0x46, 0x47)),
        (1, (0, 0xFF)),
        (7, _ANY),
        (1, (6, 17, 17, 17)),
        (2, (0, 0xFFFF, 0x1234)),
        (8, _ANY),
        (6, _ANY),
        (2, (0, 0xFFFF, 0x1234)),
    ),
    "clone": ((1, (0, 1, 2, 3, 4, 6, 7)), (2, (0, 4, 5, 6))),
    "control_flow": ((1, (0, 1, 2, 3, 4, 5)), (1, (0, 1, 2, 3, 10, 60)), (1, (0, 1, 2, 77, 101, 200))),
    "counters": ((1, (1, 2, 3, 4)), (2, range(8))),
    "hashing": ((1, (1, 2, 3, 4, 5)), (2, _ANY), (4, _ANY), (2, _ANY), (8, _ANY)),
    "header_stack": ((1, (*range(8), 0xFF)), (1, range(5)), (2, _ANY), *((4, (0x1040, 0x2040, 0x3140, _ANY)),) * 5),
    "header_union": ((1, (1, 2, 3)), (1, range(5)), (4, _ANY)),
    "loops": ((1, _ANY), (1, (3, 10, 255)), (4, _ANY)),
    "match_kinds": (
        (1, (*range(1, 11), *range(0x81, 0x8B))),
        (2, _WORDS),
        (2, _WORDS),
        (1, _SMALL),
        (1, (0x30, 0x56, 0x00, 0x66)),
        (2, (0, 7, 0x1234)),
    ),
    "multicast": ((1, range(4)), (2, range(5))),
    "parse_select": (
        (1, (1, 1, 2, 3, 9)),
        (1, (0, 7, 9, 10, 99, 100, 0x80, 0xBF, 0xC0, 0xFF)),
        (2, (0xBEEF, 0x1ABC, 0xA000, 0x2000, _ANY)),
        (8, _ANY),
    ),
    "parser_error": ((1, (0x60, 0x61, 0x62, 0x52)), (1, (0, 3, 4, 60, 61)), (3, _ANY), (1, (0, 1)), (4, _ANY)),
    "registers": ((1, range(5)), (4, range(8)), (6, _ANY)),
    "selector": ((1, (1, 2, 3, 4)), (2, _ANY), (4, _ANY)),
    "told": ((1, (0, 1, 2)), (1, (0, 1, 0x7F)), (2, _ANY)),
    "truncation": (
        (1, (*range(7), *range(0x80, 0x87))),
        (1, (0, 1, 2, 3, 9, 10, 11, 20, 40, 255)),
        (8, _ANY),
    ),
    "union_stack": ((1, range(5)), *((1, (1, 2, 2, 0)), (2, _ANY)) * 3, (1, (0, 1, 9))),
    "value_set": ((1, (0, 1, 0xA5)), (1, (0x10, 0x70, 0x80))),
    "varbit": ((1, (0, 0, 1, 2, 5, 10, 11)), (1, (0, 1, 2, 3, 4, 9)), (24, _ANY)),
}

PROGRAMS = sorted(_SHAPES)
"""The programs that random frames make sense for."""


def frames(program: str, rng: random.Random, count: int) -> list[tuple[int, bytes]]:
    """`count` frames with the ports that they enter."""
    return [(rng.randrange(4), _frame(_SHAPES[program], rng)) for _ in range(count)]


def _frame(shape: Sequence[tuple[int, Sequence[int] | None]], rng: random.Random) -> bytes:
    data = b""
    for size, choices in shape:
        chosen = None if choices is None else choices[rng.randrange(len(choices))]
        value = rng.getrandbits(8 * size) if chosen is None else chosen
        data += value.to_bytes(size, "big")
    data += rng.randbytes(rng.randrange(24))
    return data[: rng.randrange(1, len(data) + 1)] if rng.randrange(6) == 0 else data


def setup(program: str, rng: random.Random) -> Setup:
    """Table entries and the like for a program."""
    made = _SETUPS.get(program)
    return Setup() if made is None else made(rng)


def _clone(rng: random.Random) -> Setup:
    return Setup(sessions={5: ((7, 1),), 6: ((8, 1), (9, 2)), 4: ((6, 3), (7, 3))})


def _multicast(rng: random.Random) -> Setup:
    return Setup(groups={1: ((1, 1), (2, 1), (2, 2)), 2: ((4, 0),), 4: tuple((port, port % 3) for port in range(5))})


def _counters(rng: random.Random) -> Setup:
    return Setup(
        (
            entry("In.kinds", "In.forward", {"hdr.i.kind": 1}, port=3),
            entry("In.kinds", "In.grow", {"hdr.i.kind": 2}),
            entry("In.prefixes", "In.note", {"hdr.i.index": (4, 14)}),
        )
    )


def _control_flow(rng: random.Random) -> Setup:
    actions = (
        ("In.first", {}),
        ("In.second", {"mark": rng.randrange(256)}),
        ("In.leave", {}),
        ("In.maybe_leave", {"limit": 5}),
        ("In.drop", {}),
    )
    choose = [
        entry("In.choose", name, {"hdr.ops.a": number}, **params) for number, (name, params) in enumerate(actions, 1)
    ]
    after = [entry("In.after", "NoAction", {"hdr.ops.b": 3}), entry("In.after", "In.drop", {"hdr.ops.b": 60})]
    return Setup((*choose, *after))


def _selector(rng: random.Random) -> Setup:
    members = tuple(("In.tell", {"member": rng.getrandbits(16)}) for _ in range(6))
    groups = ((0, 1, 2, 3), (5, 4), (2,))
    grouped = tuple(({"hdr.i.table_key": number}, "group", number - 1) for number in (1, 2, 3))
    single = (({"hdr.i.table_key": 4}, "member", 0),)
    return Setup(
        profiles=(
            Profile("In.chooser", "In.grouped", members, groups, grouped),
            Profile("In.profile", "In.single", (("In.tell", {"member": 0x4444}),), (), single),
        )
    )


def _match_kinds(rng: random.Random) -> Setup:
    """Entries in every table; priorities differ, since of equal ones either may win."""
    made: dict[tuple[str, str], TableEntry] = {}
    priorities = iter(range(1, 1000))

    def word(mask: int = 0xFFFF) -> int:
        return _WORDS[rng.randrange(len(_WORDS))] & mask

    def prefix() -> tuple[int, int]:
        length = rng.randrange(17)
        return word(0xFFFF << 16 - length & 0xFFFF), length

    def masked() -> tuple[int, int]:
        mask = (0, 0xF, 0xFF, 0xFF00, 0x0FF0, 0xFFFF)[rng.randrange(6)]
        return word(mask), mask

    def span() -> tuple[int, int]:
        low, high = sorted((word(), word()))
        return low, high

    def small() -> int:
        return _SMALL[rng.randrange(len(_SMALL))]

    first, second, third = "hdr.keys.first", "hdr.keys.second", "hdr.keys.third"
    fourth, fifth, extra = "hdr.keys.fourth", "hdr.keys.fifth", "hdr.extra.value"
    keys: dict[str, Callable[[], dict[str, int | tuple[int, int]]]] = {
        "exact_one": lambda: {first: word()},
        "exact_many": lambda: {first: word(), third: small(), fourth: 3, "hdr.extra.$valid$": rng.randrange(2)},
        "longest": lambda: {first: prefix()},
        "longest_with_exact": lambda: {third: small(), second: prefix(), fourth: 5 + rng.randrange(2)},
        "masked": lambda: {first: masked(), second: masked()},
        "mixed": lambda: {first: masked(), second: prefix(), third: small(), fifth: 6},
        "ranged": lambda: {first: span(), second: span(), third: (0, 1), extra: (0, 7)[rng.randrange(2)]},
        "sliced": lambda: {"middle": word(0xFF), "low": word(0xFFF)},
    }
    for name, key in keys.items():
        for _ in range(12):
            match = key()
            priority = next(priorities) if name in ("masked", "mixed", "ranged") else 0
            made[name, repr(match)] = entry(f"In.{name}", "In.answer", match, priority, value=rng.getrandbits(16))
    return Setup(tuple(made.values()))


_SETUPS: dict[str, Callable[[random.Random], Setup]] = {
    "clone": _clone,
    "control_flow": _control_flow,
    "counters": _counters,
    "match_kinds": _match_kinds,
    "multicast": _multicast,
    "selector": _selector,
}
