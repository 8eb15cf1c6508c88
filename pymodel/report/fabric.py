"""`mrc topo`: a fabric drawn and listed, its tables as JSON files, and what differs on a running switch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pymodel.base.errors import InputError
from pymodel.paths import usid
from pymodel.paths.tables import TableEntry, loopback_address, switch_entries
from pymodel.paths.topology import Host, Switch, Topology
from pymodel.switch.control import entry_from_json, entry_to_json
from pymodel.wire.spec import UsidRole

__all__ = [
    "Difference",
    "address_page",
    "drawing",
    "host_page",
    "read_tables",
    "shown_entry",
    "switch_page",
    "table_differences",
    "write_tables",
]

_MOST_SHOWN = 6
"""Nodes of a row that are drawn; a fabric of thousands is drawn as its first and last."""

_MOST_LISTED = 64

Difference = tuple[str, TableEntry, TableEntry | None]
"""What is the matter with an entry: "missing" (intended, not installed), "unexpected" (installed, not intended) or
"different" (the intended one, and that of the same match which is installed)."""


# --- Files ------------------------------------------------------------------------------------------------------------


def write_tables(topology: Topology, folder: Path) -> Iterator[Path]:
    """Write each switch's intended entries to `folder`/SWITCH.json and yield its path; a list in the JSON form."""
    folder.mkdir(parents=True, exist_ok=True)
    for switch in topology.switches():
        entries = [entry_to_json(switch.name, entry) for entry in switch_entries(topology, switch)]
        path = folder / f"{switch.name}.json"
        path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
        yield path


def read_tables(path: Path) -> list[TableEntry]:
    """Read a file that `write_tables` wrote, or a person did; InputError names file, entry and key."""
    try:
        forms = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            str(path), f"no table entries ({error})", "a JSON list, as `mrc topo build` writes it"
        ) from None
    if not isinstance(forms, list):
        raise InputError(str(path), type(forms).__name__, "a JSON list, as `mrc topo build` writes it")
    return [entry_from_json(form, f"{path}: entry {number}")[1] for number, form in enumerate(forms)]


# --- Comparison -------------------------------------------------------------------------------------------------------


def _place(entry: TableEntry) -> tuple[object, ...]:
    return (entry.table, entry.default, entry.priority, *sorted(entry.match.items()))


def table_differences(intended: Iterable[TableEntry], installed: Iterable[TableEntry]) -> list[Difference]:
    """Return what differs, the intended ones in their order first. Both sides must be in normal form."""
    there = {_place(entry): entry for entry in installed}
    found: list[Difference] = []
    for entry in intended:
        other = there.pop(_place(entry), None)
        if other is None:
            found.append(("missing", entry, None))
        elif (other.action, dict(other.params)) != (entry.action, dict(entry.params)):
            found.append(("different", entry, other))
    return found + [("unexpected", entry, None) for entry in there.values()]


def shown_entry(entry: TableEntry, installed: TableEntry | None = None) -> str:
    """Return an entry on one line: table, match, action with parameters; behind it what is `installed` instead."""

    def number(value: int | tuple[int, int]) -> str:
        if isinstance(value, tuple):
            first, second = value
            # An IPv6 prefix reads as one; whatever else has two numbers is shown as two.
            return f"{usid.text(first)}/{second}" if first >> 64 else f"{first:#x}/{second:#x}"
        return usid.text(value) if value >> 64 else f"{value:#x}"

    match = ", ".join(f"{name}={number(value)}" for name, value in entry.match.items()) or "default"
    actions = [
        f"{one.action}({', '.join(f'{name}={number(value)}' for name, value in one.params.items())})"
        for one in (entry, installed)
        if one
    ]
    return f"{entry.table}  {match}  ->  {', installed '.join(actions)}"


# --- Pictures ---------------------------------------------------------------------------------------------------------


def _few(names: list[str]) -> list[str]:
    return names if len(names) <= _MOST_SHOWN else [*names[: _MOST_SHOWN - 2], "...", names[-1]]


