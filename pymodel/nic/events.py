"""What goes into a NIC core and what comes out of it.

The cores of `pymodel.nic` do no I/O and read no clock. `handle(event, now_ps)` takes one of the events below and
returns a list of the actions below; the caller moves frames, memory and time. That makes a core testable as rows,
replayable from a log, and comparable with RTL action by action (`docs/interfaces.md`).

Ports are 0-based, times are integer picoseconds, addresses and lengths are in bytes. Nobody changes an event or action
once it is made; those made for every packet are not frozen only because that costs time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pymodel.paths.ev import EvRecord
from pymodel.wire.spec import EndpointOp

__all__ = [
    "Action",
    "CancelTimer",
    "Command",
    "Complete",
    "Event",
    "FrameIn",
    "FrameOut",
    "Notify",
    "Payload",
    "PortChange",
    "PostEndpointRequest",
    "PostReceive",
    "PostWrite",
    "SetTimer",
    "TimerFired",
    "WriteMemory",
]


class Payload(Protocol):
    """What is written: bytes, or anything that has a length and gives bytes for a slice, such as `pattern.Pattern`."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes | bytearray | memoryview: ...


@dataclass(slots=True)
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

    `data` is what local memory holds until the write completes, up to 2^32 - 1 bytes; `remote_address` and `r_key` name
    the target. With `immediate` (32 bits) it is a Write with Immediate. `wr_id` comes back in the completion.
    """

    qpn: int
    wr_id: int
    data: Payload
    remote_address: int
    r_key: int
    immediate: int | None = None


@dataclass(frozen=True, slots=True)
class PostReceive:
    """A receive work request is posted on `qpn`, consumed by one Write with Immediate."""

    qpn: int
    wr_id: int


@dataclass(frozen=True, slots=True)
class PostEndpointRequest:
    """Ask the NIC at `peer_address` (inner, 128 bits) something, without a QP, by the path of `record` (mrc-facts.md
    1.10).

    EV_PROBE asks whether the path works; PORT_STATUS_UPDATE tells which local ports are up, which the device also does
    by itself. The answer is a `Notify("endpoint_response")` with request, op, rtt_ps, and the port of arrival; without
    one within `timeout_ps` there is a `Notify("endpoint_timeout")`. `request` is the caller's number for it, `dscp` the
    traffic class that it picks, else the one that is never trimmed.
    """

    request: int
    op: EndpointOp
    peer_address: int
    record: EvRecord
    timeout_ps: int
    dscp: int | None = None


@dataclass(frozen=True, slots=True)
class PortChange:
    """The link of local `port` went up or down."""

    port: int
    up: bool


@dataclass(frozen=True, slots=True)
class Command:
    """Software sets the attribute `name` of QP `qpn` to `value`; `queue_pair.COMMANDS` lists them."""

    name: str
    value: int
    qpn: int | None = None


@dataclass(slots=True)
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


@dataclass(slots=True)
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


Event = FrameIn | TimerFired | PostWrite | PostReceive | PostEndpointRequest | PortChange | Command
Action = FrameOut | SetTimer | CancelTimer | WriteMemory | Complete | Notify
