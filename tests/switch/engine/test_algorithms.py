"""Hash algorithms against published check values and definitions in other words."""

from __future__ import annotations

import random
import struct

import pytest

from pymodel.switch.engine.algorithms import ALGORITHMS, crc16, crc32, csum16, identity, xor16

CHECK = b"123456789"


def call(algorithm: str, data: bytes) -> int:
    return ALGORITHMS[algorithm](int.from_bytes(data, "big"), 8 * len(data))


@pytest.mark.parametrize(
    ("algorithm", "value"),
    # The check values of the CRC catalogue for CRC-16/ARC and CRC-32/ISO-HDLC.
    [("crc16", 0xBB3D), ("crc16_custom", 0xBB3D), ("crc32", 0xCBF43926), ("crc32_custom", 0xCBF43926)],
)
def test_crc_check_values(algorithm: str, value: int) -> None:
    assert call(algorithm, CHECK) == value


def test_csum16_of_rfc_1071() -> None:
    """RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 add up to ddf2."""
    assert call("csum16", bytes.fromhex("0001f203f4f5f6f7")) == ~0xDDF2 & 0xFFFF


def test_csum16_against_the_sum_word_by_word() -> None:
    rng = random.Random(1)
    for size in [*range(40), 1500, 9000]:
        data = rng.choice([rng.randbytes, lambda n: b"\xff" * n, bytes])(size)
        total = sum(struct.unpack(f"!{(size + 1) // 2}H", data + bytes(size % 2)))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        assert call("csum16", data) == ~total & 0xFFFF


def test_bits_are_padded_at_the_end() -> None:
    assert crc32(0b101, 3) == crc32(0xA0, 8)
    assert crc16(0b1, 1) == crc16(0x80, 8)
    assert csum16(0b1, 1) == csum16(0x8000, 16)
    assert xor16(0xABC, 12) == 0xABC0
    assert identity(0xF, 4) == 0xF0


def test_xor16_and_identity() -> None:
    assert call("xor16", bytes.fromhex("1111 2222 44")) == 0x1111 ^ 0x2222 ^ 0x4400
    assert call("identity", bytes(range(1, 12))) == 0x0102030405060708
    assert call("identity", b"\x05") == 5


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_nothing_hashes_to_something(algorithm: str) -> None:
    assert call(algorithm, b"") in (0, 0xFFFF)
