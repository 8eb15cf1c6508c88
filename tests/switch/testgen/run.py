"""Runs P4Testgen's tests on a switch, and checks what P4Testgen's own runners leave unchecked (bug-review.md P29).

Nothing but the expected frame may come out; where none is expected, one counter must tell why, and where one is, none.
"""

from __future__ import annotations

from pymodel.paths.tables import PORT_QUEUES, PUNT_LIMITER
from pymodel.switch.p4runtime.client import PacketIn
from pymodel.switch.p4runtime.dataplane import MeterRates
from pymodel.switch.target import Count
from pymodel.wire.spec import CPU_PORT, PuntReason
from tests.switch.bench import Bench, added
from tests.switch.testgen.case import Case, Expected

__all__ = ["GeneratedBench"]

_NOTHING = MeterRates(0, 0, 0, 0)
_ETHERNET, _IPV6, _SRH, _NEXT_HEADER_ROUTING = 14, 40, 8, 43


class GeneratedBench(Bench):
    """A switch that runs generated tests, one packet each."""

    _rates: MeterRates | None = None

    def fault(self, case: Case) -> str | None:
        """What is wrong with the outcome of a test; None when all is well."""
        self.program(case.entries)
        self._limit_punts(_NOTHING if case.red else None)
        self.switch.inject(case.port, case.frame, 0)
        out = [(port, data) for _, port, data in self.switch.drain(0)]
        before, self._counters = self._counters, self._read()
        counts = added(before, self._counters)
        left = counts.get(f"port_out[{CPU_PORT}]", Count(0, 0)).packets
        out += [(CPU_PORT, self._as_it_left(self._packet_in())) for _ in range(left)]
        wanted = [] if case.expected is None else [case.expected]
        drops = {name: count.packets for name, count in counts.items() if name.startswith("drop_")}
        if len(out) != len(wanted):
            return f"{len(out)} frames came out, {len(wanted)} expected; drops {drops}"
        if sum(drops.values()) != 1 - len(wanted):
            return f"counted drops {drops}, and {len(wanted)} frames came out"
        trims = any(name.startswith("trimmed[") for name in counts)
        for (port, frame), expected in zip(out, wanted, strict=True):
            expected = _trimmed(case, expected) if trims else expected
            if port != expected.port or not _agree(frame, expected):
                return f"port {port}, {frame.hex()}; expected port {expected.port}, {expected.frame.hex()}"
        return None

    def _limit_punts(self, rates: MeterRates | None) -> None:
        if rates != self._rates:
            for reason in PuntReason:
                self.switch.control.client.set_meter(PUNT_LIMITER, reason, rates)
            self._rates = rates

    def _as_it_left(self, received: PacketIn) -> bytes:
        """A packet-in as the frame that left through the controller's port, header and all."""
        value = width = 0
        for field in self.switch.control.client.info.packet_in:
            value = value << field.width | received.fields[field.name]
            width += field.width
        return value.to_bytes(width // 8, "big") + received.payload


def _agree(frame: bytes, expected: Expected) -> bool:
    same = (byte & mask == wanted for byte, wanted, mask in zip(frame, expected.frame, expected.mask, strict=False))
    return len(frame) == len(expected.frame) and all(same)


def _trimmed(case: Case, expected: Expected) -> Expected:
    """The expected frame cut to size, which P4Testgen cannot do: to the port's trim size and the routing header."""
    (size,) = (entry.params["trim_bytes"] for entry in case.entries if entry.table == PORT_QUEUES)
    size = max(size, _ETHERNET + _IPV6)
    if expected.frame[_ETHERNET + 6] == _NEXT_HEADER_ROUTING:
        size += _SRH + 8 * expected.frame[_ETHERNET + _IPV6 + 1]
    return Expected(expected.port, expected.frame[:size], expected.mask[:size])
