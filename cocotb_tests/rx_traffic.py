"""Frames for the receive port's benches, good and bad, and what the port must make of each.

What must come of a frame is what `pymodel.wire.parse` says. Frames that are meant to fail late have a good ICRC more
often than not, so that it is the check in question that drops them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from pymodel.wire import spec
from pymodel.wire.build import build
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.frame import Frame
from pymodel.wire.headers import (
    Aeth,
    Bth,
    CcState,
    Eeth,
    Erth,
    Ethernet,
    Immdt,
    Ipv4,
    Ipv6,
    Meth,
    Neth,
    Peth,
    Reth,
    Seth,
    Srh,
    Tseth,
    Udp,
)  # fmt: skip
from pymodel.wire.icrc import icrc
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.parser import ParseCause, ParseError, parse
from pymodel.wire.spec import DATA_OPCODES, DEFAULT_OPTIONS, EXTENSIONS, Ecn, NextHeader, Opcode

__all__ = [
    "CAUSES",
    "ETHERNET",
    "MAX_FRAME_BYTES",
    "OVERFLOW",
    "OVERSIZE",
    "Outcome",
    "Traffic",
    "of_length",
    "outcome",
]

MAX_FRAME_BYTES = 9216
CAUSES = [cause.name for cause in ParseCause] + ["OVERSIZE", "OVERFLOW"]
OVERSIZE, OVERFLOW = CAUSES.index("OVERSIZE"), CAUSES.index("OVERFLOW")

ETHERNET = Ethernet(dst=0x02AABBCCDDEE, src=0x020000000001)
_L3 = Ethernet.SIZE
_BODY_BITS = 8 * 36
_OPCODES = list(Opcode)
_WRITES = sorted(DATA_OPCODES)
_KINDS: dict[str, type[PackedHeader]] = {
    kind.SPEC.name: kind for kind in (Meth, Tseth, Reth, Immdt, Aeth, Seth, CcState, Neth, Peth, Erth, Eeth)
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the port must do with a frame: drop it for `cause`, or give `desc` and keep `payload`."""

    cause: int | None
    desc: int = 0
    payload: bytes = b""


def _packed(*fields: tuple[int, int]) -> int:
    value = 0
    for bits, field in fields:
        assert not field >> bits, (bits, field)
        value = value << bits | field
    return value


