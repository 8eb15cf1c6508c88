"""The static table entries of a switch, derived from the topology (`mrc-facts.md` 4.1; `docs/switch.md`).

Table and action names are those of `p4/mrc_switch.p4`, as its P4Info spells them; nowhere else in Python do they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pymodel.paths import usid
from pymodel.paths.topology import Host, Switch, Topology
from pymodel.wire.spec import USID_BLOCK_BITS, UsidRole

__all__ = [
    "FIRST_SID",
    "NEIGHBOUR",
    "ROUTE",
    "RX_PORT",
    "SECOND_SID",
    "TX_PORT",
    "TableEntry",
    "neighbour_entry",
    "port_entries",
    "route_entry",
    "sid_entries",
    "switch_entries",
]

RX_PORT = "MrcIngress.admission.rx_port"
TX_PORT = "MrcIngress.forwarding.tx_port"
FIRST_SID = "MrcIngress.first.my_sid"
SECOND_SID = "MrcIngress.second.my_sid"
ROUTE = "MrcIngress.routing.route"
NEIGHBOUR = "MrcIngress.forwarding.neighbour"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One entry of one table, as in the JSON of `docs/interfaces.md`, with names and not ids.

    `match` maps a key's P4Info name to an integer (exact), ``(value, prefix_length)`` (LPM), ``(value, mask)``
    (ternary) or ``(low, high)`` (range); the kind is the P4Info's. A key that is left out, or has an all-zero mask or
    prefix length 0, is don't-care. `params` maps the action's parameters to integers. `priority` is above 0 with
    ternary, range or optional keys (larger wins) and 0 otherwise. `default` makes it the table's default action
    (`match` empty).
    """

    table: str
    action: str
    match: Mapping[str, int | tuple[int, int]] = field(default_factory=dict)
    params: Mapping[str, int] = field(default_factory=dict)
    priority: int = 0
    default: bool = False


def port_entries(port: int, up: bool) -> tuple[TableEntry, TableEntry]:
    """State of `port` (P4 port number) for frames that come in and for packets that would go out."""
    rx = TableEntry(RX_PORT, "MrcIngress.admission.up" if up else "port_down", {"port": port})
    tx = TableEntry(TX_PORT, "MrcIngress.forwarding.up" if up else "port_down", {"port": port})
    return rx, tx


def neighbour_entry(port: int, source_mac: int, destination_mac: int) -> TableEntry:
    """MACs, 48 bits each, of the frames that leave through `port`."""
    params = {"src": source_mac, "dst": destination_mac}
    return TableEntry(NEIGHBOUR, "MrcIngress.forwarding.rewrite", {"port": port}, params)


def route_entry(prefix: tuple[int, int], port: int | None) -> TableEntry:
    """Route of `prefix` (address, length) to `port`; without a port its packets are dropped as unknown uSIDs."""
    if port is None:
        return TableEntry(ROUTE, "unknown_sid", {"dst": prefix})
    return TableEntry(ROUTE, "MrcIngress.routing.forward", {"dst": prefix}, {"port": port})


def sid_entries(prefix: tuple[int, int], action: str, params: Mapping[str, int]) -> Iterator[TableEntry]:
    """Make `prefix` (address, length) a SID of the switch: `action` is uN, uA, uA_node or End.

    It stands in both tables of own SIDs, and its route says that a third one in one pass is a loop.
    """
    for table in (FIRST_SID, SECOND_SID):
        yield TableEntry(table, f"{table.rpartition('.')[0]}.{action}", {"dst": prefix}, params)
    yield TableEntry(ROUTE, "sid_loop", {"dst": prefix})


def switch_entries(topology: Topology, switch: Switch) -> Iterator[TableEntry]:
    """Every entry of `switch`: ports up, neighbours, own uSIDs, static /48 routes, and the block that ends the rest."""
    for port in range(topology.port_count(switch)):
        yield from port_entries(port, up=True)
        peer = topology.peer(switch, port)
        yield neighbour_entry(port, topology.switch_mac(switch, port), topology.mac(peer))
    for own in topology.own_usids(switch):
        yield from sid_entries(usid.sid_prefix(topology.block, own), "uN", {"usd": 0})
    for next_usid, port in _next_usids(topology, switch):
        yield route_entry(usid.sid_prefix(topology.block, next_usid), port)
    yield route_entry((topology.block << 128 - USID_BLOCK_BITS, USID_BLOCK_BITS), None)


def _next_usids(topology: Topology, switch: Switch) -> Iterator[tuple[int, int]]:
    """Yield each uSID next to `switch`, with the port that leads there."""
    k = topology.parallel_links
    if switch.role is UsidRole.T1:
        for number in range(topology.t0):
            below = topology.own_usids(Switch(switch.plane, UsidRole.T0, number))
            yield from ((own, number * k + rank) for rank, own in enumerate(below))
        return
    for downlink in range(topology.hosts_per_t0):
        yield topology.nic_usid(Host(switch.number, downlink), switch.plane), downlink
    for number in range(topology.t1):
        above = topology.own_usids(Switch(switch.plane, UsidRole.T1, number))
        yield from ((own, topology.uplink_port(number * k + rank)) for rank, own in enumerate(above))
