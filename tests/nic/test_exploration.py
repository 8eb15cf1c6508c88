"""Exhaustive walks over small transfers: whatever happens, every byte lands once and every completion comes once."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from pymodel.bench.nightly import report_figure
from pymodel.nic.delivery import Delivery
from pymodel.nic.ev_table import EvTable
from pymodel.nic.receive_window import ArrivalClass, ReceiveWindow
from pymodel.nic.requester import Requester
from pymodel.nic.send_window import PacketState, SendWindow
from pymodel.nic.timer import Timer
from pymodel.wire.parser import parse
from pymodel.wire.serial import PSN
from pymodel.wire.spec import Opcode
from tests.nic.explorer import abstraction
from tests.nic.small_worlds import LONG_WALKS, MTU, PROBES, WALKS, WRAPS, Small, explore, recorded, world_of
from tests.nic.state import Shelf, canonical, fields_of, reached

ROWS = [(small, first_psn) for small in WALKS for first_psn in (WRAPS, 0) if small not in LONG_WALKS or first_psn]


@pytest.mark.slow
@pytest.mark.parametrize(("small", "first_psn"), ROWS, ids=[f"{row[0].name}, from {row[1]}" for row in ROWS])
def test_s06_s08_l07_every_interleaving(small, first_psn):
    """The numbers say that nothing was cut off; they change with the protocol and never with the first PSN."""
    walk = explore(small, first_psn)
    assert asdict(walk) == recorded()[small.name], "after a change of the protocol: python -m tests.nic.small_worlds"
    assert walk.rests > 0


def test_more_than_100_000_states_are_walked(record_property):
    assert list(recorded()) == [small.name for small in WALKS]
    states = sum(recorded()[small.name]["states"] for small, _ in ROWS)
    record_property("print", f"NIC model: {states:,} states of {len(ROWS)} small transfers explored")
    assert states > 100_000


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_s06_s08_five_million_states():
    states = 0
    for small in LONG_WALKS:
        walks = [explore(small, first_psn) for first_psn in (0, WRAPS)]
        assert walks[0] == walks[1], small.name
        report_figure(f"states of {small.name}", walks[0].states)
        states += 2 * walks[0].states
    report_figure("explored states", states)
    assert states >= 5_000_000


# Can the walk see what it looks for? Each row plants a fault in the model.


def no_duplicates(monkeypatch):
    classify = ReceiveWindow.classify

    def forgetful(self, psn):
        kind = classify(self, psn)
        return ArrivalClass.NEW if kind is ArrivalClass.DUPLICATE else kind

    monkeypatch.setattr(ReceiveWindow, "classify", forgetful)


def early_immediates(monkeypatch):
    advance = Delivery.advance
    monkeypatch.setattr(Delivery, "advance", lambda self, cack_psn, out: advance(self, PSN.add(cack_psn, 9), out))


def counted_twice(monkeypatch):
    """S08: an acknowledgement of a packet that waits to be sent again takes it out of the flight once more."""
    acknowledge = SendWindow.acknowledge

    def careless(self, *told):
        lost = [packet for packet in self._packets.values() if packet.state is PacketState.LOST]
        newly = acknowledge(self, *told)
        self.inflight -= sum(packet.size for packet in lost if packet.state is PacketState.ACKNOWLEDGED)
        return newly

    monkeypatch.setattr(SendWindow, "acknowledge", careless)


def plain_integers(monkeypatch):
    """L07: PSNs compared as integers."""
    monkeypatch.setattr(SendWindow, "index", lambda self, psn: psn - self._first_psn)


def no_timeout(monkeypatch):
    monkeypatch.setattr(Requester, "_watch", lambda self, now_ps, out: None)


def restless_timer(monkeypatch):
    """A timer that sets itself again for the same moment."""

    def again(self, event, now_ps, out):
        self._set_for_ps = None
        self.start(now_ps, out)
        return False

    monkeypatch.setattr(Timer, "fired", again)


def wrong_packet(monkeypatch):
    """What is sent again is always the first packet of its message."""
    next_lost = SendWindow.next_lost

    def first_again(self):
        packet = next_lost(self)
        if packet is not None:
            packet.number = 0
        return packet

    monkeypatch.setattr(SendWindow, "next_lost", first_again)


PLANTED = [
    (no_duplicates, Small("", (2 * MTU,), 4, 1), WRAPS, "placed once"),
    (early_immediates, Small("", (2 * MTU, 1), 4, 0, (1,)), WRAPS, "an immediate comes after all that was sent before"),
    (counted_twice, Small("", (2 * MTU,), 4, 2, shrinks=True), 0, "less than nothing in flight"),
    (plain_integers, Small("", (4 * MTU,), 4, 0), WRAPS, "the QP fails"),
    (no_timeout, Small("", (MTU,), 4, 1), 0, "the sender comes to rest"),
    (restless_timer, Small("", (2 * MTU,), 4, 1), 0, "goes round in circles"),
    (wrong_packet, Small("", (2 * MTU,), 4, 1), 0, "placed once"),
]


@pytest.mark.parametrize(("plant", "small", "first_psn", "what"), PLANTED, ids=[row[0].__name__ for row in PLANTED])
def test_a_planted_fault_is_found(monkeypatch, plant, small, first_psn, what):
    plant(monkeypatch)
    with pytest.raises(AssertionError, match=what) as caught:
        explore(small, first_psn)
    assert caught.value.__notes__[0].startswith("start")


def test_the_worlds_with_probes_have_each_kind_and_evs_that_come_back(monkeypatch):
    """Tail probes, EV probes, reliability probes, their answers, and what three good answers do."""
    back, restore = [], EvTable.restore
    monkeypatch.setattr(EvTable, "restore", lambda self, slot, skip: back.append(slot) or restore(self, slot, skip))
    opcodes = []
    for small in (Small("", (MTU, 1), 4, 1, (1,), **PROBES), Small("", (1,), 4, 2, evs=4, retires=True)):
        world = world_of(small, WRAPS)
        world.explore(small.faults)
        opcodes.append({parse(data).opcode for _, data in world._frames})
    probed = {Opcode.PROBE_REQUEST, Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE, Opcode.SACK}
    assert probed <= opcodes[0]
    assert Opcode.PROBE_REQUEST in opcodes[1]
    assert back


# What the walk rests on


def walked(steps, small=Small("", (2 * MTU, 1), 4, 2, (1,))):  # noqa: B008
    """A world, and the state after `steps` moves: now the first move, now the last."""
    world = world_of(small, WRAPS)
    state = world.start(small.faults)
    for step in range(steps):
        moves = [each for _, each in world.successors(state)]
        if not moves:
            break
        state = moves[0 if step % 3 else -1]
    return world, state


@pytest.mark.parametrize("steps", range(0, 16, 3))
def test_a_copy_is_equal_to_what_it_was_taken_from(steps):
    world, (_, *numbers, _) = walked(steps)
    for ends, number in zip(world.ends, numbers, strict=True):
        end = ends.ends[number]
        shelf = ends._shelf
        values = []
        for _ in range(2):
            device = shelf.unpack(end.packed)
            values.append(canonical(device, now_ps=end.now_ps, fixed=shelf.fixed))
            assert isinstance(shelf, Shelf)
        assert values[0] == values[1]
        assert shelf.unpack(end.packed) is not device


def test_states_are_told_apart_by_everything_but_the_time_itself():
    """Two histories that differ in one event differ in state; the same history later does not."""
    (world, state), (_, other) = walked(3), walked(4)
    assert state != other
    sender = world.ends[0]
    assert sender.age(state[1], 0) == state[1]
    later = sender.age(state[1], 1_000)
    assert later != state[1], "a deadline is nearer"
    assert sender.age(later, 1_000) == sender.age(state[1], 2_000)


def test_every_field_of_the_abstraction_exists():
    world, state = walked(5)
    end = world.ends[0].ends[state[1]]
    device = world.ends[0]._shelf.unpack(end.packed)
    names = {f"{type(each).__name__}.{name}" for each in reached(device) for name in fields_of(each)}
    assert set(abstraction(device)) <= names
