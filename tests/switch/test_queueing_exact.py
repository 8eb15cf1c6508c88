"""One link in bit/s, shared by strict priority, in virtual time: depth, waiting time and order, computed by hand.

The embedded target alone has this; BMv2 gives each queue a packet rate of its own (`docs/bmv2.md`).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from pymodel.base.time import NS, US
from pymodel.paths.tables import QueueSettings, TableEntry, class_entries, queue_entry
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.wire.spec import CPU_PORT, DATA_PRIORITY, HIGH_PRIORITY, DscpMap, Ecn
from tests.switch.held import DEPTH, wait_for
from tests.switch.packets import Routed
from tests.switch.row import entries, ports, route, sid

DSCP = DscpMap()
DATA, RETX, NO_TRIM, CONTROL = 4, 8, 0, 46
PORT = 2
TRIM = 144
GIGABIT = 10**9
BYTE_PS = 8_000
"""One byte on a link of 1 Gb/s."""


@pytest.fixture
def switch() -> Iterator[EmbeddedSwitch]:
    with EmbeddedSwitch(seed=7) as switch:
        switch.load(mrc_switch())
        yield switch


def program(switch: EmbeddedSwitch, settings: QueueSettings, rate: int = GIGABIT) -> None:
    table: tuple[TableEntry, ...] = entries(
        ports(), route("2001:db8:0:2::/64", PORT), class_entries(), [queue_entry(PORT, settings)]
    )
    switch.write(table)
    for priority in (DATA_PRIORITY, HIGH_PRIORITY):
        switch.set_queue(PORT, priority, rate, "bit/s", DEPTH)


def packet(number: int, size: int, dscp: int = DATA, ecn: int = Ecn.ECT0) -> Routed:
    sent = Routed("2001:db8:0:2::2", traffic_class=dscp << 2 | ecn, inner=False, payload=b"")
    return sent.with_(payload=number.to_bytes(4, "big") + bytes(size - len(sent.at(0)) - 4))


def forwarded(sent: Routed, *, dscp: int | None = None, ecn: int | None = None) -> Routed:
    kept = (sent.traffic_class >> 2 if dscp is None else dscp) << 2 | (sent.traffic_class & 3 if ecn is None else ecn)
    return sent.with_(hops=63, traffic_class=kept)


def depths(switch: EmbeddedSwitch) -> tuple[int, int]:
    """Bytes in the data queue and in the high queue, as the program has counted them."""
    cells = switch.engine.registers["queue_bytes"]
    return cells.read(2 * PORT), cells.read(2 * PORT + 1)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_ten_frames_by_hand(switch: EmbeddedSwitch) -> None:
    """1 Gb/s: 1,000 bytes take 8 us, 500 take 4 us, 144 take 1.152 us. Limit 2,000 bytes, ECN from 1,000 on."""
    program(switch, QueueSettings(data_limit=2_000, ecn_low=1_000, ecn_high=1_000))
    steps = [
        # (arrival in us, bytes, DSCP), (data, high) bytes that wait after it.
        ((0, 1000, DATA), (0, 0)),  # 0: on the link until 8
        ((1, 1000, DATA), (1000, 0)),  # 1: found 0 waiting
        ((2, 1000, DATA), (2000, 0)),  # 2: found 1,000: marked
        ((3, 1000, DATA), (2000, 144)),  # 3: found 2,000: trimmed
        ((4, 500, CONTROL), (2000, 644)),  # 4
        ((5, 1000, NO_TRIM), (2000, 644)),  # 5: found 2,000: dropped
        ((6, 120, RETX), (2000, 764)),  # 6: found 2,000: shorter than the trim size, only re-marked
        # At 8 the link takes the trimmed 3 (to 9.152), then control 4 (to 13.152), then 6 (0.96 us, to 14.112),
        # and only then data: 1 (to 22.112).
        ((15, 1000, DATA), (2000, 0)),  # 7: found 1,000 (number 2): marked
        ((21, 1000, DATA), (2000, 144)),  # 8: found 2,000: trimmed; at 22.112 it goes first, to 23.264
        ((40, 1000, DATA), (0, 0)),  # 9: at 39.264 the link was free of 2 (31.264) and 7 (39.264): at once
    ]
    sent = []
    for number, ((at_us, size, dscp), waiting) in enumerate(steps):
        sent.append(packet(number, size, dscp))
        switch.inject(0, sent[-1].at(0), at_us * US)
        assert depths(switch) == waiting, number
    out = switch.drain(100 * US)
    assert depths(switch) == (0, 0)
    cut = DSCP.trimmed
    assert out == [
        (8_000 * NS, *forwarded(sent[0]).out(PORT)),
        (9_152 * NS, *forwarded(sent[3], dscp=cut).cut_out(PORT, TRIM)),
        (13_152 * NS, *forwarded(sent[4]).out(PORT)),
        (14_112 * NS, *forwarded(sent[6], dscp=cut).out(PORT)),
        (22_112 * NS, *forwarded(sent[1]).out(PORT)),
        (23_264 * NS, *forwarded(sent[8], dscp=cut).cut_out(PORT, TRIM)),
        (31_264 * NS, *forwarded(sent[2], ecn=Ecn.CE).out(PORT)),
        (39_264 * NS, *forwarded(sent[7], ecn=Ecn.CE).out(PORT)),
        (48_000 * NS, *forwarded(sent[9]).out(PORT)),
    ]
    counters = switch.counters()
    assert counters["drop_queue_full"].packets == 1
    assert counters[f"trimmed[{PORT}]"].packets == 3
    assert counters[f"ecn_marked[{PORT}]"].packets == 2


def test_what_waits_is_the_frame_as_it_leaves(switch: EmbeddedSwitch) -> None:
    """Decapsulated, without the SRH that PSP or USP takes away, without the packet_out header that brought it."""
    table = entries(
        ports(),
        sid("fc00:0:102::/48", "uN", usd=1),
        sid("fc01::1/128", "End", psp=1),
        sid("fc00:0:e001::/48", "uA", usp=1, port=PORT),
        route("2001:db8:0:2::/64", PORT),
        [queue_entry(PORT, QueueSettings(ecn=False))],
    )
    switch.write(table)
    switch.set_queue(PORT, DATA_PRIORITY, 1, "bit/s", DEPTH)
    srh = {"segments": ["2001:db8:0:2::9"]}
    frames = [
        packet(0, 300).at(0),  # on the link from now on
        Routed("fc00:0:102::").at(0),
        Routed("fc00:0:102::", **srh).at(0),
        Routed("fc01::1", **srh, left=1).at(0),
        Routed("fc00:0:e001::", **srh, inner=False).at(0),
    ]
    shorter = [0, 40, 64, 24, 24]
    waiting = 0
    for number, (frame, less) in enumerate(zip(frames, shorter, strict=True)):
        switch.inject(0, frame, 0)
        waiting += len(frame) - less if number else 0
        assert depths(switch) == (waiting, 0), number
    switch.control.client.send_packet(frames[0], egress_port=PORT)
    wait_for(switch, CPU_PORT, 1)
    assert depths(switch) == (waiting + len(frames[0]), 0)
    sizes = [len(frame) for _, _, frame in switch.drain(1 << 62)]
    assert sizes == [len(frame) - less for frame, less in zip([*frames, frames[0]], [*shorter, 0], strict=True)]


# --- by a short model -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Link:
    """The port's link and what waits for it: (size, frame), high and data. `depth` is what waits, in bytes."""

    settings: QueueSettings
    rate: int
    free: int = 0
    waiting: dict[str, deque[tuple[int, bytes]]] = field(default_factory=lambda: {"high": deque(), "data": deque()})
    out: list[tuple[int, int, bytes]] = field(default_factory=list)

    def depth(self, queue: str) -> int:
        return sum(size for size, _ in self.waiting[queue])

    def pass_time(self, until: int) -> None:
        """The link takes what waits, high first, whenever it is free."""
        while self.free <= until and (queue := self.waiting["high"] or self.waiting["data"]):
            size, frame = queue.popleft()
            self.free += -(-size * 8 * 10**12 // self.rate)
            self.out.append((self.free, PORT, frame))

    def arrive(self, sent: Routed, now: int) -> None:
        self.pass_time(now)
        self.free = max(self.free, now)
        dscp, ecn, size = sent.traffic_class >> 2, sent.traffic_class & 3, len(sent.at(0))
        limits = self.settings
        if dscp == CONTROL:
            if self.depth("high") < limits.high_limit:
                self.waiting["high"].append((size, forwarded(sent).out(PORT)[1]))
        elif self.depth("data") < limits.data_limit:
            # The thresholds are equal, so no draw decides.
            marked = ecn in (Ecn.ECT0, Ecn.ECT1) and self.depth("data") >= limits.ecn_high
            after = forwarded(sent, ecn=Ecn.CE if marked else None)
            self.waiting["data"].append((size, after.out(PORT)[1]))
        elif dscp != NO_TRIM and self.depth("high") < limits.high_limit:
            after = forwarded(sent, dscp=DSCP.trimmed)
            frame = after.out(PORT)[1] if size <= TRIM else after.cut_out(PORT, TRIM)[1]
            self.waiting["high"].append((len(frame), frame))
        self.pass_time(now)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_arrivals_leave_as_the_model_says(switch: EmbeddedSwitch, seed: int) -> None:
    """Loads from idle to three times the link, sizes around the trim size, rates at which no time is a whole number."""
    rng = random.Random(seed)
    rate = rng.choice((GIGABIT, 25 * GIGABIT, 100 * GIGABIT, 7_777_777_777))
    limit = rng.randrange(5_000, 30_000)
    threshold = rng.randrange(1_000, limit // 2)
    settings = QueueSettings(
        data_limit=limit,
        high_limit=rng.randrange(500, 3_000),
        ecn_low=threshold,
        ecn_high=threshold,
    )
    program(switch, settings, rate)
    link = Link(settings, rate)
    now = 0
    for number in range(450):
        load = (0.5, 1, 3)[number // 150]
        size = rng.choice((102, TRIM - 1, TRIM, TRIM + 1, 600, 1500))
        now += int(rng.expovariate(load) * 600 * 8 * 10**12 / rate)
        sent = packet(number, size, rng.choice((DATA, DATA, DATA, RETX, NO_TRIM, CONTROL)), rng.randrange(4))
        link.arrive(sent, now)
        switch.inject(0, sent.at(0), now)
        assert depths(switch) == (link.depth("data"), link.depth("high")), number
    link.pass_time(1 << 62)
    assert switch.drain(1 << 62) == link.out
    counters = switch.counters()
    assert sum(count.packets for name, count in counters.items() if name.startswith("drop_")) == 450 - len(link.out)
    assert counters[f"trimmed[{PORT}]"].packets > 0
    assert counters[f"ecn_marked[{PORT}]"].packets > 0


@pytest.mark.parametrize(
    ("low", "high", "depth", "chance"),
    [(0, 2, 0, 0), (0, 2, 1, 1 / 2), (0, 2, 2, 1), (1, 3, 1, 0), (1, 3, 2, 1 / 2), (0, 4, 1, 1 / 4), (0, 4, 3, 3 / 4)],
)
def test_the_chance_of_a_mark_is_exact_to_the_byte(
    switch: EmbeddedSwitch, low: int, high: int, depth: int, chance: float
) -> None:
    """Thresholds so near that one byte more or less would show, and a depth that no frame could make."""
    frames = 400
    program(switch, QueueSettings(ecn_low=low, ecn_high=high))
    sent = packet(0, 200).at(0)
    for _ in range(frames):
        switch.engine.registers["queue_bytes"].write(2 * PORT, depth)
        switch.inject(0, sent, 0)
    # What is taken away in the end is more than was left in the register: it holds 32 bits, and nobody looks any more.
    marks = sum(frame[15] >> 4 & 3 == Ecn.CE for _, _, frame in switch.drain(1 << 62))
    assert abs(marks - frames * chance) <= 5 * (frames * chance * (1 - chance)) ** 0.5


def test_the_marks_between_the_thresholds_follow_the_seed() -> None:
    def marks(seed: int) -> list[int]:
        with EmbeddedSwitch(seed=seed) as switch:
            switch.load(mrc_switch())
            program(switch, QueueSettings(data_limit=1 << 30, ecn_low=0, ecn_high=400_000))
            for number in range(300):
                switch.inject(0, packet(number, 1000).at(0), 0)
            return [frame[15] >> 4 & 3 for _, _, frame in switch.drain(1 << 62)]

    assert marks(1) == marks(1)
    assert marks(1) != marks(2)
    assert 0 < marks(1).count(Ecn.CE) < 300


def test_a_queue_whose_depth_nobody_set_loses_nothing(switch: EmbeddedSwitch) -> None:
    """The rate of the link is set with the depth of the data queue alone; trimmed frames wait in the high one."""
    switch.write(
        entries(
            ports(),
            route("2001:db8:0:2::/64", PORT),
            class_entries(),
            [queue_entry(PORT, QueueSettings(data_limit=1, ecn=False))],
        )
    )
    switch.set_queue(PORT, DATA_PRIORITY, GIGABIT, "bit/s", DEPTH)
    number = 500
    for place in range(number):
        switch.inject(0, packet(place, 1_000).at(0), 0)
    out = switch.drain(number * 1_000 * BYTE_PS)
    # One is on the link, one waits as data, and the rest is cut.
    assert [len(frame) for _, _, frame in out] == [1_000, *[TRIM] * (number - 2), 1_000]
    counts = switch.counters()
    assert (counts["port_in[0]"].packets, counts[f"port_out[{PORT}]"].packets) == (number, number)
    assert counts[f"trimmed[{PORT}]"].packets == number - 2
