"""Every row of `rows/` on every target: exact bytes, nothing else out, the drop's cause counted and no other.

P29: no row passes on silence. Each proves that nothing more comes, and each drop must be told by its own counter.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.target import Count
from pymodel.wire.spec import CPU_PORT
from tests.switch.bench import Bench
from tests.switch.row import Row

MODULES = sorted(path.stem for path in (Path(__file__).parent / "rows").glob("*.py"))


def _rows(name: str) -> list[Row]:
    rows: list[Row] = importlib.import_module(f"tests.switch.rows.{name}").ROWS
    return rows


MANY = ("flavours", "pairs", "trimming")
"""Rows of many values of one thing. On BMv2 they are left to the longer runs."""

ROWS = {name: _rows(name) for name in MODULES}
FEW_ROWS = [row for name in MODULES if name not in MANY for row in ROWS[name]]
MANY_ROWS = [row for name in MANY for row in ROWS[name]]


def expected_counters(row: Row) -> dict[str, Count]:
    """What one frame adds to the counters: where it came in, where it went out, or why it did not."""
    size = len(row.frame)
    expected = {f"port_in[{row.port}]": Count(1, size)}
    if row.drop:
        expected[row.drop] = Count(1, size)
    if row.punt:
        expected[f"punted[{row.punt.reason}]"] = Count(1, size)
        expected[f"port_out[{CPU_PORT}]"] = Count(1, 0)
    for name in row.counts:
        expected[name] = Count(1, size)
    for port, _ in row.out:
        expected[f"port_out[{port}]"] = Count(1, 0)
    return expected


@pytest.fixture(scope="module")
def bench(switch: EmbeddedSwitch | Bmv2Switch) -> Iterator[Bench]:
    """Each target in turn, for all rows of a worker."""
    if not isinstance(switch, Bmv2Switch):
        bench = Bench(switch)
        yield bench
        bench.finish()
        return
    start = switch.log.stat().st_size
    bench = Bench(switch)
    yield bench
    bench.finish()
    # P14: a header stack that overflows is told in the log alone, beside the errors that the parser is there to find.
    found = {line.partition("Exception")[2] for line in switch.log.read_text()[start:].splitlines() if "[E]" in line}
    assert found <= {f" while parsing: {error}" for error in ("PacketTooShort", "BadIpVersion", "RoutingHeaderTooLong")}


def test_rows_have_names_of_their_own() -> None:
    rows = [*FEW_ROWS, *MANY_ROWS]
    assert len(rows) > 1_500
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("row", FEW_ROWS, ids=lambda row: row.name)
def test_row(bench: Bench, row: Row) -> None:
    check(bench, row)


@pytest.mark.parametrize("row", MANY_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize(
    "switch",
    ["embedded", pytest.param("bmv2", marks=[pytest.mark.bmv2, pytest.mark.slow])],
    indirect=True,
    scope="session",
)
def test_row_of_many(bench: Bench, row: Row) -> None:
    check(bench, row)


def check(bench: Bench, row: Row) -> None:
    """The row's frame through the switch."""
    bench.program(row.entries)
    came = bench.forward([(row.port, row.frame)])
    assert came.out == list(row.out)
    assert came.punts == ([(row.punt.reason, row.punt.pointer, row.port, row.punt.frame)] if row.punt else [])
    assert came.counts == expected_counters(row)
