from __future__ import annotations

import random
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.paths.ev import (
    SRV6,
    SRV6_SRH,
    STEV,
    UDP,
    EvField,
    EvFormat,
    EvTemplate,
)
from pymodel.wire.spec import EvFormatMode


def expand_as_text(fields: tuple[EvField, ...], ev: int, ev_bits: int) -> tuple[int, ...]:
    """The rule of mrc-facts.md 2.2, literally and on strings: each mask bit takes the next bit of the EV."""
    bits = iter(f"{ev:0{ev_bits}b}")
    result = []
    for part in fields:
        init, mask = f"{part.init:0{part.width}b}", f"{part.mask:0{part.width}b}"
        result.append(int("".join(next(bits) if m == "1" else i for i, m in zip(init, mask, strict=True)), 2))
    return tuple(result)


def test_the_derived_vector_of_mrc_facts_2_2() -> None:
    fields = (EvField.drawn(16, 0x1000, 0x0F0F), EvField.drawn(16, 0x2000, 0x0F0F))
    template = EvTemplate(STEV, fields, ev_bits=16)
    assert template.expand(0x3312) == (0x1303, 0x2102)
    assert template.pack(0x3312) == 0x1303_2102
    assert template.collect((0x1303, 0x2102)) == 0x3312


def test_masked_bits_replace_the_initial_value() -> None:
    assert EvTemplate(UDP, (EvField.drawn(16, 0xFFFF, 0x00F0),), ev_bits=16).expand(0x0000) == (0xFF0F,)


def test_tiers_of_8_4_and_4_bits_are_one_udp_port() -> None:
    three = EvFormat(EvFormatMode.STEV, (8, 4, 4))
    fields = (EvField(8, 0, 0, 179, 0xFF), EvField.drawn(4, 0, 0xF), EvField.drawn(4, 0, 0xF))
    template = EvTemplate(three, fields, ev_bits=16)
    assert template.expand(0xB35C) == (0xB3, 0x5, 0xC)
    evs = template.generate(5_000, random.Random(1))
    assert len(set(evs)) == 5_000
    # Of 8-bit values 180 are links, and the limit holds in every EV drawn.
    assert {ev >> 8 for ev in evs} == set(range(180))


def test_locator_and_four_usids_with_a_tier_in_their_upper_byte() -> None:
    usids = tuple(EvField(16, tier << 8, 1, 254, 0x00FF) for tier in (1, 2, 3, 4))
    template = EvTemplate(SRV6, (EvField(32, 0xFC00_0000), *usids))
    route = template.route(0x0A0B_0C0D)
    assert IPv6Address(route.address) == IPv6Address("fc00:0:10a:20b:30c:40d::")
    assert route.segment is None


def test_what_an_address_cannot_hold_goes_into_the_srh_segment() -> None:
    fields = (
        EvField(32, 0xFC00_0000),
        *(EvField(16, number) for number in range(1, 7)),
        EvField(32, 0xFC00_0000),
        EvField.drawn(16, 0x4000, 0x00FF),
    )
    route = EvTemplate(SRV6_SRH, fields).route(0xAB00_0000)
    assert IPv6Address(route.address) == IPv6Address("fc00:0:1:2:3:4:5:6")
    assert IPv6Address(route.segment or 0) == IPv6Address("fc00:0:40ab::")


def test_a_field_narrower_than_its_place_is_right_justified() -> None:
    template = EvTemplate(STEV, (EvField.drawn(8, 0, 0xFF), EvField.drawn(8, 0, 0xFF)), ev_bits=16)
    assert template.pack(0xABCD) == 0x00AB_00CD


def test_an_address_is_asked_of_srv6_alone() -> None:
    with pytest.raises(InputError, match="found format STEV, expected format SRV6"):
        EvTemplate(STEV, (EvField(16),)).route(0)


@pytest.mark.parametrize("ev", [-1, 1 << 32])
def test_an_ev_has_its_width(ev: int) -> None:
    with pytest.raises(InputError, match="a number of 32 bits"):
        EvTemplate(STEV, (EvField(16),)).expand(ev)


ev_fields = st.integers(1, 16).flatmap(
    lambda width: st.builds(
        EvField.drawn, st.just(width), st.integers(0, (1 << width) - 1), st.integers(0, (1 << width) - 1)
    )
)


@given(st.lists(ev_fields, min_size=1, max_size=2), st.integers(0, (1 << 32) - 1))
def test_expansion_is_the_rule_and_collecting_undoes_it(parts: list[EvField], ev: int) -> None:
    template = EvTemplate(STEV, tuple(parts))
    contents = template.expand(ev)
    assert contents == expand_as_text(template.fields, ev, 32)
    unused = 32 - template.used_bits
    assert template.collect(contents, ev & ((1 << unused) - 1)) == ev


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EvField(33), "width 33"),
        (lambda: EvField(0), "width 0"),
        (lambda: EvField(8, init=0x100), "initial value 0x100"),
        (lambda: EvField(8, mask=0x100), "mask 0x100"),
        (lambda: EvField(8, maximum=16, mask=0x0F), "maximum 16 under mask 0xf"),
        (lambda: EvField(8, minimum=3, maximum=2, mask=0x0F), "minimum 3 and maximum 2"),
        (lambda: EvField(8, maximum=1), "maximum 1 under mask 0x0"),
        (lambda: EvFormat(EvFormatMode.STEV, (16, 17)), "33 bits, expected at most 32"),
        (lambda: EvFormat(EvFormatMode.UDP, (8, 9)), "17 bits, expected at most 16"),
        (lambda: EvFormat(EvFormatMode.SRV6, (32,) * 9), "288 bits, expected at most 256"),
        (lambda: EvFormat(EvFormatMode.SRV6, (32, 32, 32, 16, 32, 16)), "a field that ends with the address"),
        (lambda: EvFormat(EvFormatMode.STEV, ()), r"field widths \[\]"),
        (lambda: EvTemplate(UDP, (EvField(8), EvField(8))), "2 fields, expected 1 to 1"),
        (lambda: EvTemplate(STEV, ()), "0 fields"),
        (lambda: EvTemplate(STEV, (EvField(17),)), "field 0 of 17 bits"),
        (lambda: EvTemplate(STEV, (EvField(16), EvField.drawn(16, 0, 0xFFFF)), ev_bits=8), "masks of 16 bits"),
        (lambda: EvTemplate(STEV, (EvField.drawn(16, 0, 0xFFFF),)).collect((1,), 1 << 16), "for its unused bits"),
        (lambda: EvTemplate(UDP, (EvField(16, 0, 0, 2, 3),)).generate(4, random.Random(1)), "4 EVs, expected 1 to 3"),
    ],
)
def test_what_breaks_a_limit_is_refused(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()  # type: ignore[operator]


def test_generation_is_complete_at_its_limit_and_the_same_for_a_seed() -> None:
    template = EvTemplate(STEV, (EvField(16, 0x4000, 1, 3, 0x0003), EvField(16, 0, 2, 3, 0x0300)))
    evs = template.generate(6, random.Random(7))
    assert {template.expand(ev) for ev in evs} == {(0x4000 | a, b << 8) for a in (1, 2, 3) for b in (2, 3)}
    assert evs == template.generate(6, random.Random(7))
    wide = EvTemplate(SRV6_SRH, tuple(EvField.drawn(16, 0, 0xFFFF) for _ in range(14)), ev_bits=256)
    assert len(set(wide.generate(100, random.Random(1)))) == 100
