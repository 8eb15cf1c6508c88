"""A traceroute over the fabric along the path of one EV (`mrc probe trace`).

Each probe is an MRC endpoint request (EV_PROBE, `mrc-facts.md` 1.10) as a NIC sends it, on the EV's own path, with an
outer hop limit that ends on the way. The switch where it ends answers by ICMPv6 (`pymodel.switch.responder`); what the
answer quotes of the probe tells which probe it was and by which of its uSIDs the switch was addressed. The NIC at the
end of the path answers the request itself.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.base.time import US
from pymodel.cosim.fabric import Core, Fabric, Host, HostMemory
from pymodel.cosim.run import cables_of, start_switches, topology_of
from pymodel.cosim.scenario import Scenario
from pymodel.nic.attach import device_for
from pymodel.nic.events import Action, Command, Event, FrameIn, FrameOut
from pymodel.paths import topology as nodes
from pymodel.paths import usid
from pymodel.paths.ev import EvRecord
from pymodel.paths.tables import loopback_address
from pymodel.paths.topology import PortRef, Switch, Topology
from pymodel.switch.responder import AnsweringSwitch, Responder, limit_punts
from pymodel.wire.build import build
from pymodel.wire.checksum import icmpv6_checksum
from pymodel.wire.frame import Frame
from pymodel.wire.headers import Bth, Erth, Ethernet, Icmpv6, Ipv6
from pymodel.wire.parser import parse
from pymodel.wire.spec import (
    DEFAULT_OPTIONS,
    ENDPOINT_QP,
    EndpointOp,
    Ethertype,
    Icmpv6Type,
    NextHeader,
    Opcode,
    TimeExceededCode,
    UsidRole,
)
from pymodel.wire.tunnel import encapsulate

__all__ = ["TRIES", "Hop", "Trace", "trace"]

TRIES = 3
"""Probes with the same hop limit, one after the other, before a hop counts as silent."""

_GAP_PS = 1 * US

_REQUEST_ID_BITS = 16


@dataclass(frozen=True, slots=True)
class Hop:
    """Where the probe with hop limit `number` ended. `node` is None when nobody answered in `TRIES` probes.

    `port` is the port of `node` through which the probe came, None when the hop before is not known. `round_trip_ps` is
    the virtual time from the probe to its answer.
    """

    number: int
    node: str | None = None
    address: int = 0
    port: int | None = None
    round_trip_ps: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """The hops of an EV's path, in order. `reached` says whether the last of them is the destination."""

    source: str
    destination: str
    record: EvRecord
    switch: str
    hops: tuple[Hop, ...]
    reached: bool


class _Station:
    """A host that sends what it is given and keeps what comes."""

    def __init__(self) -> None:
        self.to_send: list[FrameOut] = []
        self.received: list[tuple[int, int, bytes]] = []

    def handle(self, event: Event, now_ps: int) -> list[Action]:
        if isinstance(event, FrameIn):
            self.received.append((now_ps, event.port, event.data))
            return []
        actions: list[Action] = list(self.to_send)
        self.to_send.clear()
        return actions


def trace(
    scenario: Scenario, source: str, destination: str, *, ev: int | None = None, index: int | None = None
) -> Trace:
    """Trace the path of `ev`, or of EV number `index` of the pair's set in `scenario`, from host to host.

    InputError for a host, EV or index that does not exist, or when the tools do not allow the run.
    """
    topology = topology_of(scenario)
    here, there = topology.host(source), topology.host(destination)
    record = _record(scenario, topology, here, there, ev, index)
    station = _Station()
    cores: dict[str, Core] = {source: station, destination: device_for(topology, destination)}
    hosts = {name: Host(core, HostMemory(0, b"")) for name, core in cores.items()}
    with contextlib.ExitStack() as resources:
        places = [place for place in topology.switches() if place.plane == record.port]
        switches = {}
        for name, target in start_switches(scenario, topology, places, resources).items():
            limit_punts(target.control.client)
            switches[name] = AnsweringSwitch(target, Responder(topology, topology.switch(name)))
        fabric = Fabric(hosts, switches, cables_of(topology, scenario.links, scenario.seed))
        tracer = _Tracer(fabric, topology, station, here, there, record)
        hops, reached = tracer.run()
    return Trace(source, destination, record, scenario.switch, tuple(hops), reached)


def _record(
    scenario: Scenario, topology: Topology, here: nodes.Host, there: nodes.Host, ev: int | None, index: int | None
) -> EvRecord:
    if ev is not None and index is not None:
        raise InputError("trace", "both an EV and an index", "one of them")
    evs = topology.ev_set(here.name, there.name, scenario.nic.evs, scenario.seed)
    if ev is not None:
        return topology.record(here, there, ev)
    if not 0 <= (index or 0) < len(evs):
        raise InputError("trace: index", str(index), f"0 to {len(evs) - 1}, the EVs of the pair in this scenario")
    return evs[index or 0]


