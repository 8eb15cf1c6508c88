"""Exhaustive walks over small transfers: whatever happens, every byte lands once and every completion comes once."""

import pytest

from pymodel.base.time import US
from pymodel.nic import ev_table
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import PostReceive, PostWrite
from pymodel.paths.topology import Topology
from tests.nic.explorer import explore, start

MTU = 256
FULL = 12 + 4 + 16 + MTU + 4 + 40
BASE = 0x1000


class OneOrder(ev_table.EvOrder):
    """The same rotation for ever, so that states can meet again."""

    def rotation(self):
        return list(range(self._count))


def world_of(sizes, *, window, faults, first_psn, immediates=()):
    topology = Topology(planes=2, t0=1, t1=1, hosts_per_t0=2)
    devices = device_for(topology, "h0-0"), device_for(topology, "h0-1")
    connect(
        topology,
        End("h0-0", devices[0], 16, first_psn),
        End("h0-1", devices[1], 17, 0),
        evs=4,
        seed=1,
        settings=QpSettings(mtu=MTU, timestamps=False, ack_timeout=4, base_rtt_ps=8 * US, min_active_evs=4),
        congestion=lambda: FixedWindow(window * FULL),
    )
    region = devices[1].regions.register(BASE, sum(sizes) + 1)
    writes, offset = [], 0
    for wr_id, size in enumerate(sizes):
        data = bytes((wr_id + i) % 251 for i in range(size))
        immediate = wr_id if wr_id in immediates else None
        writes.append(PostWrite(16, wr_id, data, BASE + offset, region.r_key, immediate))
        offset += size
    return start(devices, faults, writes, [PostReceive(17, 100 + wr_id) for wr_id in immediates]), writes


WRAPS = (1 << 24) - 3
WALKS = [
    ("one message, window 4, no fault", [5 * MTU - 3], {"window": 4, "faults": 0}, 234),
    ("one message, window 2, no fault", [5 * MTU - 3], {"window": 2, "faults": 0}, 73),
    ("two messages, an immediate", [MTU, MTU + 1], {"window": 4, "faults": 0, "immediates": (1,)}, 107),
    ("three small messages, an immediate", [1, 0, 2], {"window": 4, "faults": 0, "immediates": (0,)}, 344),
    ("two packets, one fault", [2 * MTU], {"window": 4, "faults": 1}, 945),
]
LONG_WALKS = [
    ("three packets, window 2, one fault", [3 * MTU], {"window": 2, "faults": 1}, 4153),
    ("three packets, window 4, one fault", [3 * MTU], {"window": 4, "faults": 1}, 46124),
]
ROWS = [
    *(pytest.param(*row[1:], first_psn, id=f"{row[0]}, from {first_psn}") for row in WALKS for first_psn in (0, WRAPS)),
    *(pytest.param(*row[1:], WRAPS, id=row[0], marks=pytest.mark.slow) for row in LONG_WALKS),
]


@pytest.mark.parametrize(("sizes", "arguments", "states", "first_psn"), ROWS)
def test_s06_s08_every_interleaving(monkeypatch, sizes, arguments, states, first_psn):
    monkeypatch.setattr(ev_table, "EvOrder", OneOrder)
    world, writes = world_of(sizes, first_psn=first_psn, **arguments)
    expected = b"".join(write.data for write in writes)
    immediates = arguments.get("immediates", ())
    rests = 0

    def check(state):
        requester = state.devices[0].qp(16).requester
        assert requester.window.inflight >= 0
        addresses = [address for address, _ in state.placed]
        assert len(set(addresses)) == len(addresses), "placed once"
        for done in state.completed:
            assert len({c.wr_id for c in done}) == len(done), "completed once"
            assert {c.status for c in done} <= {"success"}
        for c in state.completed[0]:
            landed = sum(len(data) for address, data in state.placed if covers(writes[c.wr_id], address))
            assert landed == len(writes[c.wr_id].data), "completed after every byte has landed"
        received = [c.immediate for c in state.completed[1]]
        assert received == sorted(received)
        for immediate in received:
            before = sum(len(write.data) for write in writes[: immediate + 1])
            landed = sum(len(data) for address, data in state.placed if address < BASE + before)
            assert landed == before, "an immediate comes after all that was sent before it"

    def at_rest(state):
        nonlocal rests
        rests += 1
        image = bytearray(len(expected))
        for address, data in state.placed:
            image[address - BASE : address - BASE + len(data)] = data
        assert bytes(image) == expected
        assert sorted(c.wr_id for c in state.completed[0]) == list(range(len(writes)))
        assert [c.immediate for c in state.completed[1]] == list(immediates)
        requester = state.devices[0].qp(16).requester
        assert (requester.window.inflight, requester.busy) == (0, False)

    walked = explore(world, check, at_rest)
    print(f"{walked} states, {rests} of them at rest")
    # The exact number says that nothing was cut off; it changes when the protocol does, and never with the first PSN.
    assert walked == states
    assert rests > 0


def covers(write, address):
    return write.remote_address <= address < write.remote_address + len(write.data)
