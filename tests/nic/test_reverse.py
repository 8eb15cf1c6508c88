"""The way back: planes in turn, one EV each, kept good by what is heard (mrc-facts.md 2.7)."""

import pytest

from pymodel.base.time import US
from pymodel.nic.config import QpSettings
from pymodel.nic.ev_table import EvTable
from pymodel.nic.reverse import NEVER_PS, ReversePaths
from pymodel.paths.ev import EvRecord
from pymodel.wire.spec import EndpointOp, Opcode
from tests.nic.harness import DELAY, Pair
from tests.nic.peer import OWN_QPN, device, endpoint_response, frames, sack, write
from tests.nic.test_requester import post

RTT = 10 * US


def paths(planes=3, count=9):
    table = EvTable([EvRecord(i, i % planes, address=i + 1) for i in range(count)], seed=1)
    return table, ReversePaths(table, RTT)


def test_planes_take_turns_with_one_ev_each():
    table, reverse = paths()
    assert [reverse.next().ev for _ in range(6)] == [0, 1, 2, 0, 1, 2]
    table.set_port(1, up=False)
    assert [reverse.next().port for _ in range(4)] == [0, 2, 0, 2]
    for port in (0, 2):
        table.set_port(port, up=False)
    assert reverse.next() is None
    table.set_port(1, up=True)
    assert reverse.next().port == 1


def test_what_came_through_is_taken():
    table, reverse = paths()
    reverse.learn(table.find(7))
    assert sorted(reverse.next().ev for _ in range(3)) == [0, 2, 7]


def test_a_denied_ev_is_replaced_in_its_plane():
    table, reverse = paths()
    table.set_denied(table.find(1), True)
    assert sorted(reverse.next().ev for _ in range(3)) == [0, 2, 4]
    for ev in (4, 7):
        table.set_denied(table.find(ev), True)
    assert sorted(reverse.next().ev for _ in range(2)) == [0, 2]


def test_other_walks_over_the_evs_of_a_plane():
    _, reverse = paths()
    assert [reverse.other(2).ev for _ in range(4)] == [5, 8, 2, 5]
    assert reverse.other(3) is None
    assert reverse.current(3) is None


ROUND_TRIPS = [
    ("the first packet", [0], []),
    ("within a round trip", [0, 1, 9], []),
    ("once a round trip", [0, 10, 15, 20, 29, 30], [10, 20, 30]),
    ("after a pause", [0, 1000], [1000]),
]


@pytest.mark.parametrize(("times", "probes"), [row[1:] for row in ROUND_TRIPS], ids=[row[0] for row in ROUND_TRIPS])
def test_inbound_data_without_outbound_data_is_probed_for(times, probes):
    _, reverse = paths()
    assert [at for at in times if reverse.data_came_in(at * US) is not None] == probes


def test_outbound_data_needs_no_probe():
    _, reverse = paths()
    reverse.data_came_in(0)
    reverse.data_went_out()
    assert reverse.data_came_in(10 * US) is None
    assert reverse.data_came_in(20 * US) is not None, "a round trip later there was none"


def test_a_probe_that_is_not_answered_is_given_up_in_the_end():
    _, reverse = paths()
    reverse.data_came_in(0)
    assert reverse.data_came_in(RTT) is not None
    reverse.probe_id = 3
    asked = [i for i in range(2, 40) if reverse.data_came_in(i * RTT) is not None]
    assert asked == [18, 35]


def test_an_answered_probe_changes_the_ev_of_its_plane():
    nic = device(receive_psn=0, base_rtt_ps=RTT)
    nic.regions.register(0x7F00_0000_1000, 1 << 20)
    nic.handle(write(0, b"x"), 0)
    (frame,) = [f for f in frames(nic.handle(write(1, b"x", msn=1), RTT)) if f.opcode == Opcode.ENDPOINT_REQUEST]
    assert frame.erth.op == EndpointOp.EV_PROBE
    nic.handle(endpoint_response(EndpointOp.EV_PROBE, frame.psn), RTT + 1)
    used = set()
    for psn in range(2, 6):
        actions = nic.handle(write(psn, b"x", msn=psn, bth={"ack_req": 1}), RTT + 2)
        used |= {f.ev for f in frames(actions)}
    assert frame.ev in used
    assert len(used) == 2


def test_sacks_of_own_data_tell_the_way_back():
    nic = device(receive_psn=0, send_psn=0)
    nic.regions.register(0x7F00_0000_1000, 1 << 20)
    (sent,) = frames(post(nic, 10))
    nic.handle(sack(0, entropy=sent.ev), 10)
    used = set()
    for psn in range(4):
        used |= {f.ev for f in frames(nic.handle(write(psn, b"", msn=psn, bth={"ack_req": 1}), 20))}
    assert sent.ev in used


def test_probes_can_be_turned_off():
    nic = device(receive_psn=0, base_rtt_ps=RTT, reverse_probes=False)
    nic.regions.register(0x7F00_0000_1000, 1 << 20)
    for i in range(5):
        actions = nic.handle(write(i, b"x", msn=i), i * RTT)
        assert Opcode.ENDPOINT_REQUEST not in [f.opcode for f in frames(actions)]
    assert nic.qp(OWN_QPN).responder.reverse.due_ps == NEVER_PS


def test_a_dead_way_back_heals_within_a_few_round_trips():
    """The first EV of each plane of the way back is dead; data flows one way only."""
    dead = set()

    def lose_dead(sender, frame, data):
        return [] if sender == 1 and frame.ev in dead else [(DELAY, data)]

    pair = Pair(lose_dead, settings=QpSettings(base_rtt_ps=2 * DELAY, mpr_units=1), memory=1 << 20)
    reverse = pair.peer.responder.reverse
    dead |= {reverse.current(port).ev for port in (0, 1)}
    for wr_id in range(8):
        pair.write(bytes(1 << 17), wr_id=wr_id, offset=wr_id << 17)
    pair.run()
    assert len(pair.completions[0]) == 8
    assert not dead & {reverse.current(port).ev for port in (0, 1)}
