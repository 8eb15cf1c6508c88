"""Frames that no peer would send: random bytes, cut and mutated frames, with and without a good ICRC."""

from __future__ import annotations

import random
from collections.abc import Sequence
from zlib import crc32

from pymodel.wire.spec import Opcode

_INNER = 14  # the frames of `peer` are not encapsulated: their IPv6 header stands right behind the Ethernet header
_BTH = _INNER + 40 + 8


def icrc(data: bytes, inner: int = _INNER) -> bytes:
    """The ICRC of a frame that ends before it, written from the rule in mrc-facts.md 1.13 on its own.

    The (inner) IPv6 header stands at byte `inner`.
    """
    masked = bytearray(data[inner:])
    masked[0] |= 0x0F  # traffic class and flow label
    masked[1:4] = b"\xff\xff\xff"
    masked[7] = 0xFF  # hop limit
    masked[46:48] = b"\xff\xff"  # UDP checksum
    masked[52] = 0xFF  # BTH, reserved for variants
    return crc32(bytes(8 * [0xFF]) + masked).to_bytes(4, "little")


def sealed(data: bytes, inner: int = _INNER) -> bytes:
    """`data` and its ICRC behind it, so that whatever fields it has reach the cores; too short a frame as it is."""
    return data + icrc(data, inner) if len(data) >= inner + 40 + 8 + 12 else data


def mutated(draw: random.Random, data: bytes, kinds: int = 5) -> bytes:
    """One to four changes: a bit, a byte, a run of one value, and of five kinds also a cut and an insertion."""
    changed = bytearray(data)
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(changed))
        match draw.randrange(kinds):
            case 0:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                changed[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
            case 2:
                changed[at : at + 4] = bytes([draw.choice((0, 0xFF))]) * len(changed[at : at + 4])
            case 3:
                del changed[at + 1 :]
            case 4:
                changed[at:at] = draw.randbytes(draw.randrange(1, 20))
    return bytes(changed)


def noise(draw: random.Random, frames: Sequence[bytes]) -> bytes:
    """One frame of noise made from one of `frames`: a third of it reaches the cores with fields of every value."""
    data = draw.choice(frames)
    match draw.randrange(6):
        case 0:
            return draw.randbytes(draw.randrange(300))
        case 1:
            return data[: draw.randrange(len(data))] + draw.randbytes(draw.randrange(100))
        case 2 | 3:
            return mutated(draw, data)
        case _:
            # Beyond the addresses, so that it is this QP's.
            return sealed(data[:_BTH] + mutated(draw, data[_BTH:-4], draw.choice((3, 3, 3, 5))))


def is_endpoint(data: bytes) -> bool:
    """The opcode is one of a device, not of a QP."""
    return data[_BTH] in (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
