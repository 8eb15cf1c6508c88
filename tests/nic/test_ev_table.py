"""States of EVs (mrc-facts.md 2.3), and which EV the next packet gets."""

from collections import Counter
from itertools import pairwise

import pytest

from pymodel.base.errors import InputError
from pymodel.nic.ev_table import EvState, EvTable
from pymodel.paths.ev import EvRecord

GOOD, SKIP, BAD, DENIED = EvState


def records(count, planes=2, first=0):
    return [EvRecord(first + i, i % planes, address=first + i + 1) for i in range(count)]


def take(table, count):
    return [table.next().ev for _ in range(count)]


def bring_to(table, slot, state):
    match state:
        case EvState.SKIP:
            table.skip_once(slot.ev)
        case EvState.ASSUMED_BAD:
            assert table.assume_bad(slot)
        case EvState.DENIED:
            table.set_denied(slot, True)


EVENTS = {
    "ECN mark or trim": lambda table, slot: table.skip_once(slot.ev),
    "loss": lambda table, slot: table.assume_bad(slot),
    "probes answered": lambda table, slot: table.restore(slot),
    "probes answered SKIP_ONCE": lambda table, slot: table.restore(slot, skip=True),
    "denied": lambda table, slot: table.set_denied(slot, True),
    "allowed": lambda table, slot: table.set_denied(slot, False),
    "its turn": lambda table, slot: take(table, 16),
}

TRANSITIONS = [
    (GOOD, "ECN mark or trim", SKIP),
    (GOOD, "loss", BAD),
    (GOOD, "probes answered", GOOD),
    (GOOD, "denied", DENIED),
    (GOOD, "its turn", GOOD),
    (SKIP, "ECN mark or trim", SKIP),
    (SKIP, "loss", BAD),
    (SKIP, "probes answered", SKIP),
    (SKIP, "denied", DENIED),
    (SKIP, "its turn", GOOD),
    (BAD, "ECN mark or trim", BAD),
    (BAD, "loss", BAD),
    (BAD, "probes answered", GOOD),
    (BAD, "probes answered SKIP_ONCE", SKIP),
    (BAD, "denied", DENIED),
    (BAD, "its turn", BAD),
    (DENIED, "ECN mark or trim", DENIED),
    (DENIED, "loss", DENIED),
    (DENIED, "probes answered", DENIED),
    (DENIED, "allowed", GOOD),
    (DENIED, "its turn", DENIED),
]


@pytest.mark.parametrize(("before", "event", "after"), TRANSITIONS, ids=[f"{a.name}, {b}" for a, b, _ in TRANSITIONS])
def test_transitions(before, event, after):
    table = EvTable(records(16), seed=1)
    slot = table.find(3)
    bring_to(table, slot, before)
    EVENTS[event](table, slot)
    assert slot.state is after
    assert (slot in table.retired) == (after is BAD)


def test_every_packet_takes_another_ev_and_planes_take_turns():
    table = EvTable(records(32), seed=7)
    for _ in range(20):
        rotation = take(table, 32)
        assert sorted(rotation) == list(range(32))
        assert all(a % 2 != b % 2 for a, b in pairwise(rotation))


def test_skip_misses_one_turn():
    table = EvTable(records(8), seed=1)
    take(table, 8)
    table.skip_once(5)
    assert sorted(take(table, 7)) == [0, 1, 2, 3, 4, 6, 7]
    assert sorted(take(table, 8)) == list(range(8))


def test_all_skipped_still_sends():
    table = EvTable(records(8), seed=1)
    take(table, 3)
    for ev in range(8):
        table.skip_once(ev)
    assert table.next() is not None


def test_avoided_ev_is_taken_only_when_no_other_is_left():
    table = EvTable(records(2, planes=1), seed=1)
    first, second = table.find(0), table.find(1)
    assert [table.next(avoid=first).ev for _ in range(10)] == [1] * 10
    table.set_denied(second, True)
    assert table.next(avoid=first) is first
    table.set_denied(first, True)
    assert table.next(avoid=first) is None


def test_ports_down_are_passed_over():
    table = EvTable(records(8), seed=1)
    table.set_port(1, up=False)
    assert {ev % 2 for ev in take(table, 50)} == {0}
    table.set_port(0, up=False)
    assert table.next() is None
    table.set_port(1, up=True)
    assert {ev % 2 for ev in take(table, 50)} == {1}


def test_a_backup_of_the_same_plane_takes_the_place_of_a_retired_ev():
    table = EvTable(records(8), seed=1, backups=records(4, first=100))
    assert table.assume_bad(table.find(2))
    counts = Counter(take(table, 80))
    assert counts == Counter(dict.fromkeys((0, 1, 3, 4, 5, 6, 7, 100), 10))
    table.restore(table.find(2))
    assert 2 not in take(table, 80), "it is a backup now"
    assert table.assume_bad(table.find(100))
    assert table.assume_bad(table.find(0))
    assert 2 in take(table, 80)


def test_the_floor_holds_in_each_plane():
    table = EvTable(records(16), seed=1)
    retired = [ev for ev in range(0, 16, 2) if table.assume_bad(table.find(ev))]
    assert len(retired) == 6, "a quarter of the eight EVs of plane 0 stays"
    assert Counter(ev % 2 for ev in take(table, 100)) == {0: 20, 1: 80}


@pytest.mark.parametrize(
    ("evs", "arguments"),
    [
        (records(2) + records(1), {}),
        ([], {}),
        (records(4), {"min_active": 5}),
        (records(4), {"backups": records(1)}),
    ],
    ids=["an EV twice", "no EV", "floor above the set", "a backup that is active"],
)
def test_bad_sets_are_refused(evs, arguments):
    with pytest.raises(InputError):
        EvTable(evs, seed=1, **arguments)
