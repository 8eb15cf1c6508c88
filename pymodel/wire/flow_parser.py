"""The quick way to parse frames that come again and again with the same Ethernet, IPv6, inner IPv6 and UDP headers.

A sender that walks over a set of EVs repeats those 102 bytes for each packet of an EV and a length. What `parse` found
about them is kept; of the next frame that begins so only the BTH is read, and the ICRC goes on from where the kept part
ends. Anything unusual goes to `parse`, so results are equal; a property test holds them to it.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.icrc import FRONT_BYTES, MASKED_BTH, icrc_of_front
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import DEFAULT_OPTIONS, WireOptions

__all__ = ["FlowParser"]

_FLOWS_MAX = 8192
"""Flows kept; with more, all are forgotten and learnt anew."""

_BTH = Struct(">QI")
_ICRC = Struct("<I")
_INNER = spec.ETHERNET.size + spec.IPV6.size
_UDP = _INNER + spec.IPV6.size
_FRONT = _INNER + FRONT_BYTES
_REST = _FRONT + 8  # behind the part of the BTH that has masked bits
_BODY = _FRONT + spec.BTH.size

_OPCODE = spec.BTH.shift("opcode", 0, 64)
_PAD = spec.BTH.shift("pad_count", 0, 64)
_P_KEY = spec.BTH.shift("p_key", 0, 64)
_VERSION = 15 << spec.BTH.shift("version", 0, 64)
_FLAGS = spec.BTH.shift("reserved_invariant", 64, 32)
_TS = 1 << spec.BTH.shift("ts", 64, 32)
_QPN = (1 << spec.QPN_BITS) - 1
_PSN = (1 << spec.PSN_BITS) - 1

# Bytes from the frame's start to the payload by opcode, without TSETH; 0 for an opcode that MRC does not have.
_START = [0] * 256
for _opcode, _headers in spec.EXTENSIONS.items():
    _START[_opcode] = _BODY + sum(header.size for header in _headers if header is not spec.TSETH)
_TSETH = [spec.TSETH.size if opcode in spec.DATA_OPCODES else 0 for opcode in range(256)]


class _Flow:
    """What is known of frames that begin alike and are equally long; and of the last head of a BTH, which the next
    frame mostly has too."""

    __slots__ = (
        "addresses",
        "crc",
        "dest_qp",
        "dscp",
        "ecn",
        "ev",
        "head",
        "head_crc",
        "opcode",
        "p_key",
        "payload_end",
        "payload_start",
        "size",
        "tail",
        "ts",
        "udp_length",
    )

    def __init__(self, frame: Frame) -> None:
        self.size = frame.end
        self.tail = frame.end - spec.ICRC_BYTES
        self.crc = icrc_of_front(frame.data[_INNER:_FRONT])
        self.ev = frame.ev
        self.dscp = frame.dscp
        self.ecn = frame.ecn
        self.addresses = frame.addresses
        self.udp_length = frame.udp_length
        self.head = self.ts = -1

    def decode(self, head: int, ts: int) -> bool:
        """Take the first eight bytes of a BTH and its ts bit; False, and no change, when `parse` is to judge them."""
        opcode = head >> _OPCODE
        start = _START[opcode]
        if ts:
            start += _TSETH[opcode]
        padded, pad = self.tail - start, head >> _PAD & 3
        # Only writes have a payload, and only theirs is padded.
        if head & _VERSION or start < _BODY or padded < pad or padded & 3 or (padded and not _TSETH[opcode]):
            return False
        self.head, self.ts = head, ts
        self.head_crc = crc32((head | MASKED_BTH).to_bytes(8, "big"), self.crc)
        self.opcode, self.p_key, self.dest_qp = opcode, head >> _P_KEY & 0xFFFF, head & _QPN
        self.payload_start, self.payload_end = start, self.tail - pad
        return True


class FlowParser:
    """`parse` with a memory."""

    __slots__ = ("_flows", "options")

    def __init__(self, options: WireOptions = DEFAULT_OPTIONS) -> None:
        self.options = options
        self._flows: dict[bytes, _Flow] = {}

    def __reduce__(self) -> tuple[type[FlowParser], tuple[WireOptions]]:
        """A copy begins without memory."""
        return FlowParser, (self.options,)

    def parse(self, data: bytes) -> Frame | ParseError:
        """Parse one frame. Never raises, whatever the bytes."""
        flow = self._flows.get(data[:_FRONT])
        if flow is None or len(data) != flow.size:
            return self._learn(data)
        head, flags_psn = _BTH.unpack_from(data, _FRONT)
        if (head != flow.head or flags_psn & _TS != flow.ts) and not flow.decode(head, flags_psn & _TS):
            return parse(data, self.options)
        tail = flow.tail
        if crc32(memoryview(data)[_REST:tail], flow.head_crc) != _ICRC.unpack_from(data, tail)[0]:
            return parse(data, self.options)
        frame = Frame.__new__(Frame)
        frame.data = data
        frame.addresses = flow.addresses
        frame.udp_length = flow.udp_length
        frame.opcode = flow.opcode
        frame.p_key = flow.p_key
        frame.dest_qp = flow.dest_qp
        frame.psn = flags_psn & _PSN
        frame.ev = flow.ev
        frame.dscp = flow.dscp
        frame.ecn = flow.ecn
        frame.trim_reason = None
        frame.payload_start = flow.payload_start
        frame.payload_end = flow.payload_end
        frame.end = flow.size
        frame._flags = flags_psn >> _FLAGS
        frame._ip = _INNER
        frame._udp = _UDP
        frame._options = self.options
        return frame

    def _learn(self, data: bytes) -> Frame | ParseError:
        frame = parse(data, self.options)
        if (
            isinstance(frame, Frame)
            and frame._ip == _INNER
            and data[_INNER] >> 4 == spec.IP_VERSION_6
            and frame.end == len(data)
            and frame.dscp not in self.options.dscp.trim_reasons
        ):
            if len(self._flows) >= _FLOWS_MAX:
                self._flows.clear()
            self._flows[data[:_FRONT]] = _Flow(frame)
        return frame
