"""Test bench of mrc_responder: plays rounds of frames, as descriptors, and commands, and logs what comes out, by clock.

What changes in every clock is one integer written and one read (`hdl/mrc_responder_bench.sv` has the same positions);
what is wide is written and read only when it counts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests import rx_traffic
from cocotb_tests.receive_rows import PORTS, Command, Round, Tap

CLOCK_NS = 4
ALL_PORTS = (1 << PORTS) - 1

# Positions in `drive`
VERDICT_READY, ENDPOINT_READY, REQUESTER_READY, CQE_READY = 1, 1 << 8, 1 << 9, 1 << 10
QUERY_READY, REPLY_READY, COMMAND_VALID, DESC_VALID = 1 << 11, 1 << 12, 1 << 13, 14
ALL_READY = COMMAND_VALID - 1

# Positions in `sense`
_DESC_READY, _COMMAND_READY = 8, 1 << 16
_ENDPOINT, _REQUESTER, _CQE, _QUERY, _REPLY = (1 << bit for bit in range(17, 22))
_TAP, _TAP_VALID = 22, 1 << 75

_VERDICT_BITS = 1 + 16 + 64 + 32
_ANY_STREAM = _ENDPOINT | _REQUESTER | _CQE | _QUERY | _REPLY | ALL_PORTS
PULSES = (
    "nak", "ack", "nack", "sack", "quiet", "placed", "trimmed dropped", "above dropped",
    "wrong P_Key", "wrong address", "QP not ready", "unknown QP",
)  # fmt: skip
"""responder_pulses_t, its last field first."""


class Seen(NamedTuple):
    """A word that was taken, and the clock in which it was."""

    clock: int
    word: int


@dataclass(slots=True)
class Log:
    """What came out in a run."""

    taps: list[Tap] = field(default_factory=list)
    tap_clocks: list[int] = field(default_factory=list)
    entered: list[int] = field(default_factory=list)
    """Clocks in which descriptors were taken."""
    replies: list[Seen] = field(default_factory=list)
    queries: list[Seen] = field(default_factory=list)
    cqes: list[Seen] = field(default_factory=list)
    requesters: list[Seen] = field(default_factory=list)
    endpoints: list[tuple[int, int]] = field(default_factory=list)
    """Port and descriptor."""
    verdicts: list[list[Seen]] = field(default_factory=lambda: [[] for _ in range(PORTS)])

    @property
    def offset(self) -> int:
        """The bench's clock less the engine's."""
        return self.tap_clocks[0] - 1 - self.taps[0].now


@dataclass(frozen=True, slots=True)
class Pace:
    """Probabilities that nothing is offered behind what was taken, and that what comes out is not taken."""

    idle: float = 0.0
    stall: float = 0.0
    blocked: int = 0
    """Bits of `drive` that stay low for the first `blocked_for` clocks: outputs that are not taken."""
    blocked_for: int = 0
    rest: int = 1200
    """Clocks without anything after which all is at rest: longer than any quiet timer and a scan period."""


@lru_cache(maxsize=1 << 14)
def outcome(data: bytes) -> rx_traffic.Outcome:
    """What a port makes of a frame."""
    return rx_traffic.outcome(data)


def packed(command: Command) -> int:
    """command_t."""
    row = 0 if command.row is None else command.row.pack()
    return (int(command.op) << 51 | command.qp << 35 | command.port << 32 | command.value) << 352 | row


class TB:
    """Drives mrc_responder."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.clock = 0
        self._drive = 0
        self._descs = [getattr(dut, f"desc_{port}") for port in range(PORTS)]
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self, address: int) -> None:
        """Reset; behind it the engine takes nothing until its tables are clear."""
        self.dut.drive.value = self.rng.getrandbits(22)
        self.dut.address.value = address
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        self.dut.drive.value = 0
        await RisingEdge(self.dut.clk)

    def counts(self) -> dict[str, int]:
        """Pulses since reset, by name."""
        value = int(self.dut.counts.value)
        return {name: value >> 32 * at & 0xFFFFFFFF for at, name in enumerate(PULSES)}

    async def run(self, script: Round, pace: Pace = Pace()) -> Log:
        """Offer all of `script` and wait until all is at rest."""
        rng, dut, log = self.rng, self.dut, Log()
        edge, sense_port, drive_port = RisingEdge(dut.clk), dut.sense, dut.drive
        descs = [[(outcome(each.data).desc, each.behind) for each in port] for port in script.frames]
        commands = [(packed(command), command.behind) for command in script.commands]
        lengths = list(map(len, descs))
        taken = [0] * PORTS  # frames, those that no port gives a descriptor for included
        done = 0  # commands
        resting = [False] * (PORTS + 1)
        offered = stalled = still = 0
        drive = self._drive
        start = self.clock
        limit = start + pace.blocked_for + pace.rest + 4000 + 60 * (script.count + len(commands))
        while still < pace.rest:
            await edge
            self.clock += 1
            still += 1
            sense = int(sense_port.value)
            if sense & _TAP_VALID:
                still = 0
                tap = sense >> _TAP
                log.taps.append(Tap(tap >> 51 & 3, tap >> 48 & 7, tap >> 32 & 0xFFFF, tap & 0xFFFFFFFF))
                log.tap_clocks.append(self.clock)
            if sense & _ANY_STREAM:
                still = 0
                self._take(sense, drive, log)
            accepted = offered & (sense >> _DESC_READY)
            if accepted:
                offered &= ~accepted
                for port in range(PORTS):
                    if accepted >> port & 1:
                        taken[port] += 1
                        log.entered.append(self.clock)
                        resting[port] = rng.random() < pace.idle
            if drive & COMMAND_VALID and sense & _COMMAND_READY:
                done += 1
                drive &= ~COMMAND_VALID
                resting[PORTS] = rng.random() < pace.idle

            for port in range(PORTS):
                if resting[port]:
                    resting[port] = rng.random() < 0.7
                elif not offered >> port & 1:
                    waiting, at = descs[port], taken[port]
                    while at < len(waiting) and waiting[at][1] <= done and not waiting[at][0]:
                        at += 1
                    taken[port] = at
                    if at < len(waiting) and waiting[at][1] <= done:
                        self._descs[port].value = waiting[at][0]
                        offered |= 1 << port
            valid = drive & COMMAND_VALID
            if resting[PORTS]:
                resting[PORTS] = rng.random() < 0.7
            elif not valid and done < len(commands):
                word, behind = commands[done]
                if behind is None or all(map(int.__ge__, taken, behind)):
                    dut.command.value = word
                    valid = COMMAND_VALID
            if pace.stall:
                stalled = self._stalls(stalled, pace.stall)
            blocked = pace.blocked if self.clock - start < pace.blocked_for else 0
            drive = ALL_READY & ~(blocked | stalled) | valid | offered << DESC_VALID
            drive_port.value = drive
            if taken != lengths or done < len(commands):
                still = 0
                assert self.clock < limit, f"stuck: {taken} of {lengths} frames, {done} of {len(commands)} commands"
        self._drive = drive
        return log

    def _stalls(self, before: int, chance: float) -> int:
        rng, after = self.rng, 0
        for bit in range(ALL_READY.bit_length()):
            if rng.random() < (0.7 if before >> bit & 1 else chance):
                after |= 1 << bit
        return after

    def _take(self, sense: int, drive: int, log: Log) -> None:
        dut, clock = self.dut, self.clock
        if sense & _REPLY and drive & REPLY_READY:
            log.replies.append(Seen(clock, int(dut.reply.value)))
        verdicts = sense & drive & ALL_PORTS
        if verdicts:
            value = int(dut.verdict.value)
            for port in range(PORTS):
                if verdicts >> port & 1:
                    word = value >> port * _VERDICT_BITS & (1 << _VERDICT_BITS) - 1
                    log.verdicts[port].append(Seen(clock, word))
        if sense & _CQE and drive & CQE_READY:
            log.cqes.append(Seen(clock, int(dut.cqe.value)))
        if sense & _QUERY and drive & QUERY_READY:
            log.queries.append(Seen(clock, int(dut.query.value)))
        if sense & _REQUESTER and drive & REQUESTER_READY:
            log.requesters.append(Seen(clock, int(dut.requester.value)))
        if sense & _ENDPOINT and drive & ENDPOINT_READY:
            log.endpoints.append((int(dut.endpoint_port.value), int(dut.endpoint.value)))
