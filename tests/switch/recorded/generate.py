"""The random tables and frames that BMv2's answers are recorded for: numbered, and the same on every machine.

A table and its frames follow from their number alone, so a few of them can be run without the rest. Draws are made of
`Random.getrandbits` alone, which no Python version changes. Every frame meets empty queues and no meter is set, so that
nothing depends on time, depth or colour; `random()` is drawn, but cannot matter then (docs/switch.md).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from socket import IPPROTO_ICMPV6, IPPROTO_IPV6, IPPROTO_NONE, IPPROTO_ROUTING, IPPROTO_UDP
from typing import TypeVar

from pymodel.paths.tables import (
    SID_PARAMS,
    QueueSettings,
    TableEntry,
    class_entries,
    neighbour_entry,
    port_entries,
    punt_entries,
    queue_entry,
    route_entry,
    sid_entries,
)
from pymodel.wire.spec import CPU_PORT, DEFAULT_OPTIONS
from tests.switch.row import neighbour_mac, own_mac

__all__ = ["FRAMES_PER_TABLE", "TABLES", "Workload", "inputs_hash", "workload"]

TABLES = 50
FRAMES_PER_TABLE = 400

_SEED = 0x4D52_0001
_PORTS = range(6)
_STRANGE_PORT = 9  # nothing is known about it
_BLOCKS = (0xFC00_0000, 0xFC00_0000, 0xFC00_0000, 0xFC00_0001)
_USIDS = (0x0101, 0x0102, 0x0205, 0x4000, 0x8001, 0xE001, 0xE002)
_HOPS = (0, 1, 1, 2, 3, *(64,) * 10, 255)
_MARTIANS = (0, 1, 0xFE80 << 112 | 1, 0xFEBF << 112 | 2, 0xFF02 << 112 | 1)
_SOURCES = tuple(0xFC00_0000_0001_8000 << 64 | number << 8 for number in range(4))
_DSCPS = (*(value for _, value in DEFAULT_OPTIONS.dscp.items()), 0, 63)
_ICMP_TYPES = (128, 128, 129, 1, 3, 127, 137)
_LIMITS = (0, 0, 1, 150_000, (1 << 31) - 1)
_THRESHOLDS = ((0, 0), (0, 0), (0, 1), (0, 1000), (1, 1), (30_000, 120_000))
_TRIM_BYTES = (None, None, 122, 144, 144, 200, 1000)

_FREQUENT = ("uN", "uN", "uA", "uA_node", "End", "End_X")

_T = TypeVar("_T")
_Prefix = tuple[int, int]


class _Dice:
    """Draws; all of them are whole numbers of random bits."""

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed).getrandbits

    def below(self, bound: int) -> int:
        """0 to `bound` - 1; so many bits are drawn that the bias does not matter."""
        return self._bits(32) * bound >> 32

    def pick(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def percent(self, chance: int) -> bool:
        return self.below(100) < chance

    def octets(self, count: int) -> bytes:
        return self._bits(8 * count).to_bytes(count, "big") if count else b""


@dataclass(frozen=True, slots=True)
class Workload:
    """One random table, and the frames that meet it: port and bytes. `number` is the table's."""

    number: int
    entries: tuple[TableEntry, ...]
    frames: tuple[tuple[int, bytes], ...]


def workload(number: int) -> Workload:
    """Table `number`, 0 to TABLES - 1, with its frames."""
    dice = _Dice(_SEED + number)
    prefixes = list(dict.fromkeys(_prefix(dice) for _ in range(26)))
    entries = tuple(_entries(dice, prefixes))
    first = number * FRAMES_PER_TABLE
    frames = tuple(_Frame(dice, prefixes).made(first + place) for place in range(FRAMES_PER_TABLE))
    return Workload(number, entries, frames)


