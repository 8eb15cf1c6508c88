"""Random bytes of every length into every program: nothing raises, and every packet is accounted for."""

from __future__ import annotations

import random

import pytest

from pymodel.switch.engine import Engine
from tests.switch.programs import traffic
from tests.switch.programs.case import compiled, program_names
from tests.switch.programs.drivers import EngineDriver

SIZES = (*range(40), 60, 64, 100, 128, 255, 256, 512, 1500, 4096, 9000, 65_535)
COPYING = {"clone", "multicast"}


def noise(rng: random.Random, program: str) -> bytes:
    size = SIZES[rng.randrange(len(SIZES))]
    if program in traffic.PROGRAMS and rng.randrange(2):
        ((_, data),) = traffic.frames(program, rng, 1)
        flipped = bytearray(data)
        for _ in range(rng.randrange(4)):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    return rng.choice((rng.randbytes, bytes, lambda n: b"\xff" * n))(size)


@pytest.mark.parametrize("program", program_names())
def test_nothing_raises_and_nothing_is_lost_silently(program: str) -> None:
    rng = random.Random(f"noise {program}")
    engine: Engine
    if program in traffic.PROGRAMS:
        driver = EngineDriver()
        driver.prepare(program, traffic.setup(program, rng))
        engine = driver.engine
    else:
        engine = Engine(compiled(program).json_path.read_bytes())
    if rng.randrange(2):
        engine.set_queue(1, 0, 10_000_000, "pps", 20)
    count, out = 2000, 0
    for number in range(count):
        engine.inject(rng.randrange(600), noise(rng, program), number * 10_000)
        out += len(engine.drain(number * 10_000))
    out += len(engine.drain(10**15))
    assert engine.next_event_ps() is None
    if program not in COPYING:
        assert out + sum(engine.drops.values()) == count
