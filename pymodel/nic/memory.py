"""Memory regions and their keys: what a peer may write, and what it gets when it tries more.

A key is a table index and a tag, never searched for: R_Key = index[31:8] | tag[7:0] (mrc-facts.md 11). The region says
nothing about contents: placing bytes is the caller's, who carries out `WriteMemory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pymodel.base.errors import InputError
from pymodel.wire.spec import R_KEY_TAG_BITS

__all__ = ["Access", "MemoryRegion", "RegionTable"]

_TAG_MASK = (1 << R_KEY_TAG_BITS) - 1
_INDEX_MAX = (1 << (32 - R_KEY_TAG_BITS)) - 1
_ADDRESS_END = 1 << 64


class Access(Enum):
    """What became of an access."""

    GRANTED = "granted"
    BAD_KEY = "no region has this key"
    OUT_OF_BOUNDS = "the range leaves the region"


_GRANTED = Access.GRANTED


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """`length` bytes from virtual `address`, writable by whoever names `r_key`."""

    r_key: int
    address: int
    length: int


class RegionTable:
    """The regions of one device, by key."""

    def __init__(self, capacity: int = 1024) -> None:
        """Start empty, with room for `capacity` regions at the same time."""
        if not 1 <= capacity <= _INDEX_MAX + 1:
            raise InputError("memory regions", str(capacity), f"a number from 1 to {_INDEX_MAX + 1}")
        self._regions: list[MemoryRegion | None] = [None] * capacity
        self._by_key: dict[int, MemoryRegion] = {}

    def register(self, address: int, length: int, tag: int = 0) -> MemoryRegion:
        """Make `length` bytes from `address` writable from afar and return the region with its key.

        `tag` is the key's low byte; a new tag makes keys of an earlier region at the same index useless.
        """
        if length < 1 or address < 0 or address + length > _ADDRESS_END:
            raise InputError("memory region", f"{length} bytes at {address:#x}", "at least one byte within 64 bits")
        if not 0 <= tag <= _TAG_MASK:
            raise InputError("memory region's tag", str(tag), f"a number from 0 to {_TAG_MASK}")
        try:
            index = self._regions.index(None)
        except ValueError:
            raise InputError("memory regions", "none free", f"at most {len(self._regions)} at the same time") from None
        region = MemoryRegion(index << R_KEY_TAG_BITS | tag, address, length)
        self.restore(region)
        return region

    def restore(self, region: MemoryRegion) -> None:
        """Put `region` back under its own key."""
        index = region.r_key >> R_KEY_TAG_BITS
        if not 0 <= index < len(self._regions) or self._regions[index] is not None:
            raise InputError("memory region", f"key {region.r_key:#x}", "a key whose place in the table is free")
        self._regions[index] = self._by_key[region.r_key] = region

    def __iter__(self) -> Iterator[MemoryRegion]:
        """The registered regions, in the order of their keys."""
        return (region for region in self._regions if region is not None)

    def deregister(self, r_key: int) -> None:
        """Forget the region of `r_key`; its key is refused from now on."""
        if self._by_key.pop(r_key, None) is None:
            raise InputError("memory region", f"key {r_key:#x}", "the key of a registered region")
        self._regions[r_key >> R_KEY_TAG_BITS] = None

    def check(self, r_key: int, address: int, length: int) -> Access:
        """May `length` bytes be written at `address` under `r_key`? Takes any numbers, as they come from a frame."""
        region = self._by_key.get(r_key)
        if region is None:
            return Access.BAD_KEY
        offset = address - region.address
        return _GRANTED if 0 <= offset <= region.length - length else Access.OUT_OF_BOUNDS
