"""The embedded engine behind a P4Runtime server: `Dataplane` in terms of `Engine`.

The P4Info and the BMv2 JSON of one program name tables, actions, counters and meters alike, and list a table's keys and
an action's parameters in the same order; only a key's name may differ, so keys go by place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from pymodel.base.errors import InputError
from pymodel.switch import engine as engines
from pymodel.switch.engine import Engine, Entry, TableError
from pymodel.switch.p4runtime.codec import Refused
from pymodel.switch.p4runtime.dataplane import MeterRates, Replica, Via
from pymodel.switch.p4runtime.info import Key, ProgramInfo
from pymodel.switch.p4runtime.protos import code_pb2
from pymodel.switch.target import Count, TableEntry

__all__ = ["EngineDataplane"]

_CODES = {
    "duplicate": code_pb2.ALREADY_EXISTS,
    "missing": code_pb2.NOT_FOUND,
    "full": code_pb2.RESOURCE_EXHAUSTED,
    "constant": code_pb2.PERMISSION_DENIED,
}

_Match = Mapping[str, int | tuple[int, int]]


class EngineDataplane:
    """Runs one engine at a time. `packet_out` takes a controller's frame; `seed` is that of the program's random()."""

    def __init__(self, seed: int, packet_out: Callable[[bytes], None]) -> None:
        self._seed = seed
        self._running: tuple[ProgramInfo, Engine] | None = None
        self.packet_out = packet_out

    @property
    def loaded(self) -> bool:
        """Whether a program runs."""
        return self._running is not None

    @property
    def engine(self) -> Engine:
        """The engine that runs; InputError before a program is loaded."""
        if self._running is None:
            raise InputError("embedded switch", "no program", "one to be loaded first")
        return self._running[1]

    @property
    def info(self) -> ProgramInfo:
        """The program's control-plane side; InputError before a program is loaded."""
        self.engine  # noqa: B018  (for its error)
        assert self._running is not None
        return self._running[0]

    # --- programs ---

    def prepare(self, info: ProgramInfo, device_config: bytes) -> tuple[ProgramInfo, Engine]:
        """Compile BMv2 JSON; InputError names what the engine does not know, or what the P4Info has and it has not."""
        engine = Engine(device_config, seed=self._seed)
        for kind, names, present in (
            ("table", [table.name for table in info.tables], engine.tables),
            ("counter", [counter.name for counter in info.counters], engine.counters),
            ("meter", [meter.name for meter in info.meters], engine.meters),
            ("action profile", [profile.name for profile in info.profiles], engine.profiles),
        ):
            for name in names:
                if name not in present:
                    raise InputError("BMv2 JSON", f"no {kind} {name}", "the JSON that was compiled with this P4Info")
        for table in info.tables:
            if len(engine.tables[table.name].keys) != len(table.keys):
                raise InputError("BMv2 JSON", f"other keys of {table.name}", "the JSON compiled with this P4Info")
        return info, engine

    def commit(self, pipeline: tuple[ProgramInfo, Engine]) -> None:
        """Run a prepared program from now on."""
        self._running = pipeline

    # --- tables ---

    def initial_entries(self, table: str) -> Sequence[tuple[TableEntry, int]]:
        """Return the constant entries of `table`."""
        return [(self._entry(table, entry), entry.handle) for entry in self.engine.tables[table].entries()]

    def default_action(self, table: str) -> tuple[str, Mapping[str, int]] | None:
        """Return the action of a miss, or None when there is none."""
        miss = self.engine.tables[table].miss
        return (miss.action, self._params(miss)) if miss.action else None

    def insert(self, entry: TableEntry, via: Via | None) -> int:
        """Install an entry and return its handle."""
        table = self.engine.tables[entry.table]
        info = self.info.tables.find(entry.table)
        match = {
            there.name: entry.match[key.name]
            for key, there in zip(info.keys, table.keys, strict=True)
            if key.name in entry.match
        }
        with _refusals():
            if via:
                member, group = _member_and_group(via)
                return table.insert(match, priority=entry.priority, member=member, group=group)
            return table.insert(match, entry.action, self._arguments(entry.action, entry.params), entry.priority)

    def modify(self, table: str, handle: int, action: str, params: Mapping[str, int], via: Via | None) -> None:
        """Give an entry another action, member or group."""
        with _refusals():
            if via:
                member, group = _member_and_group(via)
                self.engine.tables[table].modify(handle, member=member, group=group)
            else:
                self.engine.tables[table].modify(handle, action, self._arguments(action, params))

    def delete(self, table: str, handle: int) -> None:
        """Remove an entry."""
        with _refusals():
            self.engine.tables[table].delete(handle)

    def set_default(self, table: str, action: str, params: Mapping[str, int]) -> None:
        """Set the action of a miss."""
        with _refusals():
            self.engine.tables[table].set_default(action, self._arguments(action, params))

    def reset_default(self, table: str) -> None:
        """Set the action of a miss back to the program's own."""
        self.engine.tables[table].reset_default()

    # --- counters and meters ---

    def read_counter(self, name: str, index: int) -> Count:
        """Return one cell of a counter."""
        return Count(*self.engine.counters[name].read(index))

    def write_counter(self, name: str, index: int, count: Count) -> None:
        """Set one cell of a counter."""
        self.engine.counters[name].write(index, count.packets, count.bytes)

    def read_direct_counter(self, table: str, handle: int | None) -> Count:
        """Return the counter of one entry."""
        entry = self._held(table, handle)
        return Count(entry.packets, entry.bytes)

    def write_direct_counter(self, table: str, handle: int | None, count: Count) -> None:
        """Set the counter of one entry."""
        entry = self._held(table, handle)
        entry.packets, entry.bytes = count.packets, count.bytes

    def set_meter(self, name: str, index: int, rates: MeterRates | None) -> None:
        """Configure one cell of a meter."""
        with _refusals():
            self.engine.meters[name].write(index, _rates(rates))

    def set_direct_meter(self, table: str, handle: int | None, rates: MeterRates | None) -> None:
        """Configure the meter of one entry."""
        with _refusals():
            self._held(table, handle).meter.set(_rates(rates), f"table {table}")

    # --- action profiles ---

    def add_member(self, profile: str, action: str, params: Mapping[str, int]) -> int:
        """Add a member and return its handle."""
        with _refusals():
            return self.engine.profiles[profile].add_member(action, self._arguments(action, params))

    def modify_member(self, profile: str, handle: int, action: str, params: Mapping[str, int]) -> None:
        """Give a member another action."""
        with _refusals():
            self.engine.profiles[profile].modify_member(handle, action, self._arguments(action, params))

    def delete_member(self, profile: str, handle: int) -> None:
        """Remove a member that nothing uses."""
        with _refusals():
            self.engine.profiles[profile].delete_member(handle)

    def add_group(self, profile: str, members: Sequence[int]) -> int:
        """Add a group and return its handle."""
        with _refusals():
            return self.engine.profiles[profile].create_group(members)

    def modify_group(self, profile: str, handle: int, members: Sequence[int]) -> None:
        """Give a group other members."""
        with _refusals():
            self.engine.profiles[profile].set_group(handle, members)

    def delete_group(self, profile: str, handle: int) -> None:
        """Remove a group that nothing uses."""
        with _refusals():
            self.engine.profiles[profile].delete_group(handle)

    # --- replication ---

    def set_multicast_group(self, group: int, replicas: Sequence[Replica]) -> None:
        """Define a multicast group."""
        self.engine.set_multicast_group(group, _copies(replicas))

    def set_clone_session(self, session: int, replicas: Sequence[Replica]) -> None:
        """Define a clone session."""
        self.engine.set_clone_session(session, _copies(replicas))

    # --- what they need ---

    def _held(self, table: str, handle: int | None) -> Entry:
        found = self.engine.tables[table]
        return found.miss if handle is None else found.get(handle)

    def _arguments(self, action: str, params: Mapping[str, int]) -> list[int]:
        return [params[param.name] for param in self.info.actions.find(action).params]

    def _params(self, entry: Entry) -> dict[str, int]:
        params = self.info.actions.find(entry.action).params
        return {param.name: value for param, value in zip(params, entry.arguments, strict=True)}

    def _entry(self, table: str, entry: Entry) -> TableEntry:
        keys = self.info.tables.find(table).keys
        pairs = ((key.name, _value(key, part)) for key, part in zip(keys, entry.match, strict=True))
        match = {name: value for name, value in pairs if value is not None}
        return TableEntry(table, entry.action, match, self._params(entry), entry.priority)


def _value(key: Key, part: int | tuple[int, int]) -> int | tuple[int, int] | None:
    """Return an engine's match part as the control plane has it: None for don't-care, a number for an optional key."""
    if isinstance(part, int):
        return part
    if part[1] == 0 or (key.kind == "range" and part == (0, (1 << key.width) - 1)):
        return None
    return part[0] if key.kind == "optional" else part


def _rates(rates: MeterRates | None) -> engines.MeterRates | None:
    return None if rates is None else engines.MeterRates(rates.cir, rates.cburst, rates.pir, rates.pburst)


def _member_and_group(via: Via) -> tuple[int | None, int | None]:
    kind, handle = via
    return (handle, None) if kind == "member" else (None, handle)


def _copies(replicas: Sequence[Replica]) -> list[engines.Replica] | None:
    return [engines.Replica(replica.instance, replica.port) for replica in replicas] or None


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Turn what the engine refuses into what a P4Runtime server answers."""
    try:
        yield
    except TableError as error:
        raise Refused(_CODES.get(error.problem, code_pb2.INVALID_ARGUMENT), str(error)) from error
    except InputError as error:
        raise Refused(code_pb2.INVALID_ARGUMENT, str(error)) from error
