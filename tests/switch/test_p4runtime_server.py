"""What a P4Runtime server answers, message by message, on both targets: they differ only where rows say so.

Where the two answer differently, the row names BMv2's code too: it has UNKNOWN for whatever its target refuses, where
the P4Runtime specification has a code that says what was wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest

from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2, p4runtime_pb2_grpc, text_format
from pymodel.switch.program import verify
from pymodel.switch.target import CompiledProgram, SwitchTarget, TableEntry

ENTRY = TableEntry("port_exact", "forward", {"standard.ingress_port": 1, "hdr.word.small": 2}, {"port": 3})
KEY = "match { field_id: 1 exact { value: '\\001' } } match { field_id: 2 exact { value: '\\002' } }"


def ids(info: ProgramInfo) -> dict[str, int]:
    """Numeric ids by the last part of the name, to be put into rows."""
    groups = (info.tables, info.actions, info.counters, info.meters, info.direct_counters, info.direct_meters)
    return {item.name.rpartition(".")[2]: item.id for group in groups for item in group}


SHORT = {"<insert>": "type: INSERT entity { table_entry", "<pre>": "packet_replication_engine_entry"}
"""What rows abbreviate; the braces that they open are in the rows."""


def spelled(info: ProgramInfo, text: str) -> str:
    names = SHORT | {f"<{name}>": str(number) for name, number in ids(info).items()}
    for short, long in names.items():
        text = text.replace(short, long)
    return text


def update(info: ProgramInfo, text: str) -> p4runtime_pb2.Update:
    return text_format.Parse(spelled(info, text), p4runtime_pb2.Update())


def write_code(switch: SwitchTarget, text: str) -> str:
    client = switch.control.client
    faults = client.write(p4runtime_pb2.WriteRequest(updates=[update(client.info, text)]))
    return faults[0].code if faults else "OK"


FORWARD = "action { action { action_id: <forward> params { param_id: 1 value: '\\003' } } }"
PORT_EXACT = f"table_entry {{ table_id: <port_exact> {KEY} {FORWARD} }}"

# name, update, code, and BMv2's code where it is another
WRITES = [
    ("insert", f"type: INSERT entity {{ {PORT_EXACT} }}", "OK"),
    ("no type", f"entity {{ {PORT_EXACT} }}", "INVALID_ARGUMENT"),
    ("no entity", "type: INSERT", "INVALID_ARGUMENT", "UNKNOWN"),
    ("modify what is not there", f"type: MODIFY entity {{ {PORT_EXACT} }}", "NOT_FOUND"),
    ("delete what is not there", f"type: DELETE entity {{ {PORT_EXACT} }}", "NOT_FOUND"),
    ("no such table", "<insert> { table_id: 0x2000001 } }", "INVALID_ARGUMENT"),
    ("an action as table", "<insert> { table_id: <forward> } }", "INVALID_ARGUMENT"),
    ("no action", f"<insert> {{ table_id: <port_exact> {KEY} }} }}", "INVALID_ARGUMENT"),
    (
        "no such action",
        f"<insert> {{ table_id: <port_exact> {KEY} action {{ action {{ action_id: 7 }} }} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "another table's action",
        f"<insert> {{ table_id: <port_exact> {KEY} action {{ action {{ action_id: <mark> }} }} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a default-only action",
        f"<insert> {{ table_id: <port_exact> {KEY} action {{ action {{ action_id: <NoAction> }} }} }} }}",
        "PERMISSION_DENIED",
    ),
    (
        "a table-only action as default",
        "type: MODIFY entity { table_entry { table_id: <route_lpm> is_default_action: true "
        "action { action { action_id: <drop> } } } }",
        "PERMISSION_DENIED",
    ),
    (
        "a parameter missing",
        f"<insert> {{ table_id: <port_exact> {KEY} action {{ action {{ action_id: <forward> }} }} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a parameter too wide",
        f"<insert> {{ table_id: <port_exact> {KEY} "
        "action { action { action_id: <forward> params { param_id: 1 value: '\\002\\000' } } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a parameter unknown",
        f"<insert> {{ table_id: <port_exact> {KEY} "
        "action { action { action_id: <forward> params { param_id: 9 value: '\\001' } } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "an exact key missing",
        f"<insert> {{ table_id: <port_exact> match {{ field_id: 1 exact {{ value: 'a' }} }} {FORWARD} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a key of another kind",
        f"<insert> {{ table_id: <port_exact> match {{ field_id: 1 optional {{ value: 'a' }} }} "
        f"match {{ field_id: 2 exact {{ value: 'a' }} }} {FORWARD} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a key too wide",
        f"<insert> {{ table_id: <port_exact> match {{ field_id: 1 exact {{ value: 'aa' }} }} "
        f"match {{ field_id: 2 exact {{ value: 'a' }} }} {FORWARD} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a key unknown",
        f"<insert> {{ table_id: <port_exact> {KEY} match {{ field_id: 3 exact {{ value: 'a' }} }} {FORWARD} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "P20 a priority where there is none",
        f"<insert> {{ table_id: <port_exact> {KEY} {FORWARD} priority: 1 }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "P20 no priority",
        "<insert> { table_id: <acl> match { field_id: 4 exact { value: 'a' } } "
        "action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "P21 a mask of zero",
        "<insert> { table_id: <acl> priority: 1 match { field_id: 4 exact { value: 'a' } } "
        "match { field_id: 1 ternary { value: '\\000' mask: '\\000' } } action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "P21 bits outside the mask",
        "<insert> { table_id: <acl> priority: 1 match { field_id: 4 exact { value: 'a' } } "
        "match { field_id: 1 ternary { value: '\\003' mask: '\\001' } } action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "P21 a prefix of length 0",
        "<insert> { table_id: <route_lpm> match { field_id: 1 lpm { value: '\\000' } } "
        "action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "P21 bits below the prefix",
        "<insert> { table_id: <route_lpm> match { field_id: 1 lpm { value: '\\001' prefix_len: 8 } }"
        " action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a prefix longer than the key",
        "<insert> { table_id: <route_lpm> match { field_id: 1 lpm { value: '\\001' prefix_len: 129 } }"
        " action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a range upside down",
        "<insert> { table_id: <acl> priority: 1 match { field_id: 4 exact { value: 'a' } } "
        "match { field_id: 2 range { low: '\\002' high: '\\001' } } action { action { action_id: <drop> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a default inserted",
        "<insert> { table_id: <route_lpm> is_default_action: true action { action { action_id: <NoAction> } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a default deleted",
        "type: DELETE entity { table_entry { table_id: <route_lpm> is_default_action: true } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a default with a match",
        f"type: MODIFY entity {{ table_entry {{ table_id: <port_exact> is_default_action: true {KEY} {FORWARD} }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "a constant default",
        "type: MODIFY entity { table_entry { table_id: <acl> is_default_action: true "
        "action { action { action_id: <drop> } } } }",
        "PERMISSION_DENIED",
    ),
    (
        "a constant entry",
        "<insert> { table_id: <fixed> match { field_id: 1 exact { value: 'a' } } "
        "action { action { action_id: <NoAction> } } } }",
        "PERMISSION_DENIED",
        "UNKNOWN",
    ),
    (
        "an idle timeout",
        f"<insert> {{ table_id: <port_exact> {KEY} {FORWARD} idle_timeout_ns: 5 }} }}",
        "INVALID_ARGUMENT",
    ),
    (
        "counter data without a counter",
        "<insert> { table_id: <route_lpm> action { action { action_id: <drop> } } counter_data { packet_count: 1 } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a member of no profile",
        "type: INSERT entity { action_profile_member { action_profile_id: 5 } }",
        "INVALID_ARGUMENT",
    ),
    ("a register", "type: MODIFY entity { register_entry { register_id: 5 } }", "UNIMPLEMENTED"),
    ("a value set", "type: MODIFY entity { value_set_entry { value_set_id: 5 } }", "UNIMPLEMENTED"),
    ("a counter cell", "type: MODIFY entity { counter_entry { counter_id: <seen> index { index: 3 } } }", "OK"),
    ("a counter inserted", "type: INSERT entity { counter_entry { counter_id: <seen> index {} } }", "INVALID_ARGUMENT"),
    ("a counter without index", "type: MODIFY entity { counter_entry { counter_id: <seen> } }", "UNIMPLEMENTED"),
    (
        "a counter beyond its end",
        "type: MODIFY entity { counter_entry { counter_id: <seen> index { index: 16 } } }",
        "OUT_OF_RANGE",
        "UNKNOWN",
    ),
    (
        "a counter below its start",
        "type: MODIFY entity { counter_entry { counter_id: <seen> index { index: -1 } } }",
        "INVALID_ARGUMENT",
    ),
    ("no such counter", "type: MODIFY entity { counter_entry { counter_id: 5 index {} } }", "INVALID_ARGUMENT"),
    (
        "a direct counter of no entry",
        f"type: MODIFY entity {{ direct_counter_entry {{ table_entry {{ table_id: <port_exact> {KEY} }} }} }}",
        "NOT_FOUND",
        "INVALID_ARGUMENT",
    ),
    ("a direct counter of nothing", "type: MODIFY entity { direct_counter_entry {} }", "INVALID_ARGUMENT"),
    (
        "a meter cell",
        "type: MODIFY entity { meter_entry { meter_id: <limit> index {} config { cir: 1 pir: 2 } } }",
        "OK",
    ),
    (
        "a meter's burst negative",
        "type: MODIFY entity { meter_entry { meter_id: <limit> index {} config { cburst: -2 } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a meter always green in the old way",
        "type: MODIFY entity { meter_entry { meter_id: <limit> index {} "
        "config { cir: -1 cburst: -1 pir: -1 pburst: -1 } } }",
        "OK",
    ),
    ("a meter inserted", "type: INSERT entity { meter_entry { meter_id: <limit> index {} } }", "INVALID_ARGUMENT"),
    (
        "a multicast group",
        "type: INSERT entity { <pre> { multicast_group_entry { multicast_group_id: 1 "
        "replicas { egress_port: 1 instance: 1 } } } }",
        "OK",
    ),
    (
        "a multicast group of number 0",
        "type: INSERT entity { <pre> { multicast_group_entry { } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a multicast group too high",
        "type: INSERT entity { <pre> { multicast_group_entry { multicast_group_id: 32768 } } }",
        "OUT_OF_RANGE",
    ),
    (
        "a multicast group with a copy twice",
        "type: INSERT entity { <pre> { multicast_group_entry { multicast_group_id: 2 "
        "replicas { egress_port: 1 instance: 1 } replicas { egress_port: 1 instance: 1 } } } }",
        "INVALID_ARGUMENT",
    ),
    (
        "a multicast group that is not there",
        "type: DELETE entity { <pre> { multicast_group_entry { multicast_group_id: 3 } } }",
        "NOT_FOUND",
    ),
    (
        "a clone session",
        "type: INSERT entity { <pre> { clone_session_entry { session_id: 1 "
        "replicas { egress_port: 1 instance: 1 } } } }",
        "OK",
    ),
    (
        "a clone session that truncates",
        "type: INSERT entity { <pre> { clone_session_entry { session_id: 2 "
        "packet_length_bytes: 9 replicas { egress_port: 1 instance: 1 } } } }",
        "UNIMPLEMENTED",
        "UNKNOWN",
    ),
    (
        "a clone session of number 0",
        "type: INSERT entity { <pre> { clone_session_entry { } } }",
        "INVALID_ARGUMENT",
    ),
    ("nothing replicated", "type: INSERT entity { <pre> { } }", "INVALID_ARGUMENT"),
]


@pytest.mark.parametrize("row", WRITES, ids=[row[0] for row in WRITES])
def test_a_write_is_answered_with_its_code(controlled: SwitchTarget, row: tuple[str, ...]) -> None:
    expected = row[2] if isinstance(controlled, EmbeddedSwitch) or len(row) == 3 else row[3]
    assert write_code(controlled, row[1]) == expected


def test_a_batch_goes_on_after_an_error_and_names_each(controlled: SwitchTarget) -> None:
    client = controlled.control.client
    insert = f"type: INSERT entity {{ {PORT_EXACT} }}"
    texts = [
        insert,
        insert,
        "type: DELETE entity { table_entry { table_id: <route_lpm> } }",
        insert.replace("002", "005"),
    ]
    faults = client.write(p4runtime_pb2.WriteRequest(updates=[update(client.info, text) for text in texts]))
    assert [(fault.index, fault.code) for fault in faults] == [(1, "ALREADY_EXISTS"), (2, "NOT_FOUND")]
    assert len(client.read_table("port_exact")) == 2


def test_a_full_table_takes_no_more(controlled: SwitchTarget) -> None:
    entries = [TableEntry("route_lpm", "drop", {"hdr.word.address": (1 << 127 - place, 128)}) for place in range(9)]
    controlled.write(entries[:8])
    faults = controlled.control.client._write_batch([entries[8]], p4runtime_pb2.Update.INSERT)
    assert faults[0].code == ("RESOURCE_EXHAUSTED" if isinstance(controlled, EmbeddedSwitch) else "UNKNOWN")
    controlled.control.client.delete(entries[:1])
    controlled.write(entries[8:])


# --- reads ------------------------------------------------------------------------------------------------------------

READS = [
    ("all tables", "table_entry {}", 3),
    ("one table", "table_entry { table_id: <port_exact> }", 1),
    ("one entry", f"table_entry {{ table_id: <port_exact> {KEY} }}", 1),
    ("no entry", f"table_entry {{ table_id: <port_exact> {KEY.replace('002', '009')} }}", 0),
    ("all defaults", "table_entry { is_default_action: true }", 4),
    ("one default", "table_entry { table_id: <acl> is_default_action: true }", 1),
    ("all counters", "counter_entry {}", 17),
    ("one counter", "counter_entry { counter_id: <seen> }", 16),
    ("one cell", "counter_entry { counter_id: <seen> index { index: 15 } }", 1),
    ("all meters", "meter_entry {}", 4),
    ("one meter cell", "meter_entry { meter_id: <limit> index { index: 3 } }", 1),
    ("direct counters of a table", "direct_counter_entry { table_entry { table_id: <port_exact> } }", 1),
    ("direct meters of a table", "direct_meter_entry { table_entry { table_id: <port_exact> } }", 1),
    ("all groups", "<pre> { multicast_group_entry {} }", 0),
    ("all sessions", "<pre> { clone_session_entry {} }", 0),
    ("no such table", "table_entry { table_id: 5 }", "INVALID_ARGUMENT"),
    ("an idle time", "table_entry { table_id: <acl> time_since_last_hit {} }", "INVALID_ARGUMENT"),
    ("no such counter", "counter_entry { counter_id: 5 }", "INVALID_ARGUMENT"),
    ("a direct counter by index", "counter_entry { counter_id: <exact_hits> }", "INVALID_ARGUMENT"),
    ("a cell beyond", "counter_entry { counter_id: <seen> index { index: 16 } }", "OUT_OF_RANGE", "UNKNOWN"),
    ("a direct counter of no table", "direct_counter_entry {}", "INVALID_ARGUMENT"),
    ("a table without them", "direct_counter_entry { table_entry { table_id: <acl> } }", "INVALID_ARGUMENT"),
    (
        "no such group",
        "<pre> { multicast_group_entry { multicast_group_id: 9 } }",
        "NOT_FOUND",
    ),
    ("no such session", "<pre> { clone_session_entry { session_id: 9 } }", "NOT_FOUND"),
    ("a register", "register_entry {}", "UNIMPLEMENTED"),
    ("nothing", "", "INVALID_ARGUMENT", "UNKNOWN"),
]


@pytest.mark.parametrize("row", READS, ids=[row[0] for row in READS])
def test_a_read_is_answered_with_what_there_is_or_its_code(controlled: SwitchTarget, row: tuple) -> None:
    controlled.write([ENTRY])
    client = controlled.control.client
    entity = text_format.Parse(spelled(client.info, row[1]), p4runtime_pb2.Entity())
    request = p4runtime_pb2.ReadRequest(device_id=1, entities=[entity])
    expected = row[2] if isinstance(controlled, EmbeddedSwitch) or len(row) == 3 else row[3]
    read = client._connection.stub.Read(request)
    if isinstance(expected, int):
        assert sum(len(response.entities) for response in read) == expected
    else:
        with pytest.raises(grpc.RpcError) as error:
            list(read)
        assert error.value.code().name == expected


def test_a_large_table_is_read_in_pieces_that_any_client_takes(controlled: SwitchTarget) -> None:
    entries = [
        TableEntry("acl", "mark", {"hdr.word.kind": kind}, {"odd": odd, "address": 2**128 - 1}, priority=odd + 1)
        for kind in range(256)
        for odd in range(4)
    ]
    controlled.control.client.insert(entries)
    channel = grpc.insecure_channel(controlled.address, options=[("grpc.use_local_subchannel_pool", 1)])
    with channel:
        request = p4runtime_pb2.ReadRequest(device_id=1, entities=[p4runtime_pb2.Entity(table_entry={})])
        read = p4runtime_pb2_grpc.P4RuntimeStub(channel).Read(request)
        assert sum(len(response.entities) for response in read) == 1024 + 2


# --- the pipeline, arbitration, capabilities --------------------------------------------------------------------------


def config_code(client: Client, program: CompiledProgram, action: int, json: bytes | None = None) -> str:
    request = p4runtime_pb2.SetForwardingPipelineConfigRequest(action=action)
    client._sign(request)
    request.config.p4info.CopyFrom(ProgramInfo.read(program.p4info_path).proto)
    request.config.p4_device_config = program.json_path.read_bytes() if json is None else json
    try:
        client._connection.stub.SetForwardingPipelineConfig(request)
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


@pytest.fixture
def fresh(control_plane_program: CompiledProgram) -> Iterator[EmbeddedSwitch]:
    """An embedded switch of its own, without a program."""
    with EmbeddedSwitch() as switch:
        yield switch


def test_before_a_program_is_there_nothing_can_be_asked(fresh: EmbeddedSwitch) -> None:
    client = fresh.control.client
    with pytest.raises(Exception, match="no forwarding pipeline is set"):
        client.info  # noqa: B018
    for call in (
        lambda: list(client._connection.stub.Read(p4runtime_pb2.ReadRequest(device_id=1))),
        lambda: client.write(p4runtime_pb2.WriteRequest()),
    ):
        with pytest.raises(Exception, match="FAILED_PRECONDITION"):
            call()
    fresh.inject(1, bytes(20), 0)
    assert fresh.drain(0) == []
    assert fresh.next_event_ps() is None


def test_a_pipeline_is_verified_saved_committed_and_reconciled(
    fresh: EmbeddedSwitch, control_plane_program: CompiledProgram
) -> None:
    client, actions = fresh.control.client, p4runtime_pb2.SetForwardingPipelineConfigRequest
    assert config_code(client, control_plane_program, actions.UNSPECIFIED) == "INVALID_ARGUMENT"
    assert config_code(client, control_plane_program, actions.COMMIT) == "FAILED_PRECONDITION"
    assert config_code(client, control_plane_program, actions.VERIFY) == "OK"
    assert config_code(client, control_plane_program, actions.VERIFY, b"nonsense") == "INVALID_ARGUMENT"
    assert fresh._server.info is None
    assert config_code(client, control_plane_program, actions.VERIFY_AND_SAVE) == "OK"
    assert fresh._server.info is None
    assert config_code(client, control_plane_program, actions.COMMIT) == "OK"
    fresh.write([ENTRY, TableEntry("route_lpm", "flood", {"hdr.word.address": (1, 128)}, {"group": 1})])
    assert config_code(client, control_plane_program, actions.RECONCILE_AND_COMMIT) == "OK"
    assert len(client.read_table("port_exact")) == len(client.read_table("route_lpm")) == 1
    assert config_code(client, control_plane_program, actions.VERIFY_AND_COMMIT) == "OK"
    assert client.read_table("port_exact") == []


def test_a_reconciled_pipeline_keeps_members_groups_and_what_names_them(fresh: EmbeddedSwitch) -> None:
    folder = Path(__file__).parent / "programs"
    program = verify(folder / "selector.p4", folder / "compiled")
    fresh.load(program)
    client, info = fresh.control.client, fresh.control.client.info
    profile, table = info.profiles.find("chooser"), info.tables.find("grouped")
    tell = f"action {{ action_id: {info.actions.find('tell').id} params {{ param_id: 1 value: 'ab' }} }}"
    made = (
        f"action_profile_member {{ action_profile_id: {profile.id} member_id: 1 {tell} }}",
        f"action_profile_group {{ action_profile_id: {profile.id} group_id: 2 members {{ member_id: 1 weight: 1 }} }}",
        f"table_entry {{ table_id: {table.id} match {{ field_id: 1 exact {{ value: 'a' }} }} "
        "action { action_profile_group_id: 2 } }",
    )
    for text in made:
        assert write_code(fresh, f"type: INSERT entity {{ {text} }}") == "OK"
    action = p4runtime_pb2.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT
    assert config_code(client, program, action) == "OK"
    fresh.inject(0, b"a" + bytes(6), 0)
    assert [frame[:2] for _, _, frame in fresh.drain(0)] == [b"ab"]


def test_a_program_that_does_not_take_the_old_entries_leaves_all_as_it_was(
    fresh: EmbeddedSwitch, control_plane_program: CompiledProgram
) -> None:
    client, actions = fresh.control.client, p4runtime_pb2.SetForwardingPipelineConfigRequest
    fresh.load(control_plane_program)
    fresh.write([ENTRY])
    smaller = control_plane_program.json_path.read_text(encoding="utf-8").replace('"max_size" : 64', '"max_size" : 0')
    assert (
        config_code(client, control_plane_program, actions.RECONCILE_AND_COMMIT, smaller.encode()) == "INVALID_ARGUMENT"
    )
    assert len(client.read_table("port_exact")) == 1
    fresh.inject(1, bytes([0, 2]) + bytes(18), 0)
    assert [port for _, port, _ in fresh.drain(0)] == [3]


def test_the_pipeline_is_read_back_in_parts(controlled: SwitchTarget, control_plane_program: CompiledProgram) -> None:
    stub, kinds = controlled.control.client._connection.stub, p4runtime_pb2.GetForwardingPipelineConfigRequest
    json = control_plane_program.json_path.read_bytes()
    for kind, with_info, with_json in (
        (kinds.ALL, True, True),
        (kinds.COOKIE_ONLY, False, False),
        (kinds.P4INFO_AND_COOKIE, True, False),
        (kinds.DEVICE_CONFIG_AND_COOKIE, False, True),
    ):
        config = stub.GetForwardingPipelineConfig(kinds(device_id=1, response_type=kind)).config
        assert bool(config.p4info.tables) == with_info
        assert config.p4_device_config == (json if with_json else b"")


def test_the_version_is_told(controlled: SwitchTarget) -> None:
    version = controlled.control.client._connection.api_version()
    assert version == ("1.4.1" if isinstance(controlled, EmbeddedSwitch) else "1.3.0")


def arbitration(stream, election_id: int, device_id: int = 1) -> tuple[str, int]:
    request = p4runtime_pb2.StreamMessageRequest()
    request.arbitration.device_id = device_id
    request.arbitration.election_id.low = election_id
    stream.outgoing.put(request)
    return stream.heard()


class Stream:
    """A bare stream of one controller."""

    def __init__(self, address: str) -> None:
        self.outgoing: SimpleQueue = SimpleQueue()
        self.channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = p4runtime_pb2_grpc.P4RuntimeStub(self.channel).StreamChannel(
            iter(self.outgoing.get, None), timeout=20
        )

    def heard(self) -> tuple[str, int]:
        try:
            message = next(self.call)
        except grpc.RpcError as error:
            return error.code().name, -1
        except StopIteration:
            return "end", -1
        return code_pb2.Code.Name(message.arbitration.status.code), message.arbitration.election_id.low

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *unused: object) -> None:
        self.outgoing.put(None)
        for _ in iter(self.heard, ("end", -1)):
            if self.call.done():
                break
        self.channel.close()


def test_arbitration_goes_by_the_highest_election_id(controlled: SwitchTarget) -> None:
    with Stream(controlled.address) as first, Stream(controlled.address) as second:
        assert arbitration(first, 10) == ("OK", 10)
        assert arbitration(second, 5) == ("ALREADY_EXISTS", 10)
        assert arbitration(second, 20) == ("OK", 20)
        assert first.heard() == ("ALREADY_EXISTS", 20)
        assert arbitration(second, 7) == ("ALREADY_EXISTS", 10)
        assert first.heard() == ("OK", 10)
        with Stream(controlled.address) as third:
            assert arbitration(third, 10) == ("INVALID_ARGUMENT", -1)
        with Stream(controlled.address) as fourth:
            assert arbitration(fourth, 30) == ("OK", 30)
            assert first.heard() == second.heard() == ("ALREADY_EXISTS", 30)
        assert first.heard() == ("OK", 10)
        assert second.heard() == ("ALREADY_EXISTS", 10)


def test_a_stream_to_another_device_ends(fresh: EmbeddedSwitch) -> None:
    with Stream(fresh.address) as stream:
        assert arbitration(stream, 9, device_id=2) == ("NOT_FOUND", -1)


def test_there_is_room_for_16_controllers(fresh: EmbeddedSwitch) -> None:
    streams = [Stream(fresh.address) for _ in range(16)]
    try:
        # The switch's own control plane is one of the 16.
        for place, stream in enumerate(streams[:15]):
            assert arbitration(stream, 100 + place)[0] == "OK"
        assert arbitration(streams[15], 200) == ("RESOURCE_EXHAUSTED", -1)
    finally:
        for stream in streams:
            stream.__exit__()


def test_a_packet_out_that_does_not_fit_is_answered_on_the_stream(
    fresh: EmbeddedSwitch, control_plane_program: CompiledProgram
) -> None:
    fresh.load(control_plane_program)
    request = p4runtime_pb2.StreamMessageRequest()
    request.packet.payload = b"x"
    request.packet.metadata.add(metadata_id=9, value=b"\1")
    connection = fresh.control.client._connection
    connection.stream_out_q.put(request)
    error = connection.get_stream_packet("error", timeout=10).error
    assert error.canonical_code == code_pb2.INVALID_ARGUMENT
    assert error.packet_out.packet_out == request.packet


# --- whatever a message holds, the answer is a status code ------------------------------------------------------------

CALLS = ("Write", "Read", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig", "Capabilities")


def seeds(info: ProgramInfo, json: bytes) -> list[tuple[str, bytes]]:
    """Good requests, to be spoilt."""
    requests: list[tuple[str, bytes]] = []
    for row in WRITES:
        request = p4runtime_pb2.WriteRequest(device_id=1, updates=[update(info, row[1])])
        request.election_id.low = 1
        requests.append(("Write", request.SerializeToString()))
    for row in READS:
        entity = text_format.Parse(spelled(info, row[1]), p4runtime_pb2.Entity())
        requests.append(("Read", p4runtime_pb2.ReadRequest(device_id=1, entities=[entity]).SerializeToString()))
    kinds = p4runtime_pb2.GetForwardingPipelineConfigRequest
    requests.append(("GetForwardingPipelineConfig", kinds(device_id=1).SerializeToString()))
    config = p4runtime_pb2.SetForwardingPipelineConfigRequest(device_id=1, action=1)
    config.election_id.low = 1
    config.config.p4info.CopyFrom(info.proto)
    config.config.p4_device_config = json
    requests.append(("SetForwardingPipelineConfig", config.SerializeToString()))
    return requests


def spoil(generator: random.Random, data: bytes) -> bytes:
    wire = bytearray(data)
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(wire) + 1)
        kind = generator.randrange(4)
        if kind == 0 and place < len(wire):
            wire[place] = generator.randrange(256)
        elif kind == 1 and place < len(wire):
            wire[place] ^= 1 << generator.randrange(8)
        elif kind == 2:
            del wire[place : place + generator.randint(1, 4)]
        else:
            wire[place:place] = generator.randbytes(generator.randint(1, 4))
    return bytes(wire)


def code_of(call: Callable, data: bytes) -> tuple[str, str]:
    try:
        answer = call(data, timeout=20)
        for _ in answer if isinstance(answer, Iterator) else ():
            pass
    except grpc.RpcError as error:
        return error.code().name, error.details()
    return "OK", ""


@pytest.mark.parametrize("number", [1_000, pytest.param(5_000, marks=pytest.mark.slow)])
def test_no_message_raises(fresh: EmbeddedSwitch, control_plane_program: CompiledProgram, number: int) -> None:
    fresh.load(control_plane_program)
    info = fresh.control.client.info
    good = seeds(info, control_plane_program.json_path.read_bytes())
    generator = random.Random(number)
    codes: dict[str, int] = {}
    channel = grpc.insecure_channel(fresh.address, options=[("grpc.use_local_subchannel_pool", 1)])
    calls: dict[str, Callable] = {name: channel.unary_unary(f"/p4.v1.P4Runtime/{name}") for name in CALLS}
    calls["Read"] = channel.unary_stream("/p4.v1.P4Runtime/Read")
    with channel:
        for _ in range(number):
            name, data = generator.choice(good)
            name = generator.choice(CALLS) if generator.random() < 0.02 else name
            data = spoil(generator, data) if generator.random() < 0.9 else generator.randbytes(generator.randrange(60))
            code, details = code_of(calls[name], data)
            # UNKNOWN is a batch with refusals in it, INTERNAL what is no protobuf: never an exception in our code.
            assert code not in ("UNKNOWN", "INTERNAL") or "batch" in details or "deserializ" in details, details
            codes[code] = codes.get(code, 0) + 1
    assert {"OK", "UNKNOWN", "INVALID_ARGUMENT", "INTERNAL"} <= codes.keys()
    assert codes.keys() <= {
        "OK",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "INTERNAL",
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "UNIMPLEMENTED",
        "OUT_OF_RANGE",
    }
    fresh.load(control_plane_program)
    fresh.write([ENTRY])


def test_no_stream_message_raises(fresh: EmbeddedSwitch, control_plane_program: CompiledProgram) -> None:
    fresh.load(control_plane_program)
    generator = random.Random(5)
    texts = (
        "arbitration { device_id: 1 election_id { low: 9 } }",
        "packet { payload: 'abcdefghijklmnopqrstuvwxyz' metadata { metadata_id: 1 value: '\\005' } }",
        "digest_ack { digest_id: 5 list_id: 7 }",
    )
    good = [text_format.Parse(text, p4runtime_pb2.StreamMessageRequest()).SerializeToString() for text in texts]
    codes = set()
    for _ in range(300):
        sent = [good[0]] + [spoil(generator, generator.choice(good)) for _ in range(generator.randint(1, 8))]
        channel = grpc.insecure_channel(fresh.address, options=[("grpc.use_local_subchannel_pool", 1)])
        with channel:
            call = channel.stream_stream("/p4.v1.P4Runtime/StreamChannel")
            codes.add(code_of(lambda data, timeout, call=call: call(iter(data), timeout=timeout), sent)[0])
    assert codes <= {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND", "INTERNAL"}
    fresh.write([ENTRY])
