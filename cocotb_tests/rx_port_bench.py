"""Test bench of mrc_rx_port: drives frames, takes descriptors, gives verdicts, and compares everything that comes out.

One integer is written and one small value read in each clock (`hdl/mrc_rx_port_bench.sv` packs the ports); wide outputs
are read when there is something in them. Lines without an offer carry other bits in every clock (C10).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.rx_traffic import CAUSES, OVERFLOW, Outcome

CLOCK_NS = 4
BEAT_BYTES = 64
VALID = 1 << 577
BEAT_JUNK = VALID - 1
VERDICT_AT, VERDICT_BITS = 578, 113
VERDICT_VALID, DESC_READY, CMD_READY, DMA_READY = 1 << 691, 1 << 692, 1 << 693, 1 << 694
CAUSE, DROPPED, ACCEPTED, VERDICT_READY, DESC_VALID, CMD_VALID, DMA_VALID, DMA_LAST = (
    0x1F,
    *(1 << bit for bit in range(5, 12)),
)

Settings = tuple[tuple[int, int], ...]


def beats_of(frame: bytes, junk: random.Random) -> list[int]:
    """The drive vectors that carry a frame; lanes behind its end hold anything."""
    vectors = []
    for at in range(0, len(frame), BEAT_BYTES):
        piece = frame[at : at + BEAT_BYTES]
        count = len(piece)
        data = int.from_bytes(piece, "little")
        if count < BEAT_BYTES:
            data |= junk.getrandbits(8 * (BEAT_BYTES - count)) << 8 * count
        last = at + BEAT_BYTES >= len(frame)
        vectors.append(data | ((1 << count) - 1) << 512 | last << 576 | VALID)
    return vectors


def dma_beats(payload: bytes) -> list[tuple[int, int, bool]]:
    """Data, keep and last of each beat that writes `payload`."""
    pieces = [payload[at : at + BEAT_BYTES] for at in range(0, len(payload), BEAT_BYTES)]
    return [
        (int.from_bytes(piece, "little"), (1 << len(piece)) - 1, n == len(pieces) - 1) for n, piece in enumerate(pieces)
    ]


@dataclass(slots=True)
class Pace:
    """Probabilities: of an idle clock ahead of a beat, and of a stall on a stream out; `sticky` is that it goes on.

    A verdict takes `verdict` clocks and up to as many more as `spread`; `place` is the share of payloads that are to be
    written. No descriptor is taken in the first `closed` clocks.
    """

    idle: float = 0.0
    stall: float = 0.0
    dma_stall: float | None = None
    cmd_stall: float | None = None
    sticky: float = 0.7
    verdict: int = 3
    spread: int = 0
    place: float = 1.0
    closed: int = 0


@dataclass(slots=True)
class Seen:
    """What a run saw.

    `latencies` are clocks from a frame's last beat to its descriptor, `placings` from a verdict to the payload's first
    beat and its command, where they came together; `most_out` is how many descriptors waited for verdicts at once.
    """

    accepted: int = 0
    drops: dict[str, int] = field(default_factory=dict)
    latencies: list[int] = field(default_factory=list)
    placings: list[int] = field(default_factory=list)
    most_out: int = 0
    clocks: int = 0
    input_clocks: int = 0


class TB:
    """One port."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self, settings: int) -> None:
        self.dut.settings.value = settings
        self.dut.drive.value = self.rng.getrandbits(690)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        self.dut.drive.value = 0
        await RisingEdge(self.dut.clk)

    async def run(
        self, frames: Sequence[bytes], outcomes: Sequence[Outcome], pace: Pace, may_overflow: bool = False
    ) -> Seen:
        """Send `frames` and compare with `outcomes`, in order; returns when everything has come out and nothing more
        does. Without `may_overflow` an overflow is a difference."""
        dut, rng, edge = self.dut, self.rng, RisingEdge(self.dut.clk)
        sense_port, drive_port = dut.sense, dut.drive
        seen = Seen()
        vectors = [vector for frame in frames for vector in beats_of(frame, rng)]
        judged = 0  # frames that were accepted or dropped
        ended: list[int] = []  # clock of each frame's last beat
        descs: deque[int] = deque()  # numbers of frames whose descriptor is to come
        first_shown = False
        verdicts: deque[tuple[int, int, int]] = deque()  # clock from which it is given, verdict, frame
        commands: deque[int] = deque()
        beats: deque[tuple[int, int, bool]] = deque()
        placed: deque[int] = deque()  # clocks of the verdicts on payloads to be placed
        position, quiet, clock, drive = 0, 0, 0, 0
        idling = stall_desc = stall_cmd = stall_dma = False
        limit = 60 * len(vectors) + 5000
        dma_stall = pace.stall if pace.dma_stall is None else pace.dma_stall
        cmd_stall = pace.stall if pace.cmd_stall is None else pace.cmd_stall
        while quiet < 40:
            await edge
            clock += 1
            quiet = 0 if descs or verdicts or commands or beats else quiet + 1
            sense = int(sense_port.value)
            if drive & VALID:
                quiet = 0
                if drive >> 576 & 1:
                    ended.append(clock)
            if sense & (ACCEPTED | DROPPED):
                assert judged < len(ended), "a verdict on a frame that has not ended"
                self._judge(sense, outcomes[judged], judged, may_overflow, seen)
                if sense & ACCEPTED:
                    descs.append(judged)
                judged += 1
            if sense & DESC_VALID:
                if not first_shown:
                    assert descs, "a descriptor of a frame that was not accepted"
                    seen.latencies.append(clock - ended[descs[0]])
                    first_shown = True
                if drive & DESC_READY:
                    number = descs.popleft()
                    first_shown = False
                    shown = int(dut.desc.value)
                    want = outcomes[number]
                    assert shown == want.desc, f"frame {number}:\n rtl   {shown:0204x}\n model {want.desc:0204x}"
                    if want.payload:
                        verdict = rng.getrandbits(112) | (rng.random() < pace.place) << 112
                        seen.most_out = max(seen.most_out, len(verdicts) + 1)
                        verdicts.append((clock + pace.verdict + rng.randint(0, pace.spread), verdict, number))
            if drive & VERDICT_VALID:
                assert sense & VERDICT_READY
                _, verdict, number = verdicts.popleft()
                if verdict >> 112:
                    payload = outcomes[number].payload
                    placed.append(clock)
                    commands.append((verdict & (1 << 112) - 1) << 16 | len(payload))
                    beats.extend(dma_beats(payload))
            if sense & CMD_VALID and drive & CMD_READY:
                given = placed.popleft()
                if sense & DMA_VALID:
                    seen.placings.append(clock - given)
                assert int(dut.command.value) == commands.popleft(), "command"
            if sense & DMA_VALID and drive & DMA_READY:
                data, keep, last = beats.popleft()
                shown = int(dut.beat.value)
                assert (shown >> 512, bool(sense & DMA_LAST)) == (keep, last), "shape of a payload"
                # Lanes behind its end hold anything.
                assert shown & ((1 << 8 * keep.bit_length()) - 1) == data, "payload"

            # -------- what is offered from here on
            if position < len(vectors):
                if pace.idle:
                    idling = rng.random() < (pace.sticky if idling else pace.idle)
                if idling:
                    drive = rng.getrandbits(577)
                else:
                    drive = vectors[position]
                    position += 1
                    seen.input_clocks = clock
            else:
                drive = rng.getrandbits(577)
            if verdicts and verdicts[0][0] <= clock:
                drive |= VERDICT_VALID | verdicts[0][1] << VERDICT_AT
            else:
                drive |= rng.getrandbits(VERDICT_BITS) << VERDICT_AT
            if pace.stall:
                stall_desc = rng.random() < (pace.sticky if stall_desc else pace.stall)
            if cmd_stall:
                stall_cmd = rng.random() < (pace.sticky if stall_cmd else cmd_stall)
            if dma_stall:
                stall_dma = rng.random() < (pace.sticky if stall_dma else dma_stall)
            if not stall_desc and clock >= pace.closed:
                drive |= DESC_READY
            if not stall_cmd:
                drive |= CMD_READY
            if not stall_dma:
                drive |= DMA_READY
            drive_port.value = drive
            assert clock < limit, "something never comes out"
        assert judged == len(frames)
        seen.clocks = clock
        return seen

    @staticmethod
    def _judge(sense: int, want: Outcome, number: int, may_overflow: bool, seen: Seen) -> None:
        if sense & ACCEPTED:
            assert not sense & DROPPED
            said = CAUSES[want.cause] if want.cause is not None else ""
            assert want.cause is None, f"frame {number}: accepted, the model drops it for {said}"
            seen.accepted += 1
            return
        cause = sense & CAUSE
        assert cause < len(CAUSES), cause
        name = CAUSES[cause]
        overflow = cause == OVERFLOW and want.cause is None and may_overflow
        said = "accepts it" if want.cause is None else f"drops it for {CAUSES[want.cause]}"
        assert cause == want.cause or overflow, f"frame {number}: dropped for {name}, the model {said}"
        seen.drops[name] = seen.drops.get(name, 0) + 1
