"""The long runs: `make nightly` runs every job of `JOBS` and keeps its figures in `docs/nightly.json`.

A job is a pytest selection (marker `nightly`) with the sources that its figures stand for. Tests report figures
through `report_figure`. A job whose sources have not changed since it passed is not run again, so that an interrupted
night goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodel.base.toolpath import ROOT, TOOLS, version

__all__ = ["FIGURES_VARIABLE", "JOBS", "RECORD", "Job", "report_figure", "run", "source_hash", "stale"]

RECORD = ROOT / "docs" / "nightly.json"
FIGURES_VARIABLE = "MRC_NIGHTLY_FIGURES"


@dataclass(frozen=True, slots=True)
class Job:
    """One long run: test files or folders, and glob patterns, from the clone's root, of the sources of its figures."""

    name: str
    tests: tuple[str, ...]
    sources: tuple[str, ...]


_SIMULATION = ("pymodel/rtl/build.py", "pymodel/rtl/simulate.py")
_YOSYS = "pymodel/rtl/yosys.py"
_MODEL = ("pymodel/nic/*.py", "pymodel/wire/*.py")
_ASSEMBLED = (
    "rtl_models/**/*.sv",
    "rtl_models/**/*.rdl",
    "cocotb_tests/**/*.sv",
    "cocotb_tests/**/*.py",
    *_SIMULATION,
    *_MODEL,
)


def _unit(folder: str, bench: str) -> tuple[str, ...]:
    """Sources of an RTL unit and of its benches, whose files have `bench` in their names."""
    return (
        *_SIMULATION,
        "tests/rtl/mutation.py",
        "rtl_models/common/*.sv",
        f"rtl_models/{folder}/*.sv",
        f"cocotb_tests/*{bench}*",
        f"cocotb_tests/hdl/*{bench}*",
    )


def _rtl(name: str, tests: tuple[str, ...], *sources: str) -> Job:
    """A job of `tests/rtl`, by the names of its files."""
    files = tuple(f"tests/rtl/{test}.py" for test in tests)
    return Job(f"rtl-{name}", (files[0],), (*files, *sources))


JOBS: tuple[Job, ...] = (
    Job("wire", ("tests/wire",), ("pymodel/wire/**/*.py", "tests/wire/**/*.py")),
    Job(
        "switch",
        ("tests/switch",),
        ("p4/**/*.p4", "pymodel/switch/**/*.py", "tests/switch/**/*.py", "tests/switch/testgen/*.p4"),
    ),
    Job(
        "nic",
        ("tests/nic",),
        ("pymodel/wire/**/*.py", "pymodel/paths/**/*.py", "pymodel/nic/**/*.py", "tests/nic/**/*.py"),
    ),
    Job("verbs", ("tests/verbs",), ("pymodel/verbs/**/*.py", "pymodel/nic/**/*.py", "tests/verbs/**/*.py")),
    _rtl(
        "formal",
        ("test_formal", "formal_faults"),
        *(f"rtl_models/{unit}/*.sv" for unit in ("common", "rx", "responder", "reply", "csr", "formal")),
        "pymodel/rtl/formal.py",
        _YOSYS,
    ),
    _rtl("cost", ("test_synthesis",), "rtl_models/**/*.sv", "rtl_models/**/*.f", "pymodel/rtl/synthesis.py", _YOSYS),
    _rtl("mutants-tracker", ("test_mutants", "mutants"), *_unit("responder", "psn_tracker")),
    _rtl("mutants-delivery", ("test_delivery_mutants",), *_unit("responder", "delivery")),
    _rtl("mutants-responder", ("test_responder_mutants",), *_unit("responder", "responder")),
    _rtl("mutants-reply", ("test_reply_mutants",), *_unit("reply", "reply"), "cocotb_tests/*endpoint*"),
    _rtl("mutants-rx", ("test_rx_mutants",), *_unit("rx", "rx"), "cocotb_tests/test_mrc_icrc.py"),
    _rtl(
        "mutants-csr",
        ("test_csr_mutants",),
        "rtl_models/common/*.sv",
        "rtl_models/csr/**/*.sv",
        "cocotb_tests/test_mrc_csr.py",
        "tests/rtl/mutation.py",
        *_SIMULATION,
    ),
    Job(
        "rtl-wraps",
        ("cocotb_tests/test_mrc_responder.py",),
        ("rtl_models/responder/*.sv", "cocotb_tests/*.py", *_SIMULATION, *_MODEL),
    ),
    Job("rtl-fuzz", ("cocotb_tests/test_mrc_rx_fuzz.py",), _ASSEMBLED),
    _rtl("million", ("test_receive_million",), *_ASSEMBLED),
    _rtl("coverage", ("test_coverage",), *_ASSEMBLED, "rtl_models/coverage.waivers", "pymodel/rtl/coverage.py"),
)


def source_hash(job: Job, root: Path = ROOT) -> str:
    """Return the SHA-256 over names and contents of the job's sources."""
    digest = hashlib.sha256()
    files = {path for pattern in job.sources for path in root.glob(pattern) if path.is_file()}
    for path in sorted(files):
        digest.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def read(record: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Return what `docs/nightly.json` holds, by job."""
    if not record.exists():
        return {}
    jobs: dict[str, dict[str, Any]] = json.loads(record.read_text(encoding="utf-8"))["jobs"]
    return jobs


def stale(record: Path = RECORD, jobs: Sequence[Job] = JOBS, root: Path = ROOT) -> list[str]:
    """Return the names of the jobs that never passed, or whose sources have changed since."""
    kept = read(record)
    return [job.name for job in jobs if kept.get(job.name, {}).get("sources_sha256") != source_hash(job, root)]


def report_figure(name: str, value: int | str) -> None:
    """Keep a figure of the running job. Outside `make nightly` it is printed alone."""
    print(f"figure: {name} = {value}")
    if path := os.environ.get(FIGURES_VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, value]) + "\n")


def _run_job(job: Job, folder: Path) -> dict[str, Any] | None:
    figures = folder / f"{job.name}.jsonl"
    figures.unlink(missing_ok=True)
    figures.touch()
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-m", "nightly", "-n", "0", "--timeout", "7200", *job.tests]
    print(f"nightly: {job.name}: {' '.join(command[1:])}", flush=True)
    result = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, FIGURES_VARIABLE: str(figures)})
    if result.returncode:
        return None
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return {
        "commit": commit.strip(),
        "sources_sha256": source_hash(job),
        "seconds": round(time.monotonic() - began),
        "tools": {tool: found for tool in TOOLS if (found := version(tool))},
        "figures": dict(json.loads(line) for line in figures.read_text(encoding="utf-8").splitlines()),
    }


def run(names: Sequence[str] = ()) -> list[str]:
    """Run the jobs that are stale (or, with `names`, those) and return the names of the failed ones.

    The record is written after every job.
    """
    folder = ROOT / "build" / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(names) or set(stale())
    failed = []
    for job in JOBS:
        if job.name not in wanted:
            continue
        outcome = _run_job(job, folder)
        if outcome is None:
            failed.append(job.name)
            continue
        jobs = {**read(), job.name: outcome}
        beside = RECORD.with_suffix(".json.new")
        beside.write_text(json.dumps({"jobs": jobs}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        beside.replace(RECORD)
    return failed
