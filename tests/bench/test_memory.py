"""The peak of memory of a process is its own."""

from __future__ import annotations

import subprocess
import sys

from pymodel.base.toolpath import ROOT
from pymodel.bench.memory import peak_mib


def test_the_peak_of_a_process_is_not_that_of_the_one_that_started_it() -> None:
    ballast = bytearray(400 << 20)
    ballast[:: 1 << 12] = b"x" * (len(ballast) >> 12)  # touched, page by page
    command = [sys.executable, "-c", "from pymodel.bench.memory import peak_mib; print(peak_mib())"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert peak_mib() > 400
    assert float(result.stdout) < 100


def test_a_peak_stays_when_the_memory_has_gone() -> None:
    code = "from pymodel.bench.memory import peak_mib as p; x = b'x' * (64 << 20); a = p(); del x; print(a, p())"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first, later = map(float, result.stdout.split())
    # The kernel counts pages in batches by CPU: what it tells may be some of them off.
    assert 64 < first < 120
    assert first - 4 < later < 120
