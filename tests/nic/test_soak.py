"""A long time of bad weather: memory equal, nothing less than nothing in flight, memory use flat."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pymodel.base.time import MS, US
from pymodel.bench.nightly import report_figure
from pymodel.nic.receive_window import ArrivalClass, ReceiveWindow
from tests.nic.soak import Faults, Soak, run

GROWTH_MAX = 4_000
"""Blocks by which two moments of the same load may differ: what is in flight, in queues and waiting for memory."""


def soaked(seed, packets, faults=Faults()):  # noqa: B008
    soak = Soak(seed, packets, faults)
    blocks = run(soak)
    soak.check_rest()
    assert soak.packets >= packets
    return soak, blocks


@pytest.mark.slow
def test_200_000_packets_through_every_fault(record_property):
    soak, blocks = soaked(1, 200_000)
    happened = ", ".join(f"{count:,} {kind}" for kind, count in sorted(soak.happened.items()))
    record_property("print", f"NIC model: soaked in {soak.packets:,} packets: {happened}")
    assert max(blocks[1:]) - blocks[1] < GROWTH_MAX, blocks
    least = {"lost": 1000, "repeated": 1000, "damaged": 1000, "trimmed": 1000, "marked": 1000, "port down": 50}
    assert {kind: soak.happened[kind] >= count for kind, count in least.items()} == dict.fromkeys(least, True)


CLIMATES = [
    ("no fault", Faults(0, 0, 0, 0, 0, 1, 1, 1 << 60)),
    ("loss", Faults(0.2, 0, 0, 0, 0)),
    ("everything repeated", Faults(0, 0.9, 0, 0, 0)),
    ("trimming", Faults(0, 0, 0.4, 0, 0)),
    ("ECN", Faults(0, 0, 0, 0.9, 0)),
    ("damage", Faults(0, 0, 0, 0, 0.2)),
    ("late by hundreds of packets", Faults(0, 0, 0, 0, 0, 200 * US)),
    ("ports down most of the time", Faults(0, 0, 0, 0, 0, 6 * US, 2 * MS, 200 * US)),
]


@pytest.mark.parametrize("faults", [row[1] for row in CLIMATES], ids=[row[0] for row in CLIMATES])
def test_one_fault_often(faults):
    soaked(2, 2_000, faults)


def test_the_same_seed_gives_the_same_weather():
    first, second = (soaked(7, 3_000)[0] for _ in range(2))
    assert (first.now_ps, first.packets, first.happened) == (second.now_ps, second.packets, second.happened)
    other = soaked(8, 3_000)[0]
    assert other.now_ps != first.now_ps


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_ten_million_packets_through_every_fault():
    draw = random.Random(3)
    base = Faults()
    blocks, packets, happened = [], 0, 0
    for seed in range(4):  # each long enough for message numbers to wrap
        faults = replace(base, jitter_ps=draw.randrange(1, 60) * US, loss=draw.choice((0.001, 0.01, 0.05)))
        soak, taken = soaked(seed + 1, 2_500_000, faults)
        assert max(taken[1:]) - taken[1] < GROWTH_MAX, taken
        assert min(side.posted for side in soak.sides) > 1 << 16
        blocks.append(taken[-1])
        packets += soak.packets
        happened += sum(soak.happened.values())
    assert blocks[-1] - blocks[1] < GROWTH_MAX, blocks
    report_figure("packets soaked", packets)
    report_figure("faults in the soak", happened)


# Can the soak see what it looks for?


def test_duplicates_that_are_placed_are_found(monkeypatch):
    classify = ReceiveWindow.classify

    def forgetful(self, psn):
        kind = classify(self, psn)
        return ArrivalClass.NEW if kind is ArrivalClass.DUPLICATE else kind

    monkeypatch.setattr(ReceiveWindow, "classify", forgetful)
    with pytest.raises(KeyError):
        soaked(1, 5_000)


def test_one_block_kept_a_packet_is_found(monkeypatch):
    mark, kept = ReceiveWindow.mark, []

    def hoarding(self, psn):
        kept.append(object())
        mark(self, psn)

    monkeypatch.setattr(ReceiveWindow, "mark", hoarding)
    _, blocks = soaked(1, 10_000)
    assert max(blocks[1:]) - blocks[1] > GROWTH_MAX
