"""`engine.un`: how many packets a second the embedded switch forwards by uN, and how many BMv2 does.

Both run the same compiled program with the same entries on the same core, in turn, and are given the same frames; what
comes out is compared byte for byte, and nothing may be missing. Seconds are those of processor time on that core, so
that neither waiting for a client nor the turn of another program counts against anybody. The embedded switch takes and
gives frames one by one, as it does in a fabric; BMv2 is fed from a file (`bmv2_files`).
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from pymodel.base.errors import InputError
from pymodel.base.time import NS
from pymodel.base.toolpath import TOOLS, find, version
from pymodel.bench.bmv2_files import FileFedBmv2, records
from pymodel.bench.cores import contest_core, pinned
from pymodel.bench.figure import Figure, Outcome, Step, medians
from pymodel.bench.traffic import FABRIC, HOST, LONG, SHORT, SWITCH, entries, frames
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch

__all__ = ["FIGURES", "Size", "measure"]


@dataclass(frozen=True, slots=True)
class Size:
    """Frames of one length: the figure's name, bytes of payload, and how many frames make a round."""

    figure: str
    payload_bytes: int
    count: int


SIZES = (Size("engine.un", SHORT, 4_000), Size("engine.un.4238", LONG, 3_000))
FIGURES = tuple(size.figure for size in SIZES)
ROUNDS = 7

_PEER = "simple_switch_grpc"
_GAP_PS = 100 * NS


def measure(step: Step, sizes: tuple[Size, ...] = SIZES, rounds: int = ROUNDS) -> Outcome:
    """Measure each of `sizes`: the median of `rounds` after one to warm up."""
    outcome = Outcome()
    core = contest_core()
    total = len(sizes) * (rounds + 1)
    for number, size in enumerate(sizes):
        done = number * (rounds + 1)
        with ExitStack() as running:
            data = frames(size.payload_bytes, size.count)
            ours = _Embedded(running.enter_context(EmbeddedSwitch()), data, core)
            contestants: list[Callable[[], float]] = [ours.rate]
            peer = _peer(running, size, core, outcome.notes)
            if peer:
                contestants.append(_fed(peer, data))
            values = medians(contestants, rounds, step, done=done, total=total)
            figure = Figure(size.figure, values[0], "packets/s")
            if peer:
                _require_same(ours.out, peer.came(), rounds + 1)
                figure = replace(figure, peer=f"BMv2 {version(_PEER)}", peer_value=values[1])
            outcome.figures.append(figure)
    outcome.notes = list(dict.fromkeys(outcome.notes))
    return outcome


def _peer(running: ExitStack, size: Size, core: int, notes: list[str]) -> FileFedBmv2 | None:
    """BMv2 with the program and the entries, or None; a note says how it was built and runs, or why there is none."""
    if find(_PEER) is None:
        notes.append(f"engine.un has no peer: {_PEER} is missing ({TOOLS[_PEER].how}).")
        return None
    folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="mrc-bench-")))
    bmv2 = running.enter_context(FileFedBmv2(folder, FABRIC.port_count(SWITCH), core))
    if not bmv2.sets_queues:
        notes.append("engine.un has no peer: this BMv2 has no Thrift, so its queues of 64 packets would lose frames.")
        return None
    bmv2.program(mrc_switch(), entries(), depth=size.count)
    notes.append(f"BMv2 {version(_PEER)}: {bmv2.build()}; run with {bmv2.options}; core {core} for both.")
    return bmv2


class _Embedded:
    """The embedded switch, programmed as `SWITCH`, with frames that come in on the port of `HOST`."""

    def __init__(self, switch: EmbeddedSwitch, data: list[bytes], core: int) -> None:
        switch.load(mrc_switch())
        switch.write(entries())
        self._switch = switch
        self._data = data
        self._core = core
        self._now_ps = 0
        self.out: dict[int, list[bytes]] = {}
        """What came out in the last round, by port."""

    def rate(self) -> float:
        """Packets per second of one round."""
        inject, drain = self._switch.inject, self._switch.drain
        left = []
        port = HOST.downlink
        with pinned(self._core):
            began = time.thread_time()
            for now_ps, frame in zip(itertools.count(self._now_ps, _GAP_PS), self._data, strict=False):
                inject(port, frame, now_ps)
                left += drain(now_ps)
            seconds = time.thread_time() - began
        self._now_ps += len(self._data) * _GAP_PS
        if len(left) != len(self._data):
            raise InputError("engine.un", f"{len(left)} frames out of {len(self._data)}", "every frame")
        self.out = {}
        for _, out_port, frame in left:
            self.out.setdefault(out_port, []).append(frame)
        return len(left) / seconds


def _fed(bmv2: FileFedBmv2, data: list[bytes]) -> Callable[[], float]:
    packed = records(data)
    return lambda: len(data) / bmv2.run(packed)


def _require_same(ours: dict[int, list[bytes]], theirs: dict[int, list[bytes]], rounds: int) -> None:
    """InputError when BMv2's frames are not those of our round, `rounds` times over."""
    expected = {port: list(_repeated(out, rounds)) for port, out in ours.items()}
    for port in sorted(expected.keys() | theirs.keys()):
        if expected.get(port) != theirs.get(port):
            raise InputError(
                f"engine.un, port {port}", "other frames from BMv2 than from us", "the same bytes in order"
            )


def _repeated(out: list[bytes], rounds: int) -> Iterator[bytes]:
    for _ in range(rounds):
        yield from out
