"""The house has floors: a room imports lower floors and itself, nothing sideways and nothing from above."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT

FLOORS = {
    "base": 0,
    "wire": 1,
    "paths": 2,
    "rtl": 2,
    "nic": 3,
    "switch": 3,
    "verbs": 4,
    "cosim": 5,
    "report": 6,
    "bench": 6,
    "cli": 7,
}


def imported_rooms(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Yield line and room of every import of `pymodel` in `source`, relative ones resolved against `module`."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: -node.level] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            names = [prefix] if prefix != "pymodel" else [f"pymodel.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("pymodel."):
                yield node.lineno, name.split(".")[1]


def violations(source: str, path: Path) -> list[str]:
    module = ".".join(path.with_suffix("").parts)
    room = path.parts[1].removesuffix(".py")
    return [
        f"{path}:{line}: {room} (floor {FLOORS[room]}) imports {other} (floor {FLOORS[other]})"
        for line, other in imported_rooms(source, module)
        if other != room and FLOORS[other] >= FLOORS[room]
    ]


def test_every_room_imports_lower_floors_alone() -> None:
    files = sorted((ROOT / "pymodel").rglob("*.py"))
    assert len(files) > 20
    found = [
        line
        for file in files
        if file.name != "__init__.py" or file.parent.name != "pymodel"
        for line in violations(file.read_text(encoding="utf-8"), file.relative_to(ROOT))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import pymodel.cosim.run",
        "from pymodel.nic import device",
        "from pymodel import cli",
        "from ..nic.device import Device",
    ],
)
def test_the_rule_sees_each_way_to_write_an_import(source: str) -> None:
    assert len(violations(source, Path("pymodel/switch/x.py"))) == 1
