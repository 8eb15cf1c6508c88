"""End with an SRH, and USD: segment lists of every length, full and reduced, and what an endpoint must refuse."""

from __future__ import annotations

from tests.switch.packets import Routed
from tests.switch.row import Row, entries, ports, route, sid, unknown

END = "fc01:0:0:1::1"
NODE = entries(
    ports(),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:102::/48", "uN", usd=1),
    sid(f"{END}/128", "End"),
    sid("fc01:0:0:2::/64", "End", usd=1),
    route("fc00:0:205::/48", 2),
    route("2001:db8:0:2::/64", 1),
    route("fc01:0:0:9::/64", 3),
    unknown(),
)

# The i-th segment from the end of the path, all with a route to port 3, all different in every byte that may differ.
SEGMENTS = [
    f"fc01:0:0:9:{number}1{number}2:{number}3{number}4:{number}5{number}6:{number}7{number}8" for number in range(1, 5)
]


def lists() -> list[Row]:
    """P12: 1 to 4 segments, the full list and the reduced one (which leaves the first segment to the address)."""
    rows = []
    for end in ("fc00:0:101::", END):
        name = "uN" if end.startswith("fc00") else "End"
        for count in range(1, 5):
            for left in range(1, count + 1):
                # A reduced list can have as many segments left as it has segments, a full one at most one less.
                kind = "reduced" if left == count else "full"
                sent = Routed(end, segments=SEGMENTS[:count], left=left)
                after = sent.with_(destination=SEGMENTS[left - 1], left=left - 1, hops=63)
                rows.append(
                    Row(f"P12 {name}, {kind}, {count} segments, {left} left", NODE, 0, sent.at(0), (after.out(3),))
                )
    return rows


def tlvs() -> list[Row]:
    """TLVs behind the segments are no segments, and keep every byte."""
    rows = []
    for tlv in (
        bytes.fromhex("0406000000000000"),
        bytes.fromhex("040e") + bytes(14),
        bytes.fromhex("0416") + bytes(22),
    ):
        sent = Routed(END, segments=SEGMENTS[:2], left=1, tlv=tlv)
        after = sent.with_(destination=SEGMENTS[0], left=0, hops=63)
        rows.append(Row(f"End, TLVs of {len(tlv)} bytes", NODE, 0, sent.at(0), (after.out(3),)))
    return rows


def _bad(name: str, drop: str = "drop_bad_srh", destination: str = END, **fields: object) -> Row:
    return Row(name, NODE, 0, Routed(destination).with_(**fields).at(0), drop=drop)


def _decapsulated(name: str, sent: Routed, port: int = 1) -> Row:
    return Row(name, NODE, 0, sent.at(0), (sent.with_(inner_hops=63).inside_out(port),), counts=("first.USD",))


DONE = {"segments": SEGMENTS[:1], "left": 0}
CARRIER = "fc00:0:205:42::"

