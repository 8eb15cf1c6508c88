"""One interface for whatever runs the compiled P4 program: BMv2 as a process, or the embedded engine.

Ports are P4 port numbers. Time is an argument in integer picoseconds; a target owns no clock. See `docs/interfaces.md`
for what "equal targets" means and for how BMv2, which lives on the wall clock, takes part in virtual time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, runtime_checkable

from pymodel.paths.tables import TableEntry

__all__ = ["CompiledProgram", "Count", "Rate", "SwitchKind", "SwitchTarget", "TableEntry"]

Rate = Literal["pps", "bit/s"]

SwitchKind = Literal["embedded", "bmv2"]


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """p4c's output: the BMv2 JSON and the P4Info text file of one program."""

    name: str
    json_path: Path
    p4info_path: Path


@dataclass(frozen=True, slots=True)
class Count:
    """A counter cell: packets, and bytes of frames."""

    packets: int
    bytes: int


@runtime_checkable
class SwitchTarget(Protocol):
    """A running switch. Entering the context starts it, leaving it stops it and frees its ports."""

    name: str

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def load(self, program: CompiledProgram) -> None:
        """Push the pipeline. InputError when the program is stale or uses what the target does not know."""
        ...

    def write(self, entries: Iterable[TableEntry]) -> None:
        """Insert table entries through P4Runtime. InputError names the table and key that is wrong."""
        ...

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`. Never raises for any `data`."""
        ...

    def next_event_ps(self) -> int | None:
        """When the switch can next put out a frame, in ps, or None when it holds none."""
        ...

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """Frames that left at or before `until_ps`, in order, as (time in ps, port, frame).

        On BMv2 the call returns when a sentinel proved that nothing more will come; times are those of the injections.
        """
        ...

    def counters(self) -> dict[str, Count]:
        """Every non-zero cell of the program's counters: ``name`` for a counter of one cell, else ``name[index]``."""
        ...

    def set_queue(self, port: int, priority: int, rate: int | None, unit: Rate, depth_packets: int) -> None:
        """Set rate (None: unlimited) and depth of one egress queue. BMv2 refuses "bit/s" by InputError."""
        ...

    def set_port(self, port: int, up: bool) -> None:
        """Set a port's state in the program's port table."""
        ...
