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
_RESIDUE = crc32(crc32(b"").to_bytes(spec.ICRC_BYTES, "little"))
"""The CRC of anything that ends with its own CRC."""
_PROMPT = 1 << spec.BTH.shift("ack_req", 64, 32) | 1 << spec.BTH.shift("rtx", 64, 32)
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

    __slots__ = ("_of_front", "crc", "head", "head_crc", "known", "size", "ts")

    known: tuple[int, int, int, int, int, bytes, int, int, int, int, int, None, int, int, WireOptions]
    """All that a frame with this front and head is known to be, in the order in which `FlowParser.parse` takes it."""

    def __init__(self, frame: Frame) -> None:
        self.size = frame.end
        self.crc = icrc_of_front(frame.data[_INNER:_FRONT])
        self.head = self.ts = -1
        self._of_front = (
            frame.addresses,
            frame.udp_length,
            frame.ev,
            frame.dscp,
            frame.ecn,
            frame.end,
            None,
            _INNER,
            _UDP,
            frame._options,
        )

    def decode(self, head: int, ts: int) -> bool:
        """Take the first eight bytes of a BTH and its ts bit; False, and no change, when `parse` is to judge them."""
        opcode = head >> _OPCODE
        start = _START[opcode]
        if ts:
            start += _TSETH[opcode]
        tail = self.size - spec.ICRC_BYTES
        padded, pad = tail - start, head >> _PAD & 3
        # Only writes have a payload, and only theirs is padded.
        if head & _VERSION or start < _BODY or padded < pad or padded & 3 or (padded and not _TSETH[opcode]):
            return False
        self.head, self.ts = head, ts
        self.head_crc = crc32((head | MASKED_BTH).to_bytes(8, "big"), self.crc)
        self.known = (opcode, head >> _P_KEY & 0xFFFF, head & _QPN, start, tail - pad, *self._of_front)
        return True


_new_frame = Frame.__new__


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
        if crc32(memoryview(data)[_REST:], flow.head_crc) != _RESIDUE:
            return parse(data, self.options)
        frame = _new_frame(Frame)
        frame.data = data
        frame.psn = flags_psn & _PSN
        frame.prompt = flags_psn & _PROMPT
        frame._flags = flags_psn >> _FLAGS
        (
            frame.opcode,
            frame.p_key,
            frame.dest_qp,
            frame.payload_start,
            frame.payload_end,
            frame.addresses,
            frame.udp_length,
            frame.ev,
            frame.dscp,
            frame.ecn,
            frame.end,
            frame.trim_reason,
            frame._ip,
            frame._udp,
            frame._options,
        ) = flow.known
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
