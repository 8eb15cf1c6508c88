"""To the controller and from it: echo requests, what ICMPv6 errors answer, packet-outs (RFC 4443, RFC 8986 4.1.1)."""

from __future__ import annotations

from socket import IPPROTO_TCP

from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from pymodel.paths.tables import PUNT_POLICY, TableEntry, port_entries
from pymodel.wire.spec import CPU_PORT, DscpMap, PuntReason
from tests.switch.packets import Routed, echo_request, ethernet_in, icmp
from tests.switch.row import Punt, Row, entries, ports, punts, queues, route, sid, unknown

DSCP = DscpMap()
NODE = entries(
    ports(),
    punts(),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:102::/48", "uN", usd=1),
    sid("fc00:0:101::1/128", "loopback"),
    sid("fc00:0:e001::/48", "uA", port=3),
    sid("fc00:0:e003::/48", "uDT6"),
    sid("fc01::1/128", "End", psp=1),
    sid("fc01::2/128", "End_X", port=3),
    route("fc00:0:205::/48", 2),
    route("2001:db8:0:2::/64", 1),
    unknown(),
)
ECHO, HOPS, SRH, UPPER = (
    PuntReason.ECHO_REQUEST,
    PuntReason.HOP_LIMIT,
    PuntReason.BAD_SRH,
    PuntReason.UPPER_LAYER,
)
NEXT = "fc00:0:205:42::"
LLDP = bytes(Ether(dst="01:80:c2:00:00:0e", src="02:00:00:00:00:01", type=0x88CC) / Raw(bytes(46)))


def _punted(name: str, sent: Routed, reason: int, pointer: int = 0, came: Routed | None = None, **more: object) -> Row:
    """The controller gets the packet as it came, or, when a SID was spent before, as `came`; MACs as they came."""
    frame = (came or sent).at(1)
    return Row(name, NODE, 1, sent.at(1), punt=Punt(reason, pointer, frame), **more)  # type: ignore[arg-type]


def echoes() -> list[Row]:
    """Echo requests to SIDs and to the loopback, whatever their hop limit (mrc-facts.md 11)."""
    rows = []
    targets = {
        "uN": "fc00:0:101::",
        "uN with USD": "fc00:0:102::",
        "loopback": "fc00:0:101::1",
        "uDT6": "fc00:0:e003::",
        "End": "fc01::1",
        "End.X": "fc01::2",
    }
    for name, destination in targets.items():
        for hops in (0, 1, 64):
            sent = echo_request(Routed(destination, hops=hops, inner=False))
            rows.append(_punted(f"echo to {name}, hop limit {hops}", sent, ECHO))
        done = echo_request(Routed(destination, segments=[NEXT], left=0, inner=False))
        rows.append(_punted(f"P10 echo to {name}, no segments left", done, ECHO))
    after = echo_request(Routed("fc00:0:101::", hops=63, inner=False))
    sent = after.with_(destination="fc00:0:101:101::", hops=64)
    rows.append(_punted("echo to the own uSID behind the own uSID", sent, ECHO, came=after))
    sent = after.with_(destination="fc01::2", segments=["fc00:0:101::"], left=1, hops=64)
    crossed = sent.with_(destination="fc00:0:101::", left=0, hops=63)
    rows.append(Row("echo to a SID across an adjacency: not here", NODE, 1, sent.at(1), (crossed.out(3),)))
    # Inside: decapsulated, it is for the loopback, and the outer header is gone.
    sent = echo_request(Routed("fc00:0:102::", inner_destination="fc00:0:101::1"))
    inside = ethernet_in(1) / sent.inner_packet()
    rows.append(
        Row(
            "echo to the loopback, decapsulated",
            NODE,
            1,
            sent.at(1),
            punt=Punt(ECHO, 0, bytes(inside)),
            counts=("first.USD",),
        )
    )
    sent = echo_request(Routed("fc00:0:101:205::"))
    rows.append(Row("echo inside, not for the switch", NODE, 1, sent.at(1), (_moved(sent).out(2),)))
    sent = echo_request(Routed("fc00:0:101:205::", inner=False))
    rows.append(Row("echo by uN to somebody else", NODE, 1, sent.at(1), (_moved(sent).out(2),)))
    sent = echo_request(Routed("fc00:0:e001::", inner=False))
    rows.append(
        Row("echo to a uA goes across", NODE, 1, sent.at(1), (sent.with_(destination="fc00::", hops=63).out(3),))
    )
    return rows


