"""BMv2's frames: the end of a burst is proved, its order told, its queues set."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.base.toolpath import find
from pymodel.switch import bmv2_dataplane, bmv2_queues
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.bmv2_dataplane import pack_frame, unpack_frame
from pymodel.switch.p4runtime.dataplane import Replica
from pymodel.switch.target import CompiledProgram, SwitchTarget, TableEntry

FRAME = bytes(20)


def forward(port: int, out: int) -> TableEntry:
    return TableEntry("port_exact", "forward", {"standard.ingress_port": port, "hdr.word.small": 0}, {"port": out})


# --- the messages, against protobuf's own code ------------------------------------------------------------------------


def packet_message() -> type:
    file = descriptor_pb2.FileDescriptorProto(name="packet.proto", package="test", syntax="proto3")
    message = file.message_type.add(name="Packet")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, (name, kind) in enumerate(
        (("id", kinds.TYPE_UINT64), ("device_id", kinds.TYPE_UINT64), ("port", kinds.TYPE_UINT32), ("packet", 12)), 1
    ):
        message.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("test.Packet"))


PACKET = packet_message()
u64, u32 = st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1)


@given(u64, u64, u32, st.binary(max_size=300))
def test_a_frame_is_packed_as_protobuf_packs_it(number: int, device: int, port: int, data: bytes) -> None:
    message = PACKET.FromString(pack_frame(number, device, port, data))
    assert (message.id, message.device_id, message.port, message.packet) == (number, device, port, data)


@given(u64, u64, u32, st.binary(max_size=300))
def test_a_frame_is_unpacked_as_protobuf_packs_it(number: int, device: int, port: int, data: bytes) -> None:
    wire = PACKET(id=number, device_id=device, port=port, packet=data).SerializeToString()
    assert unpack_frame(wire) == (number, port, data)


# --- the switch -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bmv2Switch]:
    with Bmv2Switch("queues", folder=tmp_path_factory.mktemp("bmv2")) as switch:
        yield switch


@pytest.fixture
def bmv2(running: Bmv2Switch, control_plane_program: CompiledProgram) -> Bmv2Switch:
    running.load(control_plane_program)
    return running


def test_it_is_a_switch_target() -> None:
    assert isinstance(Bmv2Switch(), SwitchTarget)


@pytest.mark.bmv2
def test_a_burst_comes_out_whole(bmv2: Bmv2Switch) -> None:
    # bug-review.md P05: BMv2's queues hold 64 packets unless told otherwise, and drop the rest without a word.
    bmv2.write([forward(1, 9)])
    for _ in range(3_000):
        bmv2.inject(1, FRAME, 4)
    assert bmv2.next_event_ps() == 4
    assert bmv2.drain(4) == [(4, 9, FRAME)] * 3_000


@pytest.mark.bmv2
def test_without_thrift_a_burst_is_cut_so_that_no_queue_overflows(
    bmv2: Bmv2Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    bmv2.write([forward(1, 9)])
    bmv2_queues.set_all_depths(bmv2._process.thrift_port, 64)
    monkeypatch.setattr(bmv2._process, "thrift_port", None)
    for _ in range(500):
        bmv2.inject(1, FRAME, 4)
    assert len(bmv2.drain(4)) == 500


@pytest.mark.bmv2
def test_frames_have_the_time_of_their_injection_and_later_ones_wait(bmv2: Bmv2Switch) -> None:
    bmv2.write([forward(1, 9), forward(2, 8)])
    bmv2.inject(1, FRAME, 30)
    bmv2.inject(2, FRAME, 10)
    bmv2.inject(3, FRAME, 15)
    bmv2.inject(1, FRAME, 20)
    assert bmv2.drain(9) == []
    assert bmv2.drain(20) == [(10, 8, FRAME), (20, 9, FRAME)]
    assert bmv2.next_event_ps() == 30
    assert bmv2.drain(30) == [(30, 9, FRAME)]


@pytest.mark.bmv2
def test_copies_come_in_the_order_of_their_ports_every_time(bmv2: Bmv2Switch) -> None:
    # BMv2 has four egress threads; ports are shared out among them.
    ports = [5, 6, 7, 8, 9, 10]
    bmv2.control.client.set_multicast_group(1, [Replica(port, 0) for port in reversed(ports)])
    bmv2.write([TableEntry("route_lpm", "flood", {}, {"group": 1}, default=True)])
    for step in range(100):
        bmv2.inject(1, FRAME, step)
        assert bmv2.drain(step) == [(step, port, FRAME) for port in ports]


@pytest.mark.bmv2
def test_the_end_is_proved_however_long_a_queue_takes(bmv2: Bmv2Switch) -> None:
    bmv2.write([forward(1, 9)])
    bmv2.set_queue(9, 0, 40, "pps", 100)
    for _ in range(10):
        bmv2.inject(1, FRAME, 0)
    started = time.monotonic()
    assert len(bmv2.drain(0)) == 10
    assert time.monotonic() - started > 0.2


@pytest.mark.bmv2
def test_a_queue_drops_what_is_beyond_its_depth(bmv2: Bmv2Switch) -> None:
    bmv2.write([forward(1, 9), forward(2, 8)])
    bmv2.set_queue(9, 0, 20, "pps", 5)
    for _ in range(60):
        bmv2.inject(1, FRAME, 0)
        bmv2.inject(2, FRAME, 0)
    out = [port for _, port, _ in bmv2.drain(0)]
    # The first leaves at once; one or two more while the burst comes in, on a slow machine.
    assert 5 <= out.count(9) <= 12
    assert out.count(8) == 60


@pytest.mark.bmv2
def test_a_new_program_lifts_the_limits(bmv2: Bmv2Switch, control_plane_program: CompiledProgram) -> None:
    bmv2.set_queue(9, 0, 1, "pps", 1)
    bmv2.load(control_plane_program)
    bmv2.write([forward(1, 9)])
    for _ in range(100):
        bmv2.inject(1, FRAME, 0)
    assert len(bmv2.drain(0)) == 100


@pytest.mark.bmv2
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((1, 0, 1, "bit/s", 1), r"found a rate in bit/s, expected pps: BMv2 counts packets"),
        ((1, 8, 1, "pps", 1), "priority: found 8, expected 0 to 7"),
        ((511, 0, 1, "pps", 1), "port: found 511, expected 0 to 510"),
        ((1, 0, 0, "pps", 1), "rate: found 0, expected 1 to"),
        ((1, 0, 1, "pps", 0), "depth: found 0, expected 1 to"),
    ],
)
def test_a_queue_that_can_not_be_is_named(bmv2: Bmv2Switch, arguments: tuple, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        bmv2.set_queue(*arguments)


def test_p26_a_bmv2_without_thrift_is_told_in_one_sentence() -> None:
    with pytest.raises(InputError, match="found a simple_switch_grpc without Thrift, expected one built with it"):
        Bmv2Switch().set_queue(1, 0, 1, "pps", 1)


# What BMv2 1.15.5's Thrift server reads: arguments of the call, as bytes (Thrift's binary protocol).
CALLS = [
    (
        lambda port: bmv2_queues.set_rate(port, 5, 3, 1 << 33),
        "set_egress_priority_queue_rate",
        "00000000 0800010000000508000200000003 0a00030000000200000000 00",
    ),
    (
        lambda port: bmv2_queues.set_depth(port, 510, 7, 2**31 - 1),
        "set_egress_priority_queue_depth",
        "00000000 080001000001fe08000200000007 0800037fffffff 00",
    ),
    (
        lambda port: bmv2_queues.set_all_depths(port, 100_000),
        "set_all_egress_queue_depths",
        "00000000 080001000186a0 00",
    ),
    (
        lambda port: bmv2_queues.set_all_rates(port, 0),
        "set_all_egress_queue_rates",
        "00000000 0a00010000000000000000 00",
    ),
]


@pytest.mark.parametrize(("call", "name", "arguments"), CALLS, ids=[name for _, name, _ in CALLS])
def test_p26_calls_of_the_bindings_byte_for_byte(call: Callable[[int], None], name: str, arguments: str) -> None:
    whole = f"simple_switch:{name}".encode()
    expected = b"\x80\x01\0\1" + len(whole).to_bytes(4, "big") + whole + bytes.fromhex(arguments)
    received = b""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            nonlocal received
            connection, _ = server.accept()
            with connection:
                while len(received) < len(expected):
                    received += connection.recv(1000)
                # The reply, without its multiplexer's name: success 0 of type i32.
                connection.sendall(b"\x80\x01\0\2" + len(name).to_bytes(4, "big") + name.encode() + bytes(4))
                connection.sendall(b"\x08\0\0" + bytes(4) + b"\0")

        serving = threading.Thread(target=serve)
        serving.start()
        call(server.getsockname()[1])
        serving.join()
    assert received == expected


@pytest.mark.bmv2
def test_p26_the_bindings_beside_the_switch_are_used() -> None:
    installed = find("simple_switch_grpc")
    assert installed is not None
    beside = list((installed.resolve().parent.parent / "lib").glob("python3*/*-packages/sswitch_runtime"))
    used = Path(bmv2_queues.bindings().__file__).parent
    assert used in beside or not beside


def test_p26_the_bindings_of_the_package_serve_where_none_are_beside() -> None:
    script = (
        "from pymodel.switch import bmv2_queues; bmv2_queues.find = lambda name: None; "
        "print(bmv2_queues.bindings().__file__)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(sys.prefix)


@pytest.mark.parametrize("answer", [b"", b"\x80\x01\x00\x03" + bytes(20), b"\x00" * 40])
def test_thrift_that_answers_nonsense_is_one_sentence(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        with pytest.raises(InputError, match="BMv2's Thrift server on port"):
            bmv2_queues.set_rate(server.getsockname()[1], 1, 0, 5)
        serving.join()


@pytest.mark.bmv2
def test_a_program_that_never_rests_is_named(
    restless_program: CompiledProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bmv2_dataplane, "_REST_S", 1)
    with Bmv2Switch("restless", folder=tmp_path) as switch:
        switch.load(restless_program)
        switch.inject(3, b"\1rest", 0)
        assert switch.drain(0) == [(0, 1, b"\1rest")]
        switch.inject(3, b"\0rest", 1)
        with pytest.raises(InputError, match="restless: found packets that still circulate 1 s after"):
            switch.drain(1)
