"""The lock-step notices small faults in the RTL: each row of `mutants.py` is built and must fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests.test_mrc_psn_tracker import MODULE, RTL_TESTS, SOURCES
from tests.rtl.mutants import MUTANTS, Mutant
from tests.rtl.mutation import Bench, Patch, killed, without_place


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    assert without_place([Patch(*mutant[:4]) for mutant in MUTANTS]) == []


def kills(mutant: Mutant, folder: Path) -> bool:
    window, qps = 128, 64
    parameters = {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": mutant.interval}
    settings = {"window": window, "interval": mutant.interval, "qps": qps, "packets": 18_000}
    bench = Bench("mrc_psn_tracker_bench", SOURCES, parameters, MODULE, settings, RTL_TESTS)
    return killed(Patch(*mutant[:4]), bench, folder)


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_the_lock_step_kills(mutant: Mutant, tmp_path: Path) -> None:
    assert kills(mutant, tmp_path)


@pytest.mark.rtl
@pytest.mark.slow
def test_the_lock_step_kills_one_in_every_run(tmp_path: Path) -> None:
    """A bench that compares nothing would pass every other test of CI."""
    assert kills(
        next(mutant for mutant in MUTANTS if mutant.name == "stage 6 update does not take my next hole"), tmp_path
    )
