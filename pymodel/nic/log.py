"""The event and action log of a device, and its replay (docs/interfaces.md, docs/nic.md).

JSON Lines. The first line says what the device is: its configuration, and the QPs and memory regions that it had when
the log began. Every later one is an event that it was given, a call that changed it, or an action that followed, with
the time in ps; bytes are in hex:

    {"t": 0, "event": "ModifyQp", "qpn": 3, "to": "INIT", "attributes": {"hint": 0, "evs": [...], "congestion": null}}
    {"t": 4000000, "event": "FrameIn", "port": 0, "data": "02..."}
    {"t": 4000000, "action": "WriteMemory", "address": 139637976731648, "data": "00..."}

A replay makes the device anew, gives it the events, makes the calls, and compares each action. RTL benches write and
read the same.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, TextIO

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.congestion import CongestionControl, FixedWindow, NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.events import Action, Event, Payload
from pymodel.nic.lifecycle import QpState
from pymodel.nic.memory import MemoryRegion, RegionTable
from pymodel.nic.pattern import Pattern
from pymodel.nic.queue_pair import QueuePair
from pymodel.wire.spec import HEADERS, Header

__all__ = ["SCHEMA", "Recorder", "Replay", "replay"]

SCHEMA = "mrc.nic-log/1"

_EVENTS = {kind.__name__: kind for kind in typing.get_args(Event)}
_ACTIONS = {kind.__name__: kind for kind in typing.get_args(Action)}
_HEADERS = {header.name: header for header in HEADERS}


# The calls of `Device` that change it, as the log has them beside the events.


@dataclass(frozen=True, slots=True)
class _CreateQp:
    qpn: int

    def make(self, device: Device, now_ps: int) -> list[Action]:
        device.create_qp(self.qpn)
        return []


@dataclass(frozen=True, slots=True)
class _ModifyQp:
    qpn: int
    to: QpState
    attributes: dict[str, Any]

    def make(self, device: Device, now_ps: int) -> list[Action]:
        return device.modify_qp(self.qpn, self.to, now_ps=now_ps, **self.attributes)


@dataclass(frozen=True, slots=True)
class _DestroyQp:
    qpn: int

    def make(self, device: Device, now_ps: int) -> list[Action]:
        return device.destroy_qp(self.qpn)


@dataclass(frozen=True, slots=True)
class _RegisterRegion:
    r_key: int
    address: int
    length: int

    def make(self, device: Device, now_ps: int) -> list[Action]:
        device.regions.restore(MemoryRegion(self.r_key, self.address, self.length))
        return []


@dataclass(frozen=True, slots=True)
class _DeregisterRegion:
    r_key: int

    def make(self, device: Device, now_ps: int) -> list[Action]:
        device.regions.deregister(self.r_key)
        return []


_Call = _CreateQp | _ModifyQp | _DestroyQp | _RegisterRegion | _DeregisterRegion
_CALLS: dict[str, Any] = {kind.__name__[1:]: kind for kind in typing.get_args(_Call)}


class Recorder(Device):
    """A device that keeps a log: it does what the device does, and writes down events, calls and actions.

    It takes over `device`, whose QPs are in RTS and have done nothing yet; what it has later is made by calls.
    Congestion control is kept for the two controllers without state. A call or event that is refused leaves no line.
    """

    def __init__(self, device: Device, file: TextIO) -> None:
        vars(self).update(vars(device))  # no copy: what `device` has made goes on
        self._file = file
        self._now_ps = 0
        self._write(
            {
                "schema": SCHEMA,
                "device": _encode(device.config),
                "qps": [
                    {"config": _encode(qp.config), "window": _window(qp.requester.congestion)} for qp in device.qps()
                ],
                "regions": [_encode(region) for region in device.regions],
            }
        )
        self.regions = _RecordedRegions(device.regions, self._note)

    def handle(self, event: Event, now_ps: int) -> list[Action]:
        """Give `event` to the device, and write down the event and what follows."""
        self._now_ps = now_ps
        actions = super().handle(event, now_ps)
        self._follow(type(event).__name__, _encode(event), actions)
        return actions

    def create_qp(self, qpn: int) -> QueuePair:
        """As the device's, written down."""
        qp = super().create_qp(qpn)
        self._note(_CreateQp(qpn))
        return qp

    def modify_qp(self, qpn: int, to: QpState, *, now_ps: int = 0, **attributes: Any) -> list[Action]:
        """As the device's, written down."""
        self._now_ps = max(self._now_ps, now_ps)
        if "congestion" in attributes:
            _window(attributes["congestion"])  # before anything changes
        actions = super().modify_qp(qpn, to, now_ps=self._now_ps, **attributes)
        self._note(_ModifyQp(qpn, to, attributes), actions)
        return actions

    def destroy_qp(self, qpn: int) -> list[Action]:
        """As the device's, written down."""
        actions = super().destroy_qp(qpn)
        self._note(_DestroyQp(qpn), actions)
        return actions

    def _note(self, call: _Call, actions: Sequence[Action] = ()) -> None:
        self._follow(type(call).__name__[1:], _encode(call), actions)

    def _follow(self, kind: str, values: dict[str, Any], actions: Sequence[Action]) -> None:
        self._write({"t": self._now_ps, "event": kind, **values})
        for action in actions:
            self._write({"t": self._now_ps, "action": type(action).__name__, **_encode(action)})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


