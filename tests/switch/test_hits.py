"""Direct counters of SIDs and routes: each entry tells which frames took it, and only those."""

from __future__ import annotations

from pymodel.paths.tables import FIRST_SID, ROUTE, SECOND_SID
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.target import Count
from tests.switch.packets import Routed
from tests.switch.row import entries, ports, prefix, route, sid

TABLE = entries(
    ports(),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:e001::/48", "uA", port=1),
    sid("fc00:0:102:e002::/64", "uA_node", port=1),
    sid("fc00:0:9:9::9/128", "End"),
    sid("fc00:0:8:8::8/128", "End_X", port=1),
    sid("fc00:0:e003::/48", "uDT6"),
    sid("fc00:0:101::1/128", "loopback"),
    route("2001:db8:0:2::/64", 3),
    route("fc00:0:205::/48", 2),
    route("fc00:0:206::/48", 3),
)

Hits = dict[tuple[int, int], int]


def hits(switch: EmbeddedSwitch | Bmv2Switch, table: str) -> Hits:
    """Frames by prefix, for entries that were hit."""
    found: Hits = {}
    for entry, count in switch.control.client.read_direct_counters(table):
        match = entry.match["dst"]
        assert isinstance(match, tuple)
        if count != Count(0, 0):
            found[match] = count.packets
    return found


def test_every_entry_counts_its_own_frames(target: EmbeddedSwitch | Bmv2Switch) -> None:
    target.write(TABLE)
    for destination, times in {
        "fc00:0:101:205::": 3,
        "fc00:0:101:101:206::": 2,
        "fc00:0:101:e001:205::": 1,
        "fc00:0:e001:205::": 4,
        "fc00:0:102:e002:205::": 5,
        "fc00:0:9:9::9": 6,
        "fc00:0:8:8::8": 7,
        "fc00:0:e003::": 8,
        # Dropped, and counted all the same: a table counts what it matches.
        "fc00:0:101::1": 9,
    }.items():
        srh = {"segments": ["fc00:0:205::"], "left": 1} if destination.endswith(("9", "8::8")) else {}
        for _ in range(times):
            target.inject(0, Routed(destination, **srh).at(0), 0)
    assert len(target.drain(0)) == 36
    node, adjacency = prefix("fc00:0:101::/48"), prefix("fc00:0:e001::/48")
    first = {node: 6, adjacency: 4, prefix("fc00:0:102:e002::/64"): 5, prefix("fc00:0:9:9::9/128"): 6}
    first |= {prefix("fc00:0:8:8::8/128"): 7, prefix("fc00:0:e003::/48"): 8, prefix("fc00:0:101::1/128"): 9}
    assert hits(target, FIRST_SID) == first
    assert hits(target, SECOND_SID) == {node: 2, adjacency: 1}
    routes = {prefix("fc00:0:205::/48"): 9, prefix("fc00:0:206::/48"): 2, prefix("2001:db8:0:2::/64"): 8}
    assert hits(target, ROUTE) == routes
