"""Emitters: everything that must agree with `pymodel/wire/spec.py` and is not Python that imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pymodel.base.toolpath import ROOT
from pymodel.wire.emit.markdown import markdown
from pymodel.wire.emit.p4 import p4
from pymodel.wire.emit.python import python
from pymodel.wire.emit.systemverilog import systemverilog
from pymodel.wire.emit.wireshark import wireshark

__all__ = ["EMITTED", "main", "out_of_date", "write"]


EMITTED: dict[str, Callable[[], str]] = {
    "pymodel/wire/headers.py": python,
    "p4/include/mrc_headers.p4": p4,
    "rtl_models/common/mrc_pkg.sv": systemverilog,
    "tools/wireshark/mrc.lua": wireshark,
    "docs/wire.md": markdown,
}
"""Path of each emitted file, relative to the project, and the function that returns its text."""


def out_of_date(root: Path = ROOT) -> list[str]:
    """The emitted files under `root` that are missing or differ from what the spec says now."""
    return [
        path
        for path, emit in EMITTED.items()
        if not (root / path).exists() or (root / path).read_text(encoding="utf-8") != emit()
    ]


def write(root: Path = ROOT) -> list[str]:
    """Write the files under `root` that are out of date, and return their paths."""
    paths = out_of_date(root)
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(EMITTED[path](), encoding="utf-8")
    return paths


def main(arguments: Sequence[str]) -> int:
    """Run the command line: write, or with ``--check`` only compare.

    Returns 0, 1 when a check found differences, 2 when `arguments` are something else.
    """
    if arguments and list(arguments) != ["--check"]:
        print("usage: python -m pymodel.wire.emit [--check]")
        return 2
    if arguments:
        stale = out_of_date()
        for path in stale:
            print(f"{path} differs from pymodel/wire/spec.py: run `python -m pymodel.wire.emit`")
        return 1 if stale else 0
    for path in write():
        print(f"wrote {path}")
    return 0
