"""What no table may decide about: undecided packets, cut and foreign frames, martians, ports that are down."""

from __future__ import annotations

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Dot1Q
from scapy.packet import Packet, Raw

from pymodel.paths.tables import TableEntry, neighbour_entry, port_entries
from tests.switch.packets import Routed, ethernet_in
from tests.switch.row import Row, entries, neighbour_mac, own_mac, ports, route, sid, unknown

NODE = entries(
    ports(),
    sid("fc00:0:101::/48", "uN", usd=1),
    route("fc00:0:205::/48", 2),
    route("::/0", 3),
    unknown(),
)
NOWHERE = entries(ports(), sid("fc00:0:101::/48", "uN"))
FINE = Routed("fc00:0:101:205:42::")
FINE_OUT = (FINE.with_(destination="fc00:0:205:42::", hops=63).out(2),)
# Every header that the switch takes apart, the segment list at its longest.
LONGEST = FINE.with_(segments=["fc00:0:205::"] * 4, left=2, tlv=bytes(8))


def undecided() -> list[Row]:
    """P02: v1model starts with egress port 0. Nothing that nobody decided may leave through it, or anywhere."""
    return [
        Row("P02 no entries at all", (), 0, FINE.at(0), drop="drop_port_down"),
        Row("P02 ports alone", entries(ports()), 0, FINE.at(0), drop="drop_no_route"),
        Row("P02 no route, from port 0", NOWHERE, 0, FINE.at(0), drop="drop_no_route"),
        Row("P02 no route, from port 1", NOWHERE, 1, FINE.at(1), drop="drop_no_route"),
        Row("P02 own uSID used up, from port 0", NOWHERE, 0, Routed("fc00:0:101::").at(0), drop="drop_upper_layer"),
        Row("P02 foreign EtherType, from port 0", NODE, 0, bytes(ethernet_in(0) / ARP()), drop="drop_not_ipv6"),
    ]


def cut() -> list[Row]:
    """P15: a parser error does not drop by itself. Frames cut at, before and behind each header's end give nothing."""
    rows = []
    for name, whole in (("no SRH", FINE.with_(payload=b"").at(1)), ("SRH", LONGEST.with_(payload=b"").at(1))):
        routing = [62, 78, 94, 110, 126, 134] if name == "SRH" else []
        headers = [14, 54, *routing, len(whole) - 48, len(whole) - 8]
        for end in sorted(
            {length for header_end in headers for length in (header_end - 1, header_end, header_end + 1)}
        ):
            parsed = end >= len(whole) - 8
            drop = "drop_truncated" if parsed else "drop_parser_error"
            rows.append(Row(f"P15 runt of {end} bytes, {name}", NODE, 1, whole[:end], drop=drop))
    rows.append(Row("P15 runt of 1 byte", NODE, 1, b"\x02", drop="drop_parser_error"))
    return rows


def too_long() -> list[Row]:
    """P14: what the header stack cannot hold is a parser error, not an overflow."""
    rows = []
    for count in (5, 6, 127):
        sent = FINE.with_(segments=["fc00:0:205::"] * count, left=1)
        rows.append(Row(f"P14 {count} segments", NODE, 1, sent.at(1), drop="drop_parser_error"))
    sent = FINE.with_(segments=["fc00:0:205::"] * 4, left=1, tlv=bytes(16))
    rows.append(Row("P14 four segments and a TLV of 16 bytes", NODE, 1, sent.at(1), drop="drop_parser_error"))
    sent = FINE.with_(segments=["fc00:0:205::"], left=1, length=255)
    rows.append(Row("P14 length 255 in a short frame", NODE, 1, sent.at(1), drop="drop_parser_error"))
    after = LONGEST.with_(destination="fc00:0:205:42::", hops=63)
    rows.append(Row("P14 four segments and a TLV of 8 bytes fit", NODE, 1, LONGEST.at(1), (after.out(2),)))
    return rows


def foreign() -> list[Row]:
    ipv4: Packet = IP(src="192.0.2.1", dst="192.0.2.2") / UDP() / Raw(bytes(40))
    ethernet = ethernet_in(1)
    frames = {
        "ARP": ethernet / ARP(),
        "IPv4": ethernet / ipv4,
        "a VLAN tag": ethernet / Dot1Q(vlan=7) / FINE.packet(),
        "EtherType 0": ethernet_in(1) / Raw(bytes(60)),
    }
    rows = [Row(f"{name} is not IPv6", NODE, 1, bytes(frame), drop="drop_not_ipv6") for name, frame in frames.items()]
    for version in (0, 4, 5, 7, 15):
        frame = bytearray(FINE.at(1))
        frame[14] = version << 4
        rows.append(
            Row(f"IP version {version} under IPv6's EtherType", NODE, 1, bytes(frame), drop="drop_parser_error")
        )
    return rows


