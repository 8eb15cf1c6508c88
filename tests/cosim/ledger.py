"""What a run lost, told by an observer on its links: for tests that need a certain loss to have happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from pymodel.cosim.link import LinkDirection
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import DATA_OPCODES, Opcode


class LossLedger:
    """Losses of data packets by (QP, PSN), the lost last packets of messages, and the lost SACKs."""

    def __init__(self) -> None:
        self.data: Counter[tuple[int, int]] = Counter()
        self.last_packets: set[tuple[int, int]] = set()
        self.sacks = 0
        self.frames = 0

    def observe(self, direction: LinkDirection, at_ps: int, data: bytes, lost: bool) -> None:
        """An observer for `run_scenario`."""
        self.frames += 1
        if not lost:
            return
        frame = parse(data)
        assert isinstance(frame, Frame), frame
        if frame.opcode in DATA_OPCODES:
            self.data[frame.dest_qp, frame.psn] += 1
            if frame.opcode in (Opcode.WRITE_LAST, Opcode.WRITE_ONLY):
                self.last_packets.add((frame.dest_qp, frame.psn))
        elif frame.opcode == Opcode.SACK:
            self.sacks += 1

    @property
    def most_losses_of_one_packet(self) -> int:
        """How often the unluckiest data packet was lost."""
        return max(self.data.values(), default=0)


CASES: Mapping[str, Callable[[LossLedger], bool]] = {
    "the last packet of a message is lost": lambda ledger: bool(ledger.last_packets),
    "a SACK is lost": lambda ledger: ledger.sacks > 0,
    "a packet is lost three times": lambda ledger: ledger.most_losses_of_one_packet >= 3,
}
"""The losses that the main job must survive, each with what tells it from a ledger."""
