"""Where the program's queues differ from those of a switch ASIC, measured; docs/switch.md has the same numbers."""

from __future__ import annotations

import re

import pytest

from pymodel.base.time import US, S, serialisation_ps
from pymodel.base.toolpath import ROOT
from pymodel.bench.nightly import report_figure
from pymodel.paths.tables import QueueSettings, class_entries, queue_entry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.wire.spec import DATA_PRIORITY, HIGH_PRIORITY, Ecn
from tests.switch.held import DEPTH
from tests.switch.packets import Routed
from tests.switch.row import entries, ports, route

RATE = 100 * 10**9
SIZE, TRIM = 4238, 144
PORT = 2
PAGE = (ROOT / "docs" / "switch.md").read_text(encoding="utf-8")


def frame(size: int = SIZE) -> bytes:
    sent = Routed("2001:db8:0:2::2", traffic_class=4 << 2 | Ecn.ECT0, inner=False, payload=b"")
    return sent.with_(payload=bytes(size - len(sent.at(0)))).at(0)


def program(switch: EmbeddedSwitch | Bmv2Switch, settings: QueueSettings) -> None:
    switch.load(mrc_switch())
    switch.write(entries(ports(), route("2001:db8:0:2::/64", PORT), class_entries(), [queue_entry(PORT, settings)]))


def overload(times: int, gaps: int, settings: QueueSettings) -> tuple[list[tuple[int, int]], int]:
    """(Time in ps, bytes) of what leaves a link of 100 Gb/s that is offered `times` its rate, and the time it had."""
    gap = serialisation_ps(SIZE, RATE)
    data = frame()
    with EmbeddedSwitch() as switch:
        program(switch, settings)
        for priority in (DATA_PRIORITY, HIGH_PRIORITY):
            switch.set_queue(PORT, priority, RATE, "bit/s", DEPTH)
        for number in range(gaps * times):
            switch.inject(0, data, number * gap // times)
        out = switch.drain(gaps * gap)
    return [(at, len(left)) for at, _, left in out], gaps * gap


@pytest.mark.slow
def test_trimmed_frames_share_the_link_with_data() -> None:
    """In bit/s as in an ASIC. On BMv2 each queue has a packet rate of its own, so there they take nothing from data."""
    rows = re.findall(r"^\| (\d+) times the link \| ([\d.]+) % \| ([\d.]+) % \|$", PAGE, re.M)
    measured = []
    for times in (2, 4, 8, 16):
        out, had = overload(times, 600, QueueSettings(ecn=False, high_limit=1 << 30))
        # From when the queue is full on.
        begins = had // 3
        shares = (
            100 * sum(size for at, size in out if size == wanted and at > begins) * 8 * S / RATE / (had - begins)
            for wanted in (SIZE, TRIM)
        )
        measured.append((str(times), *(f"{share:.1f}" for share in shares)))
    assert rows == measured


@pytest.mark.slow
def test_a_mark_made_at_enqueue_leaves_later_than_one_made_at_dequeue() -> None:
    """Twice the link from time 0. The program marks the frame that comes; an ASIC may mark the one that leaves."""
    threshold = 30_000
    settings = QueueSettings(data_limit=1 << 30, ecn_low=threshold, ecn_high=threshold)
    gap = serialisation_ps(SIZE, RATE)
    data = frame()
    with EmbeddedSwitch() as switch:
        program(switch, settings)
        switch.set_queue(PORT, DATA_PRIORITY, RATE, "bit/s", DEPTH)
        for number in range(100):
            switch.inject(0, data, number * gap // 2)
        out = switch.drain(1 << 62)
    enqueue = next(at for at, _, left in out if left[15] >> 4 & 3 == Ecn.CE)
    # At each departure: what has come by then and has not begun to leave.
    starts = [at - gap for at, _, _ in out]
    dequeue = next(
        start + gap
        for place, start in enumerate(starts)
        if (sum(number * gap // 2 <= start for number in range(100)) - place - 1) * SIZE >= threshold
    )
    (text,) = re.findall(r"at\s+enqueue the first mark leaves after ([\d.]+ us), at dequeue after ([\d.]+ us)", PAGE)
    assert text == (f"{enqueue / US:.2f} us", f"{dequeue / US:.2f} us")


@pytest.mark.nightly
@pytest.mark.bmv2
def test_bursts_on_bmv2_lose_nothing_and_leave_no_byte_behind() -> None:
    """60, 2,000 and 20,000 frames of 1,000 bytes at 1,000 packets a second into a limit of 8,000 bytes."""
    with Bmv2Switch() as switch:
        for burst in (60, 2_000, 20_000):
            program(switch, QueueSettings(data_limit=8_000, high_limit=1 << 30, ecn=False))
            switch.set_queue(PORT, DATA_PRIORITY, 1_000, "pps", DEPTH)
            for _ in range(burst):
                switch.inject(0, frame(1_000), 0)
            sizes = [len(left) for _, _, left in switch.drain(0)]
            full, trimmed = sizes.count(1_000), sizes.count(TRIM)
            assert full + trimmed == burst
            assert full >= 8
            # A single byte in the books would trim this one.
            program_limit = queue_entry(PORT, QueueSettings(data_limit=1, ecn=False))
            switch.control.put([program_limit])
            switch.inject(0, frame(1_000), 0)
            assert [len(left) for _, _, left in switch.drain(0)] == [1_000]
            report_figure(f"queues.bmv2.burst.{burst}", f"{full} whole, {trimmed} trimmed, 0 lost")
