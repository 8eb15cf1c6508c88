"""The longest message there is, without its memory: `pymodel.nic.pattern` makes the bytes where they are looked at."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.bench.nightly import report_figure
from tests.nic.long_message import LONGEST, transfer

PEAK_MAX_MIB = 300


def test_a_long_patterned_message():
    """20 MB and 3 bytes, with a loss each 10,007 frames."""
    assert transfer(20_000_003) == 2442


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_a_message_of_4_gib_less_one_byte():
    """In a process of its own, whose peak of memory is this message's alone."""
    command = [sys.executable, "-m", "tests.nic.long_message"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(result.stdout)
    assert found["packets"] == -(-LONGEST // 8192)
    assert found["peak_mib"] < PEAK_MAX_MIB
    for name, value in found.items():
        report_figure(f"message of 2^32 - 1 bytes: {name}", value)
