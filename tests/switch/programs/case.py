"""Cases of the small P4 programs as data: the state of the switch, frames that enter, frames that leave.

One case runs on the engine and, where it is present, on BMv2 (`drivers.py`). Frames stand as text, a line each::

    PORT FRAME -> PORT FRAME, PORT FRAME
    PORT FRAME -> drop

with frames in hexadecimal, blanks anywhere; ``~`` at its end continues a line. Lines run one after the other, so that
state shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pymodel.switch.engine import MeterRates
from pymodel.switch.program import verify
from pymodel.switch.target import CompiledProgram, TableEntry

__all__ = ["FOLDER", "Case", "Profile", "Setup", "Step", "compiled", "entry", "program_names"]

FOLDER = Path(__file__).parent

Copies = tuple[tuple[int, int], ...]
"""Of a multicast group or clone session: (port, rid) of each copy."""


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile's members as (action, params), groups of member numbers, and its table's entries.

    An entry is (match, "member" or "group", number); members and groups are numbered from 0.
    """

    name: str
    table: str
    members: tuple[tuple[str, Mapping[str, int]], ...]
    groups: tuple[tuple[int, ...], ...]
    entries: tuple[tuple[Mapping[str, int], str, int], ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """What the control plane sets first. Meters are (name, index, rates), direct ones (entry, rates)."""

    entries: tuple[TableEntry, ...] = ()
    groups: Mapping[int, Copies] = field(default_factory=dict)
    sessions: Mapping[int, Copies] = field(default_factory=dict)
    meters: tuple[tuple[str, int, MeterRates], ...] = ()
    direct_meters: tuple[tuple[TableEntry, MeterRates], ...] = ()
    profiles: tuple[Profile, ...] = ()
    value_sets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A frame that enters, and all that leave for it."""

    port: int
    frame: bytes
    out: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `counters` are (packets, bytes) afterwards; `engine_only` says why BMv2 cannot run it."""

    name: str
    program: str
    lines: str
    setup: Setup = field(default_factory=Setup)
    counters: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    engine_only: str = ""

    @property
    def steps(self) -> Iterator[Step]:
        """The lines, read."""
        for line in self.lines.replace("~\n", " ").strip().splitlines():
            before, after = line.split("->")
            port, frame = _frame(before)
            out = () if after.strip() == "drop" else tuple(_frame(part) for part in after.split(","))
            yield Step(port, frame, out)


def _frame(text: str) -> tuple[int, bytes]:
    port, *rest = text.split()
    return int(port), bytes.fromhex("".join(rest))


def entry(
    table: str, action: str, match: Mapping[str, int | tuple[int, int]], priority: int = 0, **params: int
) -> TableEntry:
    """A table entry; a default entry when `match` is empty."""
    return TableEntry(table, action, match, params, priority, default=not match)


def program_names() -> list[str]:
    """Every program of the folder."""
    return sorted(path.stem for path in FOLDER.glob("*.p4") if path.stem != "shell")


def compiled(name: str) -> CompiledProgram:
    """p4c's output for a program; InputError when it is stale."""
    return verify(FOLDER / f"{name}.p4", FOLDER / "compiled")