def _moved(sent: Routed) -> Routed:
    return sent.with_(destination="fc00:0:205::", hops=sent.hops - 1)


def hop_limits() -> list[Row]:
    """Time exceeded, wherever the hop limit ends; nothing of the packet is changed before."""
    rows = []
    for name, sent in {
        "uN": Routed("fc00:0:101:205::"),
        "uA": Routed("fc00:0:e001:205::"),
        "uA consumed": Routed("fc00:0:e001::", inner=False),
        "End": Routed("fc01::1", segments=[NEXT], left=1),
        "End.X": Routed("fc01::2", segments=[NEXT], left=1),
        "End, bad SRH": Routed("fc01::1", segments=[NEXT], left=9),
        "transit": Routed("fc00:0:205::"),
        "transit, UDP": Routed("2001:db8:0:2::9", inner=False),
        "transit, echo reply": Routed("2001:db8:0:2::9", inner=False, upper=icmp(129)),
        "an ICMPv6 error inside": Routed("fc00:0:101:205::", upper=icmp(1)),
    }.items():
        rows += [_punted(f"time exceeded, hop limit {hops}, {name}", sent.with_(hops=hops), HOPS) for hops in (0, 1)]
    sent = Routed("fc00:0:101:101:205::", hops=2)
    came = sent.with_(destination="fc00:0:101:205::", hops=1)
    rows.append(_punted("time exceeded at the own uSID's second turn", sent, HOPS, came=came))
    sent = Routed("fc00:0:102::", inner_hops=1)
    inside = bytes(ethernet_in(1) / sent.inner_packet())
    rows.append(Row("P08 time exceeded inside", NODE, 1, sent.at(1), punt=Punt(HOPS, 0, inside), counts=("first.USD",)))
    return rows


def silent() -> list[Row]:
    """No error answers an ICMPv6 error or a redirect, and nothing answers for an address that is no SID."""
    rows = []
    for kind in (1, 2, 3, 4, 127, 137):
        sent = Routed("2001:db8:0:2::9", hops=1, inner=False, upper=icmp(kind))
        rows.append(Row(f"no error for ICMPv6 type {kind}, hop limit", NODE, 1, sent.at(1), drop="drop_hop_limit"))
        sent = Routed("fc00:0:101::", inner=False, upper=icmp(kind))
        rows.append(Row(f"no error for ICMPv6 type {kind}, upper layer", NODE, 1, sent.at(1), drop="drop_upper_layer"))
        sent = Routed("fc01::1", inner=False, upper=icmp(kind), segments=[NEXT], left=9)
        rows.append(Row(f"no error for ICMPv6 type {kind}, bad SRH", NODE, 1, sent.at(1), drop="drop_bad_srh"))
    for kind in (0, 128):
        # Behind another IPv6 header ICMPv6 is what is carried, not what is answered.
        sent = Routed("fc00:0:101::", upper=icmp(kind))
        rows.append(_punted(f"ICMPv6 type {kind} inside does not matter", sent, UPPER, 40))
    sent = Routed("fc00:0:101::1", inner=False)
    rows.append(Row("UDP to the loopback", NODE, 1, sent.at(1), drop="drop_upper_layer"))
    rows.append(Row("IPv6 in IPv6 to the loopback", NODE, 1, Routed("fc00:0:101::1").at(1), drop="drop_upper_layer"))
    return rows


