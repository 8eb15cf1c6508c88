"""Tables and action profiles as a control plane meets them: what is refused, by what name, and nothing half done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pymodel.switch.engine import Engine, MeterRates, Table, TableError
from tests.switch.programs.case import compiled

FIRST, SECOND, THIRD, FOURTH, FIFTH = (f"hdr.keys.{name}" for name in ("first", "second", "third", "fourth", "fifth"))


@pytest.fixture
def engine() -> Engine:
    return Engine(compiled("match_kinds").json_path.read_bytes())


def table(engine: Engine, name: str) -> Table:
    return engine.tables[f"In.{name}"]


def ask(engine: Engine, number: int, first: int, second: int = 0, rest: int = 0) -> int:
    """The value that table `number` of the program answers."""
    data = bytes([number]) + first.to_bytes(2, "big") + second.to_bytes(2, "big") + rest.to_bytes(2, "big")
    engine.inject(0, data, 0)
    ((_, _, out),) = engine.drain(0)
    return int.from_bytes(out[:2], "big")


def test_the_program_s_own_tables_are_all_there_is(engine: Engine) -> None:
    """Tables that p4c makes for statements are not the control plane's."""
    assert set(engine.tables) == {
        f"In.{name}"
        for name in (
            *("exact_one", "exact_many", "longest", "longest_with_exact", "masked", "mixed", "ranged"),
            *("static_entries", "sliced", "keyless"),
        )
    }


@pytest.mark.parametrize(
    ("change", "problem", "sentence"),
    [
        (lambda t: t.insert({FIRST: 0x10000}, "In.answer", [1]), "invalid", r"exact_one, key hdr.keys.first.*16 bits"),
        (lambda t: t.insert({FIRST: -1}, "In.answer", [1]), "invalid", "a value of 16 bits"),
        (lambda t: t.insert({FIRST: (1, 2)}, "In.answer", [1]), "invalid", "a match of kind exact"),
        (lambda t: t.insert({}, "In.answer", [1]), "invalid", "no value.*the key is exact"),
        (lambda t: t.insert({"first": 1}, "In.answer", [1]), "invalid", "key first.*one of hdr.keys.first"),
        (lambda t: t.insert({FIRST: 1}, "In.nothing", []), "invalid", "action 'In.nothing'.*In.answer, In.port"),
        (lambda t: t.insert({FIRST: 1}, "In.answer", []), "invalid", "0 arguments for In.answer"),
        (lambda t: t.insert({FIRST: 1}, "In.answer", [1 << 16]), "invalid", "parameter value.*16 bits"),
        (lambda t: t.insert({FIRST: 1}, "In.port", [512]), "invalid", "parameter number.*9 bits"),
        (lambda t: t.insert({FIRST: 1}, "In.answer", [1], 5), "invalid", "priority 5"),
        (lambda t: t.insert({FIRST: 1}, member=0), "invalid", "no action profile"),
        (lambda t: t.modify(7, "In.drop"), "missing", "handle 7"),
        (lambda t: t.delete(7), "missing", "handle 7"),
        (lambda t: t.get(-1), "missing", "handle -1"),
        (lambda t: t.handle({FIRST: 9}), "missing", "no entry for"),
        (lambda t: t.set_default("In.nothing"), "invalid", "In.nothing"),
        (lambda t: t.set_meter(0, None), "invalid", "no direct meter"),
    ],
)
def test_refusals(engine: Engine, change: Callable[[Table], object], problem: str, sentence: str) -> None:
    chosen = table(engine, "exact_one")
    with pytest.raises(TableError, match=sentence) as caught:
        change(chosen)
    assert caught.value.problem == problem
    assert list(chosen.entries()) == []
    assert ask(engine, 1, 1) == 0xE001


