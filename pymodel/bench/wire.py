"""`wire.pack`, `wire.unpack`, `wire.icrc`: frames a second, for a data packet with 4096 bytes of payload (4,238 bytes).

scapy does the same work in the same run, with the project's layers on top of it; for the ICRC the peer is the bare
CRC-32 of zlib over the same bytes, which no Python code can beat. That scapy's result is ours is checked first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any
from zlib import crc32

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet as ScapyPacket

from pymodel.base.errors import InputError
from pymodel.bench.figure import Figure, Outcome, Step, medians
from pymodel.bench.traffic import LONG, Packet, packets
from pymodel.wire import ParseError, parse
from pymodel.wire.headers import Ethernet, Ipv6
from pymodel.wire.icrc import icrc as compute_icrc
from pymodel.wire.scapy_layers import MrcBth
from pymodel.wire.spec import ICRC_BYTES

__all__ = ["icrc", "pack", "unpack"]

ROUNDS = 7
COUNT = 5_000
PEER_COUNT = 100
"""Frames in a round of ours, and of scapy, which takes longer for each."""

_SCAPY = f"scapy {version('scapy')}"
_ICRC_FROM = Ethernet.SIZE + Ipv6.SIZE
"""Bytes in front of the inner IPv6 header, where the ICRC's cover begins."""


def pack(step: Step, count: int = COUNT, peer_count: int = PEER_COUNT, rounds: int = ROUNDS) -> Outcome:
    """`wire.pack`: from numbers and a payload to a frame with its ICRC."""
    some = packets(LONG, peer_count)
    layers = []
    for packet in some:
        frame = packet.frame()
        layers.append(_layers(frame))
        if _scapy_pack(layers[-1]) != frame:
            raise InputError("wire.pack", "other bytes from scapy than from us", "the same")
    ours, theirs = _rate(Packet.frame, some, count), _rate(_scapy_pack, layers, peer_count)
    return _contest("wire.pack", ours, _SCAPY, theirs, rounds, step)


def unpack(step: Step, count: int = COUNT, peer_count: int = PEER_COUNT, rounds: int = ROUNDS) -> Outcome:
    """`wire.unpack`: from a frame to what a responder takes out of it, its ICRC checked."""
    some = packets(LONG, peer_count)
    made = [packet.frame() for packet in some]
    for packet, frame in zip(some, made, strict=True):
        scapy = Ether(frame)
        if _unpack(frame) != (packet.psn, packet.payload) or scapy[MrcBth].psn != packet.psn:
            raise InputError("wire.unpack", "another packet than was packed", "the same")
    ours, theirs = _rate(_unpack, made, count), _rate(Ether, made, peer_count)
    return _contest("wire.unpack", ours, _SCAPY, theirs, rounds, step)


def icrc(step: Step, count: int = COUNT, rounds: int = ROUNDS) -> Outcome:
    """`wire.icrc`: the ICRC of a packet."""
    covered = [packet.frame()[_ICRC_FROM:-ICRC_BYTES] for packet in packets(LONG, PEER_COUNT)]
    ours, theirs = _rate(compute_icrc, covered, count), _rate(crc32, covered, count)
    return _contest("wire.icrc", ours, "zlib.crc32", theirs, rounds, step)


def _contest(
    name: str, ours: Callable[[], float], peer: str, theirs: Callable[[], float], rounds: int, step: Step
) -> Outcome:
    value, peer_value = medians([ours, theirs], rounds, step)
    return Outcome([Figure(name, value, "frames/s", peer, peer_value)])


def _rate(work: Callable[[Any], object], items: Sequence[Any], count: int) -> Callable[[], float]:
    """A contestant that does `work` on `count` of `items`, over and over, and returns how many a second."""
    todo = [items[number % len(items)] for number in range(count)]

    def run() -> float:
        began = time.thread_time()
        for item in todo:
            work(item)
        return count / (time.thread_time() - began)

    return run


def _unpack(frame: bytes) -> tuple[int, bytes]:
    parsed = parse(frame)
    if isinstance(parsed, ParseError):
        raise InputError("wire.unpack", str(parsed), "a frame")
    parsed.write_fields()
    return parsed.psn, parsed.payload


_Layer = tuple[type[ScapyPacket], dict[str, Any]]


def _layers(frame: bytes) -> list[_Layer]:
    """The layers of `frame` for scapy, with what has to be computed left out: lengths, pad, ICRC."""
    found: list[_Layer] = []
    layer: Any = Ether(frame)
    while layer:
        computed: dict[type, tuple[str, ...]] = {
            Ether: ("type",),
            IPv6: ("plen", "nh"),
            UDP: ("len",),
            MrcBth: ("pad_count", "icrc"),
        }
        left_out = computed.get(type(layer), ())
        found.append((type(layer), {name: value for name, value in layer.fields.items() if name not in left_out}))
        layer = layer.payload
    return found


def _scapy_pack(layers: Sequence[_Layer]) -> bytes:
    packet: Any = None
    for kind, fields in layers:
        packet = kind(**fields) if packet is None else packet / kind(**fields)
    return bytes(packet)
