"""A frame from NIC to NIC over a whole path: each switch's own entries, one after the other on one target."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from scapy.layers.l2 import Ether

from pymodel.paths.ev import EvRecord
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import PortRef, Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from tests.switch.packets import Routed


def text(mac: int) -> str:
    return mac.to_bytes(6, "big").hex(":")


def walk(
    target: EmbeddedSwitch | Bmv2Switch, topology: Topology, source: str, record: EvRecord
) -> tuple[list[str], PortRef, Ether]:
    """Send one frame by `record` and return the switches it passed, the port it came to, and how it looks there."""
    host = topology.host(source)
    at = PortRef(f"p{record.port}-t0-{host.t0}", host.downlink)
    routed = Routed(
        str(IPv6Address(record.address)), source=str(IPv6Address(topology.source_address(host, record.port)))
    )
    ethernet = Ether(src=text(topology.host_mac(host, record.port)), dst=text(topology.mac(at)))
    frame = bytes(ethernet / routed.packet())
    passed = []
    while not at.node.startswith("h"):
        switch = topology.switch(at.node)
        passed.append(at.node)
        target.control.program(switch_entries(topology, switch))
        target.inject(at.port, frame, 0)
        ((_, port, frame),) = target.drain(0)
        arrived = topology.peer(switch, port)
        came = Ether(frame)
        assert (came.src, came.dst) == (text(topology.mac(PortRef(at.node, port))), text(topology.mac(arrived)))
        at = arrived
    return passed, at, Ether(frame)


@pytest.mark.parametrize("parallel_links", [1, 2])
@pytest.mark.parametrize(
    ("source", "destination", "hops"), [("h0-0", "h1-1", 3), ("h1-1", "h1-0", 1)], ids=["across", "same T0"]
)
def test_a_frame_reaches_its_nic_by_every_ev(
    target: EmbeddedSwitch | Bmv2Switch, parallel_links: int, source: str, destination: str, hops: int
) -> None:
    topology = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2, parallel_links=parallel_links)
    records = topology.ev_set(source, destination, 2 * topology.uplinks, seed=1)
    paths = set()
    for record in records[: 2 if hops == 1 else None]:
        passed, at, frame = walk(target, topology, source, record)
        assert at == PortRef(destination, record.port)
        assert len(passed) == hops
        paths.add((record.address, *passed))
        ipv6 = frame["IPv6"]
        own = topology.nic_usid(topology.host(destination), record.port)
        assert IPv6Address(ipv6.dst) == IPv6Address(topology.block << 96 | own << 80)
        assert ipv6.hlim == 64 - hops
        assert bytes(ipv6.payload) == bytes(Routed("::2").inner_packet())
    # Across T1s each EV of this set takes a path of its own.
    assert len(paths) == (2 if hops == 1 else len(records))
