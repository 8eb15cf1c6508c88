"""Rounds laid out by hand for what chance meets seldom: every kind of frame and of objection to it, both ends of the
window, shortages, windows that shrink. `receive_failures` has those that end a QP's life.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from cocotb_tests.receive_rows import PORTS, QPS, Command, Op, Round, Sent
from cocotb_tests.receive_scenes import Scene
from cocotb_tests.receive_sender import PSN_SPACE, Packet, Sender
from cocotb_tests.receive_world import trimmed, with_traffic_class
from cocotb_tests.rx_traffic import Traffic, of_length
from pymodel.wire import spec
from pymodel.wire.build import build
from pymodel.wire.headers import (
    Aeth,
    Bth,
    CcState,
    Eeth,
    Erth,
    Ethernet,
    Immdt,
    Ipv4,
    Ipv6,
    Meth,
    Neth,
    Peth,
    Reth,
    Seth,
    Tseth,
)
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.parser import ParseCause, ParseError, parse
from pymodel.wire.spec import DATA_OPCODES, ENDPOINT_QP, IMMEDIATE_OPCODES, Ecn, NackReason, Opcode
from pymodel.wire.tunnel import encapsulate

WRITES = sorted(DATA_OPCODES)
RESOURCES = (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE)
FORMS = ("IPv4", "IPv6", "SRv6", "SRH")
FULL, LIMITED, READY, CONFIGURED, NEVER = 0x8123, 0x0123, (3, 4), 5, 60
_HALF = PSN_SPACE // 2


class Line:
    """Frames and commands in one order, by one port."""

    def __init__(self, port: int) -> None:
        self.port, self.round = port, Round()

    def send(self, *frames: bytes) -> None:
        self.round.frames[self.port] += [Sent(data, behind=len(self.round.commands)) for data in frames]

    def tell(self, *commands: Command) -> None:
        behind = tuple(map(len, self.round.frames))
        self.round.commands += [replace(command, behind=behind) for command in commands]


class Corners(Scene):
    """Scenes of one world."""

    # ------------------------------------------------------------------ ports

    def every_frame(self, count: int) -> Round:
        """Good, trimmed and faulty frames of every kind and length on all ports, for nobody."""
        traffic = Traffic(self.rng.randrange(1 << 20))
        frames = [self._made(traffic.any) for _ in range(count)]
        frames += [traffic.good(opcode, shape=shape)[0] for opcode in Opcode for shape in range(4) for _ in range(8)]
        frames += [traffic.good(opcode, shape=3, srh_units=units)[0] for units in range(2, 18) for opcode in WRITES]
        frames += [of_length(traffic, length) for length in (*range(62, 330), *range(9150, 9217))]
        frames += [traffic.trimmed() for _ in range(400)]
        self.rng.shuffle(frames)
        script, wrong = self.spread(frames), self.spread(self._wrong(traffic, 2 * PORTS))
        for mine, more in zip(script.frames, wrong.frames, strict=True):
            mine += more
            self.rng.shuffle(mine)
        return script

    @staticmethod
    def _made(make: Callable[[], bytes]) -> bytes:
        # A short IPv4 packet that a fault makes IPv6 has no ICRC to be repaired: another one.
        while True:
            with suppress(OverflowError):
                return make()

    def _wrong(self, traffic: Traffic, each: int) -> list[bytes]:
        """`each` frames for every cause that a parser has, cause by cause."""
        by_cause: dict[ParseCause, list[bytes]] = {cause: [] for cause in ParseCause}
        while any(len(frames) < each for frames in by_cause.values()):
            data = self._made(traffic.bad)
            frame = parse(data)
            if isinstance(frame, ParseError):
                by_cause[frame.cause].append(data)
        return [data for frames in by_cause.values() for data in frames[:each]]

    # ------------------------------------------------------------------ who a frame is for

    def frame_of(
        self,
        opcode: int,
        qp: int,
        psn: int,
        form: str = "SRv6",
        *,
        port: int = 0,
        p_key: int = FULL,
        source: int | None = None,
        destination: int | None = None,
        outer_source: int | None = None,
        op: int = 1,
        dscp: int = 0,
    ) -> bytes:
        """A frame with any opcode whose headers are as they should be; a write carries 8 bytes. `dscp` is IPv4's."""
        rng, world, peer = self.rng, self.world, self.world.peers[0]
        own = world.config.ports[port]
        bth = Bth(opcode=opcode, dest_qp=qp, psn=psn % PSN_SPACE, p_key=p_key, ts=rng.getrandbits(1))
        source = peer.address if source is None else source
        destination = world.config.address if destination is None else destination
        ip: Ipv4 | Ipv6 = Ipv6(ecn=Ecn.ECT0, src=source, dst=destination)
        outer = None
        if form == "IPv4":
            ip = Ipv4(dscp=dscp, src=rng.getrandbits(32), dst=destination & 0xFFFFFFFF)
        elif form in ("SRv6", "SRH"):
            outer = encapsulate(
                ip, src=peer.sources[port] if outer_source is None else outer_source, dst=rng.getrandbits(128)
            )
        return build(
            ethernet=Ethernet(dst=own.mac, src=own.switch_mac),
            ip=ip,
            ev=rng.getrandbits(16),
            bth=bth,
            extensions=self._body(opcode, bool(bth.ts), op),
            payload=rng.randbytes(8) if opcode in DATA_OPCODES else b"",
            outer=outer,
            segments=[rng.getrandbits(128)] if form == "SRH" else (),
        )

    def _body(self, opcode: int, ts: bool, op: int) -> list[PackedHeader]:
        if opcode in DATA_OPCODES:
            region = self.world.wide_regions()[0]
            body: list[PackedHeader] = [Meth(), Tseth(tx_timestamp=self.rng.getrandbits(16))][: 1 + ts]
            body.append(Reth(va=region.row.first, r_key=region.r_key, dma_length=8))
            return [*body, Immdt(immediate=1)] if opcode in IMMEDIATE_OPCODES else body
        bodies: dict[int, list[PackedHeader]] = {
            Opcode.ACKNOWLEDGE: [Aeth()],
            Opcode.SACK: [Seth(), CcState()],
            Opcode.NACK: [Neth()],
            Opcode.PROBE_REQUEST: [Peth(probe_id=self.rng.getrandbits(16))],
            Opcode.ENDPOINT_REQUEST: [Erth(op=op, port_status_mask=0xFF)],
            Opcode.ENDPOINT_RESPONSE: [Eeth(op=op)],
        }
        return bodies[opcode]

    def objections_opening(self) -> Round:
        """A full and a limited member of a partition, ready; a QP that is configured and no more."""
        script = Round(commands=self.world.register())
        for qp, p_key in zip((*READY, CONFIGURED), (FULL, LIMITED, FULL), strict=True):
            life = self.world.life(self.rng, qp, self.row(p_key=p_key), 1000)
            script.commands += life if qp in READY else [*life[:-1], Command(Op.QUERY, qp)]
        return script

    def objections(self) -> Round:
        """Every kind of frame for QPs that are unknown, never configured or not ready; wrong addresses and P_Keys."""
        frames: list[bytes] = []
        for kind in (*WRITES, "trimmed", Opcode.PROBE_REQUEST, Opcode.SACK, Opcode.NACK, Opcode.ACKNOWLEDGE):
            opcode = Opcode.WRITE_ONLY if kind == "trimmed" else Opcode(kind)
            full = READY[0]
            # What is taken after all has been received before: it lies below the window.
            made = [self.frame_of(opcode, qp, 900) for qp in (QPS, 0, NEVER, CONFIGURED)]
            made += [self.frame_of(opcode, full, 900, form) for form in FORMS[1:]]
            made += [self.frame_of(opcode, full, 900, source=1), self.frame_of(opcode, full, 900, destination=1)]
            made += [self.frame_of(opcode, qp, 900, p_key=key) for qp in READY for key in (FULL, LIMITED, FULL ^ 1)]
            mark = 0
            if kind == "trimmed":
                made, mark = (
                    [trimmed(data, self.rng.random() < 0.5) for data in made],
                    spec.DEFAULT_OPTIONS.dscp.trimmed,
                )
            frames += [*made, self.frame_of(opcode, full, 900, "IPv4", dscp=mark)]
        return self.spread(frames, gap=2)

    def endpoint_operations(self, port: int) -> Round:
        """Requests and responses in every form, to be answered and not; notices of few of them wait at a time."""
        script, peer, rng = Round(), self.world.peers[0], self.rng
        opcodes = (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
        places = ((ENDPOINT_QP, None), (7, None), (ENDPOINT_QP, 1))
        for form, opcode, op, (qp, wrong), outer in itertools.product(
            FORMS, opcodes, range(3), places, (peer.sources[port], peer.sources[port ^ 1])
        ):
            data = self.frame_of(
                opcode, qp, rng.getrandbits(24), form, port=port, destination=wrong, op=op, outer_source=outer
            )
            script.frames[port].append(Sent(data, gap=30))
        return script

    # ------------------------------------------------------------------ windows

    def small(self, sender: Sender, count: int, length: int = 8) -> list[Packet]:
        """The next `count` packets, each a write of its own."""
        packets = []
        for _ in range(count):
            sender.begin(length, immediate=False)
            packets.append(sender.new())
        return packets

    def ways(self, sender: Sender, packet: Packet, *, whole: bool = True) -> Iterator[bytes]:
        """A packet plain, sent again and asking for an answer; each of these whole and trimmed, and marked too."""
        for rtx, ack in ((False, False), (True, False), (False, True)):
            data = self.frame(sender, packet, 0, rtx=rtx, ack=ack)
            for cut in (data, trimmed(data), trimmed(data, last_hop=True))[not whole :]:
                yield cut
                yield with_traffic_class(cut, ecn=Ecn.CE)

    def window(self, qp: int, port: int) -> Round:
        """Both ends of the window and of half the number space; a whole window that one packet closes."""
        line, sender, rng = Line(port), self.senders[qp], self.rng
        window = sender.row.mpr_units * 128
        p = self.small(sender, window + 1)
        line.send(self.frame(sender, p[window - 1], port))
        line.send(*self.ways(sender, p[window]))
        for behind in (1 - _HALF, 50_000, 1):
            line.send(*self.ways(sender, p[0]._replace(psn=(p[0].psn - behind) % PSN_SPACE)))
        for packet in rng.sample(p[1 : window - 1], window - 2):
            line.send(self.frame(sender, packet, port))
        line.send(*self.ways(sender, p[window // 2]), *self.ways(sender, p[window - 1]))
        line.send(*self.ways(sender, p[0], whole=False))
        line.send(self.frame(sender, p[0], port), self.frame(sender, p[window], port))
        line.send(*self.ways(sender, p[0]))
        # Messages that completed and are not acknowledged yet, and a trimmed copy of what came: SACK and ACK.
        for copy in (0, 2):
            q = self.small(sender, 4)
            line.send(*(self.frame(sender, q[n], port) for n in (0, 2)))
            line.send(trimmed(self.frame(sender, q[copy], port), last_hop=copy == 0))
            line.send(*(self.frame(sender, q[n], port) for n in (1, 3)))
        return line.round

    def shortages(self, qp: int, port: int) -> Round:
        """For each shortage what is next, ahead, received, below and above; then all of it comes again."""
        line, sender = Line(port), self.senders[qp]
        window = sender.row.mpr_units * 128
        for reason in RESOURCES:
            q = self.small(sender, 6)
            above = q[0]._replace(psn=(q[0].psn + window) % PSN_SPACE)
            line.send(self.frame(sender, q[3], port))
            line.tell(Command(Op.SET_RESOURCE_NACK, qp, reason))
            for packet in (q[0], q[2], q[3], q[0]._replace(psn=(q[0].psn - 1) % PSN_SPACE), above):
                for rtx in (False, True):
                    line.send(self.frame(sender, packet, port, rtx=rtx))
            line.tell(Command(Op.SET_RESOURCE_NACK, qp), Command(Op.QUERY, qp))
            line.send(*(self.frame(sender, packet, port) for packet in q))
        return line.round

    def resized(self, qp: int, port: int) -> Round:
        """The window shrinks under what was received beyond it, grows again, and all of it is there still."""
        line, sender = Line(port), self.senders[qp]
        p = self.small(sender, 1000)
        line.send(*(self.frame(sender, packet, port) for packet in p[1:]))
        for units in (8, 2, 2, 1, 1, 2, 4, 8, 7, 3, 1, 3, 8):
            line.tell(Command(Op.SET_MPR, qp, units), Command(Op.QUERY, qp))
            line.send(*(self.frame(sender, p[n], port) for n in (126, 127, 128, 254, 255, 256, 999)))
        line.send(self.frame(sender, p[0], port))
        line.tell(Command(Op.QUERY, qp))
        return line.round
