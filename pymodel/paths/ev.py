"""Entropy values: how an EV is laid out, expanded into header fields, and drawn (`mrc-facts.md` 2.2).

An *EV format* lists the widths of the fields on the wire. An *EV template* lists, field by field, an initial value and
a mask that says which of its bits come from the EV, each EV bit used once, most significant first. EVs are integers of
`EvTemplate.ev_bits` bits.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.paths.usid import SourceRoute
from pymodel.wire.spec import (
    EV_BITS,
    EV_HALF_BITS,
    USID_BITS,
    USID_BLOCK_BITS,
    USIDS_PER_ADDRESS,
    EvFormatMode,
)

__all__ = [
    "SRV6",
    "SRV6_SRH",
    "STEV",
    "UDP",
    "EvField",
    "EvFormat",
    "EvRecord",
    "EvTemplate",
]

ADDRESS_BITS = 128

# Flow label and UDP source port; outer destination and SRH segment; UDP source port.
_MOST_BITS = {
    EvFormatMode.STEV: 2 * EV_HALF_BITS,
    EvFormatMode.SRV6: 2 * ADDRESS_BITS,
    EvFormatMode.UDP: EV_HALF_BITS,
}


@dataclass(frozen=True, slots=True)
class EvRecord:
    """One EV of a set: its 32 bits, the local port (0-based: the plane), and the outer destination it stands for."""

    ev: int
    port: int
    address: int
    segment: int | None = None


@dataclass(frozen=True, slots=True)
class EvFormat:
    """Widths in bits of the fields that an expanded EV has on the wire, most significant first."""

    mode: EvFormatMode
    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        where = f"EV format {self.mode.name}"
        if not self.widths or any(not 1 <= width <= 32 for width in self.widths):
            raise InputError(where, f"field widths {list(self.widths)}", "one field or more of 1 to 32 bits")
        if self.bits > _MOST_BITS[self.mode]:
            raise InputError(where, f"{self.bits} bits", f"at most {_MOST_BITS[self.mode]} bits in all")
        if self.mode is EvFormatMode.SRV6 and self.bits > ADDRESS_BITS:
            ends = [sum(self.widths[: count + 1]) for count in range(len(self.widths))]
            if ADDRESS_BITS not in ends:
                raise InputError(
                    where, f"field widths {list(self.widths)}", "a field that ends with the address, at bit 128"
                )

    @property
    def bits(self) -> int:
        """Width of the whole."""
        return sum(self.widths)


STEV = EvFormat(EvFormatMode.STEV, (EV_HALF_BITS, EV_HALF_BITS))
UDP = EvFormat(EvFormatMode.UDP, (EV_HALF_BITS,))
SRV6 = EvFormat(EvFormatMode.SRV6, (USID_BLOCK_BITS, *[USID_BITS] * USIDS_PER_ADDRESS))
SRV6_SRH = EvFormat(EvFormatMode.SRV6, SRV6.widths * 2)


@dataclass(frozen=True, slots=True)
class EvField:
    """One field of a template, at most 32 bits wide.

    `mask` marks the bits that come from the EV, the rest comes from `init`; a generator draws the masked bits, read as
    one number, from `minimum` to `maximum`. A fixed field has mask, minimum and maximum zero.
    """

    width: int
    init: int = 0
    minimum: int = 0
    maximum: int = 0
    mask: int = 0

    def __post_init__(self) -> None:
        where = f"EV field of {self.width} bits"
        if not 1 <= self.width <= 32:
            raise InputError("EV field", f"width {self.width}", "a width from 1 to 32 bits")
        if not 0 <= self.init < 1 << self.width:
            raise InputError(where, f"initial value {self.init:#x}", f"a number of {self.width} bits")
        if not 0 <= self.mask < 1 << self.width:
            raise InputError(where, f"mask {self.mask:#x}", f"a mask of {self.width} bits")
        if not 0 <= self.minimum <= self.maximum < 1 << self.ev_bits:
            raise InputError(
                where,
                f"minimum {self.minimum} and maximum {self.maximum} under mask {self.mask:#x}",
                f"0 <= minimum <= maximum < {1 << self.ev_bits}",
            )

    @classmethod
    def drawn(cls, width: int, init: int, mask: int) -> EvField:
        """A field whose masked bits may take every value."""
        return cls(width, init, 0, (1 << mask.bit_count()) - 1, mask)

    @property
    def ev_bits(self) -> int:
        """How many bits of the EV this field uses."""
        return self.mask.bit_count()

    def insert(self, value: int) -> int:
        """Return the field with `value`, `ev_bits` wide, laid over the masked bits."""
        result = self.init & ~self.mask
        left = self.ev_bits
        for bit in reversed(range(self.width)):
            if self.mask >> bit & 1:
                left -= 1
                result |= (value >> left & 1) << bit
        return result

    def extract(self, content: int) -> int:
        """Return the masked bits of `content` as one number of `ev_bits` bits: the opposite of `insert`."""
        value = 0
        for bit in reversed(range(self.width)):
            if self.mask >> bit & 1:
                value = value << 1 | content >> bit & 1
        return value


@dataclass(frozen=True, slots=True)
class EvTemplate:
    """How an EV becomes the fields of a format. InputError when it breaks a limit of `mrc-facts.md` 2.2."""

    format: EvFormat
    fields: tuple[EvField, ...]
    ev_bits: int = EV_BITS

    def __post_init__(self) -> None:
        where = f"EV profile of format {self.format.mode.name}"
        widths = self.format.widths
        if not 1 <= len(self.fields) <= len(widths):
            raise InputError(where, f"{len(self.fields)} fields", f"1 to {len(widths)} fields, as the format has")
        total = sum(part.width for part in self.fields)
        if total > self.format.bits:
            raise InputError(where, f"{total} bits in all", f"at most the {self.format.bits} bits of the format")
        for number, (part, width) in enumerate(zip(self.fields, widths, strict=False)):
            if part.width > width:
                raise InputError(where, f"field {number} of {part.width} bits", f"at most the format's {width} bits")
        if self.used_bits > self.ev_bits:
            raise InputError(where, f"masks of {self.used_bits} bits", f"at most the {self.ev_bits} bits of an EV")

    @property
    def used_bits(self) -> int:
        """How many of the EV's most significant bits the masks use; the others change nothing."""
        return sum(part.ev_bits for part in self.fields)

    def expand(self, ev: int) -> tuple[int, ...]:
        """Return the content of each field for `ev`."""
        if not 0 <= ev < 1 << self.ev_bits:
            raise InputError("EV", f"{ev:#x}", f"a number of {self.ev_bits} bits")
        left = self.ev_bits
        contents = []
        for part in self.fields:
            left -= part.ev_bits
            contents.append(part.insert(ev >> left & ((1 << part.ev_bits) - 1)))
        return tuple(contents)

    def collect(self, contents: Sequence[int], rest: int = 0) -> int:
        """Return the EV whose expansion agrees with `contents` under the masks, with `rest` in its unused low bits."""
        unused = self.ev_bits - self.used_bits
        if not 0 <= rest < 1 << unused:
            raise InputError("EV", f"{rest:#x} for its unused bits", f"a number of {unused} bits")
        ev = 0
        for part, content in zip(self.fields, contents, strict=True):
            ev = ev << part.ev_bits | part.extract(content)
        return ev << unused | rest

    def pack(self, ev: int) -> int:
        """Return the expansion of `ev` as one number of `format.bits` bits; a narrow field is right-justified."""
        value = 0
        contents = self.expand(ev)
        for number, width in enumerate(self.format.widths):
            value = value << width | (contents[number] if number < len(contents) else 0)
        return value

    def route(self, ev: int) -> SourceRoute:
        """Return outer destination and SRH segment for `ev`; the format's mode must be SRv6."""
        if self.format.mode is not EvFormatMode.SRV6:
            raise InputError(
                "EV profile", f"format {self.format.mode.name}", "format SRV6 where an address is asked for"
            )
        whole = self.pack(ev) << 2 * ADDRESS_BITS - self.format.bits
        segment = whole & ((1 << ADDRESS_BITS) - 1)
        return SourceRoute(whole >> ADDRESS_BITS, segment or None)

    def generate(self, count: int, rng: random.Random) -> list[int]:
        """Draw `count` different EVs, each field's bits within its limits and unused low bits zero."""
        possible = 1
        for part in self.fields:
            possible *= part.maximum - part.minimum + 1
        if not 1 <= count <= possible:
            raise InputError(
                "generated EV profile", f"{count} EVs", f"1 to {possible}, all that the fields' limits allow"
            )
        numbers: dict[int, None] = {}
        while len(numbers) < count:
            # Rejection is slow only near the whole of a small space, which a shuffle covers.
            if possible <= 4 * count:
                numbers = dict.fromkeys(rng.sample(range(possible), count))
            else:
                numbers[rng.randrange(possible)] = None
        found: list[int] = []
        for number in numbers:
            ev, shift = 0, 0
            for part in reversed(self.fields):
                number, value = divmod(number, part.maximum - part.minimum + 1)
                ev |= part.minimum + value << shift
                shift += part.ev_bits
            found.append(ev << self.ev_bits - self.used_bits)
        return found
