"""PSP, USP and USD in all combinations on uN, uA, End and End.X; uDT6; DSCP modes and ECN of decapsulation.

RFC 8986 sections 4.1, 4.2, 4.6 and 4.16, RFC 9800 section 4.1, RFC 6040 figure 4, RFC 2983.
"""

from __future__ import annotations

import itertools

from tests.switch.packets import Routed
from tests.switch.row import Row, entries, ports, route, sid, unknown

FLAVOURS = [{"psp": psp, "usp": usp, "usd": usd} for psp, usp, usd in itertools.product((0, 1), repeat=3)]
NEXT, LAST = "fc00:0:205:42::", "fc00:0:206:43::"

# RFC 6040 figure 4: ECN inside, then what leaves for Not-ECT, ECT(1), ECT(0), CE outside; None is a drop.
ECN = {0: (0, 0, 0, None), 1: (1, 1, 1, 3), 2: (2, 1, 2, 3), 3: (3, 3, 3, 3)}


def _named(flavours: dict[str, int]) -> str:
    return " ".join(name.upper() for name, value in flavours.items() if value) or "no flavour"


def _node(destination: str, action: str, **params: int) -> tuple:  # type: ignore[type-arg]
    return entries(
        ports(),
        sid(destination, action, **params),
        route("fc00:0:205::/48", 1),
        route("fc00:0:206::/48", 2),
        route("2001:db8:0:2::/64", 1),
        unknown(),
    )


# Action, prefix, address with nothing left in it, whether it has an adjacency, address when it is consumed (uA alone).
SIDS = [
    ("uN", "fc00:0:101::/48", "fc00:0:101::", False, None),
    ("uA", "fc00:0:e001::/48", "fc00:0:e001::", True, "fc00::"),
    ("uA_node", "fc00:0:101:e002::/64", "fc00:0:101:e002::", True, "fc00::"),
    ("End", "fc01::1/128", "fc01::1", False, None),
    ("End_X", "fc01::2/128", "fc01::2", True, None),
]


def combinations() -> list[Row]:
    """Each flavour does its own and nothing else: segments left, the last one, none, no SRH."""
    rows = []
    for (action, prefix, destination, adjacent, consumed), flavours in itertools.product(SIDS, FLAVOURS):
        table = _node(prefix, action, **flavours, **({"port": 3} if adjacent else {}))
        name = f"{action}, {_named(flavours)}"

        # Two left: PSP has nothing to pop yet.
        sent = Routed(destination, segments=[LAST, NEXT], left=2)
        after = sent.with_(destination=NEXT, left=1, hops=63)
        rows.append(Row(f"{name}, 2 segments left", table, 0, sent.at(0), (after.out(3 if adjacent else 1),)))

        sent = Routed(destination, segments=[LAST, NEXT], left=1, tlv=bytes(8))
        after = sent.with_(destination=LAST, left=0, hops=63)
        counts: tuple[str, ...] = ()
        if flavours["psp"]:
            after, counts = after.with_(segments=None), ("first.PSP",)
        rows.append(
            Row(f"{name}, last segment", table, 0, sent.at(0), (after.out(3 if adjacent else 2),), counts=counts)
        )

        for srh, text in (({"segments": [LAST], "left": 0}, "none left"), ({}, "no SRH")):
            sent = Routed(destination).with_(**srh)
            title = f"{name}, {text}"
            if flavours["usd"]:
                out = (sent.with_(inner_hops=63).inside_out(3 if adjacent else 1),)
                rows.append(Row(title, table, 0, sent.at(0), out, counts=("first.USD",)))
            elif consumed is None:
                rows.append(Row(title, table, 0, sent.at(0), drop="drop_upper_layer"))
            else:
                after, counts = sent.with_(destination=consumed, hops=63), ()
                if flavours["usp"] and srh:
                    after, counts = after.with_(segments=None), ("first.USP",)
                rows.append(Row(title, table, 0, sent.at(0), (after.out(3),), counts=counts))
    return rows


def table_lookup() -> list[Row]:
    """uDT6: the last of its container, whatever follows it there; a packet inside, looked up; no segment left."""
    table = _node("fc00:0:101:e003::/64", "uDT6")
    local = _node("fc00:0:e003::/48", "uDT6")
    own = entries(table, sid("2001:db8:0:2::2/128", "End", usd=1))
    sent = Routed("fc00:0:101:e003::")
    done, left = sent.with_(segments=[LAST], left=0), sent.with_(segments=[LAST], left=1)
    counts = ("first.DT6",)

    def row(name: str, table: tuple, sent: Routed) -> Row:  # type: ignore[type-arg]
        return Row(name, table, 0, sent.at(0), (sent.with_(inner_hops=63).inside_out(1),), counts=counts)

    return [
        row("P11 uDT6, node and function", table, sent),
        row("P11 uDT6, local block", local, sent.with_(destination="fc00:0:e003::")),
        row("P10 uDT6, no segments left", table, done),
        row("uDT6, outer hop limit 0", table, sent.with_(hops=0)),
        row("uDT6 looks at nothing behind it in the container", table, sent.with_(destination="fc00:0:101:e003:205::")),
        Row("uDT6, a segment left", table, 0, left.at(0), drop="drop_bad_srh"),
        Row("uDT6, UDP inside", table, 0, sent.with_(inner=False).at(0), drop="drop_upper_layer"),
        Row(
            "P08 uDT6, inner hop limit 1",
            table,
            0,
            sent.with_(inner_hops=1).at(0),
            drop="drop_hop_limit",
            counts=counts,
        ),
        Row(
            "uDT6, an inner destination without a route",
            table,
            0,
            sent.with_(inner_destination="2001:db9::1").at(0),
            drop="drop_no_route",
            counts=counts,
        ),
        Row("uDT6, then a SID that has nothing to do", own, 0, sent.at(0), drop="drop_upper_layer", counts=counts),
    ]