class _RecordedRegions(RegionTable):
    """The regions of a recorder, which `note` writes down."""

    def __init__(self, regions: RegionTable, note: Callable[[_Call], None]) -> None:
        vars(self).update(vars(regions))  # no copy: the QPs that are there look into the same table
        self._note = note

    def restore(self, region: MemoryRegion) -> None:
        super().restore(region)
        self._note(_RegisterRegion(region.r_key, region.address, region.length))

    def deregister(self, r_key: int) -> None:
        super().deregister(r_key)
        self._note(_DeregisterRegion(r_key))


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found: how many events and actions agreed, and the first difference in a sentence, or None."""

    events: int
    actions: int
    difference: str | None


def replay(lines: Iterable[str], name: str = "log") -> Replay:
    """Replay the log `lines`. InputError, which names `name` and the line, when they are no log."""
    numbered = _parsed(lines, name)
    number, first = next(numbered, (1, {}))
    device = _device(first, f"{name}: line {number}")
    count = compared = 0
    pending: list[Action] = []
    for number, line in numbered:
        where = f"{name}: line {number}"
        if "event" in line:
            if pending:
                return Replay(count, compared, f"{where}: the replay also did {_text(pending[0])}")
            event = _decode_line(line, "event", _EVENTS | _CALLS, where)
            try:
                given = isinstance(event, tuple(_EVENTS.values()))
                pending = device.handle(event, line["t"]) if given else event.make(device, line["t"])
            except InputError as error:
                return Replay(count, compared, f"{where}: the replay refused the {line['event']}: {error}")
            count += 1
        else:
            logged = _decode_line(line, "action", _ACTIONS, where)
            if not pending:
                return Replay(count, compared, f"{where}: {_text(logged)} is logged, the replay did nothing")
            done = pending.pop(0)
            if done != logged:
                return Replay(count, compared, f"{where}: {_text(logged)} is logged, the replay did {_text(done)}")
            compared += 1
    return Replay(count, compared, f"end of log: the replay also did {_text(pending[0])}" if pending else None)


def _text(action: Action) -> str:
    values = ", ".join(f"{name}={value}" for name, value in _encode(action).items())
    return f"{type(action).__name__}({values if len(values) < 200 else values[:200] + '...'})"


def _window(congestion: CongestionControl) -> int | None:
    if isinstance(congestion, NoCongestionControl):
        return None
    if type(congestion) is FixedWindow:
        return congestion.cwnd
    raise InputError("NIC log", type(congestion).__name__, "no congestion control or a fixed window")


def _controller(window: int | None) -> CongestionControl:
    return NoCongestionControl() if window is None else FixedWindow(window)


def _device(first: dict[str, Any], where: str) -> Device:
    if first.get("schema") != SCHEMA:
        raise InputError(where, f"schema {first.get('schema')!r}", SCHEMA)
    try:
        device = Device(_decode(DeviceConfig, first["device"]))
        for qp in first["qps"]:
            device.add_qp(_decode(QpConfig, qp["config"]), _controller(qp["window"]))
        for region in first["regions"]:
            device.regions.restore(_decode(MemoryRegion, region))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(where, f"{type(error).__name__}: {error}", "a device as Recorder writes it") from None
    return device


def _parsed(lines: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{name}: line {number}", error.msg, "a JSON object a line") from None
        if not isinstance(line, dict):
            raise InputError(f"{name}: line {number}", type(line).__name__, "a JSON object a line")
        yield number, line


def _decode_line(line: dict[str, Any], tag: str, kinds: dict[str, Any], where: str) -> Any:
    values = dict(line)
    kind = kinds.get(values.pop(tag, ""))
    if kind is None or not isinstance(values.pop("t", None), int):
        raise InputError(where, f"keys {', '.join(sorted(line))}", f"t and one of the {tag}s {', '.join(kinds)}")
    try:
        return _decode(kind, values)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(where, f"{type(error).__name__}: {error}", f"the fields of {kind.__name__}") from None


# Values and JSON. Integers of any size stay integers; bytes are hex, members of enumerations their names.


def _encode(value: Any) -> Any:
    if isinstance(value, Header):
        return value.name
    if is_dataclass(value):
        return {field.name: _encode(getattr(value, field.name)) for field in fields(value) if field.init}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value.hex()
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (tuple, list)):
        return [_encode(each) for each in value]
    if isinstance(value, dict):
        return {name: _encode(each) for name, each in value.items()}
    if isinstance(value, FixedWindow):
        return _window(value)
    return value


def _decode(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return None if value is None else _decode(next(each for each in arguments if each is not type(None)), value)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_decode(arguments[0], each) for each in value)
        return tuple(_decode(each, part) for each, part in zip(arguments, value, strict=True))
    if hint is Header:
        return _HEADERS[value]
    if is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return hint(**{name: _decode(hints[name], part) for name, part in value.items()})  # type: ignore[operator]
    if hint == dict[str, Any]:  # attributes of a QP
        hints = {**typing.get_type_hints(QpConfig), "congestion": CongestionControl}
        return {name: _decode(hints[name], part) for name, part in value.items()}
    if hint is CongestionControl:
        return _controller(value)
    if hint is Payload:
        return _decode(Pattern if isinstance(value, dict) else bytes, value)
    if hint is bytes:
        return bytes.fromhex(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint[value]
    if type(value) is not hint:
        raise TypeError(f"{value!r} is no {hint.__name__}")
    return value
