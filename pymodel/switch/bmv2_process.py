"""Start and stop BMv2's `simple_switch_grpc`: its ports, its log, and its end in every case.

Ports are reserved before the process starts: a socket bound to a port of the system's choice, never listening, stays
open until the switch listens. SO_REUSEPORT lets gRPC listen on the same port, SO_REUSEADDR lets Thrift, and nobody else
is given it meanwhile. That matters because gRPC itself binds with SO_REUSEPORT: two switches on one port would both
start, and each would get half of the connections.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self

from pymodel.base import toolpath
from pymodel.base.errors import InputError
from pymodel.wire.spec import CPU_PORT, HIGH_PRIORITY

__all__ = ["PRIORITIES", "Bmv2Process", "LogLevel", "try_program"]

LogLevel = Literal["trace", "debug", "info", "warn", "error", "off"]

PRIORITIES = HIGH_PRIORITY + 1
"""Queues a port has, 0 served last."""

_TOOL = "simple_switch_grpc"
_SUPERVISOR = Path(__file__).with_name("supervise.py")
_LOG_BYTES = 50_000_000
"""BMv2 begins a new log file at this size (NAME.1.txt is the one before) and keeps three."""
_LOOPBACK = Path(__file__).with_name("loopback.cpp")
_START_S = 20
"""How long a switch may take to listen. It takes milliseconds, on a machine that is not busy with something else."""


class Bmv2Process:
    """A running `simple_switch_grpc`. Entering the context starts it; leaving it ends it and frees its ports.

    `folder` is for its log and for what it prints (None: a new temporary one); both files stay when it has ended. With
    `program`, a BMv2 JSON file, the switch starts with it, or ends at once and says what is wrong with it; without, one
    is pushed later.
    """

    def __init__(
        self, name: str, device_id: int, folder: Path | None, log_level: LogLevel, program: Path | None = None
    ) -> None:
        self.name = name
        self.grpc_address = ""
        self.dataplane_address = ""
        self.thrift_port: int | None = None
        self._folder = folder
        self._device_id = device_id
        self._log_level = log_level
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def __enter__(self) -> Self:
        tool = toolpath.require(_TOOL)
        self.folder.mkdir(parents=True, exist_ok=True)
        thrift = _has_option(tool, "--thrift-port")
        with contextlib.ExitStack() as reservations:
            grpc_port, dataplane_port, thrift_port = (reservations.enter_context(_reserved_port()) for _ in range(3))
            self.grpc_address = f"127.0.0.1:{grpc_port}"
            self.dataplane_address = f"127.0.0.1:{dataplane_port}"
            self.thrift_port = thrift_port if thrift else None
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", _SUPERVISOR, self.console, *_on_loopback(), *self._command(tool)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            try:
                said = _pipe(self._process.stdout).readline()
                if not said:
                    self.check(_START_S)
                self._pid = int(said)
                self._wait_for({grpc_port, dataplane_port} | ({thrift_port} if thrift else set()))
            except BaseException:
                self._end()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def folder(self) -> Path:
        """Where log and console are."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="mrc-bmv2-"))
        return self._folder

    @property
    def log(self) -> Path:
        """The log file."""
        return self.folder / f"{self.name}.txt"

    @property
    def console(self) -> Path:
        """What the process prints."""
        return self.folder / f"{self.name}.console.txt"

    def check(self, patience_s: float = 0) -> None:
        """Return if the switch still runs after `patience_s`; InputError, with the last it wrote, when it has ended."""
        if self._process is None:
            return
        try:
            status = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return
        status = status - 256 if status > 127 else status
        written = " | ".join((self._tail(self.console) + self._tail(self.log))[-4:])
        raise InputError(
            f"{_TOOL} {self.name}", f"that it ended with status {status} ({written})", "a switch that runs on"
        )

    def _command(self, tool: Path) -> list[str | Path]:
        optional: list[str | Path] = ["--thrift-port", str(self.thrift_port)] if self.thrift_port else []
        if _has_option(tool, "--log-file-max-size"):
            optional += ["--log-file-max-size", str(_LOG_BYTES)]
        return [
            tool,
            self._program or "--no-p4",
            "--device-id",
            str(self._device_id),
            *optional,
            # BMv2 adds ".txt" to the name.
            "--log-file",
            self.log.with_suffix(""),
            "--log-level",
            self._log_level,
            "--log-flush",
            "--",
            "--grpc-server-addr",
            self.grpc_address,
            "--dp-grpc-server-addr",
            self.dataplane_address,
            "--priority-queues",
            str(PRIORITIES),
            "--cpu-port",
            str(CPU_PORT),
        ]

    def _wait_for(self, ports: set[int]) -> None:
        """Wait until the switch listens on exactly `ports`, which also proves that they are its own."""
        deadline = time.monotonic() + _START_S
        while (found := _listening(self._pid)) != ports:
            self.check()
            if time.monotonic() > deadline:
                raise InputError(
                    f"{_TOOL} {self.name}",
                    f"that it listens on ports {sorted(found) or 'none'} after {_START_S} s",
                    f"ports {sorted(ports)}",
                )
            time.sleep(0.002)

    def _end(self) -> None:
        if self._process is None:
            return
        _pipe(self._process.stdin).close()
        self._process.wait()
        _pipe(self._process.stdout).close()
        self._process = None

    @staticmethod
    def _tail(path: Path) -> list[str]:
        try:
            return path.read_text(encoding="utf-8", errors="replace").splitlines()[-4:]
        except OSError:
            return []