@pytest.mark.parametrize(
    ("name", "match", "priority", "sentence"),
    [
        ("longest", {FIRST: (0x1201, 8)}, 0, "0x1201 under mask 0xff00"),
        ("longest", {FIRST: (0x1200, 17)}, 0, "values of 16 bits"),
        ("longest", {FIRST: 0x1200}, 0, "a match of kind lpm"),
        ("longest", {FIRST: (0, 0)}, 3, "priority 3"),
        ("masked", {FIRST: (0x12, 0x10)}, 1, "0x12 under mask 0x10"),
        ("masked", {FIRST: (0x12, 0x1FFFF)}, 1, "values of 16 bits"),
        ("masked", {}, 0, "priority 0"),
        ("masked", {}, 1 << 31, "priority 2147483648"),
        ("ranged", {FIRST: (2, 1), "hdr.extra.value": 0}, 1, "a range from low to high"),
        ("ranged", {FIRST: 2, "hdr.extra.value": 0}, 1, "a match of kind range"),
        ("mixed", {THIRD: 0, FIFTH: 0x10}, 1, "a value of 4 bits"),
    ],
)
def test_refused_matches(
    engine: Engine, name: str, match: dict[str, int | tuple[int, int]], priority: int, sentence: str
) -> None:
    with pytest.raises(TableError, match=sentence):
        table(engine, name).insert(match, "In.answer", [1], priority)


def test_duplicates_are_by_match_and_priority(engine: Engine) -> None:
    chosen = table(engine, "masked")
    chosen.insert({FIRST: (0x10, 0xFF)}, "In.answer", [1], 5)
    with pytest.raises(TableError) as caught:
        chosen.insert({FIRST: (0x10, 0xFF), SECOND: (0, 0)}, "In.drop", [], 5)
    assert caught.value.problem == "duplicate"
    chosen.insert({FIRST: (0x10, 0xFF)}, "In.answer", [2], 6)
    assert ask(engine, 5, 0x10) == 2


def test_a_full_table_takes_no_more_until_one_goes(engine: Engine) -> None:
    chosen = table(engine, "exact_one")
    handles = [chosen.insert({FIRST: number}, "In.answer", [number]) for number in range(chosen.max_size)]
    with pytest.raises(TableError) as caught:
        chosen.insert({FIRST: 999}, "In.answer", [1])
    assert caught.value.problem == "full"
    chosen.delete(handles[3])
    assert chosen.insert({FIRST: 999}, "In.answer", [1]) == handles[3]
    assert ask(engine, 1, 3) == 0xE001
    assert ask(engine, 1, 999) == 1


def test_constant_entries_and_defaults_stay(engine: Engine) -> None:
    static = table(engine, "static_entries")
    for change in (
        lambda: static.insert({FIRST: 9}, "In.answer", [1], 1),
        lambda: static.delete(0),
        lambda: static.modify(0, "In.answer", [9]),
        lambda: table(engine, "longest_with_exact").set_default("In.answer", [1]),
    ):
        with pytest.raises(TableError) as caught:
            change()
        assert caught.value.problem == "constant"
    assert [entry.arguments for entry in static.entries()] == [(1,), (2,), (3,), (4,)]
    static.set_default("In.answer", [77])
    assert ask(engine, 8, 5) == 77


def test_modify_keeps_the_entry_and_takes_effect_at_once(engine: Engine) -> None:
    chosen = table(engine, "longest")
    handle = chosen.insert({FIRST: (0x1200, 8)}, "In.answer", [1])
    assert ask(engine, 3, 0x1234) == 1
    chosen.modify(handle, "In.answer", [2])
    assert ask(engine, 3, 0x1234) == 2
    entry = chosen.get(handle)
    assert (entry.action, entry.arguments, chosen.match_of(entry)) == ("In.answer", (2,), {FIRST: (0x1200, 8)})
    assert chosen.handle({FIRST: (0x1200, 8)}) == handle


def test_clear_leaves_what_the_program_brought(engine: Engine) -> None:
    for name in ("exact_one", "static_entries"):
        table(engine, name).set_default("In.answer", [5])
    table(engine, "exact_one").insert({FIRST: 1}, "In.drop")
    for each in engine.tables.values():
        each.clear()
    assert ask(engine, 1, 1) == 0xE001
    assert ask(engine, 8, 9) == 0xE008
    assert table(engine, "static_entries").size == 4


def test_priorities_of_static_entries_are_those_that_bmv2_shows(engine: Engine) -> None:
    """2**31 - 1 less the number of the JSON, so that the larger wins for a controller."""
    priorities = [entry.priority for entry in table(engine, "static_entries").entries()]
    assert priorities == sorted(priorities, reverse=True)
    assert priorities[0] == 2**31 - 2


