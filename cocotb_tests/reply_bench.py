"""Test bench of mrc_reply: clock, reset, drivers, monitors, in lock-step with the golden model.

The order in which replies are accepted is the order in which the model takes them; then every port must show the
model's frames for it, in that order and byte for byte. `hdl/mrc_reply_bench.sv` packs the ports.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.receive_rows import PORTS
from cocotb_tests.reply_model import REPLY_BITS, Model, Reply, port_configs, reply_config
from pymodel.nic.config import DeviceConfig

CLOCK_NS = 4
BUS_BYTES = 64
KEEP_AT, LAST_AT = 8 * BUS_BYTES, 9 * BUS_BYTES
READY_AT = 2 * REPLY_BITS
ENDPOINT_VALID, ENGINE_VALID = (1 << READY_AT + PORTS + bit for bit in range(2))
SENT_AT = PORTS
NO_WAY_BACK, ENDPOINT_READY, ENGINE_READY = (1 << 2 * PORTS + bit for bit in range(3))
ALL_READY = (1 << PORTS) - 1
SETTLED = 20
"""Clocks after which what was accepted has left, where ports take."""

Take = Callable[[Reply], "tuple[int, bytes] | None"]


@dataclass(slots=True)
class _Port:
    """What one port owes, and what of its next frame was seen."""

    expected: deque[tuple[bytes, int]] = field(default_factory=deque)
    beats: list[int] = field(default_factory=list)
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A frame that left: its port, the clock of its reply's acceptance, of its first beat, and of its last."""

    port: int
    accepted: int
    first: int
    last: int
    size: int


class TB:
    """Drives replies, takes beats, compares every frame."""

    def __init__(self, dut: Any, device: DeviceConfig, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.model = Model(device)
        self.take: Take = self.model.take
        self.clocks = 0
        self.accepted: list[int] = []
        self.left: list[Left] = []
        self._device = device
        self._ports = [_Port() for _ in range(PORTS)]
        self._streams: tuple[deque[Reply], deque[Reply]] = (deque(), deque())
        self._offers: list[Reply | None] = [None, None]
        self._dropped = self._pulses = self._sent = 0
        self._beats = [getattr(dut, f"beat_{port}") for port in range(PORTS)]
        self._drive = 0
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        """Reset with junk on every line and the device's addresses in the registers; what is under way is lost."""
        for stream in self._streams:
            stream.clear()
        self._offers[:] = [None, None]
        self._ports = [_Port() for _ in range(PORTS)]
        self._dropped = self._pulses = 0
        self._sent = len(self.left)
        self.dut.device.value = reply_config(self._device)
        self.dut.ports.value = port_configs(self._device)
        self.dut.drive.value = self.rng.getrandbits(READY_AT + PORTS + 2)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        self._drive = ALL_READY << READY_AT
        self.dut.drive.value = self._drive
        await RisingEdge(self.dut.clk)

    async def run(
        self,
        engine: Sequence[Reply] = (),
        endpoint: Sequence[Reply] = (),
        *,
        idle: float = 0.0,
        stall: float = 0.0,
        shut: int = 0,
        patience: int | None = None,
        clocks: int | None = None,
    ) -> list[Left]:
        """Offer both streams to their ends and wait until every frame has left; returns the frames in their order.

        `idle` and `stall`: how likely a clock without an offer follows a reply, and a port stands still; both come in
        bursts. Ports of `shut` take nothing. With `patience` the run ends after that many clocks without an
        acceptance, with `clocks` after that many; what is left is offered on by the next run.
        """
        rng, edge, sense_port, drive_port = self.rng, RisingEdge(self.dut.clk), self.dut.sense, self.dut.drive
        streams, offers = self._streams, self._offers
        streams[0].extend(engine)
        streams[1].extend(endpoint)
        resting, stalled = [False, False], [False] * PORTS
        before, began, quiet = len(self.left), self.clocks, 0
        limit = self.clocks + 40 * sum(map(len, streams)) + 2000
        while any(streams) or any(offers) or self._owed() or quiet < SETTLED:
            await edge
            self.clocks += 1
            assert self.clocks < limit, f"stuck: {self._owed()} frames are missing"
            sense = int(sense_port.value)
            quiet += 1
            for side, ready in enumerate((ENGINE_READY, ENDPOINT_READY)):
                offer = offers[side]
                if offer is not None and sense & ready:
                    offers[side], quiet = None, 0
                    self._accept(offer)
                    resting[side] = rng.random() < idle
            self._look(sense)
            for side, stream in enumerate(streams):
                if resting[side]:
                    resting[side] = rng.random() < 0.7 * idle + 0.2
                elif offers[side] is None and stream:
                    offers[side] = stream.popleft()
            takes = ALL_READY & ~shut
            if stall:
                for port in range(PORTS):
                    stalled[port] = rng.random() < (0.8 if stalled[port] else stall)
                    takes &= ~(stalled[port] << port)
            words = [rng.getrandbits(REPLY_BITS) if offer is None else offer.word for offer in offers]
            self._drive = words[0] | words[1] << REPLY_BITS | takes << READY_AT
            for offer, valid in zip(offers, (ENGINE_VALID, ENDPOINT_VALID), strict=True):
                self._drive |= valid if offer else 0
            drive_port.value = self._drive
            if quiet == patience or self.clocks - began == clocks:
                return self.left[before:]
        assert self._pulses == self._dropped, "pulses of no way back"
        assert self._sent == len(self.left), "pulses of frames that left"
        return self.left[before:]

    def _owed(self) -> int:
        return sum(len(port.expected) for port in self._ports)

    def _accept(self, item: Reply) -> None:
        """One reply was taken: the model takes it too."""
        self.accepted.append(self.clocks)
        dropped = self.model.dropped["no way back"]
        action = self.take(item)
        self._dropped += self.model.dropped["no way back"] - dropped
        if action is not None:
            port, data = action
            self._ports[port].expected.append((data, self.clocks))

    def _look(self, sense: int) -> None:
        """Take the beats of this clock, and count pulses."""
        self._pulses += bool(sense & NO_WAY_BACK)
        self._sent += (sense >> SENT_AT & ALL_READY).bit_count()
        shown = sense & ALL_READY
        taken = shown & self._drive >> READY_AT
        for number in range(PORTS):
            if not shown >> number & 1:
                continue
            port = self._ports[number]
            if port.first is None:
                port.first = self.clocks
            if taken >> number & 1:
                beat = int(self._beats[number].value)
                port.beats.append(beat)
                if beat >> LAST_AT:
                    self._compare(number, port)

    def _compare(self, number: int, port: _Port) -> None:
        """A port's frame is complete."""
        data = b""
        for beat in port.beats:
            keep = beat >> KEEP_AT & (1 << BUS_BYTES) - 1
            count = keep.bit_count()
            assert keep == (1 << count) - 1, f"port {number}: keep {keep:#x}"
            assert count == BUS_BYTES or beat is port.beats[-1], f"port {number}: a gap in the frame"
            data += (beat & (1 << 8 * BUS_BYTES) - 1).to_bytes(BUS_BYTES, "little")[:count]
        assert port.expected, f"port {number}: a frame that nobody sent: {data.hex()}"
        want, accepted = port.expected.popleft()
        if data != want:
            raise AssertionError(f"port {number}, frame {len(self.left)}:\n rtl   {data.hex()}\n model {want.hex()}")
        assert port.first is not None
        self.left.append(Left(number, accepted, port.first, self.clocks, len(data)))
        port.beats, port.first = [], None
