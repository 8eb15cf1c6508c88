"""Rates and depths of BMv2's egress queues, which only its Thrift server sets (``simple_switch.thrift``).

Two calls with integers are all that is needed, so they are packed here by hand: the bindings that BMv2 installs want a
Thrift library of the same Python and bring a `google` package that hides protobuf.
"""

from __future__ import annotations

import socket
import struct

from pymodel.base.errors import InputError

__all__ = ["set_all_depths", "set_all_rates", "set_depth", "set_rate"]

# Thrift's binary protocol: a strict version word, the call's name, a sequence number, a struct of typed fields.
_CALL = 0x80010001
_REPLY = 0x80010002
_I32, _I64 = 8, 10
_SERVICE = "simple_switch"
_TIMEOUT_S = 10


def set_rate(port: int, egress_port: int, priority: int, packets_per_s: int) -> None:
    """Limit one queue to `packets_per_s`; 0 is no limit. `port` is that of the Thrift server on this machine."""
    arguments = ((_I32, egress_port), (_I32, priority), (_I64, packets_per_s))
    _call(port, "set_egress_priority_queue_rate", arguments)


def set_depth(port: int, egress_port: int, priority: int, packets: int) -> None:
    """Let one queue hold `packets`; BMv2 drops what comes beyond."""
    _call(port, "set_egress_priority_queue_depth", ((_I32, egress_port), (_I32, priority), (_I32, packets)))


def set_all_depths(port: int, packets: int) -> None:
    """Let every queue hold `packets`."""
    _call(port, "set_all_egress_queue_depths", ((_I32, packets),))


def set_all_rates(port: int, packets_per_s: int) -> None:
    """Limit every queue to `packets_per_s`; 0 is no limit."""
    _call(port, "set_all_egress_queue_rates", ((_I64, packets_per_s),))


def _call(port: int, name: str, arguments: tuple[tuple[int, int], ...]) -> None:
    whole = f"{_SERVICE}:{name}".encode()
    message = struct.pack(f">Ii{len(whole)}si", _CALL, len(whole), whole, 0)
    for number, (kind, value) in enumerate(arguments, 1):
        message += struct.pack(">bhi" if kind == _I32 else ">bhq", kind, number, value)
    try:
        with socket.create_connection(("127.0.0.1", port), _TIMEOUT_S) as connection:
            connection.sendall(message + b"\0")
            with connection.makefile("rb") as answer:
                word, size = struct.unpack(">II", answer.read(8))
                answer.read(size + 4)
                # The result struct has field 0, of type i32, which is 0 when all went well.
                result = struct.unpack(">bhi", answer.read(7))
    except (OSError, struct.error) as error:
        raise InputError(f"BMv2's Thrift server on port {port}", f"{name} failed ({error})", "an answer") from error
    if word != _REPLY or result != (_I32, 0, 0):
        raise InputError(f"BMv2's Thrift server on port {port}", f"{name} was refused", "a queue that exists")
