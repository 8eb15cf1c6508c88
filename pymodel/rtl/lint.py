"""Lint of the RTL: Verilator's `-Wall` and elaboration by slang, whose warnings count, on every top; Verible's style
rules and its formatter on every file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pymodel.base.toolpath import ROOT, require
from pymodel.rtl.build import check_tools, read_file_list, verilator_environment

__all__ = ["COLUMNS", "GENERATED", "RULES", "TOPS", "elaborate", "lint", "sources", "style"]

RULES = ROOT / "rtl_models" / "verible.rules"
COLUMNS = 100
_FILE_LISTS = sorted((ROOT / "rtl_models").rglob("*.f"))
GENERATED = ROOT / "rtl_models" / "csr" / "generated"
"""PeakRDL's output: its style is not ours, and of slang's warnings it draws one."""
TOPS: tuple[tuple[str, dict[str, int]], ...] = (
    *((path.relative_to(ROOT / "rtl_models").with_suffix("").as_posix(), {}) for path in _FILE_LISTS),
    *(
        ("responder/mrc_psn_tracker", {"WINDOW": window, "SAME_QP_INTERVAL": interval})
        for window in (64, 128, 4096)
        for interval in (1, 2)
    ),
    ("top/mrc_rx", {"QPS": 1024, "SAME_QP_INTERVAL": 2}),
    ("top/mrc_rx", {"QPS": 2, "WINDOW": 128, "REGIONS": 2, "WIMM": 2}),
)
"""Tops, by their file list in `rtl_models` without `.f`, and the parameters that change what is elaborated."""
_SLANG = """
import sys
from pyslang.driver import Driver
driver = Driver()
driver.addStandardArgs()
good = driver.parseCommandLine(sys.argv[1]) and driver.processOptions() and driver.parseAllSources()
driver.reportCompilation(driver.createCompilation(), True)
sys.exit(0 if driver.reportDiagnostics(True) and good else 1)
"""


def sources() -> list[Path]:
    """Every SystemVerilog file that was written by hand, or emitted in our style."""
    files = [*(ROOT / "rtl_models").rglob("*.sv"), *(ROOT / "cocotb_tests").rglob("*.sv")]
    return sorted(file for file in files if GENERATED not in file.parents)


def _run(command: Sequence[str | Path]) -> str:
    """Return what the command complains about, "" when it is content."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return (result.stdout + result.stderr).strip() if result.returncode else ""


def style(files: Sequence[Path]) -> list[str]:
    """Return Verible's complaints about `files`: its rules, and whether its formatter would change them."""
    rules: list[str | Path] = [require("verible-verilog-lint"), f"--rules_config={RULES}"]
    form: list[str | Path] = [require("verible-verilog-format"), "--verify", f"--column_limit={COLUMNS}"]
    complaints = [_run([*rules, *files]), *(_run([*form, file]) for file in files)]
    return [complaint for complaint in complaints if complaint]


def elaborate(top: str, parameters: Mapping[str, int], files: Sequence[str | Path]) -> str:
    """Return slang's errors and warnings about `top`, "" when there are none."""
    quiet = GENERATED.relative_to(ROOT).as_posix()
    chosen = [f"-G{parameter}={value}" for parameter, value in parameters.items()]
    words = ["slang", "--top", top, "-Werror", "--suppress-warnings", quiet, *chosen, *map(str, files)]
    return _run([sys.executable, "-c", _SLANG, " ".join(words)])


def lint() -> list[str]:
    """Return all complaints, an empty list when there are none. InputError when a tool is missing."""
    complaints = style(sources())
    check_tools(compiling=False)
    with verilator_environment():
        for name, parameters in TOPS:
            top = ROOT / "rtl_models" / name
            chosen = [f"-G{parameter}={value}" for parameter, value in parameters.items()]
            listed = read_file_list(top.with_suffix(".f"))
            command = ["verilator", "--lint-only", "--assert", "-Wall", "--top-module", top.name, *chosen, *listed]
            complaints += [_run(command), elaborate(top.name, parameters, listed)]
    return [complaint for complaint in complaints if complaint]