def try_program(path: Path, folder: Path) -> None:
    """Start a switch on a BMv2 JSON file for a moment; InputError, with what it printed, when BMv2 refuses the file.

    BMv2's P4Runtime server takes any program that is pushed to it, runs what it made of a wrong one and falls over it.
    """
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    if content in _tried:
        return
    trial = Bmv2Process(f"trial-{content[:12]}", 1, folder, "info", path)
    try:
        with trial:
            pass
    except InputError as error:
        printed = " | ".join(trial.console.read_text(encoding="utf-8", errors="replace").split("\n")[1:]).strip(" |")
        raise InputError(str(path), printed or error.found, "a program that BMv2 runs") from error
    trial.log.unlink(missing_ok=True)
    trial.console.unlink(missing_ok=True)
    _tried.add(content)


_tried: set[str] = set()


@contextlib.contextmanager
def _reserved_port() -> Iterator[int]:
    with socket.socket() as reservation:
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        yield reservation.getsockname()[1]


@functools.cache
def _on_loopback() -> tuple[str | Path, ...]:
    """Return what stands before a command so that it listens on loopback alone; nothing where there is no compiler.

    Only Thrift needs it (`loopback.cpp`). The library is built once, beside what else the clone builds.
    """
    compiler = toolpath.find("g++")
    if compiler is None:
        return ()
    digest = hashlib.sha256(_LOOPBACK.read_bytes()).hexdigest()[:16]
    library = toolpath.ROOT / "build" / "bmv2" / f"loopback-{digest}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            made = Path(scratch) / library.name
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, _LOOPBACK, "-ldl"], check=True)
            made.replace(library)
    return ("/usr/bin/env", f"LD_PRELOAD={library}")


def _has_option(tool: Path, option: str) -> bool:
    """Whether `tool` knows an option; an unknown one ends it. Thrift is not in every build (bug-review.md P26)."""
    return option in _help(tool)


@functools.cache
def _help(tool: Path) -> str:
    shown = subprocess.run([tool, "--help"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return shown.stdout + shown.stderr


def _listening(pid: int) -> set[int]:
    """Return the TCP ports on which process `pid` itself listens."""
    sockets = set()
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
                if found:
                    sockets.add(found[1])
    ports = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
                columns = line.split()
                if columns[3] == "0A" and columns[9] in sockets:
                    ports.add(int(columns[1].rpartition(":")[2], 16))
    return ports


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
