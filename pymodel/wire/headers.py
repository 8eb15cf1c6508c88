"""A class for each header of the wire, with an int attribute for each field.

Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
"""

# Slots stand in wire order, and a word of the header on a line.
# ruff: noqa: E501, RUF023
# fmt: off
from __future__ import annotations

from struct import Struct, error
from typing import ClassVar, Self

from pymodel.wire import spec
from pymodel.wire.packed_header import Buffer, PackedHeader

__all__ = [
    "Aeth",
    "Bth",
    "CcState",
    "Eeth",
    "EethOp54",
    "Erth",
    "Ethernet",
    "Icmpv6",
    "Immdt",
    "Ipv4",
    "Ipv6",
    "Meth",
    "Neth",
    "Peth",
    "Reth",
    "Segment",
    "Seth",
    "Srh",
    "Tseth",
    "Udp",
]

_ETHERNET = Struct(">6sQ")


class Ethernet(PackedHeader):
    """Ethernet II, 14 bytes (IEEE 802.3; mrc-facts.md 1.1)."""

    __slots__ = ("dst", "src", "ethertype")
    SPEC: ClassVar[spec.Header] = spec.ETHERNET
    SIZE: ClassVar[int] = 14

    def __init__(self, *, dst: int = 0, src: int = 0, ethertype: int = 34525) -> None:
        self.dst = dst
        self.src = src
        self.ethertype = ethertype

    def pack(self) -> bytes:
        """The 14 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.dst >> 48 | self.src >> 48 | self.ethertype >> 16):
            self._refuse()
        return _ETHERNET.pack(self.dst.to_bytes(6, "big"), self.src << 16 | self.ethertype)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1 = _ETHERNET.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.dst = int.from_bytes(w0, "big")
        self.src = w1 >> 16
        self.ethertype = w1 & 0xFFFF
        return self


_IPV6 = Struct(">Q16s16s")


class Ipv6(PackedHeader):
    """IPv6, outer and inner, 40 bytes (RFC 8200 section 3; mrc-facts.md 1.1, 1.12)."""

    __slots__ = ("version", "dscp", "ecn", "flow_label", "payload_length", "next_header", "hop_limit", "src", "dst")
    SPEC: ClassVar[spec.Header] = spec.IPV6
    SIZE: ClassVar[int] = 40

    def __init__(
        self, *, version: int = 6, dscp: int = 0, ecn: int = 0, flow_label: int = 0, payload_length: int = 0,
        next_header: int = 17, hop_limit: int = 64, src: int = 0, dst: int = 0,
    ) -> None:
        self.version = version
        self.dscp = dscp
        self.ecn = ecn
        self.flow_label = flow_label
        self.payload_length = payload_length
        self.next_header = next_header
        self.hop_limit = hop_limit
        self.src = src
        self.dst = dst

    def pack(self) -> bytes:
        """The 40 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.version >> 4 | self.dscp >> 6 | self.ecn >> 2 | self.flow_label >> 20 | self.payload_length >> 16 |
            self.next_header >> 8 | self.hop_limit >> 8 | self.src >> 128 | self.dst >> 128
        ):
            self._refuse()
        return _IPV6.pack(
            self.version << 60 | self.dscp << 54 | self.ecn << 52 | self.flow_label << 32 | self.payload_length << 16 | self.next_header << 8 | self.hop_limit,
            self.src.to_bytes(16, "big"), self.dst.to_bytes(16, "big"),
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2 = _IPV6.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.version = w0 >> 60
        self.dscp = w0 >> 54 & 0x3F
        self.ecn = w0 >> 52 & 0x3
        self.flow_label = w0 >> 32 & 0xFFFFF
        self.payload_length = w0 >> 16 & 0xFFFF
        self.next_header = w0 >> 8 & 0xFF
        self.hop_limit = w0 & 0xFF
        self.src = int.from_bytes(w1, "big")
        self.dst = int.from_bytes(w2, "big")
        return self


_IPV4 = Struct(">IQQ")


class Ipv4(PackedHeader):
    """IPv4 without options, in UDP-EV mode, 20 bytes (RFC 791 section 3.1; mrc-facts.md 1.1)."""

    __slots__ = (
        "version", "ihl", "dscp", "ecn", "total_length", "identification", "reserved0", "dont_fragment",
        "more_fragments", "fragment_offset", "ttl", "protocol", "checksum", "src", "dst",
    )
    SPEC: ClassVar[spec.Header] = spec.IPV4
    SIZE: ClassVar[int] = 20

    def __init__(
        self, *, version: int = 4, ihl: int = 5, dscp: int = 0, ecn: int = 0, total_length: int = 0,
        identification: int = 0, reserved0: int = 0, dont_fragment: int = 1, more_fragments: int = 0,
        fragment_offset: int = 0, ttl: int = 64, protocol: int = 17, checksum: int = 0, src: int = 0, dst: int = 0,
    ) -> None:
        self.version = version
        self.ihl = ihl
        self.dscp = dscp
        self.ecn = ecn
        self.total_length = total_length
        self.identification = identification
        self.reserved0 = reserved0
        self.dont_fragment = dont_fragment
        self.more_fragments = more_fragments
        self.fragment_offset = fragment_offset
        self.ttl = ttl
        self.protocol = protocol
        self.checksum = checksum
        self.src = src
        self.dst = dst

    def pack(self) -> bytes:
        """The 20 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.version >> 4 | self.ihl >> 4 | self.dscp >> 6 | self.ecn >> 2 | self.total_length >> 16 |
            self.identification >> 16 | self.reserved0 >> 1 | self.dont_fragment >> 1 | self.more_fragments >> 1 |
            self.fragment_offset >> 13 | self.ttl >> 8 | self.protocol >> 8 | self.checksum >> 16 | self.src >> 32 |
            self.dst >> 32
        ):
            self._refuse()
        return _IPV4.pack(
            self.version << 28 | self.ihl << 24 | self.dscp << 18 | self.ecn << 16 | self.total_length,
            self.identification << 48 | self.reserved0 << 47 | self.dont_fragment << 46 | self.more_fragments << 45 | self.fragment_offset << 32 | self.ttl << 24 | self.protocol << 16 | self.checksum,
            self.src << 32 | self.dst,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2 = _IPV4.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.version = w0 >> 28
        self.ihl = w0 >> 24 & 0xF
        self.dscp = w0 >> 18 & 0x3F
        self.ecn = w0 >> 16 & 0x3
        self.total_length = w0 & 0xFFFF
        self.identification = w1 >> 48
        self.reserved0 = w1 >> 47 & 0x1
        self.dont_fragment = w1 >> 46 & 0x1
        self.more_fragments = w1 >> 45 & 0x1
        self.fragment_offset = w1 >> 32 & 0x1FFF
        self.ttl = w1 >> 24 & 0xFF
        self.protocol = w1 >> 16 & 0xFF
        self.checksum = w1 & 0xFFFF
        self.src = w2 >> 32
        self.dst = w2 & 0xFFFFFFFF
        return self


_SRH = Struct(">Q")


class Srh(PackedHeader):
    """Segment Routing Header, its fixed part, 8 bytes (RFC 8754 section 2; mrc-facts.md 8.1)."""

    __slots__ = ("next_header", "hdr_ext_len", "routing_type", "segments_left", "last_entry", "flags", "tag")
    SPEC: ClassVar[spec.Header] = spec.SRH
    SIZE: ClassVar[int] = 8

    def __init__(
        self, *, next_header: int = 41, hdr_ext_len: int = 2, routing_type: int = 4, segments_left: int = 0,
        last_entry: int = 0, flags: int = 0, tag: int = 0,
    ) -> None:
        self.next_header = next_header
        self.hdr_ext_len = hdr_ext_len
        self.routing_type = routing_type
        self.segments_left = segments_left
        self.last_entry = last_entry
        self.flags = flags
        self.tag = tag

    def pack(self) -> bytes:
        """The 8 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.next_header >> 8 | self.hdr_ext_len >> 8 | self.routing_type >> 8 | self.segments_left >> 8 |
            self.last_entry >> 8 | self.flags >> 8 | self.tag >> 16
        ):
            self._refuse()
        return _SRH.pack(
            self.next_header << 56 | self.hdr_ext_len << 48 | self.routing_type << 40 | self.segments_left << 32 | self.last_entry << 24 | self.flags << 16 | self.tag,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _SRH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.next_header = w0 >> 56
        self.hdr_ext_len = w0 >> 48 & 0xFF
        self.routing_type = w0 >> 40 & 0xFF
        self.segments_left = w0 >> 32 & 0xFF
        self.last_entry = w0 >> 24 & 0xFF
        self.flags = w0 >> 16 & 0xFF
        self.tag = w0 & 0xFFFF
        return self


_SEGMENT = Struct(">16s")


class Segment(PackedHeader):
    """One SRH segment, the last of the path first, 16 bytes (RFC 8754 section 2)."""

    __slots__ = ("address",)
    SPEC: ClassVar[spec.Header] = spec.SEGMENT
    SIZE: ClassVar[int] = 16

    def __init__(self, *, address: int = 0) -> None:
        self.address = address

    def pack(self) -> bytes:
        """The 16 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.address >> 128):
            self._refuse()
        return _SEGMENT.pack(self.address.to_bytes(16, "big"))

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _SEGMENT.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.address = int.from_bytes(w0, "big")
        return self


_ICMPV6 = Struct(">Q")


class Icmpv6(PackedHeader):
    """Internet Control Message Protocol for IPv6, its first 8 bytes, 8 bytes (RFC 4443 section 2.1)."""

    __slots__ = ("message_type", "code", "checksum", "body")
    SPEC: ClassVar[spec.Header] = spec.ICMPV6
    SIZE: ClassVar[int] = 8

    def __init__(self, *, message_type: int = 128, code: int = 0, checksum: int = 0, body: int = 0) -> None:
        self.message_type = message_type
        self.code = code
        self.checksum = checksum
        self.body = body

    def pack(self) -> bytes:
        """The 8 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.message_type >> 8 | self.code >> 8 | self.checksum >> 16 | self.body >> 32):
            self._refuse()
        return _ICMPV6.pack(self.message_type << 56 | self.code << 48 | self.checksum << 32 | self.body)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _ICMPV6.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.message_type = w0 >> 56
        self.code = w0 >> 48 & 0xFF
        self.checksum = w0 >> 32 & 0xFFFF
        self.body = w0 & 0xFFFFFFFF
        return self


