"""`main_job`: the first-light scenario end to end, each time in a process of its own.

Data packets that the requesters sent, per second of the whole run: building the fabric, compiling the P4 program,
programming every switch over P4Runtime, the traffic and the judgement. The start of Python and its imports are not in
it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.bench.figure import Figure, Outcome, Step
from pymodel.bench.memory import peak_mib
from pymodel.cosim.run import run_scenario
from pymodel.cosim.scenario import load

__all__ = ["FIGURES", "measure"]

FIGURES = ("main_job", "main_job.seconds", "main_job.memory")
ROUNDS = 5
SCENARIO = ROOT / "scenarios" / "first-light.yaml"
_COMMAND = ("-m", "pymodel.bench.main_job")
_LONGEST_S = 300


def measure(step: Step, rounds: int = ROUNDS) -> Outcome:
    """Measure packets per second and seconds (medians of `rounds`), and the largest peak of memory in MiB."""
    runs = []
    for number in range(rounds):
        step(number, rounds)
        runs.append(_run_once())
    rates, seconds, peaks = zip(*runs, strict=True)
    return Outcome(
        [
            Figure("main_job", statistics.median(rates), "packets/s"),
            Figure("main_job.seconds", statistics.median(seconds), "s"),
            Figure("main_job.memory", max(peaks), "MiB"),
        ]
    )


def _run_once() -> tuple[float, float, float]:
    """Packets per second, seconds, and peak of resident memory in MiB of one run in a new process."""
    command = [sys.executable, *_COMMAND]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError("main_job", f"exit code {result.returncode} ({last})", "a run whose memories are equal")
    packets, seconds, peak_mib = json.loads(result.stdout)
    return packets / seconds, seconds, peak_mib


def _main() -> int:
    scenario = load(SCENARIO)
    began = time.perf_counter()
    result = run_scenario(scenario)
    seconds = time.perf_counter() - began
    print(json.dumps([sum(result.packets_by_plane.values()), seconds, peak_mib()]))
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(_main())
