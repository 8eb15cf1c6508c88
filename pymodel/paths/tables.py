"""The static table entries of a switch, derived from the topology (`mrc-facts.md` 4.1; `docs/switch.md`).

Table, action and parameter names are those of `p4/mrc_switch.p4`, as its P4Info spells them; nowhere else in Python do
they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pymodel.base.errors import InputError
from pymodel.paths import usid
from pymodel.paths.topology import Host, Switch, Topology
from pymodel.wire.spec import (
    DEFAULT_OPTIONS,
    TRIM_BYTES_LEAST_SRV6,
    TRIM_BYTES_SRV6,
    USID_BLOCK_BITS,
    DscpMap,
    EndpointBehaviour,
    PuntReason,
    UsidRole,
)

__all__ = [
    "FIRST_FLAVOUR",
    "FIRST_SID",
    "NEIGHBOUR",
    "PORT_QUEUES",
    "PUNTED",
    "PUNT_LIMITER",
    "PUNT_POLICY",
    "ROUTE",
    "RX_PORT",
    "SECOND_FLAVOUR",
    "SECOND_SID",
    "SID_PARAMS",
    "TRAFFIC_CLASS",
    "TX_PORT",
    "QueueSettings",
    "TableEntry",
    "behaviour_code",
    "class_entries",
    "loopback_address",
    "neighbour_entry",
    "port_entries",
    "punt_entries",
    "queue_entry",
    "route_entry",
    "sid_entries",
    "switch_entries",
]

RX_PORT = "MrcIngress.admission.rx_port"
TX_PORT = "MrcIngress.forwarding.tx_port"
FIRST_SID = "MrcIngress.first.my_sid"
SECOND_SID = "MrcIngress.second.my_sid"
FIRST_FLAVOUR = "MrcIngress.first.flavours.flavour"
SECOND_FLAVOUR = "MrcIngress.second.flavours.flavour"
"""Constant tables: PSP, USP, USD and uDT6's decapsulation as they were carried out, by their direct counters."""
ROUTE = "MrcIngress.routing.route"
NEIGHBOUR = "MrcIngress.forwarding.neighbour"
TRAFFIC_CLASS = "MrcIngress.queueing.traffic_class"
PORT_QUEUES = "MrcIngress.queueing.port_queues"
PUNT_POLICY = "MrcIngress.punt.policy"
PUNT_LIMITER = "MrcIngress.punt.limiter"
"""A meter of packets, one cell for each `PuntReason`; a cell that has no rates limits nothing."""
PUNTED = "punted"
"""The counter of packets handed to the controller, one cell for each `PuntReason`."""

_FLAVOURS = ("psp", "usp", "usd", "uniform")
SID_PARAMS: dict[str, tuple[str, ...]] = {
    "uN": _FLAVOURS,
    "uA": (*_FLAVOURS, "port"),
    "uA_node": (*_FLAVOURS, "port"),
    "uDT6": ("uniform",),
    "End": _FLAVOURS,
    "End_X": (*_FLAVOURS, "port"),
    "loopback": (),
}
"""Actions of the tables of own SIDs, with their parameters. All but `port` are flags."""


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


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """The queues of one egress port. Sizes are bytes of frames; a queue that holds its limit or more takes nothing.

    Between `ecn_low` and `ecn_high` bytes in the data queue a packet is marked with a probability that rises from 0 to
    1. `trim_bytes` is the size of a trimmed frame without a routing header, whose bytes come on top; None switches
    trimming off. The defaults are for a link of 100 Gb/s and 12 us: one BDP, 0.2 and 0.8 of it, the high queue twice
    (`mrc-facts.md` 10, 4.2, appendix B).
    """

    data_limit: int = 150_000
    high_limit: int = 300_000
    ecn: bool = True
    ecn_low: int = 30_000
    ecn_high: int = 120_000
    trim_bytes: int | None = TRIM_BYTES_SRV6

    def __post_init__(self) -> None:
        for name, value in (
            ("data_limit", self.data_limit),
            ("high_limit", self.high_limit),
            ("ecn_low", self.ecn_low),
            ("ecn_high", self.ecn_high),
        ):
            if not 0 <= value < 1 << 31:
                raise InputError(f"queue settings: {name}", str(value), "bytes, from 0 to 2^31 - 1")
        if self.ecn_low > self.ecn_high:
            raise InputError("queue settings: ecn_low", str(self.ecn_low), f"at most ecn_high, {self.ecn_high}")
        if self.trim_bytes is not None and not TRIM_BYTES_LEAST_SRV6 <= self.trim_bytes < 1 << 16:
            raise InputError(
                "queue settings: trim_bytes",
                str(self.trim_bytes),
                f"{TRIM_BYTES_LEAST_SRV6} to 65535 (up to TSETH, which a NACK needs)",
            )


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
    """Make `prefix` (address, length) a SID or an address of the switch: `action` is one of `SID_PARAMS`.

    Flags that `params` leaves out are 0; an adjacency needs its port. The SID stands in both tables of own SIDs, and
    its route says that a third one in one pass is a loop.
    """
    known = SID_PARAMS.get(action)
    if known is None:
        raise InputError(f"SID {_shown(prefix)}: action", repr(action), f"one of {', '.join(SID_PARAMS)}")
    for name in params:
        if name not in known:
            found = f"the parameter {name!r}"
            raise InputError(f"SID {_shown(prefix)}, {action}", found, f"one of {', '.join(known) or 'none'}")
    if "port" in known and "port" not in params:
        raise InputError(f"SID {_shown(prefix)}, {action}", "no port", "the port of the adjacency")
    whole = {name: params.get(name, 0) for name in known}
    for table in (FIRST_SID, SECOND_SID):
        yield TableEntry(table, f"{table.rpartition('.')[0]}.{action}", {"dst": prefix}, whole)
    yield TableEntry(ROUTE, "sid_loop", {"dst": prefix})