_UDP = Struct(">Q")


class Udp(PackedHeader):
    """User Datagram Protocol, 8 bytes (RFC 768; mrc-facts.md 1.12)."""

    __slots__ = ("src_port", "dst_port", "length", "checksum")
    SPEC: ClassVar[spec.Header] = spec.UDP
    SIZE: ClassVar[int] = 8

    def __init__(self, *, src_port: int = 0, dst_port: int = 4791, length: int = 0, checksum: int = 0) -> None:
        self.src_port = src_port
        self.dst_port = dst_port
        self.length = length
        self.checksum = checksum

    def pack(self) -> bytes:
        """The 8 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.src_port >> 16 | self.dst_port >> 16 | self.length >> 16 | self.checksum >> 16):
            self._refuse()
        return _UDP.pack(self.src_port << 48 | self.dst_port << 32 | self.length << 16 | self.checksum)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _UDP.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.src_port = w0 >> 48
        self.dst_port = w0 >> 32 & 0xFFFF
        self.length = w0 >> 16 & 0xFFFF
        self.checksum = w0 & 0xFFFF
        return self


_BTH = Struct(">IQ")


class Bth(PackedHeader):
    """Base Transport Header, 12 bytes (mrc-facts.md 1.3)."""

    __slots__ = (
        "opcode", "se", "m", "pad_count", "version", "p_key", "reserved_variant", "dest_qp", "ack_req", "reserved_r",
        "rtx", "ts", "reserved_invariant", "psn",
    )
    SPEC: ClassVar[spec.Header] = spec.BTH
    SIZE: ClassVar[int] = 12

    def __init__(
        self, *, opcode: int = 0, se: int = 0, m: int = 0, pad_count: int = 0, version: int = 0, p_key: int = 65535,
        reserved_variant: int = 0, dest_qp: int = 0, ack_req: int = 0, reserved_r: int = 0, rtx: int = 0, ts: int = 0,
        reserved_invariant: int = 0, psn: int = 0,
    ) -> None:
        self.opcode = opcode
        self.se = se
        self.m = m
        self.pad_count = pad_count
        self.version = version
        self.p_key = p_key
        self.reserved_variant = reserved_variant
        self.dest_qp = dest_qp
        self.ack_req = ack_req
        self.reserved_r = reserved_r
        self.rtx = rtx
        self.ts = ts
        self.reserved_invariant = reserved_invariant
        self.psn = psn

    def pack(self) -> bytes:
        """The 12 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.opcode >> 8 | self.se >> 1 | self.m >> 1 | self.pad_count >> 2 | self.version >> 4 | self.p_key >> 16 |
            self.reserved_variant >> 8 | self.dest_qp >> 24 | self.ack_req >> 1 | self.reserved_r >> 1 | self.rtx >> 1 |
            self.ts >> 1 | self.reserved_invariant >> 4 | self.psn >> 24
        ):
            self._refuse()
        return _BTH.pack(
            self.opcode << 24 | self.se << 23 | self.m << 22 | self.pad_count << 20 | self.version << 16 | self.p_key,
            self.reserved_variant << 56 | self.dest_qp << 32 | self.ack_req << 31 | self.reserved_r << 30 | self.rtx << 29 | self.ts << 28 | self.reserved_invariant << 24 | self.psn,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1 = _BTH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.opcode = w0 >> 24
        self.se = w0 >> 23 & 0x1
        self.m = w0 >> 22 & 0x1
        self.pad_count = w0 >> 20 & 0x3
        self.version = w0 >> 16 & 0xF
        self.p_key = w0 & 0xFFFF
        self.reserved_variant = w1 >> 56
        self.dest_qp = w1 >> 32 & 0xFFFFFF
        self.ack_req = w1 >> 31 & 0x1
        self.reserved_r = w1 >> 30 & 0x1
        self.rtx = w1 >> 29 & 0x1
        self.ts = w1 >> 28 & 0x1
        self.reserved_invariant = w1 >> 24 & 0xF
        self.psn = w1 & 0xFFFFFF
        return self


_METH = Struct(">I")


class Meth(PackedHeader):
    """Message Extended Transport Header, 4 bytes (mrc-facts.md 1.4)."""

    __slots__ = ("rqmsn", "msn")
    SPEC: ClassVar[spec.Header] = spec.METH
    SIZE: ClassVar[int] = 4

    def __init__(self, *, rqmsn: int = 0, msn: int = 0) -> None:
        self.rqmsn = rqmsn
        self.msn = msn

    def pack(self) -> bytes:
        """The 4 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.rqmsn >> 16 | self.msn >> 16):
            self._refuse()
        return _METH.pack(self.rqmsn << 16 | self.msn)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _METH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.rqmsn = w0 >> 16
        self.msn = w0 & 0xFFFF
        return self


_TSETH = Struct(">I")


class Tseth(PackedHeader):
    """Timestamp Extended Transport Header, 4 bytes (mrc-facts.md 1.5)."""

    __slots__ = ("tx_timestamp", "tsr", "reserved_ts", "ftype")
    SPEC: ClassVar[spec.Header] = spec.TSETH
    SIZE: ClassVar[int] = 4

    def __init__(self, *, tx_timestamp: int = 0, tsr: int = 0, reserved_ts: int = 0, ftype: int = 1) -> None:
        self.tx_timestamp = tx_timestamp
        self.tsr = tsr
        self.reserved_ts = reserved_ts
        self.ftype = ftype

    def pack(self) -> bytes:
        """The 4 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.tx_timestamp >> 16 | self.tsr >> 1 | self.reserved_ts >> 11 | self.ftype >> 4):
            self._refuse()
        return _TSETH.pack(self.tx_timestamp << 16 | self.tsr << 15 | self.reserved_ts << 4 | self.ftype)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _TSETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.tx_timestamp = w0 >> 16
        self.tsr = w0 >> 15 & 0x1
        self.reserved_ts = w0 >> 4 & 0x7FF
        self.ftype = w0 & 0xF
        return self


