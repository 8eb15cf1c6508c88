"""Coverage: counts are read and merged, waivers are held to what they say, and nightly the report to its targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pymodel.base.errors import InputError
from pymodel.bench.nightly import report_figure
from pymodel.rtl import coverage
from pymodel.rtl.build import COVERAGE_FOLDER, Design, build
from pymodel.rtl.coverage import Point, Report, Waiver, merge, merge_bins, read_counts, read_waivers, report
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
    for name, value in (("lines", found.line_percent), ("bins", found.bin_percent), ("toggles", found.toggle_percent)):
        report_figure(f"coverage of {name}, per cent", f"{value:.1f}")
