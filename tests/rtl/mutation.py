"""Mutation of RTL: one place of the sources is changed, and the bench must fail."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build
from pymodel.rtl.simulate import SimulationError, simulate

__all__ = ["Bench", "Patch", "killed", "without_place"]


class Patch(NamedTuple):
    """`old` stands in `file` exactly once; in the mutant `new` stands there."""

    name: str
    file: str
    old: str
    new: str


class Bench(NamedTuple):
    """What runs on a mutant: the bench's top with its sources, and the cocotb tests of a module with their settings.

    `tests` run one after the other until one fails: those that kill most come first. None stands for all, in one run.
    """

    top: str
    sources: tuple[str, ...]
    parameters: Mapping[str, int]
    module: str
    settings: Mapping[str, Any]
    tests: tuple[str, ...] = ()


def without_place(patches: Sequence[Patch]) -> list[str]:
    """Names of the patches that do not apply, and of those whose name is taken."""
    texts = {patch.file: (ROOT / patch.file).read_text(encoding="utf-8") for patch in patches}
    names = [patch.name for patch in patches]
    return [
        patch.name
        for number, patch in enumerate(patches)
        if texts[patch.file].count(patch.old) != 1 or patch.name in names[:number]
    ]


def killed(patch: Patch, bench: Bench, folder: Path) -> bool:
    """True when the bench fails on the mutant, built from a copy of the sources in `folder`."""
    for source in bench.sources:
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / source)
    file = folder / patch.file
    file.write_text(file.read_text(encoding="utf-8").replace(patch.old, patch.new), encoding="utf-8")
    built = build(Design(bench.top, bench.sources, bench.parameters, root=folder))
    try:
        for number, tests in enumerate([(test,) for test in bench.tests] or [()]):
            simulate(built, bench.module, folder / f"run-{number}", bench.settings, tests=tests)
    except SimulationError:
        return True
    finally:
        shutil.rmtree(built.folder)
    return False
