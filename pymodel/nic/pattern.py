"""Data that is computed where it is looked at, so that a message of 2^32 - 1 bytes needs no memory of that size."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from pymodel.base.errors import InputError

__all__ = ["Pattern"]

_TILE = 65_521
"""Bytes after which the pattern comes again: a prime, so that no power of two is a period."""


@lru_cache(maxsize=8)
def _tile(seed: int) -> bytes:
    return random.Random(f"pattern {seed}").randbytes(_TILE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """`length` bytes that depend on `seed` and place alone; sliced like `bytes`."""

    length: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.length < 0:
            raise InputError("pattern", f"{self.length} bytes", "no bytes or more")

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice, /) -> bytes:
        """The bytes of `part`, a slice without step."""
        start, stop, step = part.indices(self.length)
        if step != 1:
            raise InputError("slice of a pattern", f"step {step}", "step 1")
        tile, size, at = _tile(self.seed), max(0, stop - start), start % _TILE
        if at + size <= _TILE:
            return tile[at : at + size]
        return (tile * (2 + size // _TILE))[at : at + size]
