"""How a key finds its entry: one structure for each match type, all with `add`, `remove`, `clear` and `find`.

The generated code calls `find` only, with the key in the shape that the structure's docstring gives. Where entries
overlap, the smaller rank wins: the longest prefix, the highest priority, and of equal priorities the older handle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from pymodel.switch.engine import ir

__all__ = ["ExactLookup", "Lookup", "LpmLookup", "Match", "RangeLookup", "TernaryLookup", "make_lookup"]

Match = tuple[int | tuple[int, int], ...]
"""A checked match: per key an int (exact), (value, prefix length), (value, mask) or (low, high)."""

Rank = tuple[int, int]


class Lookup(Protocol):
    """A set of entries that a key can be looked up in."""

    find: Callable[..., Any]

    def add(self, match: Match, rank: Rank, entry: object) -> None:
        """Add an entry, whose match and rank are not there yet."""
        ...

    def remove(self, match: Match, rank: Rank) -> None:
        """Remove an entry that is there."""
        ...


class ExactLookup:
    """Keys compared as a whole. `find` takes the key: an int, or a tuple of ints when there are several."""

    def __init__(self, keys: tuple[ir.TableKey, ...]) -> None:
        self._single = len(keys) == 1
        self._entries: dict[Hashable, object] = {}
        self.find: Callable[..., Any] = self._entries.get

    def add(self, match: Match, rank: Rank, entry: object) -> None:
        """See `Lookup`."""
        self._entries[match[0] if self._single else match] = entry

    def remove(self, match: Match, rank: Rank) -> None:
        """See `Lookup`."""
        del self._entries[match[0] if self._single else match]


class LpmLookup:
    """The longest prefix of one key. `find` takes that key and, when there are exact keys too, the tuple of those."""

    def __init__(self, keys: tuple[ir.TableKey, ...]) -> None:
        self._position = next(index for index, key in enumerate(keys) if key.kind == "lpm")
        self._width = keys[self._position].width
        self._levels: list[tuple[int, dict[Hashable, object]]] = []
        self.find: Callable[..., Any] = self._find if len(keys) == 1 else self._find_with_others

    def _find(self, key: int) -> Any:
        for shift, entries in self._levels:
            entry = entries.get(key >> shift)
            if entry is not None:
                return entry
        return None

    def _find_with_others(self, key: int, others: tuple[int, ...]) -> Any:
        for shift, entries in self._levels:
            entry = entries.get((key >> shift, others))
            if entry is not None:
                return entry
        return None

    def _place(self, match: Match) -> tuple[int, Hashable]:
        prefix = match[self._position]
        assert isinstance(prefix, tuple)
        shift = self._width - prefix[1]
        others = match[: self._position] + match[self._position + 1 :]
        return shift, (prefix[0] >> shift, others) if others else prefix[0] >> shift

    def add(self, match: Match, rank: Rank, entry: object) -> None:
        """See `Lookup`."""
        shift, key = self._place(match)
        for each, entries in self._levels:
            if each == shift:
                entries[key] = entry
                return
        self._levels.append((shift, {key: entry}))
        self._levels.sort(key=lambda level: level[0])

    def remove(self, match: Match, rank: Rank) -> None:
        """See `Lookup`."""
        shift, key = self._place(match)
        for number, (each, entries) in enumerate(self._levels):
            if each == shift:
                del entries[key]
                if not entries:
                    del self._levels[number]
                return


class TernaryLookup:
    """Values under masks. `find` takes all keys as one number, the first key in the highest bits.

    Entries of one mask share a dictionary; the groups are tried in the order of their best rank, so the search ends as
    soon as no later group can win.
    """

    def __init__(self, keys: tuple[ir.TableKey, ...]) -> None:
        self._widths = [(key.kind, key.width) for key in keys]
        self._groups: dict[int, dict[int, list[tuple[Rank, object]]]] = {}
        self._order: list[tuple[Rank, int, dict[int, list[tuple[Rank, object]]]]] = []
        self.find: Callable[..., Any] = self._find

    def _find(self, key: int) -> Any:
        best: tuple[Rank, object] | None = None
        for rank, mask, entries in self._order:
            if best is not None and best[0] < rank:
                break
            found = entries.get(key & mask)
            if found is not None and (best is None or found[0][0] < best[0]):
                best = found[0]
        return None if best is None else best[1]

    def _place(self, match: Match) -> tuple[int, int]:
        value = mask = 0
        for (kind, width), part in zip(self._widths, match, strict=True):
            bits, care = _masked(kind, width, part)
            value, mask = value << width | bits, mask << width | care
        return value, mask

    def add(self, match: Match, rank: Rank, entry: object) -> None:
        """See `Lookup`."""
        value, mask = self._place(match)
        entries = self._groups.setdefault(mask, {}).setdefault(value, [])
        entries.append((rank, entry))
        entries.sort(key=lambda item: item[0])
        self._sort()

    def remove(self, match: Match, rank: Rank) -> None:
        """See `Lookup`."""
        value, mask = self._place(match)
        group = self._groups[mask]
        group[value] = [item for item in group[value] if item[0] != rank]
        if not group[value]:
            del group[value]
        if not group:
            del self._groups[mask]
        self._sort()

    def _sort(self) -> None:
        self._order = sorted(
            ((min(item[0][0] for item in group.values()), mask, group) for mask, group in self._groups.items()),
            key=lambda item: item[0],
        )


class RangeLookup:
    """Ranges, among other kinds. `find` takes the keys that are no ranges as one number, then the tuple of the others.

    Tables with ranges are small and are searched from one entry to the next in the order of their rank.
    """

    def __init__(self, keys: tuple[ir.TableKey, ...]) -> None:
        self._widths = [(key.kind, key.width) for key in keys]
        self._entries: list[tuple[Rank, int, int, tuple[tuple[int, int], ...], Match, object]] = []
        self.find: Callable[..., Any] = self._find

    def _find(self, key: int, values: tuple[int, ...]) -> Any:
        for _, bits, mask, ranges, _, entry in self._entries:
            if key & mask == bits:
                for value, (low, high) in zip(values, ranges, strict=True):
                    if not low <= value <= high:
                        break
                else:
                    return entry
        return None

    def add(self, match: Match, rank: Rank, entry: object) -> None:
        """See `Lookup`."""
        value = mask = 0
        ranges = []
        for (kind, width), part in zip(self._widths, match, strict=True):
            if kind == "range":
                assert isinstance(part, tuple)
                ranges.append(part)
            else:
                bits, care = _masked(kind, width, part)
                value, mask = value << width | bits, mask << width | care
        self._entries.append((rank, value, mask, tuple(ranges), match, entry))
        self._entries.sort(key=lambda item: item[0])

    def remove(self, match: Match, rank: Rank) -> None:
        """See `Lookup`."""
        self._entries = [item for item in self._entries if item[0] != rank or item[4] != match]


def _masked(kind: str, width: int, part: int | tuple[int, int]) -> tuple[int, int]:
    """A match as value and mask."""
    full = (1 << width) - 1
    if isinstance(part, int):
        return part, full
    value, second = part
    mask = full ^ ((1 << width - second) - 1) if kind == "lpm" else second
    return value & mask, mask


def make_lookup(table: ir.Table) -> Lookup:
    """The structure for a table's match type."""
    match table.match_type:
        case "exact":
            return ExactLookup(table.keys)
        case "lpm":
            return LpmLookup(table.keys)
        case "ternary":
            return TernaryLookup(table.keys)
        case _:
            return RangeLookup(table.keys)
