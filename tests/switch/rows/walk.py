"""uN and routes: the walk of a uSID address, each position in the carrier, transit, longest prefixes, sizes."""

from __future__ import annotations

from tests.switch.packets import Routed
from tests.switch.row import Row, entries, ports, route, sid, unknown

NODE = entries(ports(), sid("fc00:0:101::/48", "uN"), route("fc00:0:205::/48", 2), unknown())
TRANSIT = entries(ports(), route("2001:db8::/32", 1), route("2001:db8:0:2::/64", 2), route("2001:db8:0:2::2/128", 3))


def walk() -> list[Row]:
    """The address of mrc-facts.md 4.1, switch by switch; the last shift leaves the NIC's own uSID."""
    stations = [
        ("fc00:0:101:205:130:42::", "fc00:0:101::/48", "fc00:0:205::/48", 2, "fc00:0:205:130:42::"),
        ("fc00:0:205:130:42::", "fc00:0:205::/48", "fc00:0:130::/48", 0, "fc00:0:130:42::"),
        ("fc00:0:130:42::", "fc00:0:130::/48", "fc00:0:42::/48", 3, "fc00:0:42::"),
    ]
    rows = []
    for hop, (before, own, following, port, after) in enumerate(stations):
        sent = Routed(before, hops=64 - hop)
        expected = sent.with_(destination=after, hops=63 - hop)
        table = entries(ports(), sid(own, "uN"), route(following, port), unknown())
        rows.append(Row(f"uSID walk, switch {hop + 1}", table, 1, sent.at(1), (expected.out(port),)))
        srh = {"segments": ["fc00:0:77:88::"], "left": 1}
        expected = expected.with_(**srh)
        rows.append(Row(f"uSID walk, switch {hop + 1}, SRH", table, 1, sent.with_(**srh).at(1), (expected.out(port),)))
    return rows


def positions() -> list[Row]:
    """One to six uSIDs in the address; the own one is always first."""
    rows = []
    for count in range(2, 7):
        behind = [f"{0x1000 + number:x}" for number in range(1, count - 1)]
        before = ":".join(["fc00:0:101:205", *behind]) + ("::" if count < 6 else "")
        after = ":".join(["fc00:0:205", *behind]) + ("::" if count < 6 else ":0")
        sent = Routed(before)
        rows.append(Row(f"uN, {count} uSIDs", NODE, 0, sent.at(0), (sent.with_(destination=after, hops=63).out(2),)))
    return rows


def sizes() -> list[Row]:
    """Whatever the length, the frame leaves whole (P03: nothing is cut that is not to be cut)."""
    rows = []
    for size in (0, 1, 8, 256, 4096, 8900):
        sent = Routed("fc00:0:101:205:42::", payload=bytes(number % 251 for number in range(size)))
        expected = sent.with_(destination="fc00:0:205:42::", hops=63)
        rows.append(Row(f"P03 payload of {size}", NODE, 3, sent.at(3), (expected.out(2),)))
        srh = {"segments": ["fc00:0:77::"], "left": 1}
        rows.append(
            Row(f"P03 payload of {size}, SRH", NODE, 3, sent.with_(**srh).at(3), (expected.with_(**srh).out(2),))
        )
    return rows


def _un(name: str, sent: Routed, after: str, hops: int = 63) -> Row:
    return Row(name, NODE, 1, sent.at(1), (sent.with_(destination=after, hops=hops).out(2),))


def _dropped(name: str, destination: str, drop: str, **fields: object) -> Row:
    return Row(name, NODE, 1, Routed(destination).with_(**fields).at(1), drop=drop)


def _transit(name: str, destination: str, port: int | None) -> Row:
    sent = Routed(destination, inner=False)
    out = () if port is None else (sent.with_(hops=63).out(port),)
    return Row(name, TRANSIT, 0, sent.at(0), out, None if port is not None else "drop_no_route")


ROWS = [
    *walk(),
    *positions(),
    *sizes(),
    _un(
        "uN keeps DSCP, ECN and flow label",
        Routed("fc00:0:101:205:42::", traffic_class=0xB9, flow_label=0xABCDE),
        "fc00:0:205:42::",
    ),
    _un("P11 uN without SRH, UDP inside", Routed("fc00:0:101:205:42::", inner=False), "fc00:0:205:42::"),
    _un(
        "uN never looks at a routing header of another type",
        Routed("fc00:0:101:205:42::", segments=["::1"], left=9, kind=0),
        "fc00:0:205:42::",
    ),
    _un(
        "uN never looks at a last entry out of range",
        Routed("fc00:0:101:205:42::", segments=["::1"], left=9, last_entry=200),
        "fc00:0:205:42::",
    ),
    Row(
        "uN to port 0",
        entries(ports(), sid("fc00:0:101::/48", "uN"), route("fc00:0:205::/48", 0)),
        2,
        Routed("fc00:0:101:205::").at(2),
        (Routed("fc00:0:205::", hops=63).out(0),),
    ),
    Row(
        "uN back out of the port it came from",
        NODE,
        2,
        Routed("fc00:0:101:205::").at(2),
        (Routed("fc00:0:205::", hops=63).out(2),),
    ),
    Row(
        "uN back out of the port it came from, port 0",
        entries(ports(), sid("fc00:0:101::/48", "uN"), route("fc00:0:205::/48", 0)),
        0,
        Routed("fc00:0:101:205::").at(0),
        (Routed("fc00:0:205::", hops=63).out(0),),
    ),
    _dropped("P01 uN as the last uSID, nothing inside for it", "fc00:0:101::", "drop_upper_layer"),
    _dropped("a zero uSID in the middle", "fc00:0:101:0:205::", "drop_unknown_sid"),
    _dropped("a zero uSID before the own one never loops", "fc00:0:101:0:101:205::", "drop_unknown_sid"),
    _dropped("a zero uSID first", "fc00:0:0:101:205::", "drop_unknown_sid"),
    _dropped("the next uSID is unknown", "fc00:0:101:206:42::", "drop_unknown_sid"),
    _dropped("a uSID of the local block that nobody has", "fc00:0:101:e001::", "drop_unknown_sid"),
    _dropped("the first uSID is unknown", "fc00:0:102:205:42::", "drop_unknown_sid"),
    _dropped("own uSID in another block", "fc00:1:101:205:42::", "drop_no_route"),
    Row(
        "transit by a uSID route",
        NODE,
        0,
        Routed("fc00:0:205:42::").at(0),
        (Routed("fc00:0:205:42::", hops=63).out(2),),
    ),
    _transit("transit, /32", "2001:db8:ffff::1", 1),
    _transit("transit, /64 is longer", "2001:db8:0:2::3", 2),
    _transit("transit, /128 is longest", "2001:db8:0:2::2", 3),
    _transit("transit, no prefix", "2001:db9::1", None),
    Row(
        "transit, default route",
        entries(ports(), route("::/0", 2)),
        1,
        Routed("2001:db9::1", inner=False).at(1),
        (Routed("2001:db9::1", inner=False, hops=63).out(2),),
    ),
]
