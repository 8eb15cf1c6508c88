"""Every row of `rows/` on every target: exact bytes, nothing else out, the drop's cause counted and no other."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from pymodel.switch.target import Count, SwitchTarget
from tests.switch.row import Row

MODULES = sorted(path.stem for path in (Path(__file__).parent / "rows").glob("*.py"))
ROWS: list[Row] = [row for name in MODULES for row in importlib.import_module(f"tests.switch.rows.{name}").ROWS]


def test_rows_have_names_of_their_own() -> None:
    assert len(ROWS) > 250
    assert len({row.name for row in ROWS}) == len(ROWS)


def expected_counters(row: Row) -> dict[str, Count]:
    """What one frame adds to the counters: where it came in, where it went out, or why it did not."""
    expected = {f"port_in[{row.port}]": Count(1, len(row.frame))}
    if row.drop:
        expected[row.drop] = Count(1, len(row.frame))
    for port, _ in row.out:
        expected[f"port_out[{port}]"] = Count(1, 0)
    return expected


def added(before: dict[str, Count], after: dict[str, Count]) -> dict[str, Count]:
    """The difference of two readings; counters never fall."""
    difference = {}
    for name in before.keys() | after.keys():
        old, new = before.get(name, Count(0, 0)), after.get(name, Count(0, 0))
        assert new.packets >= old.packets
        assert new.bytes >= old.bytes
        if new != old:
            # port_out counts packets alone; what a target puts beside them means nothing.
            size = 0 if name.startswith("port_out") else new.bytes - old.bytes
            difference[name] = Count(new.packets - old.packets, size)
    return difference


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(target: SwitchTarget, row: Row) -> None:
    target.write(row.entries)
    before = target.counters()
    target.inject(row.port, row.frame, 0)
    # drain returns when the target has proved that nothing more comes of the frame.
    out = [(port, data) for _, port, data in target.drain(0)]
    assert out == list(row.out)
    assert added(before, target.counters()) == expected_counters(row)
