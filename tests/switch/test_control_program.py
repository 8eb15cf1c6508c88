"""The control plane of the switch program, on both targets: tables, counters, packets, readers."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator

import pytest

from pymodel.base.errors import InputError
from pymodel.paths.tables import (
    FIRST_FLAVOUR,
    FIRST_SID,
    PUNT_LIMITER,
    ROUTE,
    RX_PORT,
    SECOND_FLAVOUR,
    SECOND_SID,
    port_entries,
    sid_entries,
)
from pymodel.switch.control import ControlPlane, entry_from_json, entry_to_json
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.info import Key, ProgramInfo, Table
from pymodel.switch.p4runtime.normal import normal_form
from pymodel.switch.p4runtime.protos import p4runtime_pb2
from pymodel.switch.program import SOURCE
from pymodel.switch.target import Count, SwitchTarget, TableEntry
from pymodel.wire.spec import CPU_PORT, PuntReason
from tests.switch.packets import Routed, echo_request
from tests.switch.row import entries, ports, prefix, punts, route, sid

INFO = ProgramInfo.read(SOURCE.parent / "compiled" / "mrc_switch.p4info.txtpb")

PREFIX_LENGTHS = (0, 32, 48, 64, 128)
ADDRESSES = (
    1,  # 127 leading zeros
    0x00FC << 112,  # a leading zero byte
    0xFC00_0000_0001_8000 << 64,
    0xFC00_0000_00FF_0000_0000_0000_0000_0001,
    (1 << 128) - 1,
)

Key128 = int | tuple[int, int]


def client(switch: SwitchTarget) -> Client:
    return switch.control.client


# --- P22: write, read, compare, on every table ------------------------------------------------------------------------


def values(key: Key) -> list[Key128]:
    if key.kind == "lpm":
        pairs = [
            (address >> key.width - length << key.width - length, length)
            for length in PREFIX_LENGTHS
            for address in ADDRESSES
        ]
        return list(dict.fromkeys(pairs))
    assert key.kind == "exact"
    top = 1 << key.width - 1
    return list(dict.fromkeys([0, 1, 2, 3, top - 1, top, 2 * top - 2, 2 * top - 1]))


def some_entries(table: Table, salt: int) -> list[TableEntry]:
    """Entries of all kinds of key values and every action; `salt` chooses other actions and parameters for them."""
    (key,) = table.keys
    actions = itertools.cycle([use.action for use in table.actions if use.in_entries])
    for _ in range(salt):
        next(actions)
    made = []
    for place, (value, action) in enumerate(zip(values(key), actions, strict=False)):
        # Parameters of all zeros, of leading zeros, and of all ones.
        params = {
            param.name: (0, 1, (1 << param.width) - 1)[(place + number + salt) % 3]
            for number, param in enumerate(action.params)
        }
        made.append(TableEntry(table.name, action.name, {key.name: value}, params))
    return made[: table.size]


def by_match(found: list[TableEntry]) -> dict[tuple[tuple[str, Key128], ...], TableEntry]:
    indexed = {tuple(entry.match.items()): entry for entry in found}
    assert len(indexed) == len(found)
    return indexed


CHANGEABLE = [table for table in INFO.tables if not table.is_const]


@pytest.mark.parametrize("table", CHANGEABLE, ids=lambda table: table.name.removeprefix("MrcIngress."))
def test_p22_every_table_reads_back_as_written(target: SwitchTarget, table: Table) -> None:
    first = [normal_form(INFO, entry) for entry in some_entries(table, salt=0)]
    other = [normal_form(INFO, entry) for entry in some_entries(table, salt=1)]
    random.Random(table.name).shuffle(first)

    def there() -> dict[tuple[tuple[str, Key128], ...], TableEntry]:
        return by_match(client(target).read_table(table.name))

    for start in range(0, len(first), 7):
        client(target).insert(first[start : start + 7])
    assert there() == by_match(first)
    # From the middle, in another order than they went in.
    middle = first[len(first) // 4 : len(first) // 2]
    client(target).delete(reversed(middle))
    left = [entry for entry in first if entry not in middle]
    assert there() == by_match(left)
    client(target).insert(middle)
    assert there() == by_match(first)
    client(target).modify(other)
    assert there() == by_match(other)
    client(target).delete(other)
    assert there() == {}


def test_constant_tables_are_those_of_flavours_and_stay_as_they_are(target: SwitchTarget) -> None:
    constant = {table.name for table in INFO.tables if table.is_const}
    assert constant == {FIRST_FLAVOUR, SECOND_FLAVOUR}
    for table in constant:
        place = table.removesuffix(".flavour")
        whole = [("PSP", {}), ("USP", {}), ("USD", {"uniform": 0}), ("USD", {"uniform": 1})]
        whole += [("DT6", {"uniform": 0}), ("DT6", {"uniform": 1})]
        there = client(target).read_table(table)
        assert [(entry.action, entry.params) for entry in there] == [(f"{place}.{name}", p) for name, p in whole]
        assert [entry.match["carried_out"] for entry in there] == [1, 2, 4, 5, 6, 7]
        for change in (client(target).insert, client(target).modify, client(target).delete):
            with pytest.raises(InputError, match=rf"table {table}"):
                change([TableEntry(table, f"{place}.PSP", {"carried_out": 1})])
        assert client(target).read_table(table) == there
    assert client(target).read_tables() == []


def test_p22_the_longest_prefix_wins_in_whatever_order_they_came_and_went(target: SwitchTarget) -> None:
    inside = ["::/0", "fc00::/32", "fc00:0:1::/48", "fc00:0:1:2::/64", "fc00:0:1:2::5/128"]
    address = {"fc00:0:1:2::5": 4, "fc00:0:1:2::4": 3, "fc00:0:1:3::": 2, "fc00:0:2::": 1, "2001:db8::1": 0}
    target.write(entries(ports(*range(6))))
    routes = [route(text, port) for port, text in enumerate(inside)]

    def chosen() -> list[int]:
        for place, destination in enumerate(address):
            target.inject(5, Routed(destination).at(5), place)
        return [port for _, port, _ in target.drain(len(address))]

    for order in ([4, 0, 3, 1, 2], [0, 1, 2, 3, 4], [2, 4, 1, 3, 0]):
        for place in order:
            client(target).insert([routes[place]])
        assert chosen() == [4, 3, 2, 1, 0]
        client(target).delete([routes[2]])
        assert chosen() == [4, 3, 1, 1, 0]
        client(target).delete([routes[4], routes[0]])
        assert chosen() == [3, 3, 1, 1]
        client(target).delete([routes[1], routes[3]])
        assert chosen() == []


# --- errors -----------------------------------------------------------------------------------------------------------

WRONG = [
    (route("fc00::/32", 512), r"routing\.route, action .*forward, parameter port: found 0x200, expected .* 9 bits"),
    (
        TableEntry(ROUTE, "no_route", {"dst": (1, 129)}),
        r"routing\.route, key dst, prefix length: found 129, .*0 to 128",
    ),
    (TableEntry(ROUTE, "no_route", {"dst": (1 << 128, 128)}), r"routing\.route, key dst: found 0x1000.*of 128 bits"),
    (TableEntry(ROUTE, "no_route", {"dst": 7}), r"routing\.route, key dst: found the number 0x7, expected a pair"),
    (TableEntry(ROUTE, "no_route", {"src": (1, 1)}), r"routing\.route: found the key 'src', expected one of dst"),
    (TableEntry(RX_PORT, "port_down", {"port": 512}), r"admission\.rx_port, key port: found 0x200, expected .* 9 bits"),
    (TableEntry(RX_PORT, "port_down"), r"admission\.rx_port, key port: found no value, expected a value of 9 bits"),
]


@pytest.mark.parametrize(("entry", "sentence"), WRONG)
def test_what_is_wrong_is_named_by_table_and_key(target: SwitchTarget, entry: TableEntry, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        target.write([entry])
    assert client(target).read_tables() == []


def test_what_the_switch_refuses_is_named_by_table_key_and_prefix(target: SwitchTarget) -> None:
    entry = route("fc00:0:1::/48", 1)
    where = r"table MrcIngress\.routing\.route, match dst=0xfc000000000100000000000000000000/0x30: found "
    with pytest.raises(InputError, match=where + "NOT_FOUND"):
        client(target).delete([entry])
    target.write([entry])
    with pytest.raises(InputError, match=where + "ALREADY_EXISTS"):
        # The same prefix: the bits below it do not count.
        target.write(
            [route("fc00:0:1:5::/64", 2), TableEntry(ROUTE, "no_route", {"dst": (prefix("fc00:0:1:5::/64")[0], 48)})]
        )
    assert len(client(target).read_tables()) == 1


def test_a_mask_that_is_wrong_or_refused_is_named(controlled: SwitchTarget) -> None:
    def acl(value: int, mask: int) -> TableEntry:
        return TableEntry("acl", "drop", {"hdr.word.kind": 0, "hdr.word.address": (value, mask)}, priority=1)

    with pytest.raises(InputError, match=r"IngressImpl\.acl, key hdr\.word\.address, mask: found 0x10+, .* 128 bits"):
        controlled.write([acl(0, 1 << 128)])
    controlled.write([acl(0x1234, 0xFF00)])
    # The same entry: what lies under the zero bits of the mask does not count.
    with pytest.raises(InputError, match=r"IngressImpl\.acl, match .*hdr\.word\.address=0x1200/0xff00.*ALREADY_EXISTS"):
        controlled.write([acl(0x12FF, 0xFF00)])


# --- P33: an adjacency has a port -------------------------------------------------------------------------------------

ADJACENCIES = ("uA", "uA_node", "End_X")


@pytest.mark.parametrize("action", ADJACENCIES)
def test_p33_an_adjacency_without_its_port_is_refused_before_anything_is_sent(action: str) -> None:
    with pytest.raises(InputError, match=rf"SID fc00:0:e001::/48, {action}: found no port, expected the port"):
        list(sid_entries(prefix("fc00:0:e001::/48"), action, {"usd": 1}))


@pytest.mark.parametrize("action", ADJACENCIES)
@pytest.mark.parametrize("table", [FIRST_SID, SECOND_SID])
def test_p33_a_file_and_a_foreign_controller_are_refused_too(target: SwitchTarget, table: str, action: str) -> None:
    (whole,) = (one for one in sid("fc00:0:e001::/48", action, port=3) if one.table == table)
    form = entry_to_json("s", whole)
    del form["params"]["port"]
    _, without = entry_from_json(form)
    with pytest.raises(InputError, match=rf"{action}: found parameters psp, uniform, usd, usp, expected .*, port"):
        target.write([without])
    # As a client that does not know the rule would send it: the switch refuses.
    action_info = client(target).info.actions.find(whole.action)
    request = p4runtime_pb2.WriteRequest()
    message = request.updates.add(type=p4runtime_pb2.Update.INSERT).entity.table_entry
    message.table_id = client(target).info.tables.find(table).id
    match = message.match.add(field_id=1)
    match.lpm.value, match.lpm.prefix_len = whole.match["dst"][0].to_bytes(16, "big"), 48
    message.action.action.action_id = action_info.id
    for param in action_info.params[:-1]:
        message.action.action.params.add(param_id=param.id, value=b"\0")
    assert action_info.params[-1].name == "port"
    assert [fault.code for fault in client(target).write(request)] == ["INVALID_ARGUMENT"]
    assert client(target).read_tables() == []
    target.write([whole])


# --- counters ---------------------------------------------------------------------------------------------------------


def readings(switch: SwitchTarget) -> dict[str, Count]:
    """Every counter that is not zero, direct ones by table and key."""
    found = dict(switch.counters())
    for table in (FIRST_SID, SECOND_SID, ROUTE):
        for entry, count in client(switch).read_direct_counters(table):
            found[f"{table} {entry.match}"] = count
    return found


def test_p31_counters_rise_with_every_frame_and_fall_only_when_written(target: SwitchTarget) -> None:
    own, onward, lost = "fc00:0:1:2::", "fc00:0:2::", "fc00:0:3::"
    target.write(entries(ports(), sid("fc00:0:1::/48", "uN"), route("fc00:0:2::/48", 2)))
    generator = random.Random(31)
    before = readings(target)
    sent = 0
    for burst in range(5):
        for _ in range(generator.randrange(1, 6)):
            destination = generator.choice([own, onward, lost])
            target.inject(0, Routed(destination, payload=bytes(generator.randrange(200))).at(0), burst)
            sent += 1
        target.drain(burst)
        after = readings(target)
        for name, count in before.items():
            assert after[name].packets >= count.packets
            assert after[name].bytes >= count.bytes
        before = after
    assert before["port_in[0]"].packets == sent
    # What others write into tables does not touch a count; what is written into a counter does, and it alone.
    client(target).modify([route("fc00:0:2::/48", 2)])
    target.write([route("fc00:0:9::/48", 3)])
    assert {name: count for name, count in readings(target).items() if count.packets} == {
        name: count for name, count in before.items() if count.packets
    }
    client(target).write_counter_cell("port_in", 0, Count(0, 0))
    gone = readings(target)
    assert "port_in[0]" not in gone
    assert all(gone[name] == count for name, count in before.items() if name != "port_in[0]" and count.packets)


# --- packets to and from the controller -------------------------------------------------------------------------------


def until(read: Callable[[], bool]) -> None:
    """Wait for what a packet-out does, which nobody answers."""
    deadline = time.monotonic() + 20
    while not read():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_packet_out_to_a_port_that_is_down_drops_and_one_for_the_controller_comes_back(target: SwitchTarget) -> None:
    target.write(entries(ports(), sid("fc00:0:1::/48", "uN"), punts()))
    client(target).send_packet(Routed("fc00:0:2::").at(0), egress_port=9)
    until(lambda: "drop_port_down" in target.counters())
    echo = echo_request(Routed("fc00:0:1::", inner=False)).at(0)
    client(target).send_packet(echo, submit_to_ingress=1)
    received = client(target).receive_packet(10)
    assert received is not None
    assert received.payload == echo
    assert (received.fields["reason"], received.fields["ingress_port"]) == (PuntReason.ECHO_REQUEST, CPU_PORT)
    assert target.counters()[f"port_in[{CPU_PORT}]"].packets == 2


# --- readers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def reader(target: SwitchTarget) -> Iterator[Client]:
    with Client(target.address, election_id=None) as connected:
        yield connected


def test_a_reader_reads_everything_and_leaves_the_controller_alone(target: SwitchTarget, reader: Client) -> None:
    target.write(port_entries(1, up=True))
    assert len(reader.read_tables()) == 2
    assert reader.read_default(RX_PORT).action == "port_down"
    assert ControlPlane(reader).counters() == {}
    assert reader.read_meters(PUNT_LIMITER) == [None] * 8
    for write in (
        lambda: reader.insert(port_entries(2, up=True)),
        lambda: reader.set_meter(PUNT_LIMITER, 1, None),
        lambda: reader.send_packet(b"frame"),
        lambda: reader.receive_packet(0.01),
    ):
        with pytest.raises(InputError, match="found a connection for reading"):
            write()
    # The controller has stayed primary all the time.
    target.write(port_entries(2, up=True))
    assert len(reader.read_tables()) == 4
