"""The quick way to make frames: everything that a flow's packets share is laid out once.

`write_transport` packs BTH, METH, TSETH, RETH and immediate of a write in one step; `FrameTemplate.pack` puts Ethernet
to UDP in front, and pad and ICRC behind any transport bytes. Both make the bytes of `pymodel.wire.build.build`; a
property test holds them to it.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple, NoReturn
from zlib import crc32

from pymodel.base.errors import InputError
from pymodel.wire import spec
from pymodel.wire.build import routing_header
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.headers import Bth, Ethernet, Immdt, Ipv4, Ipv6, Meth, Reth, Segment, Tseth, Udp
from pymodel.wire.icrc import MASKED_BTH, icrc_of, icrc_of_front
from pymodel.wire.packed_header import Buffer
from pymodel.wire.spec import DEFAULT_OPTIONS, Ethertype, EvSplit, Ftype, NextHeader, WireOptions

__all__ = [
    "BthHead",
    "FrameTemplate",
    "bth_head",
    "finish",
    "flags_and_psn",
    "write_rest",
    "write_transport",
]

_PLAIN = Struct(">QIHHQII")
_STAMPED = Struct(">QIHHIQII")
_WORD = Struct(">I")
_INNER = Struct(">IHH32sHHHH")  # inner IPv6 header and UDP
_OUTER = Struct(">14sIHH16s16s")  # Ethernet and outer IPv6 header
_pack_icrc = Struct("<I").pack
_HEAD = Struct(">Q")
_rest_plain = Struct(">IIQII").pack
_rest_stamped = Struct(">IIIQII").pack

_OPCODE = spec.BTH.shift("opcode", 0, 64)
_P_KEY = spec.BTH.shift("p_key", 0, 64)
_PAD = spec.BTH.shift("pad_count", 8, 8)
_PAD_WIDE = spec.BTH.shift("pad_count", 0, 64)
_ACK_REQ = spec.BTH.shift("ack_req", 64, 32)
_RTX = spec.BTH.shift("rtx", 64, 32)
_TS_SHIFT = spec.BTH.shift("ts", 64, 32)
_TS = 1 << _TS_SHIFT
_TIMESTAMP = spec.TSETH.shift("tx_timestamp", 0, 32)
_FTYPE = Ftype.TIMESTAMP << spec.TSETH.shift("ftype", 0, 32)
_VERSION = spec.IP_VERSION_6 << spec.IPV6.shift("version", 0, 32)
_DSCP = spec.IPV6.shift("dscp", 0, 32)
_ECN = spec.IPV6.shift("ecn", 0, 32)
_ADDRESSES = spec.IPV6.bit_offset("src") // 8
_BTH = spec.BTH.size
_AROUND = spec.UDP.size + spec.ICRC_BYTES
_PADS = [bytes(count) for count in range(spec.PAD_ALIGNMENT)]
_LENGTH_MAX = 0xFFFF


def write_transport(
    opcode: int,
    dest_qp: int,
    psn: int,
    msn: int,
    va: int,
    r_key: int,
    dma_length: int,
    *,
    rqmsn: int = 0,
    tx_timestamp: int | None = None,
    immediate: int | None = None,
    ack_req: bool = False,
    rtx: bool = False,
    p_key: int = spec.P_KEY_DEFAULT,
) -> bytes:
    """BTH, METH, TSETH unless `tx_timestamp` is None, RETH, and ImmDt unless `immediate` is None, with pad count 0.

    InputError names the field whose value does not fit.
    """
    stamp = tx_timestamp or 0
    if (
        opcode >> 8
        | (dest_qp | psn) >> 24
        | (msn | rqmsn | stamp | p_key) >> 16
        | va >> 64
        | (r_key | dma_length | (immediate or 0)) >> 32
    ):
        # The classes know the names of the fields.
        Bth(opcode=opcode, dest_qp=dest_qp, psn=psn, p_key=p_key).pack()
        Meth(rqmsn=rqmsn, msn=msn).pack()
        Tseth(tx_timestamp=stamp).pack()
        Reth(va=va, r_key=r_key, dma_length=dma_length).pack()
        Immdt(immediate=immediate or 0).pack()
    head = opcode << _OPCODE | p_key << _P_KEY | dest_qp
    flags_psn = ack_req << _ACK_REQ | rtx << _RTX | psn
    if tx_timestamp is None:
        packed = _PLAIN.pack(head, flags_psn, rqmsn, msn, va, r_key, dma_length)
    else:
        tseth = tx_timestamp << _TIMESTAMP | _FTYPE
        packed = _STAMPED.pack(head, flags_psn | _TS, rqmsn, msn, tseth, va, r_key, dma_length)
    return packed if immediate is None else packed + _WORD.pack(immediate)


class BthHead(NamedTuple):
    """The first eight bytes of a BTH, opcode to destination QP: on the wire, and as the ICRC takes them."""

    wire: bytes
    masked: bytes


def bth_head(opcode: int, dest_qp: int, p_key: int = spec.P_KEY_DEFAULT, pad: int = 0) -> BthHead:
    """The head of a BTH, which a flow's packets of one opcode share. Values must fit their fields."""
    value = opcode << _OPCODE | pad << _PAD_WIDE | p_key << _P_KEY | dest_qp
    return BthHead(value.to_bytes(8, "big"), (value | MASKED_BTH).to_bytes(8, "big"))


