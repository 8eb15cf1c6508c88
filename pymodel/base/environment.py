"""The project's own Python environment: `.venv` in the clone, made from the hashed lock file.

`requirements.lock` has two sections. The first is the run-time set that `make demo` needs; the second adds what tests,
RTL simulation and lint need. Only the standard library is used here, since nothing is installed yet when it runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from pymodel.base.errors import InputError

__all__ = ["FULL_SECTION", "OLDEST", "RUN_TIME_SECTION", "TOO_NEW", "ensure", "read_section", "stamp_name"]

RUN_TIME_SECTION = "# === run-time set ==="
FULL_SECTION = "# === added by the full set ==="
OLDEST = (3, 11)
TOO_NEW = (3, 14)


def read_section(lock: Path, full: bool) -> str:
    """Return the text of `lock` that pip shall install: the run-time section, with `full` the whole file."""
    text = lock.read_text(encoding="utf-8")
    if FULL_SECTION not in text:
        raise InputError(str(lock), "no section for the full set", f"a line '{FULL_SECTION}', as `make lock` writes it")
    return text if full else text.split(FULL_SECTION)[0]


def stamp_name(requirements: str, full: bool) -> str:
    """Return the name of the file in `.venv` that says which set, of which lock, is installed."""
    return f".installed-{'full' if full else 'run-time'}-{hashlib.sha256(requirements.encode()).hexdigest()[:16]}"


def _run(command: Sequence[str | Path]) -> None:
    result = subprocess.run([str(part) for part in command], check=False)
    if result.returncode:
        where = " ".join(str(part) for part in command)
        raise InputError(where, f"exit code {result.returncode}", "success; the messages above say what is wrong")


def _create(folder: Path) -> None:
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        raise InputError(
            f"Python at {sys.executable}",
            "version " + ".".join(map(str, sys.version_info[:3])),
            "3.11, 3.12 or 3.13 (make PYTHON=python3.12 ...)",
        )
    try:
        import ensurepip  # noqa: F401 - Debian splits it from python3; without it a venv has no pip
    except ImportError:
        raise InputError(
            "the Python module venv",
            "no ensurepip in this Python",
            "the package python3-venv: apt-get install python3-venv",
        ) from None
    print(f"creating {folder}", flush=True)
    venv.EnvBuilder(with_pip=True, clear=folder.exists()).create(folder)


def ensure(root: Path, full: bool) -> Path:
    """Create or complete `.venv` under `root` from the lock, and return the path of its Python.

    Does nothing when the set is installed already. The project itself is installed in editable form, so `mrc` is there.
    """
    folder = root / ".venv"
    python = folder / "bin" / "python"
    requirements = read_section(root / "requirements.lock", full)
    stamp = folder / stamp_name(requirements, full)
    whole = read_section(root / "requirements.lock", full=True)
    if stamp.exists() or (folder / stamp_name(whole, full=True)).exists():
        return python
    if not python.exists():
        _create(folder)
    print(f"installing the {'full' if full else 'run-time'} set of requirements.lock", flush=True)
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subset = folder / "requirements.txt"
    subset.write_text(requirements, encoding="utf-8")
    # Constraints of the machine (pip.conf, PIP_CONSTRAINT) must not argue with a lock whose every file has its hash.
    os.environ["PIP_CONSTRAINT"] = ""
    _run([*pip, "--require-hashes", "--only-binary", ":all:", "--no-binary", "p4runtime-shell", "-r", subset])
    _run([*pip, "--no-deps", "--no-build-isolation", "--editable", root])
    stamp.touch()
    return python
