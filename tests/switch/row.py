"""A test row of the switch: with these entries, this frame on this port gives these frames, or a drop for this cause.

Rows run on every target (`test_rows.py`). Entries are built here from prefixes in text; frames come from `packets.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Network

from pymodel.paths.tables import (
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

__all__ = [
    "PORTS",
    "Punt",
    "Row",
    "entries",
    "neighbour_mac",
    "own_mac",
    "ports",
    "prefix",
    "punts",
    "queues",
    "route",
    "sid",
    "unknown",
]

PORTS = (0, 1, 2, 3)
"""Ports that `ports()` takes up. Port 0 is among them: what nobody decided must not leave through it (P02)."""


@dataclass(frozen=True, slots=True)
class Punt:
    """A packet-in: reason, pointer and frame. The ingress port is that of the row."""

    reason: int
    pointer: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Row:
    """One case. `out` lists every frame that comes out, with its port; `drop` names the counter of the cause; `punt` is
    what the controller gets. `counts` names what the packet counts in besides those of its coming and going.
    """

    name: str
    entries: tuple[TableEntry, ...]
    port: int
    frame: bytes
    out: tuple[tuple[int, bytes], ...] = ()
    drop: str | None = None
    punt: Punt | None = None
    counts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if [bool(self.out), self.drop is not None, self.punt is not None].count(True) != 1:
            raise ValueError(f"row {self.name}: frames come out, or a counter says why not, or the controller has it")


def own_mac(port: int) -> int:
    """MAC of the switch's own `port` in rows."""
    return 0x0200_0000_0100 + port


def neighbour_mac(port: int) -> int:
    """MAC of what is linked to `port` in rows."""
    return 0x0200_0000_0200 + port


def prefix(text: str) -> tuple[int, int]:
    """``"fc00:0:101::/48"`` as address and length."""
    network = IPv6Network(text)
    return int(network.network_address), network.prefixlen


def ports(*numbers: int) -> Iterator[TableEntry]:
    """Ports up, each with a neighbour; PORTS when none are given."""
    for port in numbers or PORTS:
        yield from port_entries(port, up=True)
        yield neighbour_entry(port, own_mac(port), neighbour_mac(port))


def route(text: str, port: int) -> TableEntry:
    """A route to `port`."""
    return route_entry(prefix(text), port)


def unknown(text: str = "fc00::/32") -> TableEntry:
    """The block, whose addresses are unknown uSIDs unless a longer prefix says otherwise."""
    return route_entry(prefix(text), None)


def sid(text: str, action: str, **params: int) -> Iterator[TableEntry]:
    """A SID of the switch; flags that are left out are 0."""
    return sid_entries(prefix(text), action, params)


def punts() -> Iterator[TableEntry]:
    """The controller takes everything that it can answer."""
    return punt_entries()


def queues(port: int, *, last_hop: bool = False, **settings: int | bool | None) -> Iterator[TableEntry]:
    """The classes, and the limits of the queues of `port`."""
    yield from class_entries()
    yield queue_entry(port, QueueSettings(**settings), last_hop=last_hop)  # type: ignore[arg-type]


def entries(*parts: TableEntry | Iterable[TableEntry]) -> tuple[TableEntry, ...]:
    """Flatten `parts` into the entries of a row."""
    return tuple(one for part in parts for one in ([part] if isinstance(part, TableEntry) else part))
