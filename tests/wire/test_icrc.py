"""ICRC: captures made by others, scapy as second opinion over IPv6, and what is covered and what is not."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.wire import ParseCause, ParseError, parse
from pymodel.wire.headers import Ipv6, Srh, Udp
from pymodel.wire.icrc import icrc, icrc_of
from pymodel.wire.spec import Ecn, NextHeader, Opcode
from tests.wire.samples import BY_NAME, INNER, OUTER, SEGMENT, address, bth, sample

# R02, first row: packet and ICRC of test/contrib/roce.uts in secdev/scapy (mrc-facts.md A.2). Second row, from the same
# file: a CNP captured on a ConnectX-4 Lx. Third row: mrc-facts.md A.3.
OUTSIDE = [
    (
        "scapy UC Send Only over IPv4",
        "4501004004784000 4011b4d5c0a80007c0a80007 c00012b7002caca2 2460ffff000000d300cf1710"
        "4630818be28935d90e9a95505401be885e500000",
        "78f353f3",
    ),
    (
        "ConnectX-4 Lx CNP over IPv4",
        "45c2003c718c40004011 91610a0011010a00 1201000012b7002800008100ffff40000118"
        "00000000 00000000 00000000 00000000 00000000",
        "82fd002a",
    ),
    (
        "MRC Write Only over IPv6",
        "62a001230038114020010db800000001000000000000000120010db8000000020000000000000002c45612b700380000"
        "ca00ffff000001239000abcd000000071234000100007f000000100000c0ffee000000080001020304050607",
        "f045c3fc",
    ),
]


@pytest.mark.parametrize(("packet", "expected"), [row[1:] for row in OUTSIDE], ids=[row[0] for row in OUTSIDE])
def test_r02_outside_vectors(packet: str, expected: str) -> None:
    assert icrc(bytes.fromhex(packet)).to_bytes(4, "little").hex() == expected


@given(
    st.integers(0, 0xFF), st.integers(0, 0xFFFFF), st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF),
    st.binary(min_size=12, max_size=12), st.binary(max_size=64).map(lambda data: data[: len(data) & ~3]),
)  # fmt: skip
def test_r01_ipv6_equals_scapy(
    tc: int, label: int, hops: int, port: int, checksum: int, head: bytes, rest: bytes
) -> None:
    from scapy.contrib import roce
    from scapy.layers.inet import UDP
    from scapy.layers.inet6 import IPv6
    from scapy.packet import Raw

    bth_layer = roce.BTH(head[:12] + bytes(4))
    bth_layer.remove_payload()
    packet = (
        IPv6(src="2001:db8::1", dst="2001:db8::2", tc=tc, fl=label, hlim=hops)
        / UDP(sport=port, dport=BTH_PORT, chksum=checksum)
        / bth_layer
        / Raw(rest)
    )
    del packet[roce.BTH].icrc
    built = bytes(packet)
    assert icrc(built[:-4]).to_bytes(4, "little") == built[-4:]


BTH_PORT = Udp().dst_port

# R02: byte ranges from the inner IP header on, and whether the ICRC covers them.
MASKED_6 = [(0, 0x0F), (1, 0xFF), (2, 0xFF), (3, 0xFF), (7, 0xFF), (46, 0xFF), (47, 0xFF), (52, 0xFF)]
MASKED_4 = [(1, 0xFF), (8, 0xFF), (10, 0xFF), (11, 0xFF), (26, 0xFF), (27, 0xFF), (32, 0xFF)]


@pytest.mark.parametrize(("shape", "masked"), [("plain", MASKED_6), ("ipv4", MASKED_4)])
def test_r02_masked_bits_and_no_others_are_left_out(shape: str, masked: list[tuple[int, int]]) -> None:
    packet = bytearray(sample(Opcode.WRITE_ONLY, shape)[14:-4])
    reference = icrc(packet)
    free = dict(masked)
    for at in range(len(packet)):
        for bit in range(8):
            if at == 0 and bit >= 4:
                continue  # the version decides which fields are masked
            packet[at] ^= 1 << bit
            assert (icrc(packet) == reference) is bool(free.get(at, 0) >> bit & 1), (at, bit)
            packet[at] ^= 1 << bit


def test_pieces_may_be_cut_anywhere_behind_the_bth() -> None:
    packet = sample(Opcode.WRITE_ONLY, "plain")[14:-4]
    for cut in range(60, len(packet) + 1):
        assert icrc_of(packet[:60], packet[60:cut], memoryview(packet)[cut:]) == icrc(packet)


def test_is_crc32_and_not_crc32c() -> None:
    # All masked fields set to ones by hand: what is left is zlib's CRC-32 over eight bytes of ones and the packet.
    packet = bytearray(sample(Opcode.WRITE_ONLY, "plain")[14:-4])
    packet[0] |= 0x0F
    packet[1:4] = b"\xff\xff\xff"
    packet[7] = packet[46] = packet[47] = packet[52] = 0xFF
    assert icrc(packet) == crc32(b"\xff" * 8 + packet)


def shift(dst: int) -> int:
    """NEXT-C-SID: the 96 bits behind a 32-bit block move up by 16 (mrc-facts.md 4.1)."""
    return dst >> 96 << 96 | (dst << 16) & ((1 << 96) - 1)


@pytest.mark.parametrize("shape", ["srv6", "srv6+srh"])
def test_l03_icrc_survives_three_hops(shape: str) -> None:
    frame = sample(Opcode.WRITE_ONLY, shape)
    destination = OUTER.dst
    for hop in range(1, 4):
        destination = shift(destination)
        header = Ipv6.unpack(frame, 14).replace(dst=destination, hop_limit=64 - hop, ecn=Ecn.CE)
        frame = frame[:14] + header.pack() + frame[54:]
        parsed = parse(frame)
        assert not isinstance(parsed, ParseError), parsed
        assert parsed.outer is not None
        assert (parsed.outer.dst, parsed.ecn) == (destination, Ecn.CE)


@pytest.mark.parametrize("shape", ["srv6", "srv6+srh"])
def test_l02_outer_headers_do_not_count(shape: str) -> None:
    plain, carried = sample(Opcode.SACK, "plain"), sample(Opcode.SACK, shape)
    assert carried.endswith(plain[14:])


def test_l03_segment_routing_without_an_inner_header_is_refused() -> None:
    inner = sample(Opcode.WRITE_ONLY, "plain")[54:]
    srh = Srh(next_header=NextHeader.UDP, segments_left=1).pack() + SEGMENT.to_bytes(16, "big")
    ip = INNER.replace(next_header=NextHeader.ROUTING, payload_length=len(srh) + len(inner))
    frame = sample(Opcode.WRITE_ONLY, "plain")[:14] + ip.pack() + srh + inner
    assert parse(frame) == ParseError(ParseCause.SRH, 54)


def test_a_retransmission_on_another_ev_needs_a_new_icrc() -> None:
    first = sample(Opcode.WRITE_ONLY)
    other_port = BY_NAME["srv6"].build(ev=0x0123C457, bth=bth(Opcode.WRITE_ONLY), payload=b"")
    again = sample(Opcode.WRITE_ONLY, bth=bth(Opcode.WRITE_ONLY, rtx=1))
    assert len({first[-4:], other_port[-4:], again[-4:]}) == 3


def test_address_of_the_samples() -> None:
    assert shift(address("fc00:0:101:205:130:42::")) == address("fc00:0:205:130:42::")
