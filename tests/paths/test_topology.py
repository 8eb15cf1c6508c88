from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.paths.ev import EvRecord
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Host, Link, PortRef, Switch, Topology
from pymodel.wire.spec import UsidRole

PAPER = Topology(planes=8, t0=512, t1=256, hosts_per_t0=256)

topologies = st.builds(
    Topology,
    planes=st.integers(1, 8),
    t0=st.integers(1, 5),
    t1=st.integers(1, 4),
    hosts_per_t0=st.integers(1, 4),
    parallel_links=st.sampled_from([1, 2, 4]),
)


def ip(text: str) -> int:
    return int(IPv6Address(text))


def test_names_ports_and_links_of_the_smallest_fabric() -> None:
    topology = Topology(planes=1, t0=1, t1=1, hosts_per_t0=2)
    assert [host.name for host in topology.hosts()] == ["h0-0", "h0-1"]
    assert [switch.name for switch in topology.switches()] == ["p0-t0-0", "p0-t1-0"]
    assert list(topology.links()) == [
        Link(PortRef("h0-0", 0), PortRef("p0-t0-0", 0)),
        Link(PortRef("h0-1", 0), PortRef("p0-t0-0", 1)),
        Link(PortRef("p0-t0-0", 2), PortRef("p0-t1-0", 0)),
    ]


@given(topologies)
def test_every_port_has_one_link_and_both_ends_agree(topology: Topology) -> None:
    ends = Counter(end for link in topology.links() for end in (link.a, link.b))
    every_port = [PortRef(host.name, plane) for host in topology.hosts() for plane in range(topology.planes)]
    for switch in topology.switches():
        assert topology.switch(switch.name) == switch
        every_port += [PortRef(switch.name, port) for port in range(topology.port_count(switch))]
    assert ends == Counter(every_port)
    for link in topology.links():
        assert topology.peer(topology.switch(link.b.node), link.b.port) == link.a
        if not link.a.node.startswith("h"):
            assert topology.peer(topology.switch(link.a.node), link.a.port) == link.b


@given(topologies)
def test_addresses_macs_and_usids_are_unique(topology: Topology) -> None:
    hosts = list(topology.hosts())
    assert len({topology.inner_address(host) for host in hosts}) == len(hosts)
    sources = {topology.source_address(host, plane) for host in hosts for plane in range(topology.planes)}
    assert len(sources) == len(hosts) * topology.planes
    macs = [topology.mac(end) for link in topology.links() for end in (link.a, link.b)]
    assert len(set(macs)) == len(macs)
    # Locally administered and no group address (IEEE 802): the two low bits of the first byte are 1 and 0.
    assert {mac >> 40 & 3 for mac in macs} == {2}
    own = [own for switch in topology.switches() for own in topology.own_usids(switch)]
    assert len(set(own)) == len(own)
    assert all(0 < usid < 0xE000 for usid in own)


def test_addresses_of_a_host() -> None:
    topology = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2)
    host = topology.host("h1-0")
    assert topology.inner_address(host) == ip("2001:db8:0:2::1")
    assert topology.source_address(host, 0) == ip("fc00:0:2:8000::")
    assert topology.source_address(host, 1) == ip("fc00:0:802:8800::")


@pytest.mark.parametrize(
    ("ev", "port", "address"),
    [
        # EV[31:29] plane, [28:26] plane, [25:18] uplink, [17:15] plane, [14:12] plane, [11:0] free (mrc-facts.md 4.1).
        (0b000_000_00000000_000_000_000000000000, 0, "fc00:0:1:4000:3:8001::"),
        (0b000_000_00000011_000_000_111111111111, 0, "fc00:0:1:4003:3:8001::"),
        (0b101_101_00000010_101_101_000000000001, 5, "fc00:0:2801:6802:2803:a801::"),
    ],
)
def test_each_bit_of_an_ev_has_its_place(ev: int, port: int, address: str) -> None:
    topology = Topology(planes=6, t0=3, t1=4, hosts_per_t0=2)
    record = topology.record(topology.host("h0-0"), topology.host("h2-1"), ev)
    assert record == EvRecord(ev, port, ip(address))


