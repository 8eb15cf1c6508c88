"""The benches of the receive side on a receive side without RTL: they must agree with it, and notice every fault."""

from __future__ import annotations

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
    traffic, follower = play(1, 4, 2500)
    print(traffic.met, follower.met, follower.dropped)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_noticed(fault: str) -> None:
    with pytest.raises(AssertionError, match=r"rtl|RTL"):
        play(2, 6, 2500, FAULTS[fault])
