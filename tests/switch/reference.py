"""The switch once more, as short as the rules are: what random frames are checked against.

Written from mrc-facts.md 4.1, 8.1 and 11 and RFC 8754, 8986 and 9800, on bytes; of the project it shares the names in
entries alone. It decides for one frame which port it leaves through and how, or which counter says why not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from socket import IPPROTO_IPV6, IPPROTO_ROUTING

from pymodel.paths.tables import FIRST_SID, NEIGHBOUR, ROUTE, RX_PORT, TX_PORT, TableEntry

__all__ = ["Dropped", "ReferenceSwitch"]

ETHERNET, IPV6, SRH, SEGMENT = 14, 40, 8, 16
MOST_SEGMENTS = 4


class Dropped(Exception):  # noqa: N818 - an outcome, not an error
    """The frame goes nowhere; `cause` is the counter's name."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


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
    def inner(self) -> bytes | None:
        """The IPv6 header of a packet inside, of any version, if the headers announce one."""
        final = self.routing[0] if self.routing else self.ipv6[6]
        return self.rest[:IPV6] if final == IPPROTO_IPV6 and not self.opaque else None

    def spend_hop(self) -> None:
        if self.ipv6[7] < 2:
            raise Dropped("drop_hop_limit")
        self.ipv6[7] -= 1


class ReferenceSwitch:
    """Forwards by `entries`, one frame at a time."""

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self._lpm: dict[str, list[tuple[int, int, TableEntry]]] = {FIRST_SID: [], ROUTE: []}
        self._up: dict[str, set[int]] = {RX_PORT: set(), TX_PORT: set()}
        self._macs: dict[int, bytes] = {}
        for entry in entries:
            if entry.table in self._lpm:
                address, length = entry.match["dst"]  # type: ignore[misc]
                self._lpm[entry.table].append((length, address, entry))
            elif entry.table in self._up:
                if entry.action.endswith(".up"):
                    self._up[entry.table].add(entry.match["port"])  # type: ignore[arg-type]
            elif entry.table == NEIGHBOUR:
                macs = (entry.params["dst"], entry.params["src"])
                self._macs[entry.match["port"]] = b"".join(mac.to_bytes(6, "big") for mac in macs)  # type: ignore[index]

    def forward(self, port: int, frame: bytes) -> tuple[int, bytes]:
        """Port and frame that leave; Dropped otherwise."""
        if port not in self._up[RX_PORT]:
            raise Dropped("drop_port_down")
        packet = self._admit(frame)
        out, hop_spent = self._sids(packet)
        if out is None:
            out = self._route(packet.destination)
        if not hop_spent:
            packet.spend_hop()
        if out not in self._up[TX_PORT]:
            raise Dropped("drop_port_down")
        if out not in self._macs:
            raise Dropped("drop_no_neighbour")
        return out, self._macs[out] + frame[12:14] + packet.ipv6 + packet.routing + packet.rest

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
        if packet.inner is not None and len(packet.inner) < IPV6:
            raise Dropped("drop_parser_error")
        if len(frame) < ETHERNET + IPV6 + int.from_bytes(ipv6[4:6], "big"):
            raise Dropped("drop_truncated")
        self._refuse_martians(packet)
        return packet

    @staticmethod
    def _refuse_martians(packet: Packet) -> None:
        for address in (packet.ipv6[8:24], packet.ipv6[24:40]):
            link_local = address[0] == 0xFE and 0x80 <= address[1] <= 0xBF
            if address[0] == 0xFF or link_local or int.from_bytes(address, "big") <= 1:
                raise Dropped("drop_martian")

    def _sids(self, packet: Packet) -> tuple[int | None, bool]:
        """Spend up to two SIDs; the port of an adjacency if one was met, and whether this header has paid its hop."""
        hop_spent = False
        for _ in range(2):
            entry = self._longest(FIRST_SID, packet.destination)
            if entry is None:
                break
            hop_spent = self._spend(packet, entry)
            if "port" in entry.params:
                return entry.params["port"], hop_spent
        return None, hop_spent

    def _spend(self, packet: Packet, entry: TableEntry) -> bool:
        kind = entry.action.rpartition(".")[2]
        usids = {"uN": 1, "uA": 1, "uA_node": 2, "End": 0}[kind]
        # Block and uSIDs take the first bits; the rest of the address is the argument, of which End has none.
        argument = packet.destination & ((1 << 96 - 16 * usids) - 1) if usids else 0
        if argument == 0 and packet.routing and packet.routing[3]:
            packet.spend_hop()
            self._next_segment(packet)
            return True
        if argument == 0 and entry.params["usd"] and packet.inner is not None:
            self._decapsulate(packet)
            return False
        if argument == 0 and "port" not in entry.params:
            raise Dropped("drop_upper_layer")
        packet.spend_hop()
        packet.destination = packet.destination >> 96 << 96 | argument << 16 * usids
        return True

    @staticmethod
    def _next_segment(packet: Packet) -> None:
        routing = packet.routing
        segments = routing[1] // 2
        if routing[2] != 4 or routing[4] > segments - 1 or routing[3] > routing[4] + 1:
            raise Dropped("drop_bad_srh")
        routing[3] -= 1
        start = SRH + SEGMENT * routing[3]
        packet.ipv6[24:40] = routing[start : start + SEGMENT]

    def _decapsulate(self, packet: Packet) -> None:
        inner = packet.rest[:IPV6]
        if inner[0] >> 4 != 6:
            raise Dropped("drop_upper_layer")
        announced = int.from_bytes(packet.ipv6[4:6], "big")
        if announced < len(packet.routing) + IPV6 + int.from_bytes(inner[4:6], "big"):
            raise Dropped("drop_truncated")
        packet.ipv6, packet.routing, packet.rest = bytearray(inner), bytearray(), packet.rest[IPV6:]
        # A routing header or a third IPv6 header in there is payload to a parser that stopped at the second.
        packet.opaque = True
        self._refuse_martians(packet)

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
