"""Hop limits (mrc-facts.md 11): 0 and 1 die wherever a packet is forwarded, one hop for each SID of the switch."""

from __future__ import annotations

from tests.switch.packets import Routed
from tests.switch.row import Row, entries, ports, route, sid, unknown

NODE = entries(
    ports(),
    sid("fc00:0:101::/48", "uN", usd=1),
    sid("fc00:0:e001::/48", "uA", usd=1, port=3),
    sid("fc00:0:101:e002::/64", "uA_node", usd=1, port=3),
    sid("fc00:0:9:9::9/128", "End", usd=1),
    route("fc00:0:205::/48", 2),
    route("2001:db8:0:2::/64", 1),
    unknown(),
)

SRH = {"segments": ["fc00:0:205:42::"], "left": 1}
SRH_DONE = {"segments": ["fc00:0:205:42::"], "left": 0}

# Name, what arrives, what leaves (but for its hop limit), through which port.
OUTER = [
    ("uN", Routed("fc00:0:101:205::"), Routed("fc00:0:205::"), 2),
    ("uA", Routed("fc00:0:e001:205::"), Routed("fc00:0:205::"), 3),
    ("uA consumed", Routed("fc00:0:e001::", inner=False), Routed("fc00::", inner=False), 3),
    ("uA_node", Routed("fc00:0:101:e002:205::"), Routed("fc00:0:205::"), 3),
    ("End by uN", Routed("fc00:0:101::", **SRH), Routed("fc00:0:205:42::", **SRH_DONE), 2),
    ("End.X by uA", Routed("fc00:0:e001::", **SRH), Routed("fc00:0:205:42::", **SRH_DONE), 3),
    ("End", Routed("fc00:0:9:9::9", **SRH), Routed("fc00:0:205:42::", **SRH_DONE), 2),
    ("transit", Routed("fc00:0:205:42::"), Routed("fc00:0:205:42::"), 2),
]

# Where the packet inside leaves, for each SID that decapsulates.
INNER = [
    ("uN", "fc00:0:101::", 1),
    ("uA", "fc00:0:e001::", 3),
    ("uA_node", "fc00:0:101:e002::", 3),
    ("End", "fc00:0:9:9::9", 1),
]
FIRST, SECOND = ("first.USD",), ("second.USD",)


def outer() -> list[Row]:
    rows = []
    for name, sent, after, port in OUTER:
        for hops in (0, 1, 2, 255):
            frame = sent.with_(hops=hops).at(0)
            if hops <= 1:
                rows.append(Row(f"hop limit {hops}, {name}", NODE, 0, frame, drop="drop_hop_limit"))
            else:
                rows.append(Row(f"hop limit {hops}, {name}", NODE, 0, frame, (after.with_(hops=hops - 1).out(port),)))
    return rows


def inner() -> list[Row]:
    """P08: after decapsulation the inner hop limit counts, cross-connected or not, and the outer one does not."""
    rows = []
    for name, destination, port in INNER:
        for hops in (0, 1, 2, 255):
            for outer_hops in (0, 1, 64):
                sent = Routed(destination, hops=outer_hops, inner_hops=hops)
                title = f"P08 USD by {name}, inner hop limit {hops}, outer {outer_hops}"
                if hops <= 1:
                    rows.append(Row(title, NODE, 0, sent.at(0), drop="drop_hop_limit", counts=FIRST))
                else:
                    out = (sent.with_(inner_hops=hops - 1).inside_out(port),)
                    rows.append(Row(title, NODE, 0, sent.at(0), out, counts=FIRST))
    return rows


def twice() -> list[Row]:
    """Own uSID twice in a row: processed in turn, one hop each; a third is dropped as a loop."""
    rows = []
    for hops in (1, 2, 3, 64):
        sent = Routed("fc00:0:101:101:205::", hops=hops)
        if hops <= 2:
            rows.append(Row(f"own uSID twice, hop limit {hops}", NODE, 1, sent.at(1), drop="drop_hop_limit"))
        else:
            after = Routed("fc00:0:205::", hops=hops - 2)
            rows.append(Row(f"own uSID twice, hop limit {hops}", NODE, 1, sent.at(1), (after.out(2),)))
    for name, destination in [
        ("own uSID three times", "fc00:0:101:101:101:205::"),
        ("own uSID six times", "fc00:0:101:101:101:101:101:101"),
        ("own uSID twice, then uA", "fc00:0:101:101:e001:205::"),
    ]:
        rows.append(Row(name, NODE, 1, Routed(destination).at(1), drop="drop_sid_loop"))
    for inner_hops in (1, 64):
        sent = Routed("fc00:0:101:101::", inner_hops=inner_hops)
        name = f"P08 own uSID twice, USD by the second, inner hop limit {inner_hops}"
        if inner_hops == 1:
            rows.append(Row(name, NODE, 1, sent.at(1), drop="drop_hop_limit", counts=SECOND))
        else:
            out = (sent.with_(inner_hops=63).inside_out(1),)
            rows.append(Row(name, NODE, 1, sent.at(1), out, counts=SECOND))
    after = Routed("fc00:0:205::", hops=62)
    rows.append(Row("uN, then uA", NODE, 1, Routed("fc00:0:101:e001:205::").at(1), (after.out(3),)))
    sent = Routed("fc00:0:101:e001::", hops=2)
    rows.append(
        Row(
            "uN, then uA, hop limit 2",
            NODE,
            1,
            sent.with_(destination="fc00:0:101:101:e001::").at(1),
            drop="drop_hop_limit",
        )
    )
    return rows


ROWS = [*outer(), *inner(), *twice()]
