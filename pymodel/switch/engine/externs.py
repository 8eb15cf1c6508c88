"""Counters, registers and meters of a running program.

The generated code reaches into `CounterArray.packets`, `CounterArray.bytes` and `RegisterArray.cells` itself; the
methods here are the control plane's side. An index outside an array changes nothing in the data plane, as in BMv2
built for debugging, and is an InputError for the control plane.
"""

from __future__ import annotations

from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.base.time import S

__all__ = ["CounterArray", "Meter", "MeterArray", "MeterRates", "RegisterArray"]

_WORD = (1 << 64) - 1


class CounterArray:
    """Counts packets, and bytes of frames as they entered the switch, in cells."""

    __slots__ = ("bytes", "name", "packets", "size")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.packets = [0] * size
        self.bytes = [0] * size

    def read(self, index: int) -> tuple[int, int]:
        """Packets and bytes of one cell."""
        self._check(index)
        return self.packets[index], self.bytes[index]

    def write(self, index: int, packets: int, octets: int) -> None:
        """Set one cell."""
        self._check(index)
        self.packets[index], self.bytes[index] = packets & _WORD, octets & _WORD

    def _check(self, index: int) -> None:
        if not 0 <= index < self.size:
            raise InputError(f"counter {self.name}", f"index {index}", f"0 to {self.size - 1}")


class RegisterArray:
    """Unsigned cells of `width` bits."""

    __slots__ = ("cells", "name", "size", "width")

    def __init__(self, name: str, size: int, width: int) -> None:
        self.name = name
        self.size = size
        self.width = width
        self.cells = [0] * size

    def read(self, index: int) -> int:
        """One cell."""
        self._check(index)
        return self.cells[index]

    def write(self, index: int, value: int) -> None:
        """Set one cell; InputError when the value is too wide."""
        self._check(index)
        if not 0 <= value < 1 << self.width:
            raise InputError(f"register {self.name}[{index}]", f"{value}", f"a value of {self.width} bits")
        self.cells[index] = value

    def _check(self, index: int) -> None:
        if not 0 <= index < self.size:
            raise InputError(f"register {self.name}", f"index {index}", f"0 to {self.size - 1}")


@dataclass(frozen=True, slots=True)
class MeterRates:
    """Rates in units a second and bursts in units, where a unit is a byte or a packet: committed, then peak."""

    cir: int
    cburst: int
    pir: int
    pburst: int


class _Bucket:
    """A token bucket whose tokens follow from the time since zero, so that no rounding adds up."""

    __slots__ = ("burst", "colour", "counted", "rate", "tokens")

    def __init__(self, rate: int, burst: int, colour: int) -> None:
        self.rate = rate
        self.burst = burst
        self.colour = colour
        self.tokens = burst
        self.counted = 0


class Meter:
    """A two-rate three-colour marker (RFC 2698), colour-blind; green (0) until rates are set.

    Like BMv2's it starts with full buckets, tests the peak bucket first, and takes nothing from the committed bucket
    for a packet that the peak bucket marks red.
    """

    __slots__ = ("_buckets", "rates")

    def __init__(self) -> None:
        self.rates: MeterRates | None = None
        self._buckets: tuple[_Bucket, ...] = ()

    def set(self, rates: MeterRates | None, where: str) -> None:
        """Set the rates, with full buckets; None makes the meter green again."""
        self.rates = rates
        self._buckets = ()
        if rates is None:
            return
        if min(rates.cir, rates.cburst, rates.pir, rates.pburst) < 0:
            raise InputError(where, f"{rates}", "rates and bursts of 0 or more")
        if rates.cir > rates.pir:
            raise InputError(where, f"committed rate {rates.cir}", f"at most the peak rate {rates.pir}")
        self._buckets = (_Bucket(rates.pir, rates.pburst, 2), _Bucket(rates.cir, rates.cburst, 1))

    def execute(self, now_ps: int, units: int) -> int:
        """The colour of a packet of `units` bytes (or 1 packet): 0 green, 1 yellow, 2 red."""
        for bucket in self._buckets:
            earned = now_ps * bucket.rate // S
            bucket.tokens = min(bucket.tokens + earned - bucket.counted, bucket.burst)
            bucket.counted = earned
            if bucket.tokens < units:
                return bucket.colour
            bucket.tokens -= units
        return 0


class MeterArray:
    """Meters in cells, which exist once their rates are set."""

    __slots__ = ("_meters", "name", "size", "unit")

    def __init__(self, name: str, size: int, unit: str) -> None:
        self.name = name
        self.size = size
        self.unit = unit
        self._meters: dict[int, Meter] = {}

    def execute(self, index: int, now_ps: int, length: int) -> int:
        """The colour of a packet of `length` bytes at one cell."""
        meter = self._meters.get(index)
        return 0 if meter is None else meter.execute(now_ps, length if self.unit == "bytes" else 1)

    def read(self, index: int) -> MeterRates | None:
        """The rates of one cell, None while it has none."""
        self._check(index)
        meter = self._meters.get(index)
        return None if meter is None else meter.rates

    def write(self, index: int, rates: MeterRates | None) -> None:
        """Set the rates of one cell; None lets every packet be green."""
        self._check(index)
        meter = Meter()
        meter.set(rates, f"meter {self.name}[{index}]")
        self._meters[index] = meter

    def _check(self, index: int) -> None:
        if not 0 <= index < self.size:
            raise InputError(f"meter {self.name}", f"index {index}", f"0 to {self.size - 1}")
