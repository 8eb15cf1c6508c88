"""Direct counters of SIDs, flavours and routes: each entry tells which frames took it, and only those."""

from __future__ import annotations

import pytest

from pymodel.base.errors import InputError
from pymodel.paths.tables import FIRST_FLAVOUR, FIRST_SID, ROUTE, SECOND_SID
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.target import Count
from tests.switch.bench import flavours
from tests.switch.packets import Routed
from tests.switch.row import entries, ports, prefix, route, sid, unknown

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
    unknown(),
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
        "fc00:0:777::": 10,
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
    routes |= {prefix("fc00::/32"): 10}
    assert hits(target, ROUTE) == routes


EVERY = {"psp": 1, "usp": 1, "usd": 1}
FLAVOURED = entries(
    ports(),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:102::/48", "uN", **EVERY),
    sid("fc00:0:103::/48", "uN", uniform=1, **EVERY),
    sid("fc00:0:e001::/48", "uA", port=3, **EVERY),
    sid("fc00:0:e003::/48", "uDT6"),
    sid("fc00:0:e004::/48", "uDT6", uniform=1),
    route("2001:db8:0:2::/64", 3),
    route("fc00:0:205::/48", 2),
)
SEGMENT = ["fc00:0:205::"]

# What is behind the node's uSID, SRH and inside, and what is taken off; None: the flavours have nothing to do.
TAKEN_OFF = {
    "PSP": ("102", {"segments": SEGMENT, "left": 1}),
    "USP": ("e001", {"segments": SEGMENT, "left": 0, "inner": False}),
    "USD": ("102", {}),
    "USD_uniform": ("103", {"segments": SEGMENT, "left": 0}),
    "DT6": ("e003", {}),
    "DT6_uniform": ("e004", {"segments": SEGMENT, "left": 0}),
}
REFUSED = {
    "two segments left": ("102", {"segments": SEGMENT * 2, "left": 2}),
    "an argument left": ("102:205", {"segments": SEGMENT, "left": 1}),
    "hop limit": ("102", {"segments": SEGMENT, "left": 1, "hops": 1}),
    "bad SRH": ("102", {"segments": SEGMENT, "left": 1, "last_entry": 1}),
    "a segment left by uDT6": ("e003", {"segments": SEGMENT, "left": 1}),
    "consumed, hop limit": ("e001", {"segments": SEGMENT, "left": 0, "inner": False, "hops": 1}),
    "consumed, no SRH": ("e001", {"inner": False}),
    "CE outside Not-ECT": ("102", {"traffic_class": 3, "inner_class": 0}),
    "martian inside": ("e003", {"inner_source": "ff02::1"}),
    "nothing inside": ("103", {"inner": False}),
}


def test_every_flavour_counts_what_it_took_off(target: EmbeddedSwitch | Bmv2Switch) -> None:
    """By each pass over the own SIDs; what is refused, or has nothing to take off, is in no counter of a flavour."""
    target.write(FLAVOURED)
    size = 0
    for times, (behind, fields) in enumerate(TAKEN_OFF.values(), 1):
        for place, destination in (("first", f"fc00:0:{behind}::"), ("second", f"fc00:0:101:{behind}::")):
            frame = Routed(destination).with_(**fields).at(0)
            for _ in range(times if place == "first" else 1):
                target.inject(0, frame, 0)
                size += len(frame)
    assert len(target.drain(0)) == sum(range(1, len(TAKEN_OFF) + 1)) + len(TAKEN_OFF)
    counts = flavours(target)
    assert {name: count.packets for name, count in counts.items()} == {
        **{f"first.{name}": times for times, name in enumerate(TAKEN_OFF, 1)},
        **{f"second.{name}": 1 for name in TAKEN_OFF},
    }
    assert sum(count.bytes for count in counts.values()) == size
    for behind, fields in REFUSED.values():
        for destination in (f"fc00:0:{behind}::", f"fc00:0:101:{behind}::"):
            target.inject(0, Routed(destination).with_(**fields).at(0), 0)
    target.drain(0)
    assert flavours(target) == counts


def test_the_counter_of_one_constant_entry_is_named_to_the_embedded_switch_alone(
    target: EmbeddedSwitch | Bmv2Switch,
) -> None:
    """BMv2 reads those of the whole table; one by itself it neither reads nor sets (docs/bmv2.md)."""
    client = target.control.client
    (first, _), *_ = client.read_direct_counters(FIRST_FLAVOUR)
    if isinstance(target, EmbeddedSwitch):
        client.write_direct_counter(first, Count(5, 500))
        assert client.read_direct_counter(first) == Count(5, 500)
        assert flavours(target) == {"first.PSP": Count(5, 500)}
        return
    for refused in (lambda: client.read_direct_counter(first), lambda: client.write_direct_counter(first, Count(5, 5))):
        with pytest.raises(InputError, match="INVALID_ARGUMENT"):
            refused()
    assert flavours(target) == {}
