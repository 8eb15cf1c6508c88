"""A receive side without RTL: a second golden model that accepts frames in some order, to try the benches on.

It is to the follower what the RTL is, and takes a fault where one is planted: the comparison must then fail.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_model import collect, take_command, take_frame
from cocotb_tests.receive_rows import (
    ACCEPTED,
    DROP_CODES,
    MAX_FRAME_BYTES,
    OVERFLOW,
    OVERSIZE,
    PORTS,
    EventKind,
    Round,
    Tap,
    Trace,
)
from pymodel.nic.config import DeviceConfig
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError, parse

OVERFLOWS = 0.003
_MEAN_CLOCKS = 3


class PerfectReceiver:
    """Plays rounds as the RTL would, with ports that drift apart a little and now and then lose a frame."""

    def __init__(self, config: DeviceConfig, seed: int, golden: Callable[[DeviceConfig], Golden] = Golden) -> None:
        self.golden = golden(config)
        self.rng = random.Random(f"perfect {seed}")
        self.now = 0
        self._due: dict[int, int] = {}

    def play(self, script: Round, qps: list[int]) -> Trace:
        """Take all of `script`, then let every timer of `qps` run out."""
        trace, rng = Trace(), self.rng
        outcomes: list[bytearray] = [bytearray() for _ in range(PORTS)]
        done = 0
        while True:
            self._expire(qps, trace)
            self.now += rng.randint(1, 2 * _MEAN_CLOCKS)
            sources = [p for p in range(PORTS) if self._frame_waits(script, p, len(outcomes[p]), done)]
            if done < len(script.commands) and self._may(script, done, outcomes):
                sources.append(PORTS)
            if not sources:
                break
            source = rng.choice(sources)
            if source == PORTS:
                trace.taps.append(Tap(EventKind.COMMAND, 0, script.commands[done].qp, self.now))
                take_command(self.golden, script.commands[done], self.now, trace)
                done += 1
                continue
            data = script.frames[source][len(outcomes[source])].data
            outcome, frame = self._outcome(data)
            outcomes[source].append(outcome)
            if frame is not None:
                trace.taps.append(Tap(EventKind.FRAME, source, 0, self.now & 0xFFFFFFFF))
                take_frame(self.golden, source, frame, self.now, trace)
        while any(self.golden.deadline(qp) is not None for qp in qps):
            self.now += 1
            self._expire(qps, trace)
        trace.outcomes = [bytes(each) for each in outcomes]
        return trace

    def _expire(self, qps: list[int], trace: Trace) -> None:
        for qp in qps:
            deadline = self.golden.deadline(qp)
            if deadline is not None and deadline <= self.now:
                trace.taps.append(Tap(EventKind.TIMER, 0, qp, self.now & 0xFFFFFFFF))
                collect(self.golden.expire(qp, self.now), None, trace)

    @staticmethod
    def _frame_waits(script: Round, port: int, position: int, done: int) -> bool:
        frames = script.frames[port]
        return position < len(frames) and frames[position].behind <= done

    @staticmethod
    def _may(script: Round, done: int, outcomes: list[bytearray]) -> bool:
        waits = script.commands[done].behind or (0,) * PORTS
        return all(len(each) >= least for each, least in zip(outcomes, waits, strict=True))

    def _outcome(self, data: bytes) -> tuple[int, Frame | None]:
        if self.rng.random() < OVERFLOWS:
            return OVERFLOW, None
        frame = parse(data)
        if isinstance(frame, ParseError):
            return DROP_CODES[frame.cause], None
        return (OVERSIZE, None) if len(data) > MAX_FRAME_BYTES else (ACCEPTED, frame)