def martians() -> list[Row]:
    rows = []
    for kind, address in [
        ("unspecified", "::"),
        ("loopback", "::1"),
        ("link-local", "fe80::1"),
        ("link-local, end of the prefix", "febf:ffff::1"),
        ("multicast", "ff02::1"),
        ("multicast, end of the prefix", "ffff::1"),
    ]:
        rows.append(Row(f"{kind} source", NODE, 1, FINE.with_(source=address).at(1), drop="drop_martian"))
        rows.append(Row(f"{kind} destination", NODE, 1, FINE.with_(destination=address).at(1), drop="drop_martian"))
    for name, address in [("::2", "::2"), ("below link-local", "fe7f::1"), ("above link-local", "fec0::1")]:
        sent = FINE.with_(source=address)
        rows.append(
            Row(
                f"no martian: source {name}",
                NODE,
                1,
                sent.at(1),
                (sent.with_(destination="fc00:0:205:42::", hops=63).out(2),),
            )
        )
        sent = FINE.with_(destination=address)
        rows.append(Row(f"no martian: destination {name}", NODE, 1, sent.at(1), (sent.with_(hops=63).out(3),)))
    return rows


def lengths() -> list[Row]:
    """A frame may be longer than its payload (padding is kept), never shorter."""
    padded = FINE.at(1) + bytes(20)
    port, out = FINE_OUT[0]
    long_inside = bytearray(Routed("fc00:0:101::").at(1))
    long_inside[14 + 40 + 5] += 1
    srh = {"segments": ["fc00:0:205::"], "tlv": bytes(8)}
    long_behind_srh = bytearray(Routed("fc00:0:101::", **srh).at(1))
    long_behind_srh[14 + 40 + 32 + 5] += 1
    other_inside = bytearray(Routed("fc00:0:101::").at(1))
    other_inside[14 + 40] = 0x45
    return [
        Row("padding is kept", NODE, 1, padded, ((port, out + bytes(20)),)),
        Row("P15 the last byte is missing", NODE, 1, FINE.at(1)[:-1], drop="drop_truncated"),
        Row(
            "P15 the packet inside is longer than the one around it", NODE, 1, bytes(long_inside), drop="drop_truncated"
        ),
        Row("P15 the same behind an SRH", NODE, 1, bytes(long_behind_srh), drop="drop_truncated"),
        Row("USD, version 4 under next header 41", NODE, 1, bytes(other_inside), drop="drop_upper_layer"),
    ]


def _without(table_of: TableEntry, *replacing: TableEntry) -> tuple[TableEntry, ...]:
    kept = (one for one in NODE if (one.table, one.match) != (table_of.table, table_of.match))
    return entries(kept, *replacing)


def port_states() -> list[Row]:
    rx_1, tx_1 = port_entries(1, up=True)
    rx_2, tx_2 = port_entries(2, up=True)
    rx_1_down, tx_1_down = port_entries(1, up=False)
    rx_2_down, tx_2_down = port_entries(2, up=False)
    neighbour = neighbour_entry(2, own_mac(2), neighbour_mac(2))
    return [
        Row("from a port that is down", _without(rx_1, rx_1_down), 1, FINE.at(1), drop="drop_port_down"),
        Row("from a port without an entry", _without(rx_1), 1, FINE.at(1), drop="drop_port_down"),
        Row("rubbish from a port that is down", _without(rx_1, rx_1_down), 1, b"\xff" * 9, drop="drop_port_down"),
        Row("to a port that is down", _without(tx_2, tx_2_down), 1, FINE.at(1), drop="drop_port_down"),
        Row("to a port without an entry", _without(tx_2), 1, FINE.at(1), drop="drop_port_down"),
        Row(
            "to the port that v1model drops at",
            entries(NODE, ports(511), route("fc00:0:205:42::/64", 511)),
            1,
            FINE.at(1),
            drop="drop_port_down",
        ),
        Row("to a port without a neighbour", _without(neighbour), 1, FINE.at(1), drop="drop_no_neighbour"),
        Row("from a port that may not send", _without(tx_1, tx_1_down), 1, FINE.at(1), FINE_OUT),
        Row("to a port that may not receive", _without(rx_2, rx_2_down), 1, FINE.at(1), FINE_OUT),
    ]


ROWS = [*undecided(), *cut(), *too_long(), *foreign(), *martians(), *lengths(), *port_states()]
