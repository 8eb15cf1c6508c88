"""Egress queues in virtual time, against times worked out by hand: per-priority rates, one link, strict priority.

Frames go through `metadata.p4`, whose first byte chooses the priority and which shows what it sees of its queue.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import NS, US, S
from pymodel.switch.engine import Engine
from tests.switch.programs.case import compiled, entry
from tests.switch.programs.drivers import insert

PORT = 1
PLAIN, TOLD = 2, 0  # the program's op: leave as it came, or with what egress saw


@pytest.fixture
def engine() -> Engine:
    return Engine(compiled("metadata").json_path.read_bytes())


@dataclass(frozen=True, slots=True)
class Told:
    waited_us: int
    depth_in: int
    depth_out: int
    entered_us: int
    left_us: int
    length: int


def told(frame: bytes) -> Told:
    words = int.from_bytes(frame[:32], "big")
    fields = []
    for width in (32, 19, 13, 19, 5, 8, 48, 48, 32):
        fields.append(words >> 256 - width)
        words = words << width & (1 << 256) - 1
    waited, depth_in, _, depth_out, _, _, entered, left, length = fields
    return Told(waited, depth_in, depth_out, entered, left, length)


def frame(priority: int, number: int = 0, size: int = 100, op: int = PLAIN) -> bytes:
    return struct.pack("!BBI", priority, op, number).ljust(size, b"\0")


def numbers(out: list[tuple[int, int, bytes]]) -> list[tuple[int, int]]:
    """(time in ps, number of the frame) of what came out."""
    return [(when, struct.unpack("!I", data[2:6])[0]) for when, _, data in out]


def test_without_a_rate_nothing_waits(engine: Engine) -> None:
    for number in range(200):
        engine.inject(0, frame(0, number), 5 * US)
    assert numbers(engine.drain(5 * US)) == [(5 * US, number) for number in range(200)]
    assert engine.next_event_ps() is None


def test_packet_rate_spaces_one_queue(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 1_000_000, "pps", 10)
    for number in range(4):
        engine.inject(0, frame(0, number), 100)
    assert numbers(engine.drain(100)) == [(100, 0)]
    assert engine.next_event_ps() == 100 + US
    assert numbers(engine.drain(100 + 2 * US)) == [(100 + US, 1), (100 + 2 * US, 2)]
    engine.inject(0, frame(0, 9), 100 + 10 * US)
    assert numbers(engine.drain(S)) == [(100 + 3 * US, 3), (100 + 10 * US, 9)]


def test_a_rate_that_does_not_divide_a_second_is_rounded_up(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 3, "pps", 10)
    for number in range(3):
        engine.inject(0, frame(0, number), 0)
    assert [when for when, _ in numbers(engine.drain(S))] == [0, 333_333_333_334, 666_666_666_668]


def test_each_priority_has_its_own_packet_rate(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 1_000_000, "pps", 10)
    engine.set_queue(PORT, 3, 500_000, "pps", 10)
    for number in range(3):
        engine.inject(0, frame(0, number), 0)
        engine.inject(0, frame(3, 10 + number), 0)
        engine.inject(0, frame(7, 20 + number), 0)
    assert numbers(engine.drain(S)) == [
        *[(0, number) for number in (0, 10, 20, 21, 22)],
        (US, 1),
        (2 * US, 11),  # the higher priority first
        (2 * US, 2),
        (4 * US, 12),
    ]


def test_full_queue_drops_and_counts(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 1000, "pps", 2)
    for number in range(5):
        engine.inject(0, frame(0, number), 0)
    assert engine.queue_depth(PORT, 0) == 2
    assert [number for _, number in numbers(engine.drain(S))] == [0, 1, 2]
    assert engine.drops == {"queue full": 2}


def test_depth_nought_holds_nothing(engine: Engine) -> None:
    engine.set_queue(PORT, 0, None, "pps", 0)
    engine.inject(0, frame(0), 0)
    assert engine.drain(S) == []
    assert engine.drops == {"queue full": 1}


def test_link_is_shared_by_strict_priority_and_not_preempted(engine: Engine) -> None:
    # 100 bytes at 100 Gb/s: 8 ns. The low frame on the link is not stopped; then the high ones, then the low.
    engine.set_queue(PORT, 0, 100_000_000_000, "bit/s", 10)
    engine.inject(0, frame(0, 1), 0)
    engine.inject(0, frame(0, 2), 0)
    engine.inject(0, frame(5, 3, size=50), 1 * NS)
    engine.inject(0, frame(7, 4), 2 * NS)
    assert numbers(engine.drain(S)) == [(8 * NS, 1), (16 * NS, 4), (20 * NS, 3), (28 * NS, 2)]


def test_a_long_queue_wakes_once_for_each_packet(engine: Engine) -> None:
    """However many packets wait, one event is due: a thousand frames take a thousand times one, not a million."""
    engine.set_queue(PORT, 0, 10**9, "bit/s", 1_000)
    for _ in range(1_000):
        engine.inject(0, frame(0), 0)
    wakes = 0
    while (due := engine.next_event_ps()) is not None:
        assert len(engine._events) <= 1
        wakes += len(engine.drain(due)) > 0
    assert wakes == 1_000


def test_link_time_is_that_of_the_frame_that_leaves(engine: Engine) -> None:
    # Egress puts 36 bytes in front: 136 bytes at 8 Gb/s are 136 ns.
    engine.set_queue(PORT, 0, 8_000_000_000, "bit/s", 10)
    engine.inject(0, frame(0, op=TOLD), 0)
    engine.inject(0, frame(0, op=TOLD), 0)
    assert [(when, len(data)) for when, _, data in engine.drain(S)] == [(136 * NS, 136), (272 * NS, 136)]


def test_link_and_packet_rate_hold_together(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 8_000_000_000, "bit/s", 10)  # 100 ns a frame
    engine.set_queue(PORT, 0, 4_000_000, "pps", 10)  # 250 ns between two of priority 0
    for number in range(2):
        engine.inject(0, frame(0, number), 0)
        engine.inject(0, frame(1, 10 + number), 0)
    # 0 takes the link; then 10 and 11 of the priority without a rate; 1 is due at 250 ns and waits for the link.
    assert numbers(engine.drain(S)) == [(100 * NS, 0), (200 * NS, 10), (300 * NS, 11), (400 * NS, 1)]


def test_a_frame_dropped_in_egress_takes_no_link_time() -> None:
    engine = Engine(compiled("control_flow").json_path.read_bytes())
    engine.set_queue(PORT, 0, 8_000_000_000, "bit/s", 10)
    for last in (0, 77, 0):  # 77 is dropped in egress
        engine.inject(0, bytes([9, 9, last]), 0)
    assert [when for when, _, _ in engine.drain(S)] == [8 * NS, 16 * NS]
    assert engine.drops == {"egress": 1}


def test_what_the_program_sees_of_its_queue(engine: Engine) -> None:
    engine.set_queue(PORT, 2, 100_000, "pps", 10)  # 10 us apart
    for number in range(3):
        engine.inject(0, frame(2, op=TOLD), 50 * US + number * US)
    assert [told(data) for _, _, data in engine.drain(S)] == [
        Told(waited_us=0, depth_in=0, depth_out=0, entered_us=50, left_us=50, length=100),
        Told(waited_us=9, depth_in=0, depth_out=1, entered_us=51, left_us=60, length=100),
        Told(waited_us=18, depth_in=1, depth_out=0, entered_us=52, left_us=70, length=100),
    ]


def test_ports_do_not_wait_for_each_other() -> None:
    several = Engine(compiled("counters").json_path.read_bytes())
    several.set_queue(1, 0, 1000, "pps", 10)
    insert(several, entry("In.kinds", "In.forward", {"hdr.i.kind": 3}, port=3))
    for kind in (9, 9, 3):
        several.inject(0, bytes([kind, 0, 0]), 0)
    assert [(when, port) for when, port, _ in several.drain(S)] == [(0, 1), (0, 3), (S // 1000, 1)]


def test_new_rate_holds_for_packets_that_come_later(engine: Engine) -> None:
    engine.set_queue(PORT, 0, 1000, "pps", 10)
    for number in range(3):
        engine.inject(0, frame(0, number), 0)
    engine.set_queue(PORT, 0, None, "pps", 10)
    engine.inject(0, frame(0, 3), 0)
    assert [when for when, _ in numbers(engine.drain(S))] == [0, S // 1000, 2 * S // 1000, 2 * S // 1000]
    engine.inject(0, frame(0, 4), S)
    assert numbers(engine.drain(S)) == [(S, 4)]


def test_time_does_not_go_back(engine: Engine) -> None:
    engine.inject(0, frame(0, 1), 10 * US)
    engine.inject(0, frame(0, 2), 5 * US)
    assert numbers(engine.drain(10 * US)) == [(10 * US, 1), (10 * US, 2)]
    assert engine.drain(100 * S) == []
    engine.inject(0, frame(0, 3), 11 * US)
    assert numbers(engine.drain(11 * US)) == [(11 * US, 3)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((PORT, 8, None, "pps", 1), "priority 8"),
        ((PORT, -1, None, "pps", 1), "priority -1"),
        ((PORT, 0, 0, "pps", 1), "rate 0"),
        ((PORT, 0, None, "pps", -1), "depth -1"),
        ((PORT, 0, 1, "Mb/s", 1), "unit 'Mb/s'"),
    ],
)
def test_wrong_settings_are_refused(engine: Engine, arguments: tuple[int, int, int, str, int], found: str) -> None:
    with pytest.raises(InputError, match=found):
        engine.set_queue(*arguments)  # type: ignore[arg-type]


def test_priority_beyond_the_queues_is_dropped() -> None:
    engine = Engine(compiled("metadata").json_path.read_bytes(), priority_queues=4)
    engine.inject(0, frame(4), 0)
    engine.inject(0, frame(3), 0)
    assert len(engine.drain(0)) == 1
    assert engine.drops == {"priority out of range": 1}


@pytest.mark.parametrize("seed", range(20))
def test_random_traffic_against_a_queue_in_ten_lines(seed: int) -> None:
    """One link, eight priorities: the same times and order as a list that is searched for every departure."""
    rng = random.Random(seed)
    engine = Engine(compiled("metadata").json_path.read_bytes())
    engine.set_queue(PORT, 0, 1_000_000_000, "bit/s", 1000)
    for priority in range(8):
        engine.set_queue(PORT, priority, None, "pps", 1000)
    # Each arrival has its own remainder of 8 ns, in which link times are whole: no ties with departures.
    times = sorted(rng.sample(range(600), 60))
    arrivals = [(8 * NS * time + number, number) for number, time in enumerate(times)]
    frames = {number: frame(rng.randrange(8), number, rng.randrange(20, 200)) for _, number in arrivals}
    for when, number in arrivals:
        engine.inject(0, frames[number], when)

    expected, waiting, free = [], list(arrivals), 0
    while waiting:
        start = max(free, waiting[0][0])
        ready = [item for item in waiting if item[0] <= start]
        chosen = max(ready, key=lambda item: (frames[item[1]][0], -waiting.index(item)))
        waiting.remove(chosen)
        free = start + len(frames[chosen[1]]) * 8 * S // 1_000_000_000
        expected.append((free, chosen[1]))
    assert numbers(engine.drain(S)) == expected
