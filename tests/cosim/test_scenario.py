"""Every mistake in a scenario is one sentence that names file, key, what was found and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.base.errors import InputError
from pymodel.cosim.scenario import load

GOOD = """\
schema: mrc.scenario/1
name: small
topology: {planes: 2, t0: 2, t1: 2, hosts_per_t0: 2}
links: {loss_ppm: 10000}
writes:
  - {name: a, source: h0, destination: h2, bytes: 1000}
  - {name: b, source: h0, destination: h1, bytes: 1000}
"""

ROWS = [
    ("missing key", "name: small\n", "", "name: found nothing, expected a value for this key"),
    ("missing nested key", "planes: 2, ", "", "topology.planes: found nothing, expected a value for this key"),
    (
        "unknown key",
        "name: small\n",
        "name: small\ncolour: red\n",
        "colour: found an unknown key, expected one of schema, name,",
    ),
    (
        "unknown nested key",
        "loss_ppm",
        "lose_ppm",
        "links.lose_ppm: found an unknown key, expected one of rate_bps, delay_ns, loss_ppm",
    ),
    (
        "unknown key in a list",
        "bytes: 1000}\n  - {name: b",
        "bytes: 1000, colour: 1}\n  - {name: b",
        "writes.0.colour: found an unknown key, expected one of name, source, destination, bytes, at_ns",
    ),
    ("wrong type", "planes: 2", "planes: two", "topology.planes: found 'two', expected a whole number"),
    ("a float is no count", "planes: 2", "planes: 2.0", "topology.planes: found 2.0, expected a whole number"),
    ("a truth value is no count", "planes: 2", "planes: true", "topology.planes: found True, expected a whole number"),
    (
        "zero hosts",
        "hosts_per_t0: 2",
        "hosts_per_t0: 0",
        "topology.hosts_per_t0: found 0, expected a number of at least 1",
    ),
    ("nine planes", "planes: 2", "planes: 9", "topology.planes: found 9, expected a number of at most 8"),
    ("wrong schema", "mrc.scenario/1", "mrc.scenario/2", "schema: found 'mrc.scenario/2', expected 'mrc.scenario/1'"),
    (
        "mapping expected",
        "topology: {planes: 2, t0: 2, t1: 2, hosts_per_t0: 2}",
        "topology: 5",
        "topology: found 5, expected a mapping",
    ),
    ("name with a space", "name: a,", "name: a b,", "writes.0.name: found 'a b', expected a name of letters"),
    ("twice the same name", "name: b", "name: a", "two writes named a"),
    ("broken YAML", "topology: {", "topology: [", "line 3"),
    ("duplicate key", "name: small\n", "name: small\nname: big\n", 'found duplicate key "name"'),
]


def write(folder: Path, text: str) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_scenario_gets_its_defaults(tmp_path: Path) -> None:
    scenario = load(write(tmp_path, GOOD))
    assert (scenario.seed, scenario.switch, scenario.links.loss_ppm, scenario.nic.evs) == (1, "embedded", 10_000, 32)
    assert [item.name for item in scenario.writes] == ["a", "b"]


@pytest.mark.parametrize(("old", "new", "sentence"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_mistake_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert sentence in message
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "found None, expected a mapping"),
        (b"- 1\n", "expected a mapping"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"a: \x00", "expected valid YAML"),
    ],
    ids=["empty", "a list", "not UTF-8", "a control character"],
)
def test_what_is_no_scenario_at_all(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(path)
    assert sentence in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: found no such file"):
        load(tmp_path / "nowhere.yaml")
