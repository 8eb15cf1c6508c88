"""The benches of the receive side on a receive side without RTL: they must agree with it, and notice every fault."""

from __future__ import annotations

from collections import Counter

import pytest

from cocotb_tests.receive_faults import FAULTS
from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_model import Follower
from cocotb_tests.receive_perfect import PerfectReceiver
from cocotb_tests.receive_traffic import Traffic


def play(seed: int, rounds: int, count: int, golden: type[Golden] = Golden) -> tuple[Traffic, Follower]:
    traffic = Traffic(seed)
    follower = Follower(traffic.world.config, golden)
    perfect = PerfectReceiver(traffic.world.config, seed)
    script = traffic.opening()
    follower.follow(script, perfect.play(script, traffic.names))
    for _ in range(rounds):
        script = traffic.next(count)
        follower.follow(script, perfect.play(script, traffic.names))
        script = traffic.queries()
        follower.follow(script, perfect.play(script, traffic.names))
        traffic.learn(follower.golden)
    return traffic, follower


def test_a_perfect_receiver_passes_and_everything_is_met() -> None:
    traffic, follower = play(1, 6, 2500)
    sent = sum(traffic.met[kind] for kind in ("write", "full MTU"))
    assert traffic.met["full MTU"] > 0.2 * sent
    kinds = ("lost", "trimmed", "spoiled", "CE", "probe", "endpoint", "noise", "odd PSN")
    faults = ("fault", "error", "excess", "no receive")
    assert all(traffic.met[kind] for kind in (*kinds, *faults)), traffic.met
    met = follower.met
    assert met["placed"] > 0.5 * sent
    for what in ("quiet timer", "success", "flushed", "answers", "notices", "strays", "qp_error", "no_way_back"):
        assert met[what], what
    assert all(met[what] for what in ("psn_above_window", "trimmed_dropped")), met
    causes = sum(follower.dropped, Counter())
    assert {"ICRC", "TOO_SHORT", "ETHERTYPE", "IP_LENGTH", "ECN", "OVERSIZE", "OVERFLOW"} <= set(causes)
    golden = follower.golden
    assert all(golden.device.dropped[cause] for cause in ("unknown QP", "wrong address", "wrong P_Key"))
    assert golden.endpoint.dropped["no way back"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_noticed(fault: str) -> None:
    with pytest.raises(AssertionError, match=r"rtl|RTL"):
        play(2, 6, 2500, FAULTS[fault])
