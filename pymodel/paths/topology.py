"""Multi-plane two-tier fabrics: names, ports, links, addresses, uSIDs, and each pair's EVs, all derived on demand.

Plane by plane, every T0 is joined to every T1 by `parallel_links` links, and every host has one port in each plane,
all under the T0 of the same number (`mrc-facts.md` 4.1, 4.3). Nothing is stored per node: the paper's full size costs
no more than the smallest until somebody walks it.

Ports are 0-based. T0: ``0 .. hosts-1`` down, then ``hosts + t1 * k + rank`` up. T1: ``t0 * k + rank``. Host: the plane.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.paths import usid
from pymodel.paths.ev import SRV6, EvField, EvRecord, EvTemplate
from pymodel.paths.usid import Usid
from pymodel.wire.spec import (
    USID_BITS,
    USID_BLOCK_BITS,
    USID_BLOCK_DEFAULT,
    USID_INDEX_BITS,
    USID_UPLINK_BITS,
    UsidRole,
)

__all__ = ["MOST_PORTS", "Host", "Link", "PortRef", "Switch", "Topology", "path_template"]

INNER_PREFIX = 0x2001_0DB8 << 96
MOST_PORTS = 510
"""Ports of a v1model switch: 9-bit numbers, less one that stands for a drop (511) and one for the controller (510)."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host, which is one NIC with a port in every plane, under T0 number `t0` on downlink `downlink`."""

    t0: int
    downlink: int

    @property
    def name(self) -> str:
        """For instance ``h0-1``: T0 number, downlink."""
        return f"h{self.t0}-{self.downlink}"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of `plane`: a T0 or a T1 with its number in that plane."""

    plane: int
    role: UsidRole
    number: int

    @property
    def name(self) -> str:
        """For instance ``p0-t1-2``: plane, tier, number."""
        return f"p{self.plane}-{self.role.name.lower()}-{self.number}"


@dataclass(frozen=True, slots=True)
class PortRef:
    """A port of a node."""

    node: str
    port: int


@dataclass(frozen=True, slots=True)
class Link:
    """Two ports joined; `a` is the lower one (host below T0 below T1)."""

    a: PortRef
    b: PortRef


def path_template(block: int, usids: Sequence[int]) -> EvTemplate:
    """The EV template of paths that differ from that of `usids` in plane and uplink alone.

    The plane comes into every uSID, the uplink, where there is one, into that of the T1, which is the second of four.
    """
    masks = [usid.PLANE_MASK] * len(usids)
    if len(usids) == 4:
        masks[1] = usid.UPLINK_MASK
    parts = [EvField.drawn(USID_BITS, value & ~mask, mask) for value, mask in zip(usids, masks, strict=True)]
    return EvTemplate(SRV6, (EvField(USID_BLOCK_BITS, block), *parts))


@dataclass(frozen=True, slots=True)
class Topology:
    """A fabric. `t0` and `t1` count switches per plane; `parallel_links` is k, links between one T0 and one T1.

    InputError names the parameter that does not fit the uSID layout: 1 to 8 planes, 11-bit indices, 8 uplink bits, k a
    power of two.
    """

    planes: int = 2
    t0: int = 2
    t1: int = 2
    hosts_per_t0: int = 2
    parallel_links: int = 1
    block: int = USID_BLOCK_DEFAULT

    def __post_init__(self) -> None:
        indices, uplinks = 1 << USID_INDEX_BITS, 1 << USID_UPLINK_BITS
        k = self.parallel_links
        _require("planes", self.planes, 1, usid.PLANES)
        _require("parallel_links", k, 1, uplinks)
        if k & (k - 1):
            raise InputError(
                "topology.parallel_links", str(k), "a power of two, since uplink bits of the EV choose the link"
            )
        _require("t0", self.t0, 1, (indices - 1) // k, f"T0 uSIDs of 11 bits with {k} a switch")
        _require("t1", self.t1, 1, uplinks // k, f"8 uplink bits of the EV with {k} links to a T1")
        _require("hosts_per_t0", self.hosts_per_t0, 1, indices, "NIC uSIDs of 11 bits")
        usid.address(self.block, [1])

    # Nodes

    def hosts(self) -> Iterator[Host]:
        """Every host, by T0 and downlink."""
        return (Host(t0, downlink) for t0 in range(self.t0) for downlink in range(self.hosts_per_t0))

    def switches(self) -> Iterator[Switch]:
        """Every switch, by plane, tier and number."""
        for plane in range(self.planes):
            yield from (Switch(plane, UsidRole.T0, number) for number in range(self.t0))
            yield from (Switch(plane, UsidRole.T1, number) for number in range(self.t1))

    def host(self, name: str) -> Host:
        """The host called `name`."""
        match = re.fullmatch(r"h(0|[1-9]\d*)-(0|[1-9]\d*)", name)
        if not match or int(match[1]) >= self.t0 or int(match[2]) >= self.hosts_per_t0:
            raise InputError("host", repr(name), f"a name from h0-0 to h{self.t0 - 1}-{self.hosts_per_t0 - 1}")
        return Host(int(match[1]), int(match[2]))

    def switch(self, name: str) -> Switch:
        """The switch called `name`."""
        match = re.fullmatch(r"p(0|[1-9]\d*)-t([01])-(0|[1-9]\d*)", name)
        if match:
            found = Switch(int(match[1]), UsidRole(int(match[2])), int(match[3]))
            if found.plane < self.planes and found.number < (self.t1 if found.role is UsidRole.T1 else self.t0):
                return found
        last = self.planes - 1
        expected = f"a name from p0-t0-0 to p{last}-t0-{self.t0 - 1}, or from p0-t1-0 to p{last}-t1-{self.t1 - 1}"
        raise InputError("switch", repr(name), expected)

    # Ports and links

    def port_count(self, switch: Switch) -> int:
        """Number of ports of `switch`, numbered from 0."""
        return (
            self.t0 * self.parallel_links
            if switch.role is UsidRole.T1
            else self.hosts_per_t0 + self.t1 * self.parallel_links
        )

    def peer(self, switch: Switch, port: int) -> PortRef:
        """The other end of the link at `port` of `switch`."""
        _require(f"port of {switch.name}", port, 0, self.port_count(switch) - 1)
        k = self.parallel_links
        if switch.role is UsidRole.T1:
            number, rank = divmod(port, k)
            lower = Switch(switch.plane, UsidRole.T0, number)
            return PortRef(lower.name, self.uplink_port(switch.number * k + rank))
        if port < self.hosts_per_t0:
            return PortRef(Host(switch.number, port).name, switch.plane)
        number, rank = divmod(port - self.hosts_per_t0, k)
        return PortRef(Switch(switch.plane, UsidRole.T1, number).name, switch.number * k + rank)

    def uplink_port(self, uplink: int) -> int:
        """The T0 port of `uplink`, which is T1 number times k plus rank."""
        return self.hosts_per_t0 + uplink

    @property
    def uplinks(self) -> int:
        """Uplinks of a T0, and so the number of paths in one plane between hosts of different T0s."""
        return self.t1 * self.parallel_links

    def links(self) -> Iterator[Link]:
        """Every link once, from its lower end: per plane and T0 the host links, then the uplinks."""
        for plane in range(self.planes):
            for number in range(self.t0):
                switch = Switch(plane, UsidRole.T0, number)
                for port in range(self.port_count(switch)):
                    here, there = PortRef(switch.name, port), self.peer(switch, port)
                    yield Link(there, here) if port < self.hosts_per_t0 else Link(here, there)

    def require_runnable(self) -> None:
        """InputError when a switch has more ports than a v1model target can tell apart."""
        for switch in (Switch(0, UsidRole.T0, 0), Switch(0, UsidRole.T1, 0)):
            if self.port_count(switch) > MOST_PORTS:
                raise InputError(
                    f"topology: a {switch.role.name}",
                    f"{self.port_count(switch)} ports",
                    f"at most {MOST_PORTS} on a v1model switch",
                )

    # Addresses

    def inner_address(self, host: Host) -> int:
        """The NIC's own IPv6 address, that of the inner header: one for all its ports."""
        return INNER_PREFIX | (host.t0 + 1) << 64 | host.downlink + 1

    def source_address(self, host: Host, plane: int) -> int:
        """The NIC's outer source address in `plane`, block:T0:NIC::, from which a switch can make a route back."""
        return usid.address(self.block, [self._own(UsidRole.T0, plane, host.t0), self._nic(host, plane)])

    def host_mac(self, host: Host, port: int) -> int:
        """Locally administered MAC of a host's port, 48 bits."""
        return _mac(UsidRole.NIC, port, host.t0 << USID_INDEX_BITS | host.downlink)

    def switch_mac(self, switch: Switch, port: int) -> int:
        """Locally administered MAC of a switch's port, 48 bits."""
        return _mac(switch.role, switch.plane, switch.number << 12 | port)

    def mac(self, end: PortRef) -> int:
        """MAC of any port."""
        if end.node.startswith("h"):
            return self.host_mac(self.host(end.node), end.port)
        return self.switch_mac(self.switch(end.node), end.port)

    def own_usids(self, switch: Switch) -> tuple[int, ...]:
        """The k uSIDs that `switch` answers to, by rank."""
        return tuple(self._own(switch.role, switch.plane, switch.number, rank) for rank in range(self.parallel_links))

    def nic_usid(self, host: Host, plane: int) -> int:
        """The NIC's uSID in `plane`, unique under its T0 alone."""
        _require("plane", plane, 0, self.planes - 1)
        return self._nic(host, plane)

    def _own(self, role: UsidRole, plane: int, number: int, rank: int = 0) -> int:
        first = 1 if role is UsidRole.T0 else 0
        return Usid(role, plane, number * self.parallel_links + rank + first).value

    def _nic(self, host: Host, plane: int) -> int:
        return Usid(UsidRole.NIC, plane, host.downlink).value

    # Paths and EVs

    def path(self, source: Host, destination: Host, plane: int, uplink: int = 0) -> tuple[int, ...]:
        """The uSIDs from `source` to `destination`: [T0][T1][T0][NIC], or [T0][NIC] under the same T0.

        `uplink` chooses T1 and, with parallel links, the rank, which is the same up and down.
        """
        first = self._own(UsidRole.T0, plane, source.t0)
        if source.t0 == destination.t0:
            return first, self._nic(destination, plane)
        number, rank = divmod(uplink, self.parallel_links)
        up = self._own(UsidRole.T1, plane, number, rank)
        down = self._own(UsidRole.T0, plane, destination.t0, rank)
        return first, up, down, self._nic(destination, plane)

    def template(self, source: Host, destination: Host, rank: int = 0) -> EvTemplate:
        """The EV template of a pair: plane into every uSID, uplink into that of the T1, the rest fixed.

        T0 indices count from 1, so their low bits are not the rank's: parallel links have a template a rank, and the
        low uplink bits of an EV say which one it belongs to. Under one T0 the path has two uSIDs and no uplink.
        """
        return path_template(self.block, self.path(source, destination, 0, rank))

    def record(self, source: Host, destination: Host, ev: int) -> EvRecord:
        """Expand `ev` for a pair. InputError when its copies of the plane differ, or plane or uplink do not exist."""
        where = f"EV {ev:#010x} from {source.name} to {destination.name}"
        template = self.template(source, destination)
        _, *values = template.expand(ev)
        planes = [Usid.parse(value).plane for value in values]
        if planes != planes[:1] * len(planes):
            raise InputError(where, f"planes {planes}", "the same plane in every uSID")
        _require(f"{where}: plane", planes[0], 0, self.planes - 1)
        if len(values) == 4:
            uplink = Usid.parse(values[1]).index
            _require(f"{where}: uplink", uplink, 0, self.uplinks - 1)
            rank = uplink % self.parallel_links
            if rank:
                template = self.template(source, destination, rank)
        route = template.route(ev)
        return EvRecord(ev, planes[0], route.address, route.segment)

    def ev_set(self, source: str, destination: str, count: int, seed: int) -> list[EvRecord]:
        """`count` different EVs from host `source` to host `destination`, the same number in each plane.

        Record i is of plane ``i % planes``. Within a plane a seeded random subset of the uplinks is taken, each once,
        and all of them again when the plane's share is larger; unused EV bits are random. `count` is a multiple of
        `planes`. The set of the opposite direction, for what the receiver sends, is that of the swapped pair.
        """
        here, there = self.host(source), self.host(destination)
        if here == there:
            raise InputError("EV set", f"{source} as both ends", "two different hosts")
        template = self.template(here, there)
        unused = template.ev_bits - template.used_bits
        uplinks = 1 if here.t0 == there.t0 else self.uplinks
        most = self.planes * uplinks << unused
        if count < 1 or count % self.planes or count > most:
            raise InputError(
                f"EV set from {source} to {destination}",
                f"{count} EVs",
                f"a multiple of the {self.planes} planes, from {self.planes} to {most}",
            )
        rng = random.Random(f"{seed} ev set {source}>{destination}")
        columns = [self._plane_evs(here, there, plane, count // self.planes, rng) for plane in range(self.planes)]
        return [self.record(here, there, ev) for row in zip(*columns, strict=True) for ev in row]

    def _plane_evs(self, source: Host, destination: Host, plane: int, count: int, rng: random.Random) -> list[int]:
        template = self.template(source, destination)
        unused = template.ev_bits - template.used_bits
        uplinks = 1 if source.t0 == destination.t0 else self.uplinks
        found: dict[int, None] = {}
        while len(found) < count:
            for uplink in rng.sample(range(uplinks), min(uplinks, count - len(found))):
                contents = (self.block, *self.path(source, destination, plane, uplink))
                free = template.collect(contents)
                ev = free | rng.getrandbits(unused)
                while ev in found:
                    ev = free | rng.getrandbits(unused)
                found[ev] = None
        return list(found)


def _require(name: str, value: int, least: int, most: int, why: str = "") -> None:
    if not least <= value <= most:
        where = name if " " in name else f"topology.{name}"
        raise InputError(where, str(value), f"a number from {least} to {most}" + (f" ({why})" if why else ""))


def _mac(role: UsidRole, plane: int, low: int) -> int:
    return 0x02 << 40 | role << 36 | plane << 32 | low
