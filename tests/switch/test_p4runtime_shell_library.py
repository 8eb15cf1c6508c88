"""p4runtime-shell's own classes against both targets: whoever knows them finds every kind of entity as expected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from p4runtime_sh import shell as library
from p4runtime_sh.p4runtime import P4RuntimeWriteException

from pymodel.switch.program import verify
from pymodel.switch.target import SwitchTarget

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def shell(controlled: SwitchTarget) -> Iterator[ModuleType]:
    """The library, connected to a switch that runs the control-plane program."""
    yield from connected(controlled)


@pytest.fixture
def selector(switch: SwitchTarget) -> Iterator[ModuleType]:
    """The library, connected to a switch whose program has action profiles."""
    switch.load(verify(PROGRAMS / "selector.p4", PROGRAMS / "compiled"))
    yield from connected(switch)


def connected(switch: SwitchTarget) -> Iterator[ModuleType]:
    library.setup(device_id=1, grpc_addr=switch.address, election_id=(1, 0), verbose=False)
    try:
        yield library
    finally:
        library.teardown()


def refused(call, code: str) -> None:
    with pytest.raises(P4RuntimeWriteException, match=code):
        call()


def test_table_entries(shell: ModuleType) -> None:
    entry = shell.TableEntry("port_exact")(action="forward")
    entry.match["standard.ingress_port"] = "1"
    entry.match["hdr.word.small"] = "0x22"
    entry.action["port"] = "3"
    entry.metadata = b"whose"
    entry.insert()
    refused(entry.insert, "ALREADY_EXISTS")
    (read,) = shell.TableEntry("port_exact").read()
    assert read.metadata == b"whose"
    assert read.action["port"].value == b"\x03"
    entry.action["port"] = "4"
    entry.modify()
    (read,) = shell.TableEntry("port_exact").read()
    assert read.action["port"].value == b"\x04"
    entry.delete()
    assert not list(shell.TableEntry("port_exact").read())
    refused(entry.delete, "NOT_FOUND")


def test_ternary_range_and_optional_keys(shell: ModuleType) -> None:
    entry = shell.TableEntry("acl")(action="drop")
    entry.match["hdr.word.kind"] = "7"
    entry.match["hdr.word.address"] = "0xf0&&&0xf0"
    entry.match["hdr.word.odd"] = "5..9"
    entry.match["hdr.word.nibble"] = "3"
    entry.priority = 9
    entry.insert()
    (read,) = shell.TableEntry("acl").read()
    assert {field.field_id for field in read.msg().match} == {1, 2, 3, 4}
    assert read.priority == 9


def test_default_entries(shell: ModuleType) -> None:
    entry = shell.TableEntry("route_lpm")(action="flood")
    entry.is_default = True
    entry.action["group"] = "9"
    entry.modify()
    default = shell.TableEntry("route_lpm")
    default.is_default = True
    (read,) = default.read()
    assert read.action["group"].value == b"\x09"


def test_counters_and_meters(shell: ModuleType) -> None:
    cell = shell.CounterEntry("seen")
    cell.index = 5
    cell.packet_count = 7
    cell.byte_count = 70
    cell.modify()
    cells = list(shell.CounterEntry("seen").read())
    assert [(one.index, one.packet_count) for one in cells if one.packet_count] == [(5, 7)]
    meter = shell.MeterEntry("limit")
    meter.index = 1
    meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
    meter.modify()
    assert [one.pburst for one in shell.MeterEntry("limit").read()] == [0, 4, 0, 0]


def test_direct_counters_and_meters(shell: ModuleType) -> None:
    entry = shell.TableEntry("port_exact")(action="discard")
    entry.match["standard.ingress_port"] = "1"
    entry.match["hdr.word.small"] = "2"
    entry.insert()
    counter = shell.DirectCounterEntry("exact_hits")
    counter.table_entry.match["standard.ingress_port"] = "1"
    counter.table_entry.match["hdr.word.small"] = "2"
    counter.packet_count = 11
    counter.modify()
    assert [one.packet_count for one in shell.DirectCounterEntry("exact_hits").read()] == [11]
    meter = shell.DirectMeterEntry("exact_rate")
    meter.table_entry.match["standard.ingress_port"] = "1"
    meter.table_entry.match["hdr.word.small"] = "2"
    meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
    meter.modify()
    assert [one.pir for one in shell.DirectMeterEntry("exact_rate").read()] == [3]


def test_multicast_groups_and_clone_sessions(shell: ModuleType) -> None:
    group = shell.MulticastGroupEntry(5)
    group.add(1, 1).add(2, 1)
    group.insert()
    refused(group.insert, "ALREADY_EXISTS")
    (read,) = shell.MulticastGroupEntry(5).read()
    assert len(read.replicas) == 2
    group.delete()
    session = shell.CloneSessionEntry(6)
    session.add(3, 1)
    session.insert()
    assert [one.session_id for one in shell.CloneSessionEntry().read()] == [6]
    session.delete()
    assert not list(shell.CloneSessionEntry().read())


def test_the_version(shell: ModuleType) -> None:
    assert shell.APIVersion().startswith("1.")


# --- action profiles --------------------------------------------------------------------------------------------------


def member(shell: ModuleType, profile: str, number: int, value: int):
    made = shell.ActionProfileMember(profile)(action="tell", member_id=number)
    made.action["member"] = str(value)
    return made


def told(switch: SwitchTarget, key: int, flow: int = 0) -> int | None:
    """Send a frame of the selector program and return which member its action told, None when nothing came out."""
    switch.inject(0, bytes([key]) + flow.to_bytes(2, "big") + bytes(4), 0)
    frames = switch.drain(0)
    return int.from_bytes(frames[0][2][:2], "big") if frames else None


def test_members(selector: ModuleType, switch: SwitchTarget) -> None:
    one = member(selector, "profile", 1, 100)
    one.insert()
    refused(one.insert, "ALREADY_EXISTS")
    refused(member(selector, "profile", 2, 5).modify, "NOT_FOUND")
    member(selector, "profile", 2, 200).insert()
    entry = selector.TableEntry("single")
    entry.match["hdr.i.table_key"] = "7"
    entry.member_id = 1
    entry.insert()
    assert told(switch, 7) == 100
    one.action["member"] = "101"
    one.modify()
    assert told(switch, 7) == 101
    entry.member_id = 2
    entry.modify()
    assert told(switch, 7) == 200
    (read,) = selector.TableEntry("single").read()
    assert read.member_id == 2
    assert [found.member_id for found in selector.ActionProfileMember("profile").read()] == [1, 2]
    refused(member(selector, "profile", 2, 0).delete, "INVALID_ARGUMENT|UNKNOWN")
    entry.delete()
    member(selector, "profile", 2, 0).delete()
    one.delete()
    refused(one.delete, "NOT_FOUND")
    entry.member_id = 1
    refused(entry.insert, "NOT_FOUND|INVALID_ARGUMENT")


def test_groups(selector: ModuleType, switch: SwitchTarget) -> None:
    for number in (1, 2, 3):
        member(selector, "chooser", number, 100 * number).insert()
    group = selector.ActionProfileGroup("chooser")(group_id=9)
    group.add(1).add(2)
    group.insert()
    refused(group.insert, "ALREADY_EXISTS")
    entry = selector.TableEntry("grouped")
    entry.match["hdr.i.table_key"] = "7"
    entry.group_id = 9
    entry.insert()
    assert {told(switch, 7, flow) for flow in range(60)} == {100, 200}
    changed = selector.ActionProfileGroup("chooser")(group_id=9)
    changed.add(3, 2)
    changed.modify()
    assert {told(switch, 7, flow) for flow in range(20)} == {300}
    (read,) = selector.ActionProfileGroup("chooser").read()
    assert [(one.member_id, one.weight) for one in read.msg().members] == [(3, 2)]
    unknown = selector.ActionProfileGroup("chooser")(group_id=8)
    unknown.add(77)
    refused(unknown.insert, "NOT_FOUND")
    refused(changed.delete, "INVALID_ARGUMENT|UNKNOWN")
    entry.delete()
    changed.delete()
    refused(changed.delete, "NOT_FOUND")


def test_a_one_shot_set_of_actions(selector: ModuleType, switch: SwitchTarget) -> None:
    entry = selector.TableEntry("grouped")
    entry.match["hdr.i.table_key"] = "7"
    for value in (5, 6):
        action = selector.Action("tell")
        action["member"] = str(value)
        entry.oneshot.add(action, weight=value - 4)
    entry.insert()
    assert {told(switch, 7, flow) for flow in range(60)} == {5, 6}
    (read,) = selector.TableEntry("grouped").read()
    actions = read.msg().action.action_profile_action_set.action_profile_actions
    assert sorted(one.weight for one in actions) == [1, 2]
    # Again and again: what an entry owned goes with it, or the profile of 64 would fill.
    for _ in range(40):
        entry.modify()
    entry.delete()
    for _ in range(40):
        entry.insert()
        entry.delete()
    assert not list(selector.ActionProfileGroup("chooser").read())
