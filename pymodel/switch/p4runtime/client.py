"""One switch over P4Runtime, in names and integers: what the control plane and the tests read and write with.

Every method that talks to the switch raises InputError, in one sentence, when the switch refuses or does not answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import grpc

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.codec import Refused, decode_default, decode_entry, decode_match, fill_entry, fill_match
from pymodel.switch.p4runtime.dataplane import MeterRates, Replica
from pymodel.switch.p4runtime.externs import counted, fill_count, fill_rates, meter_rates
from pymodel.switch.p4runtime.faults import Fault, faults_of
from pymodel.switch.p4runtime.info import ProgramInfo, Table
from pymodel.switch.p4runtime.normal import normal_form
from pymodel.switch.p4runtime.packetio import packet_out
from pymodel.switch.p4runtime.protos import p4runtime_pb2
from pymodel.switch.p4runtime.session import Connection
from pymodel.switch.target import CompiledProgram, Count, TableEntry

__all__ = ["Client", "PacketIn", "check_json"]

_BATCH = 500
"""Updates in one WriteRequest."""

_CALL_S = 60
"""No call takes this long, whatever the switch holds."""


@dataclass(frozen=True, slots=True)
class PacketIn:
    """A frame that the program sent to the controller, and the fields of its packet_in header by name."""

    payload: bytes
    fields: Mapping[str, int]


class Client:
    """A connected, primary controller of the switch at `address`. Leaving the context disconnects.

    With no election id it is a reader: whoever controls the switch stays its controller, and nothing can be written.
    """

    def __init__(self, address: str, device_id: int = 1, election_id: tuple[int, int] | None = (0, 1)) -> None:
        self.address = address
        self._where = f"P4Runtime at {address}"
        self._connection = Connection(address, device_id, election_id)
        self._info: ProgramInfo | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect."""
        self._connection.tear_down()

    # --- pipeline ---

    @property
    def info(self) -> ProgramInfo:
        """The program that the switch runs, asked for once; InputError when it runs none."""
        if self._info is None:
            request = p4runtime_pb2.GetForwardingPipelineConfigRequest(
                device_id=self._connection.device_id,
                response_type=p4runtime_pb2.GetForwardingPipelineConfigRequest.P4INFO_AND_COOKIE,
            )
            with self._refusals("a running program"):
                config = self._connection.stub.GetForwardingPipelineConfig(request, timeout=_CALL_S).config
            self._info = ProgramInfo.of(config.p4info, self._where)
        return self._info

    def load(self, program: CompiledProgram) -> None:
        """Push a compiled program; it starts with the tables as the program has them."""
        info = ProgramInfo.read(program.p4info_path)
        device_config = check_json(program)
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(
            action=p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        )
        self._sign(request)
        request.config.p4info.CopyFrom(info.proto)
        request.config.p4_device_config = device_config
        with self._refusals(f"a program that the switch runs ({program.name})"):
            self._connection.stub.SetForwardingPipelineConfig(request, timeout=_CALL_S)
        self._info = info

    # --- tables ---

    def insert(self, entries: Iterable[TableEntry]) -> None:
        """Install entries; default entries are set. All are checked first; if the switch refuses one, none stays."""
        self._write_all(entries, p4runtime_pb2.Update.INSERT)

    def modify(self, entries: Iterable[TableEntry]) -> None:
        """Give installed entries another action."""
        self._write_all(entries, p4runtime_pb2.Update.MODIFY)

    def delete(self, entries: Iterable[TableEntry]) -> None:
        """Remove installed entries; their action does not matter."""
        self._write_all(entries, p4runtime_pb2.Update.DELETE)

    def reset_default(self, table: str) -> None:
        """Set a table's default action back to the program's."""
        found = self.info.tables.find(table)
        message = p4runtime_pb2.TableEntry(table_id=found.id, is_default_action=True)
        self._update(p4runtime_pb2.Update.MODIFY, f"table {found.name}", table_entry=message)

    def read_table(self, table: str) -> list[TableEntry]:
        """Return the entries of one table, without its default, in the switch's order."""
        return self._entries(p4runtime_pb2.TableEntry(table_id=self.info.tables.find(table).id))

    def read_tables(self) -> list[TableEntry]:
        """Return the entries of all tables that can be changed, without defaults, in the switch's order.

        Constant entries are the program's and not its controller's; `read_table` reads them.
        """
        found = self._entries(p4runtime_pb2.TableEntry())
        return [entry for entry in found if not self.info.tables.find(entry.table).is_const]

    def read_default(self, table: str) -> TableEntry:
        """Return a table's default entry; its action is "" where a miss runs none."""
        found = self.info.tables.find(table)
        message = p4runtime_pb2.TableEntry(table_id=found.id, is_default_action=True)
        (entity,) = self._read(p4runtime_pb2.Entity(table_entry=message))
        return self._decoded(entity.table_entry)

    # --- counters and meters ---

    def read_counter(self, counter: str) -> list[Count]:
        """Return every cell of a counter, in order."""
        found = self.info.counters.find(counter)
        cells = self._read(p4runtime_pb2.Entity(counter_entry=p4runtime_pb2.CounterEntry(counter_id=found.id)))
        by_index = {cell.counter_entry.index.index: counted(cell.counter_entry.data) for cell in cells}
        return [by_index[index] for index in range(found.size)]

    def read_counter_cell(self, counter: str, index: int) -> Count:
        """Return one cell of a counter."""
        message = self._counter_cell(counter, index)
        (cell,) = self._read(p4runtime_pb2.Entity(counter_entry=message))
        return counted(cell.counter_entry.data)

    def read_counter_cells(self, cells: Iterable[tuple[str, int]]) -> list[Count]:
        """Return cells of counters, (counter, index) each, in one request; a whole array is mostly zeros."""
        messages = [self._counter_cell(counter, index) for counter, index in cells]
        read = self._read(*(p4runtime_pb2.Entity(counter_entry=message) for message in messages))
        counts = {
            (cell.counter_entry.counter_id, cell.counter_entry.index.index): counted(cell.counter_entry.data)
            for cell in read
        }
        return [counts[message.counter_id, message.index.index] for message in messages]

    def write_counter_cell(self, counter: str, index: int, count: Count) -> None:
        """Set one cell of a counter."""
        message = self._counter_cell(counter, index)
        fill_count(count, message.data)
        self._update(p4runtime_pb2.Update.MODIFY, f"counter {counter}[{index}]", counter_entry=message)

    def read_direct_counters(self, table: str) -> list[tuple[TableEntry, Count]]:
        """Return the counts of all entries of a table that has a direct counter.

        Not every switch reads them at one go (bug-review.md P25); where it refuses, they are read entry by entry.
        """
        found = self._counted_table(table)
        entries = self.read_table(table)
        whole = p4runtime_pb2.DirectCounterEntry(table_entry=p4runtime_pb2.TableEntry(table_id=found.id))
        try:
            cells = [
                entity.direct_counter_entry for entity in self._stream(p4runtime_pb2.Entity(direct_counter_entry=whole))
            ]
        except grpc.RpcError:
            return [(entry, self.read_direct_counter(entry)) for entry in entries]
        counts = {_identity(*decode_match(found, cell.table_entry, strict=False)): cell.data for cell in cells}
        return [(entry, counted(counts[_identity(entry.match, entry.priority)])) for entry in entries]

    def read_direct_counter(self, entry: TableEntry) -> Count:
        """Return the count of one installed entry, or of a default entry."""
        self._counted_table(entry.table)
        message = p4runtime_pb2.DirectCounterEntry(table_entry=self._name(entry))
        (cell,) = self._read(p4runtime_pb2.Entity(direct_counter_entry=message))
        return counted(cell.direct_counter_entry.data)

    def write_direct_counter(self, entry: TableEntry, count: Count) -> None:
        """Set the count of one installed entry, or of a default entry."""
        self._counted_table(entry.table)
        message = p4runtime_pb2.DirectCounterEntry(table_entry=self._name(entry))
        fill_count(count, message.data)
        self._update(p4runtime_pb2.Update.MODIFY, f"direct counter of {entry.table}", direct_counter_entry=message)

    def set_meter(self, meter: str, index: int, rates: MeterRates | None) -> None:
        """Configure one cell of a meter; None makes it colour everything green."""
        message = p4runtime_pb2.MeterEntry(meter_id=self.info.meters.find(meter).id)
        message.index.index = index
        if rates:
            fill_rates(rates, message.config)
        self._update(p4runtime_pb2.Update.MODIFY, f"meter {meter}[{index}]", meter_entry=message)

    def read_meter(self, meter: str, index: int) -> MeterRates | None:
        """Return the configuration of one cell of a meter, or None when it colours everything green."""
        message = p4runtime_pb2.MeterEntry(meter_id=self.info.meters.find(meter).id)
        message.index.index = index
        (cell,) = self._read(p4runtime_pb2.Entity(meter_entry=message))
        return meter_rates(cell.meter_entry.config) if cell.meter_entry.HasField("config") else None

    def read_meters(self, meter: str) -> list[MeterRates | None]:
        """Return the configuration of every cell of a meter, in order; None where it colours everything green."""
        found = self.info.meters.find(meter)
        cells = self._read(p4runtime_pb2.Entity(meter_entry=p4runtime_pb2.MeterEntry(meter_id=found.id)))
        by_index = {
            cell.meter_entry.index.index: meter_rates(cell.meter_entry.config)
            for cell in cells
            if cell.meter_entry.HasField("config")
        }
        return [by_index.get(index) for index in range(found.size)]

    def set_direct_meter(self, entry: TableEntry, rates: MeterRates | None) -> None:
        """Configure the meter of one installed entry; None makes it colour everything green."""
        message = p4runtime_pb2.DirectMeterEntry(table_entry=self._name(entry))
        if rates:
            fill_rates(rates, message.config)
        self._update(p4runtime_pb2.Update.MODIFY, f"direct meter of {entry.table}", direct_meter_entry=message)

    def read_direct_meter(self, entry: TableEntry) -> MeterRates | None:
        """Return the configuration of one entry's meter, or None when it colours everything green."""
        message = p4runtime_pb2.DirectMeterEntry(table_entry=self._name(entry))
        (cell,) = self._read(p4runtime_pb2.Entity(direct_meter_entry=message))
        return meter_rates(cell.direct_meter_entry.config) if cell.direct_meter_entry.HasField("config") else None

    # --- replication and packets ---

    def set_multicast_group(self, group: int, replicas: Sequence[Replica]) -> None:
        """Define a multicast group that is not there yet."""
        entry = p4runtime_pb2.MulticastGroupEntry(multicast_group_id=group, replicas=_replicas(replicas))
        message = p4runtime_pb2.PacketReplicationEngineEntry(multicast_group_entry=entry)
        self._update(p4runtime_pb2.Update.INSERT, f"multicast group {group}", packet_replication_engine_entry=message)

    def set_clone_session(self, session: int, replicas: Sequence[Replica]) -> None:
        """Define a clone session that is not there yet."""
        entry = p4runtime_pb2.CloneSessionEntry(session_id=session, replicas=_replicas(replicas))
        message = p4runtime_pb2.PacketReplicationEngineEntry(clone_session_entry=entry)
        self._update(p4runtime_pb2.Update.INSERT, f"clone session {session}", packet_replication_engine_entry=message)

    def send_packet(self, payload: bytes, **fields: int) -> None:
        """Send a frame into the switch from the CPU port, with the fields of the packet_out header by name."""
        known = {field.name for field in self.info.packet_out}
        for name in fields.keys() - known:
            raise InputError("packet_out", f"the field {name!r}", f"one of {', '.join(sorted(known)) or 'no fields'}")
        self._own_election_id()
        message = packet_out(self.info.packet_out, payload, fields)
        self._connection.stream_out_q.put(p4runtime_pb2.StreamMessageRequest(packet=message))

    def receive_packet(self, timeout_s: float) -> PacketIn | None:
        """Return the next frame that the program sent to the controller, or None after `timeout_s` seconds."""
        self._own_election_id()
        message = self._connection.get_stream_packet("packet", timeout=timeout_s)
        if message is None:
            return None
        names = {field.id: field.name for field in self.info.packet_in}
        fields = {names[item.metadata_id]: int.from_bytes(item.value, "big") for item in message.packet.metadata}
        return PacketIn(message.packet.payload, fields)

    # --- what they need ---

    def _name(self, entry: TableEntry) -> Any:
        """Return the message that names an entry by table and match, without its action."""
        message = p4runtime_pb2.TableEntry()
        fill_match(self.info, normal_form(self.info, entry), message)
        return message

    def _counted_table(self, table: str) -> Table:
        found = self.info.tables.find(table)
        if not found.direct_counter:
            raise InputError(f"table {found.name}", "no direct counter", "a table whose entries are counted")
        return found

    def _counter_cell(self, counter: str, index: int) -> Any:
        found = self.info.counters.find(counter)
        if not 0 <= index < found.size:
            raise InputError(f"counter {found.name}", f"the index {index}", f"0 to {found.size - 1}")
        message = p4runtime_pb2.CounterEntry(counter_id=found.id)
        message.index.index = index
        return message

    def _entries(self, wanted: Any) -> list[TableEntry]:
        return [self._decoded(entity.table_entry) for entity in self._read(p4runtime_pb2.Entity(table_entry=wanted))]

    def _decoded(self, message: Any) -> TableEntry:
        try:
            if message.is_default_action:
                return decode_default(self.info, message)
            return decode_entry(self.info, message, strict=False)
        except Refused as refusal:
            raise InputError(
                self._where, f"an entry that is malformed ({refusal.message})", "canonical P4Runtime"
            ) from refusal

    def _stream(self, *entities: Any) -> Iterator[Any]:
        request = p4runtime_pb2.ReadRequest(device_id=self._connection.device_id, entities=entities)
        for response in self._connection.stub.Read(request, timeout=_CALL_S):
            yield from response.entities

    def _read(self, *entities: Any) -> list[Any]:
        with self._refusals("a switch that answers a read"):
            return list(self._stream(*entities))

    def _write_all(self, entries: Iterable[TableEntry], kind: int) -> None:
        update = p4runtime_pb2.Update
        normal = [normal_form(self.info, entry) for entry in entries]
        for first in range(0, len(normal), _BATCH):
            batch = normal[first : first + _BATCH]
            faults = self._write_batch(batch, kind)
            if not faults:
                continue
            if kind == update.INSERT:
                refused = {fault.index for fault in faults}
                taken = normal[:first] + [one for index, one in enumerate(batch) if index not in refused]
                for place in range(0, len(taken), _BATCH):
                    self._write_batch([one for one in taken[place : place + _BATCH] if not one.default], update.DELETE)
            entry, fault = batch[faults[0].index], faults[0]
            where = f"{self._where}: table {entry.table}, match {_shown(entry)}"
            raise InputError(where, f"{fault.code} ({fault.message})", "an entry that the switch takes")

    def _write_batch(self, entries: list[TableEntry], kind: int) -> list[Fault]:
        """Send entries in their normal form in one request and return what the switch refused of them."""
        update = p4runtime_pb2.Update
        request = p4runtime_pb2.WriteRequest()
        for entry in entries:
            # A default entry is always there: it is changed, never inserted.
            message = request.updates.add(type=update.MODIFY if entry.default else kind)
            fill = fill_match if kind == update.DELETE else fill_entry
            fill(self.info, entry, message.entity.table_entry)
        return self.write(request)

    def write(self, request: Any) -> list[Fault]:
        """Send a p4.v1.WriteRequest, whoever it is from, as this controller, and return what the switch refused."""
        self._sign(request)
        try:
            self._connection.stub.Write(request, timeout=_CALL_S)
        except grpc.RpcError as error:
            faults = faults_of(error)
            if faults is None:
                raise self._unanswered(error, "a switch that takes a write") from error
            return faults
        return []

    def _update(self, kind: int, what: str, **entity: Any) -> None:
        request = p4runtime_pb2.WriteRequest()
        request.updates.add(type=kind, entity=entity)
        faults = self.write(request)
        if faults:
            found = f"{faults[0].code} ({faults[0].message})"
            raise InputError(f"{self._where}: {what}", found, "something that the switch takes")

    def _sign(self, request: Any) -> None:
        request.device_id = self._connection.device_id
        request.election_id.high, request.election_id.low = self._own_election_id()

    def _own_election_id(self) -> tuple[int, int]:
        election_id: tuple[int, int] | None = self._connection.election_id
        if election_id is None:
            raise InputError(self._where, "a connection for reading", "one with an election id, which alone may write")
        return election_id

    def _unanswered(self, error: Any, expected: str) -> InputError:
        return InputError(self._where, f"{error.code().name} ({error.details()})", expected)

    @contextmanager
    def _refusals(self, expected: str) -> Iterator[None]:
        try:
            yield
        except grpc.RpcError as error:
            raise self._unanswered(error, expected) from error


def check_json(program: CompiledProgram) -> bytes:
    """Return a program's BMv2 JSON; InputError when the file is missing or is none."""
    try:
        content = program.json_path.read_bytes()
    except OSError as error:
        raise InputError(str(program.json_path), str(error), "a readable BMv2 JSON file") from error
    try:
        pipelines = json.loads(content)["pipelines"]
    except (ValueError, TypeError, KeyError):
        pipelines = None
    if not isinstance(pipelines, list):
        raise InputError(str(program.json_path), "no list of pipelines", "BMv2 JSON, as p4c-bm2-ss writes it")
    return content


def _replicas(replicas: Sequence[Replica]) -> list[Any]:
    return [p4runtime_pb2.Replica(egress_port=replica.port, instance=replica.instance) for replica in replicas]


def _shown(entry: TableEntry) -> str:
    def number(value: int | tuple[int, int]) -> str:
        return hex(value) if isinstance(value, int) else "/".join(map(hex, value))

    return ", ".join(f"{name}={number(value)}" for name, value in entry.match.items()) or "none"


def _identity(match: Mapping[str, int | tuple[int, int]], priority: int) -> tuple[Any, ...]:
    """Return what tells an entry from others of its table."""
    return (priority, *sorted(match.items()))
