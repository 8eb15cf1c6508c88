"""The fabric carries out what NIC cores ask for, and nothing twice."""

from __future__ import annotations

import pytest

from pymodel.cosim.fabric import Cable, Fabric, Host, HostMemory
from pymodel.cosim.link import LinkDirection
from pymodel.nic.events import (
    Action,
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    Notify,
    PostReceive,
    SetTimer,
    TimerFired,
    WriteMemory,
)


class Script:
    """A core that answers the n-th event with the n-th list of actions and keeps what it was given."""

    def __init__(self, *answers: list[Action]) -> None:
        self.answers = list(answers)
        self.seen: list[tuple[int, Event]] = []

    def handle(self, event: Event, now_ps: int) -> list[Action]:
        self.seen.append((now_ps, event))
        return self.answers.pop(0) if self.answers else []


START = PostReceive(1, 1)


def run(*answers: list[Action]) -> tuple[Script, Host, Fabric]:
    core = Script(*answers)
    host = Host(core, HostMemory(0x1000, bytes(16)))
    fabric = Fabric({"a": host}, {}, {})
    fabric.post("a", START, 0)
    while fabric.step():
        pass
    return core, host, fabric


def test_a_timer_set_again_fires_once_with_its_last_generation() -> None:
    core, _, _ = run([SetTimer("t", 100, 1), SetTimer("t", 200, 2)])
    assert core.seen == [(0, START), (200, TimerFired("t", 2))]


def test_a_cancelled_timer_does_not_fire_and_one_set_behind_it_does() -> None:
    core, _, fabric = run([SetTimer("t", 100, 1), CancelTimer("t"), SetTimer("u", 50, 7)])
    assert core.seen == [(0, START), (50, TimerFired("u", 7))]
    assert fabric.now_ps == 50


def test_a_timer_in_the_past_fires_now() -> None:
    core, _, fabric = run([SetTimer("t", 100, 1)], [SetTimer("t", 5, 2)])
    assert core.seen[1:] == [(100, TimerFired("t", 1)), (100, TimerFired("t", 2))]
    assert fabric.now_ps == 100


def test_memory_completions_and_notices_are_kept() -> None:
    entry = Complete(1, 2, "success", 3)
    _, host, _ = run([WriteMemory(0x1002, b"ab"), entry, Notify("x", (("n", 1),)), Notify("x", (("n", 2), ("m", 5)))])
    assert host.memory.data == b"\0\0ab" + bytes(12)
    assert host.memory.read(0x1002, 2) == b"ab"
    assert host.memory.placed_bytes == 2
    assert host.completions == [(0, entry)]
    assert host.details("x", n=2) == {"n": 2, "m": 5}
    assert host.details("y") == {}


@pytest.mark.parametrize("address", [0xFFF, 0x1010, 0x100F])
def test_a_write_outside_memory_is_a_bug_that_shows(address: int) -> None:
    with pytest.raises(IndexError, match="lie outside"):
        run([WriteMemory(address, b"ab")])


def test_frames_cross_a_link_and_observers_see_them_all() -> None:
    here, there = Script([FrameOut(0, b"x" * 88), FrameOut(3, b"nowhere")]), Script()
    hosts = {name: Host(core, HostMemory(0, b"")) for name, core in (("a", here), ("b", there))}
    link = LinkDirection("a:0>b:5", rate_bps=100_000_000_000, delay_ps=10, loss_ppm=0, seed=1)
    seen = []
    fabric = Fabric(hosts, {}, {("a", 0): Cable(link, "b", 5)}, (lambda *frame: seen.append(frame),))
    fabric.post("a", START, 7)
    while fabric.step():
        pass
    # 88 bytes and 12 of preamble and FCS at 80 ps a byte, then 10 ps of cable.
    assert there.seen == [(7 + 8_000 + 10, FrameIn(5, b"x" * 88))]
    assert seen == [(link, 7, b"x" * 88, False)]
    assert fabric.uncabled == 1
