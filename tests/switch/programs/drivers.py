"""What runs a case: the engine itself, or a BMv2 process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from p4.v1 import p4runtime_pb2

from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.engine import Engine, Replica
from pymodel.switch.p4runtime import dataplane
from pymodel.switch.target import TableEntry
from tests.switch.programs.case import Profile, Setup, compiled

__all__ = ["Bmv2Driver", "Driver", "EngineDriver", "insert"]

Frames = list[tuple[int, bytes]]

_STEP_PS = 1_000_000_000
"""Between two frames: nothing waits for another."""


class Driver(Protocol):
    """A switch that cases run on."""

    def prepare(self, program: str, setup: Setup) -> None:
        """Load a program afresh and set what the case asks for."""
        ...

    def run(self, frames: Sequence[tuple[int, bytes]]) -> list[Frames]:
        """Send frames one by one; for each, what left for it, ordered by port and bytes."""
        ...

    def counters(self) -> dict[str, tuple[int, int]]:
        """Every non-zero counter cell as (packets, bytes)."""
        ...


class EngineDriver:
    """The engine without a control plane between."""

    def __init__(self) -> None:
        self._sources: dict[str, bytes] = {}
        self.engine: Engine
        self._now = 0

    def prepare(self, program: str, setup: Setup) -> None:
        """See `Driver`."""
        if program not in self._sources:
            self._sources[program] = compiled(program).json_path.read_bytes()
        self.engine = engine = Engine(self._sources[program], seed=1)
        self._now = 0
        for item in setup.entries:
            insert(engine, item)
        for number, copies in setup.groups.items():
            engine.set_multicast_group(number, [Replica(rid, port) for port, rid in copies])
        for number, copies in setup.sessions.items():
            engine.set_clone_session(number, [Replica(rid, port) for port, rid in copies])
        for name, index, rates in setup.meters:
            engine.meters[name].write(index, rates)
        for item, rates in setup.direct_meters:
            table = engine.tables[item.table]
            table.set_meter(table.handle(item.match, item.priority), rates)
        for profile in setup.profiles:
            self._profile(profile)
        for name, members in setup.value_sets.items():
            engine.value_sets[name].update(members)

    def _profile(self, profile: Profile) -> None:
        made = self.engine.profiles[profile.name]
        members = [made.add_member(action, list(params.values())) for action, params in profile.members]
        groups = [made.create_group([members[number] for number in group]) for group in profile.groups]
        for match, kind, number in profile.entries:
            table = self.engine.tables[profile.table]
            if kind == "member":
                table.insert(match, member=members[number])
            else:
                table.insert(match, group=groups[number])

    def run(self, frames: Sequence[tuple[int, bytes]]) -> list[Frames]:
        """See `Driver`."""
        answers = []
        for port, frame in frames:
            self._now += _STEP_PS
            self.engine.inject(port, frame, self._now)
            answers.append(sorted((out, data) for _, out, data in self.engine.drain(self._now)))
        return answers

    def counters(self) -> dict[str, tuple[int, int]]:
        """See `Driver`."""
        found = {}
        for counter in self.engine.counters.values():
            for index in range(counter.size):
                if (cell := counter.read(index)) != (0, 0):
                    found[counter.name if counter.size == 1 else f"{counter.name}[{index}]"] = cell
        return found


def insert(engine: Engine, item: TableEntry) -> int:
    """Put a table entry into an engine; its handle, or -1 for a default entry."""
    table = engine.tables[item.table]
    if item.default:
        table.set_default(item.action, list(item.params.values()))
        return -1
    return table.insert(item.match, item.action, list(item.params.values()), item.priority)


class Bmv2Driver:
    """A BMv2 process, programmed over P4Runtime."""

    def __init__(self, switch: Bmv2Switch) -> None:
        self.switch = switch
        self._now = 0
        self._replicated: list[Any] = []

    def prepare(self, program: str, setup: Setup) -> None:
        """See `Driver`."""
        client = self.switch.control.client
        # A new program leaves BMv2's multicast groups and clone sessions standing.
        deletions = [p4runtime_pb2.Update(type=p4runtime_pb2.Update.DELETE, entity=each) for each in self._replicated]
        if deletions:
            assert not client.write(p4runtime_pb2.WriteRequest(updates=deletions))
        self._replicated = list(_replicated(setup))
        self.switch.load(compiled(program))
        self.switch.write(setup.entries)
        for number, copies in setup.groups.items():
            client.set_multicast_group(number, [dataplane.Replica(port, rid) for port, rid in copies])
        for number, copies in setup.sessions.items():
            client.set_clone_session(number, [dataplane.Replica(port, rid) for port, rid in copies])
        for name, index, rates in setup.meters:
            client.set_meter(name, index, _rates(rates))
        for item, rates in setup.direct_meters:
            client.set_direct_meter(item, _rates(rates))
        for profile in setup.profiles:
            request = p4runtime_pb2.WriteRequest(updates=self._profile(profile))
            assert not client.write(request)

    def _profile(self, profile: Profile) -> list[Any]:
        info = self.switch.control.client.info.proto
        profile_id = next(item.preamble.id for item in info.action_profiles if item.preamble.name == profile.name)
        table = next(item for item in info.tables if item.preamble.name == profile.table)
        actions = {item.preamble.name: item for item in info.actions}
        entities = []
        for number, (name, params) in enumerate(profile.members):
            action = p4runtime_pb2.Action(action_id=actions[name].preamble.id)
            for declared in actions[name].params:
                action.params.add(param_id=declared.id, value=_canonical(params[declared.name]))
            member = p4runtime_pb2.ActionProfileMember(
                action_profile_id=profile_id, member_id=number + 1, action=action
            )
            entities.append(p4runtime_pb2.Entity(action_profile_member=member))
        for number, members in enumerate(profile.groups):
            group = p4runtime_pb2.ActionProfileGroup(
                action_profile_id=profile_id, group_id=number + 1, max_size=len(members)
            )
            for each in members:
                group.members.add(member_id=each + 1, weight=1)
            entities.append(p4runtime_pb2.Entity(action_profile_group=group))
        for match, kind, number in profile.entries:
            made = p4runtime_pb2.TableEntry(table_id=table.preamble.id)
            for key in table.match_fields:
                if key.name in match:
                    made.match.add(field_id=key.id).exact.value = _canonical(match[key.name])
            setattr(made.action, f"action_profile_{kind}_id", number + 1)
            entities.append(p4runtime_pb2.Entity(table_entry=made))
        return [p4runtime_pb2.Update(type=p4runtime_pb2.Update.INSERT, entity=each) for each in entities]

    def run(self, frames: Sequence[tuple[int, bytes]]) -> list[Frames]:
        """See `Driver`. A frame of no bytes, which BMv2's gRPC ports show, is none on a wire."""
        first = self._now + _STEP_PS
        for port, frame in frames:
            self._now += _STEP_PS
            self.switch.inject(port, frame, self._now)
        answers: dict[int, Frames] = {first + number * _STEP_PS: [] for number in range(len(frames))}
        for when, port, data in self.switch.drain(self._now):
            if data:
                answers[when].append((port, data))
        return [sorted(answer) for answer in answers.values()]

    def counters(self) -> dict[str, tuple[int, int]]:
        """See `Driver`."""
        return {name: (count.packets, count.bytes) for name, count in self.switch.counters().items()}


def _replicated(setup: Setup) -> Iterator[Any]:
    """What names the groups and sessions of a setup to P4Runtime."""
    entry = p4runtime_pb2.PacketReplicationEngineEntry
    for number in setup.groups:
        group = p4runtime_pb2.MulticastGroupEntry(multicast_group_id=number)
        yield p4runtime_pb2.Entity(packet_replication_engine_entry=entry(multicast_group_entry=group))
    for number in setup.sessions:
        session = p4runtime_pb2.CloneSessionEntry(session_id=number)
        yield p4runtime_pb2.Entity(packet_replication_engine_entry=entry(clone_session_entry=session))


def _canonical(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")


def _rates(rates: Any) -> dataplane.MeterRates:
    return dataplane.MeterRates(rates.cir, rates.cburst, rates.pir, rates.pburst)
