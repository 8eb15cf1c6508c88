"""The small transfers that are walked through, and the file that says how many states each has.

`python -m tests.nic.small_worlds` walks those of `WALKS` again and rewrites `explored.json`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pymodel.base.time import US
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.ev_order import EvOrder
from pymodel.nic.ev_table import EvTable
from pymodel.nic.events import PostReceive, PostWrite
from pymodel.paths.topology import Topology
from tests.nic.explorer import Task, Walk, World
from tests.nic.state import reached

EXPLORED = Path(__file__).parent / "explored.json"
MTU = 256
FULL = 12 + 4 + 16 + MTU + 4 + 40  # BTH, METH, RETH, payload, ICRC, and the nominal overhead
BASE = 0x1000
WRAPS = (1 << 24) - 3


@dataclass(frozen=True, slots=True)
class Small:
    """A transfer: message sizes in bytes, the congestion window in full packets, and how many faults may happen."""

    name: str
    sizes: tuple[int, ...]
    window: int
    faults: int
    immediates: tuple[int, ...] = ()
    """Which messages carry an immediate."""
    evs: int = 2
    shrinks: bool = False
    """The window shrinks to nothing on a loss, so that lost packets wait to be sent again."""
    tail_probes: int = 0
    """Tail probes in a row."""
    reverse_probes: bool = False
    """EV probes keep the way back good."""
    retires: bool = False
    """EVs that lose a packet are retired, all but one of a plane, and probed while a loss waits for its timer."""


PROBES: dict[str, Any] = {"tail_probes": 1, "reverse_probes": True}
WALKS = [
    Small("five packets, no fault", (5 * MTU - 3,), 4, 0, evs=4),
    Small("four packets, a window of two, one fault", (4 * MTU,), 2, 1, evs=4),
    Small("two packets, a window that shrinks, two faults", (2 * MTU,), 4, 2, shrinks=True),
    Small("three messages of a packet, no fault", (1, 0, MTU), 8, 0, (0, 2)),
    Small("two messages, an immediate, two faults", (MTU, 1), 4, 2, (1,)),
    Small("an immediate of no bytes, one fault", (MTU, 0, 1), 4, 1, (1,)),
    Small("four messages, two immediates, no fault", (2 * MTU, 1, MTU, 1), 6, 0, (1, 2)),
    Small("two packets, all probes, one fault", (2 * MTU,), 4, 1, **PROBES),
    Small("a packet, EVs retired and probed, three faults", (1,), 4, 3, evs=4, retires=True),
    Small("three messages, an immediate, one fault", (2 * MTU, 1, MTU), 4, 1, (1,)),
    Small("two messages, an immediate, all probes, two faults", (MTU, 1), 4, 2, (1,), **PROBES),
    Small("two messages, an immediate, EVs retired and probed, two faults", (MTU, 1), 4, 2, (1,), 4, retires=True),
]
LONG_WALKS = [
    *WALKS[-3:],
    Small("three messages, an immediate, all probes, one fault", (MTU, 1, 1), 4, 1, (1,), **PROBES),
    Small("three messages, an immediate, two faults", (MTU, 1, 1), 4, 2, (1,)),
    Small("three packets, an immediate, two faults", (2 * MTU, 1), 4, 2, (1,)),
    Small("seven packets, an immediate, no fault", (2 * MTU, 2 * MTU, 2 * MTU, MTU), 8, 0, (1,)),
]


class ShrinkingWindow(FixedWindow):
    """One packet in flight from a loss until the next SACK."""

    def on_sack(self, now_ps: int, *, round_trip_ps: int | None, marked: bool, received_bytes: int) -> None:
        self.cwnd = self.max_cwnd

    def on_loss(self, now_ps: int, *, lost_bytes: int) -> None:
        self.cwnd = 1


class OneOrder(EvOrder):
    """The same rotation for ever, so that states can meet again."""

    def rotation(self) -> list[int]:
        return list(range(self._count))


def world_of(small: Small, first_psn: int) -> World:
    topology = Topology(planes=2, t0=1, t1=1, hosts_per_t0=2)
    devices = device_for(topology, "h0-0"), device_for(topology, "h0-1")
    settings = QpSettings(
        mtu=MTU,
        timestamps=False,
        ack_timeout=12 if small.retires else 4,
        linear_retries=2,
        backoff_retries=2,
        base_rtt_ps=8 * US,
        min_active_evs=0 if small.retires else small.evs,
        target_delay_ps=4 * US,  # a tail probe goes out before the ACK timer runs out
        tail_probes=small.tail_probes,
        reverse_probes=small.reverse_probes,
    )
    connect(
        topology,
        End("h0-0", devices[0], 16, first_psn),
        End("h0-1", devices[1], 17, 0),
        evs=small.evs,
        seed=1,
        settings=settings,
        congestion=lambda: (ShrinkingWindow if small.shrinks else FixedWindow)(small.window * FULL),
    )
    for table in (each for device in devices for each in reached(device) if isinstance(each, EvTable)):
        table._order = OneOrder(small.evs, 1)
    region = devices[1].regions.register(BASE, sum(small.sizes) + 1)
    writes, offset = [], 0
    for wr_id, size in enumerate(small.sizes):
        data = bytes((wr_id + i) % 251 for i in range(size))
        immediate = wr_id if wr_id in small.immediates else None
        writes.append(PostWrite(16, wr_id, data, BASE + offset, region.r_key, immediate))
        offset += size
    return World(devices, Task(writes, [PostReceive(17, 100 + wr_id) for wr_id in small.immediates], MTU))


def explore(small: Small, first_psn: int) -> Walk:
    return world_of(small, first_psn).explore(small.faults)


def recorded() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(EXPLORED.read_text(encoding="utf-8"))
    return found


def record() -> None:
    """Walk all of `WALKS` and keep what was found."""
    walks = {small.name: asdict(explore(small, WRAPS)) for small in WALKS}
    EXPLORED.write_text(json.dumps(walks, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
