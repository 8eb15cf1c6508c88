"""Traffic for the assembled receive side: many QPs of several peers sprayed over eight ports, with everything that a
network, a peer and software do to them.

A round is laid out as a whole, from a seed, and played open loop. It says which frames must wait for which commands
and the other way round only where a QP begins a new life; everything else races, and the tap tells how it went.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_noise import Noise
from cocotb_tests.receive_rows import PORTS, QPS, Command, Op, QpRow, Round, Sent, State
from cocotb_tests.receive_sender import PSN_SPACE, Packet, Sender
from cocotb_tests.receive_world import World, with_traffic_class
from pymodel.wire.spec import Ecn, NackReason

BUS_BYTES = 64
MTUS = (256, 256, 512, 1024, 1024, 2048, 4096, 8192)
_SHORTAGES = (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE)


class Plan(NamedTuple):
    """Something that is due at a step: a transmission of a packet, or the end of a shortage."""

    step: int
    number: int
    life: int
    sender: Sender
    packet: Packet | None
    rtx: bool


class Traffic:
    """Rounds of traffic of `alive` QPs."""

    def __init__(self, seed: int, alive: int = 20, window: int = 4096, wimm: int = 128) -> None:
        self.rng = random.Random(f"traffic {seed}")
        self.world = World(seed)
        self.noise = Noise(self.rng, self.world)
        self.window, self.wimm = window, wimm
        # The lowest numbers and the highest one, and no number that means something else.
        self.names = [*range(3, 2 + alive), QPS - 1]
        self.senders: dict[int, Sender] = {}
        self.met: Counter[str] = Counter()
        self._lives: Counter[int] = Counter()
        self._plans: list[Plan] = []
        self._numbers = itertools.count()
        self._step = 0
        self._rest: dict[int, int] = {}  # the step until which a QP is left alone
        self._failed: dict[int, int] = {}  # the step at which a QP that failed begins anew
        self._ready: dict[int, int] = {}  # commands that a QP's frames wait for
        self._load = [0] * PORTS
        self._round = Round()

    # Rounds

    def opening(self) -> Round:
        """Regions and QPs, before any frame."""
        self._begin_round()
        self._round.commands += self.world.register()
        for qp in self.names:
            self._new_life(qp)
        return self._round

    def next(self, count: int) -> Round:
        """About `count` frames, and commands among them; at the end a query of each QP.

        Nothing is under way when it ends: what was lost is sent again.
        """
        self._begin_round()
        end = self._step + count
        while self._step < end:
            self._step += 1
            self._due(self._step)
            self._act()
        while self._plans:
            self._step = self._plans[0].step
            self._due(self._step)
        return self._round

    def queries(self) -> Round:
        """A query of each QP, for when all is at rest."""
        return Round(commands=[Command(Op.QUERY, qp) for qp in self.names])

    def learn(self, golden: Golden) -> None:
        """Take over the truth: what did not arrive is sent again, and a QP that failed begins a new life."""
        self._begin_round()
        for qp, sender in self.senders.items():
            if golden.state(qp) is not State.READY:
                self._failed[qp] = self._step
                continue
            model = golden.device.qp(qp)
            sender.shortage = model.responder.shortage is not None
            missing = sender.learn(model.responder.window, len(model._receives))
            for packet in missing:
                self._later(self._step + self.rng.randint(1, 200), sender, packet, rtx=True)

    def _begin_round(self) -> None:
        self._round = Round()
        self._load = [0] * PORTS
        self._ready = {}

    # Frames

    def _act(self) -> None:
        rng = self.rng
        for qp, step in list(self._failed.items()):
            if step <= self._step:
                del self._failed[qp]
                self._new_life(qp, behind=True)
        sender = self.senders[rng.choice(self.names)]
        if self._rest.get(sender.qp, 0) > self._step:
            return
        port = self._port()
        match rng.choices(range(8), (840, 45, 20, 20, 30, 14, 28, 2))[0]:
            case 0:
                self._first(sender)
            case 1 if sender.recent:
                self._transmit(sender, rng.choice(list(sender.recent)), rtx=rng.random() < 0.5)
            case 2:
                self._send(sender, port, self.noise.probe(sender, port), "probe")
            case 3:
                self._send(sender, port, self.noise.endpoint(port), "endpoint")
            case 4:
                self._send(sender, port, self.noise.anything(sender, port), "noise")
            case 5:
                self._send(sender, port, self.noise.odd_psn(sender, port), "odd PSN")
            case 6:
                self._command(sender)
            case 7 if sender.qp not in self._failed:
                self._fail(sender)

    def _first(self, sender: Sender) -> None:
        """A new packet, and what becomes of it and when."""
        rng, now = self.rng, self._step
        if sender.qp in self._failed:
            if sender.recent:
                self._transmit(sender, rng.choice(list(sender.recent)), rtx=True)
            return
        if not sender.has_room():
            return
        if sender.receives < sender.stock:
            self._post(sender)
        packet = sender.new()
        if sender.shortage:
            self._transmit(sender, packet, rtx=False)
            self._later(now + rng.randint(50, 400), sender, packet, rtx=True)
            return
        fate = rng.random()
        if fate < 0.02:
            self.met["lost"] += 1
        elif fate < 0.045:
            self._send_trimmed(sender, packet)
        elif fate < 0.06:
            port = self._port()
            self._send(sender, port, self.noise.spoiled(self._data(sender, packet, port, rtx=False)), "spoiled")
        else:
            delay = rng.choices((0, rng.randint(1, 20), rng.randint(20, 250)), (75, 20, 5))[0]
            if delay:
                self._later(now + delay, sender, packet, rtx=False)
            else:
                self._transmit(sender, packet, rtx=False)
            if rng.random() < 0.02:
                self._later(now + rng.randint(1, 60), sender, packet, rtx=rng.random() < 0.5)
            return
        self._later(now + rng.randint(10, 300), sender, packet, rtx=True)

    def _send_trimmed(self, sender: Sender, packet: Packet) -> None:
        port = self._port()
        self._send(sender, port, self.noise.shortened(self._data(sender, packet, port, rtx=False)), "trimmed")

    def _later(self, step: int, sender: Sender, packet: Packet | None, *, rtx: bool) -> None:
        plan = Plan(step, next(self._numbers), self._lives[sender.qp], sender, packet, rtx)
        heapq.heappush(self._plans, plan)

    def _due(self, step: int) -> None:
        while self._plans and self._plans[0].step <= step:
            plan = heapq.heappop(self._plans)
            if plan.life != self._lives[plan.sender.qp]:
                continue
            if plan.packet is not None:
                self._transmit(plan.sender, plan.packet, rtx=plan.rtx)
            elif plan.sender.shortage:
                self._round.commands.append(Command(Op.SET_RESOURCE_NACK, plan.sender.qp))
                plan.sender.shortage = False

    def _transmit(self, sender: Sender, packet: Packet, *, rtx: bool) -> None:
        """A packet that arrives whole."""
        rng, port = self.rng, self._port()
        data = self._data(sender, packet, port, rtx=rtx)
        if rng.random() < 0.04:
            data = with_traffic_class(data, ecn=Ecn.CE)
            self.met["CE"] += 1
        if rng.random() < 0.03:
            data = self.noise.padded(data)
        self._send(sender, port, data, "full MTU" if packet.length == sender.row.mtu else "write")
        sender.arrived(packet)

    def _data(self, sender: Sender, packet: Packet, port: int, *, rtx: bool) -> bytes:
        transport = sender.transport(packet, ack=self.rng.random() < 0.05, rtx=rtx)
        dscp = self.world.config.options.dscp
        chosen = dscp.trimmable_retx if rtx else dscp.trimmable
        assert chosen is not None
        return self.world.frame(self.rng, port, sender.peer, transport, sender.payload(packet), chosen)

    def _port(self) -> int:
        """One of the ports with least to do: paths differ in delay, and not without bound."""
        order = sorted(range(PORTS), key=self._load.__getitem__)
        return order[self.rng.randrange(4)]

    def _send(self, sender: Sender, port: int, data: bytes, kind: str) -> None:
        gap = self.rng.choices((0, self.rng.randint(1, 6), self.rng.randint(6, 60)), (45, 45, 10))[0]
        self._round.frames[port].append(Sent(data, gap, self._ready.get(sender.qp, 0)))
        self._load[port] += gap + -(-len(data) // BUS_BYTES)
        self.met[kind] += 1

    # Commands

    def _command(self, sender: Sender) -> None:
        """Software does something to a QP amid its traffic."""
        rng, qp = self.rng, sender.qp
        match rng.choices(range(8), (3, 3, 2, 2, 3, 3, 4, 3))[0]:
            case 0:
                units = rng.randint(1, max(1, min(8, self.window // 128)))
                command = Command(Op.SET_MPR, qp, units)
                sender.window = units * 128
            case 1:
                command = Command(Op.SET_PENALTY, qp, rng.getrandbits(7))
            case 2:
                command = Command(Op.SET_RESTORE, qp, rng.getrandbits(1))
            case 3:
                command = Command(Op.SET_RESOURCE_NACK, qp, rng.choice(_SHORTAGES))
                if not sender.shortage:
                    self._later(self._step + rng.randint(20, 300), sender, None, rtx=False)
                sender.shortage = True
            case 4:
                command = Command(Op.SET_PLANES, qp, rng.choice((0xFF, 0xFF, 0, rng.getrandbits(8))))
            case 5:
                command = self.world.route(rng, qp, rng.randrange(PORTS))
            case 6:
                command = Command(Op.QUERY, qp)
            case _:
                self._post(sender)
                return
        self.met[command.op.name] += 1
        self._round.commands.append(command)

    def _post(self, sender: Sender) -> None:
        count = self.rng.randint(8, 64) if sender.stock > 12 else 16
        self._round.commands.append(Command(Op.POST_RECEIVES, sender.qp, count))
        sender.receives += count

    # Lives

    def _row(self) -> tuple[int, QpRow]:
        rng = self.rng
        peer = rng.randrange(len(self.world.peers))
        largest = self.window // 128
        return peer, QpRow(
            peer_qpn=rng.randint(3, PSN_SPACE - 1),
            peer_address=self.world.peers[peer].address,
            p_key=rng.choice((0xFFFF, 0x8001 + rng.getrandbits(8), rng.getrandbits(16) & 0x7FFF)),
            mtu=rng.choice(MTUS),
            sack_threshold=rng.choice((1, 2048, 8192, 16384, 65536)),
            quiet_clocks=rng.choice((32, 150, 400, 900)),
            wimm=rng.choice((self.wimm, self.wimm, self.wimm - 1, 32, 9, 2)),
            mpr_units=rng.choice((1, 1, min(2, largest), min(3, largest), largest)),
            dynamic_mpr=rng.random() < 0.5,
            trim_nack=rng.random() < 0.85,
            drop_above=rng.random() < 0.15,
        )

    def _new_life(self, qp: int, behind: bool = False) -> None:
        """Configure a QP and make it ready; with `behind`, after all frames so far have been taken."""
        rng, commands = self.rng, self._round.commands
        peer, row = self._row()
        first = rng.choice((PSN_SPACE - 3, PSN_SPACE - 3, 0, 1, rng.randrange(PSN_SPACE)))
        life = self.world.life(rng, qp, row, first)
        if behind:
            life[0] = replace(life[0], behind=tuple(len(frames) for frames in self._round.frames))
        commands += life
        sender = self.senders[qp] = Sender(rng, self.world, qp, peer, row, first)
        self._lives[qp] += 1
        self._post(sender)
        self._ready[qp] = len(commands)
        self._rest[qp] = self._step + 60 if behind else 0
        self.met["lives"] += 1

    def _fail(self, sender: Sender) -> None:
        """Let a QP fail, in one of the ways in which one can; it begins anew some steps later."""
        rng, qp = self.rng, sender.qp
        self._failed[qp] = self._step + rng.randint(10, 150)
        kind = rng.choices(("fault", "error", "excess", "no receive"), (6, 2, 2, 2))[0]
        self.met[kind] += 1
        match kind:
            case "fault":
                port = self._port()
                self._send(sender, port, self.noise.fault(sender, port), "fault")
            case "error":
                self._round.commands.append(Command(Op.QP_ERROR, qp))
            case "excess":
                # A hole, and behind it more immediates than may be on the way.
                sender.new()
                for _ in range(min(sender.row.wimm + 2, sender.window - sender.ahead - 4)):
                    self._immediate(sender)
            case _:
                for _ in range(min(sender.receives + 2, sender.window - sender.ahead - 4)):
                    self._immediate(sender)

    def _immediate(self, sender: Sender) -> None:
        sender.begin(self.rng.choice((0, 0, 5)), immediate=True)
        while sender.begun:
            self._transmit(sender, sender.new(), rtx=False)
