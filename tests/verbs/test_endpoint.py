"""Endpoint operations in batches: what comes back, what does not, and what is refused."""

from __future__ import annotations

import errno
from dataclasses import replace

import pytest

from pymodel.base.time import NS, US
from pymodel.nic.config import Capabilities
from pymodel.nic.events import FrameOut, PortChange
from pymodel.verbs.application import create_context
from pymodel.verbs.endpoint import EpBatch, EpRequest, EpResponse, ep_batch_send
from pymodel.verbs.ev_profile import Ev
from pymodel.wire.parser import parse
from pymodel.wire.spec import DscpMap, EndpointOp
from tests.verbs.pair import DELAY, TOPOLOGY, Pair
from tests.verbs.test_application import refused

EVS = [Ev.of(record) for record in TOPOLOGY.ev_set("h0-0", "h1-0", 4, 1)]
PEER = TOPOLOGY.inner_address(TOPOLOGY.host("h1-0"))
PROBES = [EpRequest(100 + number, PEER, ev) for number, ev in enumerate(EVS)]
TIMEOUT = 50_000
RTT = 2 * DELAY // NS


def send(pair: Pair, requests: list[EpRequest] = PROBES, op: EndpointOp = EndpointOp.EV_PROBE) -> EpBatch:
    batch = ep_batch_send(pair.sides[0].context, op, requests, TIMEOUT, pair.now_ps)
    pair.settle(0)
    return batch


@pytest.mark.parametrize("op", EndpointOp, ids=lambda op: op.name)
def test_every_response_says_port_and_round_trip(op: EndpointOp) -> None:
    pair = Pair()
    batch = send(pair, op=op)
    assert (batch.status, batch.responses) == (None, [])
    pair.run()
    assert batch.status == 0
    assert batch.responses == [EpResponse(100 + number, ev.port, RTT, True) for number, ev in enumerate(EVS)]
    assert pair.sides[0].timers == {}
    assert pair.sides[0].adapter.endpoint_requests == {}


def test_what_does_not_come_back_is_missing_when_the_time_is_over() -> None:
    pair = Pair()
    sent = iter(range(100))
    pair.loss = lambda sender, data: sender == 0 and next(sent) in (1, 2)
    batch = send(pair)
    pair.run(TIMEOUT * NS - 1)
    assert batch.status is None
    assert [response.req_id for response in batch.responses] == [100, 103]
    pair.run(2)
    assert batch.status == errno.ETIMEDOUT
    assert batch.missing == {101, 102}


def test_a_request_on_a_port_that_is_down_is_missing() -> None:
    pair = Pair()
    pair.up[0, 1] = False
    pair.give(0, PortChange(1, False))
    batch = send(pair)
    pair.run(TIMEOUT * NS)
    assert batch.status == errno.ETIMEDOUT
    assert {response.port for response in batch.responses} == {1}


def test_two_batches_do_not_mix_whatever_their_numbers() -> None:
    pair = Pair()
    first, second = send(pair, PROBES[:2]), send(pair, [replace(PROBES[3], req_id=100)])
    pair.run()
    assert [response.req_id for response in first.responses] == [100, 101]
    assert [response.req_id for response in second.responses] == [100]


@pytest.mark.parametrize(("takes_out", "rtt"), [(True, RTT), (False, RTT + 7_040)])
def test_the_peers_service_time_is_taken_out_when_both_can(takes_out: bool, rtt: int) -> None:
    pair = Pair()
    for side in pair.sides:
        capabilities = Capabilities(service_time=takes_out)
        side.remake(replace(side.adapter.device.config, capabilities=capabilities, service_time_ps=7_040 * NS))
    batch = send(pair, PROBES[:1])
    pair.run(100 * US)
    assert batch.responses == [EpResponse(100, 1, rtt, takes_out)]


@pytest.mark.parametrize(("req_tc", "seen"), [(None, DscpMap().no_trim), (0, 0), (33, 33), (63, 63)])
def test_the_controller_picks_the_class_of_requests(req_tc: int | None, seen: int) -> None:
    side = Pair().sides[0]
    ep_batch_send(side.context, EndpointOp.EV_PROBE, PROBES[:1], TIMEOUT, 0, req_tc=req_tc)
    (sent,) = [parse(action.data) for action in side.adapter.drain() if isinstance(action, FrameOut)]
    assert sent.ip.dscp == sent.outer.dscp == seen


@pytest.mark.parametrize("req_tc", [-1, 64])
def test_a_class_that_is_no_dscp_is_refused(req_tc: int) -> None:
    side = Pair().sides[0]
    refused(
        errno.EINVAL,
        lambda: ep_batch_send(side.context, EndpointOp.EV_PROBE, PROBES, TIMEOUT, 0, req_tc=req_tc),
        "a number from 0 to 63",
    )
    assert side.adapter.drain() == []


@pytest.mark.parametrize(
    ("requests", "timeout", "words"),
    [
        ([], TIMEOUT, "found none"),
        ([PROBES[0], PROBES[0]], TIMEOUT, "number 100"),
        ([replace(PROBES[0], req_id=1 << 16)], TIMEOUT, "numbers of 16 bits"),
        ([replace(PROBES[0], req_id=-1)], TIMEOUT, "numbers of 16 bits"),
        ([replace(PROBES[0], dgid=1 << 128)], TIMEOUT, "an address of 128 bits"),
        ([replace(PROBES[0], ev=replace(EVS[0], port=0))], TIMEOUT, "a port from 1 to 2"),
        ([replace(PROBES[0], ev=replace(EVS[0], port=3))], TIMEOUT, "a port from 1 to 2"),
        (PROBES, 0, "a timeout of 0 ns"),
        (PROBES, 1 << 32, "a timeout of 4294967296 ns"),
    ],
)
def test_a_batch_that_cannot_be_is_refused_whole(requests: list[EpRequest], timeout: int, words: str) -> None:
    side = Pair().sides[0]
    refused(errno.EINVAL, lambda: ep_batch_send(side.context, EndpointOp.EV_PROBE, requests, timeout, 0), words)
    assert side.adapter.drain() == []


def test_a_process_without_privilege_sends_none() -> None:
    plain = create_context(Pair().sides[0].adapter)
    refused(errno.EPERM, lambda: ep_batch_send(plain, EndpointOp.EV_PROBE, PROBES, TIMEOUT, 0), "CAP_NET_ADMIN")
