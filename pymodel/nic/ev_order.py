"""The order in which a QP's EVs are used: for each rotation another permutation, from one 32-bit register.

`docs/ev-order.md` defines it and gives test vectors; the RTL implements the definition on its own.
"""

from __future__ import annotations

from pymodel.base.errors import InputError

__all__ = ["MAX_EVS", "EvOrder", "xorshift32"]

MAX_EVS = 1 << 16

_WORD = (1 << 32) - 1
_HALF_WORD = (1 << 16) - 1


def xorshift32(state: int) -> int:
    """The state after `state` in Marsaglia's xorshift generator (13, 17, 5); never 0 for a non-zero state."""
    state ^= state << 13 & _WORD
    state ^= state >> 17
    return state ^ state << 5 & _WORD


class EvOrder:
    """Orders of `count` positions, one a rotation: place(i) = b + a i + e i^2 modulo a power of two, a odd and e even.

    Such a polynomial permutes 0 .. 2**bits - 1, and every 2**j places in a row take each residue modulo 2**j once. EVs
    whose plane is their place in the set modulo the number of planes so alternate between the planes.
    """

    __slots__ = ("_bits", "_count", "_state")

    def __init__(self, count: int, seed: int) -> None:
        """`count` positions, 1 to 65,536; `seed` is the register's first content, 32 bits and not 0."""
        if not 1 <= count <= MAX_EVS:
            raise InputError("EV set", f"{count} EVs", f"1 to {MAX_EVS}")
        if not 1 <= seed <= _WORD:
            raise InputError("seed of the EV order", str(seed), f"a number from 1 to {_WORD}")
        self._count = count
        self._bits = max(1, (count - 1).bit_length())
        self._state = seed

    def rotation(self) -> list[int]:
        """Draw the next rotation: every position from 0 to count - 1 once."""
        first = xorshift32(self._state)
        second = self._state = xorshift32(first)
        b, a, e = first & _HALF_WORD, first >> 16 | 1, second & _HALF_WORD & ~1
        last, count = (1 << self._bits) - 1, self._count
        places = [b + (a + e * i) * i & last for i in range(last + 1)]
        return places if count > last else [place for place in places if place < count]