def test_under_one_t0_the_path_is_t0_and_nic() -> None:
    topology = Topology(planes=6, t0=3, t1=4, hosts_per_t0=2)
    ev = 0b101_101_00000000000000000000000001
    record = topology.record(topology.host("h2-0"), topology.host("h2-1"), ev)
    assert record == EvRecord(ev, 5, ip("fc00:0:2803:a801::"))


@pytest.mark.parametrize(
    ("uplink", "address"),
    [(0, "fc00:0:1:4000:9:8000::"), (3, "fc00:0:1:4003:c:8000::"), (6, "fc00:0:1:4006:b:8000::")],
)
def test_with_parallel_links_the_low_uplink_bits_are_the_rank_up_and_down(uplink: int, address: str) -> None:
    # k = 4: T1 number 1, rank 2 is uplink 6; T0 number 2 has the indices 9 to 12.
    topology = Topology(planes=1, t0=3, t1=2, hosts_per_t0=1, parallel_links=4)
    record = topology.record(topology.host("h0-0"), topology.host("h2-0"), uplink << 18)
    assert record.address == ip(address)


@pytest.mark.parametrize(
    ("ev", "words"),
    [
        (0b000_001_00000000_000_000_000000000000, r"planes \[0, 1, 0, 0\], expected the same plane"),
        (0b001_001_00000000_001_000_000000000000, r"planes \[1, 1, 1, 0\]"),
        (0b110_110_00000000_110_110_000000000000, "plane: found 6, expected a number from 0 to 5"),
        (0b000_000_00000100_000_000_000000000000, "uplink: found 4, expected a number from 0 to 3"),
    ],
)
def test_an_ev_that_names_no_path_is_refused(ev: int, words: str) -> None:
    topology = Topology(planes=6, t0=3, t1=4, hosts_per_t0=2)
    with pytest.raises(InputError, match=words):
        topology.record(topology.host("h0-0"), topology.host("h2-1"), ev)


@given(topologies, st.integers(0, 3), st.integers(1, 24), st.integers(0, 1 << 32))
def test_an_ev_set_is_equal_over_planes_and_even_over_uplinks(
    topology: Topology, pick: int, share: int, seed: int
) -> None:
    pairs = list(itertools.permutations(itertools.islice(topology.hosts(), 5), 2))
    assume(pairs)
    source, destination = pairs[pick % len(pairs)]
    records = topology.ev_set(source.name, destination.name, share * topology.planes, seed)
    assert [record.port for record in records] == list(range(topology.planes)) * share
    assert len({record.ev for record in records}) == len(records)
    for plane in range(topology.planes):
        uses = Counter(record.address for record in records if record.port == plane)
        paths = 1 if source.t0 == destination.t0 else topology.uplinks
        assert len(uses) == min(paths, share)
        assert max(uses.values()) - min(uses.values()) <= 1
    for record in records:
        assert topology.record(source, destination, record.ev) == record


