"""The hash and checksum algorithms that v1model programs name, as BMv2 computes them.

Each takes the input bits as one integer with its width in bits, pads them at the end to whole bytes, and returns an
unsigned number. Sources: v1model.p4's HashAlgorithm and BMv2's calculations; the CRC parameters are those of the
catalogue names CRC-16/ARC and CRC-32/ISO-HDLC.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

__all__ = ["ALGORITHMS", "crc16", "crc32", "csum16", "identity", "xor16"]


def _bytes(value: int, width: int) -> bytes:
    size = (width + 7) // 8
    return (value << (8 * size - width)).to_bytes(size, "big")


def csum16(value: int, width: int) -> int:
    """The Internet checksum (RFC 1071): the complement of the one's complement sum of 16-bit words."""
    padded = value << (-width % 16)
    # A number is congruent to the sum of its 16-bit words modulo 2**16 - 1; the folded sum is 0 for zero alone.
    total = padded % 0xFFFF
    return ~(0xFFFF if total == 0 and padded else total) & 0xFFFF


def xor16(value: int, width: int) -> int:
    """The exclusive or of the 16-bit words, the last one padded with zeros."""
    data = _bytes(value, width)
    result = 0
    for offset in range(0, len(data), 2):
        result ^= int.from_bytes(data[offset : offset + 2].ljust(2, b"\0"), "big")
    return result


def identity(value: int, width: int) -> int:
    """The first eight bytes as a number."""
    return int.from_bytes(_bytes(value, width)[:8], "big")


def _crc16_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (0xA001 if remainder & 1 else 0)
        table.append(remainder)
    return tuple(table)


_CRC16 = _crc16_table()


def crc16(value: int, width: int) -> int:
    """CRC-16/ARC."""
    remainder = 0
    for byte in _bytes(value, width):
        remainder = (remainder >> 8) ^ _CRC16[(remainder ^ byte) & 0xFF]
    return remainder


def crc32(value: int, width: int) -> int:
    """CRC-32 as in Ethernet."""
    return zlib.crc32(_bytes(value, width))


ALGORITHMS: dict[str, Callable[[int, int], int]] = {
    "crc16": crc16,
    # The custom ones start with these parameters, and P4Runtime cannot change them.
    "crc16_custom": crc16,
    "crc32": crc32,
    "crc32_custom": crc32,
    "csum16": csum16,
    "cksum16": csum16,
    "identity": identity,
    "xor16": xor16,
}
"""By the names that BMv2 JSON uses."""
