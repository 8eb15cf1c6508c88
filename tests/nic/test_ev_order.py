"""The order of EVs: the vectors of docs/ev-order.md, and the properties that the page promises."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.nic.ev_order import EvOrder, xorshift32

PAGE = (ROOT / "docs" / "ev-order.md").read_text(encoding="utf-8")
VECTORS = re.findall(r"^\| (\d+) \| (0x[0-9A-F]{8}) \| (\d) \| ([\d ]+) \|$", PAGE, re.MULTILINE)


def test_xorshift_steps_as_published():
    # The first outputs of xorshift32 (13, 17, 5) from 1, as found in many places.
    states, state = [], 1
    for _ in range(4):
        state = xorshift32(state)
        states.append(state)
    assert states == [270369, 67634689, 2647435461, 307599695]


@pytest.mark.parametrize(("count", "seed", "rotation", "places"), VECTORS)
def test_vectors_of_the_page(count, seed, rotation, places):
    order = EvOrder(int(count), int(seed, 16))
    for _ in range(int(rotation)):
        drawn = order.rotation()
    assert drawn == [int(place) for place in places.split()]


def test_the_page_has_vectors():
    assert len(VECTORS) == 24


def by_adders(count: int, seed: int) -> list[int]:
    """A rotation as hardware makes it: no multiplication, no closed form."""
    first = xorshift32(seed)
    second = xorshift32(first)
    size = 2
    while size < count:
        size *= 2
    twice_e = 2 * (second % 65536 // 2 * 2)
    place, step = first % 65536, first // 65536 // 2 * 2 + 1 + twice_e // 2
    places = []
    for _ in range(size):
        places.append(place % size)
        place, step = place + step, step + twice_e
    return [place for place in places if place < count]


@given(st.integers(1, 600), st.integers(1, (1 << 32) - 1))
def test_each_place_comes_once_and_two_adders_make_the_same(count, seed):
    rotation = EvOrder(count, seed).rotation()
    assert sorted(rotation) == list(range(count))
    assert rotation == by_adders(count, seed)


@given(st.integers(1, 8), st.integers(1, 3), st.integers(1, (1 << 32) - 1))
def test_planes_take_turns(bits, plane_bits, seed):
    planes = 1 << min(plane_bits, bits)
    rotation = EvOrder(1 << bits, seed).rotation()
    for start in range(len(rotation) - planes + 1):
        assert len({place % planes for place in rotation[start : start + planes]}) == planes


def test_rotations_differ():
    order = EvOrder(128, 1)
    assert len({tuple(order.rotation()) for _ in range(100)}) == 100


@pytest.mark.parametrize(("count", "seed"), [(0, 1), (65537, 1), (8, 0), (8, 1 << 32)])
def test_bad_parameters_are_refused(count, seed):
    with pytest.raises(InputError):
        EvOrder(count, seed)
