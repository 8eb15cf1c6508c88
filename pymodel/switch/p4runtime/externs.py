"""Counters, meters, multicast groups and clone sessions behind a P4Runtime server.

Counts live in the dataplane. What a client configures (meter rates, replicas) is kept here too, because a forwarding
plane has no need to tell it again. Codes are those of BMv2's server; an index beyond an array is OUT_OF_RANGE as in the
P4Runtime specification, where BMv2 says UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pymodel.switch.p4runtime.codec import Refused, invalid
from pymodel.switch.p4runtime.dataplane import Dataplane, MeterRates, Replica
from pymodel.switch.p4runtime.info import Array, Index, ProgramInfo
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.target import Count
from pymodel.wire.spec import SWITCH_PORT_BITS

__all__ = [
    "Add",
    "CounterArrays",
    "MeterArrays",
    "Replication",
    "counted",
    "fill_count",
    "fill_rates",
    "meter_rates",
]

_MAX_BURST = 2**32 - 1
_RESERVED_GROUP = 1 << 15
"""Groups from here on are BMv2's own, for clone sessions (PI, `PreMcMgr`)."""
_MAX_SESSION = 1 << 15


Add = Callable[[], Any]
"""Makes one more p4.v1.Entity in the answer to a read, to be filled in place: copying messages is what costs."""


def fill_count(count: Count, message: Any) -> None:
    """Write a count into p4.v1.CounterData."""
    message.packet_count, message.byte_count = count.packets, count.bytes


def counted(message: Any) -> Count:
    """Return p4.v1.CounterData as a count; Refused when it is negative."""
    if message.packet_count < 0 or message.byte_count < 0:
        raise invalid("a count can't be negative")
    return Count(message.packet_count, message.byte_count)


def fill_rates(rates: MeterRates, message: Any) -> None:
    """Write rates into p4.v1.MeterConfig."""
    message.cir, message.cburst, message.pir, message.pburst = rates.cir, rates.cburst, rates.pir, rates.pburst


def meter_rates(message: Any) -> MeterRates | None:
    """Return p4.v1.MeterConfig as rates, None when all are -1 (an older way to say always green); Refused if bad."""
    rates = MeterRates(message.cir, message.cburst, message.pir, message.pburst)
    if rates == MeterRates(-1, -1, -1, -1):
        return None
    if min(rates.cir, rates.cburst, rates.pir, rates.pburst) < 0:
        raise invalid("a meter's rates and bursts can't be negative")
    if rates.pir < rates.cir:
        raise invalid("a meter's peak rate can't be below its committed rate")
    if max(rates.cburst, rates.pburst) > _MAX_BURST:
        raise Refused(code_pb2.UNIMPLEMENTED, "a meter's burst has at most 32 bits")
    return rates


class CounterArrays:
    """The indexed counters of one pipeline."""

    def __init__(self, info: ProgramInfo, dataplane: Dataplane) -> None:
        self._info = info
        self._dataplane = dataplane

    def write(self, kind: int, message: Any) -> None:
        """Set one cell (MODIFY), or clear it (DELETE)."""
        array = _array(self._info.counters, message.counter_id)
        index = _one_index(array, message)
        if kind == p4runtime_pb2.Update.MODIFY:
            self._dataplane.write_counter(array.name, index, counted(message.data))
        elif kind == p4runtime_pb2.Update.DELETE:
            self._dataplane.write_counter(array.name, index, Count(0, 0))
        else:
            raise invalid(f"counter {array.name}: cells are modified, never inserted")

    def read(self, request: Any, add: Add) -> None:
        """Add one cell, an array, or all arrays (counter id 0)."""
        for array, index in _cells(self._info.counters, request.counter_id, request):
            message = add().counter_entry
            message.counter_id = array.id
            message.index.index = index
            fill_count(self._dataplane.read_counter(array.name, index), message.data)


class MeterArrays:
    """The indexed meters of one pipeline."""

    def __init__(self, info: ProgramInfo, dataplane: Dataplane) -> None:
        self._info = info
        self._dataplane = dataplane
        self._rates: dict[tuple[int, int], MeterRates] = {}

    def write(self, kind: int, message: Any) -> None:
        """Configure one cell (MODIFY); without a configuration it colours everything green again."""
        array = _array(self._info.meters, message.meter_id)
        index = _one_index(array, message)
        if kind != p4runtime_pb2.Update.MODIFY:
            raise invalid(f"meter {array.name}: cells are modified, neither inserted nor deleted")
        rates = meter_rates(message.config) if message.HasField("config") else None
        self._dataplane.set_meter(array.name, index, rates)
        if rates is None:
            self._rates.pop((array.id, index), None)
        else:
            self._rates[array.id, index] = rates

    def read(self, request: Any, add: Add) -> None:
        """Add one cell, an array, or all arrays (meter id 0)."""
        for array, index in _cells(self._info.meters, request.meter_id, request):
            message = add().meter_entry
            message.meter_id = array.id
            message.index.index = index
            rates = self._rates.get((array.id, index))
            if rates:
                fill_rates(rates, message.config)


