"""`topology.full`: what one switch's tables, or one pair's EVs, cost in a fabric of the paper's full size.

8 planes, each of 512 T0 and 256 T1, and 131,072 NICs (mrc-facts.md 4.3). Each run starts from the parameters alone. The
figures are the worst of three: the tables of a T0, those of a T1, and 256 EVs between two hosts of different T0s.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

from pymodel.bench.figure import Figure, Outcome, Step, medians
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Switch, Topology
from pymodel.wire.spec import UsidRole

__all__ = ["FIGURES", "measure"]

FIGURES = ("topology.full", "topology.full.memory")
ROUNDS = 9


def _full() -> Topology:
    return Topology(planes=8, t0=512, t1=256, hosts_per_t0=256)


_WORK: tuple[Callable[[], object], ...] = (
    lambda: list(switch_entries(_full(), Switch(7, UsidRole.T0, 511))),
    lambda: list(switch_entries(_full(), Switch(7, UsidRole.T1, 255))),
    lambda: _full().ev_set("h0-0", "h511-255", 256, seed=1),
)


def measure(step: Step, rounds: int = ROUNDS) -> Outcome:
    """Measure milliseconds of processor time (medians) and then, in another run, the peak of memory in MB."""
    milliseconds = medians([_timer(work) for work in _WORK], rounds, step)
    return Outcome(
        [
            Figure("topology.full", max(milliseconds), "ms"),
            Figure("topology.full.memory", max(_peak_mb(work) for work in _WORK), "MB"),
        ]
    )


def _timer(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        began = time.thread_time()
        work()
        return (time.thread_time() - began) * 1e3

    return run


def _peak_mb(work: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
