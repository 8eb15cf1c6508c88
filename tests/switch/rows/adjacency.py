"""uA: an argument is shifted, none left is consumed, and either way the packet leaves by its adjacency."""

from __future__ import annotations

from tests.switch.packets import Routed
from tests.switch.row import Row, entries, ports, route, sid, unknown

# The routes point elsewhere, so that a packet that left by a route instead of its adjacency would be seen.
NODE = entries(
    ports(),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:e001::/48", "uA", port=3),
    sid("fc00:0:e000::/48", "uA", port=0),
    sid("fc00:0:ffff::/48", "uA", usd=1, port=3),
    sid("fc00:0:101:e002::/64", "uA_node", port=3),
    sid("fc00:0:101:e003::/64", "uA_node", usd=1, port=3),
    route("fc00:0:205::/48", 2),
    route("2001:db8::/32", 2),
    unknown(),
)

SRH = {"segments": ["fc00:0:205:42::"], "left": 1}
SRH_DONE = {"segments": ["fc00:0:205:42::"], "left": 0}


def _row(name: str, sent: Routed, after: str, port: int = 3, hops: int = 63, **changes: object) -> Row:
    expected = sent.with_(destination=after, hops=hops, **changes)
    return Row(name, NODE, 1, sent.at(1), (expected.out(port),))


def _decapsulated(name: str, sent: Routed) -> Row:
    return Row(name, NODE, 1, sent.at(1), (sent.with_(inner_hops=63).inside_out(3),), counts=("first.USD",))


ROWS = [
    _row("P01 uA as the last uSID leaves by its adjacency", Routed("fc00:0:e001::"), "fc00::"),
    _row("P01 uA as the last uSID, UDP inside", Routed("fc00:0:e001::", inner=False), "fc00::"),
    _row("P01 uN, then uA as the last uSID", Routed("fc00:0:101:e001::"), "fc00::", hops=62),
    _row("P01 uA as the last of six", Routed("fc00:0:e001::", hops=9), "fc00::", hops=8),
    _row("P01 uA_node as the last", Routed("fc00:0:101:e002::"), "fc00::"),
    _row("P01 uA with USD, but no packet inside", Routed("fc00:0:ffff::", inner=False), "fc00::"),
    _row("uA with an argument", Routed("fc00:0:e001:205:42::"), "fc00:0:205:42::"),
    _row("uA with an argument to port 0", Routed("fc00:0:e000:205:42::"), "fc00:0:205:42::", port=0),
    _row("uA, full carrier", Routed("fc00:0:e001:1:2:3:4:5"), "fc00:0:1:2:3:4:5:0"),
    _row("uA needs no route for what follows", Routed("fc00:0:e001:dead::"), "fc00:0:dead::"),
    _row("uA whose argument starts with zero", Routed("fc00:0:e001:0:205::"), "fc00:0:0:205::"),
    _row("uA, then the own uSID: crosses first", Routed("fc00:0:e001:101:205::"), "fc00:0:101:205::"),
    _row("uA_node with an argument", Routed("fc00:0:101:e002:205:42::"), "fc00:0:205:42::"),
    _row("uA_node, full carrier", Routed("fc00:0:101:e002:1:2:3:4"), "fc00:0:1:2:3:4::"),
    _row("uA, with an argument and an SRH", Routed("fc00:0:e001:205::", **SRH), "fc00:0:205::"),
    _row("uA without an argument, SRH: End.X", Routed("fc00:0:e001::", **SRH), "fc00:0:205:42::", **SRH_DONE),
    _row("uA with USD, SRH with segments left: End.X", Routed("fc00:0:ffff::", **SRH), "fc00:0:205:42::", **SRH_DONE),
    _row("uA_node without an argument, SRH: End.X", Routed("fc00:0:101:e002::", **SRH), "fc00:0:205:42::", **SRH_DONE),
    _row("P10 uA without an argument, no segments left: consumed", Routed("fc00:0:e001::", **SRH_DONE), "fc00::"),
    _decapsulated("P11 uA with USD, no SRH", Routed("fc00:0:ffff::")),
    _decapsulated("P10 uA with USD, no segments left", Routed("fc00:0:ffff::", **SRH_DONE)),
    _decapsulated("uA_node with USD", Routed("fc00:0:101:e003::")),
    _decapsulated(
        "uA with USD, an inner destination without a route", Routed("fc00:0:ffff::", inner_destination="2a00::1")
    ),
    Row("uA of another block", NODE, 1, Routed("fc00:1:e001:205::").at(1), drop="drop_no_route"),
    Row("uA_node of another node", NODE, 1, Routed("fc00:0:102:e002:205::").at(1), drop="drop_unknown_sid"),
]
