"""Traces of EVs: every hop by name, by address and by the port it came through, on both targets."""

from __future__ import annotations

import pytest

from pymodel.base.errors import InputError
from pymodel.cosim import trace as tracing
from pymodel.cosim.fabric import Fabric, Observer
from pymodel.cosim.link import LinkDirection
from pymodel.cosim.run import topology_of
from pymodel.cosim.scenario import LinkModel, Scenario, TopologyModel, load
from pymodel.cosim.trace import TRIES, Hop, trace
from pymodel.paths.tables import loopback_address
from pymodel.wire import Frame, parse
from pymodel.wire.spec import Opcode
from tests.cosim.find_seeds import SCENARIO


def scenario(**changes: object) -> Scenario:
    """The main job's fabric, without loss unless said otherwise."""
    return load(SCENARIO).model_copy(update={"links": LinkModel(), **changes})


DOUBLE = TopologyModel(planes=1, t0=2, t1=2, hosts_per_t0=2, parallel_links=2)


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Node and port of each arrival that is not an answer: where the probes really went."""
    found: list[tuple[str, int]] = []

    def observe(direction: LinkDirection, at_ps: int, data: bytes, lost: bool) -> None:
        node, _, port = direction.name.partition(">")[2].partition(":")
        frame = parse(data)
        if isinstance(frame, Frame) and frame.opcode == Opcode.ENDPOINT_REQUEST:
            found.append((node, int(port)))

    class Watched(Fabric):
        def __init__(self, *arguments: object, observers: tuple[Observer, ...] = ()) -> None:
            super().__init__(*arguments, observers=(observe,))  # type: ignore[arg-type]

    monkeypatch.setattr(tracing, "Fabric", Watched)
    return found


@pytest.mark.parametrize("switch", ["embedded", pytest.param("bmv2", marks=pytest.mark.bmv2)])
def test_a_trace_names_each_hop(walked: list[tuple[str, int]], switch: str) -> None:
    found = trace(scenario(switch=switch), "h0-1", "h1-0", index=1)
    topology = topology_of(scenario())
    assert found.reached
    assert found.record.port == 1
    nodes = [hop.node for hop in found.hops]
    assert nodes[0] == "p1-t0-0"
    assert nodes[1] in ("p1-t1-0", "p1-t1-1")
    assert nodes[2:] == ["p1-t0-1", "h1-0"]
    assert [hop.number for hop in found.hops] == [1, 2, 3, 4]
    for hop in found.hops[:3]:
        assert hop.node is not None
        assert hop.address == loopback_address(topology, topology.switch(hop.node))
    assert found.hops[3].address == topology.inner_address(topology.host("h1-0"))
    # The last probe went the whole way: those are the ports that the trace found.
    assert [(hop.node, hop.port) for hop in found.hops] == walked[-4:]
    # Each hop is one link further, there and back, of 500 ns and a few more for the frame.
    for hop in found.hops:
        assert 0 <= hop.round_trip_ps - hop.number * 2 * 500_000 < hop.number * 50_000


def test_parallel_links_are_told_apart(walked: list[tuple[str, int]]) -> None:
    fabric = scenario(topology=DOUBLE)
    topology = topology_of(fabric)
    ports = set()
    for uplink in (0, 1, 3):
        record = next(one for one in topology.ev_set("h0-0", "h1-1", 32, 1) if one.address >> 64 & 0xFF == uplink)
        walked.clear()
        found = trace(fabric, "h0-0", "h1-1", ev=record.ev)
        assert found.reached
        assert [(hop.node, hop.port) for hop in found.hops] == walked[-4:]
        ports.add(tuple(hop.port for hop in found.hops))
    assert len(ports) == 3


def test_under_one_t0_the_path_has_one_switch() -> None:
    found = trace(scenario(), "h1-1", "h1-0")
    assert [(hop.node, hop.port) for hop in found.hops] == [("p0-t0-1", 1), ("h1-0", 0)]


def test_where_everything_is_lost_every_hop_is_silent() -> None:
    found = trace(scenario(links=LinkModel(loss_ppm=1_000_000)), "h0-0", "h1-0")
    assert not found.reached
    assert found.hops == tuple(Hop(number) for number in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("seed", "hops"),
    [
        # A hop behind a silent one: nobody knows over which link the probe came.
        (0, [("p0-t0-0", 0), (None, None), ("p0-t0-1", None), ("h1-0", 0)]),
        (3, [("p0-t0-0", 0), ("p0-t1-0", 0), ("p0-t0-1", 2), (None, None)]),
    ],
)
def test_lost_probes_are_sent_again(
    walked: list[tuple[str, int]], seed: int, hops: list[tuple[str | None, int | None]]
) -> None:
    found = trace(scenario(links=LinkModel(loss_ppm=250_000), seed=seed), "h0-0", "h1-0")
    assert [(hop.node, hop.port) for hop in found.hops] == hops
    assert found.reached == (hops[-1][0] is not None)
    probes = walked.count(("p0-t0-0", 0))
    assert len(hops) < probes <= TRIES * len(hops)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"source": "h9-0"}, "host: found 'h9-0', expected a name from h0-0 to h1-1"),
        ({"destination": "h0-0"}, "found h0-0 as both ends, expected two different hosts"),
        ({"index": 32}, "trace: index: found 32, expected 0 to 31"),
        ({"index": -1}, "trace: index: found -1, expected 0 to 31"),
        ({"ev": 1 << 32}, "expected"),
        ({"ev": 0x20000000}, r"EV 0x20000000 from h0-0 to h1-0: found planes \[1, 0, 0, 0\]"),
        ({"ev": 0, "index": 0}, "trace: found both an EV and an index, expected one of them"),
    ],
)
def test_a_trace_that_can_not_be_is_one_sentence(arguments: dict[str, object], sentence: str) -> None:
    places = {"source": "h0-0", "destination": "h1-0"} | arguments
    with pytest.raises(InputError, match=sentence):
        trace(scenario(), **places)  # type: ignore[arg-type]
