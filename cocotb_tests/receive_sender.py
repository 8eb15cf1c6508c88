"""The peer's sending half of one QP, as far as traffic needs one: it numbers packets, messages and immediates
consistently, and never has more on the way than the receiver lets it.

It hears no answers. What has arrived it believes from what was sent; after each round it is told the truth.
"""

from __future__ import annotations

import random
from collections import deque
from typing import NamedTuple

from cocotb_tests.receive_rows import QpRow
from cocotb_tests.receive_world import Region, World
from pymodel.nic.receive_window import ReceiveWindow
from pymodel.wire.spec import Opcode
from pymodel.wire.template import write_transport

PSN_SPACE = 1 << 24
NUMBERS = 1 << 16
_MARGIN = 24
"""PSNs that stay unused at the window's upper end, since ports run ahead of each other."""


class Packet(NamedTuple):
    """A packet of a write, the same in every transmission."""

    psn: int
    opcode: int
    msn: int
    rqmsn: int
    va: int
    r_key: int
    dma_length: int
    start: int
    length: int
    immediate: int | None


class Sender:
    """One life of a QP."""

    def __init__(self, rng: random.Random, world: World, qp: int, peer: int, row: QpRow, first_psn: int) -> None:
        self.rng, self.world, self.qp, self.peer, self.row = rng, world, qp, peer, row
        self.psn = first_psn
        self.msn = self.rqmsn = 0
        self.window = row.mpr_units * 128
        self.belief = ReceiveWindow(1 << 14, first_psn)
        """What should have arrived."""
        self.unsure: dict[int, Packet] = {}
        """Packets of which only belief says that they arrived, or not even that."""
        self.recent: deque[Packet] = deque(maxlen=48)
        self.receives = 0
        """Receives that should be left."""
        self.lengths: deque[int] = deque()
        """Lengths of the next messages; any when empty."""
        self.immediates = 0.3
        """Share of messages with immediate."""
        self.stock = rng.choice((40, 40, 12))
        """Receives below which more are posted."""
        self.stamps = rng.random() < 0.8
        self.shortage = False
        """New packets are refused for the moment."""
        # At most one end may be a limited member of the partition.
        self.p_key = row.p_key | 0x8000 if not row.p_key & 0x8000 else row.p_key & (0x7FFF | rng.getrandbits(1) << 15)
        self._open: deque[tuple[int, int]] = deque()  # immediates believed on the way: PSN of the end, MSN
        self._left: deque[Packet] = deque()  # of the message begun
        self._regions = world.wide_regions()

    # What may be sent

    @property
    def ahead(self) -> int:
        """PSNs sent beyond what is believed to be cumulative."""
        return (self.psn - 1 - self.belief.cack_psn) % PSN_SPACE

    def has_room(self) -> bool:
        return self.ahead < max(1, self.window - _MARGIN)

    def may_begin_immediate(self) -> bool:
        while self._open and self._past(self._open[0][0]):
            self._open.popleft()
        return len(self._open) < max(1, self.row.wimm - 8) and self.receives > len(self._open) + 2

    def _past(self, psn: int) -> bool:
        return (self.belief.cack_psn - psn) % PSN_SPACE < PSN_SPACE // 2

    # Packets

    @property
    def begun(self) -> bool:
        """A message is laid out and not wholly sent."""
        return bool(self._left)

    def new(self) -> Packet:
        """The next packet, never sent before."""
        if not self._left:
            self.begin(self._length(), self.rng.random() < self.immediates and self.may_begin_immediate())
        packet = self._left.popleft()
        self.unsure[packet.psn] = packet
        return packet

    def begin(self, length: int, immediate: bool, region: Region | None = None, va: int | None = None) -> None:
        """Lay out a message; its packets come next."""
        rng, mtu = self.rng, self.row.mtu
        region = region or rng.choice(self._regions)
        if va is None:
            va = rng.randint(region.row.first, region.row.last + 1 - length) if length else rng.getrandbits(64)
        r_key = region.r_key if length else rng.getrandbits(32)  # a write of no bytes names any key
        start = rng.randrange(len(self.world.blob) - length)
        count = max(1, -(-length // mtu))
        number = rng.getrandbits(32) if immediate else None
        for index in range(count):
            last = index == count - 1
            if count == 1:
                opcode = Opcode.WRITE_ONLY_IMMEDIATE if immediate else Opcode.WRITE_ONLY
            elif last:
                opcode = Opcode.WRITE_LAST_IMMEDIATE if immediate else Opcode.WRITE_LAST
            else:
                opcode = Opcode.WRITE_MIDDLE if index else Opcode.WRITE_FIRST
            offset = index * mtu
            self._left.append(
                Packet(
                    psn=(self.psn + index) % PSN_SPACE,
                    opcode=int(opcode),
                    msn=self.msn,
                    # It means nothing in a plain write.
                    rqmsn=self.rqmsn if immediate else rng.getrandbits(16),
                    va=(va + offset) % (1 << 64),
                    r_key=r_key,
                    dma_length=length,
                    start=start + offset,
                    length=length - offset if last else mtu,
                    immediate=number if last else None,
                )
            )
        self.psn = (self.psn + count) % PSN_SPACE
        if immediate:
            self._open.append(((self.psn - 1) % PSN_SPACE, self.msn))
            self.rqmsn = (self.rqmsn + 1) % NUMBERS
            self.receives -= 1
        self.msn = (self.msn + 1) % NUMBERS

    def _length(self) -> int:
        if self.lengths:
            return self.lengths.popleft()
        rng, mtu = self.rng, self.row.mtu
        match rng.choices(range(6), (8, 20, 28, 14, 8, 12))[0]:
            case 0:
                return 0
            case 1:
                return rng.randint(1, 16)
            case 2:
                return rng.randint(1, min(mtu, 700))
            case 3:
                return mtu + rng.choice((-1, 0, 0, 1))
            case 4:
                return 2 * mtu
        return rng.randint(mtu, max(2 * mtu, min(6 * mtu, 6000)))

    def transport(self, packet: Packet, *, ack: bool = False, rtx: bool = False, dest_qp: int | None = None) -> bytes:
        """BTH to immediate."""
        return write_transport(
            packet.opcode,
            self.qp if dest_qp is None else dest_qp,
            packet.psn,
            packet.msn,
            packet.va,
            packet.r_key,
            packet.dma_length,
            rqmsn=packet.rqmsn,
            tx_timestamp=self.rng.getrandbits(16) if self.stamps else None,
            immediate=packet.immediate,
            ack_req=ack,
            rtx=rtx,
            p_key=self.p_key,
        )

    def payload(self, packet: Packet) -> bytes:
        return self.world.blob[packet.start : packet.start + packet.length]

    # What arrived

    def arrived(self, packet: Packet) -> None:
        """`packet` was sent undamaged."""
        if not self.shortage:
            self.belief.receive(packet.psn)
        self.recent.append(packet)

    def learn(self, truth: ReceiveWindow, receives: int) -> list[Packet]:
        """Take over what did arrive, and how many receives are left; the packets that did not are returned."""
        for psn in list(self.unsure):
            ahead = (psn - truth.cack_psn) % PSN_SPACE
            if ahead == 0 or ahead >= PSN_SPACE // 2 or truth.classify(psn).name == "DUPLICATE":
                del self.unsure[psn]
        self.belief = ReceiveWindow(1 << 14, (truth.cack_psn + 1) % PSN_SPACE)
        for ahead in range(1, self.window + 1):
            psn = (truth.cack_psn + ahead) % PSN_SPACE
            if truth.classify(psn).name == "DUPLICATE":
                self.belief.receive(psn)
        while self._open and self._past(self._open[0][0]):
            self._open.popleft()
        self.receives = receives - len(self._open)
        return list(self.unsure.values())
