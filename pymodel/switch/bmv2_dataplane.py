"""Frames into and out of BMv2 by its own gRPC service, ``p4.bm.DataplaneInterface``: no interface, no root.

A burst is one call: the frames go out, the client half-closes, and BMv2 answers the end of the stream only when no
packet lives in it any more, in whatever queue, clone, resubmission or recirculation (its `PacketStream` ends with
`block_until_no_more_packets`). The end of the call is therefore the sentinel: what came before it is all that will ever
come, and a drop is known without waiting, for any program.

The four fields of a message are packed here by hand. Generated code would be tied to one version of protobuf, and in
pure Python took most of the time per frame.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import grpc
from grpc.experimental import ChannelOptions

from pymodel.base.errors import InputError

__all__ = ["BurstFrame", "Dataplane", "pack_frame", "unpack_frame"]

_STREAM = "/p4.bm.DataplaneInterface/PacketStream"
_PORT_STATUS = "/p4.bm.DataplaneInterface/SetPortOperStatus"
_DOWN, _UP = 1, 2

_READY_S = 20

_REST_S = 60
"""A program that has not come to rest by then (it resubmits without end, say) never will."""

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    # The caller's thread reads the answers itself. Handing them over took most of the time of a single frame.
    (ChannelOptions.SingleThreadedUnaryStream, 1),
]

BurstFrame = tuple[int, int, bytes]
"""(place of the frame in the burst that caused it, port, frame); -1 when no frame of the burst did."""


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def pack_frame(number: int, device_id: int, port: int, data: bytes) -> bytes:
    """Return a PacketStreamRequest: id = 1, device_id = 2, port = 3 (varints), packet = 4 (bytes)."""
    head = b"\x08%b\x10%b\x18%b\x22%b" % (_varint(number), _varint(device_id), _varint(port), _varint(len(data)))
    return head + data


def unpack_frame(message: bytes) -> tuple[int, int, bytes]:
    """Return id, port and packet of a PacketStreamResponse; a field that is 0 or empty is not in the message."""
    number = port = place = 0
    packet = b""
    while place < len(message):
        tag, place = _read_varint(message, place)
        value, place = _read_varint(message, place)
        if tag == 0x08:
            number = value
        elif tag == 0x18:
            port = value
        elif tag == 0x22:
            packet = message[place : place + value]
            place += value
    return number, port, packet


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


class Dataplane:
    """The frames of one switch, at `address`. Calls raise grpc.RpcError when the switch is gone."""

    def __init__(self, name: str, address: str, device_id: int) -> None:
        self._name = name
        self._device_id = device_id
        self._channel = grpc.insecure_channel(address, options=_OPTIONS)
        # Without serialisers gRPC takes and gives plain bytes.
        self._stream: Any = self._channel.stream_stream(_STREAM)
        # On the wire, a call that sends one message and half-closes is the same call; here it needs no thread.
        self._single: Any = self._channel.unary_stream(_STREAM)
        self._port_status: Any = self._channel.unary_unary(_PORT_STATUS)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def wait_until_ready(self) -> None:
        """Return when the switch takes frames, which it does only with a program; InputError when it never does."""
        deadline = time.monotonic() + _READY_S
        while True:
            try:
                self.burst([])
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() > deadline:
                    found = f"{error.code().name} ({error.details()})"
                    raise InputError(f"BMv2 {self._name}: data plane", found, "a switch that takes frames") from error
                time.sleep(0.002)
            else:
                return

    def burst(self, frames: Sequence[tuple[int, bytes]]) -> list[BurstFrame]:
        """Send (port, frame) pairs and return all that came of them, in the order in which it left the switch."""
        out = []
        try:
            for message in self._call(frames):
                number, port, packet = unpack_frame(message)
                out.append((number - 1, port, packet))
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                found = f"packets that still circulate {_REST_S} s after the last one came in"
                raise InputError(f"BMv2 {self._name}", found, "a program that comes to rest") from error
            raise
        return out

    def set_port(self, port: int, up: bool) -> None:
        """Tell the switch that the link of `port` is up or down (BMv2 reports it; it forwards all the same)."""
        self._port_status(
            b"\x08%b\x10%b\x18%b" % (_varint(self._device_id), _varint(port), _varint(_UP if up else _DOWN)),
            timeout=_REST_S,
        )

    def _call(self, frames: Sequence[tuple[int, bytes]]) -> Iterable[bytes]:
        if len(frames) == 1:
            ((port, data),) = frames
            return cast(Iterable[bytes], self._single(pack_frame(1, self._device_id, port, data), timeout=_REST_S))
        return cast(Iterable[bytes], self._stream(self._requests(frames), timeout=_REST_S))

    def _requests(self, frames: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        for place, (port, data) in enumerate(frames):
            yield pack_frame(place + 1, self._device_id, port, data)
