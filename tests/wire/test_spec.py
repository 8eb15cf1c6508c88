"""The table against numbers written down a second time from mrc-facts.md and the RFCs."""

from __future__ import annotations

import pytest

from pymodel.base.errors import InputError
from pymodel.wire import spec
from pymodel.wire.spec import DscpMap, WireOptions
from tests.wire.samples import sample

SIZES = {
    "ETHERNET": 14, "IPV6": 40, "IPV4": 20, "SRH": 8, "SEGMENT": 16, "ICMPV6": 8, "UDP": 8, "BTH": 12, "METH": 4,
    "TSETH": 4, "RETH": 16, "IMMDT": 4, "AETH": 4, "SETH": 28, "CC_STATE": 8, "NETH": 20, "PETH": 16, "ERTH": 16,
    "EETH": 36, "EETH_OP_54": 36,
}  # fmt: skip

# Header, field, first byte, bit of that byte that is the field's most significant one (7 at the top), bits.
PLACES = [
    ("BTH", "opcode", 0, 7, 8), ("BTH", "se", 1, 7, 1), ("BTH", "m", 1, 6, 1), ("BTH", "pad_count", 1, 5, 2),
    ("BTH", "version", 1, 3, 4), ("BTH", "p_key", 2, 7, 16), ("BTH", "reserved_variant", 4, 7, 8),
    ("BTH", "dest_qp", 5, 7, 24), ("BTH", "ack_req", 8, 7, 1), ("BTH", "rtx", 8, 5, 1), ("BTH", "ts", 8, 4, 1),
    ("BTH", "psn", 9, 7, 24),
    ("METH", "rqmsn", 0, 7, 16), ("METH", "msn", 2, 7, 16),
    ("TSETH", "tx_timestamp", 0, 7, 16), ("TSETH", "tsr", 2, 7, 1), ("TSETH", "ftype", 3, 3, 4),
    ("RETH", "va", 0, 7, 64), ("RETH", "r_key", 8, 7, 32), ("RETH", "dma_length", 12, 7, 32),
    ("AETH", "syndrome", 0, 7, 8), ("AETH", "msn", 1, 7, 24),
    ("SETH", "m", 1, 6, 2), ("SETH", "pr", 1, 1, 1), ("SETH", "ack_psn_offset", 2, 7, 16),
    ("SETH", "entropy", 4, 7, 32), ("SETH", "spdcid", 8, 7, 16), ("SETH", "dpdcid", 10, 7, 16),
    ("SETH", "cack_psn", 13, 7, 24), ("SETH", "cc_type", 16, 7, 4), ("SETH", "mpr", 17, 7, 8),
    ("SETH", "sack_offset", 18, 7, 16), ("SETH", "sack_bitmap", 20, 7, 64),
    ("CC_STATE", "tx_timestamp", 0, 7, 16), ("CC_STATE", "ooo_count", 2, 6, 15), ("CC_STATE", "restore_cwnd", 4, 7, 1),
    ("CC_STATE", "rcv_cwnd_pen", 4, 6, 7), ("CC_STATE", "rcvd_bytes", 5, 7, 24),
    ("NETH", "reason", 2, 7, 8), ("NETH", "vendor_info", 3, 7, 8), ("NETH", "entropy", 4, 7, 32),
    ("NETH", "spdcid", 8, 7, 16), ("NETH", "nack_psn", 13, 7, 24), ("NETH", "cc_type", 16, 7, 4),
    ("NETH", "tx_timestamp", 18, 7, 16),
    ("PETH", "vendor_info", 3, 7, 8), ("PETH", "probe_id", 4, 7, 16), ("PETH", "spdcid", 8, 7, 16),
    ("PETH", "dpdcid", 10, 7, 16), ("PETH", "tx_timestamp", 12, 7, 16), ("PETH", "ftype", 15, 3, 4),
    ("ERTH", "op", 1, 1, 2), ("ERTH", "vendor_info", 3, 7, 8), ("ERTH", "port_status_mask", 4, 7, 32),
    ("ERTH", "tx_timestamp", 12, 7, 16), ("ERTH", "ftype", 15, 3, 4),
    ("EETH", "op", 1, 3, 2), ("EETH", "tx_timestamp", 28, 7, 16), ("EETH_OP_54", "op", 1, 5, 2),
    ("SRH", "next_header", 0, 7, 8), ("SRH", "segments_left", 3, 7, 8), ("SRH", "last_entry", 4, 7, 8),
    ("IPV6", "flow_label", 1, 3, 20), ("IPV6", "ecn", 1, 5, 2), ("IPV6", "dscp", 0, 3, 6), ("IPV4", "dscp", 1, 7, 6),
    ("ICMPV6", "message_type", 0, 7, 8), ("ICMPV6", "code", 1, 7, 8), ("ICMPV6", "checksum", 2, 7, 16),
    ("ICMPV6", "body", 4, 7, 32),
    ("IPV4", "more_fragments", 6, 5, 1), ("IPV4", "dont_fragment", 6, 6, 1),
]  # fmt: skip

