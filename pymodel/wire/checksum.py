"""The Internet checksum (RFC 1071), for the IPv4 header, for UDP over either IP, and for ICMPv6."""

from __future__ import annotations

from pymodel.wire.packed_header import Buffer
from pymodel.wire.spec import NextHeader

__all__ = ["icmpv6_checksum", "internet_checksum", "udp_checksum"]


def internet_checksum(data: Buffer) -> int:
    """One's complement of the one's complement sum of the 16-bit words of `data`, a last odd byte padded with zero.

    Over data that contains its own correct checksum the result is 0.
    """
    # 2**16 is 1 modulo 0xFFFF, so the remainder of the whole number is the sum of its words with end-around carry.
    number = int.from_bytes(data, "big") << 8 * (len(data) % 2)
    return 0xFFFF - ((number - 1) % 0xFFFF + 1 if number else 0)


def udp_checksum(src: int, dst: int, segment: Buffer, address_bytes: int = 16) -> int:
    """Checksum of a UDP `segment` (header with checksum 0, and payload) between two IP addresses given as integers.

    `address_bytes` is 16 for IPv6 (RFC 8200 section 8.1) and 4 for IPv4 (RFC 768). A result of 0 is sent as 0xFFFF.
    """
    return internet_checksum(_pseudo(src, dst, segment, address_bytes, NextHeader.UDP)) or 0xFFFF


def icmpv6_checksum(src: int, dst: int, message: Buffer) -> int:
    """Checksum of an ICMPv6 `message` between two IPv6 addresses (RFC 4443 section 2.3); `dst` is the last of its path.

    Over a message that contains its own correct checksum the result is 0.
    """
    return internet_checksum(_pseudo(src, dst, message, 16, NextHeader.ICMPV6))


def _pseudo(src: int, dst: int, data: Buffer, address_bytes: int, protocol: NextHeader) -> bytes:
    addresses = src.to_bytes(address_bytes, "big") + dst.to_bytes(address_bytes, "big")
    return addresses + len(data).to_bytes(4, "big") + protocol.to_bytes(4, "big") + bytes(data)
