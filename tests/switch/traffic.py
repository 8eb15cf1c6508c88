"""Random table entries and random frames that meet: addresses of one small pool, headers that are mostly right."""

from __future__ import annotations

import random
from collections.abc import Iterator
from socket import IPPROTO_ICMPV6, IPPROTO_IPV6, IPPROTO_NONE, IPPROTO_ROUTING, IPPROTO_UDP

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
from tests.switch.row import neighbour_mac, own_mac

__all__ = ["random_entries", "random_frame"]

PORTS = 6
BLOCKS = (0xFC00_0000, 0xFC00_0000, 0xFC00_0000, 0xFC00_0001)
USIDS = (0x0101, 0x0102, 0x0205, 0x4000, 0x8001, 0xE001, 0xE002)
HOPS = (0, 1, 2, 3, 64, 64, 64, 255)
MARTIANS = (0, 1, 0xFE80 << 112 | 1, 0xFF02 << 112 | 1)
DSCPS = (0, 4, 4, 8, 12, 16, 46, 63)
ICMP_TYPES = (1, 3, 127, 128, 128, 129, 137)
ACTIONS = ("uN", "uN", "uN", "uA", "uA_node", "uDT6", "End", "End_X", "loopback")
# With empty queues a limit of 0 is always reached, and so is a threshold of 0; the defaults never are.
QUEUES = (
    QueueSettings(),
    QueueSettings(data_limit=0),
    QueueSettings(data_limit=0, trim_bytes=None),
    QueueSettings(data_limit=0, high_limit=0),
    QueueSettings(ecn_low=0, ecn_high=0),
    QueueSettings(ecn=False, ecn_low=0, ecn_high=0),
)


def random_entries(rng: random.Random) -> list[TableEntry]:
    """A table of everything: ports mostly up, up to 10 SIDs of all kinds, up to 12 routes of all lengths, queues that
    trim, drop and mark, some of the reasons that the controller takes."""
    entries: list[TableEntry] = []
    for port in range(PORTS):
        entries += (entry for entry in port_entries(port, up=True) if rng.random() < 0.95)
        if rng.random() < 0.95:
            entries.append(neighbour_entry(port, own_mac(port), neighbour_mac(port)))
        if rng.random() < 0.7:
            entries.append(queue_entry(port, rng.choice(QUEUES), last_hop=rng.random() < 0.3))
    entries += (entry for entry in class_entries() if rng.random() < 0.9)
    entries += (entry for entry in punt_entries() if rng.random() < 0.7)
    prefixes = dict.fromkeys(_prefix(rng) for _ in range(22))
    for number, prefix in enumerate(prefixes):
        if number < 10:
            entries += _sid(rng, prefix)
        else:
            entries.append(route_entry(prefix, rng.randrange(PORTS) if rng.random() < 0.9 else None))
    return entries


def random_frame(rng: random.Random) -> tuple[int, bytes]:
    """Port, and a frame from noise to a perfect one, 1 byte long at least."""
    port = rng.randrange(PORTS)
    kind = rng.random()
    if kind < 0.05:
        return port, rng.randbytes(rng.randint(1, 200))
    ethernet = rng.randbytes(12) + (b"\x86\xdd" if rng.random() < 0.98 else rng.randbytes(2))
    if kind < 0.1:
        return port, ethernet + bytes([0x60]) + rng.randbytes(rng.randint(0, 200))
    frame = bytearray(ethernet + _packet(rng))
    if rng.random() < 0.1:
        del frame[rng.randint(1, len(frame)) :]
    if rng.random() < 0.1:
        frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.1:
        frame += rng.randbytes(rng.randint(1, 40))
    return port, bytes(frame)


def _sid(rng: random.Random, prefix: tuple[int, int]) -> Iterator[TableEntry]:
    action = rng.choice(ACTIONS)
    params = {name: rng.randrange(PORTS if name == "port" else 2) for name in SID_PARAMS[action]}
    return sid_entries(prefix, action, params)


def _prefix(rng: random.Random) -> tuple[int, int]:
    length = rng.choice((32, 48, 48, 48, 48, 64, 64, 96, 128)) if rng.random() < 0.98 else 0
    return _address(rng) >> 128 - length << 128 - length, length


def _address(rng: random.Random) -> int:
    if rng.random() < 0.02:
        return rng.choice(MARTIANS)
    usids = [rng.choice(USIDS) for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.1:
        usids[rng.randrange(len(usids))] = 0
    value = rng.choice(BLOCKS)
    for usid in usids:
        value = value << 16 | usid
    return value << 16 * (6 - len(usids))


def _packet(rng: random.Random) -> bytes:
    payload = rng.randbytes(rng.choice((0, 1, 8, 40, 40, 90, 400)))
    next_header = rng.choice((IPPROTO_UDP, IPPROTO_UDP, IPPROTO_ICMPV6, IPPROTO_IPV6, IPPROTO_ROUTING, IPPROTO_NONE))
    if next_header == IPPROTO_ICMPV6 and payload:
        payload = bytes([rng.choice(ICMP_TYPES)]) + payload[1:]
    if rng.random() < 0.6:
        payload = _ipv6(rng, next_header, payload)
        next_header = IPPROTO_IPV6
    if rng.random() < 0.4:
        payload = _routing(rng, next_header) + payload
        next_header = IPPROTO_ROUTING
    return _ipv6(rng, next_header, payload)


def _ipv6(rng: random.Random, next_header: int, payload: bytes) -> bytes:
    length = len(payload)
    if rng.random() < 0.05:
        length = max(0, length + rng.choice((-1, 1, 40)))
    version = 6 if rng.random() < 0.98 else rng.randrange(16)
    traffic_class = rng.choice(DSCPS) << 2 | rng.randrange(4)
    first = (version << 28 | traffic_class << 20 | rng.getrandbits(20)).to_bytes(4, "big")
    middle = length.to_bytes(2, "big") + bytes([next_header, rng.choice(HOPS)])
    source = rng.choice(MARTIANS) if rng.random() < 0.02 else rng.getrandbits(120) | 0xFC << 120
    return first + middle + source.to_bytes(16, "big") + _address(rng).to_bytes(16, "big") + payload


def _routing(rng: random.Random, next_header: int) -> bytes:
    segments = rng.randint(0, 5)
    tail = bytes(8) if rng.random() < 0.2 else b""
    left = rng.randint(0, segments + 1)
    last = segments - 1 if segments and rng.random() < 0.9 else rng.randrange(6)
    kind = 4 if rng.random() < 0.95 else rng.randrange(8)
    units = 2 * segments + len(tail) // 8
    if rng.random() < 0.03:
        units = rng.randrange(256)
    body = b"".join(_address(rng).to_bytes(16, "big") for _ in range(segments))
    return bytes([next_header, units, kind, left, last]) + rng.randbytes(3) + body + tail
