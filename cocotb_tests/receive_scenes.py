"""Directed scenes for the assembled receive side: chosen QPs, messages and clocks instead of chance."""

from __future__ import annotations

import random
from collections.abc import Sequence

from cocotb_tests.receive_noise import Noise
from cocotb_tests.receive_rows import PORTS, Command, Op, QpRow, Round, Sent
from cocotb_tests.receive_sender import Packet, Sender
from cocotb_tests.receive_world import SRV6, World

BUS_BYTES = 64
CLOCK_BYTES = 50
"""Bytes of a 100 Gb/s link in a clock."""
LINK_OVERHEAD = 24
"""Bytes that a frame takes on a link besides its own: FCS, preamble and gap."""


class Scene:
    """Senders of one world, and frames laid out by hand."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"scene {seed}")
        self.world = World(seed)
        self.noise = Noise(self.rng, self.world)
        self.senders: dict[int, Sender] = {}

    def opening(self, rows: dict[int, QpRow], receives: int = 0, first_psn: int = 0xFFFFFD) -> Round:
        """Regions, and the QPs of `rows` ready, each with `receives` receives posted and a sender of its own."""
        script = Round(commands=self.world.register())
        for qp, row in rows.items():
            script.commands += self.world.life(self.rng, qp, row, first_psn)
            if receives:
                script.commands.append(Command(Op.POST_RECEIVES, qp, receives))
            sender = self.senders[qp] = Sender(self.rng, self.world, qp, 0, row, first_psn)
            sender.receives = receives
        return script

    def row(self, **fields: int) -> QpRow:
        """A QP of the first peer."""
        return QpRow(peer_qpn=self.rng.randint(3, (1 << 24) - 1), peer_address=self.world.peers[0].address, **fields)

    def frame(self, sender: Sender, packet: Packet, port: int, *, rtx: bool = False, ack: bool = False) -> bytes:
        """A packet as a frame in SRv6 without SRH, so that its length is known."""
        transport = sender.transport(packet, rtx=rtx, ack=ack)
        return self.world.frame(self.rng, port, sender.peer, transport, sender.payload(packet), style=SRV6)

    def spread(self, frames: Sequence[bytes], gap: int = 0) -> Round:
        """The frames over all ports in turn."""
        script = Round()
        for number, data in enumerate(frames):
            script.frames[number % PORTS].append(Sent(data, gap))
        return script

    def paced(self, frames: Sequence[bytes]) -> Round:
        """The frames over all ports in turn, each port at 100 Gb/s from its first frame on, all in step."""
        script = Round()
        bytes_so_far, busy_until = [0] * PORTS, [0] * PORTS
        for number, data in enumerate(frames):
            port = number % PORTS
            start = max(busy_until[port], -(-bytes_so_far[port] // CLOCK_BYTES))
            script.frames[port].append(Sent(data, start - busy_until[port]))
            busy_until[port] = start + -(-len(data) // BUS_BYTES)
            bytes_so_far[port] += len(data) + LINK_OVERHEAD
        return script

    def writes(self, length: int, count: int, payload: int, *, immediates: bool = False) -> list[bytes]:
        """`count` writes of one packet with `payload` bytes, the QPs in turn; each frame padded to `length` bytes."""
        order = list(self.senders.values())
        frames: list[bytes] = []
        for number in range(count):
            sender = order[number % len(order)]
            sender.begin(payload, immediate=immediates)
            packet = sender.new()
            data = self.frame(sender, packet, number % PORTS)
            assert len(data) <= length, f"{len(data)} bytes for a frame of {length}"
            frames.append(data + self.rng.randbytes(length - len(data)))
            sender.arrived(packet)
        return frames
