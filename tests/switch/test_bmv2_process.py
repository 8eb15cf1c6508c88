"""The BMv2 process: its ports, its log, and that nothing of it survives whoever started it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pymodel.base import toolpath
from pymodel.base.errors import InputError
from pymodel.base.toolpath import find
from pymodel.switch import bmv2_process
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.bmv2_process import Bmv2Process
from pymodel.switch.target import CompiledProgram, TableEntry

SUPERVISOR = Path(bmv2_process.__file__).with_name("supervise.py")


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended but is not yet waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return False


def wait_until(condition, what: str, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def supervised(console: Path, *command: str) -> tuple[subprocess.Popen, int]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", SUPERVISOR, console, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    return process, int(process.stdout.readline())


def finish(process: subprocess.Popen) -> int:
    process.stdin.close()
    status = process.wait(10)
    process.stdout.close()
    return status


# --- the supervisor, with any command ---------------------------------------------------------------------------------


def test_a_supervised_command_ends_with_its_holder(tmp_path: Path) -> None:
    process, pid = supervised(tmp_path / "console", "/bin/sleep", "1000")
    assert alive(pid)
    assert finish(process) == 256 - signal.SIGTERM
    assert not alive(pid)


def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(1000)"
    process, pid = supervised(tmp_path / "console", sys.executable, "-c", stubborn)
    wait_until(lambda: "deaf" in (tmp_path / "console").read_text(), "the command started")
    assert finish(process) == 256 - signal.SIGKILL
    assert not alive(pid)


def test_a_command_does_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    process, pid = supervised(tmp_path / "console", "/bin/sleep", "1000")
    process.kill()
    finish(process)
    wait_until(lambda: not alive(pid), "the command is gone")


def test_a_command_that_ends_gives_its_status_and_output(tmp_path: Path) -> None:
    process, _ = supervised(tmp_path / "console", "/bin/sh", "-c", "echo said; exit 7")
    assert process.wait(10) == 7
    finish(process)
    assert (tmp_path / "console").read_text() == "said\n"


def test_a_command_that_is_missing_says_so(tmp_path: Path) -> None:
    process, _ = supervised(tmp_path / "console", "/nonexistent/switch")
    assert process.wait(10) == 127
    finish(process)
    assert "No such file" in (tmp_path / "console").read_text()


# --- ports ------------------------------------------------------------------------------------------------------------


def test_a_reserved_port_is_given_to_nobody_else_and_can_still_be_listened_on() -> None:
    with bmv2_process._reserved_port() as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        others = set()
        for _ in range(200):
            with bmv2_process._reserved_port() as another:
                others.add(another)
        assert port not in others
        for option, address in ((socket.SO_REUSEPORT, "127.0.0.1"), (socket.SO_REUSEADDR, "0.0.0.0")):
            with socket.socket() as switch:
                switch.setsockopt(socket.SOL_SOCKET, option, 1)
                switch.bind((address, port))
                switch.listen()
                socket.create_connection(("127.0.0.1", port)).close()


# --- simple_switch_grpc -----------------------------------------------------------------------------------------------


def nobody_listens(port: int) -> bool:
    """Whether the port is free of its switch. To bind it would prove less: by now it may serve another connection."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
"""127.0.0.1, the same mapped into IPv6, and ::1, as /proc/net writes them."""


@pytest.mark.skipif(find("g++") is None, reason="g++ is missing (apt-get install g++)")
@pytest.mark.bmv2
def test_p26_the_switch_listens_where_it_should_and_nowhere_else(tmp_path: Path) -> None:
    with Bmv2Process("one", 1, tmp_path, "info") as switch:
        own = bmv2_process._listening(switch._pid)
        asked = {int(address.rpartition(":")[2]) for address in (switch.grpc_address, switch.dataplane_address)}
        assert own == asked | ({switch.thrift_port} if switch.thrift_port else set())
        assert not own & {9090, 9559}
        heard = set()
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                address, port = line.split()[1].split(":")
                if int(port, 16) in own and line.split()[3] == "0A":
                    assert address in LOOPBACK, (address, int(port, 16))
                    heard.add(int(port, 16))
        # Thrift too: this machine has a compiler, so "all addresses" has become loopback.
        assert heard == own
    wait_until(lambda: all(map(nobody_listens, own)), "no busy port")