def inputs_hash() -> str:
    """SHA-256 of all tables and frames."""
    digest = hashlib.sha256()
    for number in range(TABLES):
        made = workload(number)
        for entry in made.entries:
            parts = (entry.table, entry.action, sorted(entry.match.items()), sorted(entry.params.items()))
            digest.update(repr(parts).encode())
        for port, frame in made.frames:
            digest.update(f"{port} {frame.hex()}\n".encode())
    return digest.hexdigest()


# --- entries ---


def _entries(dice: _Dice, prefixes: Sequence[_Prefix]) -> Iterator[TableEntry]:
    """Each table and key once: the first that asks for it has it."""
    found: dict[tuple[object, ...], TableEntry] = {}
    for entry in _wishes(dice, prefixes):
        found.setdefault((entry.table, *sorted(entry.match.items())), entry)
    return iter(found.values())


def _wishes(dice: _Dice, prefixes: Sequence[_Prefix]) -> Iterator[TableEntry]:
    for port in _PORTS:
        # The two directions of a port by themselves, as no controller would have it.
        for entry in port_entries(port, up=not dice.percent(2)):
            if not dice.percent(2):
                yield entry
        if not dice.percent(5):
            yield neighbour_entry(port, own_mac(port), neighbour_mac(port))
        if dice.percent(70):
            yield _queues(dice, port)
    yield from port_entries(CPU_PORT, up=True)
    yield from (entry for entry in class_entries() if not dice.percent(10))
    yield from (entry for entry in punt_entries() if not dice.percent(25))
    for prefix in prefixes[:12]:
        action = dice.pick((*SID_PARAMS, *_FREQUENT))
        params = {name: dice.below(2) for name in SID_PARAMS[action]}
        if "port" in params:
            params["port"] = dice.pick(_PORTS) if not dice.percent(5) else _STRANGE_PORT
        yield from (entry for entry in sid_entries(prefix, action, params) if not dice.percent(5))
    for prefix in prefixes[8:]:
        port = dice.pick(_PORTS) if not dice.percent(3) else _STRANGE_PORT
        yield route_entry(prefix, None if dice.percent(8) else port)


def _queues(dice: _Dice, port: int) -> TableEntry:
    low, high = dice.pick(_THRESHOLDS)
    settings = QueueSettings(
        data_limit=dice.pick(_LIMITS),
        high_limit=dice.pick((*_LIMITS, *_LIMITS[1:], *_LIMITS[1:])),
        ecn=dice.percent(70),
        ecn_low=low,
        ecn_high=high,
        trim_bytes=dice.pick(_TRIM_BYTES),
    )
    return queue_entry(port, settings, last_hop=dice.percent(30))


def _prefix(dice: _Dice) -> _Prefix:
    if dice.percent(1):
        return 0, 0
    length = dice.pick((32, 48, 48, 48, 48, 48, 48, 64, 64, 96, 127, 128))
    return _address(dice, ()) >> 128 - length << 128 - length, length


def _address(dice: _Dice, prefixes: Sequence[_Prefix]) -> int:
    """An address of the pool; with `prefixes`, mostly one below a prefix, often with little behind it."""
    if dice.percent(1):
        return dice.pick(_MARTIANS)
    value = dice.pick(_BLOCKS)
    for place in range(6):
        usid = dice.pick(_USIDS) if place < 1 + dice.below(6) else 0
        value = value << 16 | usid
    if prefixes and not dice.percent(15):
        address, length = dice.pick(prefixes)
        behind = value & (1 << 128 - length) - 1
        value = address | (0 if dice.percent(25) else behind)
    return value


# --- frames ---


