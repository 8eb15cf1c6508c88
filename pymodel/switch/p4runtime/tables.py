"""The tables behind a P4Runtime server: what is installed, and how a request changes or reads it.

A table's entries are kept here with what the client added to them (metadata, idle timeout), and in the dataplane with
what forwards. Every refusal is a `Refused` with the code that BMv2's server gives, or where that is a bare UNKNOWN, the
one of the P4Runtime specification (RESOURCE_EXHAUSTED for a full table, PERMISSION_DENIED for a constant one).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pymodel.switch.p4runtime.codec import Refused, decode_action, decode_match, fill_entry, invalid
from pymodel.switch.p4runtime.dataplane import Dataplane, MeterRates
from pymodel.switch.p4runtime.externs import Add, counted, fill_count, fill_rates, meter_rates
from pymodel.switch.p4runtime.info import ProgramInfo, Table
from pymodel.switch.p4runtime.profiles import ActionProfiles, Choice
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.target import TableEntry

__all__ = ["Installed", "Tables"]

_Identity = tuple[Any, ...]


@dataclass(slots=True)
class Installed:
    """One entry as installed; `handle` is the dataplane's. The default entry has the handle None.

    An entry of a table with an action profile has a `choice` and no action.
    """

    entry: TableEntry
    handle: Any
    controller_metadata: int = 0
    metadata: bytes = b""
    idle_timeout_ns: int = 0
    rates: MeterRates | None = None
    choice: Choice | None = None


class Tables:
    """All tables of one pipeline."""

    def __init__(self, info: ProgramInfo, dataplane: Dataplane, profiles: ActionProfiles) -> None:
        self._info = info
        self._dataplane = dataplane
        self._profiles = profiles
        self._entries: dict[int, dict[_Identity, Installed]] = {}
        self._defaults: dict[int, Installed] = {}
        for table in info.tables:
            initial = dataplane.initial_entries(table.name)
            self._entries[table.id] = {_identity(table, entry): Installed(entry, handle) for entry, handle in initial}
            self._defaults[table.id] = self._program_default(table)

    def write(self, kind: int, message: Any) -> None:
        """Apply one update of type `kind` (p4.v1.Update.Type) to a table entry; Refused when it can't be."""
        table = self._table(message.table_id)
        if message.HasField("time_since_last_hit"):
            raise invalid(f"table {table.name}: time_since_last_hit can't be written")
        if table.action_profile and message.is_default_action:
            raise invalid(f"table {table.name}: it has an action profile, so its default can't be changed")
        if table.is_const:
            raise Refused(code_pb2.PERMISSION_DENIED, f"table {table.name}: its entries are constant")
        update = p4runtime_pb2.Update
        if kind == update.INSERT:
            self._insert(table, message)
        elif kind == update.MODIFY and message.is_default_action:
            self._modify_default(table, message)
        elif kind == update.MODIFY:
            self._modify(table, message)
        elif kind == update.DELETE:
            self._delete(table, message)
        else:
            raise invalid("the update has no type")

    def read(self, request: Any, add: Add) -> None:
        """Add the entries that `request` asks for: one, a table's, or all (table id 0)."""
        tables = [self._table(request.table_id)] if request.table_id else list(self._info.tables)
        for table in tables:
            if request.HasField("time_since_last_hit") and not table.idle_timeout:
                raise invalid(f"table {table.name}: it does not support idle timeouts")
            for installed in self._selected(table, request):
                self._fill(table, installed, request, add().table_entry)

    def find(self, message: Any) -> tuple[Table, Installed]:
        """Return the entry (or default entry) that a message names by table and match; Refused when there is none."""
        table = self._table(message.table_id)
        if message.is_default_action:
            decode_match(table, message)
            return table, self._defaults[table.id]
        identity = self._identity_of(table, message)
        installed = self._entries[table.id].get(identity)
        if installed is None:
            raise Refused(code_pb2.NOT_FOUND, f"table {table.name}: no such entry")
        return table, installed

    def entries(self, table: Table) -> Iterator[Installed]:
        """Return the entries of `table` without its default, in the order of their installation."""
        return iter(self._entries[table.id].values())

    def _table(self, number: int) -> Table:
        table = self._info.tables.by_id.get(number)
        if table is None:
            raise invalid(f"no table has the id {number:#x}")
        return table

    def _insert(self, table: Table, message: Any) -> None:
        if message.is_default_action:
            raise invalid(f"table {table.name}: the default entry is modified, never inserted")
        entry = self._entry(table, message)
        rates = self._direct_resources(table, message)
        identity = _identity(table, entry)
        held = self._entries[table.id]
        if identity in held:
            raise Refused(code_pb2.ALREADY_EXISTS, f"table {table.name}: the entry exists; MODIFY changes its action")
        if len(held) >= table.size:
            raise Refused(code_pb2.RESOURCE_EXHAUSTED, f"table {table.name}: it is full ({table.size} entries)")
        choice = self._profiles.choose(table, message.action) if table.action_profile else None
        try:
            handle = self._dataplane.insert(entry, choice.via if choice else None)
        except Refused:
            self._profiles.release(table, choice)
            raise
        installed = held[identity] = Installed(entry, handle, choice=choice)
        self._annotate(table, installed, message, rates)

    def _modify(self, table: Table, message: Any) -> None:
        entry = self._entry(table, message)
        rates = self._direct_resources(table, message)
        installed = self._entries[table.id].get(_identity(table, entry))
        if installed is None:
            raise Refused(code_pb2.NOT_FOUND, f"table {table.name}: no such entry")
        choice = self._profiles.choose(table, message.action) if table.action_profile else None
        via = choice.via if choice else None
        self._dataplane.modify(table.name, installed.handle, entry.action, entry.params, via)
        self._profiles.release(table, installed.choice)
        installed.entry, installed.choice = entry, choice
        self._annotate(table, installed, message, rates)

    def _delete(self, table: Table, message: Any) -> None:
        if message.is_default_action:
            raise invalid(f"table {table.name}: the default entry can't be deleted; MODIFY without an action resets it")
        identity = self._identity_of(table, message)
        installed = self._entries[table.id].get(identity)
        if installed is None:
            raise Refused(code_pb2.NOT_FOUND, f"table {table.name}: no such entry")
        self._dataplane.delete(table.name, installed.handle)
        self._profiles.release(table, installed.choice)
        del self._entries[table.id][identity]

    def _modify_default(self, table: Table, message: Any) -> None:
        decode_match(table, message)
        if table.const_default:
            raise Refused(code_pb2.PERMISSION_DENIED, f"table {table.name}: its default action is constant")
        rates = self._direct_resources(table, message)
        if not message.HasField("action"):
            self._dataplane.reset_default(table.name)
            self._defaults[table.id] = self._program_default(table)
            return
        action, params = self._action(table, message)
        self._dataplane.set_default(table.name, action, params)
        installed = self._defaults[table.id]
        installed.entry = TableEntry(table.name, action, {}, params, default=True)
        self._annotate(table, installed, message, rates)

    def _program_default(self, table: Table) -> Installed:
        action = self._dataplane.default_action(table.name)
        name, params = action if action else ("", {})
        return Installed(TableEntry(table.name, name, {}, dict(params), default=True), None)

    def _entry(self, table: Table, message: Any) -> TableEntry:
        """Return the entry of a message, without an action where the table has an action profile."""
        match, priority = decode_match(table, message)
        if table.action_profile:
            return TableEntry(table.name, "", match, {}, priority)
        action, params = self._action(table, message)
        return TableEntry(table.name, action, match, params, priority)

    def _action(self, table: Table, message: Any) -> tuple[str, dict[str, int]]:
        if message.action.WhichOneof("type") != "action":
            raise invalid(f"table {table.name}: the entry has no direct action")
        action, params = decode_action(self._info, table, message.action.action, message.is_default_action)
        return action.name, params

    def _direct_resources(self, table: Table, message: Any) -> MeterRates | None:
        """Check what the entry says of its counter, meter and idle timeout, and return the meter's rates."""
        if message.HasField("counter_data") and not table.direct_counter:
            raise invalid(f"table {table.name}: it has no direct counter")
        if message.HasField("meter_config") and not table.direct_meter:
            raise invalid(f"table {table.name}: it has no direct meter")
        if message.idle_timeout_ns < 0 or (message.idle_timeout_ns and not table.idle_timeout):
            raise invalid(f"table {table.name}: idle timeout {message.idle_timeout_ns}; the table supports none")
        return meter_rates(message.meter_config) if message.HasField("meter_config") else None

    def _annotate(self, table: Table, installed: Installed, message: Any, rates: MeterRates | None) -> None:
        installed.controller_metadata = message.controller_metadata
        installed.metadata = message.metadata
        installed.idle_timeout_ns = message.idle_timeout_ns
        if message.HasField("counter_data"):
            self._dataplane.write_direct_counter(table.name, installed.handle, counted(message.counter_data))
        if message.HasField("meter_config"):
            self._dataplane.set_direct_meter(table.name, installed.handle, rates)
            installed.rates = rates

    def _identity_of(self, table: Table, message: Any) -> _Identity:
        match, priority = decode_match(table, message)
        return _identity(table, TableEntry(table.name, "", match, {}, priority))

    def _selected(self, table: Table, request: Any) -> list[Installed]:
        if request.is_default_action:
            if request.HasField("time_since_last_hit"):
                raise invalid(f"table {table.name}: a default entry has no idle timeout")
            decode_match(table, request)
            return [self._defaults[table.id]]
        held = self._entries[table.id]
        if request.match:
            installed = held.get(self._identity_of(table, request))
            return [installed] if installed else []
        return [one for one in held.values() if request.priority in (0, one.entry.priority)]

    def _fill(self, table: Table, installed: Installed, request: Any, message: Any) -> None:
        fill_entry(self._info, installed.entry, message)
        if installed.choice:
            message.action.CopyFrom(installed.choice.message)
        message.controller_metadata = installed.controller_metadata
        message.metadata = installed.metadata
        message.idle_timeout_ns = installed.idle_timeout_ns
        message.is_const = table.is_const and not installed.entry.default
        if request.HasField("counter_data") and table.direct_counter:
            fill_count(self._dataplane.read_direct_counter(table.name, installed.handle), message.counter_data)
        if request.HasField("meter_config") and installed.rates:
            fill_rates(installed.rates, message.meter_config)
        if request.HasField("time_since_last_hit"):
            message.time_since_last_hit.elapsed_ns = 0


def _identity(table: Table, entry: TableEntry) -> _Identity:
    """Return what tells an entry from the others of its table: its match and its priority (P4Runtime 9.1)."""
    return (*(entry.match.get(key.name) for key in table.keys), entry.priority)
