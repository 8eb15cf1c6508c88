"""Packet-in and packet-out: the program's controller headers between P4Runtime metadata and the bits of a frame.

The program sees a packet-out as a frame on the CPU port that begins with the ``packet_out`` header; what it sends to
the CPU port begins with ``packet_in`` (P4Runtime 1.4, section 16.1). Without such headers the frames are bare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymodel.switch.p4runtime.codec import invalid, pack, unpack
from pymodel.switch.p4runtime.info import Bits
from pymodel.switch.p4runtime.protos import p4runtime_pb2

__all__ = ["packet_in", "packet_out", "packet_out_frame"]


def header_bytes(header: Sequence[Bits]) -> int:
    """Size of a controller header in bytes; p4c lays out whole bytes only, padding included."""
    return (sum(field.width for field in header) + 7) // 8


def packet_out(header: Sequence[Bits], payload: bytes, fields: Mapping[str, int]) -> Any:
    """Return a p4.v1.PacketOut that carries `payload` and the header's `fields`, by name; the rest are 0."""
    message = p4runtime_pb2.PacketOut(payload=payload)
    for field in header:
        message.metadata.add(metadata_id=field.id, value=pack(fields.get(field.name, 0)))
    return message


def packet_out_frame(header: Sequence[Bits], message: Any) -> bytes:
    """Return the frame that the CPU port receives for a p4.v1.PacketOut; Refused when its metadata do not fit."""
    given = {item.metadata_id: item.value for item in message.metadata}
    unknown = given.keys() - {field.id for field in header}
    if unknown:
        raise invalid(f"packet_out: no metadata field has the id {min(unknown)}")
    value = 0
    for field in header:
        number = unpack(given[field.id], field.width, f"packet_out, {field.name}") if field.id in given else 0
        value = value << field.width | number
    size = header_bytes(header)
    # The header's bits begin at the first byte's highest; a remainder at its end stays 0.
    value <<= size * 8 - sum(field.width for field in header)
    return value.to_bytes(size, "big") + bytes(message.payload)


def packet_in(header: Sequence[Bits], frame: bytes) -> Any | None:
    """Return the p4.v1.PacketIn for a frame that left by the CPU port, or None when it is shorter than its header."""
    size = header_bytes(header)
    if len(frame) < size:
        return None
    message = p4runtime_pb2.PacketIn(payload=frame[size:])
    left = size * 8
    value = int.from_bytes(frame[:size], "big")
    for field in header:
        left -= field.width
        number = value >> left & ((1 << field.width) - 1)
        message.metadata.add(metadata_id=field.id, value=pack(number))
    return message
