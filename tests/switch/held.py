"""Queues that hold still while a burst comes in, on both targets: what each frame finds in its queue is then known.

BMv2 gives a frame the time at which it may leave when it comes: 1 / rate after the one before it. So a few frames go
ahead at one a second, the rate is lifted, and whatever comes next waits behind the last of them, in order. The frames
that go ahead find no entry for their queues, so the program does not count them: its queues are empty.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pymodel.base.time import S
from pymodel.paths.tables import PORT_QUEUES, TableEntry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.wire.spec import CPU_PORT, DATA_PRIORITY, HIGH_PRIORITY, DscpMap
from tests.switch.packets import Routed

__all__ = ["DEPTH", "Frames", "burst_into_held_queues", "by_port", "wait_for"]

Frames = Sequence[tuple[int, bytes]]

HOLD_S = 6
DEPTH = 100_000
"""Packets: far above what any limit of the program lets in, so that nothing is lost behind its back."""

_WAIT_S = 20
_AHEAD = {
    priority: Routed("2001:db8::1", traffic_class=dscp << 2, inner=False).at(0)
    for priority, dscp in ((DATA_PRIORITY, DscpMap().no_trim), (HIGH_PRIORITY, DscpMap().control))
}


def burst_into_held_queues(
    switch: EmbeddedSwitch | Bmv2Switch,
    table: tuple[TableEntry, ...],
    held: Iterable[tuple[int, int]],
    frames: Frames,
) -> list[tuple[int, bytes]]:
    """Everything that leaves when `frames` come in one burst while the queues `held`, (port, priority), let none go.

    The switch has its program loaded; frames come in on port 0. A switch whose queues can't be set raises InputError
    (P05), and one that the machine is too slow for fails the test: its queues would have begun to empty.
    """
    queues = list(held)
    switch.control.program(entry for entry in table if entry.table != PORT_QUEUES)
    began = time.monotonic()
    for port, priority in queues:
        switch.set_queue(port, priority, 1, "pps", DEPTH)
        for _ in range(HOLD_S + 1):
            switch.control.client.send_packet(_AHEAD[priority], egress_port=port)
    wait_for(switch, CPU_PORT, (HOLD_S + 1) * len(queues))
    for port, priority in queues:
        switch.set_queue(port, priority, None, "pps", DEPTH)
    switch.control.program(table)
    for port, frame in frames:
        switch.inject(port, frame, 0)
    with ThreadPoolExecutor(max_workers=1) as pool:
        drained = pool.submit(switch.drain, 2 * HOLD_S * S)
        wait_for(switch, 0, len(frames))
        seconds = time.monotonic() - began
        out = [(port, frame) for _, port, frame in drained.result()]
    if isinstance(switch, Bmv2Switch) and seconds > HOLD_S:
        pytest.fail(f"the burst took {seconds:.1f} s to come in, and the queues were held for {HOLD_S} s")
    return [(port, frame) for port, frame in out if frame not in _AHEAD.values()]


def by_port(frames: Frames) -> dict[int, list[bytes]]:
    """Frames of each port, in order. Between ports there is none."""
    found: dict[int, list[bytes]] = {}
    for port, frame in frames:
        found.setdefault(port, []).append(frame)
    return found


def wait_for(switch: EmbeddedSwitch | Bmv2Switch, port: int, packets: int) -> None:
    """Return when `packets` have come in on `port`."""
    deadline = time.monotonic() + _WAIT_S
    while (came := switch.control.client.read_counter_cells([("port_in", port)])[0].packets) < packets:
        if time.monotonic() > deadline:
            pytest.fail(f"{came} of {packets} packets came in on port {port} within {_WAIT_S} s")
        time.sleep(0.002)