_RETH = Struct(">QQ")


class Reth(PackedHeader):
    """RDMA Extended Transport Header, 16 bytes (mrc-facts.md 1.6)."""

    __slots__ = ("va", "r_key", "dma_length")
    SPEC: ClassVar[spec.Header] = spec.RETH
    SIZE: ClassVar[int] = 16

    def __init__(self, *, va: int = 0, r_key: int = 0, dma_length: int = 0) -> None:
        self.va = va
        self.r_key = r_key
        self.dma_length = dma_length

    def pack(self) -> bytes:
        """The 16 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.va >> 64 | self.r_key >> 32 | self.dma_length >> 32):
            self._refuse()
        return _RETH.pack(self.va, self.r_key << 32 | self.dma_length)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1 = _RETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.va = w0
        self.r_key = w1 >> 32
        self.dma_length = w1 & 0xFFFFFFFF
        return self


_IMMDT = Struct(">I")


class Immdt(PackedHeader):
    """Immediate Data, 4 bytes (mrc-facts.md 1.11)."""

    __slots__ = ("immediate",)
    SPEC: ClassVar[spec.Header] = spec.IMMDT
    SIZE: ClassVar[int] = 4

    def __init__(self, *, immediate: int = 0) -> None:
        self.immediate = immediate

    def pack(self) -> bytes:
        """The 4 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.immediate >> 32):
            self._refuse()
        return _IMMDT.pack(self.immediate)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _IMMDT.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.immediate = w0
        return self


