"""Running a cocotb bench on a verilated design, and getting its figures back.

The simulator is a process of its own that runs this Python with the clone on its path. Options go to it, and figures
come back, as JSON: a bench calls `options()` and `record(...)`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import COVERAGE_FOLDER, Build, verilator_environment, waves_wanted

__all__ = ["WAVES_FOLDER", "SimulationError", "add", "options", "record", "simulate", "waves_wanted"]

WAVES_FOLDER = ROOT / "build" / "waves"
_OPTIONS = "MRC_BENCH_OPTIONS"
_FIGURES = "MRC_BENCH_FIGURES"
# A warning in a bench is an error, but for what cocotbext-axi 0.1.28 draws from cocotb 2: by module, the messages.
_EXCEPTIONS = {
    "cocotbext.axi.stream": ("Use `handle.set(Immediate(...))`", "`task.kill()` is deprecated"),
    "cocotbext.axi.reset": ("Use `signal.value_change` instead",),
    "cocotbext.axi.axil_master": ("`task.kill()` is deprecated", "The data field will be removed"),
}
_WARNINGS = ",".join(
    ["error"]
    + [f"ignore:{text}:DeprecationWarning:{module}" for module, texts in _EXCEPTIONS.items() for text in texts]
)


class SimulationError(AssertionError):
    """A bench found a difference, an assertion of the RTL fired, or the simulator died; the log's end says which."""


def options() -> dict[str, Any]:
    """Within the simulator: what `simulate` was given."""
    loaded: dict[str, Any] = json.loads(os.environ[_OPTIONS])
    return loaded


def record(**figures: Any) -> None:
    """Within the simulator: add `figures` to what `simulate` returns."""
    path = Path(os.environ[_FIGURES])
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | figures), encoding="utf-8")


def add(**counts: int) -> None:
    """Within the simulator: add `counts` to figures of the same names, from 0 on."""
    path = Path(os.environ[_FIGURES])
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record(**{name: known.get(name, 0) + count for name, count in counts.items()})


def _keep_waves(built: Build, folder: Path) -> Path:
    """Copy the waves of a run in `folder` to where a person finds them, say so, and return the place."""
    WAVES_FOLDER.mkdir(parents=True, exist_ok=True)
    values = (str(value) for value in built.design.parameters.values())
    kept = WAVES_FOLDER / ("-".join((built.design.top, *values)) + ".vcd")
    shutil.copyfile(folder / "dump.vcd", kept)
    print(f"waves: {kept.relative_to(ROOT)}")
    return kept


def simulate(
    built: Build,
    module: str,
    folder: Path,
    settings: Mapping[str, Any],
    seed: int = 1,
    tests: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Run the cocotb tests of `module` on `built` in `folder`, and return the figures that they recorded.

    `settings` reaches the bench as `options()`, with `seed` added, which also decides the power-up contents. `tests`
    narrows the run to tests of these names. With waves built in, `folder` holds `dump.vcd` afterwards, and with WAVES=1
    in the environment `build/waves/<top and parameters>.vcd` is the same file. With coverage built in, `folder` holds
    `coverage.dat`. SimulationError when any test fails or none ran.
    """
    from cocotb_tools.check_results import get_results  # not in the run-time set: imported where it is needed
    from cocotb_tools.runner import get_runner

    folder.mkdir(parents=True, exist_ok=True)
    log, results, figures = (folder / name for name in ("simulation.log", "results.xml", "figures.json"))
    figures.unlink(missing_ok=True)
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # the runner hands this path on
    try:
        with verilator_environment():
            get_runner("verilator").test(
                test_module=module,
                hdl_toplevel=built.design.top,
                hdl_toplevel_lang="verilog",
                build_dir=built.folder,
                test_dir=folder,
                test_filter=rf"\.({'|'.join(tests)})(/|$)" if tests else None,
                plusargs=["+verilator+rand+reset+2", f"+verilator+seed+{seed}"],
                extra_env={
                    _OPTIONS: json.dumps({**settings, "seed": seed}),
                    _FIGURES: str(figures),
                    "PYTHONWARNINGS": _WARNINGS,
                },
                seed=seed,
                waves=built.waves,
                results_xml=str(results.resolve()),
                log_file=log,
            )
        count, failed = get_results(results)
    except (RuntimeError, SystemExit):
        count, failed = 0, 1
    if built.waves and waves_wanted():
        _keep_waves(built, folder)
    counts = folder / "coverage.dat"
    if COVERAGE_FOLDER in os.environ and counts.exists():
        shutil.copyfile(counts, Path(os.environ[COVERAGE_FOLDER]) / f"{built.folder.name}-{uuid4()}.dat")
    if failed or not count:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        name = f"{built.design.top} {dict(built.design.parameters)}"
        raise SimulationError(f"{name}, the end of {log}:\n" + "\n".join(lines[-60:]))
    return json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
