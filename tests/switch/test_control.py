"""The control plane on both targets: what is written reads back, what is refused is named, what is counted is read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.switch.control import ControlPlane, entry_from_json, entry_to_json
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.dataplane import MeterRates, Replica
from pymodel.switch.p4runtime.normal import normal_form
from pymodel.switch.target import CompiledProgram, Count, SwitchTarget, TableEntry
from pymodel.wire.spec import CPU_PORT

ADDRESS = 0xFC00_0001_0000_0000_0000_0000_0000_0000


def forward(port: int, small: int, out: int) -> TableEntry:
    return TableEntry("port_exact", "forward", {"standard.ingress_port": port, "hdr.word.small": small}, {"port": out})


def word(kind: int = 0, small: int = 0, odd: int = 0, nibble: int = 0, address: int = 0) -> bytes:
    """A frame of the control-plane program: one word_t and some payload."""
    return (kind << 152 | small << 144 | odd << 132 | nibble << 128 | address).to_bytes(20, "big") + b"payload"


def client(switch: SwitchTarget) -> Client:
    return switch.control.client


# --- P22: write, read, compare ----------------------------------------------------------------------------------------

ENTRIES = [
    ("exact, leading zeros", forward(1, 0, 1)),
    ("lpm", TableEntry("route_lpm", "mark", {"hdr.word.address": (ADDRESS, 48)}, {"odd": 1, "address": 1})),
    ("lpm of one bit", TableEntry("route_lpm", "flood", {"hdr.word.address": (1 << 127, 1)}, {"group": 1})),
    ("lpm, whole length", TableEntry("route_lpm", "drop", {"hdr.word.address": (1, 128)})),
    ("lpm, don't care", TableEntry("route_lpm", "NoAction")),
    ("lpm, bits below the prefix", TableEntry("route_lpm", "drop", {"hdr.word.address": (ADDRESS + 5, 48)})),
    ("ternary, don't care", TableEntry("acl", "drop", {"hdr.word.kind": 0}, priority=1)),
    (
        "ternary, range and optional",
        TableEntry(
            "acl",
            "mark",
            {"hdr.word.kind": 0, "hdr.word.address": (0xFFFF, 0xF0), "hdr.word.odd": (0, 1), "hdr.word.nibble": 0},
            {"odd": 0, "address": 0},
            priority=2**31 - 1,
        ),
    ),
    ("range of all, zero mask", TableEntry("acl", "drop", {"hdr.word.kind": 255, "hdr.word.odd": (0, 4095)}, {}, 7)),
    ("default", TableEntry("route_lpm", "mark", {}, {"odd": 0x0F, "address": 0}, default=True)),
    ("default without parameters", TableEntry("port_exact", "discard", default=True)),
]


@pytest.mark.parametrize("entry", [row[1] for row in ENTRIES], ids=[row[0] for row in ENTRIES])
def test_p22_what_is_written_reads_back(controlled: SwitchTarget, entry: TableEntry) -> None:
    controlled.write([entry])
    wanted = normal_form(client(controlled).info, entry)
    if entry.default:
        assert client(controlled).read_default(entry.table) == wanted
    else:
        assert client(controlled).read_table(entry.table) == [wanted]


def test_p22_many_entries_read_back_in_one_go(controlled: SwitchTarget) -> None:
    entries = [forward(port, small, port) for port in range(8) for small in range(8)]
    controlled.write(entries)
    info = client(controlled).info
    by_match = {tuple(entry.match.values()): entry for entry in client(controlled).read_table("port_exact")}
    assert by_match == {tuple(entry.match.values()): normal_form(info, entry) for entry in entries}


def test_a_difference_is_found(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 2, 3)])
    with pytest.raises(InputError, match=r"read back: found .*'port': '0x3'.* expected .*'port': '0x4'"):
        controlled.control.check([forward(1, 2, 4)])
    with pytest.raises(InputError, match="read back: found no entry, expected"):
        controlled.control.check([forward(1, 1, 3)])


def test_constant_entries_are_read_and_never_written(controlled: SwitchTarget) -> None:
    (first, second) = client(controlled).read_table("fixed")
    assert (first.match, first.params) == ({"hdr.word.kind": 0x11}, {"odd": 0x111, "address": 1})
    assert (second.match, second.params) == ({"hdr.word.kind": 0x22}, {"odd": 0x222, "address": 2})
    with pytest.raises(InputError, match=r"table IngressImpl\.fixed"):
        controlled.write([TableEntry("fixed", "NoAction", {"hdr.word.kind": 3})])
    controlled.control.program([forward(1, 2, 3)])
    assert len(client(controlled).read_table("fixed")) == 2


def test_the_default_of_the_program_is_read_and_comes_back(controlled: SwitchTarget) -> None:
    at_first = client(controlled).read_default("route_lpm")
    assert at_first.action == "NoAction"
    controlled.write([TableEntry("route_lpm", "flood", {}, {"group": 9}, default=True)])
    client(controlled).reset_default("route_lpm")
    assert client(controlled).read_default("route_lpm") == at_first


# --- programming ------------------------------------------------------------------------------------------------------


def outs(switch: SwitchTarget) -> dict[int, int]:
    entries = client(switch).read_table("port_exact")
    return {entry.match["hdr.word.small"]: entry.params["port"] for entry in entries}


def test_program_makes_the_tables_hold_what_is_intended(controlled: SwitchTarget) -> None:
    controlled.control.program([forward(1, 1, 1), forward(1, 2, 2), forward(1, 3, 3)])
    controlled.control.program([forward(1, 2, 2), forward(1, 3, 4), forward(1, 4, 4)])
    left = {
        entry.match["hdr.word.small"]: entry.params["port"] for entry in client(controlled).read_table("port_exact")
    }
    assert left == {2: 2, 3: 4, 4: 4}
    controlled.control.program([])
    assert client(controlled).read_table("port_exact") == []


def test_put_inserts_what_is_new_and_changes_what_is_there(controlled: SwitchTarget) -> None:
    controlled.control.put([forward(1, 1, 1)])
    controlled.control.put([forward(1, 1, 5), forward(1, 2, 6)])
    found = {
        entry.match["hdr.word.small"]: entry.params["port"] for entry in client(controlled).read_table("port_exact")
    }
    assert found == {1: 5, 2: 6}


def test_nothing_is_half_done_when_the_switch_refuses_one(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 5, 5)])
    with pytest.raises(InputError, match=r"port_exact, match standard.ingress_port=0x1, .*: found ALREADY"):
        controlled.write([forward(1, 4, 4), forward(1, 5, 6), forward(1, 6, 6)])
    assert [entry.params["port"] for entry in client(controlled).read_table("port_exact")] == [5]


def test_nothing_is_sent_when_one_entry_is_wrong(controlled: SwitchTarget) -> None:
    with pytest.raises(InputError, match="parameter port: found 0x200"):
        controlled.write([forward(1, 4, 4), forward(1, 5, 512)])
    assert client(controlled).read_table("port_exact") == []


@pytest.mark.parametrize("change", ["modify", "delete"])
def test_what_is_not_there_is_neither_changed_nor_removed(controlled: SwitchTarget, change: str) -> None:
    with pytest.raises(InputError, match="NOT_FOUND"):
        getattr(client(controlled), change)([forward(1, 1, 1)])


# --- frames, counters, meters -----------------------------------------------------------------------------------------


def test_an_entry_forwards_until_it_is_removed(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 2, 9)])
    controlled.inject(1, word(small=2), 100)
    assert controlled.next_event_ps() is not None
    assert controlled.drain(100) == [(100, 9, word(small=2))]
    assert controlled.next_event_ps() is None
    client(controlled).delete([forward(1, 2, 9)])
    controlled.inject(1, word(small=2), 200)
    assert controlled.drain(200) == []


def test_p20_the_larger_priority_wins(controlled: SwitchTarget) -> None:
    rows = [(5, 0x00F), (7, 0x00E), (6, 0x00D)]
    controlled.write(
        [forward(1, 2, 9)]
        + [
            TableEntry("acl", "mark", {"hdr.word.kind": 0}, {"odd": odd, "address": 0}, priority=priority)
            for priority, odd in rows
        ]
    )
    controlled.inject(1, word(small=2), 0)
    assert controlled.drain(0) == [(0, 9, word(small=2, odd=0x00E))]


def test_counters_are_named_and_counted(controlled: SwitchTarget) -> None:
    assert controlled.counters() == {}
    for nibble in (3, 3, 15):
        controlled.inject(1, word(nibble=nibble), 0)
    controlled.drain(0)
    size = len(word())
    assert controlled.counters() == {
        "IngressImpl.seen[3]": Count(2, 2 * size),
        "IngressImpl.seen[15]": Count(1, size),
        "IngressImpl.single": Count(3, 3 * size),
    }
    assert client(controlled).read_counter("seen")[3] == Count(2, 2 * size)
    assert client(controlled).read_counter_cell("seen", 15) == Count(1, size)
    cells = [("seen", 15), ("seen", 2), ("single", 0), ("seen", 15)]
    counts = [Count(1, size), Count(0, 0), Count(3, 3 * size), Count(1, size)]
    assert client(controlled).read_counter_cells(cells) == counts
    assert client(controlled).read_counter_cells([]) == []


def test_p31_a_counter_falls_only_when_it_is_written(controlled: SwitchTarget) -> None:
    controlled.inject(1, word(nibble=3), 0)
    controlled.drain(0)
    client(controlled).write_counter_cell("seen", 3, Count(0, 0))
    client(controlled).write_counter_cell("seen", 4, Count(5, 500))
    assert client(controlled).read_counter("seen")[3:5] == [Count(0, 0), Count(5, 500)]


@pytest.mark.parametrize("number", [0, 1, 60])
def test_p25_direct_counters_of_any_number_of_entries(controlled: SwitchTarget, number: int) -> None:
    entries = [forward(1, small, 9) for small in range(number)]
    controlled.write(entries)
    for small in range(0, number, 7):
        controlled.inject(1, word(small=small), 0)
    controlled.drain(0)
    counts = client(controlled).read_direct_counters("port_exact")
    assert len(counts) == number
    assert {entry.match["hdr.word.small"] for entry, count in counts if count.packets} == set(range(0, number, 7))
    assert all(count.bytes == count.packets * len(word()) for _, count in counts)


def test_p25_a_switch_that_refuses_to_read_them_at_once_is_asked_one_by_one(
    controlled: SwitchTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    controlled.write([forward(1, small, 9) for small in range(5)])
    controlled.inject(1, word(small=3), 0)
    controlled.drain(0)
    at_once = client(controlled).read_direct_counters("port_exact")
    real = Client._stream

    def refusing(self: Client, entity):
        if entity.HasField("direct_counter_entry") and not entity.direct_counter_entry.table_entry.match:
            raise grpc.RpcError("UNIMPLEMENTED")
        return real(self, entity)

    monkeypatch.setattr(Client, "_stream", refusing)
    assert client(controlled).read_direct_counters("port_exact") == at_once
    assert [count.packets for _, count in at_once] == [0, 0, 0, 1, 0]


def test_a_direct_counter_is_written_and_read_alone(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 1, 1)])
    client(controlled).write_direct_counter(forward(1, 1, 1), Count(3, 300))
    assert client(controlled).read_direct_counter(forward(1, 1, 1)) == Count(3, 300)
    with pytest.raises(InputError, match=r"IngressImpl.acl: found no direct counter"):
        client(controlled).read_direct_counters("acl")


def test_a_meter_lets_its_burst_pass_and_reads_back(controlled: SwitchTarget) -> None:
    # interfaces.md: a rate near zero and a burst of N let exactly N pass. Red (2) is dropped by the program.
    rates = MeterRates(cir=0, cburst=1, pir=0, pburst=3)
    client(controlled).set_meter("limit", 2, rates)
    assert client(controlled).read_meter("limit", 2) == rates
    assert client(controlled).read_meter("limit", 1) is None
    controlled.write([forward(1, 2, 9)])
    for _ in range(6):
        controlled.inject(1, word(small=2, nibble=2), 0)
    assert len(controlled.drain(0)) == 3
    client(controlled).set_meter("limit", 2, None)
    assert client(controlled).read_meter("limit", 2) is None


def test_a_direct_meter_reads_back(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 2, 9)])
    assert client(controlled).read_direct_meter(forward(1, 2, 9)) is None
    rates = MeterRates(cir=1, cburst=2, pir=3, pburst=4)
    client(controlled).set_direct_meter(forward(1, 2, 9), rates)
    assert client(controlled).read_direct_meter(forward(1, 2, 9)) == rates
    client(controlled).set_direct_meter(forward(1, 2, 9), None)
    assert client(controlled).read_direct_meter(forward(1, 2, 9)) is None


# --- replication, packet-in and packet-out ----------------------------------------------------------------------------


def test_a_multicast_group_copies(controlled: SwitchTarget) -> None:
    client(controlled).set_multicast_group(7, [Replica(4, 0), Replica(2, 0), Replica(3, 1)])
    controlled.write([TableEntry("route_lpm", "flood", {}, {"group": 7}, default=True)])
    controlled.inject(1, word(), 0)
    assert sorted(controlled.drain(0)) == [(0, port, word()) for port in (2, 3, 4)]


def test_what_goes_to_the_cpu_port_is_a_packet_in(controlled: SwitchTarget) -> None:
    controlled.write([TableEntry("route_lpm", "to_controller", {}, {"reason": 0x55}, default=True)])
    controlled.inject(0x101, word(kind=1), 0)
    assert controlled.drain(0) == []
    received = client(controlled).receive_packet(10)
    assert received is not None
    assert received.payload == word(kind=1)
    assert received.fields == {"ingress_port": 0x101, "reason": 0x55}
    assert client(controlled).receive_packet(0.01) is None


def test_a_packet_out_is_processed_and_may_come_back(controlled: SwitchTarget) -> None:
    # To its own CPU port: the program strips packet_out and adds no packet_in, so that is read off the frame itself.
    client(controlled).send_packet(word(), egress_port=CPU_PORT)
    received = client(controlled).receive_packet(10)
    assert received is not None
    assert received.payload == word()[2:]


def test_a_packet_out_by_the_cpu_port_leaves_where_it_says(controlled: SwitchTarget) -> None:
    controlled.inject(CPU_PORT, (6 << 7).to_bytes(2, "big") + word(), 0)
    assert controlled.drain(0) == [(0, 6, word())]


# --- what is no frame -------------------------------------------------------------------------------------------------


def test_a_port_that_does_not_exist_is_named(controlled: SwitchTarget) -> None:
    for port in (-1, 511, 1 << 40):
        with pytest.raises(InputError, match=f"port {port}, expected 0 to 510"):
            controlled.inject(port, word(), 0)


def test_empty_and_endless_frames_are_lost_at_the_port(controlled: SwitchTarget) -> None:
    controlled.write([forward(1, 0, 9)])
    controlled.inject(1, b"", 0)
    controlled.inject(1, bytes(65_536), 0)
    controlled.inject(1, bytes(65_535), 0)
    assert controlled.drain(0) == [(0, 9, bytes(65_535))]


@pytest.mark.parametrize("frames", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_bytes_raise_nothing_and_go_nowhere(controlled: SwitchTarget, frames: int) -> None:
    generator = random.Random(frames)
    for place in range(frames):
        controlled.inject(generator.randrange(511), generator.randbytes(generator.randrange(120)), place // 100)
    # No entry forwards; what arrives on the CPU port says itself where it goes.
    assert {port for _, port, _ in controlled.drain(frames)} - set(range(512)) == set()
    controlled.write([forward(1, 2, 9)])
    controlled.inject(1, word(small=2), frames)
    assert controlled.drain(frames) == [(frames, 9, word(small=2))]


# --- several controllers ----------------------------------------------------------------------------------------------


def test_a_controller_with_a_higher_election_id_takes_over(controlled: SwitchTarget) -> None:
    with Client(controlled.address, election_id=(1, 0)) as other:
        other.insert([forward(1, 1, 1)])
        with pytest.raises(InputError, match="PERMISSION_DENIED"):
            controlled.write([forward(1, 2, 2)])
        with pytest.raises(InputError, match=r"found .*INVALID_ARGUMENT"):
            Client(controlled.address, election_id=(1, 0))
    with pytest.raises(InputError, match="another controller with a higher election id"):
        Client(controlled.address, election_id=(0, 0))
    controlled.write([forward(1, 2, 2)])
    assert len(client(controlled).read_table("port_exact")) == 2


def test_a_device_that_is_not_there_is_refused(controlled: SwitchTarget) -> None:
    with pytest.raises(InputError), Client(controlled.address, device_id=77) as other:
        other.read_tables()


def test_nobody_at_the_address_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"P4Runtime at 127.0.0.1:1: found UNAVAILABLE"):
        Client("127.0.0.1:1")


# --- programs ---------------------------------------------------------------------------------------------------------


def test_a_program_that_is_none_is_refused_and_the_old_one_runs_on(
    controlled: SwitchTarget, tmp_path: Path, control_plane_program: CompiledProgram
) -> None:
    broken = tmp_path / "broken.json"
    whole = control_plane_program.json_path.read_text(encoding="utf-8")
    controlled.write([forward(1, 2, 9)])
    for text, sentence in (
        ("nonsense", r"broken.json: found no list of pipelines, expected BMv2 JSON"),
        ('{"pipelines": 1}', r"broken.json: found no list of pipelines, expected BMv2 JSON"),
        (whole.replace('"mark_to_drop"', '"mark_to_keep"'), r"mark_to_keep.*expected"),
    ):
        broken.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=sentence):
            controlled.load(CompiledProgram("broken", broken, control_plane_program.p4info_path))
    with pytest.raises(InputError, match="a readable BMv2 JSON file"):
        controlled.load(CompiledProgram("gone", tmp_path / "gone.json", control_plane_program.p4info_path))
    controlled.inject(1, word(small=2), 0)
    assert controlled.drain(0) == [(0, 9, word(small=2))]


def test_loading_again_empties_tables_and_counters(
    controlled: SwitchTarget, control_plane_program: CompiledProgram
) -> None:
    controlled.write([forward(1, 2, 9)])
    controlled.inject(1, word(small=2), 0)
    controlled.drain(0)
    assert controlled.counters()
    controlled.load(control_plane_program)
    assert client(controlled).read_table("port_exact") == []
    assert controlled.counters() == {}


def test_the_port_state_of_another_program_is_named(controlled: SwitchTarget) -> None:
    with pytest.raises(InputError, match=r"table: found 'MrcIngress.admission.rx_port', expected one of"):
        controlled.set_port(1, True)


def test_a_port_goes_down_and_up(target: SwitchTarget) -> None:
    for up in (True, True, False, True):
        target.set_port(3, up)
        actions = {entry.table: entry.action for entry in target.control.client.read_tables()}
        assert all(action.endswith("up") == up for action in actions.values())
        assert len(actions) == 2


# --- JSON -------------------------------------------------------------------------------------------------------------

numbers = st.integers(0, 2**128)
names = st.text("abc.", min_size=1, max_size=3)
values = st.one_of(numbers, st.tuples(numbers, numbers))
any_entry = st.builds(
    TableEntry, names, names, st.dictionaries(names, values), st.dictionaries(names, numbers), numbers, st.booleans()
)


@given(names, any_entry)
def test_an_entry_survives_json(name: str, entry: TableEntry) -> None:
    text = json.dumps(entry_to_json(name, entry))
    assert entry_from_json(json.loads(text)) == (name, entry)


def test_the_json_of_an_entry_is_that_of_the_interfaces() -> None:
    entry = TableEntry("route_lpm", "mark", {"hdr.word.address": (ADDRESS, 48)}, {"odd": 1, "address": 2})
    assert entry_to_json("p0-t0-1", entry) == {
        "switch": "p0-t0-1",
        "table": "route_lpm",
        "match": {"hdr.word.address": ["0xfc000001000000000000000000000000", "0x30"]},
        "action": "mark",
        "params": {"odd": "0x1", "address": "0x2"},
        "priority": "0x0",
    }


FORM = {"switch": "s", "table": "t", "action": "a"}


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ([], r"x: found \[\], expected a JSON object"),
        (
            FORM | {"matches": {}},
            "x: found the key 'matches', expected one of action",
        ),
        ({"switch": "s", "action": "a"}, "x: table: found None, expected a name"),
        (FORM | {"match": []}, r"x: match: found \[\], expected a JSON object"),
        (
            FORM | {"match": {"k": 5}},
            "x: match.k: found 5, expected a number in hex",
        ),
        (
            FORM | {"match": {"k": ["0x1"]}},
            "x: match.k: found 1 numbers, expected one",
        ),
        (
            FORM | {"params": {"p": "12"}},
            "x: params.p: found '12', expected a number",
        ),
        (
            FORM | {"priority": "-0x1"},
            "x: priority: found '-0x1', expected a number",
        ),
        (FORM | {"default": 1}, "x: default: found 1, expected true or false"),
    ],
)
def test_json_that_is_wrong_is_named(form: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        entry_from_json(form, "x")


def test_a_control_plane_needs_no_target(controlled: SwitchTarget) -> None:
    with Client(controlled.address, election_id=(5, 0)) as other:
        plane = ControlPlane(other)
        plane.write([forward(1, 1, 1)])
        assert plane.counters() == {}
