"""The controller's side over P4Runtime, on both targets: the meter of packet-ins, packet-outs as messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pymodel.paths.tables import PUNT_LIMITER
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.dataplane import MeterRates
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from pymodel.wire.spec import CPU_PORT, DATA_PRIORITY, PuntReason
from tests.switch.bench import Bench
from tests.switch.held import DEPTH, wait_for
from tests.switch.packets import Routed, echo_request
from tests.switch.row import entries, ports, punts, route, sid, unknown

NODE = entries(ports(), punts(), sid("fc00:0:101::/48", "uN"), route("fc00:0:205::/48", 2), unknown())
ECHO = echo_request(Routed("fc00:0:101::", inner=False)).at(0)
EXPIRED = Routed("fc00:0:101:205::", hops=1).at(0)


@pytest.fixture
def bench(switch: EmbeddedSwitch | Bmv2Switch) -> Iterator[Bench]:
    bench = Bench(switch)
    bench.program(NODE)
    yield bench
    # A program that is loaded anew has meters and queues without limits.
    bench.switch.load(mrc_switch())


def _rates(rate: int, burst: int) -> MeterRates:
    return MeterRates(rate, burst, rate, burst)


@pytest.mark.parametrize("burst", [1, 7, 100])
def test_a_rate_of_nothing_and_a_burst_of_n_let_exactly_n_pass(bench: Bench, burst: int) -> None:
    """Each reason has a meter of its own; what is above it is a drop with its own counter."""
    client = bench.switch.control.client
    client.set_meter(PUNT_LIMITER, PuntReason.HOP_LIMIT, _rates(0, burst))
    came = bench.forward([(0, EXPIRED)] * (burst + 23) + [(0, ECHO)] * 30)
    assert came.out == []
    assert came.punts == [(PuntReason.HOP_LIMIT, 0, 0, EXPIRED)] * burst + [(PuntReason.ECHO_REQUEST, 0, 0, ECHO)] * 30
    assert came.counts == {
        "port_in[0]": Count(burst + 53, (burst + 23) * len(EXPIRED) + 30 * len(ECHO)),
        f"port_out[{CPU_PORT}]": Count(burst + 30, 0),
        f"punted[{PuntReason.HOP_LIMIT}]": Count(burst, burst * len(EXPIRED)),
        f"punted[{PuntReason.ECHO_REQUEST}]": Count(30, 30 * len(ECHO)),
        "drop_punt_limit": Count(23, 23 * len(EXPIRED)),
    }


def test_a_meter_that_is_taken_away_limits_nothing(bench: Bench) -> None:
    client = bench.switch.control.client
    client.set_meter(PUNT_LIMITER, PuntReason.ECHO_REQUEST, _rates(0, 1))
    assert client.read_meter(PUNT_LIMITER, PuntReason.ECHO_REQUEST) == _rates(0, 1)
    assert len(bench.forward([(0, ECHO)] * 5).punts) == 1
    client.set_meter(PUNT_LIMITER, PuntReason.ECHO_REQUEST, None)
    assert len(bench.forward([(0, ECHO)] * 5).punts) == 5


def test_yellow_passes(bench: Bench) -> None:
    """Between the committed burst and the peak burst packets are yellow, which is within the peak rate (RFC 2698)."""
    bench.switch.control.client.set_meter(PUNT_LIMITER, PuntReason.ECHO_REQUEST, MeterRates(0, 2, 0, 6))
    assert len(bench.forward([(0, ECHO)] * 20).punts) == 6


def test_p31_counters_of_drops_only_rise(bench: Bench) -> None:
    """The bench compares every reading with the one before; here it reads between drops of many causes."""
    drops = [b"\xff" * 9, Routed("fc00:0:999::").at(0), Routed("fc02::1").at(0), EXPIRED[:60], ECHO]
    for _ in range(3):
        for frame in drops:
            assert bench.forward([(0, frame)]).counts["port_in[0]"].packets == 1


@pytest.mark.parametrize("submit", [False, True])
def test_a_packet_out_message_leaves_through_its_port_or_by_forwarding(bench: Bench, submit: bool) -> None:
    """Sent while its queue lets one packet a second go: the second leaves when somebody listens, on BMv2 too."""
    switch = bench.switch
    switch.set_queue(2, DATA_PRIORITY, 1, "pps", DEPTH)
    sent = Routed("fc00:0:101:205::")
    frame = sent.at(1)
    fields = {"submit_to_ingress": 1} if submit else {"egress_port": 2}
    for _ in range(2):
        switch.control.client.send_packet(frame, **fields)
    wait_for(switch, CPU_PORT, 2)
    switch.inject(0, b"wakes whoever listens", 0)
    out = [(port, frame) for _, port, frame in switch.drain(1 << 62)]
    expected = sent.with_(destination="fc00:0:205::", hops=63).out(2) if submit else (2, frame)
    assert out
    assert set(out) == {expected}
    assert switch.counters()["port_out[2]"].packets == 2


def test_a_frame_at_a_port_that_is_down_is_the_programs_drop(bench: Bench) -> None:
    """The state is set by one call, which tells BMv2 of the link too: it drops nothing by itself for that."""
    sent = Routed("fc00:0:101:205::")
    frames, out = [(1, sent.at(1))], sent.with_(destination="fc00:0:205::", hops=63).out(2)
    came_in = Count(1, len(sent.at(1)))
    for port in (1, 2):
        bench.switch.set_port(port, False)
        came = bench.forward(frames)
        assert (came.out, came.counts) == ([], {"port_in[1]": came_in, "drop_port_down": came_in})
        bench.switch.set_port(port, True)
        assert bench.forward(frames).out == [out]
