"""Test bench of mrc_endpoint: clock, reset, driver, monitors, in lock-step with the golden model's endpoint.

What the model answers is a frame; it is compared as the `reply_t` that stands for it. `hdl/mrc_endpoint_bench.sv` packs
the ports.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotb_tests.reply_model import REPLY_BITS, Kind, Model, join, packed_reply, parsed, port_configs, reply_config
from cocotb_tests.rx_traffic import outcome
from pymodel.nic.config import DeviceConfig
from pymodel.wire.headers import Eeth, EethOp54
from pymodel.wire.spec import ENDPOINT_QP, EndpointOp, Opcode

__all__ = ["NOTICES", "OVERFLOW", "TB", "Seen", "Station"]

CLOCK_NS = 4
NOTICES = 16
DESC_BITS, NOTICE_BITS, PATH_BITS = 817, 176, 128
DESC_VALID, REPLY_READY, NOTICE_READY = (1 << bit for bit in range(DESC_BITS + 3, DESC_BITS + 6))
CAUSE_AT = REPLY_BITS + NOTICE_BITS
DROP, NOTICE_VALID, REPLY_VALID, DESC_READY = (1 << bit for bit in range(CAUSE_AT + 3, CAUSE_AT + 7))

CAUSES = ["wrong address", "unknown QP", "endpoint response to no request", "endpoint operation", "no way back"]
"""endpoint_drop_e, in the model's words."""
OVERFLOW = len(CAUSES)


class Station(NamedTuple):
    """A frame and the port at which it arrives."""

    port: int
    data: bytes


class Seen(NamedTuple):
    """One thing that came out: the clock of the descriptor's acceptance, that of the result, and what it was."""

    accepted: int
    came: int
    value: int


Respond = Callable[[Station], "tuple[int, bytes] | None"]


class TB:
    """Drives descriptors, takes answers, notices and drops, compares each of them."""

    def __init__(self, dut: Any, device: DeviceConfig, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.model = Model(device)
        self.respond: Respond = lambda station: self.model.respond(parsed(station.data, device.options), station.port)
        self.clocks = 0
        self.accepted: list[int] = []
        self.answers: list[Seen] = []
        self.notices: list[Seen] = []
        self.drops: list[Seen] = []
        self._device = device
        self._owed: dict[str, deque[tuple[int, int]]] = {"answers": deque(), "notices": deque(), "drops": deque()}
        Clock(dut.clk, CLOCK_NS, unit="ns").start(start_high=False)

    async def reset(self) -> None:
        """Reset with junk on every line and the device's addresses in the static registers."""
        self.dut.device.value = reply_config(self._device)
        self.dut.ports.value = port_configs(self._device)
        self.dut.drive.value = self.rng.getrandbits(DESC_BITS + 6)
        self.dut.rst_n.value = 0
        await Timer(10 * CLOCK_NS, "ns")
        await RisingEdge(self.dut.clk)
        self.dut.rst_n.value = 1
        self.dut.drive.value = 0
        await RisingEdge(self.dut.clk)

    async def run(
        self,
        stations: Sequence[Station],
        *,
        idle: float = 0.0,
        stall: float = 0.0,
        listens: bool = True,
        overflow_from: int | None = None,
    ) -> None:
        """Offer frames in order, and wait for all that follows.

        `idle` and `stall`: how likely a clock without an offer follows a frame, and answers or notices wait. Without
        `listens` nobody takes notices; then port states from number `overflow_from` on find no place.
        """
        rng, edge, sense_port, drive_port = self.rng, RisingEdge(self.dut.clk), self.dut.sense, self.dut.drive
        waiting, offer = deque(stations), None
        offered = 0
        resting, drive, quiet = False, 0, 0
        limit = self.clocks + 40 * len(stations) + 1000
        updates = 0
        while waiting or offer or quiet < 20 or self._due(listens):
            await edge
            self.clocks += 1
            assert self.clocks < limit, f"stuck: {self._owed}"
            sense = int(sense_port.value)
            quiet += 1
            if offer is not None and sense & DESC_READY:
                updates += self._accept(offer, overflow_from is not None and updates >= overflow_from)
                offer, quiet = None, 0
                resting = rng.random() < idle
            if sense & DROP:
                self._compare("drops", self.drops, sense >> CAUSE_AT & 7)
            if sense & REPLY_VALID and drive & REPLY_READY:
                reply = sense & (1 << REPLY_BITS) - 1
                if not reply >> PATH_BITS & 1:  # not encapsulated: the path says nothing
                    reply = reply >> PATH_BITS << PATH_BITS
                self._compare("answers", self.answers, reply)
            if sense & NOTICE_VALID and drive & NOTICE_READY:
                self._compare("notices", self.notices, sense >> REPLY_BITS & (1 << NOTICE_BITS) - 1)
            if resting:
                resting = rng.random() < 0.7 * idle + 0.2
            elif offer is None and waiting:
                offer = waiting.popleft()
                offered = outcome(offer.data, self._device.options).desc | offer.port << DESC_BITS
            drive = rng.getrandbits(DESC_BITS + 3) if offer is None else offered | DESC_VALID
            drive |= REPLY_READY if rng.random() >= stall else 0
            drive |= NOTICE_READY if listens and rng.random() >= stall else 0
            drive_port.value = drive

    def _due(self, listens: bool) -> bool:
        return any(owed for name, owed in self._owed.items() if listens or name != "notices")

    def _accept(self, station: Station, no_place: bool) -> bool:
        """A descriptor was taken: what must follow. True when a notice is to come."""
        self.accepted.append(self.clocks)
        frame = parsed(station.data, self._device.options)
        own = frame.addresses[16:] == self._device.address.to_bytes(16, "big") and len(frame.addresses) == 32
        asked = own and frame.dest_qp == ENDPOINT_QP and frame.opcode == Opcode.ENDPOINT_REQUEST
        is_update = asked and frame.erth.op == EndpointOp.PORT_STATUS_UPDATE
        if is_update and no_place:
            self._owed["drops"].append((OVERFLOW, self.clocks))
            return False
        before = self.model.dropped.copy()
        action = self.respond(station)
        if action is None:
            (cause,) = self.model.dropped - before
            self._owed["drops"].append((CAUSES.index(cause), self.clocks))
        else:
            self._owed["answers"].append((self._reply(*action), self.clocks))
        if is_update:
            number = frame.psn & 0xFFFF
            notice = join((frame.ip.src, 128), (number, 16), (frame.erth.port_status_mask, 32))
            self._owed["notices"].append((notice, self.clocks))
        return bool(is_update)

    def _reply(self, port: int, data: bytes) -> int:
        """The `reply_t` that stands for a response of the model."""
        frame = parsed(data, self._device.options)
        eeth: Eeth | EethOp54 = frame.eeth
        outer = frame.outer
        body = join(
            (eeth.op, 2),
            (eeth.tx_timestamp, 16),
            (frame.ip.dst, 128),
            (frame.ev, 32),
            (outer is not None, 1),
            (outer.dst if outer else 0, 128),
        )
        return packed_reply(Kind.ENDPOINT, body, psn=frame.psn, port=port)

    def _compare(self, name: str, seen: list[Seen], value: int) -> None:
        owed = self._owed[name]
        assert owed, f"{name}: {value:#x} that nothing asked for"
        want, accepted = owed.popleft()
        assert value == want, f"{name} {len(seen)}:\n rtl   {value:#x}\n model {want:#x}"
        seen.append(Seen(accepted, self.clocks, value))
