"""SETH and CC_STATE in one step, against their classes and an outside reading of the layout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.wire import Frame, parse
from pymodel.wire.headers import CcState, Seth
from pymodel.wire.sack import Sack, pack_sack, unpack_sack
from pymodel.wire.spec import Opcode
from tests.wire.samples import sample

WIDTHS = {
    "m": 2,
    "pr": 1,
    "ack_psn_offset": -16,
    "entropy": 32,
    "spdcid": 16,
    "dpdcid": 16,
    "cack_psn": 24,
    "mpr": 8,
    "sack_offset": -16,
    "sack_bitmap": 64,
    "tx_timestamp": 16,
    "ooo_count": 15,
    "restore_cwnd": 1,
    "rcv_cwnd_pen": 7,
    "rcvd_bytes": 24,
}


def values(width: int) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << width) - 1) if width > 0 else st.integers(-(1 << -width - 1), (1 << -width - 1) - 1)


SACKS = st.fixed_dictionaries({name: values(width) for name, width in WIDTHS.items()})


def split(fields: dict[str, int]) -> tuple[Seth, CcState]:
    names = {field.name for field in CcState.SPEC.fields}
    return (
        Seth(**{name: value for name, value in fields.items() if name not in names}),
        CcState(**{name: value for name, value in fields.items() if name in names}),
    )


@given(SACKS)
def test_both_ways_equal_the_classes(fields: dict[str, int]) -> None:
    seth, cc_state = split(fields)
    packed = pack_sack(**fields)
    assert packed == seth.pack() + cc_state.pack()
    assert unpack_sack(b"xy" + packed, 2) == Sack(**fields)


@given(st.binary(min_size=36, max_size=36))
def test_any_bytes_are_read_as_the_classes_read_them(data: bytes) -> None:
    seth, cc_state = Seth.unpack(data), CcState.unpack(data, Seth.SIZE)
    both = dict(seth.items()) | {name: value for name, value in cc_state.items() if not name.startswith("reserved")}
    assert unpack_sack(data)._asdict() == {name: both[name] for name in Sack._fields}


@pytest.mark.parametrize("name", list(WIDTHS))
def test_r09_what_does_not_fit_is_refused_by_name(name: str) -> None:
    width = WIDTHS[name]
    for value in (1 << abs(width), -1) if width > 0 else (1 << 15, -(1 << 15) - 1):
        with pytest.raises(InputError) as caught:
            pack_sack(**(dict.fromkeys(WIDTHS, 0) | {name: value}))
        assert caught.value.where.endswith(f".{name}")


def test_a_frame_gives_it_for_a_sack_alone() -> None:
    frame = parse(sample(Opcode.SACK))
    assert isinstance(frame, Frame)
    assert frame.sack()._asdict().items() >= {("cack_psn", frame.seth.cack_psn), ("entropy", frame.seth.entropy)}
    other = parse(sample(Opcode.NACK))
    assert isinstance(other, Frame)
    with pytest.raises(LookupError):
        other.sack()


@pytest.mark.parametrize("opcode", [Opcode.WRITE_MIDDLE, Opcode.WRITE_LAST_IMMEDIATE])
def test_target_equals_the_reth(opcode: Opcode) -> None:
    frame = parse(sample(opcode))
    assert isinstance(frame, Frame)
    assert frame.reth is not None
    assert frame.target() == (frame.reth.va, frame.reth.r_key)
    assert frame.p_key == frame.bth.p_key
