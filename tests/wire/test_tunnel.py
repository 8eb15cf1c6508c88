"""EV carriage in both splits, the ECN table of RFC 6040, and the outer header."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.wire import ParseCause, ParseError, parse
from pymodel.wire.headers import Ipv6
from pymodel.wire.spec import Ecn, EvSplit, NextHeader, Opcode, WireOptions
from pymodel.wire.tunnel import combine_ecn, encapsulate, join_ev, split_ev
from tests.wire.samples import INNER, OUTER, sample

SOURCE_PORT_HIGH = WireOptions(ev_split=EvSplit.SOURCE_PORT_HIGH)


@pytest.mark.parametrize(
    ("options", "expected"), [(WireOptions(), (0x0123, 0xC456)), (SOURCE_PORT_HIGH, (0xC456, 0x0123))]
)
def test_halves_of_an_ev(options: WireOptions, expected: tuple[int, int]) -> None:
    assert split_ev(0x0123C456, options) == expected
    frame = parse(sample(Opcode.SACK, ev=0x0123C456, options=options), options)
    assert not isinstance(frame, ParseError)
    assert isinstance(frame.ip, Ipv6)
    assert (frame.ip.flow_label, frame.udp.src_port, frame.ev) == (*expected, 0x0123C456)


@given(st.integers(0, 2**32 - 1), st.integers(0, 15), st.sampled_from([WireOptions(), SOURCE_PORT_HIGH]))
def test_join_undoes_split_whatever_the_top_of_the_flow_label(ev: int, top: int, options: WireOptions) -> None:
    flow_label, src_port = split_ev(ev, options)
    assert join_ev(top << 16 | flow_label, src_port, options) == ev


@pytest.mark.parametrize("ev", [-1, 1 << 32])
def test_an_ev_of_more_than_32_bits_is_refused(ev: int) -> None:
    with pytest.raises(InputError, match="EV"):
        split_ev(ev)


def test_over_ipv4_the_ev_is_the_source_port() -> None:
    for options in (WireOptions(), SOURCE_PORT_HIGH):
        frame = parse(sample(Opcode.SACK, "ipv4", ev=0xC456, options=options), options)
        assert not isinstance(frame, ParseError)
        assert frame.ev == 0xC456
    with pytest.raises(InputError, match=r"UDP\.src_port"):
        sample(Opcode.SACK, "ipv4", ev=0x10000)


# RFC 6040 section 4.2, figure 4: rows inner, columns outer Not-ECT, ECT(0), ECT(1), CE.
COLUMNS = (Ecn.NOT_ECT, Ecn.ECT0, Ecn.ECT1, Ecn.CE)
TABLE = {
    Ecn.NOT_ECT: (Ecn.NOT_ECT, Ecn.NOT_ECT, Ecn.NOT_ECT, None),
    Ecn.ECT0: (Ecn.ECT0, Ecn.ECT0, Ecn.ECT1, Ecn.CE),
    Ecn.ECT1: (Ecn.ECT1, Ecn.ECT1, Ecn.ECT1, Ecn.CE),
    Ecn.CE: (Ecn.CE, Ecn.CE, Ecn.CE, Ecn.CE),
}
CELLS = [(inner, outer, out) for inner, row in TABLE.items() for outer, out in zip(COLUMNS, row, strict=True)]


@pytest.mark.parametrize(("inner", "outer", "expected"), CELLS, ids=lambda value: getattr(value, "name", "drop"))
def test_ecn_at_decapsulation(inner: Ecn, outer: Ecn, expected: Ecn | None) -> None:
    assert combine_ecn(inner, outer) == expected
    parsed = parse(sample(Opcode.SACK, ip=INNER.replace(ecn=inner), outer=OUTER.replace(ecn=outer)))
    if expected is None:
        assert parsed == ParseError(ParseCause.ECN, 14)
    else:
        assert not isinstance(parsed, ParseError)
        assert parsed.ecn == expected


def test_outer_header_copies_dscp_ecn_and_flow_label() -> None:
    outer = encapsulate(INNER.replace(dscp=33, ecn=Ecn.ECT1, flow_label=0x4567, hop_limit=3), src=1, dst=2)
    assert outer == Ipv6(dscp=33, ecn=Ecn.ECT1, flow_label=0x4567, next_header=NextHeader.IPV6, src=1, dst=2)
