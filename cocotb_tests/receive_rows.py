"""What the benches of the receive side tell it, and what they see of it: commands with their rows, frames, one round.

The order of fields and the numbers are those of `rtl_models/common/mrc_rx_pkg.sv`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from pymodel.wire.parser import ParseCause

PORTS = 8
QPS = 64
CLOCK_PS = 4000
MAX_FRAME_BYTES = 9216
BODY_BYTES = 36


class Op(IntEnum):
    """command_e."""

    QP_CONFIG = 0
    QP_ROUTE = 1
    REGION = 2
    QP_RESET = 3
    QP_READY = 4
    QP_ERROR = 5
    POST_RECEIVES = 6
    SET_MPR = 7
    SET_PENALTY = 8
    SET_RESTORE = 9
    SET_RESOURCE_NACK = 10
    SET_PLANES = 11
    QUERY = 12


class EventKind(IntEnum):
    """event_e."""

    FRAME = 0
    TIMER = 1
    COMMAND = 2


class State(IntEnum):
    """qp_state_e."""

    RESET = 0
    READY = 1
    REFUSED = 2
    STOPPED = 3


# drop_cause_e: the parser's causes in its order, then two that only hardware has.
DROP_CODES = {cause: code for code, cause in enumerate(ParseCause)}
OVERSIZE, OVERFLOW = len(DROP_CODES), len(DROP_CODES) + 1
DROP_NAMES = [*(cause.name for cause in DROP_CODES), "OVERSIZE", "OVERFLOW"]
ACCEPTED = 0xFF
"""Stands for "no drop" where a cause is expected."""


def _join(*fields: tuple[int, int]) -> int:
    """Fields as (value, bits), the first one leftmost."""
    word = 0
    for value, bits in fields:
        assert 0 <= value < 1 << bits, (value, bits)
        word = word << bits | value
    return word


@dataclass(frozen=True, slots=True)
class QpRow:
    """qp_config_t."""

    peer_qpn: int
    peer_address: int
    p_key: int = 0xFFFF
    mtu: int = 4096
    sack_threshold: int = 16384
    quiet_clocks: int = 400
    wimm: int = 128
    mpr_units: int = 1
    dynamic_mpr: bool = False
    trim_nack: bool = True
    drop_above: bool = False

    def pack(self) -> int:
        return _join(
            (self.peer_qpn, 24),
            (self.peer_address, 128),
            (self.p_key, 16),
            (self.mtu, 14),
            (self.sack_threshold, 17),
            (self.quiet_clocks, 32),
            (self.wimm, 16),
            (self.mpr_units, 8),
            (self.dynamic_mpr, 1),
            (self.trim_nack, 1),
            (self.drop_above, 1),
        )


@dataclass(frozen=True, slots=True)
class RouteRow:
    """route_t."""

    ev: int
    path: int
    segment: int | None = None

    def pack(self) -> int:
        return _join((self.segment is not None, 1), (self.ev, 32), (self.path, 128), (self.segment or 0, 128))


@dataclass(frozen=True, slots=True)
class RegionRow:
    """region_t: bytes `first` to `last`, both writable."""

    tag: int
    first: int
    last: int
    valid: bool = True

    def pack(self) -> int:
        return _join((self.valid, 1), (self.tag, 8), (self.first, 64), (self.last, 64))


Row = QpRow | RouteRow | RegionRow


@dataclass(frozen=True, slots=True)
class Command:
    """command_t. It is given when as many frames have gone through each port as `behind` says."""

    op: Op
    qp: int = 0
    value: int = 0
    port: int = 0
    row: Row | None = None
    behind: tuple[int, ...] | None = None


@dataclass(slots=True)
class Sent:
    """A frame for a port: sent `gap` clocks after the one before it, and after as many commands as `behind` says."""

    data: bytes
    gap: int = 0
    behind: int = 0


@dataclass(slots=True)
class Round:
    """What happens between two rests: frames for each port, and commands."""

    frames: list[list[Sent]] = field(default_factory=lambda: [[] for _ in range(PORTS)])
    commands: list[Command] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Frames on all ports."""
        return sum(map(len, self.frames))


class Tap(NamedTuple):
    """tap_t, and the clock at which it was seen."""

    kind: int
    port: int
    qp: int
    now: int


class Placed(NamedTuple):
    """A DMA command and its data."""

    qp: int
    va: int
    r_key: int
    data: bytes


class Completion(NamedTuple):
    """cqe_t."""

    qp: int
    status: int
    receive: int
    byte_count: int
    immediate: int


class Answer(NamedTuple):
    """query_t."""

    qp: int
    state: int
    cack: int
    ooo_count: int
    completed: int
    received: int
    unanswered: int


class Notice(NamedTuple):
    """A port status update, for software."""

    peer: int
    mask: int
    request: int


class Stray(NamedTuple):
    """What goes to the requesting side: a SACK, NACK or transport ACK."""

    qp: int
    opcode: int
    psn: int
    body: bytes


@dataclass(slots=True)
class Trace:
    """What was seen of a round; lists of lists are by port."""

    outcomes: list[bytes] = field(default_factory=lambda: [b""] * PORTS)
    """A byte a frame: ACCEPTED or the cause of its drop."""
    taps: list[Tap] = field(default_factory=list)
    replies: list[list[bytes]] = field(default_factory=lambda: [[] for _ in range(PORTS)])
    placed: list[list[Placed]] = field(default_factory=lambda: [[] for _ in range(PORTS)])
    completions: list[Completion] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)
    """In the model only: what else it said, by name."""
