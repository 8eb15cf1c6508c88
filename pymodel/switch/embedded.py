"""The embedded engine as a switch target: programmed over real P4Runtime, run in virtual time.

The control plane can't tell it from BMv2: it speaks gRPC to a server in this process. Frames go to the engine directly.
Controllers arrive on the server's threads and frames on the caller's; one lock keeps them apart.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable

from pymodel.base.errors import InputError
from pymodel.switch.control import PORTS, ControlledSwitch
from pymodel.switch.embedded_dataplane import EngineDataplane
from pymodel.switch.engine import Engine
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.server import P4RuntimeServer
from pymodel.switch.target import CompiledProgram, Count, Rate, TableEntry
from pymodel.wire.spec import CPU_PORT

__all__ = ["EmbeddedSwitch"]


class EmbeddedSwitch(ControlledSwitch):
    """A `SwitchTarget` that is an engine in this process. `seed` is that of the program's `random()`."""

    def __init__(self, name: str = "embedded", *, seed: int = 0) -> None:
        super().__init__(name)
        self._lock = threading.RLock()
        self._dataplane = EngineDataplane(seed, self._packet_out)
        self._server = P4RuntimeServer(self._dataplane, self._lock)
        self._now_ps = 0
        self._left: list[tuple[int, int, bytes]] = []

    def _start(self, starting: contextlib.ExitStack) -> Client:
        starting.enter_context(self._server)
        return Client(self._server.address)

    @property
    def engine(self) -> Engine:
        """The engine itself, for whoever looks into it; InputError before a program is loaded."""
        return self._dataplane.engine

    def load(self, program: CompiledProgram) -> None:
        """Push the pipeline; time begins anew. InputError names what in the program the engine does not know."""
        self.control.client.load(program)
        with self._lock:
            self._now_ps = 0

    def write(self, entries: Iterable[TableEntry]) -> None:
        """Insert table entries through P4Runtime. InputError names the table and key that is wrong."""
        self.control.write(entries)

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`; one that is empty or longer than any frame is lost at the port."""
        enters = self.checked_frame(f"switch {self.name}", port, data)
        with self._lock:
            self._now_ps = max(self._now_ps, now_ps)
            if enters and self._dataplane.loaded:
                self._dataplane.engine.inject(port, data, now_ps)

    def next_event_ps(self) -> int | None:
        """When the switch can next put out a frame, in ps, or None when it holds none."""
        with self._lock:
            following = self._dataplane.engine.next_event_ps() if self._dataplane.loaded else None
            if not self._left:
                return following
            return self._left[0][0] if following is None else min(self._left[0][0], following)

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """Frames that left at or before `until_ps`, in order, as (time in ps, port, frame)."""
        with self._lock:
            self._now_ps = max(self._now_ps, until_ps)
            self._collect(until_ps)
            out = [frame for frame in self._left if frame[0] <= until_ps]
            self._left = self._left[len(out) :]
        return out

    def counters(self) -> dict[str, Count]:
        """Every non-zero cell of the program's counters: ``name`` for a counter of one cell, else ``name[index]``."""
        found = {}
        with self._lock:
            for counter in self._dataplane.info.counters:
                cells = self._dataplane.engine.counters[counter.name]
                for index, (packets, octets) in enumerate(zip(cells.packets, cells.bytes, strict=True)):
                    if packets or octets:
                        name = counter.name if counter.size == 1 else f"{counter.name}[{index}]"
                        found[name] = Count(packets, octets)
        return found

    def set_queue(self, port: int, priority: int, rate: int | None, unit: Rate, depth_packets: int) -> None:
        """Set depth and rate ("pps": of this queue, "bit/s": of the port's link, None: unlimited) of one queue."""
        if not 0 <= port < PORTS:
            raise InputError(f"switch {self.name}: queue, port", str(port), f"0 to {PORTS - 1}")
        with self._lock:
            self._dataplane.engine.set_queue(port, priority, rate, unit, depth_packets)

    def set_port(self, port: int, up: bool) -> None:
        """Set a port's state in the program's port tables."""
        self.control.set_port(port, up)

    def _packet_out(self, frame: bytes) -> None:
        """A controller's frame enters, and what comes back to controllers at once goes there."""
        self._dataplane.engine.inject(CPU_PORT, frame, self._now_ps)
        self._collect(self._now_ps)

    def _collect(self, until_ps: int) -> None:
        """Take what left the engine; what left by the CPU port is a packet-in and no frame of ours."""
        if not self._dataplane.loaded:
            return
        for frame in self._dataplane.engine.drain(until_ps):
            if frame[1] == CPU_PORT:
                self._server.packet_in(frame[2])
            else:
                self._left.append(frame)