def test_direct_counters_belong_to_entries() -> None:
    engine = Engine(compiled("counters").json_path.read_bytes())
    kinds = engine.tables["In.kinds"]
    handle = kinds.insert({"hdr.i.kind": 1}, "In.forward", [2])
    for _ in range(3):
        engine.inject(0, bytes([1, 0, 0, 9, 9]), 0)
    engine.inject(0, bytes([2, 0, 0]), 0)
    entry = kinds.get(handle)
    assert kinds.has_counters
    assert (entry.packets, entry.bytes) == (3, 15)
    kinds.modify(handle, "In.grow")
    assert (entry.packets, entry.bytes) == (3, 15)
    kinds.delete(handle)
    assert (kinds.get(kinds.insert({"hdr.i.kind": 1}, "In.grow")).packets) == 0


def test_direct_meter_rates() -> None:
    engine = Engine(compiled("meters").json_path.read_bytes())
    kinds = engine.tables["In.kinds"]
    handle = kinds.insert({"hdr.i.kind": 1}, "In.look")
    kinds.set_meter(handle, MeterRates(1, 1, 1, 1))
    assert kinds.get(handle).meter.rates == MeterRates(1, 1, 1, 1)
    kinds.set_meter(handle, None)
    assert kinds.get(handle).meter.rates is None


class TestProfiles:
    @pytest.fixture
    def engine(self) -> Engine:
        return Engine(compiled("selector").json_path.read_bytes())

    def test_what_is_in_use_stays(self, engine: Engine) -> None:
        profile, grouped = engine.profiles["In.chooser"], engine.tables["In.grouped"]
        first, second = (profile.add_member("In.tell", [number]) for number in (1, 2))
        group = profile.create_group([first])
        entry = grouped.insert({"hdr.i.table_key": 1}, group=group)
        for change in (lambda: profile.delete_member(first), lambda: profile.delete_group(group)):
            with pytest.raises(TableError, match="in use"):
                change()
        profile.set_group(group, [second])
        profile.delete_member(first)
        grouped.modify(entry, member=second)
        profile.delete_group(group)
        grouped.delete(entry)
        profile.delete_member(second)
        assert (profile.members, profile.groups) == ({}, {})

    def test_refused_insertions_hold_no_reference(self, engine: Engine) -> None:
        profile, grouped = engine.profiles["In.chooser"], engine.tables["In.grouped"]
        member = profile.add_member("In.tell", [1])
        grouped.insert({"hdr.i.table_key": 1}, member=member)
        with pytest.raises(TableError, match="second entry"):
            grouped.insert({"hdr.i.table_key": 1}, member=member)
        grouped.delete(grouped.handle({"hdr.i.table_key": 1}))
        profile.delete_member(member)

    def test_an_empty_group_does_nothing(self, engine: Engine) -> None:
        group = engine.profiles["In.chooser"].create_group()
        engine.tables["In.grouped"].insert({"hdr.i.table_key": 1}, group=group)
        engine.inject(0, bytes([1, 0, 0, 0, 0, 0, 0]), 0)
        ((_, _, out),) = engine.drain(0)
        assert out[:3].hex() == "000001"

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda e: e.profiles["In.profile"].create_group(), "no selector"),
            (lambda e: e.profiles["In.chooser"].create_group([5]), "member 5"),
            (lambda e: e.profiles["In.chooser"].add_member("In.other"), "action 'In.other'"),
            (lambda e: e.profiles["In.chooser"].add_member("In.tell", [1 << 16]), "16 bits"),
            (lambda e: e.tables["In.grouped"].insert({"hdr.i.table_key": 1}, "In.tell", [1]), "a member or a group"),
            (lambda e: e.tables["In.grouped"].insert({"hdr.i.table_key": 1}), "a member or a group"),
            (lambda e: e.tables["In.grouped"].set_default("In.tell", [1]), "action profile"),
        ],
    )
    def test_refusals(self, engine: Engine, change: Callable[[Engine], object], sentence: str) -> None:
        with pytest.raises(TableError, match=sentence):
            change(engine)

    def test_a_profile_has_a_size(self, engine: Engine) -> None:
        profile = engine.profiles["In.profile"]
        for number in range(profile.max_size):
            profile.add_member("In.tell", [number])
        with pytest.raises(TableError) as caught:
            profile.add_member("In.drop")
        assert caught.value.problem == "full"
