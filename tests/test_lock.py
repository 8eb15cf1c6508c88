"""The locked sets install and import together, p4runtime-shell with its old pins among them (P24)."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.markers import Marker

from pymodel.base.environment import ensure, read_section
from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT

LOCK = ROOT / "requirements.lock"
PINS = re.compile(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)(?: ; ([^\\]+))?", re.M)

# What the project imports, by set. cocotb, pyosys and the like are used by RTL work alone.
RUN_TIME_MODULES = [
    "grpc",
    "google.protobuf",
    "p4.v1.p4runtime_pb2",
    "pydantic",
    "rich",
    "ruamel.yaml",
    "scapy.all",
    "typer",
]
FULL_MODULES = ["cocotb", "cocotb_tools.runner", "hypothesis", "numpy", "pexpect", "pyosys.libyosys", "pytest", "xdist"]


def pinned(full: bool) -> dict[str, str]:
    """Name and version of every package that the lock wants on this machine."""
    return {
        name: version
        for name, version, marker in PINS.findall(read_section(LOCK, full))
        if not marker or Marker(marker).evaluate()
    }


def test_every_file_of_the_lock_has_hashes_and_names_no_host() -> None:
    text = LOCK.read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    assert len(blocks) > 50
    assert [block.split("==")[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert "http" not in text


def test_what_is_installed_is_what_is_locked_p24() -> None:
    installed = {name: importlib.metadata.version(name) for name in pinned(full=True)}
    assert installed == pinned(full=True)
    assert installed["protobuf"].startswith("3.20")
    check = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert (check.returncode, check.stdout.strip()) == (0, "No broken requirements found.")


def test_the_full_set_imports_in_one_process_p24() -> None:
    modules = [*RUN_TIME_MODULES, "p4runtime_sh.shell", *FULL_MODULES]
    code = "import " + ", ".join(modules)
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
def test_the_run_time_set_installs_into_an_empty_environment_p24(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("pyproject.toml", "requirements.lock", "README.md", "LICENSE"):
        (clone / name).write_bytes((ROOT / name).read_bytes())
    (clone / "pymodel").symlink_to(ROOT / "pymodel")
    python = ensure(clone, full=False)
    code = "import " + ", ".join([*RUN_TIME_MODULES, "p4runtime_sh.shell", "pymodel.cli"])
    result = subprocess.run(
        [python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert not (clone / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "cocotb").exists()
    before = sorted((clone / ".venv").iterdir())
    ensure(clone, full=False)
    assert sorted((clone / ".venv").iterdir()) == before


def test_a_lock_without_sections_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("rich==1\n", encoding="utf-8")
    with pytest.raises(InputError, match="found no section for the full set"):
        read_section(lock, full=True)