def headers() -> list[Row]:
    """Parameter problems: the pointer is that of RFC 8754 4.3.1.1 and 4.3.2, RFC 8200 4.4 and RFC 8986 4.1.1."""
    bad = {
        "segments left above last entry + 1": ({"segments": [NEXT], "left": 2}, 43),
        "last entry outside": ({"segments": [NEXT], "left": 1, "last_entry": 1}, 43),
        "no segment at all": ({"segments": [], "left": 1}, 43),
        "routing type 0": ({"segments": [NEXT], "left": 1, "kind": 0}, 42),
    }
    rows = []
    for name, (fields, pointer) in bad.items():
        for kind, destination in (("uN", "fc00:0:101::"), ("End", "fc01::1"), ("End.X", "fc01::2")):
            sent = Routed(destination).with_(**fields)
            rows.append(_punted(f"parameter problem by {kind}, {name}", sent, SRH, pointer))
    left = {"segments": [NEXT], "left": 1}
    rows.append(_punted("parameter problem by uDT6, a segment left", Routed("fc00:0:e003::", **left), SRH, 43))
    rows.append(_punted("parameter problem by the loopback, a segment left", Routed("fc00:0:101::1", **left), SRH, 42))
    tcp = TCP(sport=1, dport=2, chksum=1)
    upper = {
        "UDP": ({"inner": False}, 40),
        "TCP": ({"inner": False, "upper": tcp}, 40),
        "IPv6": ({}, 40),
        "UDP behind an SRH": ({"inner": False, "segments": [NEXT], "left": 0}, 64),
        "IPv6 behind an SRH": ({"segments": [NEXT], "left": 0}, 64),
        "IPv6 behind four segments and a TLV": ({"segments": [NEXT] * 4, "left": 0, "tlv": bytes(8)}, 120),
        "echo reply": ({"inner": False, "upper": icmp(129)}, 40),
    }
    for name, (fields, pointer) in upper.items():
        if name != "UDP behind an SRH" and fields.get("upper") is tcp:
            assert Routed("::2", **fields).packet().nh == IPPROTO_TCP
        for kind, destination in (("uN", "fc00:0:101::"), ("End", "fc01::1"), ("End.X", "fc01::2")):
            sent = Routed(destination).with_(**fields)
            rows.append(_punted(f"SR upper-layer problem by {kind}, {name}", sent, UPPER, pointer))
    sent = Routed("fc00:0:101:101::")
    came = sent.with_(destination="fc00:0:101::", hops=63)
    rows.append(_punted("SR upper-layer problem at the second turn", sent, UPPER, 40, came=came))
    return rows


def policies() -> list[Row]:
    """A reason that has no entry is a drop with the counter of its cause."""
    rows = []
    echo = echo_request(Routed("fc00:0:101::", inner=False))
    cases = {
        ECHO: (echo, "drop_upper_layer", 0),
        HOPS: (Routed("fc00:0:101:205::", hops=1), "drop_hop_limit", 0),
        SRH: (Routed("fc01::1", segments=[NEXT], left=9), "drop_bad_srh", 43),
        UPPER: (Routed("fc00:0:101::"), "drop_upper_layer", 40),
    }
    for only in PuntReason:
        kept = (one for one in NODE if one.table != PUNT_POLICY or one.match["reason"] == only)
        table = entries(kept)
        for reason, (sent, drop, pointer) in cases.items():
            name = f"controller takes {only.name}, packet is {reason.name}"
            if reason is only:
                rows.append(Row(name, table, 1, sent.at(1), punt=Punt(reason, pointer, sent.at(1))))
            else:
                rows.append(Row(name, table, 1, sent.at(1), drop=drop))
    return rows


def _from_controller(frame: bytes, port: int = 0, submit: bool = False) -> bytes:
    """A frame on the controller's port: egress port in 9 bits, submit_to_ingress in 1, 6 unused."""
    return (port << 7 | submit << 6).to_bytes(2, "big") + frame


def _sent_out(name: str, frame: bytes, port: int, table: tuple[TableEntry, ...] = NODE) -> Row:
    return Row(name, table, CPU_PORT, _from_controller(frame, port), ((port, frame),))


