"""P4Testgen run over the switch program; ``python -m tests.switch.testgen.generate`` renews `generated.stf.gz`."""

from __future__ import annotations

import gzip
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT, require
from pymodel.wire.spec import CPU_PORT
from tests.switch.testgen.case import Case, case_of, cases_of, stripped

__all__ = ["COMMITTED", "Coverage", "Run", "committed", "coverage", "generate", "printed_coverage"]

SOURCE = Path(__file__).parent / "empty_queues.p4"
COMMITTED = Path(__file__).parent / "generated.stf.gz"
_TIMEOUT_S = 3600
_COVERED = re.compile(r"Nodes covered: [\d.]+ \((\d+)/(\d+)\)")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Statements of the program that some generated test executes, of how many, and those that none does."""

    covered: int
    statements: int
    missing: frozenset[str]


@dataclass(frozen=True, slots=True)
class Run:
    """What P4Testgen made in one run."""

    cases: tuple[Case, ...]
    coverage: Coverage


def generate(seed: int, count: int, *, packets_only: bool = False, strategy: str = "GREEDY_STATEMENT_SEARCH") -> Run:
    """Make up to `count` tests; with `packets_only` a packet comes out in each. InputError when P4Testgen fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(require("p4testgen")),
            *("--target", "bmv2", "--arch", "v1model", "--test-backend", "STF"),
            *("--seed", str(seed), "--max-tests", str(count), "--path-selection", strategy),
            *("--track-coverage", "STATEMENTS", "--print-coverage"),
            # The longest headers that the parser takes, and some payload; a few ports, and the controller's.
            *("--packet-size-range", "0:2000", "--port-ranges", f"0:5,{CPU_PORT}:{CPU_PORT}"),
            *("--out-dir", folder, "--test-name", "case"),
            *(["--output-packet-only"] if packets_only else []),
            str(SOURCE.relative_to(ROOT)),
        ]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
        if result.returncode:
            lines = (result.stdout + result.stderr).strip().splitlines()
            raise InputError("P4Testgen", " ".join(lines[-6:]) or f"exit code {result.returncode}", "generated tests")
        prefix = f"{'packets' if packets_only else 'any'}-{strategy.partition('_')[0].lower()}-{seed}"
        files = sorted(Path(folder).glob("case_*.stf"), key=lambda path: int(path.stem.rpartition("_")[2]))
        cases = tuple(
            case_of(f"{prefix}-{place}", stripped(path.read_text(encoding="utf-8")))
            for place, path in enumerate(files, 1)
        )
    return Run(cases, printed_coverage(result.stdout + result.stderr))


def coverage(runs: Iterable[Run]) -> Coverage:
    """What several runs over the same program cover together."""
    together = [run.coverage for run in runs]
    missing = frozenset.intersection(*(one.missing for one in together))
    return Coverage(together[0].statements - len(missing), together[0].statements, missing)


def printed_coverage(printed: str) -> Coverage:
    """Read what P4Testgen printed behind its last test."""
    heads = list(_COVERED.finditer(printed))
    missing = frozenset(
        line.strip().partition("p4/include/")[2] or line.strip()
        for line in printed[heads[-1].end() :].splitlines()
        if line.startswith("\t")
    )
    covered, statements = map(int, heads[-1].groups())
    if statements - covered != len(missing):
        raise InputError("P4Testgen", f"{covered} of {statements} covered, {len(missing)} not", "numbers that add up")
    return Coverage(covered, statements, missing)


def committed() -> list[Case]:
    """The tests of `COMMITTED`."""
    return list(cases_of(gzip.decompress(COMMITTED.read_bytes()).decode()))


def _main() -> None:
    runs = [generate(1, 300), generate(1, 100, packets_only=True), generate(1, 200, strategy="RANDOM_BACKTRACK")]
    total = coverage(runs)
    if total.missing:
        raise InputError(COMMITTED.name, f"no test of {', '.join(sorted(total.missing))}", "tests of every statement")
    text = "".join(f"# {case.name}\n{case.text}" for run in runs for case in run.cases)
    COMMITTED.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{COMMITTED.name}: {sum(len(run.cases) for run in runs)} tests, {COMMITTED.stat().st_size} bytes")
    print(f"statements covered: {total.covered} of {total.statements}")


if __name__ == "__main__":
    _main()
