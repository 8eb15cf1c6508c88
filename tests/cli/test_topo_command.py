"""`mrc topo`: files that load, drawings that fit, differences one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.paths.tables import port_entries, route_entry, switch_entries
from pymodel.paths.topology import Topology
from pymodel.report.fabric import read_tables
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from tests.cli.conftest import NAME, SCENARIO, Mrc


def test_build_writes_every_switch_and_the_files_read_back(mrc: Mrc, tmp_path: Path, fabric: Topology) -> None:
    outcome = mrc("topo", "build", SCENARIO, "--out", tmp_path / "tables")
    assert outcome.code == 0
    assert outcome.out.startswith("8 switches: ")
    names = [place.name for place in fabric.switches()]
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == sorted(f"{name}.json" for name in names)
    for place in fabric.switches():
        assert read_tables(tmp_path / "tables" / f"{place.name}.json") == list(switch_entries(fabric, place))


def test_build_says_where_it_can_not_write(mrc: Mrc, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert (
        "expected a folder that can be written" in mrc("topo", "build", SCENARIO, "--out", tmp_path / "file").sentence()
    )


def test_show_draws_the_fabric_and_lists_addresses(mrc: Mrc) -> None:
    lines = mrc("topo", "show", SCENARIO).out.splitlines()
    assert max(map(len, lines)) <= 80
    whole = "\n".join(line.strip() for line in lines)
    # T1 above T0 above hosts, in each plane.
    for plane in (0, 1):
        rows = [f"p{plane}-t1-0  p{plane}-t1-1", f"p{plane}-t0-0  p{plane}-t0-1", "h0-0..1  h1-0..1"]
        places = [whole.index(row, whole.index(rows[0])) for row in rows]
        assert places == sorted(places)
    found = {line.split()[0]: line.split()[-1] for line in lines if line.strip()}
    assert found["p1-t1-1"] == "fc00:0:4801::1"
    assert found["h1-0"] == "2001:db8:0:2::1"


def test_show_of_a_switch_and_of_a_host(mrc: Mrc) -> None:
    outcome = mrc("topo", "show", SCENARIO, "--switch", "p0-t0-1", "--host", "h1-0")
    assert outcome.code == 0
    for text in ("p0-t0-1: uSID 0x0002", "answers at fc00:0:2::1", "h1-0:0", "p0-t1-1:1", "fc00:0:2:8000::"):
        assert text in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--switch", "p0-t2-0"), "switch: found 'p0-t2-0', expected a name from p0-t0-0"),
        (("--host", "h0"), "host: found 'h0', expected a name from h0-0 to h1-1"),
    ],
)
def test_show_of_what_is_not_there_is_one_sentence(mrc: Mrc, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in mrc("topo", "show", SCENARIO, *arguments).sentence()


def test_diff_finds_nothing_then_each_difference(
    mrc: Mrc, switch: EmbeddedSwitch | Bmv2Switch, fabric: Topology
) -> None:
    command = ("topo", "diff", SCENARIO, "--switch", NAME, "--connect", switch.address)
    outcome = mrc(*command)
    assert (outcome.code, outcome.out, outcome.err) == (0, f"{NAME}: 37 entries, as intended\n", "")
    block = fabric.block << 96
    control = switch.control
    control.put(port_entries(3, up=False)[:1])
    control.client.delete([route_entry((block | 0x8001 << 80, 48), 1)])
    control.client.insert([route_entry((block | 0x8002 << 80, 48), 1)])
    outcome = mrc(*command)
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.splitlines() == [
        "different   MrcIngress.admission.rx_port  port=0x3  ->  MrcIngress.admission.up(), installed port_down()",
        "missing     MrcIngress.routing.route  dst=fc00:0:8001::/48  ->  MrcIngress.routing.forward(port=0x1)",
        "unexpected  MrcIngress.routing.route  dst=fc00:0:8002::/48  ->  MrcIngress.routing.forward(port=0x1)",
    ]
    # Looking did not take the switch from its controller.
    control.put(port_entries(3, up=True)[:1])


def test_diff_with_nobody_there_is_one_sentence(mrc: Mrc) -> None:
    outcome = mrc("topo", "diff", SCENARIO, "--switch", NAME, "--connect", "127.0.0.1:1")
    assert "P4Runtime at 127.0.0.1:1: found UNAVAILABLE" in outcome.sentence()
