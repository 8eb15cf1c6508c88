"""Meters in virtual time, to the token; counters and registers as the control plane reads and writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import MS, S
from pymodel.switch.engine import MeterRates
from pymodel.switch.engine.externs import CounterArray, Meter, MeterArray, RegisterArray

GREEN, YELLOW, RED = 0, 1, 2


def test_an_unconfigured_meter_is_green() -> None:
    meter = Meter()
    assert [meter.execute(0, 10**9) for _ in range(3)] == [GREEN] * 3


def test_tokens_come_back_at_their_rate() -> None:
    """1000 packets a second committed, 2000 peak: a token each millisecond, two of the other."""
    meter = Meter()
    meter.set(MeterRates(1000, 1, 2000, 2), "meter")
    assert [meter.execute(0, 1) for _ in range(3)] == [GREEN, YELLOW, RED]
    assert meter.execute(MS // 2 - 1, 1) == RED
    assert meter.execute(MS // 2, 1) == YELLOW
    assert meter.execute(MS, 1) == GREEN
    assert meter.execute(MS, 1) == RED


def test_buckets_hold_no_more_than_their_burst() -> None:
    meter = Meter()
    meter.set(MeterRates(10, 3, 10, 3), "meter")
    assert [meter.execute(1000 * S, 1) for _ in range(4)] == [GREEN] * 3 + [RED]


def test_red_takes_nothing_from_the_committed_bucket() -> None:
    meter = Meter()
    meter.set(MeterRates(1, 100, 1, 50), "meter")
    assert meter.execute(0, 60) == RED
    assert meter.execute(0, 50) == GREEN


def test_no_rounding_adds_up() -> None:
    """3 tokens a second asked for at odd times: the burst of 1 and exactly 3 for each second of an hour."""
    meter = Meter()
    meter.set(MeterRates(3, 1, 10**6, 10**6), "meter")
    green = sum(meter.execute(step * S // 7, 1) == GREEN for step in range(1, 7 * 3600 + 1))
    assert green == 1 + 3 * 3600


@pytest.mark.parametrize("rates", [MeterRates(2, 1, 1, 1), MeterRates(-1, 1, 1, 1), MeterRates(1, 1, 1, -1)])
def test_wrong_rates_are_refused(rates: MeterRates) -> None:
    with pytest.raises(InputError, match="meter m"):
        Meter().set(rates, "meter m")


def test_meter_cells_count_packets_or_bytes() -> None:
    packets, octets = MeterArray("p", 4, "packets"), MeterArray("b", 4, "bytes")
    for array in (packets, octets):
        array.write(1, MeterRates(1, 100, 1, 100))
        assert array.execute(2, 0, 500) == GREEN
    assert packets.execute(1, 0, 500) == GREEN
    assert octets.execute(1, 0, 500) == RED
    assert packets.read(1) == MeterRates(1, 100, 1, 100)
    assert packets.read(0) is None


def test_counters_wrap_at_64_bits_when_written() -> None:
    counter = CounterArray("c", 2)
    counter.write(1, 2**64 + 5, 7)
    assert counter.read(1) == (5, 7)
    assert counter.read(0) == (0, 0)


@pytest.mark.parametrize(
    "use",
    [
        lambda: CounterArray("x", 2).read(2),
        lambda: CounterArray("x", 2).write(-1, 0, 0),
        lambda: RegisterArray("x", 2, 8).read(2),
        lambda: RegisterArray("x", 2, 8).write(0, 256),
        lambda: RegisterArray("x", 2, 8).write(2, 0),
        lambda: MeterArray("x", 2, "bytes").read(2),
        lambda: MeterArray("x", 2, "bytes").write(5, None),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(use: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="x"):
        use()