class Replication:
    """Multicast groups and clone sessions."""

    def __init__(self, dataplane: Dataplane) -> None:
        self._groups = _Replicated("multicast group", _RESERVED_GROUP, dataplane.set_multicast_group)
        self._sessions = _Replicated("clone session", _MAX_SESSION, dataplane.set_clone_session)

    def write(self, kind: int, message: Any) -> None:
        """Insert, modify or delete a group or session."""
        which = message.WhichOneof("type")
        if which == "multicast_group_entry":
            entry = message.multicast_group_entry
            self._groups.write(kind, entry.multicast_group_id, entry)
        elif which == "clone_session_entry":
            entry = message.clone_session_entry
            if entry.class_of_service or entry.packet_length_bytes:
                raise Refused(code_pb2.UNIMPLEMENTED, "clone sessions have neither a class of service nor truncation")
            self._sessions.write(kind, entry.session_id, entry)
        else:
            raise invalid("the replication entry is neither a multicast group nor a clone session")

    def read(self, request: Any, add: Add) -> None:
        """Add one group or session, or all of them (id 0)."""
        which = request.WhichOneof("type")
        if which == "multicast_group_entry":
            for entry in self._groups.read(request.multicast_group_entry.multicast_group_id):
                add().packet_replication_engine_entry.multicast_group_entry.CopyFrom(entry)
        elif which == "clone_session_entry":
            for entry in self._sessions.read(request.clone_session_entry.session_id):
                add().packet_replication_engine_entry.clone_session_entry.CopyFrom(entry)
        else:
            raise invalid("the replication entry is neither a multicast group nor a clone session")


class _Replicated:
    """Things that make copies, by number: kept as the client's message, applied to the dataplane as replicas."""

    def __init__(self, kind: str, limit: int, apply: Callable[[int, list[Replica]], None]) -> None:
        self._kind = kind
        self._limit = limit
        self._apply = apply
        self._held: dict[int, Any] = {}

    def write(self, kind: int, number: int, message: Any) -> None:
        update = p4runtime_pb2.Update
        if number == 0:
            raise invalid(f"{self._kind} 0 does not exist")
        if number >= self._limit:
            raise Refused(code_pb2.OUT_OF_RANGE, f"{self._kind} {number}: the highest is {self._limit - 1}")
        if kind not in (update.INSERT, update.MODIFY, update.DELETE):
            raise invalid("the update has no type")
        if kind == update.INSERT and number in self._held:
            raise Refused(code_pb2.ALREADY_EXISTS, f"{self._kind} {number}: it exists")
        if kind != update.INSERT and number not in self._held:
            raise Refused(code_pb2.NOT_FOUND, f"{self._kind} {number}: there is none")
        if kind == update.DELETE:
            self._apply(number, [])
            del self._held[number]
            return
        self._apply(number, _replicas(f"{self._kind} {number}", message.replicas))
        kept = type(message)()
        kept.CopyFrom(message)
        self._held[number] = kept

    def read(self, number: int) -> list[Any]:
        if number == 0:
            return list(self._held.values())
        if number not in self._held:
            raise Refused(code_pb2.NOT_FOUND, f"{self._kind} {number}: there is none")
        return [self._held[number]]


def _replicas(what: str, messages: Any) -> list[Replica]:
    replicas = []
    for message in messages:
        port = int.from_bytes(message.port, "big") if message.WhichOneof("port_kind") == "port" else message.egress_port
        if port.bit_length() > SWITCH_PORT_BITS:
            raise Refused(code_pb2.OUT_OF_RANGE, f"{what}: port {port}; ports have {SWITCH_PORT_BITS} bits")
        replicas.append(Replica(port, message.instance))
    if len({(replica.port, replica.instance) for replica in replicas}) != len(replicas):
        raise invalid(f"{what}: two replicas have the same port and instance")
    return replicas


def _array(index: Index[Array], number: int) -> Array:
    array = index.by_id.get(number)
    if array is None:
        raise invalid(f"no indexed {index.kind} has the id {number:#x}")
    return array


def _one_index(array: Array, message: Any) -> int:
    if not message.HasField("index"):
        raise Refused(code_pb2.UNIMPLEMENTED, f"{array.name}: cells are written one by one")
    return _checked_index(array, message.index.index)


def _checked_index(array: Array, index: int) -> int:
    if index < 0:
        raise invalid(f"{array.name}: index {index} is negative")
    if index >= array.size:
        raise Refused(code_pb2.OUT_OF_RANGE, f"{array.name}: index {index}; there are {array.size} cells")
    return index


def _cells(index: Index[Array], number: int, request: Any) -> Iterator[tuple[Array, int]]:
    arrays = [_array(index, number)] if number else list(index)
    for array in arrays:
        if request.HasField("index"):
            yield array, _checked_index(array, request.index.index)
        else:
            for cell in range(array.size):
                yield array, cell
