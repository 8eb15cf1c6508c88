"""The short table that a run prints."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pymodel.cosim.result import Result

__all__ = ["microseconds", "summary"]


def microseconds(ps: int | None) -> str:
    """Return a time in ps as microseconds with three places; "never" for None."""
    # Whole nanoseconds, shown in microseconds: integers all the way, as everywhere with time.
    return "never" if ps is None else f"{ps // 1_000_000}.{ps % 1_000_000 // 1_000:03d}"


def summary(result: Result, name: str) -> RenderableType:
    """Return a table with one row a write, the spread over planes, the switches' drops, and the verdict."""
    # Fits 80 columns; the hashes stand in result.json.
    title = f"{name}, seed {result.seed}, {result.switch} switches"
    writes = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False, collapse_padding=True)
    for column in ("write", "bytes", "packets", "resent", "NACKs", "timeouts", "done (us)", "memory"):
        writes.add_column(column, justify="left" if column in ("write", "memory") else "right", no_wrap=True)
    for write in result.writes:
        writes.add_row(
            write.name,
            f"{write.bytes:,}",
            str(write.packets),
            str(write.retransmissions),
            str(write.nacks),
            str(write.timeouts),
            microseconds(write.completion_ps),
            Text("equal", "green") if write.match else Text("DIFFERENT", "red"),
        )
    planes = ", ".join(f"plane {plane}: {count}" for plane, count in sorted(result.packets_by_plane.items()))
    lines = [f"data packets by plane: {planes}; over {len(result.packets_by_ev)} EVs; {len(result.switches)} switches"]
    lines += [f"warning: {warning}" for warning in result.warnings]
    verdict = Text("ok: every byte landed, every completion came once", style="green")
    if not result.ok:
        verdict = Text("NOT ok: a memory differs or a completion is missing, failed or double", style="red")
    return Group(writes, Text("\n".join(lines)), verdict)
