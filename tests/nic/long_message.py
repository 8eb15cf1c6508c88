"""A message of 2^32 - 1 bytes from end to end; run alone, since it says what memory it took.

`python -m tests.nic.long_message [BYTES]` prints one JSON object: packets, peak of memory in MiB, processor seconds.
"""

from __future__ import annotations

import json
import sys
import time

from pymodel.base.time import US, EventQueue
from pymodel.bench.memory import peak_mib
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import CancelTimer, Complete, Event, FrameIn, FrameOut, PostWrite, SetTimer, TimerFired
from pymodel.nic.events import WriteMemory as Place
from pymodel.nic.pattern import Pattern
from pymodel.paths.topology import Topology
from pymodel.wire.spec import MTU_MAX

LONGEST = (1 << 32) - 1
BASE = 0x7F00_0000_1000
LOSS_PERIOD = 10_007
"""Every so many frames one is lost."""


def transfer(length: int) -> int:
    """Write `length` patterned bytes, compare each packet as it lands, and return how many landed."""
    topology = Topology(planes=2, t0=2, t1=4, hosts_per_t0=1)
    devices = [device_for(topology, name) for name in ("h0-0", "h1-0")]
    connect(
        topology,
        End("h0-0", devices[0], 16),
        End("h1-0", devices[1], 17),
        evs=32,
        seed=1,
        settings=QpSettings(mtu=MTU_MAX),
        congestion=lambda: FixedWindow(128 * MTU_MAX),
    )
    region = devices[1].regions.register(BASE, length)
    data = Pattern(length, seed=7)
    queue: EventQueue[tuple[int, Event]] = EventQueue()
    timers: list[dict[str, int]] = [{}, {}]
    landed = bytearray(-(-length // MTU_MAX) // 8 + 1)  # a bit a packet
    done: list[Complete] = []
    packets = frames = now_ps = 0
    queue.push(0, (0, PostWrite(16, 1, data, BASE, region.r_key)))
    while len(queue):
        at_ps, (who, event) = queue.pop()
        if isinstance(event, TimerFired):
            if timers[who].get(event.key) != event.generation:
                continue
            del timers[who][event.key]
        now_ps = at_ps
        for action in devices[who].handle(event, now_ps):
            match action:
                case FrameOut(port, frame):
                    frames += 1
                    if frames % LOSS_PERIOD:
                        queue.push(now_ps + 4 * US, (1 - who, FrameIn(port, frame)))
                case SetTimer(key, at_ps, generation):
                    timers[who][key] = generation
                    queue.push(at_ps, (who, TimerFired(key, generation)))
                case CancelTimer(key):
                    del timers[who][key]
                case Place(address, payload):
                    start = address - BASE
                    number, rest = divmod(start, MTU_MAX)
                    assert rest == 0, "at the start of a packet"
                    assert not landed[number >> 3] >> (number & 7) & 1, "placed once"
                    assert payload == data[start : start + MTU_MAX], "as it was posted"
                    landed[number >> 3] |= 1 << (number & 7)
                    packets += 1
                case Complete():
                    done.append(action)
    assert [(each.status, each.byte_count) for each in done] == [("success", length)], done
    assert packets == -(-length // MTU_MAX), "every byte landed"
    return packets


def main(length: int) -> None:
    began = time.process_time()
    packets = transfer(length)
    seconds = round(time.process_time() - began)
    print(json.dumps({"packets": packets, "peak_mib": round(peak_mib()), "seconds": seconds}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else LONGEST)