def test_an_ev_set_depends_on_seed_and_pair_alone() -> None:
    topology = Topology(planes=2, t0=2, t1=64, hosts_per_t0=2)
    one = topology.ev_set("h0-0", "h1-1", 32, seed=1)
    assert topology.ev_set("h0-0", "h1-1", 32, seed=1) == one
    others = [topology.ev_set(*pair, 32, seed) for pair, seed in ((("h0-0", "h1-1"), 2), (("h1-1", "h0-0"), 1))]
    assert all({record.ev for record in other} != {record.ev for record in one} for other in others)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_an_ev_set_does_not_depend_on_hash_seeds(hash_seed: str) -> None:
    code = "from pymodel.paths.topology import Topology; print(Topology().ev_set('h0-0', 'h1-1', 8, 3)[5].ev)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(shown.stdout) == Topology().ev_set("h0-0", "h1-1", 8, 3)[5].ev


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.ev_set("h0-0", "h0-0", 2, 1), "h0-0 as both ends"),
        (lambda t: t.ev_set("h0-0", "h1-1", 3, 1), "3 EVs, expected a multiple of the 2 planes, from 2 to 16384"),
        (lambda t: t.ev_set("h0-0", "h1-1", 0, 1), "0 EVs"),
        (lambda t: t.ev_set("h0-0", "h1-1", 16386, 1), "16386 EVs"),
        (lambda t: t.ev_set("h0-2", "h1-1", 2, 1), "found 'h0-2', expected a name from h0-0 to h1-1"),
        (lambda t: t.host("h00-0"), "found 'h00-0'"),
        (lambda t: t.switch("p0-t2-0"), "found 'p0-t2-0', expected a name from p0-t0-0 to p1-t0-1"),
        (lambda t: t.switch("p2-t0-0"), "p2-t0-0"),
        (lambda t: t.switch("p0-t1-2"), "p0-t1-2"),
        (lambda t: t.peer(t.switch("p0-t1-0"), 2), "port of p0-t1-0: found 2, expected a number from 0 to 1"),
        (lambda t: t.nic_usid(Host(0, 0), 2), "plane: found 2"),
    ],
)
def test_what_the_fabric_does_not_have_is_refused(call: Callable[[Topology], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call(Topology())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"planes": 9}, "topology.planes: found 9, expected a number from 1 to 8"),
        ({"planes": 0}, "topology.planes: found 0"),
        ({"hosts_per_t0": 0}, "topology.hosts_per_t0: found 0, expected a number from 1 to 2048"),
        ({"hosts_per_t0": 2049}, "topology.hosts_per_t0: found 2049"),
        ({"t0": 0}, "topology.t0: found 0"),
        ({"t0": 2048}, "topology.t0: found 2048, expected a number from 1 to 2047"),
        ({"t0": 512, "parallel_links": 4}, "topology.t0: found 512, expected a number from 1 to 511"),
        ({"t1": 0}, "topology.t1: found 0"),
        ({"t1": 257}, "topology.t1: found 257, expected a number from 1 to 256"),
        ({"t1": 129, "parallel_links": 2}, "topology.t1: found 129, expected a number from 1 to 128"),
        ({"parallel_links": 3}, "topology.parallel_links: found 3, expected a power of two"),
        ({"parallel_links": 0}, "topology.parallel_links: found 0"),
        ({"parallel_links": 512}, "topology.parallel_links: found 512, expected a number from 1 to 256"),
        ({"block": 0}, "uSID block"),
        ({"block": 1 << 32}, "uSID block"),
    ],
)
def test_a_fabric_that_its_usids_cannot_name_is_refused(parameters: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Topology(**parameters)


def test_the_largest_of_everything_fits() -> None:
    assert Topology(planes=8, t0=2047, t1=256, hosts_per_t0=2048).uplinks == 256
    assert Topology(planes=8, t0=1023, t1=128, parallel_links=2).uplinks == 256


def test_a_fabric_wider_than_v1model_is_data_but_does_not_run() -> None:
    Topology(t0=510, hosts_per_t0=254, t1=256).require_runnable()
    with pytest.raises(InputError, match="a T0: found 512 ports, expected at most 510"):
        PAPER.require_runnable()
    with pytest.raises(InputError, match="a T1: found 511 ports"):
        Topology(t0=511).require_runnable()


@pytest.mark.parametrize(
    "work",
    [
        lambda: sum(1 for _ in switch_entries(PAPER, Switch(7, UsidRole.T0, 511))),
        lambda: sum(1 for _ in switch_entries(PAPER, Switch(7, UsidRole.T1, 255))),
        lambda: len(PAPER.ev_set("h0-0", "h511-255", 256, 1)),
    ],
    ids=["tables of a T0", "tables of a T1", "EVs of a pair"],
)
def test_the_papers_full_size_is_lazy(work: Callable[[], int]) -> None:
    """8 planes, 512 T0, 256 T1 a plane, 131,072 NICs: under 100 ms of processor time and 100 MB (mrc-facts.md 4.3)."""
    took = []
    for _ in range(3):
        start = time.process_time()
        assert work() >= 256
        took.append(time.process_time() - start)
    assert min(took) < 0.1
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000
