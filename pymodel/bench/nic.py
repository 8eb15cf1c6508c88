"""`nic.back_to_back`: the golden model's data packets a second, a requester and a responder joined by frames.

Two NICs with eight ports each; one writes 256 KiB messages of 4 KiB packets into the other's memory over 256 EVs, with
timestamps, 64 packets in flight, every feature on. Each frame is made as bytes with its ICRC, parsed and checked, its
payload placed, and a SACK comes back for each 16 KiB. Timers are kept and expire; virtual time moves with the packets
as on links of 800 Gb/s together. What arrived is compared with what was sent. Seconds are those of the processor.
"""

from __future__ import annotations

import heapq
import random
import subprocess
import sys
import time
from collections import deque

from pymodel.base.errors import InputError
from pymodel.base.time import US
from pymodel.base.toolpath import ROOT
from pymodel.bench.figure import Figure, Outcome, Step, medians
from pymodel.bench.memory import peak_mib
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import (
    Action,
    CancelTimer,
    Complete,
    Event,
    FrameIn,
    FrameOut,
    PostWrite,
    SetTimer,
    TimerFired,
    WriteMemory,
)
from pymodel.paths.topology import Topology
from pymodel.wire.spec import NOMINAL_OVERHEAD_BYTES

__all__ = ["FIGURES", "BackToBack", "measure"]

FIGURES = ("nic.back_to_back", "nic.back_to_back.memory")
ROUNDS = 5
PACKETS = 25_600
MTU = 4096
MESSAGE = 1 << 18
WINDOW_PACKETS = 64
PACKET_PS = 42_500
"""4,238 bytes at 800 Gb/s, in ps."""
_POSTED = 4
_BASE = 0x10_0000
_QPN = 16
_COMMAND = ("-m", "pymodel.bench.nic")
_LONGEST_S = 600


class BackToBack:
    """Two NICs face to face; `run` sends packets and carries everything out until all have been acknowledged."""

    def __init__(self) -> None:
        topology = Topology(planes=8, t0=2, t1=32, hosts_per_t0=1)
        self.devices = device_for(topology, "h0-0"), device_for(topology, "h1-0")
        connect(
            topology,
            End("h0-0", self.devices[0], _QPN),
            End("h1-0", self.devices[1], _QPN + 1),
            evs=256,
            seed=1,
            settings=QpSettings(mtu=MTU, base_rtt_ps=12 * US),
            congestion=lambda: FixedWindow(WINDOW_PACKETS * (MTU + NOMINAL_OVERHEAD_BYTES)),
        )
        self._data = random.Random(1).randbytes(MESSAGE)
        self._memory = bytearray(MESSAGE)
        self._key = self.devices[1].regions.register(_BASE, MESSAGE).r_key
        self._now_ps = 0
        self._flying: deque[tuple[int, FrameIn]] = deque()
        self._heap: list[tuple[int, int, str, int]] = []
        self._timers: tuple[dict[str, int], dict[str, int]] = ({}, {})
        self.completed = 0
        """Messages that ended well."""

    def run(self, packets: int) -> None:
        """Send `packets`, in whole messages, and compare memory. InputError when anything ends otherwise."""
        messages = -(-packets * MTU // MESSAGE)
        self._memory[:] = bytes(MESSAGE)
        began, posted = self.completed, 0
        while self.completed < began + messages:
            while posted < messages and posted < self.completed - began + _POSTED:
                self._give(0, PostWrite(_QPN, posted, self._data, _BASE, self._key))
                posted += 1
            before = self.completed
            self._deliver()
            if self.completed == before and not self._flying:
                if not self._heap:
                    raise InputError("nic.back_to_back", f"rest after {before - began} messages", f"{messages}")
                self._now_ps = max(self._now_ps, self._heap[0][0])
                self._expire()
        if self._memory != self._data:
            raise InputError("nic.back_to_back", "other bytes than were written", "the same")

    def _deliver(self) -> None:
        """Let frames arrive until a message completes or none is on its way."""
        before, flying, heap = self.completed, self._flying, self._heap
        while flying and self.completed == before:
            to, arrival = flying.popleft()
            if to:
                self._now_ps += PACKET_PS
                if heap and heap[0][0] <= self._now_ps:
                    self._expire()
            self._give(to, arrival)

    def _expire(self) -> None:
        """Let the timers that are due run out."""
        while self._heap and self._heap[0][0] <= self._now_ps:
            _, who, key, generation = heapq.heappop(self._heap)
            if self._timers[who].get(key) == generation:
                del self._timers[who][key]
                self._give(who, TimerFired(key, generation))

    def _give(self, who: int, event: Event) -> None:
        for action in self.devices[who].handle(event, self._now_ps):
            if isinstance(action, FrameOut):
                self._flying.append((1 - who, FrameIn(action.port, action.data)))
            elif isinstance(action, WriteMemory):
                start = action.address - _BASE
                self._memory[start : start + len(action.data)] = action.data
            else:
                self._note(who, action)

    def _note(self, who: int, action: Action) -> None:
        if isinstance(action, SetTimer):
            self._timers[who][action.key] = action.generation
            heapq.heappush(self._heap, (action.at_ps, who, action.key, action.generation))
        elif isinstance(action, CancelTimer):
            self._timers[who].pop(action.key, None)
        elif isinstance(action, Complete):
            if action.status != "success":
                raise InputError("nic.back_to_back", action.status, "success")
            self.completed += 1


def measure(step: Step, packets: int = PACKETS, rounds: int = ROUNDS) -> Outcome:
    """Data packets a second of processor time (median of `rounds`), and the peak of memory of a process that did it."""
    pair = BackToBack()

    def rate() -> float:
        began = time.thread_time()
        pair.run(packets)
        return packets / (time.thread_time() - began)

    (value,) = medians([rate], rounds, step)
    return Outcome(
        [Figure("nic.back_to_back", value, "packets/s"), Figure("nic.back_to_back.memory", _peak_mib(packets), "MiB")]
    )


def _peak_mib(packets: int) -> float:
    """Peak of resident memory in MiB of a new process that sends `packets`."""
    command = [sys.executable, *_COMMAND, str(packets)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError("nic.back_to_back", f"exit code {result.returncode} ({last})", "a run to its end")
    return float(result.stdout.splitlines()[-1])


def _main(packets: int) -> None:
    """Send `packets` and print the peak of memory of this process in MiB."""
    BackToBack().run(packets)
    print(peak_mib())


if __name__ == "__main__":
    _main(int(sys.argv[1]))