def behaviour_code(entry: TableEntry) -> int | None:
    """Return the IANA code point of a SID's behaviour with its flavours; None for an entry that is no SID."""
    action = entry.action.rpartition(".")[2]
    if entry.table not in (FIRST_SID, SECOND_SID) or action not in _BEHAVIOURS:
        return None
    base, with_usd = _BEHAVIOURS[action]
    flavours = entry.params.get("psp", 0) + 2 * entry.params.get("usp", 0)
    return base + flavours + (with_usd if entry.params.get("usd") else 0)


# Code point without flavours, and how much USD adds to it. PSP adds 1 and USP 2 everywhere.
_BEHAVIOURS = {
    "uN": (EndpointBehaviour.END_NEXT_CSID, 4),
    "uA": (EndpointBehaviour.END_X_NEXT_CSID, 4),
    "uA_node": (EndpointBehaviour.END_X_NEXT_CSID, 4),
    "uDT6": (EndpointBehaviour.END_DT6_NEXT_CSID, 0),
    "End": (EndpointBehaviour.END, 27),
    "End_X": (EndpointBehaviour.END_X, 27),
}


def class_entries(dscp: DscpMap = DEFAULT_OPTIONS.dscp) -> Iterator[TableEntry]:
    """Class of each DSCP: control and trimmed above data, some of which may be trimmed (`mrc-facts.md` 1.12)."""
    actions = {
        "trimmable": "trimmable_class",
        "trimmable_retx": "trimmable_class",
        "no_trim": "data_class",
        "trimmed": "control_class",
        "trimmed_lasthop": "control_class",
        "control": "control_class",
    }
    classes = {value: actions[name] for name, value in dscp.items()}
    for value, action in classes.items():
        yield TableEntry(TRAFFIC_CLASS, f"MrcIngress.queueing.{action}", {"dscp": value})


def queue_entry(
    port: int, settings: QueueSettings, *, last_hop: bool = False, dscp: DscpMap = DEFAULT_OPTIONS.dscp
) -> TableEntry:
    """Limits of the queues of `port`; on the last hop to a NIC `settings.ecn` should be off (`mrc-facts.md` 4.2)."""
    mark = dscp.trimmed_lasthop if last_hop and dscp.trimmed_lasthop is not None else dscp.trimmed
    params = {
        "data_limit": settings.data_limit,
        "high_limit": settings.high_limit,
        "ecn": int(settings.ecn),
        "ecn_low": settings.ecn_low,
        "ecn_high": settings.ecn_high,
        "trim": int(settings.trim_bytes is not None),
        "trim_bytes": settings.trim_bytes or 0,
        "trim_dscp": mark,
    }
    return TableEntry(PORT_QUEUES, "MrcIngress.queueing.limits", {"port": port}, params)


def punt_entries() -> Iterator[TableEntry]:
    """Send to the controller what it answers; without an entry such packets are only dropped and counted."""
    for reason in PuntReason:
        if reason is not PuntReason.NONE:
            yield TableEntry(PUNT_POLICY, "MrcIngress.punt.to_controller", {"reason": int(reason)})


def loopback_address(topology: Topology, switch: Switch) -> int:
    """The address of `switch` itself, block:uSID::1 of its first uSID."""
    return usid.address(topology.block, [topology.own_usids(switch)[0]]) | 1


_DEFAULT_QUEUES = QueueSettings()


def switch_entries(
    topology: Topology,
    switch: Switch,
    queues: QueueSettings = _DEFAULT_QUEUES,
    dscp: DscpMap = DEFAULT_OPTIONS.dscp,
) -> Iterator[TableEntry]:
    """Every entry of `switch`.

    Ports up, neighbours, queues (no ECN toward a NIC), classes, what the controller answers, loopback, own uSIDs,
    static /48 routes, and the block that ends the rest.
    """
    last_hop = QueueSettings(
        queues.data_limit, queues.high_limit, False, queues.ecn_low, queues.ecn_high, queues.trim_bytes
    )
    downlinks = topology.hosts_per_t0 if switch.role is UsidRole.T0 else 0
    for port in range(topology.port_count(switch)):
        yield from port_entries(port, up=True)
        peer = topology.peer(switch, port)
        yield neighbour_entry(port, topology.switch_mac(switch, port), topology.mac(peer))
        down = port < downlinks
        yield queue_entry(port, last_hop if down else queues, last_hop=down, dscp=dscp)
    yield from class_entries(dscp)
    yield from punt_entries()
    yield from sid_entries((loopback_address(topology, switch), 128), "loopback", {})
    for own in topology.own_usids(switch):
        yield from sid_entries(usid.sid_prefix(topology.block, own), "uN", {})
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


def _shown(prefix: tuple[int, int]) -> str:
    return f"{usid.text(prefix[0])}/{prefix[1]}"