_AETH = Struct(">I")


class Aeth(PackedHeader):
    """Acknowledge Extended Transport Header, 4 bytes (mrc-facts.md 1.11)."""

    __slots__ = ("syndrome", "msn")
    SPEC: ClassVar[spec.Header] = spec.AETH
    SIZE: ClassVar[int] = 4

    def __init__(self, *, syndrome: int = 31, msn: int = 0) -> None:
        self.syndrome = syndrome
        self.msn = msn

    def pack(self) -> bytes:
        """The 4 bytes on the wire. InputError names the field whose value does not fit."""
        if (self.syndrome >> 8 | self.msn >> 24):
            self._refuse()
        return _AETH.pack(self.syndrome << 24 | self.msn)

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _AETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.syndrome = w0 >> 24
        self.msn = w0 & 0xFFFFFF
        return self


_SETH = Struct(">IQQQ")


class Seth(PackedHeader):
    """SACK Extended Transport Header, 28 bytes (mrc-facts.md 1.7)."""

    __slots__ = (
        "header_type", "nxt", "m", "reserved0", "pr", "reserved1", "ack_psn_offset", "entropy", "spdcid", "dpdcid",
        "reserved2", "cack_psn", "cc_type", "cc_fl", "mpr", "sack_offset", "sack_bitmap",
    )
    SPEC: ClassVar[spec.Header] = spec.SETH
    SIZE: ClassVar[int] = 28

    def __init__(
        self, *, header_type: int = 0, nxt: int = 0, m: int = 0, reserved0: int = 0, pr: int = 0, reserved1: int = 0,
        ack_psn_offset: int = 0, entropy: int = 0, spdcid: int = 0, dpdcid: int = 0, reserved2: int = 0,
        cack_psn: int = 0, cc_type: int = 0, cc_fl: int = 0, mpr: int = 0, sack_offset: int = 0, sack_bitmap: int = 0,
    ) -> None:
        self.header_type = header_type
        self.nxt = nxt
        self.m = m
        self.reserved0 = reserved0
        self.pr = pr
        self.reserved1 = reserved1
        self.ack_psn_offset = ack_psn_offset
        self.entropy = entropy
        self.spdcid = spdcid
        self.dpdcid = dpdcid
        self.reserved2 = reserved2
        self.cack_psn = cack_psn
        self.cc_type = cc_type
        self.cc_fl = cc_fl
        self.mpr = mpr
        self.sack_offset = sack_offset
        self.sack_bitmap = sack_bitmap

    def pack(self) -> bytes:
        """The 28 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.header_type >> 4 | self.nxt >> 5 | self.m >> 2 | self.reserved0 >> 3 | self.pr >> 1 |
            self.reserved1 >> 1 | self.ack_psn_offset + 0x8000 >> 16 | self.entropy >> 32 | self.spdcid >> 16 |
            self.dpdcid >> 16 | self.reserved2 >> 8 | self.cack_psn >> 24 | self.cc_type >> 4 | self.cc_fl >> 4 |
            self.mpr >> 8 | self.sack_offset + 0x8000 >> 16 | self.sack_bitmap >> 64
        ):
            self._refuse()
        return _SETH.pack(
            self.header_type << 28 | self.nxt << 23 | self.m << 21 | self.reserved0 << 18 | self.pr << 17 | self.reserved1 << 16 | (self.ack_psn_offset & 0xFFFF),
            self.entropy << 32 | self.spdcid << 16 | self.dpdcid,
            self.reserved2 << 56 | self.cack_psn << 32 | self.cc_type << 28 | self.cc_fl << 24 | self.mpr << 16 | (self.sack_offset & 0xFFFF),
            self.sack_bitmap,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2, w3 = _SETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.header_type = w0 >> 28
        self.nxt = w0 >> 23 & 0x1F
        self.m = w0 >> 21 & 0x3
        self.reserved0 = w0 >> 18 & 0x7
        self.pr = w0 >> 17 & 0x1
        self.reserved1 = w0 >> 16 & 0x1
        self.ack_psn_offset = ((w0 & 0xFFFF) ^ 0x8000) - 0x8000
        self.entropy = w1 >> 32
        self.spdcid = w1 >> 16 & 0xFFFF
        self.dpdcid = w1 & 0xFFFF
        self.reserved2 = w2 >> 56
        self.cack_psn = w2 >> 32 & 0xFFFFFF
        self.cc_type = w2 >> 28 & 0xF
        self.cc_fl = w2 >> 24 & 0xF
        self.mpr = w2 >> 16 & 0xFF
        self.sack_offset = ((w2 & 0xFFFF) ^ 0x8000) - 0x8000
        self.sack_bitmap = w3
        return self


_CC_STATE = Struct(">Q")


class CcState(PackedHeader):
    """Congestion control state, behind SETH, 8 bytes (mrc-facts.md 1.7)."""

    __slots__ = ("tx_timestamp", "reserved0", "ooo_count", "restore_cwnd", "rcv_cwnd_pen", "rcvd_bytes")
    SPEC: ClassVar[spec.Header] = spec.CC_STATE
    SIZE: ClassVar[int] = 8

    def __init__(
        self, *, tx_timestamp: int = 0, reserved0: int = 0, ooo_count: int = 0, restore_cwnd: int = 0,
        rcv_cwnd_pen: int = 0, rcvd_bytes: int = 0,
    ) -> None:
        self.tx_timestamp = tx_timestamp
        self.reserved0 = reserved0
        self.ooo_count = ooo_count
        self.restore_cwnd = restore_cwnd
        self.rcv_cwnd_pen = rcv_cwnd_pen
        self.rcvd_bytes = rcvd_bytes

    def pack(self) -> bytes:
        """The 8 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.tx_timestamp >> 16 | self.reserved0 >> 1 | self.ooo_count >> 15 | self.restore_cwnd >> 1 |
            self.rcv_cwnd_pen >> 7 | self.rcvd_bytes >> 24
        ):
            self._refuse()
        return _CC_STATE.pack(
            self.tx_timestamp << 48 | self.reserved0 << 47 | self.ooo_count << 32 | self.restore_cwnd << 31 | self.rcv_cwnd_pen << 24 | self.rcvd_bytes,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, = _CC_STATE.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.tx_timestamp = w0 >> 48
        self.reserved0 = w0 >> 47 & 0x1
        self.ooo_count = w0 >> 32 & 0x7FFF
        self.restore_cwnd = w0 >> 31 & 0x1
        self.rcv_cwnd_pen = w0 >> 24 & 0x7F
        self.rcvd_bytes = w0 & 0xFFFFFF
        return self


_NETH = Struct(">IQQ")


class Neth(PackedHeader):
    """NACK Extended Transport Header, 20 bytes (mrc-facts.md 1.8)."""

    __slots__ = (
        "header_type", "nxt", "reserved0", "reason", "vendor_info", "entropy", "spdcid", "dpdcid", "reserved1",
        "nack_psn", "cc_type", "cc_fl", "reserved2", "tx_timestamp",
    )
    SPEC: ClassVar[spec.Header] = spec.NETH
    SIZE: ClassVar[int] = 20

    def __init__(
        self, *, header_type: int = 0, nxt: int = 0, reserved0: int = 0, reason: int = 0, vendor_info: int = 0,
        entropy: int = 0, spdcid: int = 0, dpdcid: int = 0, reserved1: int = 0, nack_psn: int = 0, cc_type: int = 2,
        cc_fl: int = 0, reserved2: int = 0, tx_timestamp: int = 0,
    ) -> None:
        self.header_type = header_type
        self.nxt = nxt
        self.reserved0 = reserved0
        self.reason = reason
        self.vendor_info = vendor_info
        self.entropy = entropy
        self.spdcid = spdcid
        self.dpdcid = dpdcid
        self.reserved1 = reserved1
        self.nack_psn = nack_psn
        self.cc_type = cc_type
        self.cc_fl = cc_fl
        self.reserved2 = reserved2
        self.tx_timestamp = tx_timestamp

    def pack(self) -> bytes:
        """The 20 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.header_type >> 4 | self.nxt >> 5 | self.reserved0 >> 7 | self.reason >> 8 | self.vendor_info >> 8 |
            self.entropy >> 32 | self.spdcid >> 16 | self.dpdcid >> 16 | self.reserved1 >> 8 | self.nack_psn >> 24 |
            self.cc_type >> 4 | self.cc_fl >> 4 | self.reserved2 >> 8 | self.tx_timestamp >> 16
        ):
            self._refuse()
        return _NETH.pack(
            self.header_type << 28 | self.nxt << 23 | self.reserved0 << 16 | self.reason << 8 | self.vendor_info,
            self.entropy << 32 | self.spdcid << 16 | self.dpdcid,
            self.reserved1 << 56 | self.nack_psn << 32 | self.cc_type << 28 | self.cc_fl << 24 | self.reserved2 << 16 | self.tx_timestamp,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2 = _NETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.header_type = w0 >> 28
        self.nxt = w0 >> 23 & 0x1F
        self.reserved0 = w0 >> 16 & 0x7F
        self.reason = w0 >> 8 & 0xFF
        self.vendor_info = w0 & 0xFF
        self.entropy = w1 >> 32
        self.spdcid = w1 >> 16 & 0xFFFF
        self.dpdcid = w1 & 0xFFFF
        self.reserved1 = w2 >> 56
        self.nack_psn = w2 >> 32 & 0xFFFFFF
        self.cc_type = w2 >> 28 & 0xF
        self.cc_fl = w2 >> 24 & 0xF
        self.reserved2 = w2 >> 16 & 0xFF
        self.tx_timestamp = w2 & 0xFFFF
        return self


_PETH = Struct(">QQ")


class Peth(PackedHeader):
    """Probe Extended Transport Header, 16 bytes (mrc-facts.md 1.9)."""

    __slots__ = (
        "header_type", "nxt", "reserved0", "reserved1", "vendor_info", "probe_id", "reserved2", "spdcid", "dpdcid",
        "tx_timestamp", "tsr", "reserved_ts", "ftype",
    )
    SPEC: ClassVar[spec.Header] = spec.PETH
    SIZE: ClassVar[int] = 16

    def __init__(
        self, *, header_type: int = 0, nxt: int = 0, reserved0: int = 0, reserved1: int = 0, vendor_info: int = 0,
        probe_id: int = 0, reserved2: int = 0, spdcid: int = 0, dpdcid: int = 0, tx_timestamp: int = 0, tsr: int = 0,
        reserved_ts: int = 0, ftype: int = 1,
    ) -> None:
        self.header_type = header_type
        self.nxt = nxt
        self.reserved0 = reserved0
        self.reserved1 = reserved1
        self.vendor_info = vendor_info
        self.probe_id = probe_id
        self.reserved2 = reserved2
        self.spdcid = spdcid
        self.dpdcid = dpdcid
        self.tx_timestamp = tx_timestamp
        self.tsr = tsr
        self.reserved_ts = reserved_ts
        self.ftype = ftype

    def pack(self) -> bytes:
        """The 16 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.header_type >> 4 | self.nxt >> 5 | self.reserved0 >> 7 | self.reserved1 >> 8 | self.vendor_info >> 8 |
            self.probe_id >> 16 | self.reserved2 >> 16 | self.spdcid >> 16 | self.dpdcid >> 16 |
            self.tx_timestamp >> 16 | self.tsr >> 1 | self.reserved_ts >> 11 | self.ftype >> 4
        ):
            self._refuse()
        return _PETH.pack(
            self.header_type << 60 | self.nxt << 55 | self.reserved0 << 48 | self.reserved1 << 40 | self.vendor_info << 32 | self.probe_id << 16 | self.reserved2,
            self.spdcid << 48 | self.dpdcid << 32 | self.tx_timestamp << 16 | self.tsr << 15 | self.reserved_ts << 4 | self.ftype,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1 = _PETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.header_type = w0 >> 60
        self.nxt = w0 >> 55 & 0x1F
        self.reserved0 = w0 >> 48 & 0x7F
        self.reserved1 = w0 >> 40 & 0xFF
        self.vendor_info = w0 >> 32 & 0xFF
        self.probe_id = w0 >> 16 & 0xFFFF
        self.reserved2 = w0 & 0xFFFF
        self.spdcid = w1 >> 48
        self.dpdcid = w1 >> 32 & 0xFFFF
        self.tx_timestamp = w1 >> 16 & 0xFFFF
        self.tsr = w1 >> 15 & 0x1
        self.reserved_ts = w1 >> 4 & 0x7FF
        self.ftype = w1 & 0xF
        return self


_ERTH = Struct(">QQ")


class Erth(PackedHeader):
    """Endpoint Request Extended Transport Header, 16 bytes (mrc-facts.md 1.10)."""

    __slots__ = (
        "reserved0", "reserved1", "op", "reserved2", "vendor_info", "port_status_mask", "reserved3", "tx_timestamp",
        "tsr", "reserved_ts", "ftype",
    )
    SPEC: ClassVar[spec.Header] = spec.ERTH
    SIZE: ClassVar[int] = 16

    def __init__(
        self, *, reserved0: int = 0, reserved1: int = 0, op: int = 0, reserved2: int = 0, vendor_info: int = 0,
        port_status_mask: int = 0, reserved3: int = 0, tx_timestamp: int = 0, tsr: int = 0, reserved_ts: int = 0,
        ftype: int = 1,
    ) -> None:
        self.reserved0 = reserved0
        self.reserved1 = reserved1
        self.op = op
        self.reserved2 = reserved2
        self.vendor_info = vendor_info
        self.port_status_mask = port_status_mask
        self.reserved3 = reserved3
        self.tx_timestamp = tx_timestamp
        self.tsr = tsr
        self.reserved_ts = reserved_ts
        self.ftype = ftype

    def pack(self) -> bytes:
        """The 16 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.reserved0 >> 8 | self.reserved1 >> 6 | self.op >> 2 | self.reserved2 >> 8 | self.vendor_info >> 8 |
            self.port_status_mask >> 32 | self.reserved3 >> 32 | self.tx_timestamp >> 16 | self.tsr >> 1 |
            self.reserved_ts >> 11 | self.ftype >> 4
        ):
            self._refuse()
        return _ERTH.pack(
            self.reserved0 << 56 | self.reserved1 << 50 | self.op << 48 | self.reserved2 << 40 | self.vendor_info << 32 | self.port_status_mask,
            self.reserved3 << 32 | self.tx_timestamp << 16 | self.tsr << 15 | self.reserved_ts << 4 | self.ftype,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1 = _ERTH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.reserved0 = w0 >> 56
        self.reserved1 = w0 >> 50 & 0x3F
        self.op = w0 >> 48 & 0x3
        self.reserved2 = w0 >> 40 & 0xFF
        self.vendor_info = w0 >> 32 & 0xFF
        self.port_status_mask = w0 & 0xFFFFFFFF
        self.reserved3 = w1 >> 32
        self.tx_timestamp = w1 >> 16 & 0xFFFF
        self.tsr = w1 >> 15 & 0x1
        self.reserved_ts = w1 >> 4 & 0x7FF
        self.ftype = w1 & 0xF
        return self


_EETH = Struct(">QQQIQ")


class Eeth(PackedHeader):
    """Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: op in bits 3:2 of byte 1)."""

    __slots__ = (
        "reserved0", "reserved1", "op", "reserved2", "reserved3", "reserved4", "reserved5", "reserved6", "tx_timestamp",
        "reserved7",
    )
    SPEC: ClassVar[spec.Header] = spec.EETH
    SIZE: ClassVar[int] = 36

    def __init__(
        self, *, reserved0: int = 0, reserved1: int = 0, op: int = 0, reserved2: int = 0, reserved3: int = 0,
        reserved4: int = 0, reserved5: int = 0, reserved6: int = 0, tx_timestamp: int = 0, reserved7: int = 0,
    ) -> None:
        self.reserved0 = reserved0
        self.reserved1 = reserved1
        self.op = op
        self.reserved2 = reserved2
        self.reserved3 = reserved3
        self.reserved4 = reserved4
        self.reserved5 = reserved5
        self.reserved6 = reserved6
        self.tx_timestamp = tx_timestamp
        self.reserved7 = reserved7

    def pack(self) -> bytes:
        """The 36 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.reserved0 >> 8 | self.reserved1 >> 4 | self.op >> 2 | self.reserved2 >> 2 | self.reserved3 >> 48 |
            self.reserved4 >> 64 | self.reserved5 >> 64 | self.reserved6 >> 32 | self.tx_timestamp >> 16 |
            self.reserved7 >> 48
        ):
            self._refuse()
        return _EETH.pack(
            self.reserved0 << 56 | self.reserved1 << 52 | self.op << 50 | self.reserved2 << 48 | self.reserved3,
            self.reserved4, self.reserved5, self.reserved6, self.tx_timestamp << 48 | self.reserved7,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2, w3, w4 = _EETH.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.reserved0 = w0 >> 56
        self.reserved1 = w0 >> 52 & 0xF
        self.op = w0 >> 50 & 0x3
        self.reserved2 = w0 >> 48 & 0x3
        self.reserved3 = w0 & 0xFFFFFFFFFFFF
        self.reserved4 = w1
        self.reserved5 = w2
        self.reserved6 = w3
        self.tx_timestamp = w4 >> 48
        self.reserved7 = w4 & 0xFFFFFFFFFFFF
        return self


_EETH_OP_54 = Struct(">QQQIQ")


class EethOp54(PackedHeader):
    """Endpoint Response Extended Transport Header, 36 bytes (mrc-facts.md 1.10, 9: the other reading, op in bits 5:4 of byte 1)."""

    __slots__ = (
        "reserved0", "reserved1", "op", "reserved2", "reserved3", "reserved4", "reserved5", "reserved6", "tx_timestamp",
        "reserved7",
    )
    SPEC: ClassVar[spec.Header] = spec.EETH_OP_54
    SIZE: ClassVar[int] = 36

    def __init__(
        self, *, reserved0: int = 0, reserved1: int = 0, op: int = 0, reserved2: int = 0, reserved3: int = 0,
        reserved4: int = 0, reserved5: int = 0, reserved6: int = 0, tx_timestamp: int = 0, reserved7: int = 0,
    ) -> None:
        self.reserved0 = reserved0
        self.reserved1 = reserved1
        self.op = op
        self.reserved2 = reserved2
        self.reserved3 = reserved3
        self.reserved4 = reserved4
        self.reserved5 = reserved5
        self.reserved6 = reserved6
        self.tx_timestamp = tx_timestamp
        self.reserved7 = reserved7

    def pack(self) -> bytes:
        """The 36 bytes on the wire. InputError names the field whose value does not fit."""
        if (
            self.reserved0 >> 8 | self.reserved1 >> 2 | self.op >> 2 | self.reserved2 >> 4 | self.reserved3 >> 48 |
            self.reserved4 >> 64 | self.reserved5 >> 64 | self.reserved6 >> 32 | self.tx_timestamp >> 16 |
            self.reserved7 >> 48
        ):
            self._refuse()
        return _EETH_OP_54.pack(
            self.reserved0 << 56 | self.reserved1 << 54 | self.op << 52 | self.reserved2 << 48 | self.reserved3,
            self.reserved4, self.reserved5, self.reserved6, self.tx_timestamp << 48 | self.reserved7,
        )

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """Read the header at `offset`. InputError when fewer bytes are there."""
        try:
            w0, w1, w2, w3, w4 = _EETH_OP_54.unpack_from(data, offset)
        except error:
            raise cls._too_short(data, offset) from None
        self = cls.__new__(cls)
        self.reserved0 = w0 >> 56
        self.reserved1 = w0 >> 54 & 0x3
        self.op = w0 >> 52 & 0x3
        self.reserved2 = w0 >> 48 & 0xF
        self.reserved3 = w0 & 0xFFFFFFFFFFFF
        self.reserved4 = w1
        self.reserved5 = w2
        self.reserved6 = w3
        self.tx_timestamp = w4 >> 48
        self.reserved7 = w4 & 0xFFFFFFFFFFFF
        return self
