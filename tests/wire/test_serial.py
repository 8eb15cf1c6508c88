"""Serial numbers: every pair at a small width against a walk around the circle; the wrap at the real widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.wire.serial import MSN, PSN, Serial


@pytest.mark.parametrize("bits", [1, 2, 3, 6])
def test_every_pair_at_a_small_width(bits: int) -> None:
    serial, size = Serial(bits), 1 << bits
    for a in range(size):
        for b in range(size):
            steps = 0  # walk forward from b until a is reached
            while (b + steps) % size != a:
                steps += 1
            ahead, behind = 0 < steps < size / 2, steps > size / 2
            assert serial.forward(a, b) == steps
            assert serial.diff(a, b) == (steps if steps < size / 2 else steps - size)
            assert serial.gt(a, b) is ahead
            assert serial.lt(a, b) is behind
            assert serial.ge(a, b) is (ahead or a == b)
            assert serial.le(a, b) is (behind or a == b)
            if 2 * steps != size:
                assert serial.latest(a, b) == (b if behind else a)
            for distance in (-steps, steps, size, -size):
                assert serial.add(b, distance) == (b + distance) % size


ROWS = [
    ("PSN before the wrap is behind", PSN.lt(0xFFFFFF, 0), True),
    ("PSN behind the wrap is ahead", PSN.gt(2, 0xFFFFFD), True),
    ("distance over the wrap", PSN.diff(2, 0xFFFFFD), 5),
    ("distance back over the wrap", PSN.diff(0xFFFFFD, 2), -5),
    ("add over the wrap", PSN.add(0xFFFFFE, 3), 1),
    ("subtract over the wrap", PSN.add(1, -3), 0xFFFFFE),
    ("just below half the space", PSN.gt(0x7FFFFF, 0), True),
    ("half the space is neither", (PSN.gt(0x800000, 0), PSN.lt(0x800000, 0)), (False, False)),
    ("just above half the space", PSN.lt(0x800001, 0), True),
    ("MSN over the wrap", MSN.diff(1, 0xFFFF), 2),
    ("MSN add", MSN.add(0xFFFF, 1), 0),
    ("latest over the wrap", PSN.latest(0xFFFFFF, 1), 1),
]


@pytest.mark.parametrize(("found", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_wrap(found: object, expected: object) -> None:
    assert found == expected


@given(st.sampled_from([PSN, MSN]), st.integers(0, 2**24 - 1), st.integers(-(2**23) + 1, 2**23 - 1))
def test_diff_undoes_add(serial: Serial, start: int, distance: int) -> None:
    start &= serial.mask
    distance %= serial.half
    assert serial.diff(serial.add(start, distance), start) == distance
    assert serial.diff(serial.add(start, -distance), start) == -distance
