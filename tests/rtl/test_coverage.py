"""Coverage: counts are read and merged, waivers are held to what they say, and nightly the report to its targets."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cocotb_tests.coverage_group import Group
from cocotb_tests.receive_coverage import CoveredFollower
from cocotb_tests.receive_failures import FAULTS, Failures
from cocotb_tests.receive_perfect import PerfectReceiver
from cocotb_tests.receive_rows import QPS
from cocotb_tests.receive_traffic import Traffic
from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.bench.nightly import report_figure
from pymodel.rtl import coverage
from pymodel.rtl.build import COVERAGE_FOLDER, Design, build
from pymodel.rtl.coverage import (
    Point,
    Report,
    Waiver,
    merge,
    merge_bins,
    read_counts,
    read_figures,
    read_waivers,
    report,
    stale,
)
from pymodel.rtl.simulate import simulate


def key(**parts: str) -> str:
    return "".join(f"\x01{name}\x02{value}" for name, value in parts.items())


def written(path: Path, *points: tuple[str, int]) -> Path:
    lines = ["# SystemC::Coverage-3", *(f"C '{name}' {count}" for name, count in points)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


LINE = key(f="/clone/rtl_models/common/a.sv", l="3", n="5", t="line", page="v_line/a", o="block", S="3,5-6", h="a")
BRANCH = key(f="/clone/rtl_models/common/a.sv", l="7", n="5", t="branch", page="v_branch/a", o="if", S="7", h="a.b")
TOGGLE = key(f="/clone/rtl_models/common/a.sv", l="2", n="9", t="toggle", page="v_toggle/a", o="x[0]:0->1", h="a")
BENCH = key(f="/clone/cocotb_tests/hdl/b.sv", l="3", n="5", t="line", page="v_line/b", o="block", S="3", h="b")
GENERATED = key(f="/c/rtl_models/csr/generated/g.sv", l="3", n="5", t="line", page="v_line/g", o="block", S="3", h="g")


def test_counts_of_several_runs_are_added_and_benches_left_out(tmp_path: Path) -> None:
    first = written(tmp_path / "1.dat", (LINE, 4), (BRANCH, 0), (TOGGLE, 1), (BENCH, 7), (GENERATED, 1))
    second = written(tmp_path / "2.dat", (LINE, 3), (BRANCH, 0))
    assert merge([first, second]) == {
        Point("common/a.sv", "line", "block 3:5", (3, 5, 6)): 7,
        Point("common/a.sv", "branch", "if 7:5", (7,)): 0,
        Point("common/a.sv", "toggle", "x[0]:0->1 2:9", (2,)): 1,
    }


def test_a_line_that_is_no_count_is_named(tmp_path: Path) -> None:
    (tmp_path / "1.dat").write_text("C nonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected a line of Verilator's coverage"):
        read_counts(tmp_path / "1.dat")


def summed(tmp_path: Path, *waivers: Waiver) -> Report:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "a.sv").write_text("1\n2\n3\n4\n5\n6\n  seven;\n", encoding="utf-8")
    counts = read_counts(written(tmp_path / "1.dat", (LINE, 4), (BRANCH, 0), (TOGGLE, 1)))
    return report(counts, {"cp": {"a": 0, "b": 2}}, waivers, tmp_path)


def test_what_was_not_reached_is_named(tmp_path: Path) -> None:
    found = summed(tmp_path)
    assert (found.lines, found.lines_reached, found.line_percent) == (4, 3, 75)
    assert found.missed == ("common/a.sv:7: seven;",)
    assert (found.bins, found.bins_reached, found.missed_bins) == (2, 1, ("cp: b",))
    assert found.toggle_percent == 100
    assert "* `common/a.sv:7: seven;`" in coverage.page(found, [])


def test_a_waiver_takes_a_line_away(tmp_path: Path) -> None:
    waiver = Waiver("common/a.sv", "seven;", "no way there")
    found = summed(tmp_path, waiver)
    assert (found.line_percent, found.waived_percent, found.missed) == (100, 25, ())
    assert "no way there" in coverage.page(found, [waiver])


@pytest.mark.parametrize("text", ["eight;", "3"], ids=["unknown", "reached"])
def test_a_waiver_must_fit_a_line_that_is_never_reached(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a line that is counted and never reached"):
        summed(tmp_path, Waiver("common/a.sv", text, "why"))


def test_a_waiver_without_a_reason_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("# comment\n\na.sv | x; |\n", encoding="utf-8")
    with pytest.raises(InputError, match="reason"):
        read_waivers(tmp_path / "w")
    (tmp_path / "w").write_text("a.sv | x | y; | why\n", encoding="utf-8")
    with pytest.raises(InputError, match="reason"):
        read_waivers(tmp_path / "w")
    assert all(waiver.reason for waiver in read_waivers())


def test_bins_of_several_runs_are_added(tmp_path: Path) -> None:
    for n, hits in enumerate(({"a": 1, "b": 0}, {"a": 1, "b": 0})):
        text = json.dumps({"cp": {"at_least": 2, "hits": hits}})
        (tmp_path / f"{n}.json").write_text(text, encoding="utf-8")
    assert merge_bins(sorted(tmp_path.iterdir())) == {"cp": {"a": 0, "b": 2}}


def test_a_run_keeps_its_bins_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of a run keeps those of all so far, and nothing is kept when nobody asks for it."""
    coverage.keep_bins()
    monkeypatch.setenv(COVERAGE_FOLDER, str(tmp_path))
    group = Group("test_group", {"a": ("x", "y"), "b": (1, 2)}, {("a", "b"): (("y", 2),)})
    group.sample(a="x", b=1)
    coverage.keep_bins()
    group.sample(b=2)
    group.sample(a="y", b=1)
    group.sample(a="y", b=2)
    coverage.keep_bins()
    lack = merge_bins(tmp_path.iterdir())
    assert lack["test_group.a"] == {"x": 0, "y": -1}
    assert lack["test_group.b"] == {"1": -1, "2": -1}
    assert lack["test_group.a x b"] == {"('x', 1)": 0, "('x', 2)": 1, "('y', 1)": 0}
    with pytest.raises(AssertionError, match="no such point"):
        group.sample(c=1)