def drawing(topology: Topology) -> RenderableType:
    """Return the fabric plane by plane, T1 above T0 above hosts, and how the tiers are joined."""
    k = topology.parallel_links
    joined = "every T0 to every T1" + (f", {k} links each" if k > 1 else "")
    blocks: list[RenderableType] = [
        Text(
            f"planes: {topology.planes}; in each, T0: {topology.t0}, T1: {topology.t1}, {joined}; "
            f"hosts a T0: {topology.hosts_per_t0}, with a port in every plane"
        )
    ]
    hosts = _few([_hosts_of(topology, t0) for t0 in range(topology.t0)])
    for plane in range(topology.planes):
        upper = _few([Switch(plane, UsidRole.T1, number).name for number in range(topology.t1)])
        lower = _few([Switch(plane, UsidRole.T0, number).name for number in range(topology.t0)])
        width = max(map(len, (*upper, *lower, *hosts))) + 2
        columns = max(len(upper), len(lower))
        line = width * columns
        rows = ["".join(name.center(width) for name in row).center(line).rstrip() for row in (upper, lower, hosts)]
        links = "".join("\\|/".center(width) for _ in upper).center(line).rstrip()
        ports = "".join("/|\\".center(width) for _ in lower).center(line).rstrip()
        downs = "".join("|".center(width) for _ in lower).center(line).rstrip()
        blocks.append(Text("\n" + "\n".join([rows[0], links, ports, rows[1], downs, rows[2]])))
    return Group(*blocks)


def _hosts_of(topology: Topology, t0: int) -> str:
    last = topology.hosts_per_t0 - 1
    return Host(t0, 0).name if last == 0 else f"{Host(t0, 0).name}..{last}"


def address_page(topology: Topology) -> RenderableType:
    """Return every node of a fabric of up to 64 with its addresses; of a larger one only how they are made."""
    switches, hosts = list(topology.switches()), list(topology.hosts())
    if len(switches) + len(hosts) > _MOST_LISTED:
        return Text(f"\n{len(switches)} switches and {len(hosts)} hosts: --switch NAME or --host NAME shows one")
    table = Table("node", "uSIDs", "address", box=SIMPLE, pad_edge=False)
    for switch in switches:
        own = ", ".join(f"{value:#06x}" for value in topology.own_usids(switch))
        table.add_row(switch.name, own, usid.text(loopback_address(topology, switch)))
    for host in hosts:
        own = ", ".join(f"{topology.nic_usid(host, plane):#06x}" for plane in range(topology.planes))
        table.add_row(host.name, own, usid.text(topology.inner_address(host)))
    return table


def switch_page(topology: Topology, switch: Switch) -> RenderableType:
    """Return one switch: its uSIDs, its own address, and each port with its MAC and the other end."""
    own = ", ".join(f"{value:#06x}" for value in topology.own_usids(switch))
    table = Table("port", "MAC", "other end", title_justify="left", title=f"{switch.name}: uSID {own}")
    for port in range(topology.port_count(switch)):
        peer = topology.peer(switch, port)
        table.add_row(str(port), _mac(topology.switch_mac(switch, port)), f"{peer.node}:{peer.port}")
    return Group(table, Text(f"answers at {usid.text(loopback_address(topology, switch))}"))


def host_page(topology: Topology, host: Host) -> RenderableType:
    """Return one host: its inner address, and each port with its MAC, uSID, outer source address and T0."""
    title = f"{host.name}: {usid.text(topology.inner_address(host))}"
    table = Table("port", "MAC", "uSID", "outer source", "T0 and its port", title_justify="left", title=title)
    for plane in range(topology.planes):
        t0 = Switch(plane, UsidRole.T0, host.t0)
        table.add_row(
            str(plane),
            _mac(topology.host_mac(host, plane)),
            f"{topology.nic_usid(host, plane):#06x}",
            usid.text(topology.source_address(host, plane)),
            f"{t0.name}:{host.downlink}",
        )
    return table


def _mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")
