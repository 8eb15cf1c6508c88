"""Random entries and frames: every target does what the short reference says, counts all, and never raises."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pymodel.paths.tables import TableEntry
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import SwitchTarget
from tests.switch.reference import ReferenceSwitch
from tests.switch.traffic import random_entries, random_frame

Frames = list[tuple[int, bytes]]


def counted(target: SwitchTarget) -> Counter[str]:
    """Packets by counter: drops by cause, port_in and port_out summed over ports."""
    total: Counter[str] = Counter()
    for name, count in target.counters().items():
        total[name.partition("[")[0]] += count.packets
    return total


def run(target: SwitchTarget, frames: Frames) -> tuple[Frames, Counter[str]]:
    """Everything that came of `frames` sent in one burst, and what it added to the counters."""
    before = counted(target)
    for port, frame in frames:
        target.inject(port, frame, 0)
    out = [(port, frame) for _, port, frame in target.drain(0)]
    return out, counted(target) - before


def reference(table: list[TableEntry], frames: Frames) -> tuple[Frames, Counter[str]]:
    switch = ReferenceSwitch(table)
    out: Frames = []
    counts: Counter[str] = Counter({"port_in": len(frames)})
    for port, frame in frames:
        outcome = switch.forward(port, frame)
        counts.update(name.partition("[")[0] for name in outcome.counts)
        if outcome.out is not None:
            out.append(outcome.out)
            counts["port_out"] += 1
    return out, counts


def test_random_traffic_reaches_every_cause_and_behaviour() -> None:
    """Guards the generator: what it never produces is not tested by what follows."""
    rng = random.Random(5)
    counts: Counter[str] = Counter()
    for _ in range(40):
        table = random_entries(rng)
        counts += reference(table, [random_frame(rng) for _ in range(200)])[1]
    assert min(counts.values()) >= 10
    assert len(counts) == 13 + 3
    assert counts["port_out"] > 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_targets_agree_with_the_reference(target: SwitchTarget, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        table = random_entries(rng)
        target.load(mrc_switch())
        target.write(table)
        frames = [random_frame(rng) for _ in range(50)]
        assert run(target, frames) == reference(table, frames)
