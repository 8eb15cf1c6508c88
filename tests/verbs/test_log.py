"""The log of a device that software drives through the API: every call that changes it is in there."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from pymodel.base.errors import InputError
from pymodel.nic.congestion import FixedWindow, NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.events import PortChange
from pymodel.nic.lifecycle import QpState
from pymodel.nic.log import Recorder, Replay, replay
from pymodel.paths.ev import EvRecord
from pymodel.verbs.adapter import Adapter
from pymodel.verbs.application import destroy_qp, modify_qp
from pymodel.verbs.controller import modify_port
from pymodel.verbs.endpoint import EpRequest, ep_batch_send
from pymodel.verbs.ev_profile import Ev
from pymodel.verbs.memory import dereg_mr, reg_mr
from pymodel.verbs.queue_pair import QpAttr
from pymodel.wire.spec import EndpointOp
from tests.verbs.pair import BASE, Pair, Side


def recording(side: Side) -> io.StringIO:
    """Begin anew with a device that keeps a log, before anything is made on it."""
    file, old = io.StringIO(), side.adapter
    side._open(
        Adapter(
            Recorder(Device(old.device.config), file), side.memory, find_paths=old.find_paths, settings=old.settings
        )
    )
    return file


def played() -> tuple[Pair, list[list[str]]]:
    """Two QPs' lives with losses, a region that goes, a port that flaps, probes, an error, a reset; and the logs."""
    count = iter(range(10**6))
    pair = Pair(loss=lambda sender, data: next(count) % 7 == 3)
    files = [recording(side) for side in pair.sides]
    here, there = pair.connect(psns=((1 << 24) - 3, 5))
    for wr_id in range(4):
        pair.receive(1, there, wr_id)
    pair.sides[0].memory.data[:5000] = bytes(i % 251 for i in range(5000))
    for wr_id in range(4):
        pair.write(0, here, 0, 5000, wr_id=wr_id, imm=wr_id if wr_id % 2 else None)
    pair.run(for_ps=10**7)
    for up in (False, True):
        pair.give(0, PortChange(1, up))
    modify_port(pair.sides[1].context, 1, enabled=False, now_ps=pair.now_ps)
    pair.settle(1)
    modify_port(pair.sides[1].context, 1, enabled=True, now_ps=pair.now_ps)
    pair.settle(1)
    pair.run()
    record = here.core.config.evs[0]
    ep_batch_send(
        pair.sides[0].context,
        EndpointOp.EV_PROBE,
        [EpRequest(1, pair.sides[1].address, Ev.of(record))],
        1_000_000,
        pair.now_ps,
    )
    pair.settle(0)
    pair.sides[0].adapter.deny(here, record.ev, pair.now_ps, denied=True)
    pair.write(0, here, 0, 3000, wr_id=7)
    pair.run()
    gone = reg_mr(pair.sides[1].context, BASE, 64)
    dereg_mr(gone)
    pair.write(0, here, 0, 10, wr_id=8, rkey=gone.rkey)
    pair.run()
    assert (here.state, there.state) == (QpState.ERROR, QpState.ERROR)
    for who, qp in enumerate((here, there)):
        modify_qp(qp, QpAttr(state=QpState.RESET), pair.now_ps)
        pair.settle(who)
    pair.connect(qps=(here, there))
    pair.write(0, here, 0, 5000, wr_id=9)
    pair.run()
    for side in pair.sides:
        side.context.events.clear()
    for who, qp in enumerate((here, there)):
        qp.unacknowledged = 0
        destroy_qp(qp)
        pair.settle(who)
    return pair, [file.getvalue().splitlines() for file in files]


def test_a_replay_does_all_that_the_api_did() -> None:
    pair, logs = played()
    assert pair.sides[1].memory.data[:5000] == pair.sides[0].memory.data[:5000]
    kinds = set()
    for lines in logs:
        assert json.loads(lines[0])["qps"] == json.loads(lines[0])["regions"] == []
        events = [json.loads(line)["event"] for line in lines if '"event":' in line]
        assert replay(lines) == Replay(len(events), len(lines) - 1 - len(events), None)
        kinds |= set(events)
    calls = {"CreateQp", "ModifyQp", "DestroyQp", "RegisterRegion", "DeregisterRegion"}
    assert kinds == calls | {
        *("FrameIn", "TimerFired", "PostWrite", "PostReceive", "PostEndpointRequest", "PortChange", "Command")
    }


def test_a_call_that_is_missing_is_noticed() -> None:
    """Take any one step of a sender's life out of the log, and the replay differs, or refuses what builds on it."""
    _, (lines, _) = played()
    places = [i for i, line in enumerate(lines) if '"event":"' in line and json.loads(line)["event"] in NOTICED]
    assert len(places) > 8
    for place in places:
        found = replay(lines[:place] + lines[place + 1 :])
        assert found.difference is not None, lines[place]


NOTICED = ("CreateQp", "ModifyQp")


def test_refused_calls_leave_no_line_and_no_change() -> None:
    side = Pair().sides[0]
    file = recording(side)
    device = side.adapter.device
    qp = side.qp()
    before = file.getvalue()
    for call in (
        lambda: device.create_qp(qp.qpn),
        lambda: device.modify_qp(qp.qpn, QpState.RTS),
        lambda: device.modify_qp(qp.qpn, QpState.INIT, hint=0, evs=(), congestion=NoCongestionControl()),
        lambda: device.modify_qp(qp.qpn, QpState.INIT, hint=0, evs=(EvRecord(1, 0, 2),), congestion=Clever()),
        lambda: device.destroy_qp(9999),
        lambda: device.regions.deregister(0x7700),
        lambda: device.regions.register(0, 0),
        lambda: device.handle(PortChange(9, up=False), 0),
    ):
        with pytest.raises(InputError):
            call()
    assert file.getvalue() == before
    assert qp.state is QpState.RESET


class Clever(FixedWindow):
    """A controller with a state of its own, which no log keeps."""

    def __init__(self) -> None:
        super().__init__(5)


def test_a_time_that_a_call_does_not_name_is_that_of_the_last_event() -> None:
    side = Pair().sides[0]
    file = recording(side)
    side.adapter.handle(PortChange(0, up=False), 7000)
    side.adapter.device.create_qp(99)
    assert json.loads(file.getvalue().splitlines()[-1]) == {"t": 7000, "event": "CreateQp", "qpn": 99}


@pytest.mark.parametrize(
    "line",
    [
        {"event": "CreateQp"},
        {"event": "ModifyQp", "qpn": 3, "to": "WARP", "attributes": {}},
        {"event": "ModifyQp", "qpn": 3, "to": "INIT", "attributes": {"colour": 1}},
        {"event": "RegisterRegion", "r_key": "x", "address": 0, "length": 1},
    ],
)
def test_calls_that_are_none_are_refused(line: dict[str, object]) -> None:
    file = recording(Pair().sides[0])
    head = file.getvalue().splitlines()[0]
    with pytest.raises(InputError, match="line 2"):
        replay([head, json.dumps({"t": 0, **line})])


def test_a_call_that_the_model_refuses_is_a_difference() -> None:
    head = recording(Pair().sides[0]).getvalue().splitlines()[0]
    found = replay([head, json.dumps({"t": 0, "event": "DestroyQp", "qpn": 3})])
    assert found == replace(found, events=0, actions=0)
    assert found.difference is not None
    assert "line 2: the replay refused the DestroyQp" in found.difference