@pytest.mark.bmv2
def test_the_log_is_kept_and_tells_of_the_switch(tmp_path: Path, control_plane_program: CompiledProgram) -> None:
    with Bmv2Switch("told", folder=tmp_path, log_level="debug") as switch:
        switch.load(control_plane_program)
        switch.inject(3, b"\x00\x02", 0)
        assert switch.drain(0) == []
    assert switch.log == tmp_path / "told.txt"
    text = switch.log.read_text(encoding="utf-8")
    assert "Processing packet received on port 3" in text
    assert "PacketTooShort" in text


@pytest.mark.bmv2
@pytest.mark.parametrize("number", [2, 8])
def test_p27_several_at_once_do_not_meet(number: int, tmp_path: Path, control_plane_program: CompiledProgram) -> None:
    before = {path.name for path in Path("/tmp").glob("bmv2-*")}

    def use(place: int) -> list[tuple[int, int, bytes]]:
        with Bmv2Switch(f"s{place}", folder=tmp_path) as switch:
            switch.load(control_plane_program)
            match = {"standard.ingress_port": 1, "hdr.word.small": 2}
            switch.write([TableEntry("port_exact", "forward", match, {"port": 10 + place})])
            switch.inject(1, bytes([0, 2]) + bytes(18), place)
            return switch.drain(place)

    with ThreadPoolExecutor(number) as pool:
        came = list(pool.map(use, range(number)))
    assert came == [[(place, 10 + place, bytes([0, 2]) + bytes(18))] for place in range(number)]
    assert {path.name for path in Path("/tmp").glob("bmv2-*")} == before


@pytest.mark.bmv2
def test_p27_nothing_is_left_after_kill_9_and_a_new_one_starts(tmp_path: Path) -> None:
    holder = f"""
import sys, time
from pathlib import Path
from pymodel.switch.bmv2_process import Bmv2Process, _listening
folder = Path({str(tmp_path)!r})
with Bmv2Process("a", 1, folder, "info") as a, Bmv2Process("b", 1, folder, "info") as b:
    print(a._pid, b._pid, *_listening(a._pid), *_listening(b._pid), flush=True)
    time.sleep(1000)
"""
    process = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, cwd=toolpath.ROOT)
    first, second, *ports = map(int, process.stdout.readline().split())
    assert len(ports) >= 4
    assert alive(first)
    assert alive(second)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    wait_until(lambda: not alive(first) and not alive(second), "no orphan")
    # A process is dead before the last of its threads has given back its sockets.
    wait_until(lambda: all(map(nobody_listens, ports)), "no busy port")
    with Bmv2Process("a", 1, tmp_path, "info"):
        pass


@pytest.mark.bmv2
def test_a_switch_that_dies_is_named_with_what_it_said(tmp_path: Path, control_plane_program: CompiledProgram) -> None:
    with Bmv2Switch("dying", folder=tmp_path) as switch:
        switch.load(control_plane_program)
        os.kill(switch._process._pid, signal.SIGKILL)
        switch.inject(1, bytes(20), 0)
        with pytest.raises(InputError, match=r"simple_switch_grpc dying: found that it ended with status -9"):
            switch.drain(0)


@pytest.mark.bmv2
def test_an_occupied_port_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        ports = iter([occupied.getsockname()[1]])
        real = bmv2_process._reserved_port

        def first_is_occupied():
            port = next(ports, None)
            return real() if port is None else contextlib.nullcontext(port)

        monkeypatch.setattr(bmv2_process, "_reserved_port", first_is_occupied)
        monkeypatch.setattr(bmv2_process, "_START_S", 1)
        with (
            pytest.raises(InputError, match=r"x: found that it listens on ports .*, expected") as error,
            Bmv2Process("x", 1, tmp_path, "info"),
        ):
            pass
    assert "\n" not in str(error.value)


def test_a_missing_tool_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolpath, "find", lambda name: None)
    with pytest.raises(InputError, match="simple_switch_grpc: found no such tool on this machine"), Bmv2Switch("none"):
        pass
