"""Trimmed writes: told by the outer DSCP alone, read from the bytes that are there (mrc-facts.md 1.14, 11; row L04)."""

from __future__ import annotations

import pytest

from pymodel.wire import Frame, ParseCause, ParseError, parse
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.headers import Ipv4, Ipv6, Srh
from pymodel.wire.spec import (
    TRIM_BYTES_LEAST_SRV6,
    TRIM_BYTES_PLAIN,
    TRIM_BYTES_SRH_EXTRA,
    TRIM_BYTES_SRV6,
    DscpMap,
    NackReason,
    Opcode,
    WireOptions,
)
from tests.wire.samples import BY_NAME, DSCP, EV, body, sample

MARKS = [(DSCP.trimmed, NackReason.TRIMMED), (DSCP.trimmed_lasthop, NackReason.TRIMMED_LASTHOP)]
TRIM_BYTES = {
    "plain": TRIM_BYTES_PLAIN,
    "srv6": TRIM_BYTES_SRV6,
    "srv6+srh": TRIM_BYTES_SRV6 + TRIM_BYTES_SRH_EXTRA,
    "ipv4": TRIM_BYTES_PLAIN - 20,
}


def remark(data: bytes, dscp: int | None) -> bytes:
    """`data` with the DSCP of its outermost IP header changed, as a switch does it."""
    assert dscp is not None
    if data[14] >> 4 == 6:
        return data[:14] + Ipv6.unpack(data, 14).replace(dscp=dscp).pack() + data[54:]
    header = Ipv4.unpack(data, 14).replace(dscp=dscp, checksum=0)
    header.checksum = internet_checksum(header.pack())
    return data[:14] + header.pack() + data[34:]


def trim(data: bytes, size: int, dscp: int | None) -> bytes:
    return remark(data[:size], dscp)


def frame_of(data: bytes, options: WireOptions | None = None) -> Frame:
    parsed = parse(data, options) if options else parse(data)
    assert isinstance(parsed, Frame), parsed
    return parsed


@pytest.mark.parametrize(("dscp", "reason"), MARKS, ids=lambda value: str(value))
@pytest.mark.parametrize("shape", list(BY_NAME))
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_l04_trimmed_around_the_trim_size(shape: str, dscp: int, reason: NackReason, extra: int) -> None:
    data = trim(sample(Opcode.WRITE_MIDDLE, shape, bytes(4096)), TRIM_BYTES[shape] + extra, dscp)
    frame = frame_of(data)
    assert (frame.trim_reason, frame.trimmed, frame.dscp) == (reason, True, dscp)
    assert (frame.psn, frame.dest_qp, frame.payload, frame.icrc) == (0xABCDEF, 0x123, b"", None)
    assert (frame.meth, frame.tseth, frame.reth) == body(Opcode.WRITE_MIDDLE)
    assert frame.ev == BY_NAME[shape].arguments.get("ev", EV)
    with pytest.raises(LookupError):
        frame.write_fields()


@pytest.mark.parametrize("shape", list(BY_NAME))
def test_trimmed_at_every_size(shape: str) -> None:
    front = BY_NAME[shape].front
    whole = sample(Opcode.WRITE_LAST_IMMEDIATE, shape, bytes(64))
    for size in range(54 if shape != "ipv4" else 34, len(whole) + 1):
        parsed = parse(trim(whole, size, DSCP.trimmed))
        if size < front + 12:
            assert isinstance(parsed, ParseError)
            assert parsed.cause is ParseCause.TOO_SHORT
            continue
        assert isinstance(parsed, Frame)
        present = [parsed.meth, parsed.tseth, parsed.reth, parsed.immdt]
        assert parsed.tx_timestamp == (None if parsed.tseth is None else parsed.tseth.tx_timestamp)
        ends = [front + 12 + end for end in (4, 8, 24, 28)]
        assert [header is not None for header in present] == [end <= size for end in ends]
        assert (parsed.payload, parsed.end) == (b"", size)
        assert len(b"".join(header.pack() for header in parsed.headers())) == max(
            [front + 12, *[e for e in ends if e <= size]]
        )


def test_least_trim_size_keeps_what_a_nack_needs() -> None:
    frame = frame_of(trim(sample(Opcode.WRITE_FIRST, payload=bytes(4096)), TRIM_BYTES_LEAST_SRV6, DSCP.trimmed))
    assert frame.tseth is not None
    assert (frame.reth, frame.psn, frame.ev) == (None, 0xABCDEF, EV)


def test_lengths_of_a_trimmed_frame_are_not_trusted() -> None:
    data = trim(sample(Opcode.WRITE_FIRST, payload=bytes(4096)), TRIM_BYTES_SRV6, DSCP.trimmed)
    for at in (18, 58, 98):  # outer and inner payload length, UDP length
        for length in (b"\0\0", b"\0\x01", b"\xff\xff"):
            frame = frame_of(data[:at] + length + data[at + 2 :])
            assert (frame.trimmed, frame.reth) == (True, body(Opcode.WRITE_FIRST)[2])


@pytest.mark.parametrize("damaged", [False, True])
def test_a_whole_frame_with_the_mark_is_trimmed_and_its_payload_ignored(damaged: bool) -> None:
    data = remark(sample(Opcode.WRITE_ONLY), DSCP.trimmed)
    frame = frame_of(data[:-1] + b"\xaa" if damaged else data)
    assert (frame.trimmed, frame.payload) == (True, b"")


@pytest.mark.parametrize("opcode", [each for each in Opcode if not each.name.startswith("WRITE")], ids=lambda o: o.name)
def test_other_opcodes_with_the_mark_need_lengths_and_icrc(opcode: Opcode) -> None:
    data = remark(sample(opcode), DSCP.trimmed)
    frame = frame_of(data)
    assert (frame.trimmed, frame.dscp, frame.icrc is None) == (False, DSCP.trimmed, False)
    assert parse(data[:-1]) == ParseError(ParseCause.IP_LENGTH, 14)
    damaged = parse(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])
    assert damaged == ParseError(ParseCause.ICRC, len(data) - 4)


def test_an_inner_mark_does_not_count() -> None:
    data = sample(Opcode.WRITE_ONLY)
    inner = Ipv6.unpack(data, 54).replace(dscp=DSCP.trimmed)
    assert frame_of(data[:54] + inner.pack() + data[94:]).trimmed is False


def test_marks_are_those_of_the_deployment() -> None:
    options = WireOptions(dscp=DscpMap(trimmed=60, trimmed_lasthop=None))
    data = sample(Opcode.WRITE_ONLY, payload=bytes(4096))[:TRIM_BYTES_SRV6]
    assert frame_of(remark(data, 60), options).trim_reason is NackReason.TRIMMED
    assert parse(remark(data, DSCP.trimmed), options) == ParseError(ParseCause.IP_LENGTH, 14)
    assert parse(remark(data, DSCP.trimmed_lasthop), options) == ParseError(ParseCause.IP_LENGTH, 14)


def test_a_trimmed_frame_still_needs_sane_headers() -> None:
    data = trim(sample(Opcode.WRITE_ONLY, "srv6+srh", bytes(4096)), 168, DSCP.trimmed)
    assert frame_of(data).srh is not None
    broken = data[:54] + Srh.unpack(data, 54).replace(routing_type=0).pack() + data[62:]
    assert parse(broken) == ParseError(ParseCause.SRH, 54)
