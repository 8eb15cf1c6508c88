"""The embedded target itself: quick to start, gone when stopped, the same every time, safe beside controllers."""

from __future__ import annotations

import random
import socket
import threading
import time
from pathlib import Path

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import MS, US, S
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.target import CompiledProgram, SwitchTarget, TableEntry
from pymodel.wire.spec import CPU_PORT


def forward(port: int, out: int) -> TableEntry:
    return TableEntry("port_exact", "forward", {"standard.ingress_port": port, "hdr.word.small": 0}, {"port": out})


def test_it_is_a_switch_target() -> None:
    assert isinstance(EmbeddedSwitch(), SwitchTarget)


def test_eight_start_and_stop_at_once_and_leave_nothing(control_plane_program: CompiledProgram) -> None:
    before = threading.active_count()
    switches = [EmbeddedSwitch(f"s{place}") for place in range(8)]
    started = time.perf_counter()
    for switch in switches:
        switch.__enter__()
    start_s = time.perf_counter() - started
    for place, switch in enumerate(switches):
        switch.load(control_plane_program)
        switch.write([forward(1, place)])
    for place, switch in enumerate(switches):
        switch.inject(1, bytes(20), 5)
        assert switch.drain(5) == [(5, place, bytes(20))]
    addresses = [switch.address for switch in switches]
    assert len(set(addresses)) == 8
    started = time.perf_counter()
    for switch in switches:
        switch.__exit__(None, None, None)
    stop_s = time.perf_counter() - started
    # gRPC's own threads end a moment after what they served.
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
    for address in addresses:
        socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))).close()
    # 50 ms each is the aim (a few ms are usual); a busy machine gets ten times that.
    assert start_s < 8 * 0.5
    assert stop_s < 8 * 0.5


def test_it_listens_on_loopback_alone() -> None:
    with EmbeddedSwitch() as switch:
        host, _, port = switch.address.rpartition(":")
        assert host == "127.0.0.1"
        places = set()
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
                address, _, hexadecimal = line.split()[1].rpartition(":")
                if int(hexadecimal, 16) == int(port) and line.split()[3] == "0A":
                    places.add(address)
    assert places <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert places


def test_a_run_is_the_same_twice(control_plane_program: CompiledProgram) -> None:
    def run() -> list[tuple[int, int, bytes]]:
        generator = random.Random(3)
        with EmbeddedSwitch(seed=7) as switch:
            switch.load(control_plane_program)
            switch.write([forward(port, port + 100) for port in range(20)])
            for port in (101, 102, 103):
                switch.set_queue(port, 0, 1_000_000, "bit/s", 5)
            out = []
            for step in range(400):
                switch.inject(generator.randrange(20), bytes(1) + bytes([0]) + generator.randbytes(40), step * US)
                out += switch.drain(step * US)
            return out + switch.drain(10 * S)

    first = run()
    assert len(first) > 300
    assert run() == first


def test_the_counters_are_those_that_p4runtime_reads(control_plane_program: CompiledProgram) -> None:
    generator = random.Random(4)
    with EmbeddedSwitch() as switch:
        switch.load(control_plane_program)
        switch.write([forward(1, 2)])
        for _ in range(200):
            switch.inject(1, generator.randbytes(generator.randrange(60)), 0)
        assert switch.counters() == switch.control.counters()
        assert len(switch.counters()) > 10


def test_controllers_and_frames_do_not_disturb_each_other(control_plane_program: CompiledProgram) -> None:
    """One thread changes and reads a table, another moves frames that this table decides on."""
    with EmbeddedSwitch() as switch, Client(switch.address, election_id=(0, 9)) as controller:
        controller.load(control_plane_program)
        stop = threading.Event()
        faults: list[BaseException] = []

        def change() -> None:
            try:
                while not stop.is_set():
                    controller.insert([forward(1, 7)])
                    assert len(controller.read_table("port_exact")) == 1
                    controller.read_counter("seen")
                    controller.delete([forward(1, 7)])
            except BaseException as error:
                faults.append(error)

        changing = threading.Thread(target=change)
        changing.start()
        out = sent = 0
        deadline = time.monotonic() + 30
        while sent < 4_000 or (out in (0, sent) and time.monotonic() < deadline):
            switch.inject(1, bytes(20), sent)
            frames = switch.drain(sent)
            assert frames in ([], [(sent, 7, bytes(20))])
            out += len(frames)
            sent += 1
        stop.set()
        changing.join()
        assert not faults
        assert switch.counters()["IngressImpl.single"].packets == sent
        assert 0 < out < sent


def test_what_a_controller_sends_leaves_with_the_next_frames(control_plane_program: CompiledProgram) -> None:
    with EmbeddedSwitch() as switch:
        switch.load(control_plane_program)
        switch.drain(50)
        switch.control.client.send_packet(bytes(20), egress_port=6)
        # To the CPU port: its arrival tells that the one before is done.
        switch.control.client.send_packet(bytes(20), egress_port=CPU_PORT)
        assert switch.control.client.receive_packet(10)
        assert switch.next_event_ps() == 50
        assert switch.drain(60) == [(50, 6, bytes(20))]
        assert switch.next_event_ps() is None


def test_a_queue_holds_frames_until_their_time(control_plane_program: CompiledProgram) -> None:
    with EmbeddedSwitch() as switch:
        with pytest.raises(InputError, match="embedded switch: found no program, expected one to be loaded first"):
            switch.set_queue(5, 0, 1, "pps", 1)
        switch.load(control_plane_program)
        switch.write([forward(1, 5)])
        switch.set_queue(5, 0, 1_000, "pps", 10)
        for _ in range(3):
            switch.inject(1, bytes(20), 0)
        assert switch.drain(0) == [(0, 5, bytes(20))]
        assert switch.next_event_ps() == MS
        assert [at for at, _, _ in switch.drain(S)] == [MS, 2 * MS]
        with pytest.raises(InputError, match="queue, port: found 511"):
            switch.set_queue(511, 0, 1, "pps", 1)


def test_a_program_that_never_rests_is_stopped(restless_program: CompiledProgram) -> None:
    with EmbeddedSwitch() as switch:
        switch.load(restless_program)
        switch.inject(3, b"\0rest", 0)
        switch.inject(3, b"\1rest", 0)
        assert switch.drain(0) == [(0, 1, b"\1rest")]
        assert switch.engine.drops["work limit"] == 1
