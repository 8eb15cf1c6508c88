"""One program on a dataplane as P4Runtime sees it: every kind of entity, written and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pymodel.switch.p4runtime.codec import Refused, fill_match, invalid
from pymodel.switch.p4runtime.dataplane import Dataplane
from pymodel.switch.p4runtime.externs import (
    Add,
    CounterArrays,
    MeterArrays,
    Replication,
    counted,
    fill_count,
    fill_rates,
    meter_rates,
)
from pymodel.switch.p4runtime.info import ProgramInfo, Table
from pymodel.switch.p4runtime.profiles import ActionProfiles
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.p4runtime.tables import Installed, Tables
from pymodel.switch.target import Count

__all__ = ["Pipeline"]

_UNSUPPORTED = ("extern_entry", "value_set_entry", "register_entry", "digest_entry")
"""What BMv2's server refuses too (externs, value sets, registers), and digests."""


class Pipeline:
    """The entities of one program: `info` describes them, `dataplane` runs them."""

    def __init__(self, info: ProgramInfo, dataplane: Dataplane) -> None:
        self.info = info
        self._dataplane = dataplane
        self._profiles = ActionProfiles(info, dataplane)
        self._tables = Tables(info, dataplane, self._profiles)
        self._counters = CounterArrays(info, dataplane)
        self._meters = MeterArrays(info, dataplane)
        self._replication = Replication(dataplane)

    def write(self, update: Any) -> None:
        """Apply one p4.v1.Update; Refused when it can't be, and then nothing has changed."""
        entity = update.entity
        which = entity.WhichOneof("entity")
        if which == "table_entry":
            self._tables.write(update.type, entity.table_entry)
        elif which == "action_profile_member":
            self._profiles.write_member(update.type, entity.action_profile_member)
        elif which == "action_profile_group":
            self._profiles.write_group(update.type, entity.action_profile_group)
        elif which == "counter_entry":
            self._counters.write(update.type, entity.counter_entry)
        elif which == "direct_counter_entry":
            self._write_direct_counter(update.type, entity.direct_counter_entry)
        elif which == "meter_entry":
            self._meters.write(update.type, entity.meter_entry)
        elif which == "direct_meter_entry":
            self._write_direct_meter(update.type, entity.direct_meter_entry)
        elif which == "packet_replication_engine_entry":
            self._replication.write(update.type, entity.packet_replication_engine_entry)
        else:
            raise _unsupported(which)

    def read(self, entity: Any, add: Add) -> None:
        """Add what a request's entity asks for; Refused when it asks for the impossible."""
        which = entity.WhichOneof("entity")
        if which == "table_entry":
            self._tables.read(entity.table_entry, add)
        elif which == "action_profile_member":
            self._profiles.read_members(entity.action_profile_member, add)
        elif which == "action_profile_group":
            self._profiles.read_groups(entity.action_profile_group, add)
        elif which == "counter_entry":
            self._counters.read(entity.counter_entry, add)
        elif which == "direct_counter_entry":
            self._read_direct_counters(entity.direct_counter_entry, add)
        elif which == "meter_entry":
            self._meters.read(entity.meter_entry, add)
        elif which == "direct_meter_entry":
            self._read_direct_meters(entity.direct_meter_entry, add)
        elif which == "packet_replication_engine_entry":
            self._replication.read(entity.packet_replication_engine_entry, add)
        else:
            raise _unsupported(which)

    def _write_direct_counter(self, kind: int, message: Any) -> None:
        table, installed = self._tables.find(message.table_entry)
        if not table.direct_counter:
            raise invalid(f"table {table.name}: it has no direct counter")
        if kind == p4runtime_pb2.Update.MODIFY:
            count = counted(message.data)
        elif kind == p4runtime_pb2.Update.DELETE:
            count = Count(0, 0)
        else:
            raise invalid(f"table {table.name}: direct counters are modified, never inserted")
        self._dataplane.write_direct_counter(table.name, installed.handle, count)

    def _write_direct_meter(self, kind: int, message: Any) -> None:
        table, installed = self._tables.find(message.table_entry)
        if not table.direct_meter:
            raise invalid(f"table {table.name}: it has no direct meter")
        if kind != p4runtime_pb2.Update.MODIFY:
            raise invalid(f"table {table.name}: direct meters are modified, neither inserted nor deleted")
        rates = meter_rates(message.config) if message.HasField("config") else None
        self._dataplane.set_direct_meter(table.name, installed.handle, rates)
        installed.rates = rates

    def _read_direct_counters(self, request: Any, add: Add) -> None:
        for table, installed in self._direct(request, "direct_counter"):
            message = add().direct_counter_entry
            fill_match(self.info, installed.entry, message.table_entry)
            fill_count(self._dataplane.read_direct_counter(table.name, installed.handle), message.data)

    def _read_direct_meters(self, request: Any, add: Add) -> None:
        for _, installed in self._direct(request, "direct_meter"):
            message = add().direct_meter_entry
            fill_match(self.info, installed.entry, message.table_entry)
            if installed.rates:
                fill_rates(installed.rates, message.config)

    def _direct(self, request: Any, resource: str) -> Iterator[tuple[Table, Installed]]:
        """Yield the entries whose direct resource is asked for: one, those of a table, or all (table id 0)."""
        if not request.HasField("table_entry"):
            raise invalid("the entry does not say which table entry it belongs to")
        named = request.table_entry
        if named.table_id == 0:
            tables = [table for table in self.info.tables if getattr(table, resource)]
        elif named.table_id in self.info.tables.by_id:
            tables = [self.info.tables.by_id[named.table_id]]
        else:
            raise invalid(f"no table has the id {named.table_id:#x}")
        for table in tables:
            if not getattr(table, resource):
                raise invalid(f"table {table.name}: it has no {resource.replace('_', ' ')}")
            if named.table_id and (named.match or named.is_default_action):
                yield self._tables.find(named)
            else:
                yield from ((table, installed) for installed in self._tables.entries(table))


def _unsupported(which: str | None) -> Refused:
    if which in _UNSUPPORTED:
        return Refused(code_pb2.UNIMPLEMENTED, f"{which} is not supported")
    return invalid("the entity has no kind")
