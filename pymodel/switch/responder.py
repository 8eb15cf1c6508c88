"""What a switch answers by ICMPv6, on its control plane: echo replies, time exceeded, parameter problems.

The program hands over what needs an answer (packet-in, with a reason) and limits how much of it by a meter; the answer
goes back into the pipeline (packet-out) and is forwarded like any packet. RFC 4443, RFC 8986 4.1.1, RFC 9259.

The answer to a NIC, whose outer source is block:T0:NIC::, takes a source route (`mrc-facts.md` 4.1): that T0 is named
by the source address itself, and a switch that is another T0 puts the T1 in front through which the packet came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from pymodel.base.errors import InputError
from pymodel.paths import usid
from pymodel.paths.tables import PUNT_LIMITER, PUNTED, loopback_address
from pymodel.paths.topology import Switch, Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import Client, PacketIn
from pymodel.switch.p4runtime.dataplane import MeterRates
from pymodel.switch.p4runtime.packetio import packet_out, packet_out_frame
from pymodel.wire.checksum import icmpv6_checksum
from pymodel.wire.headers import Ethernet, Icmpv6, Ipv6, Srh
from pymodel.wire.spec import (
    CPU_PORT,
    DEFAULT_OPTIONS,
    USID_BITS,
    USID_BLOCK_BITS,
    DscpMap,
    Ethertype,
    Icmpv6Type,
    NextHeader,
    ParameterProblemCode,
    PuntReason,
    TimeExceededCode,
    UsidRole,
)

__all__ = ["DEFAULT_LIMIT", "TO_PIPELINE", "AnsweringSwitch", "Responder", "limit_punts", "serve"]

TO_PIPELINE = {"submit_to_ingress": 1}
"""Fields of the packet-out that carries an answer: the tables choose its port and MACs."""

DEFAULT_LIMIT = MeterRates(cir=100, cburst=100, pir=100, pburst=100)
"""Packets a second, for each reason, that a controller wants to answer; a burst of as many (RFC 4443 2.4 f)."""

_MIN_MTU = 1280
"""An error carries as much of the packet as fits the smallest MTU of IPv6 (RFC 4443 2.4 c, RFC 8200 5)."""

_GROUP_BIT = 1 << 40
_UNIT_BYTES = 8

_WAIT_S = 20
"""A packet-in that the program has counted is on its way; this is when it is given up."""

_ERRORS = {
    PuntReason.HOP_LIMIT: (Icmpv6Type.TIME_EXCEEDED, TimeExceededCode.HOP_LIMIT),
    PuntReason.BAD_SRH: (Icmpv6Type.PARAMETER_PROBLEM, ParameterProblemCode.ERRONEOUS_HEADER_FIELD),
    PuntReason.UPPER_LAYER: (Icmpv6Type.PARAMETER_PROBLEM, ParameterProblemCode.SR_UPPER_LAYER_HEADER),
}


class Responder:
    """Answers for `switch` of `topology`. Answers are of the class NO_TRIM: one that was cut would say nothing.

    `answered` counts by kind of answer, `silent` by the cause for giving none. No packet raises.
    """

    def __init__(self, topology: Topology, switch: Switch, dscp: DscpMap = DEFAULT_OPTIONS.dscp) -> None:
        self.answered: Counter[str] = Counter()
        self.silent: Counter[str] = Counter()
        self._topology = topology
        self._switch = switch
        self._address = loopback_address(topology, switch)
        self._dscp = dscp.no_trim

    def answer(self, packet: PacketIn) -> bytes | None:
        """Return the frame that answers `packet`, to be sent with `TO_PIPELINE`, or None when it gets no answer."""
        reason = packet.fields.get("reason")
        try:
            ethernet = Ethernet.unpack(packet.payload)
            invoking = Ipv6.unpack(packet.payload, Ethernet.SIZE)
        except InputError:
            self.silent["cut short"] += 1
            return None
        packet_bytes = packet.payload[Ethernet.SIZE :][: Ipv6.SIZE + invoking.payload_length]
        back = self._way_back(invoking.src, packet.fields.get("ingress_port", CPU_PORT))
        if back is None:
            self.silent["no way back"] += 1
            return None
        if reason == PuntReason.ECHO_REQUEST:
            return self._echo_reply(invoking, packet_bytes, back)
        if reason not in _ERRORS:
            self.silent["unknown reason"] += 1
            return None
        if ethernet.dst & _GROUP_BIT:
            # RFC 4443 2.4 e.4: a frame to a group draws no error, or every member would send one.
            self.silent["sent to a group"] += 1
            return None
        kind, code = _ERRORS[PuntReason(reason)]
        pointer = packet.fields.get("pointer", 0) if kind is Icmpv6Type.PARAMETER_PROBLEM else 0
        quoted = packet_bytes[: _MIN_MTU - Ipv6.SIZE - Icmpv6.SIZE]
        self.answered[f"{kind.name.lower()}, code {code}"] += 1
        return self._frame(Icmpv6(message_type=kind, code=code, body=pointer), quoted, self._address, back)

    def _echo_reply(self, request: Ipv6, packet_bytes: bytes, back: tuple[int, int]) -> bytes | None:
        message = _icmpv6_message(request, packet_bytes)
        if message is None or message[0] != Icmpv6Type.ECHO_REQUEST:
            self.silent["no echo request"] += 1
            return None
        if icmpv6_checksum(request.src, request.dst, message):
            self.silent["wrong checksum"] += 1
            return None
        header = Icmpv6.unpack(message)
        self.answered["echo_reply"] += 1
        reply = Icmpv6(message_type=Icmpv6Type.ECHO_REPLY, body=header.body)
        # RFC 4443 4.2: from the address that was asked, which may be a SID (RFC 9259 2.2).
        return self._frame(reply, message[Icmpv6.SIZE :], request.dst, back)

    def _frame(self, header: Icmpv6, body: bytes, source: int, back: tuple[int, int]) -> bytes:
        destination, last = back
        header.checksum = icmpv6_checksum(source, last, header.pack() + body)
        ipv6 = Ipv6(
            dscp=self._dscp,
            payload_length=Icmpv6.SIZE + len(body),
            next_header=NextHeader.ICMPV6,
            src=source,
            dst=destination,
        )
        return Ethernet(ethertype=Ethertype.IPV6).pack() + ipv6.pack() + header.pack() + body

    def _way_back(self, source: int, port: int) -> tuple[int, int] | None:
        """Destination of an answer to `source`, and what it is when it arrives there; None when no way is known."""
        topology, usids = self._topology, usid.usids_of(source)
        if source >> 128 - USID_BLOCK_BITS != topology.block or [_role(one) for one in usids] != _NIC_SOURCE:
            return source, source
        if usid.address(topology.block, usids) != source:
            return source, source
        last = usid.address(topology.block, usids[1:])
        if self._switch.role is UsidRole.T1 or usids[0] in topology.own_usids(self._switch):
            return source, last
        if not topology.hosts_per_t0 <= port < topology.port_count(self._switch):
            return None
        above = topology.peer(self._switch, port)
        rank = above.port % topology.parallel_links
        through = topology.own_usids(topology.switch(above.node))[rank]
        return usid.address(topology.block, (through, *usids)), last


_NIC_SOURCE = [UsidRole.T0, UsidRole.NIC]


def _role(value: int) -> int:
    return value >> USID_BITS - 2


def _icmpv6_message(header: Ipv6, packet: bytes) -> bytes | None:
    """Return the ICMPv6 message of a packet, behind a routing header if it has one; None when there is none whole."""
    offset, following = Ipv6.SIZE, header.next_header
    if following == NextHeader.ROUTING and len(packet) >= offset + Srh.SIZE:
        routing = Srh.unpack(packet, offset)
        offset += Srh.SIZE + routing.hdr_ext_len * _UNIT_BYTES
        following = routing.next_header
    return packet[offset:] if following == NextHeader.ICMPV6 and len(packet) >= offset + Icmpv6.SIZE else None


def limit_punts(client: Client, rates: MeterRates | None = DEFAULT_LIMIT) -> None:
    """Set how many packets a second the program hands over for each reason; None is no limit."""
    for reason in PuntReason:
        if reason is not PuntReason.NONE:
            client.set_meter(PUNT_LIMITER, reason, rates)


def serve(client: Client, responder: Responder, until: Callable[[], bool], poll_s: float = 0.2) -> None:
    """Answer what the switch of `client` hands over, as it comes, until `until` says so. It is asked every `poll_s`."""
    while not until():
        packet = client.receive_packet(poll_s)
        frame = responder.answer(packet) if packet else None
        if frame is not None:
            client.send_packet(frame, **TO_PIPELINE)


class AnsweringSwitch:
    """A switch with its responder in virtual time: what it hands over is answered while time stands still.

    `inject`, `next_event_ps` and `drain` are those of a `SwitchTarget`. The program counts what it hands over, so every
    packet-in is waited for, and none that never comes. Answers enter on the controller's port, which is where
    a packet-out enters: on BMv2 a real one would leave while nobody looks (`docs/bmv2.md`).
    """

    def __init__(self, switch: Bmv2Switch | EmbeddedSwitch, responder: Responder) -> None:
        self.responder = responder
        self._switch = switch
        self._client = switch.control.client
        self._cells = [(PUNTED, int(reason)) for reason in PuntReason]
        self._seen = self._handed_over()

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`."""
        self._switch.inject(port, data, now_ps)

    def next_event_ps(self) -> int | None:
        """When the switch can next put out a frame, in ps, or None when it holds none."""
        return self._switch.next_event_ps()

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """Frames that left at or before `until_ps`, answers among them, in order, as (time in ps, port, frame)."""
        out = self._switch.drain(until_ps)
        while answers := list(self._answers()):
            for frame in answers:
                self._switch.inject(CPU_PORT, frame, until_ps)
            out += self._switch.drain(until_ps)
        return out

    def _answers(self) -> Iterator[bytes]:
        """Answers to what was handed over since the last call, each with the packet-out header in front."""
        before, self._seen = self._seen, self._handed_over()
        header = self._client.info.packet_out
        for _ in range(self._seen - before):
            packet = self._client.receive_packet(_WAIT_S)
            if packet is None:
                where = f"P4Runtime at {self._client.address}"
                raise InputError(where, "no packet-in where the program counted one", "that packet")
            frame = self.responder.answer(packet)
            if frame is not None:
                yield packet_out_frame(header, packet_out(header, frame, TO_PIPELINE))

    def _handed_over(self) -> int:
        return sum(count.packets for count in self._client.read_counter_cells(self._cells))
