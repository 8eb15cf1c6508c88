"""Emitted files say what the spec says, and their readers accept them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT, require
from pymodel.wire import emit, spec
from pymodel.wire.emit.constants import GROUPS
from pymodel.wire.parser import ParseCause

PATHS = list(emit.EMITTED)


@pytest.mark.parametrize("path", PATHS)
def test_emitted_file_is_up_to_date(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == emit.EMITTED[path](), "run `python -m pymodel.wire.emit`"


def test_write_and_check(tmp_path: Path) -> None:
    assert emit.out_of_date(tmp_path) == PATHS
    assert emit.write(tmp_path) == PATHS
    assert (emit.out_of_date(tmp_path), emit.write(tmp_path)) == ([], [])
    (tmp_path / PATHS[0]).write_text("edited by hand", encoding="utf-8")
    assert emit.out_of_date(tmp_path) == PATHS[:1]


def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert emit.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setitem(emit.EMITTED, "docs/wire.md", lambda: "something else")
    assert emit.main(["--check"]) == 1
    assert "docs/wire.md differs" in capsys.readouterr().out
    assert emit.main(["--help"]) == 2


@pytest.mark.parametrize("path", ["p4/include/mrc_headers.p4", "rtl_models/common/mrc_pkg.sv", "docs/wire.md"])
def test_every_header_field_and_constant_is_there(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    for header in spec.HEADERS:
        assert re.search(rf"\b{header.name}(_t)?\b", text, re.IGNORECASE)
        assert all(re.search(rf"\b{field.name}\b", text) for field in header.fields)
    for constant in (each for group in GROUPS for each in group.constants):
        assert re.search(rf"\b{constant.name}\b", text), constant.name


def test_names_and_values_of_constants_are_told_apart() -> None:
    names = [constant.name for group in GROUPS for constant in group.constants]
    assert len(names) == len(set(names))
    for constant in (each for group in GROUPS for each in group.constants):
        assert 0 <= constant.value < 1 << constant.bits, constant.name


def test_reference_lists_every_cause_option_and_rule() -> None:
    text = (ROOT / "docs/wire.md").read_text(encoding="utf-8")
    for name in [cause.name for cause in ParseCause] + [*spec.WireOptions.__slots__]:
        assert f"`{name}`" in text
    assert all(rule in text for _, rule in spec.RULES)


def test_bit_rulers_are_as_long_as_the_header() -> None:
    text = (ROOT / "docs/wire.md").read_text(encoding="utf-8")
    for header in spec.HEADERS:
        section = text.split(f"### {header.name}: ")[1]
        ruler = section.split("```")[1].splitlines()[3:]
        assert ruler[0].count("-") == 32
        assert sum(line.count("-") for line in ruler[2::2]) == 8 * header.size, header.name


P4_PROGRAM = """\
#include <core.p4>
#include <v1model.p4>
#include "mrc_headers.p4"
struct headers { HEADERS }
struct metadata {}
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { EXTRACT transition accept; }
}
control C(inout headers h, inout metadata m) { apply {} }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), C(), I(), I(), C(), D()) main;
"""


@pytest.mark.p4c
def test_p4_is_accepted_without_a_warning(tmp_path: Path) -> None:
    names = [header.name.lower() for header in spec.HEADERS]
    program = P4_PROGRAM.replace("HEADERS", " ".join(f"{name}_t {name};" for name in names), 1)
    program = program.replace("EXTRACT", " ".join(f"p.extract(h.{name});" for name in names))
    source = tmp_path / "all.p4"
    source.write_text(program, encoding="utf-8")
    command = [require("p4c-bm2-ss"), "--Werror", "--arch", "v1model", "-I", ROOT / "p4/include"]
    result = subprocess.run(
        [*command, "-o", tmp_path / "all.json", source], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.rtl
def test_systemverilog_is_accepted_without_a_warning() -> None:
    package = ROOT / "rtl_models/common/mrc_pkg.sv"
    for command in (
        ["verilator", "--lint-only", "-Wall", package],
        ["verible-verilog-lint", package],
        ["verible-verilog-format", "--verify", "--column_limit=100", package],
    ):
        result = subprocess.run([require(command[0]), *command[1:]], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "Warning" not in result.stderr