def _body(frame: Frame) -> tuple[int, int]:
    """The descriptor's body, and whether it has a TSETH."""
    ts = frame.tseth is not None
    if not frame.is_write:
        start = frame.payload_start
        size = sum(header.size for header in EXTENSIONS[Opcode(frame.opcode)])
        return int.from_bytes(frame.data[start - size : start].ljust(_BODY_BITS // 8, b"\0"), "big"), 0
    parts: tuple[PackedHeader | None, ...] = (frame.meth, frame.tseth, frame.reth, frame.immdt)
    if frame.trimmed:
        parts = (None, frame.tseth, None, None)
    packed = b"".join(
        part.pack() if part else bytes(size)
        for part, size in zip(parts, (Meth.SIZE, Tseth.SIZE, Reth.SIZE, Immdt.SIZE), strict=True)
    )
    return int.from_bytes(packed.ljust(_BODY_BITS // 8, b"\0"), "big"), int(ts)


def outcome(data: bytes, options: spec.WireOptions = DEFAULT_OPTIONS) -> Outcome:
    """What the golden model's parser makes of a frame, in the port's words (rx_desc_t)."""
    frame = parse(data, options)
    if isinstance(frame, ParseError):
        return Outcome(CAUSES.index(frame.cause.name))
    if len(data) > MAX_FRAME_BYTES:
        return Outcome(OVERSIZE)
    payload = b"" if frame.trimmed else frame.payload
    body, ts = _body(frame)
    ip, outer = frame.ip, frame.outer
    desc = _packed(
        (1, frame.trimmed), (1, frame.trim_reason == spec.NackReason.TRIMMED_LASTHOP),
        (8, frame.opcode), (2, frame.ecn), (1, frame.ack_req), (1, frame.rtx), (1, ts),
        (16, frame.p_key), (24, frame.dest_qp), (24, frame.psn), (32, frame.ev), (16, frame.udp_length),
        (1, isinstance(ip, Ipv6)), (128, ip.src), (128, ip.dst),
        (1, outer is not None), (128, outer.src if outer else 0), (16, len(payload)), (_BODY_BITS, body),
    )  # fmt: skip
    return Outcome(None, desc, payload)


def _outer(rng: random.Random, inner: bytes, dscp: int, ecn: int, srh_units: int | None) -> bytes:
    """An outer IPv6 header for `inner`, with an SRH of `srh_units` times 8 bytes behind its first 8, or without one."""
    routing = b""
    if srh_units is not None:
        last = rng.randrange(srh_units // 2)
        srh = Srh(hdr_ext_len=srh_units, last_entry=last, segments_left=rng.randint(0, last + 1))
        routing = srh.pack() + rng.randbytes(8 * srh_units)
    header = Ipv6(
        dscp=dscp, ecn=ecn, flow_label=rng.getrandbits(20), payload_length=len(routing) + len(inner) & 0xFFFF,
        next_header=NextHeader.IPV6 if srh_units is None else NextHeader.ROUTING,
        hop_limit=rng.getrandbits(8), src=rng.getrandbits(128), dst=rng.getrandbits(128),
    )  # fmt: skip
    return header.pack() + routing + inner


class Traffic:
    """Random frames, from one seed."""

    def __init__(self, seed: int, options: spec.WireOptions = DEFAULT_OPTIONS) -> None:
        self.rng = random.Random(seed)
        self.options = options
        marks = [mark for mark in (options.dscp.trimmed, options.dscp.trimmed_lasthop) if mark is not None]
        self.trim_marks = marks
        self.dscps = [dscp for dscp in range(64) if dscp not in marks]
        # What may go wrong, and in which shapes of `good`.
        anywhere = (0, 1, 2, 3)
        self._faults: list[tuple[Callable[[bytearray, int], None], tuple[int, ...]]] = [
            (self._any_byte, anywhere),
            (self._length, anywhere),
            (self._length, anywhere),
            (self._version, anywhere),
            (self._next_header, anywhere),
            (self._udp, anywhere),
            (self._bth, anywhere),
            (self._bth, anywhere),
            (self._icrc, anywhere),
            (self._ethertype, anywhere),
            (self._ecn, (2, 3)),
            (self._srh, (3,)),
            (self._ipv4, (0,)),
            (self._ipv4, (0,)),
        ]

    # ------------------------------------------------ good frames

    def size(self) -> int:
        """Bytes of a payload: mostly few, at times full packets."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.15:
            return 0
        if kind < 0.8:
            return rng.randint(1, 260)
        return rng.choice((1024, 4096, rng.randint(261, 2000), rng.randint(2001, 9000)))

    def good(
        self,
        opcode: int | None = None,
        size: int | None = None,
        dscp: int | None = None,
        shape: int | None = None,
        ts: bool | None = None,
        srh_units: int | None = None,
    ) -> tuple[bytes, int]:
        """A good frame, and where its inner IP header begins.

        `shape` is 0 for IPv4, 1 for IPv6, 2 with an outer header, 3 with an SRH of `srh_units` times 8 bytes too.
        """
        rng = self.rng
        opcode = rng.choice(_WRITES if rng.random() < 0.6 else _OPCODES) if opcode is None else opcode
        shape = rng.choice((0, 1, 2, 2, 3)) if shape is None else shape
        write = opcode in DATA_OPCODES
        # A trim mark means something on a write alone.
        dscp = rng.choice(self.dscps if write else range(64)) if dscp is None else dscp
        ts = rng.random() < 0.7 if ts is None else ts
        bth = Bth(
            opcode=opcode, se=rng.getrandbits(1), m=rng.getrandbits(1), p_key=rng.getrandbits(16),
            reserved_variant=rng.getrandbits(8), dest_qp=rng.getrandbits(24), ack_req=rng.getrandbits(1),
            reserved_r=rng.getrandbits(1), rtx=rng.getrandbits(1), ts=ts, reserved_invariant=rng.getrandbits(4),
            psn=rng.getrandbits(24),
        )  # fmt: skip
        kinds = [_KINDS[header.name] for header in EXTENSIONS[Opcode(opcode)] if ts or header is not spec.TSETH]
        extensions = [kind.unpack(rng.randbytes(kind.SIZE)) for kind in kinds]
        payload = rng.randbytes(self.size() if size is None else size) if write else b""
        inner_dscp = dscp if shape < 2 else rng.getrandbits(6)
        ecn = rng.getrandbits(2)
        ip: Ipv4 | Ipv6
        if shape == 0:
            ip = Ipv4(
                dscp=inner_dscp, ecn=ecn, identification=rng.getrandbits(16), dont_fragment=rng.getrandbits(1),
                ttl=rng.getrandbits(8), src=rng.getrandbits(32), dst=rng.getrandbits(32),
            )  # fmt: skip
        else:
            ip = Ipv6(
                dscp=inner_dscp, ecn=ecn, hop_limit=rng.getrandbits(8), src=rng.getrandbits(128),
                dst=rng.getrandbits(128),
            )  # fmt: skip
        data = build(
            ethernet=ETHERNET, ip=ip, ev=rng.getrandbits(32 if shape else 16), bth=bth, extensions=extensions,
            payload=payload, options=self.options,
        )  # fmt: skip
        if shape < 2:
            return data, _L3
        outer_ecn = rng.choice((ecn, ecn, Ecn.ECT0, Ecn.ECT1, Ecn.CE if ecn else ecn))
        if shape == 3 and srh_units is None:
            srh_units = rng.choice((2, 2, 2, 3, 4, 6, 7, 8, 9, rng.randint(2, 40), rng.randint(2, 255)))
        inner = data[_L3:]
        frame = data[:_L3] + _outer(rng, inner, dscp, outer_ecn, srh_units)
        return frame, len(frame) - len(inner)

    def trimmed(self) -> bytes:
        """A write with a trim mark: whole, cut behind its headers or anywhere, its lengths as they were."""
        rng = self.rng
        data, inner = self.good(opcode=rng.choice(_WRITES), dscp=rng.choice(self.trim_marks))
        kind = rng.random()
        if kind < 0.5:
            return data[: inner + rng.randint(40, 120)]
        return data if kind < 0.8 else data[: rng.randint(1, len(data))]

    # ------------------------------------------------ faults

    def _any_byte(self, data: bytearray, inner: int) -> None:
        at = self.rng.randrange(min(len(data), inner + 100))
        data[at] ^= 1 << self.rng.randrange(8)

    def _add(self, data: bytearray, at: int, amount: int) -> None:
        value = int.from_bytes(data[at : at + 2], "big") + amount
        data[at : at + 2] = (value & 0xFFFF).to_bytes(2, "big")

    def _length(self, data: bytearray, inner: int) -> None:
        """One or several of the lengths, by the same amount, so that a later one may be the first to be wrong."""
        amount = self.rng.choice((-64, -8, -4, -2, -1, 1, 2, 4, 8, 64, self.rng.randint(-5000, 60000)))
        v4 = data[inner] >> 4 == spec.IP_VERSION_4
        which = self.rng.choice(("all", "all", "ip", "udp", "outer", "pad"))
        if which == "pad":
            bth = inner + (Ipv4.SIZE if v4 else Ipv6.SIZE) + Udp.SIZE
            data[bth + 1] ^= self.rng.randint(1, 3) << 4
            return
        if which in ("all", "outer") and inner > _L3:
            self._add(data, _L3 + 4, amount)
        if which in ("all", "ip"):
            self._add(data, inner + (2 if v4 else 4), amount)
            self._fix_checksum(data, inner)
        if which in ("all", "udp"):
            self._add(data, inner + (Ipv4.SIZE if v4 else Ipv6.SIZE) + 4, amount)

    def _fix_checksum(self, data: bytearray, inner: int) -> None:
        if data[inner] >> 4 != spec.IP_VERSION_4 or len(data) < inner + Ipv4.SIZE:
            return
        data[inner + 10 : inner + 12] = bytes(2)
        data[inner + 10 : inner + 12] = internet_checksum(data[inner : inner + Ipv4.SIZE]).to_bytes(2, "big")

    def _version(self, data: bytearray, inner: int) -> None:
        data[self.rng.choice((_L3, inner))] ^= self.rng.randint(1, 15) << 4

    def _next_header(self, data: bytearray, inner: int) -> None:
        at = inner + 9 if inner == _L3 and data[inner] >> 4 == spec.IP_VERSION_4 else self.rng.choice((_L3, inner)) + 6
        data[at] = self.rng.choice((*NextHeader, self.rng.getrandbits(8)))
        self._fix_checksum(data, inner)

    def _ecn(self, data: bytearray, inner: int) -> None:
        for at in (_L3 + 1, inner + 1):
            data[at] = data[at] & 0xCF | self.rng.getrandbits(2) << 4

    def _srh(self, data: bytearray, inner: int) -> None:
        at = _L3 + Ipv6.SIZE
        if inner >= at + Srh.SIZE:
            field = self.rng.randrange(5)
            data[at + field] = (data[at + field] + self.rng.choice((-2, -1, 1, 2, self.rng.getrandbits(8)))) & 0xFF

    def _udp(self, data: bytearray, inner: int) -> None:
        v4 = data[inner] >> 4 == spec.IP_VERSION_4
        at = inner + (Ipv4.SIZE if v4 else Ipv6.SIZE) + 2
        port = self.rng.choice((*self.options.accepted_udp_ports, self.rng.getrandbits(16)))
        data[at : at + 2] = port.to_bytes(2, "big")

    def _bth(self, data: bytearray, inner: int) -> None:
        v4 = data[inner] >> 4 == spec.IP_VERSION_4
        at = inner + (Ipv4.SIZE if v4 else Ipv6.SIZE) + Udp.SIZE
        if self.rng.random() < 0.5:
            data[at] = self.rng.choice((*Opcode, self.rng.getrandbits(8)))
        else:
            data[at + self.rng.choice((1, 8))] ^= 1 << self.rng.randrange(8)

    def _ipv4(self, data: bytearray, inner: int) -> None:
        if data[inner] >> 4 != spec.IP_VERSION_4:
            return
        if self.rng.random() < 0.4:
            data[inner + self.rng.randrange(Ipv4.SIZE)] ^= 1 << self.rng.randrange(8)
            return
        at = self.rng.choice((0, 6, 7))  # length of the header, fragment
        data[inner + at] ^= 1 << self.rng.randrange(4 if at == 0 else 8)
        self._fix_checksum(data, inner)

    def _ethertype(self, data: bytearray, inner: int) -> None:
        data[12:14] = self.rng.choice((*spec.Ethertype, self.rng.getrandbits(16))).to_bytes(2, "big")

    def _icrc(self, data: bytearray, inner: int) -> None:
        data[self.rng.randrange(inner, len(data))] ^= 1 << self.rng.randrange(8)

    def bad(self) -> bytes:
        """A frame with a fault or two, at times behind a right ICRC."""
        rng = self.rng
        fault, shapes = rng.choice(self._faults)
        good, inner = self.good(shape=rng.choice(shapes))
        data = bytearray(good)
        fault(data, inner)
        if rng.random() < 0.2:
            self._any_byte(data, inner)
        # A fault may have made a short packet one of IPv6, whose headers are then not all there to be masked.
        masked = (Ipv6.SIZE if data[inner] >> 4 == spec.IP_VERSION_6 else Ipv4.SIZE) + Udp.SIZE + Bth.SIZE
        if rng.random() < 0.6 and len(data) - inner - spec.ICRC_BYTES >= masked:
            data[-spec.ICRC_BYTES :] = icrc(data[inner : -spec.ICRC_BYTES]).to_bytes(spec.ICRC_BYTES, "little")
        return bytes(data)

    def any(self) -> bytes:
        """The mix of the lock-step: good, trimmed, faulty, cut, padded, random, too long."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.45:
            return self.good()[0]
        if kind < 0.55:
            return self.trimmed()
        if kind < 0.8:
            return self.bad()
        if kind < 0.87:
            data = self.good()[0]
            return data[: rng.randint(1, min(len(data), rng.choice((80, 200, 10_000))))]
        if kind < 0.95:
            return self.good()[0] + rng.randbytes(rng.choice((1, 2, 3, 4, rng.randint(1, 200))))
        if kind < 0.99:
            return rng.randbytes(rng.randint(1, 300))
        data = self.good(size=9000)[0]
        return data.ljust(MAX_FRAME_BYTES + rng.choice((-1, 0, 1, 64, rng.randint(1, 3000))), b"\xa5")

    def mixed(self, count: int) -> list[bytes]:
        """`count` frames of `any`."""
        return [self.any() for _ in range(count)]


_OVERHEAD = (78, 98, 138, 162)  # of a write without TSETH, by shape, ICRC included


def of_length(traffic: Traffic, length: int) -> bytes:
    """A good frame of exactly `length` bytes, from 62 on; shapes in turn, the last up to three bytes link padding."""
    shape = length // 4 % len(_OVERHEAD)
    while length < _OVERHEAD[shape] and shape:
        shape -= 1
    ts = bool(traffic.rng.getrandbits(1)) and length >= _OVERHEAD[shape] + Tseth.SIZE
    room = length - _OVERHEAD[shape] - (Tseth.SIZE if ts else 0)
    if room < 0:
        data = traffic.good(opcode=Opcode.ACKNOWLEDGE, shape=0)[0]
    else:
        size = max(0, room // 4 * 4 - traffic.rng.randrange(4))
        data = traffic.good(
            opcode=Opcode.WRITE_ONLY, size=size, shape=shape, ts=ts, srh_units=2 if shape == 3 else None
        )[0]
    assert length - 3 <= len(data) <= length or room < 0, (length, len(data))
    return data.ljust(length, b"\x5a")
