"""Running Yosys, with the slang front end built in, in a process of its own: its errors end the process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

__all__ = ["run_yosys"]

_RUN = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.stdin.read().splitlines():
    libyosys.run_pass(command, design)
"""


def run_yosys(commands: Sequence[str]) -> None:
    """Run Yosys commands; RuntimeError with the end of the log when one of them fails."""
    run = subprocess.run(
        [sys.executable, "-c", _RUN], input="\n".join(commands), capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError("Yosys failed:\n" + "\n".join((run.stdout + run.stderr).splitlines()[-20:]))
