"""From bytes to a `Frame`, or to a `ParseError` value that says why not. No input raises.

A frame runs from the Ethernet header to the ICRC, without FCS. Bytes behind the length that IP states are link padding
and ignored. A trimmed write is recognised by the DSCP of its outermost IP header before any length or ICRC is looked
at: its length fields are not to be trusted, its payload is gone, and it has no ICRC (mrc-facts.md 1.14, 11).

Refused on purpose: IPv4 options, fragments, and an SRH without IPv6-in-IPv6. There a segment would rewrite the very
address that the ICRC covers (mrc-facts.md 1.13).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from struct import Struct

from pymodel.wire import spec
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.frame import Frame
from pymodel.wire.icrc import icrc_of
from pymodel.wire.spec import DEFAULT_OPTIONS, Ethertype, NextHeader, WireOptions
from pymodel.wire.tunnel import combine_ecn, join_ev

__all__ = ["ParseCause", "ParseError", "parse"]


class ParseCause(Enum):
    """Why a frame is refused; the value says what would be right. The first fault from the front counts."""

    TOO_SHORT = "all bytes of each header that the one before announces"
    ETHERTYPE = "IPv6 or IPv4"
    IP_VERSION = "the version that the EtherType or next header announces"
    IPV4_OPTIONS = "an IPv4 header of 20 bytes"
    IPV4_CHECKSUM = "a correct IPv4 header checksum"
    FRAGMENT = "a whole packet, not a fragment"
    SRH = "routing type 4, last entry within the length, segments left at most last entry + 1, IPv6 behind it"
    NEXT_HEADER = "UDP, or in an outer IPv6 header IPv6 or an SRH"
    UDP_PORT = "a UDP destination port of MRC"
    BTH_VERSION = "BTH transport version 0"
    OPCODE = "an MRC opcode"
    IP_LENGTH = "an IP length within the frame, and an inner one that fills the outer one"
    UDP_LENGTH = "a UDP length that fills the IP packet"
    BODY_LENGTH = "the headers that the opcode announces, a payload padded to 4 bytes in writes only, and the ICRC"
    ICRC = "a correct ICRC"
    ECN = "no CE mark on the outer header of a packet that is not ECN-capable"


@dataclass(frozen=True, slots=True)
class ParseError:
    """A frame that is not MRC, or is damaged: the cause, and the byte offset of the header in which it shows."""

    cause: ParseCause
    offset: int

    def __str__(self) -> str:
        return f"frame refused at byte {self.offset} ({self.cause.name}): expected {self.cause.value}"


_IP6 = Struct(">IHBB")
_IP4 = Struct(">BBHHHBB")
_SRH = Struct(">BBBBB")
_UDP = Struct(">HHH")
_BTH = Struct(">QI")  # opcode to destination QP, flags and PSN
_ICRC = Struct("<I")

_L3 = spec.ETHERNET.size
_IPV6 = spec.IPV6.size
_IPV4 = spec.IPV4.size
_L3_END = _L3 + _IPV6
_SRH_SIZE = spec.SRH.size
_UDP_SIZE = spec.UDP.size
_TRANSPORT = spec.UDP.size + spec.BTH.size
_TSETH = spec.TSETH.size
_ADDRESSES_6 = spec.IPV6.size - spec.IPV6.bit_offset("src") // 8
_ADDRESSES_4 = spec.IPV4.size - spec.IPV4.bit_offset("src") // 8
_ICRC_SIZE = spec.ICRC_BYTES
_SEGMENT_UNITS = spec.SEGMENT.size // 8

# Shifts within the words that the structures above read.
_VERSION = spec.IPV6.shift("version", 0, 32)
_DSCP = spec.IPV6.shift("dscp", 0, 32)
_ECN = spec.IPV6.shift("ecn", 0, 32)
_FLOW_LABEL = (1 << _ECN) - 1
_TOS_DSCP = spec.IPV4.shift("dscp", 8, 8)
_FRAGMENT = 0xFFFF >> 16 - 1 - spec.IPV4.shift("more_fragments", 48, 16)
_OPCODE = spec.BTH.shift("opcode", 0, 64)
_PAD = spec.BTH.shift("pad_count", 0, 64)
_P_KEY = spec.BTH.shift("p_key", 0, 64)
_BTH_VERSION = spec.BTH.shift("version", 0, 64)
_FLAGS = spec.BTH.shift("reserved_invariant", 64, 32)
_TS = 1 << spec.BTH.shift("ts", 64, 32)
_PROMPT = 1 << spec.BTH.shift("ack_req", 64, 32) | 1 << spec.BTH.shift("rtx", 64, 32)
_QPN = (1 << spec.QPN_BITS) - 1
_PSN = (1 << spec.PSN_BITS) - 1

# Plain integers: comparing with a member of an enumeration costs more than all the rest of a step.
_TYPE_IPV6 = int(Ethertype.IPV6)
_TYPE_IPV4 = int(Ethertype.IPV4)
_NEXT_IPV6 = int(NextHeader.IPV6)
_NEXT_UDP = int(NextHeader.UDP)
_NEXT_ROUTING = int(NextHeader.ROUTING)

# Bytes between BTH and payload by opcode, without TSETH; negative for an opcode that MRC does not have.
_BODY = [-1] * 256
for _opcode, _headers in spec.EXTENSIONS.items():
    _BODY[_opcode] = sum(header.size for header in _headers if header is not spec.TSETH)
_IS_WRITE = [opcode in spec.DATA_OPCODES for opcode in range(256)]


def parse(data: bytes, options: WireOptions = DEFAULT_OPTIONS, *, check_icrc: bool = True) -> Frame | ParseError:
    """Parse one frame. Never raises, whatever the bytes.

    With ``check_icrc=False`` a wrong ICRC passes, for tools that look at damaged frames.
    """
    size = len(data)
    if size < _L3:
        return ParseError(ParseCause.TOO_SHORT, 0)
    ethertype = data[12] << 8 | data[13]
    outer_ecn = -1
    if ethertype == _TYPE_IPV6:
        if size < _L3_END:
            return ParseError(ParseCause.TOO_SHORT, _L3)
        word, length, following, _ = _IP6.unpack_from(data, _L3)
        if word >> _VERSION != spec.IP_VERSION_6:
            return ParseError(ParseCause.IP_VERSION, _L3)
        dscp = word >> _DSCP & 0x3F
        ecn = word >> _ECN & 3
        end = _L3_END + length
        udp = ip = _L3_END
        if following == _NEXT_ROUTING:
            if size < ip + _SRH_SIZE:
                return ParseError(ParseCause.TOO_SHORT, ip)
            following, units, kind, left, last = _SRH.unpack_from(data, ip)
            if (
                kind != spec.ROUTING_TYPE_SRH
                or (last + 1) * _SEGMENT_UNITS > units
                or left > last + 1
                or following != _NEXT_IPV6
            ):
                return ParseError(ParseCause.SRH, ip)
            ip += _SRH_SIZE + 8 * units
        if following == _NEXT_IPV6:
            udp = ip + _IPV6
            if size < udp:
                return ParseError(ParseCause.TOO_SHORT, ip)
            word, inner_length, following, _ = _IP6.unpack_from(data, ip)
            if word >> _VERSION != spec.IP_VERSION_6:
                return ParseError(ParseCause.IP_VERSION, ip)
            outer_ecn = ecn
            ecn = word >> _ECN & 3
            inner_end = udp + inner_length
        else:
            ip = _L3
            inner_end = end
        if following != _NEXT_UDP:
            return ParseError(ParseCause.NEXT_HEADER, ip)
        flow_label = word & _FLOW_LABEL
    elif ethertype == _TYPE_IPV4:
        ip = _L3
        udp = ip + _IPV4
        if size < udp:
            return ParseError(ParseCause.TOO_SHORT, ip)
        first, tos, length, _, fragment, _, following = _IP4.unpack_from(data, ip)
        if first >> 4 != spec.IP_VERSION_4:
            return ParseError(ParseCause.IP_VERSION, ip)
        if first & 15 != spec.IPV4_IHL_WORDS:
            return ParseError(ParseCause.IPV4_OPTIONS, ip)
        if internet_checksum(data[ip:udp]):
            return ParseError(ParseCause.IPV4_CHECKSUM, ip)
        if fragment & _FRAGMENT:
            return ParseError(ParseCause.FRAGMENT, ip)
        if following != _NEXT_UDP:
            return ParseError(ParseCause.NEXT_HEADER, ip)
        dscp = tos >> _TOS_DSCP
        ecn = tos & 3
        inner_end = end = ip + length
        flow_label = -1
    else:
        return ParseError(ParseCause.ETHERTYPE, 0)

    body = udp + _TRANSPORT
    if size < body:
        return ParseError(ParseCause.TOO_SHORT, udp if size < udp + _UDP_SIZE else udp + _UDP_SIZE)
    src_port, dst_port, udp_length = _UDP.unpack_from(data, udp)
    if dst_port not in options.accepted_udp_ports:
        return ParseError(ParseCause.UDP_PORT, udp)
    head, flags_psn = _BTH.unpack_from(data, udp + _UDP_SIZE)
    if head >> _BTH_VERSION & 15 != spec.BTH_TRANSPORT_VERSION:
        return ParseError(ParseCause.BTH_VERSION, udp + _UDP_SIZE)
    opcode = head >> _OPCODE
    body_size = _BODY[opcode]
    if body_size < 0:
        return ParseError(ParseCause.OPCODE, udp + _UDP_SIZE)

    is_write = _IS_WRITE[opcode]
    trim_reason = options.dscp.trim_reasons.get(dscp) if is_write else None
    if trim_reason is not None:
        payload_start = payload_end = end = size
    else:
        if end > size or inner_end != end:
            return ParseError(ParseCause.IP_LENGTH, _L3 if end > size else ip)
        if udp + udp_length != end:
            return ParseError(ParseCause.UDP_LENGTH, udp)
        payload_start = body + body_size
        if is_write and flags_psn & _TS:
            payload_start += _TSETH
        padded = end - _ICRC_SIZE - payload_start
        pad = head >> _PAD & 3
        if padded & 3 or padded < pad or (padded and not is_write):
            return ParseError(ParseCause.BODY_LENGTH, body)
        payload_end = payload_start + padded - pad
        if check_icrc:
            tail = end - _ICRC_SIZE
            if icrc_of(data[ip:body], memoryview(data)[body:tail]) != _ICRC.unpack_from(data, tail)[0]:
                return ParseError(ParseCause.ICRC, tail)
    if outer_ecn >= 0:
        combined = combine_ecn(ecn, outer_ecn)
        if combined is None:
            return ParseError(ParseCause.ECN, _L3)
        ecn = combined

    frame = Frame.__new__(Frame)
    frame.data = data
    frame.addresses = data[udp - (_ADDRESSES_6 if flow_label >= 0 else _ADDRESSES_4) : udp]
    frame.udp_length = udp_length
    frame.opcode = opcode
    frame.p_key = head >> _P_KEY & 0xFFFF
    frame.dest_qp = head & _QPN
    frame.psn = flags_psn & _PSN
    frame.ev = join_ev(flow_label, src_port, options) if flow_label >= 0 else src_port
    frame.dscp = dscp
    frame.ecn = ecn
    frame.trim_reason = trim_reason
    frame.payload_start = payload_start
    frame.payload_end = payload_end
    frame.end = end
    frame.prompt = flags_psn & _PROMPT
    frame._flags = flags_psn >> _FLAGS
    frame._ip = ip
    frame._udp = udp
    frame._options = options
    return frame
