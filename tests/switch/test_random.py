"""Random entries and frames: every target does what the short reference says, counts all, and never raises."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from pymodel.paths.tables import TableEntry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from tests.switch.bench import Bench
from tests.switch.reference import ReferenceSwitch
from tests.switch.traffic import random_entries, random_frame

Frames = Sequence[tuple[int, bytes]]

CAUSES = {
    *("port_down", "parser_error", "not_ipv6", "truncated", "martian", "hop_limit", "bad_srh", "upper_layer", "ecn"),
    *("sid_loop", "unknown_sid", "no_route", "no_neighbour", "queue_full", "trim_disabled", "high_queue_full"),
}
"""Every drop but those of the meter, which counts over time."""

REST = {"port_in", "port_out", "trimmed", "ecn_marked", "punted"}

FLAVOURS = {
    f"{place}.{name}"
    for place in ("first", "second")
    for name in ("PSP", "USP", "USD", "USD_uniform", "DT6", "DT6_uniform")
}


def reference(table: list[TableEntry], frames: Frames) -> tuple[list[tuple[int, bytes]], list[tuple], Counter[str]]:  # type: ignore[type-arg]
    """What leaves, what the controller gets and what is counted, by the reference."""
    switch = ReferenceSwitch(table)
    out, punts = [], []
    counts: Counter[str] = Counter({"port_in": len(frames)})
    for port, frame in frames:
        outcome = switch.forward(port, frame)
        counts.update(name.partition("[")[0] for name in outcome.counts)
        if outcome.out is not None:
            out.append(outcome.out)
        if outcome.punt is not None:
            reason, pointer, data = outcome.punt
            punts.append((reason, pointer, port, data))
            counts["punted"] += 1
    counts["port_out"] += len(out) + len(punts)
    return out, punts, counts


def test_random_traffic_reaches_every_cause_and_behaviour() -> None:
    """Guards the generator: what it never produces is not tested by what follows."""
    rng = random.Random(5)
    counts: Counter[str] = Counter()
    for _ in range(80):
        table = random_entries(rng)
        counts += reference(table, [random_frame(rng) for _ in range(200)])[2]
    assert set(counts) == REST | FLAVOURS | {f"drop_{cause}" for cause in CAUSES}
    assert min(counts[name] for name in counts.keys() - FLAVOURS) >= 10
    assert min(counts[name] for name in FLAVOURS) >= 3
    assert counts["port_out"] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_targets_agree_with_the_reference(switch: EmbeddedSwitch | Bmv2Switch, seed: int) -> None:
    """Frames in, out, to the controller and dropped, by cause; in = out + drops."""
    rng = random.Random(seed)
    bench = Bench(switch)
    for _ in range(25):
        table = random_entries(rng)
        bench.program(tuple(table))
        frames = [random_frame(rng) for _ in range(50)]
        came = bench.forward(frames)
        counts = came.totals()
        assert (came.out, came.punts, counts) == reference(table, frames)
        assert counts["port_in"] == counts["port_out"] + sum(counts[f"drop_{cause}"] for cause in CAUSES)
    bench.finish()
