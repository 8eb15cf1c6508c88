"""uSID addresses: compressed SRv6 source routes in one IPv6 address (RFC 9800 NEXT-CSID, F3216; `mrc-facts.md` 4.1).

An address is a 32-bit block and up to six 16-bit uSIDs; a path of up to twelve takes one SRH segment more. A switch
that finds its own uSID first shifts the rest 16 bits to the left and looks the result up. Addresses are 128-bit
integers, uSIDs 16-bit integers. The layout of a uSID, ``role[15:14] plane[13:11] index[10:0]``, is this project's
choice: every uSID is non-zero and lies below 0xE000, where some switches keep their local block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from pymodel.base.errors import InputError
from pymodel.wire.spec import (
    USID_BITS,
    USID_BLOCK_BITS,
    USID_INDEX_BITS,
    USID_PLANE_BITS,
    USID_UPLINK_BITS,
    USIDS_PER_ADDRESS,
    UsidRole,
)

__all__ = [
    "PLANES",
    "PLANE_MASK",
    "UPLINK_MASK",
    "SourceRoute",
    "Usid",
    "address",
    "shift",
    "sid_prefix",
    "source_route",
    "text",
    "usids_of",
]

PLANES = 1 << USID_PLANE_BITS
"""Most planes that a uSID can name."""
PLANE_MASK = (PLANES - 1) << USID_INDEX_BITS
"""Bits of a uSID that an EV's copy of the plane fills: 0x3800."""
UPLINK_MASK = PLANE_MASK | ((1 << USID_UPLINK_BITS) - 1)
"""Bits of a T1 uSID that an EV fills, plane and uplink: 0x38FF."""


@dataclass(frozen=True, slots=True)
class Usid:
    """A uSID of this project's layout. T0 indices count from 1, so that no uSID is zero; T1 and NIC indices from 0."""

    role: UsidRole
    plane: int
    index: int

    def __post_init__(self) -> None:
        first = 1 if self.role is UsidRole.T0 else 0
        last = (1 << USID_INDEX_BITS) - 1
        if not 0 <= self.plane < PLANES:
            raise InputError(f"uSID of a {self.role.name}", f"plane {self.plane}", f"a plane from 0 to {PLANES - 1}")
        if not first <= self.index <= last:
            raise InputError(f"uSID of a {self.role.name}", f"index {self.index}", f"an index from {first} to {last}")

    @property
    def value(self) -> int:
        """The 16-bit number."""
        return self.role << (USID_PLANE_BITS + USID_INDEX_BITS) | self.plane << USID_INDEX_BITS | self.index

    @classmethod
    def parse(cls, value: int) -> Usid:
        """Return the parts of the 16-bit `value`; InputError if it is no uSID of the global block."""
        role = value >> (USID_PLANE_BITS + USID_INDEX_BITS)
        if not 0 <= role <= max(UsidRole):
            raise InputError("uSID", f"{value:#06x}", f"a 16-bit number below {(max(UsidRole) + 1) << 14:#x}")
        return cls(UsidRole(role), (value >> USID_INDEX_BITS) & (PLANES - 1), value & ((1 << USID_INDEX_BITS) - 1))


@dataclass(frozen=True, slots=True)
class SourceRoute:
    """Outer destination address, and the single SRH segment (a 128-bit address) when one address is too short."""

    address: int
    segment: int | None = None


def text(value: int) -> str:
    """Return the 128-bit `value` in the canonical notation of RFC 5952."""
    return str(IPv6Address(value))


def address(block: int, usids: Sequence[int]) -> int:
    """Return the 128-bit address of `usids`, 1 to 6 non-zero 16-bit numbers, after the 32-bit `block`."""
    if not 0 < block < 1 << USID_BLOCK_BITS:
        raise InputError("uSID block", f"{block:#x}", f"a non-zero number of {USID_BLOCK_BITS} bits")
    if not 1 <= len(usids) <= USIDS_PER_ADDRESS:
        raise InputError("uSID address", f"{len(usids)} uSIDs", f"1 to {USIDS_PER_ADDRESS}")
    value = block
    for usid in usids:
        if not 0 < usid < 1 << USID_BITS:
            raise InputError("uSID address", f"uSID {usid:#x}", f"a non-zero number of {USID_BITS} bits")
        value = value << USID_BITS | usid
    return value << USID_BITS * (USIDS_PER_ADDRESS - len(usids))


def source_route(block: int, usids: Sequence[int]) -> SourceRoute:
    """Return the outer destination, and the SRH segment if needed, of a path of 1 to 12 `usids`.

    The address is filled first; the segment starts with the block again and carries the rest (`mrc-facts.md` 2.2).
    """
    most = 2 * USIDS_PER_ADDRESS
    if not 1 <= len(usids) <= most:
        raise InputError(
            "uSID path", f"{len(usids)} uSIDs", f"1 to {most}, of which one SRH segment carries the last six"
        )
    rest = usids[USIDS_PER_ADDRESS:]
    return SourceRoute(address(block, usids[:USIDS_PER_ADDRESS]), address(block, rest) if rest else None)


def shift(value: int, bits: int = USID_BITS) -> int:
    """Return the address `value` with what follows its block moved `bits` to the left, zeros from the right."""
    argument_bits = 128 - USID_BLOCK_BITS
    argument = (value << bits) & ((1 << argument_bits) - 1)
    return value >> argument_bits << argument_bits | argument


def usids_of(value: int) -> tuple[int, ...]:
    """Return the uSIDs of the address `value` up to the first zero (the end of the container)."""
    found = []
    for position in range(USIDS_PER_ADDRESS):
        usid = value >> USID_BITS * (USIDS_PER_ADDRESS - 1 - position) & ((1 << USID_BITS) - 1)
        if not usid:
            break
        found.append(usid)
    return tuple(found)


def sid_prefix(block: int, usid: int) -> tuple[int, int]:
    """Return address and length of the /48 prefix that stands for `usid`."""
    return address(block, [usid]), USID_BLOCK_BITS + USID_BITS
