"""Trimming, classes and ECN where an empty queue decides: a limit of 0 is always reached, a threshold of 0 too.

P04: outer payload length and DSCP are right, nothing inside changes, what is not longer than the trim size is only
marked. P03: `truncate` counts from the first byte of the frame that leaves, and no size cuts the outer header.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from pymodel.paths.tables import PORT_QUEUES, TableEntry, class_entries, queue_entry
from pymodel.paths.tables import QueueSettings as Settings
from pymodel.wire.spec import DscpMap
from tests.switch.packets import ETHERNET_BYTES, IPV6_BYTES, Routed
from tests.switch.row import Row, entries, ports, queues, route, sid, unknown

TRIMMABLE, NO_TRIM, RETX, TRIMMED, LASTHOP, CONTROL = 4, 0, 8, 12, 16, 46
TRIM, SRH_BYTES = 144, 24
OUTER = ETHERNET_BYTES + IPV6_BYTES
INNER = IPV6_BYTES + 8  # with UDP

NODE = entries(
    ports(0, 1, 2, 3),
    sid("fc00:0:101::/48", "uN"),
    sid("fc00:0:102::/48", "uN", usd=1),
    sid("fc00:0:103::/48", "uN", usd=1, uniform=1),
    sid("fc01::1/128", "End", psp=1),
    route("fc00:0:205::/48", 2),
    route("2001:db8:0:2::/64", 2),
    unknown(),
)
AT = "fc00:0:101:205:42::"
THEN = "fc00:0:205:42::"


def _node(settings: Iterable[TableEntry]) -> tuple[TableEntry, ...]:
    return entries(NODE, settings)


FULL = _node(queues(2, data_limit=0))
FULL_LASTHOP = _node(queues(2, data_limit=0, ecn=False, last_hop=True))
NO_TRIMMING = _node(queues(2, data_limit=0, trim_bytes=None))
ALL_FULL = _node(queues(2, data_limit=0, high_limit=0))
MARKING = _node(queues(2, ecn_low=0, ecn_high=0))
ROOMY = _node(queues(2, data_limit=1, high_limit=1))
COUNTS = ("trimmed[2]",)


def _sized(size: int, dscp: int = TRIMMABLE, **fields: object) -> Routed:
    """A packet whose frame has `size` bytes."""
    sent = Routed(AT, traffic_class=dscp << 2 | 2).with_(**fields)
    empty = len(sent.with_(payload=b"").at(0))
    return sent.with_(payload=bytes(number % 251 for number in range(size - empty)))


def _after(sent: Routed, mark: int = TRIMMED) -> Routed:
    return sent.with_(destination=THEN, hops=63, traffic_class=mark << 2 | 2)


def sizes() -> list[Row]:
    rows = []
    srhs: list[tuple[str, int, dict[str, object]]] = [
        ("no SRH", 0, {}),
        ("SRH", SRH_BYTES, {"segments": [THEN], "left": 1}),
        ("SRH of 80 bytes", 80, {"segments": [THEN] * 4, "left": 1, "tlv": bytes(8)}),
    ]
    for (name, extra, srh), dscp in itertools.product(srhs, (TRIMMABLE, RETX)):
        limit = TRIM + extra
        least = OUTER + extra + INNER
        for size in (least, limit - 1, limit, limit + 1, limit + 2, 1500, 4238, 9000):
            sent = _sized(size, dscp, **srh)
            after = _after(sent)
            out = after.out(2) if size <= limit else after.cut_out(2, limit)
            rows.append(Row(f"P04 DSCP {dscp}, {size} bytes, {name}", FULL, 0, sent.at(0), (out,), counts=COUNTS))
    return rows


def header_boundaries() -> list[Row]:
    """P03: the trim size at, before and behind the end of each header; the outer one is never cut."""
    rows = []
    headers = {"Ethernet": 14, "outer IPv6": 54, "inner IPv6": 94, "UDP": 102, "BTH": 114, "METH": 118, "TSETH": 122}
    headers |= {"RETH": 138, "ICRC of an empty packet": 142, "nothing": 0}
    for (name, end), delta in itertools.product(headers.items(), (-1, 0, 1)):
        for srh in (False, True):
            size = max(end + delta, 0)
            if name == "nothing" and delta == -1:
                continue
            fields: dict[str, object] = {"segments": [THEN], "left": 1} if srh else {}
            sent = _sized(400, **fields)
            cut = max(size, OUTER) + (SRH_BYTES if srh else 0)
            table = _node([*class_entries(), _raw(trim_bytes=size)])
            title = f"P03 trimmed to {size} bytes ({name} {delta:+d}){', SRH' if srh else ''}"
            rows.append(Row(title, table, 0, sent.at(0), (_after(sent).cut_out(2, cut),), counts=COUNTS))
    return rows


def _raw(**params: int) -> TableEntry:
    """Queues of port 2, full, with parameters that `QueueSettings` would refuse."""
    entry = queue_entry(2, Settings(data_limit=0))
    return TableEntry(PORT_QUEUES, entry.action, entry.match, {**entry.params, **params})


def marks() -> list[Row]:
    """What each class meets in a full data queue."""
    rows = []
    for ecn in range(4):
        for dscp, mark in ((TRIMMABLE, TRIMMED), (RETX, TRIMMED)):
            sent = _sized(300).with_(traffic_class=dscp << 2 | ecn)
            after = sent.with_(destination=THEN, hops=63)
            for table, text, with_mark in ((FULL, "", mark), (FULL_LASTHOP, ", last hop", LASTHOP)):
                out = after.with_(traffic_class=with_mark << 2 | ecn).cut_out(2, TRIM)
                name = f"P04 DSCP {dscp}, ECN {ecn}{text}: trimmed, ECN kept"
                rows.append(Row(name, table, 0, sent.at(0), (out,), counts=COUNTS))
            name = f"P04 DSCP {dscp}, ECN {ecn}, trimming off"
            rows.append(Row(name, NO_TRIMMING, 0, sent.at(0), drop="drop_trim_disabled"))
            name = f"DSCP {dscp}, ECN {ecn}, nothing fits"
            rows.append(Row(name, ALL_FULL, 0, sent.at(0), drop="drop_high_queue_full"))
        for dscp in (NO_TRIM, 1, 63):
            sent = _sized(300).with_(traffic_class=dscp << 2 | ecn)
            for table, text in ((FULL, "trimming on"), (NO_TRIMMING, "trimming off")):
                name = f"DSCP {dscp}, ECN {ecn}, may not be trimmed, {text}"
                rows.append(Row(name, table, 0, sent.at(0), drop="drop_queue_full"))
        for dscp in (CONTROL, TRIMMED, LASTHOP):
            sent = _sized(300).with_(traffic_class=dscp << 2 | ecn)
            out = sent.with_(destination=THEN, hops=63).out(2)
            name = f"P06 DSCP {dscp}, ECN {ecn}: another queue"
            rows.append(Row(name, FULL, 0, sent.at(0), (out,)))
            name = f"DSCP {dscp}, ECN {ecn}, high queue full"
            rows.append(Row(name, ALL_FULL, 0, sent.at(0), drop="drop_high_queue_full"))
    return rows


def congestion() -> list[Row]:
    """CE from the high threshold on: for ECT data alone, and toward a NIC only where the entry says so."""
    rows = []
    last_hop = _node(queues(2, ecn=False, ecn_low=0, ecn_high=0, last_hop=True))
    told = _node(queues(2, ecn=True, ecn_low=0, ecn_high=0, last_hop=True))
    tables = (("", MARKING, True), (", last hop", last_hop, False), (", last hop told to mark", told, True))
    for (text, table, marks_here), dscp, ecn in itertools.product(
        tables, (TRIMMABLE, NO_TRIM, RETX, 63, CONTROL, TRIMMED, LASTHOP), range(4)
    ):
        marked = marks_here and dscp not in (CONTROL, TRIMMED, LASTHOP) and ecn in (1, 2)
        sent = _sized(300).with_(traffic_class=dscp << 2 | ecn)
        after = sent.with_(destination=THEN, hops=63, traffic_class=dscp << 2 | (3 if marked else ecn))
        counts = ("ecn_marked[2]",) if marked else ()
        rows.append(Row(f"DSCP {dscp}, ECN {ecn}{text}", table, 0, sent.at(0), (after.out(2),), counts=counts))
    return rows


def whole() -> list[Row]:
    """A limit of one byte takes one frame of any size, in either queue; without an entry there is no limit."""
    rows = []
    for text, table in (("limit of 1", ROOMY), ("no entry", NODE)):
        for dscp, size in itertools.product((TRIMMABLE, CONTROL), (102, 9000)):
            sent = _sized(size, dscp)
            name = f"{text}, DSCP {dscp}, {size} bytes"
            rows.append(Row(name, table, 0, sent.at(0), (sent.with_(destination=THEN, hops=63).out(2),)))
    return rows


def other_shapes() -> list[Row]:
    """The length that counts is that of the frame as it leaves, and the header that is marked its outermost."""
    rows = []
    # Padding behind the packet: cut away, and the payload length stays below it.
    sent = _sized(TRIM - 20)
    for padding in (20, 21, 100):
        port, frame = _after(sent).out(2)
        out = (port, (frame + bytes(padding))[:TRIM])
        rows.append(Row(f"P04 {padding} bytes of padding", FULL, 0, sent.at(0) + bytes(padding), (out,), counts=COUNTS))
    # Transit, UDP alone inside.
    sent = Routed("2001:db8:0:2::9", inner=False, traffic_class=TRIMMABLE << 2, payload=bytes(500))
    out = sent.with_(hops=63, traffic_class=TRIMMED << 2).cut_out(2, TRIM)
    rows.append(Row("P04 plain IPv6", FULL, 0, sent.at(0), (out,), counts=COUNTS))
    # Decapsulated: 40 bytes shorter, and the class is that of the packet inside.
    for mode, destination, inner, outer in (("pipe", "fc00:0:102::", 4, 0), ("uniform", "fc00:0:103::", 0, 4)):
        for size in (TRIM - 1, TRIM, TRIM + 1, 800):
            fields = {"destination": destination, "traffic_class": outer << 2, "inner_class": inner << 2}
            sent = _sized(size + IPV6_BYTES).with_(**fields)
            port, frame = sent.with_(inner_hops=63, inner_class=TRIMMED << 2).inside_out(2)
            if size > TRIM:
                cut = bytearray(frame[:TRIM])
                cut[18:20] = (TRIM - OUTER).to_bytes(2, "big")
                frame = bytes(cut)
            name = f"P04 decapsulated to {size} bytes, {mode}"
            how = "first.USD" if mode == "pipe" else "first.USD_uniform"
            rows.append(Row(name, FULL, 0, sent.at(0), ((port, frame),), counts=(how, *COUNTS)))
    # PSP takes the SRH away, and with it what the SRH adds to the trim size.
    for size in (TRIM - 1, TRIM, TRIM + 1):
        sent = _sized(size + SRH_BYTES, segments=[THEN], left=1, destination="fc01::1")
        after = _after(sent).with_(segments=None)
        out = after.out(2) if size <= TRIM else after.cut_out(2, TRIM)
        counts = ("first.PSP", *COUNTS)
        rows.append(Row(f"P04 PSP leaves {size} bytes", FULL, 0, sent.at(0), (out,), counts=counts))
    # Another deployment's numbers.
    dscp = DscpMap(trimmable=10, no_trim=4, trimmable_retx=None, trimmed=33, trimmed_lasthop=None, control=48)
    table = _node([*class_entries(dscp), queue_entry(2, Settings(data_limit=0, ecn=False), last_hop=True, dscp=dscp)])
    sent = _sized(500, 10)
    rows.append(Row("another DSCP map", table, 0, sent.at(0), (_after(sent, 33).cut_out(2, TRIM),), counts=COUNTS))
    rows.append(Row("another DSCP map, NO_TRIM", table, 0, _sized(500, 4).at(0), drop="drop_queue_full"))
    for mark in (48, 33):
        sent = _sized(500, mark)
        rows.append(Row(f"another DSCP map, {mark}", table, 0, sent.at(0), (_after(sent, mark).out(2),)))
    # Without classes everything is data that may not be trimmed.
    bare = _node([queue_entry(2, Settings(data_limit=0))])
    rows += [
        Row(f"no classes, DSCP {dscp}", bare, 0, _sized(500, dscp).at(0), drop="drop_queue_full")
        for dscp in (TRIMMABLE, CONTROL)
    ]
    return rows


ROWS = [
    *sizes(),
    *header_boundaries(),
    *marks(),
    *congestion(),
    *whole(),
    *other_shapes(),
]