@pytest.mark.slow
def test_the_receive_side_is_sampled_at_every_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without RTL: random traffic, and failures by hand, on a perfect receiver hit most of what can happen, in every
    group."""
    monkeypatch.setenv(COVERAGE_FOLDER, str(tmp_path))
    traffic, scene = Traffic(1), Failures(4)
    qps = range(3, 3 + FAULTS + 2)
    for world, scripts in (
        (traffic.world, (traffic.opening(), traffic.next(2500), traffic.queries())),
        (scene.world, (scene.opening({qp: scene.row(mtu=256) for qp in qps}), scene.failures(qps, 0))),
    ):
        follower, perfect = CoveredFollower(world.config, 1), PerfectReceiver(world.config, 1)
        for script in scripts:
            follower.follow(script, perfect.play(script, list(range(QPS))))
    points = {name: lack for name, lack in merge_bins(tmp_path.iterdir()).items() if not name.startswith("test_group")}
    hit = {name: sum(lacking <= 0 for lacking in lack.values()) for name, lack in points.items()}
    assert [name for name, count in hit.items() if not count] == []
    assert 0.5 < sum(hit.values()) / sum(map(len, points.values())) < 0.9  # chance alone does not get to everything


def test_the_documentation_has_the_figures_of_the_last_report() -> None:
    """They reach the targets, too."""
    kept = read_figures()
    text = (ROOT / "docs" / "rtl-coverage.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| [0-9,]+ \| [0-9,]+ \| ([0-9.]+) % \|", text, re.M))
    names = {
        "lines": "line_percent",
        "lines waived": "waived_percent",
        "functional bins": "functional_percent",
        "toggles": "toggle_percent",
    }
    assert rows == {name: f"{kept[figure]:.1f}" for name, figure in names.items()}
    assert kept["line_percent"] >= coverage.LINE_TARGET
    assert kept["functional_percent"] >= coverage.FUNCTIONAL_TARGET
    assert kept["waived_percent"] <= coverage.WAIVED_AT_MOST


def test_a_report_is_stale_when_its_sources_are_others(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"sources": coverage.source_hash()}), encoding="utf-8")
    assert not stale(path)
    path.write_text(json.dumps({"sources": "0"}), encoding="utf-8")
    assert stale(path)


@pytest.mark.rtl
@pytest.mark.slow
def test_a_bench_with_coverage_leaves_counts_and_bins_C09(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802
    """The counting build has a folder of its own; its run leaves counts of lines, toggles and functional bins."""
    design = Design("mrc_popcount", ("rtl_models/common/mrc_popcount.sv",), {"WIDTH": 7})
    plain = build(design, waves=False, coverage=False)
    monkeypatch.setenv(COVERAGE_FOLDER, str(tmp_path))
    counting = build(design, waves=False)
    assert counting.coverage
    assert counting.folder != plain.folder
    simulate(counting, "cocotb_tests.test_mrc_popcount", tmp_path / "run", {"width": 7})
    (counts,) = tmp_path.glob("*.dat")
    found = report(read_counts(counts), merge_bins(tmp_path.glob("bins-*.json")))
    assert found.line_percent == 100
    assert found.toggle_percent > 60  # the padding never toggles
    assert (found.bins, found.bins_reached) == (8, 8)


@pytest.mark.rtl
@pytest.mark.nightly
def test_the_benches_reach_what_they_must() -> None:
    found = coverage.main()
    assert found.bin_percent >= coverage.FUNCTIONAL_TARGET, found.missed_bins
    assert found.line_percent >= coverage.LINE_TARGET, found.missed
    assert found.waived_percent <= coverage.WAIVED_AT_MOST
    assert not stale()
    for name, value in (("lines", found.line_percent), ("bins", found.bin_percent), ("toggles", found.toggle_percent)):
        report_figure(f"coverage of {name}, per cent", f"{value:.1f}")
