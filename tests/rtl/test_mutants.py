"""The lock-step notices small faults in the RTL: each row of `mutants.py` is built and must fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cocotb_tests.test_mrc_psn_tracker import MODULE, RTL_TESTS, SOURCES
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import SimulationError, simulate
from tests.rtl.mutants import MUTANTS, Mutant


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    texts = {mutant.file: (ROOT / mutant.file).read_text(encoding="utf-8") for mutant in MUTANTS}
    assert [mutant.name for mutant in MUTANTS if texts[mutant.file].count(mutant.old) != 1] == []
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def killed(mutant: Mutant, folder: Path) -> bool:
    for source in SOURCES:
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / source)
    file = folder / mutant.file
    file.write_text(file.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
    window, qps = 128, 64
    parameters = {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": mutant.interval}
    built = build(Design("mrc_psn_tracker_bench", SOURCES, parameters, root=folder))
    settings = {"window": window, "interval": mutant.interval, "qps": qps, "packets": 18_000}
    try:
        simulate(built, MODULE, folder / "run", settings, tests=RTL_TESTS)
    except SimulationError:
        return True
    finally:
        shutil.rmtree(built.folder)
    return False


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_the_lock_step_kills(mutant: Mutant, tmp_path: Path) -> None:
    assert killed(mutant, tmp_path)


@pytest.mark.rtl
@pytest.mark.slow
def test_the_lock_step_kills_one_in_every_run(tmp_path: Path) -> None:
    """A bench that compares nothing would pass every other test of CI."""
    assert killed(
        next(mutant for mutant in MUTANTS if mutant.name == "stage 6 update does not take my next hole"), tmp_path
    )
