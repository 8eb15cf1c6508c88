"""BMv2 as a switch target: a `simple_switch_grpc` process, programmed by P4Runtime, fed by its gRPC data plane.

BMv2 lives on the wall clock. Time here is virtual and stands still while frames are in the switch: `drain` sends what
was injected, waits for the proof that nothing more will come (`bmv2_dataplane`), and gives every frame the time of the
injection that caused it. `docs/bmv2.md` tells what that means for queues.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc

from pymodel.base.errors import InputError
from pymodel.switch import bmv2_queues
from pymodel.switch.bmv2_dataplane import Dataplane
from pymodel.switch.bmv2_process import PRIORITIES, Bmv2Process, LogLevel, try_program
from pymodel.switch.control import PORTS, ControlledSwitch
from pymodel.switch.p4runtime.client import Client, check_json
from pymodel.switch.target import CompiledProgram, Count, Rate, TableEntry

__all__ = ["Bmv2Switch"]

_DEVICE_ID = 1
_BURST_WITHOUT_THRIFT = 64
"""Frames sent at once where the depth can't be raised: no queue overflows."""
_LAST_WORDS_S = 1.0
"""A connection is lost a moment before the process has ended."""
_MAX_I32 = 2**31 - 1
_DEPTH = _MAX_I32
"""Packets a queue holds until `set_queue` says otherwise: what is lost is the program's decision. BMv2's own 64 lose
frames of a burst whenever the machine is busy elsewhere."""


class Bmv2Switch(ControlledSwitch):
    """A `SwitchTarget` that is a BMv2 process. Its log is in `folder` (default: a new temporary one) and stays.

    `log_level` "trace" tells every step of every packet and costs more than half of the speed.
    """

    def __init__(self, name: str = "bmv2", *, folder: Path | None = None, log_level: LogLevel = "info") -> None:
        super().__init__(name)
        self._process = Bmv2Process(name, _DEVICE_ID, folder, log_level)
        self._dataplane: Dataplane | None = None
        self._waiting: list[tuple[int, int, bytes]] = []
        self._queues_set = False
        self._loaded = False

    def _start(self, starting: contextlib.ExitStack) -> Client:
        starting.enter_context(self._process)
        dataplane = Dataplane(self.name, self._process.dataplane_address, _DEVICE_ID)
        self._dataplane = starting.enter_context(contextlib.closing(dataplane))
        return Client(self._process.grpc_address, _DEVICE_ID)

    @property
    def log(self) -> Path:
        """The log file, complete up to now."""
        return self._process.log

    @property
    def dataplane_address(self) -> str:
        """Where frames go in and out: gRPC service p4.bm.DataplaneInterface."""
        return self._process.dataplane_address

    def check_alive(self) -> None:
        """Return if the process still runs; InputError, with the last it wrote, when it has ended."""
        self._process.check()

    def load(self, program: CompiledProgram) -> None:
        """Push the pipeline; queues are as at the start. InputError, in BMv2's words, when it can't run the program."""
        check_json(program)
        try_program(program.json_path, self._process.folder)
        with self._alive():
            self.control.client.load(program)
            self._running.wait_until_ready()
            self._reset_queues()
        self._loaded = True

    def write(self, entries: Iterable[TableEntry]) -> None:
        """Insert table entries through P4Runtime. InputError names the table and key that is wrong."""
        with self._alive():
            self.control.write(entries)

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`; one that is empty or longer than any frame is lost at the port."""
        if self.checked_frame(f"BMv2 {self.name}", port, data):
            self._waiting.append((now_ps, port, data))

    def next_event_ps(self) -> int | None:
        """Time of the earliest injection that was not drained, or None when the switch holds nothing."""
        return min((now_ps for now_ps, _, _ in self._waiting), default=None)

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """All that came of the frames injected at or before `until_ps`, at the time of their injection.

        Frames of the same time enter back to back, as one burst. Until `set_queue` is called nothing waits, so nothing
        overtakes, and the frames are ordered by cause and port, which BMv2's threads would leave to chance; afterwards
        they come as they left. Without a program nothing comes.
        """
        due = sorted((frame for frame in self._waiting if frame[0] <= until_ps), key=lambda frame: frame[0])
        self._waiting = [frame for frame in self._waiting if frame[0] > until_ps]
        if not self._loaded:
            return []
        out = []
        for now_ps, together in itertools.groupby(due, key=lambda frame: frame[0]):
            frames = [(port, data) for _, port, data in together]
            out += [(now_ps, port, data) for port, data in self._burst(frames)]
        return out

    def counters(self) -> dict[str, Count]:
        """Every non-zero cell of the program's counters: ``name`` for a counter of one cell, else ``name[index]``."""
        with self._alive():
            return self.control.counters()

    def set_queue(self, port: int, priority: int, rate: int | None, unit: Rate, depth_packets: int) -> None:
        """Set rate (packets per second, None: unlimited) and depth of one egress queue, over Thrift."""
        where = f"BMv2 {self.name}: queue"
        if unit != "pps":
            raise InputError(where, f"a rate in {unit}", "pps: BMv2 counts packets; the embedded switch has bit/s")
        if self._process.thrift_port is None:
            raise InputError(where, "a simple_switch_grpc without Thrift", "one built with it, which alone sets queues")
        for what, value, low, high in (
            ("port", port, 0, PORTS - 1),
            ("priority", priority, 0, PRIORITIES - 1),
            ("rate", 1 if rate is None else rate, 1, _MAX_I32),
            ("depth", depth_packets, 1, _MAX_I32),
        ):
            if not low <= value <= high:
                raise InputError(f"{where}, {what}", str(value), f"{low} to {high}")
        with self._alive():
            bmv2_queues.set_depth(self._process.thrift_port, port, priority, depth_packets)
            bmv2_queues.set_rate(self._process.thrift_port, port, priority, rate or 0)
        self._queues_set = True

    def set_port(self, port: int, up: bool) -> None:
        """Set a port's state in the program's port tables, and tell BMv2 of the link."""
        with self._alive():
            self.control.set_port(port, up)
            self._running.set_port(port, up)

    def _reset_queues(self) -> None:
        if self._process.thrift_port:
            bmv2_queues.set_all_depths(self._process.thrift_port, _DEPTH)
            bmv2_queues.set_all_rates(self._process.thrift_port, 0)
        self._queues_set = False

    @property
    def _running(self) -> Dataplane:
        assert self._dataplane is not None, "the switch is not running"
        return self._dataplane

    def _burst(self, frames: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        at_once = len(frames) if self._process.thrift_port else _BURST_WITHOUT_THRIFT
        out = []
        for first in range(0, len(frames), at_once):
            with self._alive():
                came = self._running.burst(frames[first : first + at_once])
            out += came if self._queues_set else sorted(came, key=lambda frame: frame[:2])
        return [(port, data) for _, port, data in out]

    @contextlib.contextmanager
    def _alive(self) -> Iterator[None]:
        """Turn a lost connection, or a refusal by a process that is ending, into what the switch wrote last."""
        try:
            yield
        except InputError as error:
            self._process.check(_LAST_WORDS_S if "UNAVAILABLE" in error.found else 0)
            raise
        except grpc.RpcError as error:
            self._process.check(_LAST_WORDS_S)
            found = f"{error.code().name} ({error.details()})"
            raise InputError(f"BMv2 {self.name}", found, "a switch that answers") from error
