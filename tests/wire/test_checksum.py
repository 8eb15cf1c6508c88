"""The Internet checksum against RFC 1071's example, a header from elsewhere, a plain loop and scapy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.wire.checksum import internet_checksum, udp_checksum
from pymodel.wire.headers import Udp
from tests.wire.samples import address

ROWS = [
    ("RFC 1071 section 3", "0001f203f4f5f6f7", 0x220D),
    ("IPv4 header of scapy's RoCE packet", "45010040047840004011 0000 c0a80007c0a80007", 0xB4D5),
    ("IPv4 header of a ConnectX-4 Lx CNP", "45c2003c718c40004011 0000 0a0011010a001201", 0x9161),
    ("odd length", "0001f2", 0xFFFF - 0xF201),
    ("empty", "", 0xFFFF),
    ("zeros", "00000000", 0xFFFF),
    ("ones", "ffffffff", 0x0000),
    ("carry into the sum", "ffff0001", 0xFFFE),
]


@pytest.mark.parametrize(("data", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_known_sums(data: str, expected: int) -> None:
    assert internet_checksum(bytes.fromhex(data)) == expected


def plain_loop(data: bytes) -> int:
    """RFC 1071 as written: add words, fold carries, complement."""
    total = 0
    for high, low in zip(data[::2], data[1::2] + b"\0", strict=False):
        total += high << 8 | low
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@given(st.binary(max_size=200))
def test_equals_a_plain_loop(data: bytes) -> None:
    assert internet_checksum(data) == plain_loop(data)


@given(st.binary(max_size=60).map(lambda data: data[: len(data) & ~1]))
def test_data_with_its_own_checksum_gives_zero(data: bytes) -> None:
    assert internet_checksum(data + internet_checksum(data).to_bytes(2, "big")) == 0


@pytest.mark.parametrize("size", [0, 1, 8, 9000])
@pytest.mark.parametrize("version", [4, 6])
def test_r03_udp_checksum_equals_scapy(size: int, version: int) -> None:
    from scapy.layers.inet import IP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.packet import Raw

    payload = bytes(number * 7 % 256 for number in range(size))
    if version == 6:
        packet = IPv6(src="2001:db8::1", dst="2001:db8:ffff::9") / UDP(sport=9, dport=99) / Raw(payload)
        src, dst, length = address("2001:db8::1"), address("2001:db8:ffff::9"), 16
    else:
        packet = IP(src="10.0.0.1", dst="192.0.2.200") / UDP(sport=9, dport=99) / Raw(payload)
        src, dst, length = 0x0A000001, 0xC00002C8, 4
    segment = Udp(src_port=9, dst_port=99, length=8 + size).pack() + payload
    assert udp_checksum(src, dst, segment, length) == int.from_bytes(bytes(packet[UDP])[6:8], "big")


def test_a_udp_checksum_of_zero_is_sent_as_ones() -> None:
    segment = Udp(length=8).pack()
    rest = udp_checksum(0, 0, segment + b"\0\0")
    assert udp_checksum(0, 0, segment + rest.to_bytes(2, "big")) == 0xFFFF
