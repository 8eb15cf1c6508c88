"""The responder's window over PSNs: what has arrived, what is missing, and what a SACK says about it.

This is the golden model of the RTL's PSN tracker, so it is written for the eye: the PSNs held out of order are a Python
set, and the cumulative PSN walks over them one by one. The RTL keeps a bitmap in RAM; the two share no algorithm.

Rules (mrc-facts.md 1.7, 3 and 11): the window is cack+1 .. cack+window. PSNs are 24-bit serial numbers: the distance
from cack, taken modulo 2^24, is ahead of cack when it is 1 .. 2^23-1, and at or below cack otherwise (a distance of
exactly 2^23, which serial arithmetic leaves open, counts as below, as a two's complement comparison has it).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodel.base.errors import InputError
from pymodel.wire.serial import PSN
from pymodel.wire.spec import MPR_UNIT_PSNS, MPR_UNITS_MAX, SACK_BITMAP_BITS

__all__ = ["MAX_WINDOW", "Arrival", "ArrivalClass", "ReceiveWindow"]

MAX_WINDOW = MPR_UNITS_MAX * MPR_UNIT_PSNS  # the largest MPR that the 8-bit field can say, mrc-facts.md 2.5


class ArrivalClass(IntEnum):
    """What a PSN is to the window at the moment it arrives."""

    NEW = 0
    """In the window and not received before: place it."""
    DUPLICATE = 1
    """In the window, received before and not yet cumulative: SACK, do not place."""
    BELOW = 2
    """At or below cack: SACK, do not place."""
    ABOVE = 3
    """Beyond cack + window: NACK PSN_OOR_WINDOW, nothing changes."""


# For every packet: members of an enumeration, and attributes of a module's object, are slow to reach.
_NEW, _DUPLICATE, _BELOW, _ABOVE = ArrivalClass
_MASK, _HALF = PSN.mask, PSN.half


class Arrival(NamedTuple):
    """One event seen from outside, all values after the event: what the RTL is compared with."""

    kind: ArrivalClass
    cack_psn: int
    """Highest PSN with everything at or below it received, 24 bits."""
    ooo_count: int
    """PSNs received beyond cack."""
    base_offset: int
    """Bitmap base minus cack, 1 or more: SETH.sack_offset."""
    bitmap: int
    """64 bits; bit i (LSB = 0) is set when base + i has been received."""


class ReceiveWindow:
    """Tracks one QP's inbound PSNs.

    Inside, PSNs are counted by integers that never wrap; one from outside becomes such by its distance from cack.
    """

    __slots__ = ("_cack", "_held", "window")

    def __init__(self, window: int, first_psn: int) -> None:
        """Start with nothing received.

        Parameters
        ----------
        window:
            Packets, 1 to 32,640: the responder's MPR (in PSNs, not in units of 128).
        first_psn:
            The PSN expected first, 24 bits; cack starts one below it.
        """
        if not 1 <= window <= MAX_WINDOW:
            raise InputError("receive window", str(window), f"a number of PSNs from 1 to {MAX_WINDOW}")
        if not 0 <= first_psn <= PSN.mask:
            raise InputError("first PSN", str(first_psn), "a 24-bit number")
        self.window = window
        self._cack = first_psn - 1
        self._held: set[int] = set()  # numbers beyond cack

    @property
    def cack_psn(self) -> int:
        """Cumulative PSN, 24 bits: everything at or below it has been received."""
        return self._cack & PSN.mask

    @property
    def ooo_count(self) -> int:
        """PSNs received beyond the cumulative one."""
        return len(self._held)

    def classify(self, psn: int) -> ArrivalClass:
        """What `psn` would be if it arrived now; changes nothing (a trimmed packet asks this)."""
        ahead = (psn - self._cack) & _MASK
        if ahead == 0 or ahead >= _HALF:
            return _BELOW
        if ahead > self.window:
            return _ABOVE
        return _DUPLICATE if self._cack + ahead in self._held else _NEW

    def mark(self, psn: int) -> None:
        """Record `psn`, which `classify` called new, and move cack past every run that it closes."""
        ahead = (psn - self._cack) & _MASK
        held = self._held
        if ahead > 1:
            held.add(self._cack + ahead)
            return
        self._cack += 1
        while held and self._cack + 1 in held:
            self._cack += 1
            held.remove(self._cack)

    def receive(self, psn: int) -> Arrival:
        """`psn` arrived: classify it, mark it if it is new, and say all that can be seen of the window afterwards."""
        kind = self.classify(psn)
        if kind is ArrivalClass.NEW:
            self.mark(psn)
        base = self.sack_base(psn)
        return Arrival(kind, self.cack_psn, len(self._held), PSN.forward(base, self._cack), self.bitmap(base))

    def sack_base(self, psn: int) -> int:
        """Bitmap base, 24 bits, of a SACK that `psn` triggers.

        The lowest PSN not yet received (cack+1), moved up just so far that the 64 bits include `psn`. For a `psn` at or
        below cack, or above the window, it is cack+1.
        """
        if SACK_BITMAP_BITS < PSN.diff(psn, self._cack) <= self.window:
            return PSN.add(psn, 1 - SACK_BITMAP_BITS)
        return PSN.add(self._cack, 1)

    def bitmap(self, base: int) -> int:
        """64 bits: bit i is set when base + i has been received. `base` lies beyond cack, as `sack_base` gives it."""
        held = self._held
        if not held:
            return 0
        first = self._cack + PSN.forward(base, self._cack)
        return sum(1 << i for i in range(SACK_BITMAP_BITS) if first + i in held)
