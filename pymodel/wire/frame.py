"""A frame that parsed, from the Ethernet header to the ICRC, without FCS. `pymodel.wire.parser` makes them."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple, TypeVar

from pymodel.wire import spec
from pymodel.wire.headers import (
    Aeth,
    Bth,
    CcState,
    Eeth,
    EethOp54,
    Erth,
    Ethernet,
    Immdt,
    Ipv4,
    Ipv6,
    Meth,
    Neth,
    Peth,
    Reth,
    Segment,
    Seth,
    Srh,
    Tseth,
    Udp,
)
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.sack import Sack, unpack_sack
from pymodel.wire.spec import NackReason, Opcode, WireOptions

__all__ = ["Frame", "WriteFields"]


class WriteFields(NamedTuple):
    """The headers of an RDMA Write that was not trimmed. `tx_timestamp` and `immediate` are None when not carried."""

    rqmsn: int
    msn: int
    tx_timestamp: int | None
    va: int
    r_key: int
    dma_length: int
    immediate: int | None


_H = TypeVar("_H", bound=PackedHeader)

_WRITE = Struct(">HHQII")
_WRITE_TS = Struct(">HHHHQII")
_TARGET = Struct(">QI")
_WORD = Struct(">I")
_LITTLE = Struct("<I")
_STAMP = Struct(">H")

_OUTER = spec.ETHERNET.size
_OUTER_END = spec.ETHERNET.size + spec.IPV6.size
_BTH = spec.UDP.size
_BODY = spec.UDP.size + spec.BTH.size
_TSETH = spec.TSETH.size
_STAMP_AT = _BODY + spec.METH.size + spec.TSETH.bit_offset("tx_timestamp") // 8
_STAMP_END = _BODY + spec.METH.size + spec.TSETH.size

_ACK_REQ, _RTX, _TS = (1 << spec.BTH.shift(name, 64, 8) for name in ("ack_req", "rtx", "ts"))
_IS_WRITE = [opcode in spec.DATA_OPCODES for opcode in range(256)]
_BEHIND_TARGET = [
    spec.RETH.size + (spec.IMMDT.size if opcode in spec.IMMEDIATE_OPCODES else 0) for opcode in range(256)
]
_HAS_IMMEDIATE = [opcode in spec.IMMEDIATE_OPCODES for opcode in range(256)]


class Frame:
    """A frame that parsed. What every packet has is read at once, each header as an object when asked for.

    Attributes
    ----------
    data:
        The bytes.
    addresses:
        Source and destination of `ip`, packed one behind the other: quicker to compare than `ip` is to make.
    opcode, p_key, dest_qp, psn, ack_req, rtx, ts:
        Fields of the BTH.
    prompt:
        Not 0 when the packet asks for a SACK at once: A bit or retransmission.
    ev:
        The entropy value from the inner flow label and the UDP source port; 16 bits over IPv4.
    dscp:
        DSCP of the outermost IP header.
    ecn:
        ECN of outer and inner header together (RFC 6040).
    trim_reason:
        None, or the NACK reason that a trimmed write asks for.
    payload_start, payload_end:
        Byte offsets of the payload, without pad. Equal in a trimmed frame and in one that carries none.
    end:
        Byte offset behind the ICRC.
    udp_length:
        Length in the UDP header: UDP header, transport headers, payload, pad and ICRC. Untrusted if trimmed.
    """

    __slots__ = (
        "_flags",
        "_ip",
        "_options",
        "_udp",
        "addresses",
        "data",
        "dest_qp",
        "dscp",
        "ecn",
        "end",
        "ev",
        "opcode",
        "p_key",
        "payload_end",
        "payload_start",
        "prompt",
        "psn",
        "trim_reason",
        "udp_length",
    )

    addresses: bytes
    data: bytes
    opcode: int
    p_key: int
    dest_qp: int
    psn: int
    prompt: int
    ev: int
    dscp: int
    ecn: int
    trim_reason: NackReason | None
    payload_start: int
    payload_end: int
    end: int
    udp_length: int
    _flags: int
    _ip: int
    _udp: int
    _options: WireOptions

    @property
    def ack_req(self) -> bool:
        """True when the sender asks for an immediate SACK."""
        return self._flags & _ACK_REQ != 0

    @property
    def rtx(self) -> bool:
        """True on a retransmission."""
        return self._flags & _RTX != 0

    @property
    def ts(self) -> bool:
        """True when a TSETH follows (in writes)."""
        return self._flags & _TS != 0

    @property
    def trimmed(self) -> bool:
        """True for a write that carries a trim mark."""
        return self.trim_reason is not None

    @property
    def is_write(self) -> bool:
        """True for every opcode that carries an RDMA Write."""
        return _IS_WRITE[self.opcode]

    @property
    def payload(self) -> bytes:
        """The payload without pad."""
        return self.data[self.payload_start : self.payload_end]

    @property
    def icrc(self) -> int | None:
        """The ICRC as received, or None in a trimmed frame."""
        return None if self.trimmed else int(_LITTLE.unpack_from(self.data, self.end - spec.ICRC_BYTES)[0])

    @property
    def ethernet(self) -> Ethernet:
        """The Ethernet header."""
        return Ethernet.unpack(self.data)

    @property
    def outer(self) -> Ipv6 | None:
        """The outer IPv6 header, or None without encapsulation."""
        return None if self._ip == _OUTER else Ipv6.unpack(self.data, _OUTER)

    @property
    def srh(self) -> Srh | None:
        """The SRH, or None."""
        return None if self._ip <= _OUTER_END else Srh.unpack(self.data, _OUTER_END)

    @property
    def segments(self) -> tuple[int, ...]:
        """Addresses of the SRH in wire order, the last segment of the path first."""
        srh = self.srh
        if srh is None:
            return ()
        first = _OUTER_END + Srh.SIZE
        return tuple(Segment.unpack(self.data, first + Segment.SIZE * i).address for i in range(srh.last_entry + 1))

    @property
    def ip(self) -> Ipv6 | Ipv4:
        """The IP header in front of UDP: the inner one of an encapsulated packet."""
        if self.data[self._ip] >> 4 == spec.IP_VERSION_6:
            return Ipv6.unpack(self.data, self._ip)
        return Ipv4.unpack(self.data, self._ip)

    @property
    def udp(self) -> Udp:
        """The UDP header."""
        return Udp.unpack(self.data, self._udp)

    @property
    def bth(self) -> Bth:
        """The BTH."""
        return Bth.unpack(self.data, self._udp + _BTH)

    @property
    def meth(self) -> Meth | None:
        """The METH of a write, or None when it was trimmed away."""
        return self._present(Meth, 0)

    @property
    def tseth(self) -> Tseth | None:
        """The TSETH of a write, or None when the packet has none or it was trimmed away."""
        return self._present(Tseth, Meth.SIZE) if self.ts else None

    @property
    def tx_timestamp(self) -> int | None:
        """The timestamp of `tseth` alone, or None as there."""
        if not self._flags & _TS or self._udp + _STAMP_END > self.payload_end or not _IS_WRITE[self.opcode]:
            return None
        stamp: int = _STAMP.unpack_from(self.data, self._udp + _STAMP_AT)[0]
        return stamp

    @property
    def reth(self) -> Reth | None:
        """The RETH of a write, or None when it was trimmed away."""
        return self._present(Reth, Meth.SIZE + (_TSETH if self.ts else 0))

    @property
    def immdt(self) -> Immdt | None:
        """The immediate data of a write, or None when the packet has none or it was trimmed away."""
        if not _HAS_IMMEDIATE[self.opcode]:
            return None
        return self._present(Immdt, Meth.SIZE + (_TSETH if self.ts else 0) + Reth.SIZE)

    def _present(self, kind: type[_H], offset: int) -> _H | None:
        """A header of a write, `offset` bytes behind the BTH, or None when the frame ends before it does."""
        start = self._udp + _BODY + offset
        return kind.unpack(self.data, start) if self.is_write and start + kind.SIZE <= self.payload_end else None

    def write_fields(self) -> WriteFields:
        """All header fields of a write at once; LookupError for a trimmed write or another opcode."""
        if not self.is_write or self.trimmed:
            raise LookupError(f"opcode {self.opcode:#x} has no RETH, or it was trimmed")
        data = self.data
        start = self._udp + _BODY
        immediate = None
        if _HAS_IMMEDIATE[self.opcode]:
            (immediate,) = _WORD.unpack_from(data, self.payload_start - Immdt.SIZE)
        if self._flags & _TS:
            rqmsn, msn, tx_timestamp, _, va, r_key, dma_length = _WRITE_TS.unpack_from(data, start)
            return WriteFields(rqmsn, msn, tx_timestamp, va, r_key, dma_length, immediate)
        rqmsn, msn, va, r_key, dma_length = _WRITE.unpack_from(data, start)
        return WriteFields(rqmsn, msn, None, va, r_key, dma_length, immediate)

    def target(self) -> tuple[int, int]:
        """VA and R_Key of a write that was not trimmed, alone: all that placing a packet needs."""
        target: tuple[int, int] = _TARGET.unpack_from(self.data, self.payload_start - _BEHIND_TARGET[self.opcode])
        return target

    def sack(self) -> Sack:
        """What a SACK says, without reserved fields, in one step; LookupError for another opcode."""
        if self.opcode != Opcode.SACK:
            raise LookupError(f"opcode {self.opcode:#x} has no {spec.SETH.name}")
        return unpack_sack(self.data, self._udp + _BODY)

    def _body(self, kind: type[_H], opcode: Opcode, offset: int = 0) -> _H:
        if self.opcode != opcode:
            raise LookupError(f"opcode {self.opcode:#x} has no {kind.SPEC.name}")
        return kind.unpack(self.data, self._udp + _BODY + offset)

    @property
    def aeth(self) -> Aeth:
        """The AETH of an Acknowledge; LookupError for another opcode, as in the properties below."""
        return self._body(Aeth, Opcode.ACKNOWLEDGE)

    @property
    def seth(self) -> Seth:
        """The SETH of a SACK."""
        return self._body(Seth, Opcode.SACK)

    @property
    def cc_state(self) -> CcState:
        """The CC_STATE of a SACK."""
        return self._body(CcState, Opcode.SACK, Seth.SIZE)

    @property
    def neth(self) -> Neth:
        """The NETH of a NACK."""
        return self._body(Neth, Opcode.NACK)

    @property
    def peth(self) -> Peth:
        """The PETH of a probe request."""
        return self._body(Peth, Opcode.PROBE_REQUEST)

    @property
    def erth(self) -> Erth:
        """The ERTH of an endpoint request."""
        return self._body(Erth, Opcode.ENDPOINT_REQUEST)

    @property
    def eeth(self) -> Eeth | EethOp54:
        """The EETH of an endpoint response, in the layout that the options name."""
        if self._options.eeth == spec.EETH:
            return self._body(Eeth, Opcode.ENDPOINT_RESPONSE)
        return self._body(EethOp54, Opcode.ENDPOINT_RESPONSE)

    def headers(self) -> list[PackedHeader]:
        """Every header that is there, from Ethernet on."""
        found: list[PackedHeader | None] = [self.ethernet, self.outer, self.srh]
        found += [Segment(address=address) for address in self.segments]
        found += [self.ip, self.udp, self.bth]
        if self.is_write:
            found += [self.meth, self.tseth, self.reth, self.immdt]
        else:
            offset = 0
            for header in spec.EXTENSIONS[Opcode(self.opcode)]:
                kind = self._KINDS[self._options.eeth.name if header is spec.EETH else header.name]
                found.append(kind.unpack(self.data, self._udp + _BODY + offset))
                offset += kind.SIZE
        return [header for header in found if header is not None]

    _KINDS: dict[str, type[PackedHeader]]


Frame._KINDS = {kind.SPEC.name: kind for kind in (Aeth, Seth, CcState, Neth, Peth, Erth, Eeth, EethOp54)}
