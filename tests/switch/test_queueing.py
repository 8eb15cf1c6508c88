"""Queues on both targets, with what waits in them known to the byte: limits, trimming, ECN, and nothing lost.

One burst of some thousand frames goes into queues that hold still (`held.py`); each test looks at one port.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pymodel.base.errors import InputError
from pymodel.paths.tables import PORT_QUEUES, QueueSettings, class_entries, queue_entry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from pymodel.wire.spec import CPU_PORT, DATA_PRIORITY, HIGH_PRIORITY, DscpMap, Ecn
from tests.switch.held import DEPTH, HOLD_S, burst_into_held_queues, by_port
from tests.switch.packets import Routed
from tests.switch.row import entries, ports, punts, route, sid, unknown

pytestmark = pytest.mark.slow

DSCP = DscpMap()
TRIMMABLE, RETX = DSCP.trimmable, DSCP.trimmable_retx
assert TRIMMABLE is not None
assert RETX is not None
TRIM = 144
SIZE = 1000
"""Bytes of most frames."""

LIMIT, THRESHOLDS, STEP, DRAW, BOTH, DROP, OFF = range(1, 8)
"""Egress ports, by what is looked at there."""

DRAWN = 2_500
"""Frames whose marks are drawn."""

SETTINGS = {
    LIMIT: QueueSettings(data_limit=8 * SIZE - 1, ecn=False),
    THRESHOLDS: QueueSettings(ecn_low=10 * SIZE, ecn_high=20 * SIZE),
    STEP: QueueSettings(ecn_low=15 * SIZE, ecn_high=15 * SIZE),
    DRAW: QueueSettings(data_limit=1 << 30, ecn_low=0, ecn_high=2 * DRAWN * 200),
    BOTH: QueueSettings(data_limit=3 * SIZE, high_limit=10 * SIZE, ecn_low=1, ecn_high=1),
    DROP: QueueSettings(data_limit=5 * SIZE),
    OFF: QueueSettings(data_limit=5 * SIZE, trim_bytes=None),
}


def table() -> tuple:  # type: ignore[type-arg]
    return entries(
        ports(0, *SETTINGS),
        punts(),
        sid("fc00:0:101::/48", "uN"),
        (route(f"fc00:0:{0x2000 + port:x}::/48", port) for port in SETTINGS),
        unknown(),
        class_entries(),
        (queue_entry(port, settings) for port, settings in SETTINGS.items()),
    )


def packet(port: int, number: int, dscp: int, ecn: int = Ecn.ECT0, size: int = SIZE) -> Routed:
    """A packet of `size` bytes for an egress port, its number in its payload."""
    sent = Routed(f"fc00:0:101:{0x2000 + port:x}:42::", traffic_class=dscp << 2 | ecn, payload=b"")
    return sent.with_(payload=number.to_bytes(4, "big") + bytes(size - len(sent.at(0)) - 4))


def after(sent: Routed, dscp: int | None = None, ecn: int | None = None) -> Routed:
    """`sent` behind the switch, with another DSCP or ECN."""
    usids = sent.destination.split(":")
    kept = (sent.traffic_class >> 2 if dscp is None else dscp) << 2 | (sent.traffic_class & 3 if ecn is None else ecn)
    return sent.with_(destination=f"fc00:0:{usids[3]}:42::", hops=sent.hops - 1, traffic_class=kept)


MANY = range(60)
SENT: dict[int, list[Routed]] = {
    LIMIT: [packet(LIMIT, number, (TRIMMABLE, RETX)[number % 2]) for number in MANY],
    THRESHOLDS: [packet(THRESHOLDS, number, TRIMMABLE, Ecn.ECT1) for number in MANY],
    STEP: [packet(STEP, number, TRIMMABLE, number % 4) for number in MANY],
    DRAW: [packet(DRAW, number, TRIMMABLE, size=200) for number in range(DRAWN)],
    BOTH: [packet(BOTH, number, DSCP.control if number < 20 else TRIMMABLE) for number in MANY],
    DROP: [packet(DROP, number, (DSCP.no_trim, 63)[number % 2]) for number in MANY],
    OFF: [packet(OFF, number, TRIMMABLE) for number in MANY],
}
HELD = [(port, DATA_PRIORITY) for port in SETTINGS] + [(BOTH, HIGH_PRIORITY)]


@dataclass(frozen=True, slots=True)
class Run:
    """What became of the burst: frames by port, and what it added to the counters (none was there before)."""

    out: dict[int, list[bytes]]
    counters: dict[str, Count]


@pytest.fixture(scope="module")
def run(switch: EmbeddedSwitch | Bmv2Switch) -> Iterator[Run]:
    """The burst, on each target. Its frames come in turn for all ports, as they would."""
    switch.load(mrc_switch())
    length = max(map(len, SENT.values()))
    mixed = [sent[number] for number in range(length) for sent in SENT.values() if number < len(sent)]
    out = burst_into_held_queues(switch, table(), HELD, [(0, sent.at(0)) for sent in mixed])
    yield Run(by_port(out), switch.counters())
    switch.load(mrc_switch())


def expected(port: int, *routed: Routed) -> list[bytes]:
    return [one.out(port)[1] for one in routed]


def test_a_full_queue_trims_what_may_be_trimmed(run: Run) -> None:
    """Depths 0, 1000 to 7000 are below the limit of 7,999; trimmed frames leave ahead of those that wait."""
    full, rest = SENT[LIMIT][:8], SENT[LIMIT][8:]
    cut = [after(sent, DSCP.trimmed).cut_out(LIMIT, TRIM)[1] for sent in rest]
    assert run.out[LIMIT] == cut + expected(LIMIT, *map(after, full))
    assert run.counters[f"trimmed[{LIMIT}]"] == Count(len(rest), len(rest) * SIZE)


def test_below_the_low_threshold_nothing_is_marked_and_from_the_high_one_on_everything(run: Run) -> None:
    sent, out = SENT[THRESHOLDS], run.out[THRESHOLDS]
    # At the low threshold itself the probability is still 0.
    assert out[:11] == expected(THRESHOLDS, *map(after, sent[:11]))
    assert out[20:] == expected(THRESHOLDS, *(after(one, ecn=Ecn.CE) for one in sent[20:]))
    for one, frame in zip(sent[11:20], out[11:20], strict=True):
        assert frame in expected(THRESHOLDS, after(one), after(one, ecn=Ecn.CE))
    marked = run.counters[f"ecn_marked[{THRESHOLDS}]"].packets
    assert marked == len(out) - sum(
        frame in expected(THRESHOLDS, after(one)) for one, frame in zip(sent, out, strict=True)
    )


def test_equal_thresholds_are_a_step_and_only_ect_is_marked(run: Run) -> None:
    kept, marked = SENT[STEP][:15], SENT[STEP][15:]
    frames = [*map(after, kept)]
    frames += [after(one, ecn=Ecn.CE if one.traffic_class & 3 in (Ecn.ECT0, Ecn.ECT1) else None) for one in marked]
    assert run.out[STEP] == expected(STEP, *frames)
    # CE came as CE: it is not counted again.
    changed = sum(one.traffic_class & 3 in (Ecn.ECT0, Ecn.ECT1) for one in marked)
    assert run.counters[f"ecn_marked[{STEP}]"].packets == changed


def test_between_the_thresholds_the_fraction_of_marks_is_that_of_the_depth(run: Run) -> None:
    """Frame number n finds 200 n bytes of 2 x 2,500 x 200: it is marked with n / 5,000. Five sigma."""
    chances = [number / (2 * DRAWN) for number in range(DRAWN)]
    mean, deviation = sum(chances), math.sqrt(sum(chance * (1 - chance) for chance in chances))
    marks = [frame[15] >> 4 & 3 == Ecn.CE for frame in run.out[DRAW]]
    assert abs(sum(marks) - mean) < 5 * deviation
    # The slope too: the second half has three times the marks of the first.
    half = DRAWN // 2
    mean_of_half = sum(chances[:half])
    assert abs(sum(marks[:half]) - mean_of_half) < 5 * math.sqrt(mean_of_half)
    assert run.counters[f"ecn_marked[{DRAW}]"].packets == sum(marks)
    assert len(marks) == DRAWN


def test_p06_what_waits_in_the_high_queue_is_not_data(run: Run) -> None:
    """20 control frames against a limit of 10; then data finds its queue empty, and no room for what it is cut to."""
    control, data = SENT[BOTH][:10], SENT[BOTH][20:]
    first, *marked = data[:3]
    frames = [*map(after, control), after(first), *(after(one, ecn=Ecn.CE) for one in marked)]
    assert Counter(run.out[BOTH]) == Counter(expected(BOTH, *frames))
    assert run.counters["drop_high_queue_full"] == Count(10 + len(data) - 3, (10 + len(data) - 3) * SIZE)


def test_what_may_not_be_trimmed_is_dropped(run: Run) -> None:
    assert run.out[DROP] == expected(DROP, *map(after, SENT[DROP][:5]))
    assert run.counters["drop_queue_full"] == Count(55, 55 * SIZE)


def test_a_port_that_does_not_trim_drops(run: Run) -> None:
    assert run.out[OFF] == expected(OFF, *map(after, SENT[OFF][:5]))
    assert run.counters["drop_trim_disabled"] == Count(55, 55 * SIZE)


def test_packets_in_are_packets_forwarded_trimmed_punted_and_every_drop(run: Run) -> None:
    """Nothing is lost behind the program's back, and no frame counts twice."""
    total: Counter[str] = Counter()
    for name, count in run.counters.items():
        total[name.partition("[")[0]] += count.packets
    drops = sum(count for name, count in total.items() if name.startswith("drop_"))
    punted = run.counters.get(f"port_out[{CPU_PORT}]", Count(0, 0)).packets
    forwarded = total["port_out"] - punted - total["trimmed"]
    ahead = (HOLD_S + 1) * len(HELD)
    assert total["port_in"] == ahead + sum(map(len, SENT.values()))
    assert total["port_in"] == forwarded + total["trimmed"] + punted + drops
    assert min(forwarded, total["trimmed"], drops) > 0


def test_no_byte_stays_behind_in_the_books(run: Run, switch: EmbeddedSwitch | Bmv2Switch) -> None:
    """After the burst a limit of one byte still takes a frame in each queue: what was added was taken away."""
    assert run.out
    least = QueueSettings(data_limit=1, high_limit=1, ecn=False)
    kept = (entry for entry in table() if entry.table != PORT_QUEUES)
    switch.control.program([*kept, *(queue_entry(port, least) for port in SETTINGS)])
    for port in SETTINGS:
        for dscp in (TRIMMABLE, DSCP.control):
            sent = packet(port, 0, dscp)
            switch.inject(0, sent.at(0), 2 * HOLD_S * 10**12)
            assert [frame for _, _, frame in switch.drain(2 * HOLD_S * 10**12)] == expected(port, after(sent))


def test_p05_a_switch_whose_queues_cannot_be_set_says_so(switch: EmbeddedSwitch | Bmv2Switch) -> None:
    with pytest.raises(InputError, match="queue"):
        switch.set_queue(LIMIT, HIGH_PRIORITY + 1, 1, "pps", DEPTH)
    with pytest.raises(InputError, match="queue"):
        switch.set_queue(1 << 9, DATA_PRIORITY, 1, "pps", DEPTH)
