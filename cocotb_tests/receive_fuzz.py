"""Frames that are wrong in every way that bytes can be: random, cut, and each header field set to other values.

With a repaired ICRC a fuzzed write may say things that contradict what its peer said before. What the RTL then makes of
the QP's messages is its own; `check` holds it to what must be true of any frame whatever.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from cocotb_tests.receive_noise import Noise
from cocotb_tests.receive_rows import (
    ACCEPTED,
    DROP_CODES,
    MAX_FRAME_BYTES,
    OVERFLOW,
    OVERSIZE,
    PORTS,
    EventKind,
    Round,
    Trace,
)
from cocotb_tests.receive_world import World
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.icrc import icrc
from pymodel.wire.parser import ParseError, parse


def fields(frame: Frame) -> Iterator[tuple[str, int, int]]:
    """Each field of each header of `frame`: its name, and its first bit and width within the frame."""
    start = 0
    for header in frame.headers():
        for field in header.SPEC.fields:
            yield f"{header.SPEC.name}.{field.name}", 8 * start + header.SPEC.bit_offset(field.name), field.bits
        start += header.SIZE


class Fuzz:
    """Makes bad frames from good ones."""

    def __init__(self, rng: random.Random, world: World) -> None:
        self.rng = rng
        self._noise = Noise(rng, world)
        self.met: Counter[str] = Counter()
        """How often each field was set to another value."""
        self._turn = 0
        self._fields: dict[tuple[int, ...], list[tuple[str, int, int]]] = {}  # by what settles which headers there are

    def field(self, data: bytes, *, repaired: bool) -> bytes:
        """`data` with the next field in turn set to another value, and with `repaired` its ICRC right again."""
        rng, frame = self.rng, parse(data)
        assert isinstance(frame, Frame)
        layout = frame.opcode, frame.ts, frame._ip, frame._udp
        every = self._fields.get(layout) or self._fields.setdefault(layout, list(fields(frame)))
        self._turn += 1
        name, first, width = every[self._turn % len(every)]
        self.met[name] += 1
        shift = 8 * len(data) - first - width
        old = int.from_bytes(data, "big")
        was = old >> shift & (1 << width) - 1
        new = rng.choice(
            (0, (1 << width) - 1, was ^ 1 << rng.randrange(width), was + 1, was - 1, rng.getrandbits(width))
        )
        changed = (old ^ (was ^ new & (1 << width) - 1) << shift).to_bytes(len(data), "big")
        if not repaired:
            return changed
        end = frame.end - spec.ICRC_BYTES
        return changed[:end] + icrc(changed[frame._ip : end]).to_bytes(4, "little") + changed[frame.end :]

    def bytes(self) -> bytes:
        """No frame at all."""
        return self._noise.junk()

    def cut(self, data: bytes) -> bytes:
        """The front of a frame; of an empty one there would be no beat."""
        return data[: self.rng.randint(1, len(data) - 1)]


def check(script: Round, trace: Trace, world: World) -> Counter[str]:
    """What must be true whatever the frames say: outcomes are the parser's, every accepted frame reached the engine,
    what is written lies in a region that its key names, and nothing completes. Returns outcomes by cause.
    """
    outcomes: Counter[str] = Counter()
    names = {code: cause.name for cause, code in DROP_CODES.items()} | {ACCEPTED: "accepted", OVERSIZE: "OVERSIZE"}
    for port in range(PORTS):
        sent, shown = script.frames[port], trace.outcomes[port]
        assert len(sent) == len(shown), f"port {port}: {len(sent)} frames in, {len(shown)} taken or dropped"
        for each, outcome in zip(sent, shown, strict=True):
            if outcome == OVERFLOW:
                outcomes["OVERFLOW"] += 1
                continue
            frame = parse(each.data)
            due = ACCEPTED if len(each.data) <= MAX_FRAME_BYTES else OVERSIZE
            due = DROP_CODES[frame.cause] if isinstance(frame, ParseError) else due
            assert outcome == due, f"port {port}: {names[outcome]}, not {names[due]}: {each.data.hex()}"
            outcomes[names[due]] += 1
        tapped = sum(tap.kind == EventKind.FRAME and tap.port == port for tap in trace.taps)
        assert tapped == shown.count(ACCEPTED), f"port {port}: {shown.count(ACCEPTED)} taken, {tapped} came through"
        for placed in trace.placed[port]:
            inside = any(
                region.r_key == placed.r_key
                and region.row.first <= placed.va
                and placed.va + len(placed.data) - 1 <= region.row.last
                for region in world.regions
            )
            assert inside, f"written outside of every region: {placed}"
    assert not trace.completions, f"a completion: {trace.completions[0]}"
    return outcomes