def flags_and_psn(psn: int, *, ack_req: bool = False, rtx: bool = False, ts: bool = False) -> int:
    """The last four bytes of a BTH as a number."""
    return ack_req << _ACK_REQ | rtx << _RTX | ts << _TS_SHIFT | psn


def write_rest(flags_psn: int, meth: int, tx_timestamp: int | None, va: int, r_key: int, dma_length: int) -> bytes:
    """What follows `BthHead` in a write without immediate: the rest of the BTH, METH, TSETH unless None, RETH.

    `flags_psn` is as `flags_and_psn` gives it, with ts set when there is a TSETH; `meth` is rqmsn << 16 | msn. Values
    must fit their fields: they were checked when the work was posted.
    """
    if tx_timestamp is None:
        return _rest_plain(flags_psn, meth, va, r_key, dma_length)
    return _rest_stamped(flags_psn, meth, tx_timestamp << _TIMESTAMP | _FTYPE, va, r_key, dma_length)


def finish(front: bytes, crc: int, rest: bytes, payload: Buffer = b"") -> bytes:
    """The frame that begins with `front` and `crc`, as `FrameTemplate.front` gives them.

    `rest` is what stands between the head of the BTH and `payload`, which includes the pad. The sizes add up to the
    length that `front` was made for; the pad count stands in the head.
    """
    return b"".join((front, rest, payload, _pack_icrc(crc32(payload, crc32(rest, crc)))))


