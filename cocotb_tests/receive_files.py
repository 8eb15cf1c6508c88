"""A round as files for `hdl/mrc_rx_bench.sv`, and the files that it leaves as a trace."""

from __future__ import annotations

import random
from pathlib import Path
from struct import Struct

from cocotb_tests.receive_registers import Software
from cocotb_tests.receive_rows import BODY_BYTES, PORTS, Completion, Placed, Round, Stray, Tap, Trace

BUS_BYTES = 64
_HEAD = Struct(">4I")
_TAP = Struct("<3I")
_LAST = 0x80

# Bits of rx_desc_t below the field: what stands behind it in the struct.
_PSN_AT = 8 * BODY_BYTES + 16 + 128 + 1 + 128 + 128 + 1 + 16 + 32
_DEST_QP_AT = _PSN_AT + 24
_OPCODE_AT = _DEST_QP_AT + 24 + 16 + 5
_DESC_BYTES = 104


def write_round(folder: Path, number: int, script: Round, operations: bytes, junk: random.Random) -> None:
    """Write the files that round `number` is played from; lanes behind a frame's end get junk."""
    for port, frames in enumerate(script.frames):
        parts: list[bytes] = []
        for each in frames:
            parts += (
                _HEAD.pack(len(each.data), each.gap, each.behind, 0),
                each.data,
                junk.randbytes(-len(each.data) % BUS_BYTES),
            )
        (folder / f"{number}_in_{port}").write_bytes(b"".join(parts))
    (folder / f"{number}_software").write_bytes(operations)


class Seen:
    """Files of one round, read."""

    def __init__(self, folder: Path, number: int, software: Software) -> None:
        self._folder, self._number = folder, number
        self.trace = trace = Trace()
        self.elapsed: list[int] = []
        """For each event of the tap, the clock in which it was seen, from the start of the round."""
        self.log = self._bytes("read_0")
        """What software read."""
        trace.outcomes = [self._bytes(f"outcome_{port}") for port in range(PORTS)]
        trace.replies = [self._frames(f"reply_{{}}_{port}") for port in range(PORTS)]
        trace.placed = [self._placed(port) for port in range(PORTS)]
        self._taps()
        self.completed: list[int] = []
        """For each completion, the clock in which it was taken."""
        for word in self._words("completion_0", 20):
            self.completed.append(word >> 97)
            word &= (1 << 97) - 1
            trace.completions.append(
                Completion(word >> 81, word >> 80 & 1, word >> 64 & 0xFFFF, word >> 32 & 0xFFFFFFFF, word & 0xFFFFFFFF)
            )
        for word in self._words("requester_0", _DESC_BYTES):
            body = (word & (1 << 8 * BODY_BYTES) - 1).to_bytes(BODY_BYTES, "big")
            psn, qp = word >> _PSN_AT & 0xFFFFFF, word >> _DEST_QP_AT & 0xFFFFFF
            trace.strays.append(Stray(qp, word >> _OPCODE_AT & 0xFF, psn, body))
        trace.answers, trace.notices, self.counters = software.answers_and_notices(self.log)

    def _bytes(self, name: str) -> bytes:
        return (self._folder / f"{self._number}_{name}").read_bytes()

    def _words(self, name: str, size: int) -> list[int]:
        data = self._bytes(name)
        assert len(data) % size == 0, f"{name}: {len(data)} bytes"
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    def _taps(self) -> None:
        for now, low, high in _TAP.iter_unpack(self._bytes("tap_0")):
            self.trace.taps.append(Tap(low >> 19 & 3, low >> 16 & 7, low & 0xFFFF, now))
            self.elapsed.append(high << 11 | low >> 21)

    def _frames(self, name: str) -> list[bytes]:
        """Frames of an AXI4-Stream, cut at each tlast."""
        beats, lengths = self._bytes(name.format("beats")), self._bytes(name.format("bytes"))
        frames: list[bytes] = []
        start = 0
        for number, length in enumerate(lengths):
            if length & _LAST:
                frames.append(beats[start : number * BUS_BYTES + (length & ~_LAST)])
                start = (number + 1) * BUS_BYTES
        assert start == len(beats), f"{name}: the last frame does not end"
        return frames

    def _placed(self, port: int) -> list[Placed]:
        """DMA commands with their data: one packet for each, as long as the command says (R05)."""
        packets, commands = self._frames(f"dma_{{}}_{port}"), self._words(f"place_{port}", 16)
        assert len(packets) == len(commands), (
            f"DMA of port {port}: {len(commands)} commands, {len(packets)} packets of data"
        )
        placed: list[Placed] = []
        for data, word in zip(packets, commands, strict=True):
            length, qp = word & 0xFFFF, word >> 112
            va, r_key = word >> 48 & (1 << 64) - 1, word >> 16 & 0xFFFFFFFF
            assert len(data) == length, f"DMA of port {port}: {length} bytes said, {len(data)} given"
            placed.append(Placed(qp, va, r_key, data))
        return placed

    def discard(self) -> None:
        """Delete the round's files."""
        for path in self._folder.glob(f"{self._number}_*"):
            path.unlink()
