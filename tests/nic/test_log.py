"""The log of a device, and its replay."""

import io
import json
from itertools import pairwise

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import US
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.log import Recorder, Replay, replay
from pymodel.wire.spec import EETH_OP_54, UDP_PORT_ROCE_V2, DscpMap, WireOptions
from tests.nic.harness import HERE_QPN, Pair, Weather


def recorded(**arguments):
    """Logs of both ends of a transfer in bad weather."""
    pair = Pair(
        Weather(seed=9, loss=0.1, duplicate=0.1, jitter=2 * US),
        settings=QpSettings(mtu=512, ack_timeout=4),
        congestion=lambda: FixedWindow(12 * 600),
        **arguments,
    )
    files = io.StringIO(), io.StringIO()
    pair.here, pair.there = (Recorder(device, file) for device, file in zip(pair.devices, files, strict=True))
    pair.write(bytes(range(256)) * 40)
    pair.run()
    assert [c.status for _, c in pair.completions[0]] == ["success"]
    return [file.getvalue().splitlines() for file in files]


@pytest.mark.parametrize(
    "options",
    [
        WireOptions(),
        WireOptions(eeth=EETH_OP_54, dscp=DscpMap(trimmable=None, control=48), accepted_udp_ports=(UDP_PORT_ROCE_V2,)),
    ],
    ids=["plain", "other options"],
)
def test_a_replay_does_the_same(options):
    for lines in recorded(options=options):
        events = sum('"event"' in line for line in lines)
        assert replay(lines) == Replay(events, len(lines) - 1 - events, None)
        assert events > 10


def test_the_log_is_in_order_and_complete():
    here, _ = recorded()
    times = [json.loads(line)["t"] for line in here[1:]]
    assert all(a <= b for a, b in pairwise(times))
    assert json.loads(here[0])["qps"][0]["config"]["qpn"] == HERE_QPN
    assert json.loads(here[1])["event"] == "PostWrite"


def changed(lines, number, **changes):
    return [*lines[:number], json.dumps(json.loads(lines[number]) | changes), *lines[number + 1 :]]


def test_a_difference_is_named_with_its_line():
    here, _ = recorded()
    first = next(i for i, line in enumerate(here) if '"FrameOut"' in line)
    for lines, expected in (
        (changed(here, first, port=7), f"line {first + 1}: FrameOut(port=7, "),
        (here[:first] + here[first + 1 :], f"line {first + 1}: FrameOut("),
        ([*here[: first + 1], here[first], *here[first + 1 :]], f"line {first + 2}: FrameOut("),
        (here[: first + 1], "end of log: the replay also did FrameOut("),
    ):
        difference = replay(lines).difference
        assert difference is not None
        assert expected in difference


BAD_LOGS = [
    ([], "schema None"),
    (["{}"], "schema None"),
    (["nonsense"], "Expecting value"),
    (["[]"], "list"),
    (['{"schema": "mrc.nic-log/1"}'], "KeyError"),
    (['{"schema": "mrc.nic-log/1", "device": {"ports": 3}, "qps": [], "regions": []}'], "TypeError"),
]


@pytest.mark.parametrize(("lines", "found"), BAD_LOGS, ids=[str(i) for i in range(len(BAD_LOGS))])
def test_what_is_no_log_is_refused(lines, found):
    with pytest.raises(InputError, match=r"x\.jsonl: line 1") as caught:
        replay(lines, "x.jsonl")
    assert found in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"t": 0}',
        '{"t": 0, "event": "Warp"}',
        '{"event": "PortChange", "port": 0, "up": true}',
        '{"t": 0, "event": "PortChange", "port": 0}',
        '{"t": 0, "event": "PortChange", "port": "x", "up": true}',
        '{"t": 0, "event": "FrameIn", "port": 0, "data": "0g"}',
        '{"t": 0, "action": "FrameOut", "port": 0, "data": 5}',
    ],
)
def test_bad_lines_are_named(line):
    here, _ = recorded()
    with pytest.raises(InputError, match="line 2"):
        replay([here[0], line])
