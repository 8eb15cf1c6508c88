"""The golden model and the RTL share no algorithm, and benches use cocotb 2 as it is."""

from __future__ import annotations

import re

import pytest

from pymodel.base.toolpath import ROOT

MODEL = re.compile(r"pymodel\.(nic|wire|paths)\b")
BENCHES = sorted((ROOT / "cocotb_tests").glob("*.py"))


def imports(text: str) -> set[str]:
    return set(re.findall(r"^\s*(?:from|import)\s+(pymodel[\w.]*)", text, re.M))


def test_the_model_knows_nothing_of_the_rtl() -> None:
    """Nothing under pymodel/nic imports pymodel.rtl or names a file of the RTL (row S11)."""
    files = sorted((ROOT / "pymodel" / "nic").rglob("*.py"))
    assert len(files) > 5
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not any(name.startswith("pymodel.rtl") for name in imports(text)), file
        assert "rtl_models" not in text, file


def test_building_and_running_knows_nothing_of_the_model() -> None:
    for file in sorted((ROOT / "pymodel" / "rtl").rglob("*.py")):
        assert not any(name.startswith("pymodel.nic") for name in imports(file.read_text(encoding="utf-8"))), file


def test_the_benches_take_expected_values_from_the_model_alone() -> None:
    """What a bench knows of the protocol comes from the golden model and the number arithmetic under it."""
    allowed = {
        *("pymodel.base.toolpath", "pymodel.rtl.build", "pymodel.rtl.coverage"),
        *("pymodel.rtl.latency", "pymodel.rtl.registers", "pymodel.rtl.simulate"),
    }
    assert len(BENCHES) >= 5
    for file in BENCHES:
        others = {name for name in imports(file.read_text(encoding="utf-8")) if not MODEL.match(name)}
        assert others <= allowed, file


@pytest.mark.parametrize(
    "word", [r"\bunits=", r"\.integer\b", r"\bbinstr\b", r"\bMODULE=", r"\bTOPLEVEL=", r"\.value\["]
)
def test_nothing_of_cocotb_1_is_left_C05(word: str) -> None:  # noqa: N802
    for file in [*BENCHES, *sorted((ROOT / "pymodel" / "rtl").glob("*.py"))]:
        assert not re.search(word, file.read_text(encoding="utf-8")), f"{file}: {word}"