# mrc-facts.md 1.15: SRv6 without SRH, without payload.
FRAME_SIZES = [
    (spec.Opcode.SACK, 154),
    (spec.Opcode.NACK, 138),
    (spec.Opcode.PROBE_REQUEST, 134),
    (spec.Opcode.ENDPOINT_REQUEST, 134),
    (spec.Opcode.ENDPOINT_RESPONSE, 154),
    (spec.Opcode.ACKNOWLEDGE, 122),
    (spec.Opcode.WRITE_ONLY, 142),
]


def header(name: str) -> spec.Header:
    return next(each for each in spec.HEADERS if each.name == name)


def test_s13_header_sizes() -> None:
    assert {each.name: each.size for each in spec.HEADERS} == SIZES
    assert all(sum(field.bits for field in each.fields) % 8 == 0 for each in spec.HEADERS)


@pytest.mark.parametrize(("name", "field", "byte", "bit", "bits"), PLACES, ids=lambda value: str(value))
def test_place_of_field(name: str, field: str, byte: int, bit: int, bits: int) -> None:
    found = next(each for each in header(name).fields if each.name == field)
    assert (header(name).bit_offset(field), found.bits) == (8 * byte + 7 - bit, bits)


@pytest.mark.parametrize(("opcode", "size"), FRAME_SIZES, ids=lambda value: str(value))
def test_s13_frame_sizes(opcode: spec.Opcode, size: int) -> None:
    assert len(sample(opcode, payload=b"")) == size


def test_write_without_timestamp_is_138_bytes() -> None:
    assert len(sample(spec.Opcode.WRITE_ONLY, payload=b"", ts=False)) == 138


def test_opcodes_are_ibta_rc_operations_in_the_manufacturer_range() -> None:
    # IBTA RC operation: Write First 6, Middle 7, Last 8, Last Imm 9, Only 10, Only Imm 11, Acknowledge 17.
    names = ["WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMMEDIATE", "WRITE_ONLY"]
    names += ["WRITE_ONLY_IMMEDIATE", "ACKNOWLEDGE"]
    assert [spec.Opcode[name] & 0x1F for name in names] == [6, 7, 8, 9, 10, 11, 17]
    assert all(opcode >> 5 == 0b110 for opcode in spec.Opcode)


def test_trim_sizes_cover_the_headers_that_a_nack_needs() -> None:
    srv6 = len(sample(spec.Opcode.WRITE_ONLY, payload=b"")) - spec.ICRC_BYTES
    assert srv6 <= spec.TRIM_BYTES_SRV6
    assert srv6 - spec.RETH.size == spec.TRIM_BYTES_LEAST_SRV6
    assert spec.SRH.size + spec.SEGMENT.size == spec.TRIM_BYTES_SRH_EXTRA
    assert spec.TRIM_BYTES_SRV6 - spec.IPV6.size == spec.TRIM_BYTES_PLAIN


def test_usid_layout_fills_a_usid() -> None:
    assert spec.USID_ROLE_BITS + spec.USID_PLANE_BITS + spec.USID_INDEX_BITS == spec.USID_BITS
    assert spec.USID_BLOCK_BITS + spec.USIDS_PER_ADDRESS * spec.USID_BITS == 128
    # mrc-facts.md 4.1: with role 11 unused every uSID of the global block is below the local one.
    highest = max(spec.UsidRole) << 14 | 0x3FFF
    assert highest < spec.USID_LOCAL_BLOCK_FIRST


BAD_OPTIONS = [
    ("DSCP too wide", lambda: DscpMap(control=64), "DSCP control"),
    ("DSCP negative", lambda: DscpMap(no_trim=-1), "DSCP no_trim"),
    ("trim mark is also sent", lambda: DscpMap(trimmed=0), "DSCP trimmed"),
    ("both trim marks alike", lambda: DscpMap(trimmed_lasthop=12), "DSCP trimmed"),
    ("last hop mark is also sent", lambda: DscpMap(trimmed_lasthop=46), "DSCP trimmed_lasthop"),
    ("port 0", lambda: WireOptions(udp_port=0), "UDP port of MRC"),
    ("port not accepted", lambda: WireOptions(udp_port=5000), "accepted UDP ports"),
    ("wrong EETH", lambda: WireOptions(eeth=spec.ERTH), "EETH layout"),
]


@pytest.mark.parametrize(("make", "where"), [row[1:] for row in BAD_OPTIONS], ids=[row[0] for row in BAD_OPTIONS])
def test_bad_options_are_refused(make, where: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.where == where


def test_optional_dscp_classes_may_be_absent() -> None:
    few = DscpMap(trimmable=None, trimmable_retx=None, trimmed_lasthop=None)
    assert [name for name, _ in few.items()] == ["no_trim", "trimmed", "control"]
    assert few.trim_reasons == {few.trimmed: spec.NackReason.TRIMMED}


def test_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match="no such field"):
        spec.BTH.bit_offset("fecn")