ROWS = [
    *lists(),
    *tlvs(),
    _bad("SRH, last entry behind the header's end", segments=SEGMENTS[:2], left=1, last_entry=2),
    _bad("SRH, last entry 255", segments=SEGMENTS[:2], left=1, last_entry=255),
    _bad("SRH, more segments left than the list allows", segments=SEGMENTS[:2], left=3),
    _bad("SRH, more segments left than last entry allows", segments=SEGMENTS[:3], left=2, last_entry=0),
    _bad("SRH, 255 segments left", segments=SEGMENTS[:2], left=255),
    _bad("SRH, last entry in a TLV of half a segment", segments=SEGMENTS[:1], left=1, last_entry=1, tlv=bytes(8)),
    _bad("routing type 0, segments left", segments=SEGMENTS[:1], left=1, kind=0),
    _bad("routing type 2, segments left, by uN", destination="fc00:0:101::", segments=SEGMENTS[:1], left=1, kind=2),
    _bad("P18 SRH without a segment, one left", segments=[], left=1),
    _bad("P18 SRH without a segment, one left, by uN", destination="fc00:0:101::", segments=[], left=1),
    _bad("SRH, segment without a route", "drop_no_route", segments=["fc02::1"], left=1),
    _bad(
        "SRH, segment is the next SID of the same switch, once too often",
        "drop_sid_loop",
        segments=["fc00:0:101:101:205::"],
        left=1,
    ),
    _bad("nothing left, no USD", "drop_upper_layer"),
    _bad("nothing left, no USD, SRH done", "drop_upper_layer", **DONE),
    _bad("nothing left, no USD, uN, SRH done", "drop_upper_layer", "fc00:0:101::", **DONE),
    _bad("nothing left, USD, but UDP inside", "drop_upper_layer", "fc00:0:102::", inner=False),
    _bad("nothing left, USD, but UDP inside, SRH done", "drop_upper_layer", "fc00:0:102::", inner=False, **DONE),
    _bad("USD, inner multicast source", "drop_martian", "fc00:0:102::", inner_source="ff02::1"),
    _bad("USD, inner link-local destination", "drop_martian", "fc00:0:102::", inner_destination="fe80::1"),
    Row(
        "USD, inner destination without a route",
        NODE,
        0,
        Routed("fc00:0:102::", inner_destination="2a00::1").at(0),
        drop="drop_no_route",
        counts=("first.USD",),
    ),
    Row(
        "P18 one-deep SRH: its only segment",
        NODE,
        0,
        Routed("fc00:0:101::", segments=[CARRIER], left=1).at(0),
        (Routed(CARRIER, segments=[CARRIER], left=0, hops=63).out(2),),
    ),
    Row(
        "a seventh uSID through the SRH: the own one is first in the segment too",
        NODE,
        0,
        Routed("fc00:0:101::", segments=["fc00:0:101:205:42::"], left=1).at(0),
        (Routed(CARRIER, segments=["fc00:0:101:205:42::"], left=0, hops=62).out(2),),
    ),
    Row(
        "End, and the segment begins with a uSID of this switch",
        NODE,
        0,
        Routed(END, segments=["fc00:0:101:205:42::"], left=1).at(0),
        (Routed(CARRIER, segments=["fc00:0:101:205:42::"], left=0, hops=62).out(2),),
    ),
    _decapsulated("P11 USD by uN, no SRH", Routed("fc00:0:102::")),
    _decapsulated("P11 USD by End, no SRH", Routed("fc01:0:0:2::77")),
    _decapsulated("P10 USD by uN, no segments left", Routed("fc00:0:102::", **DONE)),
    _decapsulated("P10 USD by End, no segments left", Routed("fc01:0:0:2::77", **DONE)),
    _decapsulated(
        "P10 USD by End, no segments left of four and a TLV", Routed("fc01:0:0:2::77", segments=SEGMENTS, tlv=bytes(8))
    ),
    _decapsulated(
        "P10 USD, a done routing header of another type is skipped",
        Routed("fc01:0:0:2::77", segments=SEGMENTS[:1], kind=3),
    ),
    _decapsulated("P18 USD, SRH without a segment", Routed("fc00:0:102::", segments=[])),
    _decapsulated("USD keeps the inner traffic class", Routed("fc00:0:102::", traffic_class=0x2A)),
    _decapsulated("P03 USD, payload of 0", Routed("fc00:0:102::", payload=b"")),
    _decapsulated("P03 USD, payload of 4096", Routed("fc00:0:102::", payload=bytes(4096))),
    Row(
        "USD, and the packet inside has a uSID of this switch",
        NODE,
        0,
        Routed("fc00:0:102::", inner_destination="fc00:0:101:205:42::").at(0),
        (Routed("fc00:0:102::", inner_destination=CARRIER, inner_hops=63).inside_out(2),),
        counts=("first.USD",),
    ),
]
