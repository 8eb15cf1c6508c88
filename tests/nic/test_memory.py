"""Memory regions: keys are index and tag, and bounds are exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.nic.memory import Access, RegionTable

GRANTED, BAD_KEY, OUT_OF_BOUNDS = Access


def test_keys_are_index_and_tag():
    table = RegionTable(capacity=4)
    assert [table.register(0, 1, tag).r_key for tag in (0, 7, 0xFF)] == [0x000, 0x107, 0x2FF]


@pytest.mark.parametrize(
    ("address", "length", "access"),
    [
        (0x1000, 1, GRANTED),
        (0x1000, 0x100, GRANTED),
        (0x10FF, 1, GRANTED),
        (0x1100, 0, GRANTED),
        (0x0FFF, 1, OUT_OF_BOUNDS),
        (0x0FFF, 2, OUT_OF_BOUNDS),
        (0x1000, 0x101, OUT_OF_BOUNDS),
        (0x1100, 1, OUT_OF_BOUNDS),
        (0, 1, OUT_OF_BOUNDS),
        ((1 << 64) - 1, 4096, OUT_OF_BOUNDS),
        ((1 << 64) - 1, 1, OUT_OF_BOUNDS),
    ],
)
def test_bounds(address, length, access):
    table = RegionTable()
    region = table.register(0x1000, 0x100)
    assert table.check(region.r_key, address, length) is access


def test_a_region_at_the_end_of_the_address_space():
    table = RegionTable()
    region = table.register((1 << 64) - 16, 16)
    assert table.check(region.r_key, (1 << 64) - 1, 1) is GRANTED
    assert table.check(region.r_key, (1 << 64) - 1, 2) is OUT_OF_BOUNDS


def test_a_key_dies_with_its_region():
    table = RegionTable(capacity=1)
    old = table.register(0, 8, tag=1)
    table.deregister(old.r_key)
    assert table.check(old.r_key, 0, 1) is BAD_KEY
    new = table.register(0, 8, tag=2)
    assert new.r_key >> 8 == old.r_key >> 8
    assert table.check(old.r_key, 0, 1) is BAD_KEY
    assert table.check(new.r_key, 0, 1) is GRANTED


@given(st.integers(0, (1 << 32) - 1))
def test_any_other_key_is_bad(key):
    table = RegionTable(capacity=3)
    good = {table.register(0, 8, tag).r_key for tag in (3, 4)}
    assert (table.check(key, 0, 1) is GRANTED) == (key in good)


@pytest.mark.parametrize(
    "act",
    [
        lambda table: table.register(0, 0),
        lambda table: table.register(-1, 4),
        lambda table: table.register((1 << 64) - 1, 2),
        lambda table: table.register(0, 1, tag=256),
        lambda table: table.deregister(0x100),
        lambda table: [table.register(0, 1), table.register(0, 1)],
        lambda table: RegionTable(0),
        lambda table: RegionTable((1 << 24) + 1),
    ],
    ids=["no bytes", "negative", "beyond 64 bits", "wide tag", "unknown key", "no room", "no table", "huge table"],
)
def test_bad_requests_are_refused(act):
    with pytest.raises(InputError):
        act(RegionTable(capacity=1))