class _Frame:
    """From noise to a perfect packet, mostly near the latter. Payloads are a pattern, so that answers compress well."""

    def __init__(self, dice: _Dice, prefixes: Sequence[_Prefix]) -> None:
        self._dice = dice
        self._prefixes = prefixes

    def made(self, number: int) -> tuple[int, bytes]:
        """Port and frame. The source MAC is the frame's number, by which a packet-in is told."""
        dice = self._dice
        if dice.percent(2):
            return dice.pick(_PORTS), dice.octets(1 + dice.below(60))
        ethertype = b"\x86\xdd" if not dice.percent(2) else dice.pick((b"\x08\x00", b"\x81\x00", b"\x08\x06"))
        ethernet = b"\x02\x00\x00\x00\x01\x00" + (0x0200 << 32 | number).to_bytes(6, "big") + ethertype
        frame = bytearray(self._packet() if not dice.percent(2) else b"\x60" + dice.octets(dice.below(90)))
        if dice.percent(4):
            del frame[dice.below(len(frame)) :]
        if frame and dice.percent(6):
            frame[dice.below(len(frame))] ^= 1 << dice.below(8)
        if dice.percent(8):
            frame += bytes(1 + dice.below(40))
        if dice.percent(4):
            return CPU_PORT, self._packet_out() + ethernet + frame
        return (_STRANGE_PORT if dice.percent(1) else dice.pick(_PORTS)), ethernet + frame

    def _packet_out(self) -> bytes:
        """Egress port, and whether the frame goes through ingress like any other."""
        dice = self._dice
        port = dice.pick(_PORTS) if not dice.percent(10) else _STRANGE_PORT
        return (port << 7 | dice.below(2) << 6).to_bytes(2, "big")

    def _packet(self) -> bytes:
        dice = self._dice
        next_header = dice.pick((IPPROTO_UDP, IPPROTO_UDP, IPPROTO_ICMPV6, IPPROTO_NONE))
        payload = self._payload(next_header)
        if dice.percent(60):
            payload = self._ipv6(next_header, payload)
            next_header = IPPROTO_IPV6
            if dice.percent(5):
                payload = self._ipv6(next_header, payload)
        if dice.percent(45):
            payload = self._routing(next_header) + payload
            next_header = IPPROTO_ROUTING
        return self._ipv6(next_header, payload)

    def _payload(self, next_header: int) -> bytes:
        dice = self._dice
        size = dice.pick((0, 8, 9, 40, 80, 160))
        if next_header == IPPROTO_ICMPV6:
            return bytes([dice.pick(_ICMP_TYPES), 0, 0xBE, 0xEF, 0, 1, 0, 1]) + bytes(range(size))
        return bytes(range(size))

    def _ipv6(self, next_header: int, payload: bytes) -> bytes:
        dice = self._dice
        length = len(payload)
        if dice.percent(4):
            length = max(0, length + dice.pick((-41, -8, -1, 1, 40)))
        version = 6 if not dice.percent(1) else dice.below(16)
        traffic_class = dice.pick(_DSCPS) << 2 | dice.below(4)
        first = (version << 28 | traffic_class << 20 | dice.below(4)).to_bytes(4, "big")
        middle = length.to_bytes(2, "big") + bytes([next_header, dice.pick(_HOPS)])
        source = dice.pick(_SOURCES) if not dice.percent(1) else dice.pick(_MARTIANS)
        destination = _address(dice, self._prefixes)
        return first + middle + source.to_bytes(16, "big") + destination.to_bytes(16, "big") + payload

    def _routing(self, next_header: int) -> bytes:
        dice = self._dice
        segments = dice.pick((0, 1, 1, 1, 2, 2, 3, 4, 4, 5))
        tail = bytes([4, 6, *bytes(6)]) if dice.percent(15) else b""
        left = dice.below(segments + 1) if not dice.percent(10) else segments + 1
        last = segments - 1 if segments and not dice.percent(8) else dice.below(6)
        kind = 4 if not dice.percent(8) else dice.below(8)
        units = 2 * segments + len(tail) // 8
        if dice.percent(2):
            units = dice.below(256)
        body = b"".join(_address(dice, self._prefixes).to_bytes(16, "big") for _ in range(segments))
        return bytes([next_header, units, kind, left, last, 0, 0xBE, 0xEF]) + body + tail
