"""The switch once more, as short as the rules are: what rows and random frames are checked against.

Written from mrc-facts.md 1.12, 1.14, 4.1, 4.2, 8.1 and 11 and RFC 4443, 6040, 8200, 8754, 8986 and 9800, on bytes; of
the project it shares the names in entries alone. It decides for one frame, with empty queues, what becomes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from socket import IPPROTO_ICMPV6, IPPROTO_IPV6, IPPROTO_ROUTING

from pymodel.paths.tables import (
    FIRST_SID,
    NEIGHBOUR,
    PORT_QUEUES,
    PUNT_POLICY,
    ROUTE,
    RX_PORT,
    TRAFFIC_CLASS,
    TX_PORT,
    TableEntry,
)

__all__ = ["Outcome", "ReferenceSwitch"]

ETHERNET, IPV6, SRH, SEGMENT, ICMPV6 = 14, 40, 8, 16, 8
MOST_SEGMENTS = 4
CE, ECT0, ECT1, NOT_ECT = 3, 2, 1, 0
ECHO, HOP_LIMIT, BAD_SRH, UPPER_LAYER = 1, 2, 3, 4
DROP_INSTEAD = {HOP_LIMIT: "drop_hop_limit", BAD_SRH: "drop_bad_srh"}


class Dropped(Exception):  # noqa: N818 - an outcome, not an error
    """The frame goes nowhere; the argument is the name of the counter that says why."""


class Punted(Exception):  # noqa: N818 - an outcome, not an error
    """The frame is for the controller, with (reason, pointer); reason 0 is never answered."""


@dataclass(slots=True)
class Outcome:
    """What becomes of a frame: where it leaves and how, or (reason, pointer, frame) for the controller; and the names
    of the counters in which it counts, but for those of ports."""

    out: tuple[int, bytes] | None = None
    punt: tuple[int, int, bytes] | None = None
    counts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Packet:
    """The outermost IPv6 header, a routing header if there is one, and what follows."""

    ipv6: bytearray
    routing: bytearray
    rest: bytes
    opaque: bool = False  # what follows was never taken apart

    @property
    def destination(self) -> int:
        return int.from_bytes(self.ipv6[24:40], "big")

    @destination.setter
    def destination(self, value: int) -> None:
        self.ipv6[24:40] = value.to_bytes(16, "big")

    @property
    def payload_length(self) -> int:
        return int.from_bytes(self.ipv6[4:6], "big")

    @payload_length.setter
    def payload_length(self, value: int) -> None:
        self.ipv6[4:6] = value.to_bytes(2, "big")

    @property
    def dscp(self) -> int:
        return int.from_bytes(self.ipv6[:2], "big") >> 6 & 63

    @dscp.setter
    def dscp(self, value: int) -> None:
        self._set_class(value << 2 | self.ecn)

    @property
    def ecn(self) -> int:
        return self.ipv6[1] >> 4 & 3

    @ecn.setter
    def ecn(self, value: int) -> None:
        self._set_class(self.dscp << 2 | value)

    def _set_class(self, value: int) -> None:
        self.ipv6[0] = self.ipv6[0] & 0xF0 | value >> 4
        self.ipv6[1] = value << 4 & 0xF0 | self.ipv6[1] & 0x0F

    @property
    def final(self) -> int:
        """The next header behind a routing header, or behind the IPv6 header where there is none."""
        return self.routing[0] if self.routing else self.ipv6[6]

    @property
    def inner(self) -> bytes | None:
        """The IPv6 header of a packet inside, of any version, if the headers announce one."""
        return self.rest[:IPV6] if self.final == IPPROTO_IPV6 and not self.opaque else None

    @property
    def icmp(self) -> int | None:
        """Type of the ICMPv6 message that is the payload."""
        return self.rest[0] if self.final == IPPROTO_ICMPV6 else None

    @property
    def whole(self) -> bytes:
        return bytes(self.ipv6 + self.routing) + self.rest

    def spend_hop(self) -> None:
        if self.ipv6[7] < 2:
            raise Punted(HOP_LIMIT, 0)
        self.ipv6[7] -= 1

    def pop_routing(self) -> None:
        self.payload_length -= len(self.routing)
        self.ipv6[6] = self.routing[0]
        self.routing = bytearray()


class ReferenceSwitch:
    """Forwards by `entries`, one frame at a time."""

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self._lpm: dict[str, list[tuple[int, int, TableEntry]]] = {FIRST_SID: [], ROUTE: []}
        self._exact: dict[str, dict[int, TableEntry]] = {
            table: {} for table in (RX_PORT, TX_PORT, NEIGHBOUR, TRAFFIC_CLASS, PORT_QUEUES, PUNT_POLICY)
        }
        for entry in entries:
            if entry.table in self._lpm:
                address, length = entry.match["dst"]  # type: ignore[misc]
                self._lpm[entry.table].append((length, address, entry))
            elif entry.table in self._exact:
                (key,) = entry.match.values()
                self._exact[entry.table][key] = entry  # type: ignore[index]
        self._counts: list[str] = []
        self._pass = ""

    def forward(self, port: int, frame: bytes) -> Outcome:
        """What becomes of one frame."""
        self._counts = []
        try:
            if not self._up(RX_PORT, port):
                raise Dropped("drop_port_down")
            packet = self._admit(frame)
            try:
                out = self._decide(packet)
            except Punted as punted:
                return self._punt(frame, packet, *punted.args)
            if not self._up(TX_PORT, out):
                raise Dropped("drop_port_down")
            left = self._queue(out, self._rewritten(out, frame), packet)
        except Dropped as dropped:
            return Outcome(counts=[*self._counts, *dropped.args])
        return Outcome((out, left), counts=self._counts)

    def _up(self, table: str, port: int) -> bool:
        entry = self._exact[table].get(port)
        return entry is not None and entry.action.endswith(".up")

    def _admit(self, frame: bytes) -> Packet:
        if len(frame) < ETHERNET:
            raise Dropped("drop_parser_error")
        if frame[12:14] != b"\x86\xdd":
            raise Dropped("drop_not_ipv6")
        ipv6, rest = bytearray(frame[ETHERNET : ETHERNET + IPV6]), frame[ETHERNET + IPV6 :]
        if len(ipv6) < IPV6 or ipv6[0] >> 4 != 6:
            raise Dropped("drop_parser_error")
        routing = bytearray()
        if ipv6[6] == IPPROTO_ROUTING:
            units = rest[1] if len(rest) >= SRH else 255
            if units > 2 * MOST_SEGMENTS + 1 or len(rest) < SRH + 8 * units:
                raise Dropped("drop_parser_error")
            routing, rest = bytearray(rest[: SRH + 8 * units]), rest[SRH + 8 * units :]
        packet = Packet(ipv6, routing, rest)
        behind = rest
        if packet.inner is not None:
            if len(packet.inner) < IPV6:
                raise Dropped("drop_parser_error")
            behind = rest[IPV6:] if packet.inner[6] == IPPROTO_ICMPV6 else bytes(ICMPV6)
        elif packet.icmp is None if len(rest) else packet.final != IPPROTO_ICMPV6:
            behind = bytes(ICMPV6)
        if len(behind) < ICMPV6:
            raise Dropped("drop_parser_error")
        if len(frame) < ETHERNET + IPV6 + packet.payload_length:
            raise Dropped("drop_truncated")
        self._refuse_martians(packet)
        return packet

    @staticmethod
    def _refuse_martians(packet: Packet) -> None:
        for address in (packet.ipv6[8:24], packet.ipv6[24:40]):
            link_local = address[0] == 0xFE and 0x80 <= address[1] <= 0xBF
            if address[0] == 0xFF or link_local or int.from_bytes(address, "big") <= 1:
                raise Dropped("drop_martian")

    def _decide(self, packet: Packet) -> int:
        """The port that the packet leaves through, its headers changed to what they are there."""
        hop_spent, out = False, None
        for self._pass in ("first", "second"):
            entry = self._longest(FIRST_SID, packet.destination)
            if entry is None:
                break
            hop_spent = self._spend(packet, entry)
            out = entry.params.get("port")
            if out is not None:
                break
        if out is None:
            out = self._route(packet.destination)
        if not hop_spent:
            packet.spend_hop()
        return out

    # --- SIDs ---

    def _spend(self, packet: Packet, entry: TableEntry) -> bool:
        """Do what the SID says; returns whether the header that now leads has paid its hop."""
        kind = entry.action.rpartition(".")[2]
        usids = {"uN": 1, "uA": 1, "uA_node": 2}.get(kind, 0)
        # Block and uSIDs take the first bits; the rest of the address is the argument, if there is such a thing.
        argument = packet.destination & ((1 << 96 - 16 * usids) - 1) if usids else 0
        if argument == 0 and packet.routing and packet.routing[3]:
            if kind in ("uDT6", "loopback"):
                raise Punted(BAD_SRH, 43 if kind == "uDT6" else 42)
            self._next_segment(packet, entry.params)
            return True
        decapsulates = kind == "uDT6" or entry.params.get("usd")
        if argument == 0 and decapsulates and packet.inner is not None and packet.inner[0] >> 4 == 6:
            self._decapsulate(packet, "DT6" if kind == "uDT6" else "USD", uniform=bool(entry.params["uniform"]))
            return False
        if argument == 0 and not kind.startswith("uA"):
            if packet.icmp == 128:
                raise Punted(ECHO, 0)
            raise Punted(*((0, 0) if kind == "loopback" else (UPPER_LAYER, IPV6 + len(packet.routing))))
        packet.spend_hop()
        packet.destination = packet.destination >> 96 << 96 | argument << 16 * usids
        if argument == 0 and entry.params["usp"] and packet.routing and packet.payload_length >= len(packet.routing):
            packet.pop_routing()
            self._counts.append(f"{self._pass}.USP")
        return True

    def _next_segment(self, packet: Packet, params: Mapping[str, int]) -> None:
        routing = packet.routing
        segments = routing[1] // 2
        if packet.ipv6[7] >= 2:
            if routing[2] != 4:
                raise Punted(BAD_SRH, 42)
            if routing[4] > segments - 1 or routing[3] > routing[4] + 1 or packet.payload_length < len(routing):
                raise Punted(BAD_SRH, 43)
        packet.spend_hop()
        routing[3] -= 1
        start = SRH + SEGMENT * routing[3]
        packet.ipv6[24:40] = routing[start : start + SEGMENT]
        if routing[3] == 0 and params["psp"]:
            packet.pop_routing()
            self._counts.append(f"{self._pass}.PSP")

    def _decapsulate(self, packet: Packet, how: str, *, uniform: bool) -> None:
        outer_dscp, outer_ecn, around = packet.dscp, packet.ecn, packet.payload_length - len(packet.routing)
        packet.ipv6, packet.routing, packet.rest = bytearray(packet.rest[:IPV6]), bytearray(), packet.rest[IPV6:]
        if around < IPV6 + packet.payload_length:
            raise Dropped("drop_truncated")
        if outer_ecn == CE and packet.ecn == NOT_ECT:
            raise Dropped("drop_ecn")
        if outer_ecn == CE or (outer_ecn == ECT1 and packet.ecn == ECT0):
            packet.ecn = outer_ecn
        if uniform:
            packet.dscp = outer_dscp
        # A routing header or a third IPv6 header in there is payload to a parser that stopped at the second.
        packet.opaque = True
        if packet.ipv6[6] == IPPROTO_ROUTING:
            packet.routing = bytearray()
        self._refuse_martians(packet)
        self._counts.append(f"{self._pass}.{how}{'_uniform' * uniform}")

    def _punt(self, frame: bytes, packet: Packet, reason: int, pointer: int) -> Outcome:
        error = packet.icmp is not None and (packet.icmp < 128 or packet.icmp == 137)
        if reason in self._exact[PUNT_POLICY] and not error:
            return Outcome(punt=(reason, pointer, frame[:ETHERNET] + packet.whole), counts=self._counts)
        return Outcome(counts=[*self._counts, DROP_INSTEAD.get(reason, "drop_upper_layer")])

    # --- routes, ports, queues ---

    def _route(self, destination: int) -> int:
        entry = self._longest(ROUTE, destination)
        if entry is None:
            raise Dropped("drop_no_route")
        if "port" not in entry.params:
            raise Dropped(f"drop_{entry.action}")
        return entry.params["port"]

    def _longest(self, table: str, destination: int) -> TableEntry | None:
        matching = [
            (length, entry)
            for length, address, entry in self._lpm[table]
            if (destination ^ address) >> 128 - length == 0
        ]
        return max(matching, key=lambda one: one[0])[1] if matching else None

    def _rewritten(self, port: int, frame: bytes) -> bytes:
        """The Ethernet header with which a frame leaves."""
        entry = self._exact[NEIGHBOUR].get(port)
        if entry is None:
            raise Dropped("drop_no_neighbour")
        return b"".join(entry.params[end].to_bytes(6, "big") for end in ("dst", "src")) + frame[12:14]

    def _queue(self, port: int, ethernet: bytes, packet: Packet) -> bytes:
        """The frame as it leaves an empty queue: trimmed where even an empty one counts as full."""
        settings = self._exact[PORT_QUEUES].get(port)
        if settings is None:
            return ethernet + packet.whole
        limits = settings.params
        entry = self._exact[TRAFFIC_CLASS].get(packet.dscp)
        kind = entry.action.rpartition(".")[2] if entry else "data_class"
        if kind != "control_class" and limits["data_limit"] > 0:
            if limits["ecn"] and packet.ecn in (ECT0, ECT1) and limits["ecn_high"] == 0:
                packet.ecn = CE
                self._counts.append(f"ecn_marked[{port}]")
            return ethernet + packet.whole
        if kind == "data_class":
            raise Dropped("drop_queue_full")
        if kind == "trimmable_class" and not limits["trim"]:
            raise Dropped("drop_trim_disabled")
        if limits["high_limit"] == 0:
            raise Dropped("drop_high_queue_full")
        frame = ethernet + packet.whole
        if kind == "trimmable_class":
            size = limits["trim_bytes"] + len(packet.routing)
            packet.dscp = limits["trim_dscp"]
            if size < len(frame):
                packet.payload_length = min(packet.payload_length, size - ETHERNET - IPV6)
            frame = (ethernet + packet.whole)[:size]
            self._counts.append(f"trimmed[{port}]")
        return frame
