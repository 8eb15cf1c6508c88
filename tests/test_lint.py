"""The tree is as `make lint` wants it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["ruff", "format", "mypy --strict"],
)
def test_python_is_clean(command: list[str]) -> None:
    result = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_target_of_the_makefile_has_a_line_of_help() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = next(line for line in text.splitlines() if line.startswith(".PHONY:")).split()[1:]
    # Under `make test` this is a make in a make, which would announce its folder.
    command = ["make", "--no-print-directory", "help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = [line.split()[0] for line in shown.splitlines()]
    assert listed == phony
    assert {"demo", "test", "help", "venv", "p4", "rtl", "lint", "bench", "nightly", "clean"} <= set(listed)
