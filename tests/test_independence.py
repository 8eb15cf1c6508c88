"""Model, RTL and packer never take over each other's algorithm, so that a mistake can't agree with itself (S11).

What they share is `pymodel/wire/spec.py`, a table. The golden model imports nothing of the RTL, the RTL reads packages
of its own folder alone, and what the wire is compared with comes from outside; `tests/rtl/test_independence.py` says
what a bench may know.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT

RTL = ROOT / "rtl_models"


def imports(file: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield each module that `file` imports, with the names taken from it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, set()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            yield node.module or "", {alias.name for alias in node.names}


def importers(folder: str, *of: str) -> list[str]:
    """Which files below `folder` import one of the packages `of`."""
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    return [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files
        for module, names in imports(file)
        for full in (module, *(f"{module}.{name}" for name in names))
        if any(full == package or full.startswith(package + ".") for package in of)
    ]


RULES = [
    ("pymodel/wire", ("pymodel.rtl", "cocotb", "cocotb_tests")),
    ("pymodel/nic", ("pymodel.rtl", "cocotb", "cocotb_tests", "pymodel.switch")),
    ("pymodel/rtl", ("pymodel.nic", "pymodel.switch")),
    ("pymodel/switch", ("pymodel.nic", "pymodel.rtl")),
]


@pytest.mark.parametrize(("folder", "never"), RULES, ids=[row[0] for row in RULES])
def test_s11_no_room_takes_over_from_the_other(folder, never):
    assert importers(folder, *never) == []


def test_s11_what_emits_rtl_takes_the_table_of_the_wire_alone():
    taken = [
        (module, names)
        for file in sorted((ROOT / "pymodel/rtl").rglob("*.py"))
        for module, names in imports(file)
        if module.startswith("pymodel.wire") and module != "pymodel.wire.spec"
    ]
    assert taken
    assert all(row == ("pymodel.wire", {"spec"}) for row in taken)


def test_s11_the_rule_sees_imports():
    assert importers("pymodel/nic", "pymodel.wire.spec")
    assert importers("pymodel/nic", "pymodel.wire")


def sources() -> dict[Path, str]:
    """SystemVerilog sources without comments."""
    found = {file: file.read_text(encoding="utf-8") for file in sorted(RTL.rglob("*.sv"))}
    assert len(found) > 5
    return {file: re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S) for file, text in found.items()}


def test_s11_rtl_reads_its_own_packages_alone():
    texts = sources()
    packages = {name for text in texts.values() for name in re.findall(r"\bpackage\s+(\w+)", text)}
    used = {name for text in texts.values() for name in re.findall(r"\b(\w+)::", text)}
    assert used <= packages
    for file, text in texts.items():
        for construct in ("`include", "$readmem", 'import "DPI', 'export "DPI'):
            assert construct not in text, f"{file.name}: {construct} brings in what was made elsewhere"


def test_s11_the_packages_of_rtl_hold_no_generated_algorithm():
    """What the packer's table becomes in RTL is types and constants: the emitted package has no function."""
    package = (RTL / "common" / "mrc_pkg.sv").read_text(encoding="utf-8")
    assert "localparam" in package
    assert not re.search(r"\bfunction\b|\btask\b|\balways|\bassign\b", package)


OUTSIDE = [
    ("tests/wire/test_icrc.py", ("zlib",)),
    ("tests/wire/test_scapy_layers.py", ("scapy",)),
    ("tests/nic/frame_noise.py", ("zlib",)),
]


@pytest.mark.parametrize(("file", "libraries"), OUTSIDE, ids=[row[0] for row in OUTSIDE])
def test_s11_what_the_wire_is_compared_with_comes_from_outside(file, libraries):
    modules = {module.split(".")[0] for module, _ in imports(ROOT / file)}
    assert modules >= set(libraries)


VECTORS = [("tests/wire/test_headers.py", 9), ("tests/wire/test_icrc.py", 3), ("tests/nic/test_public_vectors.py", 12)]


@pytest.mark.parametrize(("file", "least"), VECTORS, ids=[row[0] for row in VECTORS])
def test_s11_expected_bytes_are_written_down(file, least):
    """Bytes as hex, not as something computed: at least so many in each file."""
    strings = [
        node.value
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert sum(bool(re.fullmatch(r"[0-9a-f\s]{8,}", text)) for text in strings) >= least
