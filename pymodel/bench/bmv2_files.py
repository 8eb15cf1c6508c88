"""BMv2 at its full speed: fed from a pipe in its file mode, so that no client is the limit.

With ``--use-files`` BMv2 reads port X's frames from ``X_in.pcap`` and writes what leaves to ``X_out.pcap``. The input
here is a named pipe that looks like a pcap file without end: the switch waits in it until frames come, takes them as
fast as it can (reading stops while its ingress is full), and lives through as many rounds as are wanted. The other
ports have an input without frames.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import select
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from scapy.data import DLT_EN10MB
from scapy.utils import RawPcapReader, RawPcapWriter

from pymodel.base.errors import InputError
from pymodel.bench.cores import pinned
from pymodel.switch import bmv2_queues
from pymodel.switch.bmv2_process import Bmv2Process
from pymodel.switch.control import ControlPlane
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.target import CompiledProgram, TableEntry

__all__ = ["FileFedBmv2", "records"]

_DEVICE_ID = 1
_PIPE_BYTES = 1 << 20
"""Kernel buffer of the pipe: the most that Linux lets an ordinary user ask for."""
_ROUND_S = 60
_POLL_S = 0.0005
_TELLING_OPTIONS = ("--log-level", "--use-files", "--priority-queues")
_LOGGING = b"Processing packet received on port"
"""Part of a message that the logging macros leave in the program."""


def records(frames: Iterable[bytes]) -> bytes:
    """The records of a pcap file with `frames`."""
    return _pcap(frames)[len(_FILE_HEADER) :]


def _pcap(frames: Iterable[bytes]) -> bytes:
    file = io.BytesIO()
    writer = RawPcapWriter(file, linktype=DLT_EN10MB)
    writer.write_header(None)
    for frame in frames:
        writer.write_packet(frame, sec=0, usec=0)
    return file.getvalue()


_FILE_HEADER = _pcap([])


class FileFedBmv2:
    """A `simple_switch_grpc` on one `core`, with ports 0 to `ports` - 1, whose frames come in on port 0.

    `folder` holds its files and is the caller's to remove. InputError when the tool is missing.
    """

    def __init__(self, folder: Path, ports: int, core: int) -> None:
        self._inputs = [folder / f"port{number}_in.pcap" for number in range(ports)]
        self._outputs = [folder / f"port{number}_out.pcap" for number in range(ports)]
        self._core = core
        self._process = _FileFedProcess(folder, [folder / f"port{number}" for number in range(ports)])
        self._resources = contextlib.ExitStack()
        self._pipe = -1
        self._due = 0

    def __enter__(self) -> Self:
        os.mkfifo(self._inputs[0])
        for path in self._inputs[1:]:
            path.write_bytes(_FILE_HEADER)
        with contextlib.ExitStack() as starting:
            # Open for both directions, the pipe needs no reader yet and has no end.
            self._pipe = os.open(self._inputs[0], os.O_RDWR | os.O_NONBLOCK)
            starting.callback(os.close, self._pipe)
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            os.write(self._pipe, _FILE_HEADER)
            with pinned(self._core):
                starting.enter_context(self._process)
            self._resources = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    @property
    def sets_queues(self) -> bool:
        """Whether queues can be made deeper than BMv2's own 64 packets, beyond which it drops."""
        return self._process.thrift_port is not None

    @property
    def options(self) -> str:
        """The options that tell how it runs, as on its command line."""
        return self._process.options

    def program(self, program: CompiledProgram, entries: Iterable[TableEntry], depth: int) -> None:
        """Load `program` and `entries`, and let every queue hold `depth` packets, where queues can be set."""
        with Client(self._process.grpc_address, _DEVICE_ID) as client:
            client.load(program)
            ControlPlane(client).write(entries)
        if self._process.thrift_port is not None:
            bmv2_queues.set_all_depths(self._process.thrift_port, depth)

    def run(self, frames: bytes) -> float:
        """Feed `frames` (`records`), wait until as many bytes of records came out, and return the seconds it took.

        They are seconds of processor time, of all threads. InputError when the frames do not come: some were lost, or
        changed their length.
        """
        self._due += len(frames)
        used = self._process.cpu_seconds()
        began = time.monotonic()
        waiting = memoryview(frames)
        while waiting:
            try:
                waiting = waiting[os.write(self._pipe, waiting) :]
            except BlockingIOError:
                select.select([], [self._pipe], [], 0.1)
                self._check(began)
        while self._written() < self._due:
            time.sleep(_POLL_S)
            self._check(began)
        return self._process.cpu_seconds() - used

    def came(self) -> dict[int, list[bytes]]:
        """Every frame that has left so far, in order, by port; ports without any are left out."""
        found = {}
        for port, path in enumerate(self._outputs):
            if path.stat().st_size > len(_FILE_HEADER):
                with RawPcapReader(str(path)) as reader:
                    found[port] = [frame for frame, _ in reader]
        return found

    def build(self) -> str:
        """How the running switch was built, as far as its own code tells."""
        code = self._process.code()
        assertions = any(b"__assert_fail" in image for image in code)
        logging = any(_LOGGING in image for image in code)
        return (
            f"assertions compiled {'in' if assertions else 'out (as in a CMake Release build)'}, "
            f"logging macros compiled {'in' if logging else 'out'}"
        )

    def _written(self) -> int:
        """Bytes of records in the output files."""
        return sum(max(path.stat().st_size - len(_FILE_HEADER), 0) for path in self._outputs)

    def _check(self, began: float) -> None:
        self._process.check()
        if time.monotonic() > began + _ROUND_S:
            missing = self._due - self._written()
            raise InputError("BMv2 in file mode", f"{missing} bytes missing after {_ROUND_S} s", "every frame")


class _FileFedProcess(Bmv2Process):
    """A BMv2 process whose ports are files instead of a gRPC data plane."""

    def __init__(self, folder: Path, prefixes: Sequence[Path]) -> None:
        super().__init__("bmv2", _DEVICE_ID, folder, "off")
        self.options = ""
        self._prefixes = prefixes

    def cpu_seconds(self) -> float:
        """Processor time that all threads together have used."""
        # How clock_getcpuclockid(3), which Python has for threads alone, makes the clock of another process.
        return time.clock_gettime(~self._pid << 3 | 2)

    def code(self) -> list[bytes]:
        """The files of BMv2 itself, program and libraries, that the process runs."""
        maps = Path(f"/proc/{self._pid}/maps").read_text(encoding="utf-8", errors="replace")
        paths = dict.fromkeys(re.findall(r"(/\S*/(?:simple_switch|libsimpleswitch|libbm)\S*)$", maps, re.MULTILINE))
        return [Path(path).read_bytes() for path in paths]

    def _command(self, tool: Path) -> list[str | Path]:
        command = super()._command(tool)
        data_plane = command.index("--dp-grpc-server-addr")
        del command[data_plane : data_plane + 2]
        ports = [part for number, prefix in enumerate(self._prefixes) for part in ("-i", f"{number}@{prefix}")]
        target_options = command.index("--")
        command[target_options:target_options] = [*ports, "--use-files", "0"]
        places = [command.index(option) for option in _TELLING_OPTIONS]
        self.options = " ".join(f"{command[place]} {command[place + 1]}" for place in places)
        return command

    def _wait_for(self, ports: set[int]) -> None:
        super()._wait_for(ports - {int(self.dataplane_address.rpartition(":")[2])})
