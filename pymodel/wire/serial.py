"""Serial number arithmetic (RFC 1982) for PSNs and MSNs. Nobody else compares them.

A number of n bits is *ahead* of another when the forward distance between them is less than half the space. Two numbers
exactly half the space apart are neither ahead of nor behind each other; no MRC window comes near that distance.
"""

from __future__ import annotations

from pymodel.wire.spec import MSN_BITS, PSN_BITS

__all__ = ["MSN", "PSN", "Serial"]


class Serial:
    """Arithmetic on serial numbers of `bits` bits. Arguments are taken modulo 2**bits."""

    __slots__ = ("bits", "half", "mask")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.mask = (1 << bits) - 1
        self.half = 1 << (bits - 1)

    def add(self, number: int, distance: int) -> int:
        """The number `distance` (of either sign) after `number`."""
        return (number + distance) & self.mask

    def diff(self, number: int, other: int) -> int:
        """Signed distance from `other` to `number`, from -half to half - 1: positive when `number` is ahead."""
        return ((number - other + self.half) & self.mask) - self.half

    def forward(self, number: int, other: int) -> int:
        """Distance from `other` forward to `number`, from 0 to mask."""
        return (number - other) & self.mask

    def lt(self, number: int, other: int) -> bool:
        """True when `other` is ahead of `number`."""
        return 0 < ((other - number) & self.mask) < self.half

    def le(self, number: int, other: int) -> bool:
        """True when `other` is `number` or ahead of it."""
        return ((other - number) & self.mask) < self.half

    def gt(self, number: int, other: int) -> bool:
        """True when `number` is ahead of `other`."""
        return 0 < ((number - other) & self.mask) < self.half

    def ge(self, number: int, other: int) -> bool:
        """True when `number` is `other` or ahead of it."""
        return ((number - other) & self.mask) < self.half

    def latest(self, number: int, other: int) -> int:
        """The one of the two that is ahead."""
        return number if self.ge(number, other) else other


PSN = Serial(PSN_BITS)
MSN = Serial(MSN_BITS)
