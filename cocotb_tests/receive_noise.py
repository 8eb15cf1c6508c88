"""Frames that are no writes of a sender's plan: probes, endpoint operations, strays, and everything that is wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from cocotb_tests.receive_rows import MAX_FRAME_BYTES, QPS
from cocotb_tests.receive_sender import PSN_SPACE, Packet, Sender
from cocotb_tests.receive_world import REGIONS, World, trimmed, with_traffic_class
from pymodel.wire import spec
from pymodel.wire.build import build
from pymodel.wire.headers import Aeth, Bth, CcState, Eeth, Erth, Ethernet, Ipv4, Meth, Neth, Peth, Reth, Seth
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import ENDPOINT_QP, Ecn, Opcode

MAX_WINDOW_PSNS = 4096


class Noise:
    """Makes frames for one port at a time."""

    def __init__(self, rng: random.Random, world: World) -> None:
        self.rng, self.world = rng, world
        self._fault = itertools.count()

    # Operations without PSN

    def probe(self, sender: Sender, port: int) -> bytes:
        """A reliability probe, now and then with a mark that means nothing on it, or CE."""
        rng = self.rng
        body = Peth(probe_id=rng.getrandbits(16), tx_timestamp=rng.getrandbits(16), spdcid=rng.getrandbits(16))
        bth = Bth(opcode=Opcode.PROBE_REQUEST, dest_qp=sender.qp, psn=rng.getrandbits(24), p_key=sender.p_key)
        bth.rtx = rng.getrandbits(1)
        bth.ack_req = rng.getrandbits(1)
        data = self.world.frame(rng, port, sender.peer, bth.pack() + body.pack())
        match rng.randrange(8):
            case 0:
                return with_traffic_class(data, dscp=spec.DEFAULT_OPTIONS.dscp.trimmed)
            case 1:
                return with_traffic_class(data, ecn=Ecn.CE)
        return data

    def endpoint(self, port: int) -> bytes:
        """An endpoint request, mostly one that can be answered, or a response that nobody waits for."""
        rng, world = self.rng, self.world
        peer = rng.randrange(len(world.peers))
        op = rng.choice((0, 1, 1, 1, 2, 3))
        request = Erth(op=op, port_status_mask=rng.getrandbits(32), tx_timestamp=rng.getrandbits(16))
        bth = Bth(opcode=Opcode.ENDPOINT_REQUEST, dest_qp=ENDPOINT_QP, psn=rng.getrandbits(24))
        match rng.randrange(12):
            case 0:
                bth.dest_qp = rng.randrange(QPS)
            case 1:
                bth.opcode = Opcode.ENDPOINT_RESPONSE
                return world.frame(rng, port, peer, bth.pack() + Eeth(op=1).pack())
            case 2:
                return world.odd_frame(rng, port, peer, bth, [request], destination=rng.getrandbits(128))
            case 3:  # from another plane, or from nowhere: no way back
                source = rng.choice((world.peers[peer].sources[port ^ 1], rng.getrandbits(128), 0))
                return world.odd_frame(rng, port, peer, bth, [request], outer_source=source)
            case 4:
                return world.odd_frame(rng, port, peer, bth, [request], segments=rng.randint(1, 5))
        return world.frame(rng, port, peer, bth.pack() + request.pack())

    def stray(self, sender: Sender, port: int) -> bytes:
        """An answer to a request that was never made (R10): SACK, NACK or transport ACK, for any QP."""
        rng = self.rng
        opcode, body = rng.choice(self._answers())
        qp = sender.qp if rng.random() < 0.6 else rng.choice((rng.randrange(QPS), rng.getrandbits(24)))
        bth = Bth(opcode=opcode, dest_qp=qp, psn=rng.getrandbits(24), p_key=sender.p_key)
        return self.world.frame(rng, port, sender.peer, bth.pack() + b"".join(each.pack() for each in body))

    def _answers(self) -> list[tuple[Opcode, list[PackedHeader]]]:
        rng = self.rng
        seth = Seth(entropy=rng.getrandbits(32), cack_psn=rng.getrandbits(24), sack_bitmap=rng.getrandbits(64))
        return [
            (Opcode.SACK, [seth, CcState(ooo_count=rng.getrandbits(15))]),
            (Opcode.NACK, [Neth(reason=rng.getrandbits(8), nack_psn=rng.getrandbits(24))]),
            (Opcode.ACKNOWLEDGE, [Aeth(syndrome=rng.getrandbits(8), msn=rng.getrandbits(24))]),
        ]

    # Writes that are none of the QP's business

    def misdirected(self, sender: Sender, port: int) -> bytes:
        """A write for an unknown QP, or with a wrong address or P_Key."""
        rng, world = self.rng, self.world
        packet = self._any(sender)
        match rng.randrange(5):
            case 0:
                known = rng.choice((0, 1, 2, QPS - 2, QPS, QPS + sender.qp, 1 << 23, PSN_SPACE - 1))
                transport = sender.transport(packet, dest_qp=known)
                return world.frame(rng, port, sender.peer, transport, sender.payload(packet))
            case 1:
                return self._own(sender, packet, port, source=rng.getrandbits(128))
            case 2:
                return self._own(sender, packet, port, destination=world.config.address ^ 1 << rng.randrange(128))
            case 3:
                # Another partition, or a limited member like this end.
                limited = rng.random() < 0.3 and not sender.row.p_key & 0x8000
                p_key = sender.row.p_key if limited else sender.p_key ^ 1 << rng.randrange(15)
                return self._own(sender, packet, port, p_key=p_key)
        return self._ipv4(sender, packet, port)

    def _any(self, sender: Sender) -> Packet:
        rng = self.rng
        if sender.recent:
            return rng.choice(list(sender.recent))
        region = rng.choice(self.world.wide_regions())
        return Packet(sender.psn, int(Opcode.WRITE_ONLY), 0, 0, region.row.first, region.r_key, 8, 0, 8, None)

    def _headers(self, sender: Sender, packet: Packet, p_key: int | None) -> tuple[Bth, list[PackedHeader]]:
        p_key = sender.p_key if p_key is None else p_key
        bth = Bth(opcode=Opcode.WRITE_ONLY, dest_qp=sender.qp, psn=packet.psn, p_key=p_key)
        reth = Reth(va=packet.va, r_key=packet.r_key, dma_length=packet.dma_length)
        return bth, [Meth(msn=packet.msn, rqmsn=packet.rqmsn), reth]

    def _own(
        self,
        sender: Sender,
        packet: Packet,
        port: int,
        *,
        source: int | None = None,
        destination: int | None = None,
        p_key: int | None = None,
    ) -> bytes:
        # Of a packet that has arrived, so that it has no effect should it be taken after all.
        bth, body = self._headers(sender, packet, p_key)
        return self.world.odd_frame(
            self.rng, port, sender.peer, bth, body, sender.payload(packet), source=source, destination=destination
        )

    def _ipv4(self, sender: Sender, packet: Packet, port: int) -> bytes:
        rng, own = self.rng, self.world.config.ports[port]
        bth, body = self._headers(sender, packet, None)
        return build(
            ethernet=Ethernet(dst=own.mac, src=own.switch_mac),
            ip=Ipv4(
                src=rng.getrandbits(32), dst=self.world.config.address & 0xFFFFFFFF, identification=rng.getrandbits(16)
            ),
            ev=rng.getrandbits(16),
            bth=bth,
            extensions=body,
            payload=sender.payload(packet),
        )

    # PSNs that the window refuses, or has had

    def odd_psn(self, sender: Sender, port: int) -> bytes:
        """A write with a PSN above or below the window, near and far."""
        rng, half = self.rng, PSN_SPACE // 2
        packet = self._any(sender)
        # Never one that might be awaited, now or under a window that has not shrunk yet: another packet has it.
        most = MAX_WINDOW_PSNS
        ahead = rng.choice((most + 200, most + 4000, half - 1 - most, -2 * most, -2 * most - 600, half + 3))
        psn = (sender.belief.cack_psn + ahead) % PSN_SPACE
        transport = sender.transport(packet._replace(psn=psn), rtx=rng.random() < 0.5)
        return self.world.frame(rng, port, sender.peer, transport, sender.payload(packet))

    # Damage

    def spoiled(self, data: bytes) -> bytes:
        """A good frame damaged so that it must not be taken: cut, a bit flipped, or the ICRC wrong."""
        rng = self.rng
        match rng.randrange(3):
            case 0:
                return data[: rng.randint(1, len(data) - 1)]
            case 1:
                # Where the ICRC covers every bit: behind the BTH's first bytes.
                at = rng.randint(min(len(data) - 1, 120), len(data) - 1)
            case _:
                at = len(data) - rng.randint(1, 4)
        return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]

    def junk(self) -> bytes:
        """Bytes that are no frame of MRC, from one beat on, some longer than any frame may be."""
        rng = self.rng
        length = rng.choice(
            (1, 13, 14, 53, 54, 60, 64, 65, rng.randint(1, 300), rng.randint(1, 300), MAX_FRAME_BYTES + 1)
        )
        data = bytearray(rng.randbytes(length))
        if rng.random() < 0.7 and length > 20:
            data[12:14] = rng.choice((b"\x86\xdd", b"\x08\x00", b"\x08\x06"))
            data[14] = rng.choice((0x60, 0x45, 0x46, data[14]))
            data[20] = rng.choice((17, 41, 43, data[20]))
        return bytes(data)

    def marked(self, sender: Sender, port: int) -> bytes:
        """CE on the outer header of a packet that is not ECN-capable: RFC 6040 drops it."""
        bth, body = self._headers(sender, self._any(sender), None)
        return self.world.odd_frame(
            self.rng, port, sender.peer, bth, body, ecn=Ecn.NOT_ECT, outer_ecn=Ecn.CE, segments=self.rng.choice((0, 2))
        )

    def anything(self, sender: Sender, port: int) -> bytes:
        """One of the above that no QP may take notice of."""
        kinds: list[Callable[[], bytes]] = [
            self.junk,
            self.junk,
            lambda: self.stray(sender, port),
            lambda: self.stray(sender, port),
            lambda: self.misdirected(sender, port),
            lambda: self.misdirected(sender, port),
            lambda: self.misdirected(sender, port),
            lambda: self.marked(sender, port),
            lambda: self.spoiled(self.probe(sender, port)),
            lambda: self.oversized(self.probe(sender, port)),
        ]
        return self.rng.choice(kinds)()

    # Faults that a QP does not survive

    def fault(self, sender: Sender, port: int) -> bytes:
        """The next packet, with a key, range or length for which the QP must fail."""
        rng, world = self.rng, self.world
        sender.begin(min(sender.row.mtu, 64), immediate=False)
        packet = sender.new()
        length = packet.length
        narrow = world.regions[3]
        wide = rng.choice([region for region in world.wide_regions() if region.row.last < (1 << 64) - 1])
        wrong = [
            packet._replace(r_key=wide.r_key, va=wide.row.last + 2 - length),
            packet._replace(r_key=packet.r_key ^ 1 << rng.randrange(8)),
            packet._replace(r_key=packet.r_key ^ 1 << rng.randrange(14, 32)),
            packet._replace(r_key=REGIONS << 8),
            packet._replace(r_key=wide.r_key, va=(wide.row.first - 1) % (1 << 64)),
            packet._replace(r_key=narrow.r_key, va=narrow.row.first),
            packet._replace(opcode=int(Opcode.WRITE_MIDDLE), length=sender.row.mtu - 1),
            packet._replace(opcode=int(Opcode.WRITE_FIRST), length=0),
            packet._replace(length=sender.row.mtu + rng.randint(1, 4)),
        ]
        packet = wrong[next(self._fault) % len(wrong)]
        return world.frame(rng, port, sender.peer, sender.transport(packet), sender.payload(packet))

    def shortened(self, data: bytes) -> bytes:
        """A frame with a trim mark, cut or, if it is short, whole."""
        return trimmed(data, self.rng.random() < 0.4)

    def padded(self, data: bytes) -> bytes:
        """A frame with bytes behind it, as links add them."""
        return data + self.rng.randbytes(self.rng.randint(1, 70))

    def oversized(self, data: bytes) -> bytes:
        """A good frame with so much behind it that it is longer than any frame may be."""
        return data + self.rng.randbytes(MAX_FRAME_BYTES + self.rng.choice((1, 64, 300)) - len(data))
