"""`mrc switch show`: what a running switch holds, read without taking it from its controller. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pymodel.paths import usid
from pymodel.paths.tables import PORT_QUEUES
from pymodel.switch.control import ControlPlane
from pymodel.switch.p4runtime import info
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.target import Count, TableEntry

__all__ = ["running_switch"]

_ADDRESS_BITS = 128
_MAC_BITS = 48


def running_switch(client: Client) -> RenderableType:
    """Return tables with direct counters, the program's queues by port, counters that are not zero, and meters."""
    pages: list[RenderableType] = [_table(client, table) for table in client.info.tables if table.name != PORT_QUEUES]
    return Group(*pages, *_queues(client), _counters(client), *_meters(client))


def _titled(name: str, rest: str, page: Table) -> RenderableType:
    return Group(Text.assemble((name, "bold"), f"  {rest}"), page)


def _plain(*columns: str) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in _NUMBERS else "left", overflow="fold")
    return table


_NUMBERS = {"packets", "bytes", "cell", "cir", "cburst", "pir", "pburst", "data limit", "high limit", "trim to"}


def _table(client: Client, table: info.Table) -> RenderableType:
    entries = client.read_table(table.name)
    if not entries:
        return Text.assemble((table.name, "bold"), f"  empty; {_default(client, table)}\n")
    counts: list[Count | None] = [None] * len(entries)
    if table.direct_counter:
        pairs = client.read_direct_counters(table.name)
        entries, counts = [entry for entry, _ in pairs], [count for _, count in pairs]
    keys = [key.name.removeprefix("hdr.") for key in table.keys]
    extra = (["priority"] if table.needs_priority else []) + (["packets", "bytes"] if table.direct_counter else [])
    page = _plain(*keys, "action", *extra)
    for entry, count in sorted(zip(entries, counts, strict=True), key=lambda pair: _order(table, pair[0])):
        row = [_key(key, entry.match.get(key.name)) for key in table.keys] + [_action(client, entry)]
        row += [str(entry.priority)] if table.needs_priority else []
        row += [f"{count.packets:,}", f"{count.bytes:,}"] if count else []
        page.add_row(*row)
    number = f"{len(entries)}, constant" if table.is_const else f"{len(entries)} of {table.size}"
    return _titled(table.name, f"{number}; {_default(client, table)}", page)


def _order(table: info.Table, entry: TableEntry) -> list[tuple[int, int]]:
    places = []
    for key in table.keys:
        value = entry.match.get(key.name, (0, 0))
        places.append(value if isinstance(value, tuple) else (value, 0))
    return [(-entry.priority, 0), *places]


def _default(client: Client, table: info.Table) -> str:
    entry = client.read_default(table.name)
    return f"default: {_action(client, entry)}" if entry.action else "no default"


def _action(client: Client, entry: TableEntry) -> str:
    widths = {param.name: param.width for param in client.info.actions.find(entry.action).params}
    params = [f"{name}={_value(widths[name], value)}" for name, value in entry.params.items()]
    return " ".join([entry.action.rpartition(".")[2], *params])


def _key(key: info.Key, value: int | tuple[int, int] | None) -> str:
    if value is None:
        return "any"
    if isinstance(value, int):
        return _value(key.width, value)
    first, second = value
    if key.kind == "lpm":
        return f"{_value(key.width, first)}/{second}"
    mark = ".." if key.kind == "range" else "&"
    return f"{_value(key.width, first)}{mark}{_value(key.width, second)}"


def _value(width: int, value: int) -> str:
    if width == _ADDRESS_BITS:
        return usid.text(value)
    return value.to_bytes(6, "big").hex(":") if width == _MAC_BITS else str(value)


def _queues(client: Client) -> Iterator[RenderableType]:
    """What the program holds of each port's queues (`QueueSettings`), sizes in bytes."""
    if client.info.tables.get(PORT_QUEUES) is None:
        return
    page = _plain("port", "data limit", "high limit", "ECN", "trim to", "trim mark")
    entries = [(entry.match["port"], entry.params) for entry in client.read_table(PORT_QUEUES)]
    for port, limits in sorted(entries, key=lambda pair: str(pair[0]).rjust(3)):
        ecn = f"{limits['ecn_low']:,} to {limits['ecn_high']:,}" if limits["ecn"] else "off"
        size = f"{limits['trim_bytes']:,}" if limits["trim"] else "off"
        mark = f"DSCP {limits['trim_dscp']}" if limits["trim"] else ""
        page.add_row(str(port), f"{limits['data_limit']:,}", f"{limits['high_limit']:,}", ecn, size, mark)
    yield _titled(PORT_QUEUES, "the program's queues, in bytes", page)


def _counters(client: Client) -> RenderableType:
    counts = ControlPlane(client).counters()
    if not counts:
        return Text("counters: all zero\n")
    page = _plain("counter", "packets", "bytes")
    units = {counter.name: counter for counter in client.info.counters}
    for name, count in counts.items():
        unit = units[name.partition("[")[0]]
        page.add_row(name, f"{count.packets:,}" if unit.packets else "", f"{count.bytes:,}" if unit.bytes else "")
    return _titled("counters", "those that are not zero", page)


def _meters(client: Client) -> Iterator[RenderableType]:
    for meter in client.info.meters:
        cells = [(index, rates) for index, rates in enumerate(client.read_meters(meter.name)) if rates]
        if not cells:
            yield Text.assemble((meter.name, "bold"), "  no cell has rates\n")
            continue
        unit = "packets" if meter.packets else "bytes"
        page = _plain("cell", "cir", "cburst", "pir", "pburst")
        for index, rates in cells:
            page.add_row(*(f"{value:,}" for value in (index, rates.cir, rates.cburst, rates.pir, rates.pburst)))
        yield _titled(meter.name, f"{unit} a second, bursts in {unit}", page)
