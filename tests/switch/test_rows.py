"""Every row of `rows/` on every target: exact bytes, nothing else out, the drop's cause counted and no other.

P29: no row passes on silence. Each proves that nothing more comes, and each drop must be told by its own counter.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodel.paths.tables import TableEntry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from tests.switch.row import Row

MODULES = sorted(path.stem for path in (Path(__file__).parent / "rows").glob("*.py"))
ROWS: list[Row] = [row for name in MODULES for row in importlib.import_module(f"tests.switch.rows.{name}").ROWS]


class Bench:
    """A switch with the program loaded once. From row to row only the entries that differ are changed."""

    def __init__(self, switch: EmbeddedSwitch | Bmv2Switch) -> None:
        self._switch = switch
        self._entries: tuple[TableEntry, ...] | None = None
        switch.load(mrc_switch())
        self._counters = switch.counters()

    def forward(self, row: Row) -> tuple[list[tuple[int, bytes]], dict[str, Count]]:
        """Everything that comes of the row's frame, and what it added to the counters."""
        if row.entries is not self._entries:
            self._switch.control.program(row.entries)
            self._entries = row.entries
        self._switch.inject(row.port, row.frame, 0)
        # drain returns when the target has proved that nothing more comes of the frame.
        out = [(port, data) for _, port, data in self._switch.drain(0)]
        before, self._counters = self._counters, self._switch.counters()
        return out, added(before, self._counters)


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


def expected_counters(row: Row) -> dict[str, Count]:
    """What one frame adds to the counters: where it came in, where it went out, or why it did not."""
    expected = {f"port_in[{row.port}]": Count(1, len(row.frame))}
    if row.drop:
        expected[row.drop] = Count(1, len(row.frame))
    for name in row.counts:
        expected[name] = Count(1, len(row.frame))
    for port, _ in row.out:
        expected[f"port_out[{port}]"] = Count(1, 0)
    return expected


@pytest.fixture(scope="module")
def bench(switch: EmbeddedSwitch | Bmv2Switch) -> Iterator[Bench]:
    """Each target in turn, for all rows of a worker."""
    if not isinstance(switch, Bmv2Switch):
        yield Bench(switch)
        return
    start = switch.log.stat().st_size
    yield Bench(switch)
    # P14: a header stack that overflows is told in the log alone, beside the errors that the parser is there to find.
    found = {line.partition("Exception")[2] for line in switch.log.read_text()[start:].splitlines() if "[E]" in line}
    assert found <= {f" while parsing: {error}" for error in ("PacketTooShort", "BadIpVersion", "RoutingHeaderTooLong")}


def test_rows_have_names_of_their_own() -> None:
    assert len(ROWS) > 250
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(bench: Bench, row: Row) -> None:
    assert bench.forward(row) == (list(row.out), expected_counters(row))