class FrameTemplate:
    """Ethernet to UDP of a flow.

    Parameters
    ----------
    ethernet:
        Link header; the EtherType is set here.
    ip:
        (Inner) IP header with addresses, DSCP, ECN and hop limit; everything else is set per packet.
    outer_src:
        Source of an outer IPv6 header, or None for none. The outer header is that of `tunnel.encapsulate`.
    srh:
        True when the outer header is followed by an SRH of one segment.
    options:
        Where the EV goes, and the UDP port.
    """

    __slots__ = (
        "_addresses",
        "_ethernet",
        "_flow_label_high",
        "_follow",
        "_ip4",
        "_length_max",
        "_outer_extra",
        "_outer_follow",
        "_outer_src",
        "_path_bytes",
        "_port",
        "_routing",
        "_word",
        "dscp",
    )

    def __init__(
        self,
        *,
        ethernet: Ethernet,
        ip: Ipv6 | Ipv4,
        outer_src: int | None = None,
        srh: bool = False,
        options: WireOptions = DEFAULT_OPTIONS,
    ) -> None:
        if outer_src is None and srh:
            raise InputError("SRH", "no outer header", "an outer IPv6 header")
        self.dscp = ip.dscp
        self._port = options.udp_port
        self._flow_label_high = options.ev_split is EvSplit.FLOW_LABEL_HIGH
        self._routing = routing_header([0])[: spec.SRH.size] if srh else b""
        self._path_bytes = 0 if outer_src is None else 32 if srh else 16
        self._outer_src = None if outer_src is None else Segment(address=outer_src).pack()
        self._outer_follow = (NextHeader.ROUTING if srh else NextHeader.IPV6) << 8 | spec.HOP_LIMIT
        self._outer_extra = Ipv6.SIZE + (spec.SRH.size + spec.SEGMENT.size if srh else 0)
        if isinstance(ip, Ipv6):
            self._ip4 = None
            self._addresses = ip.pack()[_ADDRESSES:]
            self._word = _VERSION | ip.ecn << _ECN
            self._follow = NextHeader.UDP << 8 | ip.hop_limit
            self._ethernet = ethernet.replace(ethertype=Ethertype.IPV6).pack()
            self._length_max = _LENGTH_MAX - (0 if outer_src is None else self._outer_extra)
        else:
            if outer_src is not None:
                raise InputError("inner header", "IPv4", "IPv6 behind an outer header")
            self._ip4 = ip
            self._ethernet = ethernet.replace(ethertype=Ethertype.IPV4).pack()
            self._length_max = _LENGTH_MAX - Ipv4.SIZE

    def pack(self, transport: bytes, payload: Buffer, ev: int, path: bytes = b"", dscp: int | None = None) -> bytes:
        """Return one frame. InputError when a value does not fit.

        Parameters
        ----------
        transport:
            BTH (with pad count 0) and the headers behind it, packed.
        payload:
            The payload; its pad is added, and the BTH's pad count set.
        ev:
            Entropy value: 32 bits, over IPv4 16.
        path:
            The outer destination (16 bytes), with an SRH followed by its segment (16 more): the container of an EV
            value in mrc-facts.md 1.12. Empty without an outer header.
        dscp:
            DSCP of this packet when it is not the template's, in both IP headers.
        """
        if dscp is None:
            dscp = self.dscp
        pad = -len(payload) % spec.PAD_ALIGNMENT
        if pad:
            transport = bytes((transport[0], transport[1] | pad << _PAD)) + transport[2:]
        length = len(transport) + len(payload) + pad + _AROUND
        if dscp >> 6 | ev >> 32 or len(path) != self._path_bytes or length > self._length_max:
            self._refuse(dscp, ev, path, length)
        if self._ip4 is None:
            (head,) = _HEAD.unpack_from(transport)
            masked = (head | MASKED_BTH).to_bytes(_HEAD.size, "big")
            front, crc = self.front(length - _AROUND, ev, path, dscp, BthHead(transport[: _HEAD.size], masked))
            return finish(front, crc, transport[_HEAD.size :], b"".join((payload, _PADS[pad])) if pad else payload)
        inner = self._inner_4(self._ip4, ev, dscp, length)
        crc = icrc_of(inner + transport[:_BTH], transport[_BTH:], payload, _PADS[pad])
        return b"".join((self._ethernet, inner, transport, payload, _PADS[pad], _pack_icrc(crc)))

    def front(self, length: int, ev: int, path: bytes, dscp: int, head: BthHead) -> tuple[bytes, int]:
        """Ethernet to the head of the BTH of every frame over IPv6 with these values, and the ICRC as it stands there.

        `length` counts transport headers, payload and pad, without ICRC. `finish` makes frames of it.
        """
        udp_length = length + _AROUND
        if dscp >> 6 | ev >> 32 or len(path) != self._path_bytes or udp_length > self._length_max:
            self._refuse(dscp, ev, path, udp_length)
        high, low = ev >> 16, ev & 0xFFFF
        flow_label, src_port = (high, low) if self._flow_label_high else (low, high)
        word = self._word | dscp << _DSCP | flow_label
        inner = _INNER.pack(word, udp_length, self._follow, self._addresses, src_port, self._port, udp_length, 0)
        front = self._ethernet
        if self._outer_src is not None:
            extended = udp_length + self._outer_extra
            front = _OUTER.pack(front, word, extended, self._outer_follow, self._outer_src, path[:16])
            if self._routing:
                front += self._routing + path[16:]
        return front + inner + head.wire, crc32(head.masked, icrc_of_front(inner))

    def _inner_4(self, ip: Ipv4, ev: int, dscp: int, length: int) -> bytes:
        header = ip.replace(dscp=dscp, total_length=Ipv4.SIZE + length, protocol=NextHeader.UDP, checksum=0)
        header.checksum = internet_checksum(header.pack())
        return header.pack() + Udp(src_port=ev, dst_port=self._port, length=length).pack()

    def _refuse(self, dscp: int, ev: int, path: bytes, length: int) -> NoReturn:
        if dscp >> 6:
            raise InputError("DSCP", str(dscp), "a number from 0 to 63")
        if ev >> 32:
            raise InputError("EV", str(ev), "a number of 32 bits")
        if len(path) != self._path_bytes:
            raise InputError("path", f"{len(path)} bytes", f"{self._path_bytes} bytes")
        raise InputError("UDP length", f"{length} bytes", f"at most {self._length_max}")
