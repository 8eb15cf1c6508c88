"""The ICRC's matrices against zlib, which divides, and the emitted package against its script."""

from __future__ import annotations

import random
from zlib import crc32

import pytest

from pymodel.rtl import crc_matrices

ALL_ONES = (1 << crc_matrices.WIDTH) - 1


@pytest.mark.parametrize("size", [1, 4, 12, 63, 64, 120])
def test_a_word_at_once_is_what_division_finds(size: int) -> None:
    rng = random.Random(size)
    columns, step = crc_matrices.data_columns(size), crc_matrices.zeros(size)
    rows = crc_matrices.rows(columns)
    state = ALL_ONES
    message = b""
    for _ in range(5):
        word = rng.randbytes(size)
        message += word
        value = int.from_bytes(word, "big")
        added = crc_matrices.apply(columns, value)
        assert added == sum(((row & value).bit_count() & 1) << bit for bit, row in enumerate(rows))
        state = crc_matrices.apply(step, state) ^ added
        assert state ^ ALL_ONES == crc32(message)


def test_what_a_correct_packet_leaves_in_the_register() -> None:
    """The register behind a message and its CRC, and any zeros behind them, does not depend on the message."""
    for length in (0, 1, 50, 777):
        message = random.Random(length).randbytes(length)
        whole = message + crc32(message).to_bytes(4, "little")
        for zeros in (0, 1, 17, 63):
            assert crc32(whole + bytes(zeros)) ^ ALL_ONES == crc_matrices.good(zeros)


def test_seed() -> None:
    assert crc32(b"\xff" * 8) == crc_matrices.SEED ^ ALL_ONES


def test_the_package_is_what_its_script_says() -> None:
    """`python -m pymodel.rtl.crc_matrices` writes it anew."""
    assert crc_matrices.PACKAGE.read_text(encoding="utf-8") == crc_matrices.package()