def packet_outs() -> list[Row]:
    _, tx_2_down = port_entries(2, up=False)
    down = entries((one for one in NODE if (one.table, one.match) != (tx_2_down.table, tx_2_down.match)), tx_2_down)
    passed = Routed("fc00:0:101:205::")
    moved = _moved(passed)
    own = echo_request(Routed("fc00:0:101::", inner=False))
    return [
        _sent_out("packet-out of IPv6 leaves as it is", passed.at(2), 2),
        _sent_out("packet-out to port 0", passed.at(2), 0),
        _sent_out("packet-out with hop limit 0", passed.with_(hops=0).at(2), 3),
        _sent_out("packet-out from a martian", passed.with_(source="fe80::1").at(2), 3),
        _sent_out("packet-out to a port without a neighbour", passed.at(2), 4, entries(NODE, port_entries(4, up=True))),
        _sent_out("packet-out of something else than IPv6", LLDP, 1),
        _sent_out("packet-out longer than its payload", passed.at(2) + bytes(9), 1),
        _sent_out("packet-out shorter than its payload", passed.at(2)[:-1], 1),
        Row("packet-out to a port that is down", down, CPU_PORT, _from_controller(LLDP, 2), drop="drop_port_down"),
        Row("packet-out to no port", NODE, CPU_PORT, _from_controller(LLDP, 9), drop="drop_port_down"),
        Row("packet-out to the controller", NODE, CPU_PORT, _from_controller(LLDP, CPU_PORT), drop="drop_port_down"),
        Row(
            "packet-out without a whole Ethernet header",
            NODE,
            CPU_PORT,
            _from_controller(bytes(13), 1),
            drop="drop_parser_error",
        ),
        # Without the header it is none: a frame from a port that is not up.
        Row("packet-out of half a header", NODE, CPU_PORT, b"\0", drop="drop_port_down"),
        Row(
            "packet-out by forwarding",
            NODE,
            CPU_PORT,
            _from_controller(passed.at(0), 3, submit=True),
            (moved.out(2),),
        ),
        Row(
            "packet-out by forwarding, IPv6 alone",
            NODE,
            CPU_PORT,
            _from_controller(LLDP, 3, submit=True),
            drop="drop_not_ipv6",
        ),
        Row(
            "packet-out by forwarding, the last byte is missing",
            NODE,
            CPU_PORT,
            _from_controller(passed.at(0)[:-1], submit=True),
            drop="drop_truncated",
        ),
        Row(
            "packet-out by forwarding, no route",
            NODE,
            CPU_PORT,
            _from_controller(passed.with_(destination="fc02::1").at(0), submit=True),
            drop="drop_no_route",
        ),
        Row(
            "packet-out by forwarding comes back",
            NODE,
            CPU_PORT,
            _from_controller(own.at(0), submit=True),
            punt=Punt(ECHO, 0, own.at(0)),
        ),
    ]


def queued() -> list[Row]:
    """A packet-out takes the queues of its port, by its own length and not with the header that it came with."""
    full = entries(NODE, queues(2, data_limit=0))
    closed = entries(NODE, queues(2, data_limit=0, high_limit=0))
    sent = Routed("fc00:0:205::", traffic_class=DSCP.trimmable << 2, payload=bytes(200))  # type: ignore[operator]
    frame = sent.at(2)
    cut = bytearray(sent.with_(traffic_class=DSCP.trimmed << 2).at(2)[:144])
    cut[18:20] = (144 - 54).to_bytes(2, "big")
    even = Routed("fc00:0:205::", traffic_class=sent.traffic_class, payload=bytes(144 - 54 - 40 - 8))
    return [
        Row(
            "packet-out into a full queue is trimmed",
            full,
            CPU_PORT,
            _from_controller(frame, 2),
            ((2, bytes(cut)),),
            counts=("trimmed[2]",),
        ),
        Row(
            "packet-out of the trim size is only marked",
            full,
            CPU_PORT,
            _from_controller(even.at(2), 2),
            ((2, even.with_(traffic_class=DSCP.trimmed << 2).at(2)),),
            counts=("trimmed[2]",),
        ),
        _sent_out("packet-out of something else is control", LLDP, 2, full),
        Row(
            "packet-out of something else, the high queue full",
            closed,
            CPU_PORT,
            _from_controller(LLDP, 2),
            drop="drop_high_queue_full",
        ),
    ]


ROWS = [
    *echoes(),
    *hop_limits(),
    *silent(),
    *headers(),
    *policies(),
    *packet_outs(),
    *queued(),
]
