"""From headers to a frame: lengths, next headers, pad, IPv4 checksum and ICRC are filled in here.

`build` takes headers as objects and is the readable way. `FrameTemplate` in `pymodel.wire.template` makes the same
bytes several times faster for a stream of packets that share most of their headers.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.base.errors import InputError
from pymodel.wire import spec
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.headers import Bth, Ethernet, Ipv4, Ipv6, Segment, Srh, Udp
from pymodel.wire.icrc import icrc
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import DEFAULT_OPTIONS, Ethertype, NextHeader, WireOptions
from pymodel.wire.tunnel import split_ev

__all__ = ["build", "routing_header"]


def routing_header(segments: Sequence[int], srh: Srh | None = None) -> bytes:
    """An SRH in front of IPv6 with `segments` in wire order, the last of the path first (RFC 8754 section 2).

    `srh` gives flags, tag and segments left; without it all of them are left, as when the first address of the path
    stands in the outer destination alone (reduced encapsulation).
    """
    header = (srh or Srh(segments_left=len(segments))).replace(
        next_header=NextHeader.IPV6,
        hdr_ext_len=len(segments) * Segment.SIZE // 8,
        last_entry=len(segments) - 1,
    )
    return header.pack() + b"".join(Segment(address=address).pack() for address in segments)


def build(
    *,
    ethernet: Ethernet,
    ip: Ipv6 | Ipv4,
    ev: int,
    bth: Bth,
    extensions: Sequence[PackedHeader] = (),
    payload: bytes = b"",
    outer: Ipv6 | None = None,
    segments: Sequence[int] = (),
    srh: Srh | None = None,
    options: WireOptions = DEFAULT_OPTIONS,
) -> bytes:
    """Return one frame.

    Parameters
    ----------
    ethernet, ip, bth:
        Headers; EtherType, lengths, next header, flow label, pad count and IPv4 checksum are set here.
    ev:
        Entropy value, put into flow label and UDP source port as `options` say; 16 bits over IPv4.
    extensions:
        Headers behind the BTH, in order. That they fit the opcode is the caller's care, so that a test can break it.
    payload:
        The payload; pad to a multiple of 4 is added.
    outer, segments, srh:
        Outer IPv6 header, and the segments of an SRH behind it in wire order.

    Raises
    ------
    InputError
        A value does not fit its field, segments come without an outer header, or an outer header comes with IPv4.
    """
    if outer is None and segments:
        raise InputError("SRH", f"{len(segments)} segments without an outer header", "an outer IPv6 header")
    if outer is not None and isinstance(ip, Ipv4):
        raise InputError("inner header", "IPv4", "IPv6 behind an outer header")
    pad = -len(payload) % spec.PAD_ALIGNMENT
    transport = bth.replace(pad_count=pad).pack() + b"".join(each.pack() for each in extensions) + payload + bytes(pad)
    udp_length = Udp.SIZE + len(transport) + spec.ICRC_BYTES
    if isinstance(ip, Ipv6):
        flow_label, src_port = split_ev(ev, options)
        packed_ip = ip.replace(flow_label=flow_label, payload_length=udp_length, next_header=NextHeader.UDP).pack()
        ethertype = Ethertype.IPV6
    else:
        src_port = ev
        header = ip.replace(total_length=Ipv4.SIZE + udp_length, protocol=NextHeader.UDP, checksum=0)
        packed_ip = header.replace(checksum=internet_checksum(header.pack())).pack()
        ethertype = Ethertype.IPV4
    udp = Udp(src_port=src_port, dst_port=options.udp_port, length=udp_length)
    packet = packed_ip + udp.pack() + transport
    packet += icrc(packet).to_bytes(spec.ICRC_BYTES, "little")
    if outer is not None:
        routing = routing_header(segments, srh) if segments else b""
        following = NextHeader.ROUTING if segments else NextHeader.IPV6
        packet = (
            outer.replace(payload_length=len(routing) + len(packet), next_header=following).pack() + routing + packet
        )
    return ethernet.replace(ethertype=ethertype).pack() + packet
