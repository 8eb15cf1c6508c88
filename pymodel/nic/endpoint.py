"""What a NIC says and answers without a QP: EV probes and port status (mrc-facts.md 1.10, 2.7).

An endpoint request goes to QP 2 of an inner address with a 16-bit request id where the PSN would stand, and is answered
by the way it came. When a local link changes, every peer is told over every plane that is up here, again and again
until an answer comes; a peer does not send on a plane whose port is down at either end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.base.time import MS, US
from pymodel.nic.config import DeviceConfig
from pymodel.nic.ev_table import EvSlot
from pymodel.nic.events import Action, FrameOut, Notify, PostEndpointRequest, TimerFired
from pymodel.nic.framing import TIMESTAMP, TIMESTAMP_UNIT_PS, timestamp
from pymodel.nic.ports import PortStates
from pymodel.nic.reverse import ReversePaths
from pymodel.nic.route_back import route_back
from pymodel.nic.timer import Timer
from pymodel.wire.frame import Frame
from pymodel.wire.headers import Bth, Eeth, EethOp54, Erth, Ethernet, Ipv6, Segment
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.serial import Serial
from pymodel.wire.spec import EETH, ENDPOINT_QP, Ecn, EndpointOp, Opcode
from pymodel.wire.template import FrameTemplate

__all__ = ["PORT_STATUS_FIRST_PS", "PORT_STATUS_LAST_PS", "Endpoint"]

PORT_STATUS_FIRST_PS = 100 * US
PORT_STATUS_LAST_PS = 100 * MS
"""A port status is repeated after the first time; each wait is twice the one before, up to the last."""

_REQUEST_ID = Serial(16)
_OPS = frozenset(map(int, EndpointOp))


@dataclass(slots=True)
class _Asked:
    """A request on its way. `reverse` and `slot`: an EV probe of a QP; `request`: one that software posted."""

    peer_address: int
    op: EndpointOp
    sent_ps: int
    stamp: int
    deadline_ps: int | None = None
    request: int | None = None
    reverse: ReversePaths | None = None
    slot: EvSlot | None = None


@dataclass(slots=True)
class _Update:
    """The status of the local ports, as a peer must learn it."""

    number: int
    due_ps: int
    wait_ps: int


@dataclass(slots=True)
class _Answer:
    """A response that is held for the service time."""

    due_ps: int
    port: int
    data: bytes


class Endpoint:
    """The endpoint operations of one device."""

    def __init__(self, device: DeviceConfig, ports: PortStates, dropped: Counter[str]) -> None:
        """`dropped` counts frames without effect, by cause."""
        self.updates_timer = Timer("endpoint/ports")
        self.requests_timer = Timer("endpoint/requests")
        self.answers_timer = Timer("endpoint/answers")
        self._device = device
        self._own = device.address.to_bytes(16, "big")
        self._ports = ports
        self._dropped = dropped
        self._next_id = 0
        self._asked: dict[int, _Asked] = {}
        self._updates: dict[int, _Update] = {}  # by peer
        self._heard: dict[int, int] = {}  # number of the last port status by peer
        self._answers: list[_Answer] = []

    # Asking

    def post(self, work: PostEndpointRequest, now_ps: int, out: list[Action]) -> None:
        """Send a request of software."""
        where, port = f"endpoint request {work.request}", work.record.port
        if not 0 <= port < self._ports.count:
            raise InputError(where, f"port {port}", f"a port below {self._ports.count}")
        if work.peer_address >> 128:
            raise InputError(where, f"peer address {work.peer_address:#x}", "an address of 128 bits")
        if work.timeout_ps < 1:
            raise InputError(where, f"a timeout of {work.timeout_ps} ps", "1 ps or more")
        if work.dscp is not None and not 0 <= work.dscp < 64:
            raise InputError(where, f"DSCP {work.dscp}", "a number from 0 to 63")
        asked = _Asked(work.peer_address, work.op, now_ps, timestamp(now_ps), now_ps + work.timeout_ps, work.request)
        number = self._new_id()
        self._asked[number] = asked
        self._request(EvSlot(work.record), asked, number, out, work.dscp)
        self._watch_requests(out)

    def probe_ev(self, peer_address: int, slot: EvSlot, reverse: ReversePaths, now_ps: int, out: list[Action]) -> None:
        """Probe an EV for a QP, whose probe before this one is given up."""
        if reverse.probe_id is not None:
            self._asked.pop(reverse.probe_id, None)
        number = reverse.probe_id = self._new_id()
        asked = _Asked(peer_address, EndpointOp.EV_PROBE, now_ps, timestamp(now_ps), reverse=reverse, slot=slot)
        self._asked[number] = asked
        self._request(slot, asked, number, out)

    def tell_ports(self, peers: Mapping[int, ReversePaths], now_ps: int, out: list[Action]) -> None:
        """Tell `peers` (inner address, and EVs towards it) which local ports are up."""
        for peer in peers:
            self._updates[peer] = _Update(self._new_id(), now_ps, PORT_STATUS_FIRST_PS)
        self._send_updates(peers, now_ps, out, first=True)

    def _send_updates(
        self, peers: Mapping[int, ReversePaths], now_ps: int, out: list[Action], *, first: bool = False
    ) -> None:
        """Send every update that is due over every plane that is up, each time by another EV."""
        for peer in [peer for peer, update in self._updates.items() if update.due_ps <= now_ps]:
            update, reverse = self._updates[peer], peers.get(peer)
            if reverse is None:
                del self._updates[peer]  # its last QP is gone
                continue
            asked = _Asked(peer, EndpointOp.PORT_STATUS_UPDATE, now_ps, timestamp(now_ps))
            for port in range(self._ports.count):
                slot = reverse.current(port) if first else reverse.other(port)
                if slot is not None:
                    self._request(slot, asked, update.number, out)
            update.due_ps = now_ps + update.wait_ps
            update.wait_ps = min(2 * update.wait_ps, PORT_STATUS_LAST_PS)
        self._watch_updates(out)

    def _watch_updates(self, out: list[Action]) -> None:
        # With every port down there is nobody to ask; the first port that comes up tells anew.
        if self._updates and self._ports.up:
            self.updates_timer.start(min(update.due_ps for update in self._updates.values()), out)
        else:
            self.updates_timer.stop(out)

    def _watch_requests(self, out: list[Action]) -> None:
        deadlines = [asked.deadline_ps for asked in self._asked.values() if asked.deadline_ps is not None]
        if deadlines:
            self.requests_timer.start(min(deadlines), out)
        else:
            self.requests_timer.stop(out)

    def _new_id(self) -> int:
        number = self._next_id
        for _ in range(_REQUEST_ID.mask):
            asked = self._asked.get(number)
            if asked is None or asked.deadline_ps is None:
                break
            number = _REQUEST_ID.add(number, 1)
        else:
            raise InputError("endpoint requests", f"{len(self._asked)} on their way", f"at most {_REQUEST_ID.mask}")
        self._next_id = _REQUEST_ID.add(number, 1)
        return number

    def _request(self, slot: EvSlot, asked: _Asked, number: int, out: list[Action], dscp: int | None = None) -> None:
        if not self._ports.up >> slot.port & 1:
            return
        body = Erth(op=asked.op, port_status_mask=self._ports.up, tx_timestamp=asked.stamp)
        srh = slot.record.segment is not None
        data = self._frame(
            slot.port, asked.peer_address, Opcode.ENDPOINT_REQUEST, number, body, slot.ev, slot.path, srh, dscp
        )
        out.append(FrameOut(slot.port, data))

    def _frame(
        self,
        port: int,
        peer: int,
        opcode: Opcode,
        number: int,
        body: PackedHeader,
        ev: int,
        path: bytes,
        srh: bool,
        dscp: int | None = None,
    ) -> bytes:
        """A frame of class `dscp`, else of the one that is never trimmed (mrc-facts.md 11).

        Without a path it is not encapsulated.
        """
        own = self._device.ports[port]
        dscp = self._device.options.dscp.no_trim if dscp is None else dscp
        template = FrameTemplate(
            ethernet=Ethernet(dst=own.switch_mac, src=own.mac),
            ip=Ipv6(ecn=Ecn.ECT0, dscp=dscp, src=self._device.address, dst=peer),
            outer_src=own.source_address if path else None,
            srh=srh,
            options=self._device.options,
        )
        bth = Bth(opcode=opcode, dest_qp=ENDPOINT_QP, psn=number)
        return template.pack(bth.pack() + body.pack(), b"", ev, path)

    # Answering

    def receive(self, frame: Frame, port: int, peers: Collection[int], now_ps: int, out: list[Action]) -> int | None:
        """Take an endpoint operation that arrived on `port`.

        Returns the inner address of a peer of `peers` of whose ports something new is known, else None.
        """
        if frame.addresses[16:] != self._own or len(frame.addresses) != 32:
            self._dropped["wrong address"] += 1
        elif frame.dest_qp != ENDPOINT_QP:
            self._dropped["unknown QP"] += 1
        elif frame.opcode == Opcode.ENDPOINT_RESPONSE:
            self._on_response(frame, port, now_ps, out)
        else:
            return self._on_request(frame, port, peers, now_ps, out)
        return None

    def _on_request(
        self, frame: Frame, port: int, peers: Collection[int], now_ps: int, out: list[Action]
    ) -> int | None:
        erth = frame.erth
        if erth.op not in _OPS:
            self._dropped["endpoint operation"] += 1
            return None
        peer, number, news = int.from_bytes(frame.addresses[:16], "big"), frame.psn & _REQUEST_ID.mask, None
        if erth.op == EndpointOp.PORT_STATUS_UPDATE and peer in peers:
            heard = self._heard.get(peer)
            # Updates may overtake each other; an older one says nothing any more.
            if heard is None or _REQUEST_ID.gt(number, heard):
                self._heard[peer] = number
                if self._ports.set_peer(peer, erth.port_status_mask):
                    news = peer
        path = self._path_back(frame, port)
        if path is None:
            self._dropped["no way back"] += 1
            return news
        service_ps = self._device.service_time_ps
        advance = service_ps // TIMESTAMP_UNIT_PS if self._device.capabilities.service_time else 0
        kind = Eeth if self._device.options.eeth is EETH else EethOp54
        body = kind(op=erth.op, tx_timestamp=TIMESTAMP.add(erth.tx_timestamp, advance))
        data = self._frame(port, peer, Opcode.ENDPOINT_RESPONSE, number, body, frame.ev, path, srh=False)
        if service_ps:
            self._answers.append(_Answer(now_ps + service_ps, port, data))
            self.answers_timer.start(self._answers[0].due_ps, out)
        else:
            out.append(FrameOut(port, data))
        return news

    def _path_back(self, frame: Frame, port: int) -> bytes | None:
        """Outer destination of the answer, packed; empty for a frame without encapsulation, None when there is none."""
        outer = frame.outer
        if outer is None:
            return b""
        address = route_back(self._device.ports[port].source_address, outer.src, frame.ev)
        return None if address is None else Segment(address=address).pack()

    def _on_response(self, frame: Frame, port: int, now_ps: int, out: list[Action]) -> None:
        peer, number = int.from_bytes(frame.addresses[:16], "big"), frame.psn & _REQUEST_ID.mask
        eeth = frame.eeth
        update, asked = self._updates.get(peer), self._asked.get(number)
        if update is not None and update.number == number and eeth.op == EndpointOp.PORT_STATUS_UPDATE:
            del self._updates[peer]
            self._watch_updates(out)
        elif asked is None or asked.peer_address != peer or asked.op != eeth.op:
            self._dropped["endpoint response to no request"] += 1
        else:
            del self._asked[number]
            if asked.reverse is not None and asked.slot is not None:
                asked.reverse.learn(asked.slot)
                asked.reverse.probe_id = None
            if asked.request is not None:
                rtt_ps = now_ps - asked.sent_ps
                held_ps = TIMESTAMP.forward(eeth.tx_timestamp, asked.stamp) * TIMESTAMP_UNIT_PS
                if self._device.capabilities.service_time and held_ps <= rtt_ps:
                    rtt_ps -= held_ps
                details = (("request", asked.request), ("op", int(asked.op)), ("rtt_ps", rtt_ps), ("port", port))
                out.append(Notify("endpoint_response", details))
                self._watch_requests(out)

    # Time

    @property
    def timer_keys(self) -> tuple[str, ...]:
        """Keys of the timers that this part of the device sets."""
        return self.updates_timer.key, self.requests_timer.key, self.answers_timer.key

    def expire(self, event: TimerFired, peers: Mapping[int, ReversePaths], now_ps: int, out: list[Action]) -> None:
        """Take one of the timers."""
        if event.key == self.updates_timer.key and self.updates_timer.fired(event, now_ps, out):
            self._send_updates(peers, now_ps, out)
        elif event.key == self.requests_timer.key and self.requests_timer.fired(event, now_ps, out):
            for number, asked in list(self._asked.items()):
                if asked.deadline_ps is not None and asked.deadline_ps <= now_ps and asked.request is not None:
                    del self._asked[number]
                    out.append(Notify("endpoint_timeout", (("request", asked.request), ("op", int(asked.op)))))
            self._watch_requests(out)
        elif event.key == self.answers_timer.key and self.answers_timer.fired(event, now_ps, out):
            while self._answers and self._answers[0].due_ps <= now_ps:
                answer = self._answers.pop(0)
                if self._ports.up >> answer.port & 1:
                    out.append(FrameOut(answer.port, answer.data))
            if self._answers:
                self.answers_timer.start(self._answers[0].due_ps, out)
