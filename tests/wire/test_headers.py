"""Each header's pack and unpack: vectors written by hand, scapy's bit fields as second packer, refusals by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.wire import headers, spec
from pymodel.wire.emit.python import class_name
from pymodel.wire.headers import Bth, CcState, Eeth, EethOp54, Ipv4, Ipv6, Neth, Seth, Srh, Tseth
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import EndpointOp, NackReason, NextHeader, SackM

KINDS: list[type[PackedHeader]] = [getattr(headers, class_name(header)) for header in spec.HEADERS]


def limits(field: spec.Field) -> tuple[int, int]:
    return (-(1 << field.bits - 1), (1 << field.bits - 1) - 1) if field.signed else (0, (1 << field.bits) - 1)


@st.composite
def header_values(draw: st.DrawFn, kind: type[PackedHeader]) -> dict[str, int]:
    return {field.name: draw(st.integers(*limits(field))) for field in kind.SPEC.fields}


# Written by hand from the byte tables of mrc-facts.md; bit strings where a byte is shared.
VECTORS = [
    (
        "L06 BTH: SE is bit 7 and M bit 6 of byte 1",
        Bth(opcode=0xA5, se=1, m=0, pad_count=2, version=3, p_key=0x1234, reserved_variant=0x56, dest_qp=0x789ABC,
            ack_req=1, reserved_r=0, rtx=1, ts=0, reserved_invariant=0b0101, psn=0xDEF012),
        "a5 a3 12 34 56 78 9a bc a5 de f0 12",
    ),
    ("L06 BTH: M alone", Bth(m=1, p_key=0), "00 40 00 00 00 00 00 00 00 00 00 00"),
    ("L06 EETH: op in bits 3:2 of byte 1", Eeth(op=EndpointOp.EV_PROBE, tx_timestamp=0xABCD),
     "00 04" + "00" * 26 + "ab cd" + "00" * 6),
    ("L06 EETH, other reading: op in bits 5:4", EethOp54(op=EndpointOp.EV_PROBE, tx_timestamp=0xABCD),
     "00 10" + "00" * 26 + "ab cd" + "00" * 6),
    (
        # Asymmetric bitmap: base + 0, base + 1 and base + 63 received, so the last byte on the wire is 0x03.
        "S02 SETH: bit 0 of the bitmap is the base PSN, and the bitmap is big-endian",
        Seth(m=SackM.ALWAYS_SKIP, pr=1, ack_psn_offset=-2, entropy=0x01020304, spdcid=0x1122, dpdcid=0x3344,
             cack_psn=0xFEDCBA, mpr=0x20, sack_offset=1, sack_bitmap=1 << 63 | 0b11),
        "00 42 ff fe 01 02 03 04 11 22 33 44 00 fe dc ba 00 20 00 01 80 00 00 00 00 00 00 03",
    ),
    ("S02 SETH: one bit", Seth(sack_bitmap=1 << 8), "00" * 26 + "01 00"),
    ("CC_STATE", CcState(tx_timestamp=0x1234, ooo_count=0x7FFF, restore_cwnd=1, rcv_cwnd_pen=5, rcvd_bytes=0x060708),
     "12 34 7f ff 85 06 07 08"),
    ("NETH", Neth(reason=NackReason.TRIMMED_LASTHOP, vendor_info=3, entropy=0x01020304, spdcid=5, dpdcid=6,
                  nack_psn=0x0708FF, tx_timestamp=0x090A),
     "00 00 02 03 01 02 03 04 00 05 00 06 00 07 08 ff 20 00 09 0a"),
    ("TSETH", Tseth(tx_timestamp=0x1234, tsr=1), "12 34 80 01"),
    ("IPv6", Ipv6(dscp=45, ecn=3, flow_label=0xABCDE, payload_length=0x0102, next_header=NextHeader.ROUTING,
                  hop_limit=7, src=1, dst=2),
     "6b 7a bc de 01 02 2b 07" + "00" * 15 + "01" + "00" * 15 + "02"),
    ("IPv4", Ipv4(dscp=10, ecn=1, total_length=0x40, identification=0x478, checksum=0xB4D5, src=0xC0A80007,
                  dst=0xC0A80007),
     "45 29 00 40 04 78 40 00 40 11 b4 d5 c0 a8 00 07 c0 a8 00 07"),
    ("SRH", Srh(segments_left=1, flags=8, tag=0x0102), "29 02 04 01 00 08 01 02"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "text"), [row[1:] for row in VECTORS], ids=[row[0] for row in VECTORS])
def test_vector(header: PackedHeader, text: str) -> None:
    data = bytes.fromhex(text)
    assert header.pack() == data
    assert type(header).unpack(data) == header


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_unpack_undoes_pack_and_pack_undoes_unpack(kind: type[PackedHeader], data: st.DataObject) -> None:
    header = kind(**data.draw(header_values(kind)))
    assert kind.unpack(header.pack()) == header
    raw = data.draw(st.binary(min_size=kind.SIZE, max_size=kind.SIZE))
    assert kind.unpack(b"front" + raw + b"behind", 5).pack() == raw


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_bytes_equal_those_of_one_big_number(kind: type[PackedHeader], data: st.DataObject) -> None:
    values = data.draw(header_values(kind))
    bits = "".join(f"{values[field.name] % (1 << field.bits):0{field.bits}b}" for field in kind.SPEC.fields)
    assert kind(**values).pack() == int(bits, 2).to_bytes(kind.SIZE, "big")


TOO_WIDE = [
    (kind, field.name, value)
    for kind in KINDS
    for field in kind.SPEC.fields
    for value in (limits(field)[0] - 1, limits(field)[1] + 1, 1 << 200)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_r09_a_value_that_does_not_fit_is_refused_by_name(kind: type[PackedHeader]) -> None:
    for _, name, value in [row for row in TOO_WIDE if row[0] is kind]:
        with pytest.raises(InputError) as caught:
            kind(**{name: value}).pack()
        assert caught.value.where == f"{kind.SPEC.name}.{name}"
        assert caught.value.found == str(value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_short_data_is_refused(kind: type[PackedHeader]) -> None:
    with pytest.raises(InputError, match=rf"{kind.SPEC.name} at byte 2: found {kind.SIZE - 1} bytes"):
        kind.unpack(bytes(kind.SIZE + 1), 2)


def test_replace_copies_and_knows_its_fields() -> None:
    first = Bth(opcode=1, psn=2)
    assert first.replace(psn=3) == Bth(opcode=1, psn=3)
    assert first == Bth(opcode=1, psn=2)
    with pytest.raises(InputError, match="no such field"):
        first.replace(fecn=1)


def test_headers_of_different_kinds_differ() -> None:
    assert Eeth() != EethOp54()
    assert Bth() != Bth(psn=1)


def test_repr_shows_what_is_not_reserved() -> None:
    assert repr(Tseth(tx_timestamp=5)) == "Tseth(tx_timestamp=0x5, tsr=0x0, ftype=0x1)"
    assert "reserved_ts=0x7" in repr(Tseth(reserved_ts=7))
