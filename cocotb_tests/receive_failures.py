"""Rounds laid out by hand for what chance meets seldom: each fault and what its QP answers ever after, commands in
every state, limits of immediates, events that race.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cocotb_tests.receive_corners import WRITES, Corners, Line
from cocotb_tests.receive_rows import PORTS, Command, Op, QpRow, RegionRow, Round, RouteRow, Sent
from cocotb_tests.receive_sender import Packet, Sender
from cocotb_tests.receive_world import REGIONS, trimmed
from pymodel.wire import spec
from pymodel.wire.spec import IMMEDIATE_OPCODES, NackReason, Opcode

FAULTS = 14
"""Ways in which `Corners.faults` makes a QP fail."""


def _as(packet: Packet, opcode: int, length: int | None = None) -> Packet:
    """The packet with another opcode, and with another length if one is given."""
    immediate = 1 if opcode in IMMEDIATE_OPCODES else None
    return packet._replace(opcode=int(opcode), length=packet.length if length is None else length, immediate=immediate)


class Failures(Corners):
    """Scenes of one world."""

    # ------------------------------------------------------------------ faults

    def faults(self, sender: Sender) -> list[Packet]:
        """Packets for which a QP must fail, each by another fault or with another opcode."""
        world, mtu = self.world, sender.row.mtu
        sender.begin(64, immediate=False)
        packet = sender.new()
        sized = [
            *((opcode, mtu + 1) for opcode in WRITES),
            (Opcode.WRITE_FIRST, mtu - 1),
            (Opcode.WRITE_MIDDLE, 0),
        ]
        top = next(region for region in world.regions if region.row.last == (1 << 64) - 1)
        wide = next(region for region in world.wide_regions() if region.row.first > 0 and region is not top)
        unused = next(index for index in range(REGIONS) if index not in {region.index for region in world.regions})
        return [
            *(_as(packet, opcode, length) for opcode, length in sized),
            packet._replace(r_key=REGIONS << spec.R_KEY_TAG_BITS),
            packet._replace(r_key=unused << spec.R_KEY_TAG_BITS),
            packet._replace(r_key=wide.r_key ^ 1, va=wide.row.first),
            packet._replace(r_key=wide.r_key, va=wide.row.first - 1),
            packet._replace(r_key=wide.r_key, va=wide.row.last - 62),
            packet._replace(r_key=top.r_key, va=top.row.last - 62),
        ]

    def places(self, qp: int, port: int) -> Round:
        """Writes that fill a region, or touch its first or last byte, with and without headers in front."""
        line, sender = Line(port), self.senders[qp]
        narrow = next(region for region in self.world.regions if region.row.first == region.row.last)
        for region in self.world.regions:
            for length, va in ((1, region.row.first), (1, region.row.last), (64, region.row.first)):
                if length == 1 or region is not narrow:
                    sender.begin(length, immediate=False, region=region, va=va)
                    line.send(self.frame(sender, sender.new(), port))
            if region is not narrow:
                sender.begin(64, immediate=False, region=region, va=region.row.last - 63)
                line.send(self.frame(sender, sender.new(), port))
        return line.round

    def lengths(self, qp: int, port: int) -> Round:
        """Last packets of every length, none at all too."""
        line, sender = Line(port), self.senders[qp]
        mtu = sender.row.mtu
        line.tell(Command(Op.POST_RECEIVES, qp, 20))
        for immediate in (False, True):
            for length in (0, 1, 63, 64, 65, mtu - 1, mtu):
                sender.begin(mtu + max(1, length), immediate=immediate)
                first, last = sender.new(), sender.new()
                line.send(self.frame(sender, first, port), self.frame(sender, last._replace(length=length), port))
                sender.begin(length, immediate=immediate)
                line.send(self.frame(sender, sender.new(), port))
        return line.round

    def ever_after(self, line: Line, qp: int) -> None:
        """All that a peer and software may still say to a QP that failed; it begins anew in the end."""
        rng, sender = self.rng, self.senders[qp]
        packet = self.small(sender, 1)[0]
        for opcode in WRITES:
            data = self.frame(sender, _as(packet, opcode), line.port)
            line.send(data, trimmed(data), trimmed(data, last_hop=True))
        line.send(self.frame(sender, packet, line.port, rtx=True), self.noise.probe(sender, line.port))
        values = {
            Op.SET_MPR: 2,
            Op.SET_PENALTY: 5,
            Op.SET_RESTORE: 1,
            Op.SET_RESOURCE_NACK: NackReason.NO_RESOURCE,
            Op.SET_PLANES: 0x0F,
            Op.POST_RECEIVES: 3,
        }
        line.tell(*(Command(op, qp, value) for op, value in values.items()))
        line.tell(Command(Op.QP_ERROR, qp), Command(Op.QUERY, qp))
        for segment in (None, rng.getrandbits(128)):
            row = RouteRow(rng.getrandbits(32), rng.getrandbits(128), segment)
            line.tell(Command(Op.QP_ROUTE, qp, port=line.port, row=row))
        line.send(self.frame(sender, packet, line.port))
        line.tell(Command(Op.QP_RESET, qp), Command(Op.QUERY, qp))
        line.send(self.frame(sender, packet, line.port), trimmed(self.frame(sender, packet, line.port)))
        line.tell(Command(Op.QP_RESET, qp), *self.life_of(qp, sender.row))

    def life_of(self, qp: int, row: QpRow) -> list[Command]:
        """A life that begins at PSN 7, with receives posted before it does."""
        life = self.world.life(self.rng, qp, row, 7)
        return [*life[:-1], Command(Op.POST_RECEIVES, qp, 2), life[-1], Command(Op.QUERY, qp)]

    def failures(self, qps: Sequence[int], port: int) -> Round:
        """For each fault a QP that meets it, one without a receive, one that is reset, and ones that are stopped."""
        line = Line(port)
        for number, qp in enumerate(qps):
            sender = self.senders[qp]
            receives = number % 7 + 1
            line.tell(Command(Op.POST_RECEIVES, qp, receives))
            if number < FAULTS:
                line.send(self.frame(sender, self.faults(sender)[number], port))
            elif number == FAULTS:
                for _ in range(receives + 1):
                    sender.begin(0, immediate=True)
                    line.send(self.frame(sender, sender.new(), port))
            else:
                line.send(self.frame(sender, self.small(sender, 1)[0], port))
                if number == FAULTS + 1:
                    line.tell(Command(Op.QP_RESET, qp), *self.life_of(qp, sender.row))
                line.tell(Command(Op.QP_ERROR, qp))
            self.ever_after(line, qp)
        return line.round

    def regions(self) -> Round:
        """Regions moved, taken away and set again."""
        used = [region for region in self.world.regions if region.row.first < region.row.last]
        script = Round()
        for region in used[:3]:
            away = RegionRow(0, 0, 0, valid=False)
            moved = replace(region.row, first=region.row.first + 1)
            rows = (moved, away, region.row)
            script.commands += [Command(Op.REGION, region.index, row=row) for row in rows]
        return script

    # ------------------------------------------------------------------ immediates

    def immediates(self, qps: Sequence[int], port: int, excess: int | None) -> Round:
        """Behind a hole as many writes with immediate as there may be; with `excess` one more, that many too far."""
        line = Line(port)
        for qp in qps:
            sender = self.senders[qp]
            wimm = sender.row.wimm
            line.tell(Command(Op.POST_RECEIVES, qp, wimm + 4))
            hole = self.small(sender, 1)[0]
            for _ in range(wimm):
                sender.begin(0, immediate=True)
                line.send(self.frame(sender, sender.new(), port))
            if excess is not None:
                for _ in range(excess + 1):
                    sender.begin(0, immediate=True)
                    last = sender.new()
                line.send(self.frame(sender, last, port))
                self.ever_after(line, qp)
            else:
                line.send(self.frame(sender, hole, port))
        return line.round

    # ------------------------------------------------------------------ races

    def races(self, count: int) -> Round:
        """Short writes of few QPs on all ports, timers that run out amid them, commands without a pause."""
        rng, script = self.rng, Round()
        qps = list(self.senders)
        for number in range(count):
            sender = self.senders[rng.choice(qps)]
            port = rng.randrange(PORTS)
            packet = self.small(sender, 1)[0]
            script.frames[port].append(Sent(self.frame(sender, packet, port), rng.choice((0, 0, 1, 2, 30, 90))))
            sender.arrived(packet)
            if number % 8 == 0:
                script.commands.append(Command(Op.SET_PENALTY, rng.choice(qps), rng.getrandbits(7)))
        return script

    def stopped_timers(self) -> Round:
        """QPs that fail, are stopped or reset about when their quiet timers run out."""
        script, rng = Round(), self.rng
        for number, (qp, sender) in enumerate(self.senders.items()):
            port = number % PORTS
            packet = self.small(sender, 1)[0]
            script.frames[port].append(Sent(self.frame(sender, packet, port), rng.randrange(40)))
            if number % 3 == 2:
                wrong = self.faults(sender)[FAULTS - 1]
                script.frames[port].append(Sent(self.frame(sender, wrong, port), sender.row.quiet_clocks - 40))
            else:
                script.commands.append(Command(Op.QP_RESET if number % 3 else Op.QP_ERROR, qp))
        return script
