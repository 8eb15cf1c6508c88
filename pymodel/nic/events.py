"""What goes into a NIC core and what comes out of it.

The cores of `pymodel.nic` do no I/O and read no clock. `handle(event, now_ps)` takes one of the events below and
returns a list of the actions below; the caller moves frames, memory and time. That makes a core testable as rows,
replayable from a log, and comparable with RTL action by action (`docs/interfaces.md`).

Ports are 0-based, times are integer picoseconds, addresses and lengths are in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Action",
    "CancelTimer",
    "Command",
    "Complete",
    "Event",
    "FrameIn",
    "FrameOut",
    "Notify",
    "PortChange",
    "PostReceive",
    "PostWrite",
    "SetTimer",
    "TimerFired",
    "WriteMemory",
]


@dataclass(frozen=True, slots=True)
class FrameIn:
    """A frame, from the Ethernet header to the ICRC without FCS, arrived whole on `port`."""

    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The timer `key` reached its time. A core ignores a `generation` that it has replaced or cancelled."""

    key: str
    generation: int


@dataclass(frozen=True, slots=True)
class PostWrite:
    """An RDMA Write is posted on `qpn`.

    `data` is what local memory holds when the write is posted; `remote_address` and `r_key` name the target. With
    `immediate` (32 bits) it is a Write with Immediate. `wr_id` comes back in the completion.
    """

    qpn: int
    wr_id: int
    data: bytes
    remote_address: int
    r_key: int
    immediate: int | None = None


@dataclass(frozen=True, slots=True)
class PostReceive:
    """A receive work request is posted on `qpn`, consumed by one Write with Immediate."""

    qpn: int
    wr_id: int


@dataclass(frozen=True, slots=True)
class PortChange:
    """The link of local `port` went up or down."""

    port: int
    up: bool


@dataclass(frozen=True, slots=True)
class Command:
    """Software sets the attribute `name` of the device, or of QP `qpn`, to `value`."""

    name: str
    value: int
    qpn: int | None = None


@dataclass(frozen=True, slots=True)
class FrameOut:
    """Send `data` on local `port`."""

    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Fire the timer `key` at `at_ps`; a later SetTimer of the same key replaces it."""

    key: str
    at_ps: int
    generation: int


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Forget the timer `key`."""

    key: str


@dataclass(frozen=True, slots=True)
class WriteMemory:
    """Place `data` at the local virtual `address`."""

    address: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Complete:
    """A completion queue entry: work request `wr_id` of `qpn` ended with `status` ("success" or an error's name)."""

    qpn: int
    wr_id: int
    status: str
    byte_count: int
    immediate: int | None = None


@dataclass(frozen=True, slots=True)
class Notify:
    """Something worth counting or showing happened: `kind`, with its `details` as name and integer."""

    kind: str
    details: tuple[tuple[str, int], ...] = ()


Event = FrameIn | TimerFired | PostWrite | PostReceive | PortChange | Command
Action = FrameOut | SetTimer | CancelTimer | WriteMemory | Complete | Notify