class _Tracer:
    """Sends the probes of one trace and makes hops of what comes back."""

    def __init__(
        self,
        fabric: Fabric,
        topology: Topology,
        station: _Station,
        here: nodes.Host,
        there: nodes.Host,
        record: EvRecord,
    ) -> None:
        self._fabric = fabric
        self._topology = topology
        self._station = station
        self._here, self._there = here, there
        self._record = record
        self._probes = 0
        self._t0 = Switch(record.port, UsidRole.T0, here.t0)
        self._switches = {
            loopback_address(topology, place): place for place in topology.switches() if place.plane == record.port
        }

    def run(self) -> tuple[list[Hop], bool]:
        """Probe hop by hop, one more than the path has switches."""
        route = usid.usids_of(self._record.address)
        hops: list[Hop] = []
        at: Switch | nodes.Host | None = self._here
        for number in range(1, len(route) + 1):
            hop, at = self._probe(number, at)
            hops.append(hop)
            if hop.node == self._there.name:
                return hops, True
        return hops, False

    def _probe(self, number: int, before: Switch | nodes.Host | None) -> tuple[Hop, Switch | nodes.Host | None]:
        for _ in range(TRIES):
            sent_ps = self._fabric.now_ps + _GAP_PS
            self._station.to_send.append(FrameOut(self._record.port, self._frame(number)))
            self._fabric.post(self._here.name, Command("send", 1), sent_ps)
            while self._fabric.step():
                pass
            came, self._station.received = self._station.received, []
            for at_ps, port, data in came:
                if self._is_response(data):
                    address = self._topology.inner_address(self._there)
                    # A NIC answers by the port through which the request came, and this is that plane's port here.
                    return Hop(number, self._there.name, address, port, at_ps - sent_ps), self._there
                answer = self._understood(data)
                if answer:
                    place, addressed_as = answer
                    port_in = self._port_in(place, addressed_as, before)
                    address = loopback_address(self._topology, place)
                    return Hop(number, place.name, address, port_in, at_ps - sent_ps), place
        return Hop(number), None

    def _frame(self, hop_limit: int) -> bytes:
        """The next probe. Its number, in the PSN's place, is the request id."""
        self._probes += 1
        topology, here, plane = self._topology, self._here, self._record.port
        inner = Ipv6(
            dscp=DEFAULT_OPTIONS.dscp.no_trim,
            src=topology.inner_address(here),
            dst=topology.inner_address(self._there),
        )
        source = topology.source_address(here, plane)
        return build(
            ethernet=Ethernet(src=topology.host_mac(here, plane), dst=topology.switch_mac(self._t0, here.downlink)),
            ip=inner,
            ev=self._record.ev,
            bth=Bth(opcode=Opcode.ENDPOINT_REQUEST, dest_qp=ENDPOINT_QP, psn=self._probes % (1 << _REQUEST_ID_BITS)),
            extensions=[Erth(op=EndpointOp.EV_PROBE)],
            outer=encapsulate(inner, src=source, dst=self._record.address, hop_limit=hop_limit),
            segments=() if self._record.segment is None else (self._record.segment,),
        )

    def _is_response(self, data: bytes) -> bool:
        """Whether `data` is the destination's answer to the last probe."""
        frame = parse(data)
        return (
            isinstance(frame, Frame)
            and frame.opcode == Opcode.ENDPOINT_RESPONSE
            and frame.psn == self._probes % (1 << _REQUEST_ID_BITS)
        )

    def _understood(self, data: bytes) -> tuple[Switch, int] | None:
        """Who answered the last probe, and by which uSID the probe addressed it; None when `data` is no such answer."""
        header = Ipv6.unpack(data, Ethernet.SIZE)
        message = data[Ethernet.SIZE + Ipv6.SIZE :]
        place = self._switches.get(header.src)
        if place is None or header.next_header != NextHeader.ICMPV6 or icmpv6_checksum(header.src, header.dst, message):
            return None
        icmp = Icmpv6.unpack(message)
        if (icmp.message_type, icmp.code) != (Icmpv6Type.TIME_EXCEEDED, TimeExceededCode.HOP_LIMIT):
            return None
        quoted = message[Icmpv6.SIZE :]
        probe = parse(Ethernet(ethertype=Ethertype.IPV6).pack() + quoted)
        if not isinstance(probe, Frame) or probe.psn != self._probes % (1 << _REQUEST_ID_BITS):
            return None
        return place, usid.usids_of(Ipv6.unpack(quoted).dst)[0]

    def _port_in(self, place: Switch, addressed_as: int, before: Switch | nodes.Host | None) -> int | None:
        """The port at `place` of the link that joins it to the hop before: parallel links have a uSID each."""
        own = self._topology.own_usids(place)
        if before is None or addressed_as not in own:
            return None
        rank = own.index(addressed_as)
        for port in range(self._topology.port_count(place)):
            peer = self._topology.peer(place, port)
            if peer.node == before.name and (isinstance(before, nodes.Host) or self._rank(peer, port, place) == rank):
                return port
        return None

    def _rank(self, peer: PortRef, port: int, place: Switch) -> int:
        return (port if place.role is UsidRole.T1 else peer.port) % self._topology.parallel_links
