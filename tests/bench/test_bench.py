"""What every benchmark shares: figures, medians, floors, the registry, and the command around them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from pymodel.base.errors import InputError
from pymodel.bench import command, floors, registry
from pymodel.bench.figure import Figure, Outcome, Step, medians, save
from pymodel.bench.registry import BENCHMARKS, Benchmark, select
from pymodel.cli import app


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (Figure("a", 12.0, "ms"), {"name": "a", "value": 12, "unit": "ms"}),
        (Figure("a", 0.123456, "s"), {"name": "a", "value": 0.1235, "unit": "s"}),
        (Figure("a", 1234567.0, "b/s"), {"name": "a", "value": 1235000, "unit": "b/s"}),
        (
            Figure("a", 300.0, "b/s", "other 1.0", 400.0),
            {"name": "a", "value": 300, "unit": "b/s", "peer": "other 1.0", "peer_value": 400, "ratio": 0.75},
        ),
    ],
    ids=["whole", "four digits", "large", "peer"],
)
def test_a_figure_is_one_object(figure: Figure, expected: dict[str, object], tmp_path: Path) -> None:
    save([figure, figure], tmp_path / "new" / "bench.json")
    assert json.loads((tmp_path / "new" / "bench.json").read_text(encoding="utf-8")) == [expected, expected]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found Is a directory, expected a file that can be written"):
        save([], tmp_path)


def test_medians_take_turns_and_leave_the_warm_up_out() -> None:
    log: list[str] = []
    values = {"a": iter([1000.0, 3.0, 1.0, 2.0]), "b": iter([0.0, 7.0, 9.0, 8.0])}

    def contestant(name: str) -> float:
        log.append(name)
        return next(values[name])

    steps: list[tuple[int, int]] = []
    found = medians([lambda: contestant("a"), lambda: contestant("b")], 3, lambda *step: steps.append(step))
    assert found == [2.0, 8.0]
    assert log == ["a", "b"] * 4
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4)]


@pytest.mark.parametrize(
    ("bounds", "figure", "sentence"),
    [
        ({"least": 10}, Figure("a", 10, "b/s"), None),
        ({"least": 10}, Figure("a", 9.9, "b/s"), "a: 9.9 b/s is below the least that is allowed, 10."),
        ({"most": 10}, Figure("a", 10, "ms"), None),
        ({"most": 10}, Figure("a", 10.1, "ms"), "a: 10.1 ms is above the most that is allowed, 10."),
        ({"least_ratio": 0.5}, Figure("a", 1, "b/s", "p", 2), None),
        (
            {"least_ratio": 0.5},
            Figure("a", 1, "b/s", "p", 3),
            "a: 0.3333 of the rate of p is below the least that is allowed, 0.5.",
        ),
        ({"least_ratio": 0.5}, Figure("a", 1, "b/s"), None),
        ({"least": 10}, Figure("b", 1, "b/s"), None),
    ],
    ids=["at the least", "below", "at the most", "above", "at the ratio", "below it", "no peer", "no floor"],
)
def test_what_is_below_its_floor(bounds: floors.Bounds, figure: Figure, sentence: str | None) -> None:
    assert floors.below([figure], {"a": bounds}) == ([] if sentence is None else [sentence])


def test_every_figure_has_a_floor_and_every_floor_a_figure() -> None:
    figures = [name for benchmark in BENCHMARKS for name in benchmark.figures]
    assert len(set(figures)) == len(figures)
    assert set(floors.read()) == set(figures)
    assert all(floors.read().values())


def test_a_floor_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    path.write_text('{"engine.un": {"at_least": 1}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"engine\.un: found at_least: 1, expected a number for one of least_ratio"):
        floors.read(path)


def test_every_benchmark_yields_the_figure_of_its_name() -> None:
    names = [benchmark.name for benchmark in BENCHMARKS]
    asked_for = {"engine.un", "wire.pack", "wire.unpack", "wire.icrc", "main_job", "rtl.psn_tracker", "topology.full"}
    assert set(names) >= asked_for
    assert all(benchmark.name in benchmark.figures for benchmark in BENCHMARKS)
    assert [benchmark.name for benchmark in select([])] == names
    assert [benchmark.name for benchmark in select(["main_job", "wire.icrc"])] == ["wire.icrc", "main_job"]
    with pytest.raises(InputError, match=r"benchmark: found 'engine', expected one of wire\.pack, "):
        select(["engine"])


# --- the command ------------------------------------------------------------------------------------------------------


def _measure(step: Step) -> Outcome:
    step(0, 1)
    return Outcome([Figure("quick", 5.0, "b/s", "p", 10.0)], ["A note."])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three benchmarks: one that runs at once, and two that lack a tool and a package."""
    absent = (
        Benchmark("absent", _measure, ("absent",), tools=("tshark",)),
        Benchmark("package", _measure, ("package",), modules=("no_such_package",)),
    )
    monkeypatch.setattr(registry, "BENCHMARKS", (Benchmark("quick", _measure, ("quick",)), *absent))
    monkeypatch.setattr(registry, "find", lambda name: None)


@pytest.mark.usefixtures("quick")
def test_a_missing_tool_leaves_its_benchmark_out_in_one_sentence(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    result = CliRunner().invoke(app, ["bench", "--out", str(out)], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "absent is left out: tshark is missing (apt-get install tshark)." in result.output
    assert "package is left out: the Python package no_such_package is missing (make venv-full)." in result.output
    assert "A note." in result.output
    assert [figure["name"] for figure in json.loads(out.read_text(encoding="utf-8"))] == ["quick"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("least", "code"), [(0.5, 0), (0.6, 1)])
def test_check_names_what_is_below_and_exits_with_1(
    least: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "read", lambda: {"quick": {"least_ratio": least}})
    arguments = ["bench", "--only", "quick", "--out", str(tmp_path / "bench.json")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    result = CliRunner().invoke(app, [*arguments, "--check"], env={"COLUMNS": "200"})
    assert result.exit_code == code
    assert ("quick: 0.5 of the rate of p is below the least that is allowed, 0.6." in result.output) == bool(code)
    assert ("absent" in result.output) is False


@pytest.mark.usefixtures("quick")
def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    assert command.bench(console, check=False, only=["quick"], out=tmp_path / "bench.json")
    assert "quick" in screen.getvalue().split("benchmarks")[0]