def no_argument() -> list[Row]:
    """What is no compressed SID has no argument, whatever bits follow its prefix, to the last."""
    behind = "fc01:0:0:1:ffff:ffff:ffff:ffff"
    done, left = Routed(behind, segments=[LAST], left=0), Routed(behind, segments=[LAST], left=1)
    rows = []
    for action, port in (("End", None), ("End_X", 3)):
        table = _node("fc01:0:0:1::/64", action, usd=1, **({"port": port} if port else {}))
        after = left.with_(destination=LAST, left=0, hops=63)
        rows.append(Row(f"{action}, bits behind it, segment left", table, 0, left.at(0), (after.out(port or 2),)))
        out = (done.with_(inner_hops=63).inside_out(port or 1),)
        rows.append(Row(f"{action}, bits behind it, USD", table, 0, done.at(0), out, counts=("first.USD",)))
    table = _node("fc01:0:0:1::/64", "uDT6")
    out = (done.with_(inner_hops=63).inside_out(1),)
    rows.append(Row("uDT6, bits behind it", table, 0, done.at(0), out, counts=("first.DT6",)))
    rows.append(Row("uDT6, bits behind it, segment left", table, 0, left.at(0), drop="drop_bad_srh"))
    table = _node("fc01:0:0:1::/64", "loopback")
    rows.append(Row("loopback, bits behind it", table, 0, done.at(0), drop="drop_upper_layer"))
    rows.append(Row("loopback, bits behind it, segment left", table, 0, left.at(0), drop="drop_bad_srh"))
    return rows


def congestion_marks() -> list[Row]:
    """RFC 6040 figure 4 in both DSCP modes, by each behaviour that decapsulates."""
    rows = []
    behaviours = [
        ("uN", "fc00:0:101::/48", "fc00:0:101::", {"usd": 1}, 1),
        ("uA", "fc00:0:e001::/48", "fc00:0:e001::", {"usd": 1, "port": 3}, 3),
        ("uDT6", "fc00:0:e003::/48", "fc00:0:e003::", {}, 1),
        ("End", "fc01::1/128", "fc01::1", {"usd": 1}, 1),
        ("End_X", "fc01::2/128", "fc01::2", {"usd": 1, "port": 3}, 3),
    ]
    for (action, prefix, destination, params, port), uniform in itertools.product(behaviours, (0, 1)):
        table = _node(prefix, action, **params, uniform=uniform)
        for inner, (outer, combined) in ((i, pair) for i, row in ECN.items() for pair in enumerate(row)):
            # DSCP 8 outside, 4 inside.
            sent = Routed(destination, traffic_class=8 << 2 | outer, inner_class=4 << 2 | inner)
            name = f"{action}, {'uniform' if uniform else 'pipe'}, ECN {inner} in {outer}"
            if combined is None:
                rows.append(Row(name, table, 0, sent.at(0), drop="drop_ecn"))
                continue
            after = sent.with_(inner_class=(8 if uniform else 4) << 2 | combined, inner_hops=63)
            how = f"first.{'DT6' if action == 'uDT6' else 'USD'}{'_uniform' * uniform}"
            rows.append(Row(name, table, 0, sent.at(0), (after.inside_out(port),), counts=(how,)))
    return rows


def lengths() -> list[Row]:
    """What is popped is within the payload: a length that says otherwise is a header that cannot be followed."""
    table = _node("fc01::1/128", "End", psp=1)
    usp = _node("fc00:0:e001::/48", "uA", usp=1, port=3)
    rows = []
    for payload, name in ((23, "ends within the SRH"), (24, "ends with the SRH")):
        frame = bytearray(Routed("fc01::1", segments=[LAST], left=1).at(0))
        frame[18:20] = payload.to_bytes(2, "big")
        if payload < 24:
            rows.append(Row(f"PSP, the payload {name}", table, 0, bytes(frame), drop="drop_bad_srh"))
        else:
            after = bytearray(Routed(LAST, hops=63).out(2)[1])
            after[18:20] = bytes(2)
            rows.append(
                Row(f"PSP, the payload {name}", table, 0, bytes(frame), ((2, bytes(after)),), counts=("first.PSP",))
            )
        frame = bytearray(Routed("fc00:0:e001::", segments=[LAST], left=0).at(0))
        frame[18:20] = payload.to_bytes(2, "big")
        if payload < 24:
            after = bytearray(Routed("fc00::", segments=[LAST], left=0, hops=63).out(3)[1])
            after[18:20] = payload.to_bytes(2, "big")
            rows.append(Row(f"USP, the payload {name}: not popped", usp, 0, bytes(frame), ((3, bytes(after)),)))
        else:
            after = bytearray(Routed("fc00::", hops=63).out(3)[1])
            after[18:20] = bytes(2)
            rows.append(
                Row(f"USP, the payload {name}", usp, 0, bytes(frame), ((3, bytes(after)),), counts=("first.USP",))
            )
    return rows


ROWS = [*combinations(), *table_lookup(), *no_argument(), *congestion_marks(), *lengths()]
