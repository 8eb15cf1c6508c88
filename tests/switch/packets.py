"""Frames for rows, made by scapy from what a reader can check by eye; nothing of the code under test takes part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from socket import IPPROTO_ICMPV6, IPPROTO_IPV6, IPPROTO_ROUTING, IPPROTO_UDP

from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from tests.switch.row import neighbour_mac, own_mac

__all__ = ["ETHERNET_BYTES", "IPV6_BYTES", "Routed", "echo_request", "ethernet_in", "ethernet_out", "icmp"]

SOURCE = "fc00:0:1:8000::"
INNER_SOURCE = "2001:db8:0:1::1"
INNER_DESTINATION = "2001:db8:0:2::2"

ETHERNET_BYTES, IPV6_BYTES = 14, 40


def _mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def ethernet_in(port: int) -> Packet:
    """Ethernet as it comes from the neighbour of `port`."""
    return Ether(dst=_mac(own_mac(port)), src=_mac(neighbour_mac(port)))


def ethernet_out(port: int) -> Packet:
    """Ethernet as the switch sends it through `port`."""
    return Ether(dst=_mac(neighbour_mac(port)), src=_mac(own_mac(port)))


@dataclass(frozen=True, slots=True)
class Routed:
    """IPv6 in IPv6 with or without an SRH; `with_` changes what a switch changes.

    `segments` is the list as it stands in the SRH (last segment of the path first), `left` its segments left; None
    means no SRH. `last_entry` and `length` (in 8 bytes) are right when None, `kind` is the routing type, and `tlv` is
    appended to the segments. `inner` False leaves UDP alone inside; `upper` takes the place of UDP.
    """

    destination: str
    hops: int = 64
    source: str = SOURCE
    traffic_class: int = 0
    flow_label: int = 0
    segments: Sequence[str] | None = None
    left: int = 0
    last_entry: int | None = None
    length: int | None = None
    kind: int = 4
    tlv: bytes = b""
    inner: bool = True
    upper: Packet | None = None
    inner_hops: int = 64
    inner_class: int = 0x12
    inner_source: str = INNER_SOURCE
    inner_destination: str = INNER_DESTINATION
    payload: bytes = bytes(range(16))

    def with_(self, **changes: object) -> Routed:
        """A copy with `changes`."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def inner_packet(self) -> Packet:
        """The packet inside, or UDP alone."""
        # Checksum 0 as MRC has it; one would cover the destination, which switches change.
        upper = self.upper or UDP(sport=0xC456, dport=9, chksum=0) / Raw(self.payload)
        if not self.inner:
            return upper
        addresses = {"src": self.inner_source, "dst": self.inner_destination}
        return IPv6(**addresses, tc=self.inner_class, fl=0x00123, hlim=self.inner_hops) / upper

    def packet(self) -> Packet:
        """The whole, from the outer IPv6 header on."""
        whole = IPv6(src=self.source, dst=self.destination, hlim=self.hops, tc=self.traffic_class, fl=self.flow_label)
        if self.segments is not None:
            last = self.last_entry if self.last_entry is not None else max(len(self.segments) - 1, 0)
            srh = IPv6ExtHdrSegmentRouting(
                addresses=list(self.segments), segleft=self.left, lastentry=last, type=self.kind, tag=0xBEEF
            )
            units = self.length if self.length is not None else 2 * len(self.segments) + len(self.tlv) // 8
            srh.len = units
            srh.nh = IPPROTO_IPV6 if self.inner else IPPROTO_ICMPV6 if self.upper else IPPROTO_UDP
            # scapy takes TLVs apart by its own rules; as bytes behind the segments they stay what they are.
            whole = whole / Raw(bytes(srh) + self.tlv + bytes(self.inner_packet()))
            whole.nh = IPPROTO_ROUTING
            return whole
        return whole / self.inner_packet()

    def at(self, port: int) -> bytes:
        """The frame as it arrives on `port`."""
        return bytes(ethernet_in(port) / self.packet())

    def out(self, port: int) -> tuple[int, bytes]:
        """Port and frame as it leaves through `port`."""
        return port, bytes(ethernet_out(port) / self.packet())

    def cut_out(self, port: int, size: int) -> tuple[int, bytes]:
        """Port and frame as it leaves through `port` trimmed to `size` bytes, the outer payload length corrected."""
        frame = bytearray(self.out(port)[1][:size])
        length = size - ETHERNET_BYTES - IPV6_BYTES
        frame[ETHERNET_BYTES + 4 : ETHERNET_BYTES + 6] = length.to_bytes(2, "big")
        return port, bytes(frame)

    def inside_out(self, port: int) -> tuple[int, bytes]:
        """Port and frame as the packet inside leaves alone through `port`."""
        return port, bytes(ethernet_out(port) / self.inner_packet())


def icmp(kind: int, code: int = 0) -> Packet:
    """An ICMPv6 message. Its checksum is wrong on purpose: it would cover addresses that switches change."""
    return ICMPv6EchoRequest(type=kind, code=code, cksum=0xBEEF, data=bytes(16))


def echo_request(routed: Routed, identifier: int = 1) -> Routed:
    """`routed` with an echo request instead of UDP."""
    return routed.with_(upper=ICMPv6EchoRequest(id=identifier, seq=1, cksum=0xBEEF, data=b"echo" * 4))
