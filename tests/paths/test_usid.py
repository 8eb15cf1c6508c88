from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.paths import usid
from pymodel.wire.spec import USID_BLOCK_DEFAULT, UsidRole


def ip(text: str) -> int:
    return int(IPv6Address(text))


def test_the_shift_walks_the_address_of_mrc_facts_4_1() -> None:
    walk = ["fc00:0:101:205:130:42::", "fc00:0:205:130:42::", "fc00:0:130:42::", "fc00:0:42::"]
    address = ip(walk[0])
    for expected in walk[1:]:
        address = usid.shift(address)
        assert address == ip(expected)


def test_the_shift_of_a_node_and_function_is_32_bits_and_the_last_one_leaves_the_bare_block() -> None:
    assert usid.shift(ip("fc00:0:101:e001:130:42::"), 32) == ip("fc00:0:130:42::")
    assert usid.shift(ip("fc00:0:101::")) == ip("fc00::")
    assert usid.shift(ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) == ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:0")


@pytest.mark.parametrize(
    ("usids", "address", "segment"),
    [
        ([0x42], "fc00:0:42::", None),
        ([1, 2, 3, 4, 5, 6], "fc00:0:1:2:3:4:5:6", None),
        ([1, 2, 3, 4, 5, 6, 7], "fc00:0:1:2:3:4:5:6", "fc00:0:7::"),
        (list(range(1, 13)), "fc00:0:1:2:3:4:5:6", "fc00:0:7:8:9:a:b:c"),
    ],
    ids=["one", "six", "seven", "twelve"],
)
def test_a_path_fills_the_address_first_and_then_one_segment(
    usids: list[int], address: str, segment: str | None
) -> None:
    route = usid.source_route(USID_BLOCK_DEFAULT, usids)
    assert usid.text(route.address) == str(IPv6Address(address))
    assert route.segment == (ip(segment) if segment else None)
    found = usid.usids_of(route.address) + (usid.usids_of(route.segment) if route.segment else ())
    assert found == tuple(usids)


@pytest.mark.parametrize(
    ("usids", "found"),
    [
        ([], "0 uSIDs"),
        (list(range(1, 14)), "13 uSIDs"),
        ([1, 0, 2], "uSID 0x0"),
        ([0x10000], "uSID 0x10000"),
        ([-1], "uSID -0x1"),
    ],
)
def test_a_path_that_fits_no_address_is_refused(usids: list[int], found: str) -> None:
    with pytest.raises(InputError, match=f"found {found}"):
        usid.source_route(USID_BLOCK_DEFAULT, usids)


@pytest.mark.parametrize("block", [0, 1 << 32, -1])
def test_a_block_is_32_bits_and_not_zero(block: int) -> None:
    with pytest.raises(InputError, match="uSID block"):
        usid.address(block, [1])


@pytest.mark.parametrize(
    ("role", "plane", "index", "value"),
    [
        (UsidRole.T0, 0, 1, 0x0001),
        (UsidRole.T0, 7, 2047, 0x3FFF),
        (UsidRole.T1, 0, 0, 0x4000),
        (UsidRole.T1, 7, 255, 0x78FF),
        (UsidRole.NIC, 0, 0, 0x8000),
        (UsidRole.NIC, 5, 0x123, 0xA923),
        (UsidRole.NIC, 7, 2047, 0xBFFF),
    ],
)
def test_role_plane_and_index_have_their_bits(role: UsidRole, plane: int, index: int, value: int) -> None:
    assert usid.Usid(role, plane, index).value == value
    assert usid.Usid.parse(value) == usid.Usid(role, plane, index)


@given(st.integers(0, 0xFFFF))
def test_every_number_is_a_usid_of_the_global_block_or_refused(value: int) -> None:
    # Refused: role 3, which holds the local block from 0xE000, and index 0 of a T0 (so that no uSID is zero).
    if value >= 0xC000 or (value < 0x4000 and value & 0x7FF == 0):
        with pytest.raises(InputError):
            usid.Usid.parse(value)
    else:
        assert usid.Usid.parse(value).value == value


@pytest.mark.parametrize(
    ("role", "plane", "index", "words"),
    [
        (UsidRole.T0, 0, 0, "index 0, expected an index from 1 to 2047"),
        (UsidRole.T1, 8, 0, "plane 8, expected a plane from 0 to 7"),
        (UsidRole.NIC, 0, 2048, "index 2048, expected an index from 0 to 2047"),
        (UsidRole.NIC, -1, 0, "plane -1"),
    ],
)
def test_what_does_not_fit_a_usid_is_refused(role: UsidRole, plane: int, index: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        usid.Usid(role, plane, index)


def test_masks_are_those_of_mrc_facts_4_1() -> None:
    assert (usid.PLANE_MASK, usid.UPLINK_MASK) == (0x3800, 0x38FF)
