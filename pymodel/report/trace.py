"""The table that `mrc probe trace` prints."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pymodel.cosim.trace import TRIES, Hop, Trace
from pymodel.paths import usid
from pymodel.report.table import microseconds

__all__ = ["trace_page"]


def trace_page(trace: Trace) -> RenderableType:
    """Return one row a hop, and whether the destination was reached; 80 columns."""
    record = trace.record
    lines = [f"EV {record.ev:#010x}, plane {record.port}, {trace.switch} switches", f"path {usid.text(record.address)}"]
    if record.segment is not None:
        lines.append(f"then {usid.text(record.segment)}")
    table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for column in ("hop", "node", "address", "came through", "round trip (us)"):
        table.add_column(column, justify="right" if column in ("hop", "round trip (us)") else "left", no_wrap=True)
    for hop in trace.hops:
        table.add_row(*_row(hop))
    verdict = f"reached {trace.destination}" if trace.reached else f"{trace.destination} NOT reached"
    style = "green" if trace.reached else "red"
    title = f"{trace.source} to {trace.destination}: " + "\n".join(lines)
    return Group(Text(title), table, Text(verdict, style=style))


def _row(hop: Hop) -> tuple[str, ...]:
    if hop.node is None:
        return str(hop.number), "*", f"silent to {TRIES} probes", "", ""
    port = "unknown" if hop.port is None else f"port {hop.port}"
    return str(hop.number), hop.node, usid.text(hop.address), port, microseconds(hop.round_trip_ps)
