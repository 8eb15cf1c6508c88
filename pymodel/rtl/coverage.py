"""What the benches reach: lines and toggles as Verilator counts them, functional bins of cocotb-coverage, one report.

With MRC_RTL_COVERAGE naming a folder, `build` builds with counters, `simulate` leaves each run's counts there, and a
bench that has coverage points calls `keep_bins`. `python -m pymodel.rtl.coverage` runs the benches so and writes
`rtl_models/coverage.json` and `docs/rtl-coverage.md`.

A line counts when Verilator has a point for it, and is reached when one of its points is, in any run. Lines that no run
can reach stand in `rtl_models/coverage.waivers` with the reason, by file and text:

    responder/mrc_x.sv | default: state_d = IDLE; | every value of the enum has its branch
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import COVERAGE_FOLDER

__all__ = [
    "FUNCTIONAL_TARGET",
    "LINE_TARGET",
    "WAIVED_AT_MOST",
    "Report",
    "Waiver",
    "keep_bins",
    "merge",
    "read_counts",
    "read_figures",
    "read_waivers",
    "report",
    "source_hash",
    "stale",
]

LINE_TARGET, FUNCTIONAL_TARGET, WAIVED_AT_MOST = 95, 90, 2  # per cent
WAIVERS = ROOT / "rtl_models" / "coverage.waivers"
_JSON = ROOT / "rtl_models" / "coverage.json"
_PAGE = ROOT / "docs" / "rtl-coverage.md"
_FOLDER = "rtl_models"  # what is covered: the RTL, and not the benches' wrappers
_UNCOUNTED = ("csr/generated/", "formal/")
_RUN = uuid4()  # of this process


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A place that Verilator counts: `kind` is line, branch or toggle, `file` relative to rtl_models."""

    file: str
    kind: str
    name: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Waiver:
    """A line that need not be reached: its file, its text without blanks at the ends, and why."""

    file: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was reached, of what there is. `missed` and `missed_bins` name the rest."""

    lines: int
    lines_reached: int
    lines_waived: int
    toggles: int
    toggles_reached: int
    bins: int
    bins_reached: int
    missed: tuple[str, ...]
    missed_bins: tuple[str, ...]
    files: Mapping[str, tuple[int, int]]

    @property
    def line_percent(self) -> float:
        """Lines reached of those that are not waived."""
        return 100 * self.lines_reached / max(1, self.lines - self.lines_waived)

    @property
    def waived_percent(self) -> float:
        """Waived lines of all."""
        return 100 * self.lines_waived / max(1, self.lines)

    @property
    def toggle_percent(self) -> float:
        """Bits that rose, and bits that fell, of all."""
        return 100 * self.toggles_reached / max(1, self.toggles)

    @property
    def bin_percent(self) -> float:
        """Functional bins hit as often as they must be."""
        return 100 * self.bins_reached / max(1, self.bins)


def _lines(span: str) -> tuple[int, ...]:
    """Lines of a span as Verilator writes it: `47,50-52`."""
    numbers: list[int] = []
    for part in span.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return tuple(numbers)


def read_counts(path: Path) -> Counter[Point]:
    """Return the counts of one run's `coverage.dat`; points outside rtl_models and in generated files are left out.

    A line of the file is `C '<key>' <count>`, the key a list of \\x01 name \\x02 value. InputError when one is not.
    """
    counts: Counter[Point] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"C '(.*)' (\d+)", line)
        if not match:
            raise InputError(str(path), repr(line), "a line of Verilator's coverage")
        parts = dict(part.split("\x02", 1) for part in match[1].split("\x01") if part)
        _, inside, file = parts["f"].rpartition(f"{_FOLDER}/")
        if not inside or file.startswith(_UNCOUNTED):
            continue
        kind, span = parts["t"], parts.get("S", parts["l"])
        counts[Point(file, kind, f"{parts['o']} {parts['l']}:{parts['n']}", _lines(span))] += int(match[2])
    return counts


def merge(paths: Iterable[Path]) -> Counter[Point]:
    """Add up the counts of several runs."""
    total: Counter[Point] = Counter()
    for path in paths:
        total.update(read_counts(path))
    return total


def read_waivers(path: Path = WAIVERS) -> list[Waiver]:
    """Return the waivers of `path`, one a line; InputError when one lacks a part."""
    waivers = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise InputError(str(path), repr(line), "file | text of the line | reason")
        waivers.append(Waiver(*parts))
    return waivers


def report(
    counts: Mapping[Point, int],
    bins: Mapping[str, Mapping[str, int]],
    waivers: Sequence[Waiver] = (),
    root: Path = ROOT / _FOLDER,
) -> Report:
    """Sum up `counts`, and functional `bins` (hits still missing, by coverage point and bin).

    InputError when a waiver fits no line, or one that was reached.
    """
    reached: dict[tuple[str, int], bool] = {}
    toggles = toggles_reached = 0
    for point, count in counts.items():
        if point.kind == "toggle":
            toggles += 1
            toggles_reached += count > 0
            continue
        for line in point.lines:
            reached[point.file, line] = reached.get((point.file, line), False) or count > 0
    missed = sorted(place for place, was in reached.items() if not was)
    texts = {file: (root / file).read_text(encoding="utf-8").splitlines() for file, _ in missed}
    known = {(waiver.file, waiver.text) for waiver in waivers}
    waived = [(file, line) for file, line in missed if (file, texts[file][line - 1].strip()) in known]
    for waiver in waivers:
        if not any(file == waiver.file and texts[file][line - 1].strip() == waiver.text for file, line in waived):
            raise InputError("waiver", f"{waiver.file}: {waiver.text}", "a line that is counted and never reached")
    open_lines = [place for place in missed if place not in set(waived)]
    files = {
        name: (sum(was for (file, _), was in reached.items() if file == name), sum(file == name for file, _ in reached))
        for name in sorted({file for file, _ in reached})
    }
    missing = [f"{point}: {name}" for point, parts in sorted(bins.items()) for name, lack in parts.items() if lack > 0]
    number = sum(len(parts) for parts in bins.values())
    return Report(
        lines=len(reached),
        lines_reached=sum(reached.values()),
        lines_waived=len(waived),
        toggles=toggles,
        toggles_reached=toggles_reached,
        bins=number,
        bins_reached=number - len(missing),
        missed=tuple(f"{file}:{line}: {texts[file][line - 1].strip()}" for file, line in open_lines),
        missed_bins=tuple(missing),
        files=files,
    )


def keep_bins() -> None:
    """Within the simulator: leave the hits of every point of cocotb-coverage for the report, if one is made.

    They are those of all tests of the run so far; what an earlier call left is replaced.
    """
    folder = os.environ.get(COVERAGE_FOLDER)
    if not folder:
        return
    from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db  # type: ignore[import-untyped]

    found = {
        name: {"at_least": item.at_least, "hits": {str(key): hits for key, hits in item.detailed_coverage.items()}}
        for name, item in coverage_db.items()
        if isinstance(item, CoverPoint | CoverCross)
    }
    (Path(folder) / f"bins-{_RUN}.json").write_text(json.dumps(found), encoding="utf-8")


def merge_bins(paths: Iterable[Path]) -> dict[str, dict[str, int]]:
    """Return how many hits each bin still lacks after the runs that left `paths`; negative when it had more."""
    lack: dict[str, dict[str, int]] = {}
    for path in paths:
        for name, point in json.loads(path.read_text(encoding="utf-8")).items():
            known = lack.setdefault(name, {})
            for key, hits in point["hits"].items():
                known[key] = known.get(key, point["at_least"]) - hits
    return lack


def source_hash() -> str:
    """SHA-256 over RTL, benches and waivers: what the figures of the report stand for."""
    digest = hashlib.sha256()
    rtl = [path for path in (ROOT / _FOLDER).rglob("*.sv") if "formal" not in path.parts]
    benches = [path for kind in ("*.py", "*.sv") for path in (ROOT / "cocotb_tests").rglob(kind)]
    for path in sorted([*rtl, *benches, WAIVERS]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read_figures(path: Path = _JSON) -> dict[str, Any]:
    """The figures of the last report: `sources`, and per cent of lines, of waived lines, of bins and of toggles."""
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return figures


def stale(path: Path = _JSON) -> bool:
    """True when RTL, benches or waivers have changed since the last report."""
    return bool(read_figures(path)["sources"] != source_hash())


def page(found: Report, waivers: Sequence[Waiver]) -> str:
    """The report as Markdown."""
    lines = [
        "# What the benches reach",
        "",
        "Written by `python -m pymodel.rtl.coverage` (nightly): every bench, built with Verilator's counters.",
        "[rtl.md](rtl.md) says how it is measured. The register file that PeakRDL generates is not counted.",
        "",
        "| | reached | of | | target |",
        "| --- | ---: | ---: | ---: | ---: |",
        f"| lines | {found.lines_reached:,} | {found.lines - found.lines_waived:,} | {found.line_percent:.1f} % "
        f"| {LINE_TARGET} % |",
        f"| lines waived | {found.lines_waived} | {found.lines:,} | {found.waived_percent:.1f} % "
        f"| at most {WAIVED_AT_MOST} % |",
        f"| functional bins | {found.bins_reached:,} | {found.bins:,} | {found.bin_percent:.1f} % "
        f"| {FUNCTIONAL_TARGET} % |",
        f"| toggles | {found.toggles_reached:,} | {found.toggles:,} | {found.toggle_percent:.1f} % | |",
        "",
        "| file | lines reached | of |",
        "| --- | ---: | ---: |",
        *(f"| `{file}` | {reached} | {lines} |" for file, (reached, lines) in found.files.items()),
    ]
    if waivers:
        lines += ["", "## Waived", "", "| line | why |", "| --- | --- |"]
        lines += [f"| `{waiver.file}`: `{waiver.text}` | {waiver.reason} |" for waiver in waivers]
    if found.missed:
        lines += ["", "## Lines not reached", "", *(f"* `{line}`" for line in found.missed)]
    if found.missed_bins:
        lines += ["", "## Bins not hit", "", *(f"* `{name}`" for name in found.missed_bins)]
    return "\n".join(lines) + "\n"


def collect(folder: Path, tests: Sequence[str] = ("cocotb_tests",)) -> None:
    """Run the benches in `tests` with counters, their counts into `folder`; RuntimeError when one fails."""
    environment = {**os.environ, COVERAGE_FOLDER: str(folder)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "rtl and not nightly",
        "-n",
        "1",
        "--timeout",
        "3600",
        *tests,
    ]
    if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
        raise RuntimeError("a bench failed: nothing is reported")


def write(folder: Path, sources: str) -> Report:
    """Write the report of the runs that left their counts in `folder`, and return it; `sources` is what they ran on."""
    waivers = read_waivers()
    found = report(merge(sorted(folder.glob("*.dat"))), merge_bins(sorted(folder.glob("bins-*.json"))), waivers)
    figures = {
        "sources": sources,
        "line_percent": round(found.line_percent, 2),
        "waived_percent": round(found.waived_percent, 2),
        "functional_percent": round(found.bin_percent, 2),
        "toggle_percent": round(found.toggle_percent, 2),
    }
    _JSON.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    _PAGE.write_text(page(found, waivers), encoding="utf-8")
    return found


def main() -> Report:
    """Run every bench, write the report, and return it."""
    sources = source_hash()  # what changes while they run makes the report stale
    with tempfile.TemporaryDirectory(prefix="mrc-coverage-") as name:
        collect(Path(name))
        return write(Path(name), sources)


if __name__ == "__main__":
    made = main()
    print(f"lines {made.line_percent:.1f} %, bins {made.bin_percent:.1f} %, toggles {made.toggle_percent:.1f} %")
