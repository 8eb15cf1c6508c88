from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pymodel.base.toolpath import ROOT
from pymodel.paths import tables
from pymodel.paths.tables import TableEntry, switch_entries
from pymodel.paths.topology import PortRef, Topology
from pymodel.wire.spec import UsidRole

topologies = st.builds(
    Topology,
    planes=st.integers(1, 3),
    t0=st.integers(1, 4),
    t1=st.integers(1, 3),
    hosts_per_t0=st.integers(1, 3),
    parallel_links=st.sampled_from([1, 2, 4]),
)


class PaperSwitch:
    """The rule of mrc-facts.md 4.1 and nothing else: own 48 bits match, shift, look the next 48 bits up."""

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self.own: set[int] = set()
        self.next: dict[int, int] = {}
        for entry in entries:
            if entry.table == tables.FIRST_SID and entry.action.endswith(".uN"):
                self.own.add(self.top_48(entry))
            elif entry.table == tables.ROUTE and "port" in entry.params:
                self.next[self.top_48(entry)] = entry.params["port"]

    @staticmethod
    def top_48(entry: TableEntry) -> int:
        match = entry.match["dst"]
        assert isinstance(match, tuple)
        value, length = match
        assert length == 48
        assert value & ((1 << 80) - 1) == 0
        return value >> 80

    def forward(self, address: int) -> tuple[int, int]:
        assert address >> 80 in self.own
        block = address >> 96
        address = block << 96 | (address << 16 & ((1 << 96) - 1))
        return self.next[address >> 80], address


@settings(max_examples=60)
@given(topologies, st.data())
def test_every_ev_leads_from_its_source_to_its_destination(topology: Topology, data: st.DataObject) -> None:
    """The uSID address walk of mrc-facts.md 4.1 on the tables of every switch that it passes."""
    hosts = list(topology.hosts())
    assume(len(hosts) > 1)
    source = data.draw(st.sampled_from(hosts))
    destination = data.draw(st.sampled_from([host for host in hosts if host != source]))
    records = topology.ev_set(source.name, destination.name, 8 * topology.planes, data.draw(st.integers(0, 1000)))
    ranks = set()
    for record in records:
        at = PortRef(f"p{record.port}-t0-{source.t0}", source.downlink)
        address = record.address
        tiers = []
        while not at.node.startswith("h"):
            switch = topology.switch(at.node)
            assert switch.plane == record.port
            tiers.append(switch.role)
            port, address = PaperSwitch(switch_entries(topology, switch)).forward(address)
            at = topology.peer(switch, port)
            if switch.role is UsidRole.T1:
                ranks.add(port % topology.parallel_links)
        assert at == PortRef(destination.name, record.port)
        # The NIC sees its own uSID, the last one, first.
        assert address >> 80 == topology.block << 16 | topology.nic_usid(destination, record.port)
        across = [UsidRole.T0, UsidRole.T1, UsidRole.T0]
        assert tiers == (across if source.t0 != destination.t0 else [UsidRole.T0])
    if source.t0 != destination.t0 and topology.t1 == 1:
        assert ranks == set(range(topology.parallel_links))


@given(topologies)
def test_a_switch_has_an_entry_for_each_port_neighbour_and_usid(topology: Topology) -> None:
    k = topology.parallel_links
    for switch in topology.switches():
        entries = list(switch_entries(topology, switch))
        ports = list(range(topology.port_count(switch)))
        for table in (tables.RX_PORT, tables.TX_PORT, tables.NEIGHBOUR, tables.PORT_QUEUES):
            assert [entry.match["port"] for entry in entries if entry.table == table] == ports
        for table in (tables.FIRST_SID, tables.SECOND_SID):
            actions = [entry.action.rpartition(".")[2] for entry in entries if entry.table == table]
            assert actions == ["loopback"] + ["uN"] * k
            # The fabric never decapsulates a packet bound for a NIC (mrc-facts.md 11).
            assert not any(value for entry in entries if entry.table == table for value in entry.params.values())
        routes = [entry for entry in entries if entry.table == tables.ROUTE]
        assert len({entry.match["dst"] for entry in routes}) == len(routes)
        forwarding = [entry.params["port"] for entry in routes if entry.params]
        assert sorted(forwarding) == ports
        assert sum(entry.action == "sid_loop" for entry in routes) == k + 1
        assert [entry.match["dst"] for entry in routes if entry.action == "unknown_sid"] == [(topology.block << 96, 32)]
        assert not any(entry.default or entry.priority for entry in entries)


def test_both_ends_of_a_link_know_each_others_mac() -> None:
    topology = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2, parallel_links=2)
    macs = {}
    for switch in topology.switches():
        for entry in switch_entries(topology, switch):
            if entry.table == tables.NEIGHBOUR:
                macs[switch.name, entry.match["port"]] = (entry.params["src"], entry.params["dst"])
    for link in topology.links():
        own, other = macs[link.b.node, link.b.port]
        assert (own, other) == (topology.mac(link.b), topology.mac(link.a))
        if (link.a.node, link.a.port) in macs:
            assert macs[link.a.node, link.a.port] == (other, own)


def test_names_are_those_of_the_compiled_program() -> None:
    text = (ROOT / "p4" / "compiled" / "mrc_switch.p4info.txtpb").read_text(encoding="utf-8")
    named = set(re.findall(r'^ +name: "([^"]+)"', text, re.MULTILINE))
    entries = list(switch_entries(Topology(), Topology().switch("p0-t0-0")))
    entries += tables.port_entries(1, up=False)
    for action, params in tables.SID_PARAMS.items():
        entries += tables.sid_entries((0, 128), action, dict.fromkeys(params, 0))
    used = {name for entry in entries for name in (entry.table, entry.action, *entry.match, *entry.params)}
    assert used - named == set()
