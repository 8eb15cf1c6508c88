"""The requester's window over PSNs: what has been sent, what the peer has, what must be sent again.

Inside, packets are counted by an index that never wraps: packet 0 carries the QP's first PSN, packet i the PSN i later,
modulo 2^24. A PSN from the wire becomes an index once, at the door, by its signed distance from the oldest
unacknowledged packet.

Nothing beyond cack + MPR is ever sent, whether for the first time or again (mrc-facts.md 2.5). In flight are the
nominal sizes of packets sent, not acknowledged and not declared lost (mrc-facts.md 11).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from pymodel.base.errors import InputError
from pymodel.wire.serial import PSN
from pymodel.wire.spec import MPR_UNIT_PSNS, MPR_UNITS_MAX

if TYPE_CHECKING:
    from pymodel.nic.ev_table import EvSlot
    from pymodel.nic.message import Message

__all__ = ["Packet", "PacketState", "SendWindow", "mpr_from_psns", "mpr_to_psns"]


def mpr_to_psns(units: int) -> int:
    """PSNs that an MPR of `units` allows; the wire counts in units of 128 (mrc-facts.md 2.5)."""
    if not 1 <= units <= MPR_UNITS_MAX:
        raise InputError("MPR", f"{units} units", f"1 to {MPR_UNITS_MAX} units of {MPR_UNIT_PSNS} PSNs")
    return units * MPR_UNIT_PSNS


def mpr_from_psns(psns: int) -> int:
    """The MPR field, in units of 128, for a window of `psns`, which must be a whole number of units."""
    units, rest = divmod(psns, MPR_UNIT_PSNS)
    if rest or not 1 <= units <= MPR_UNITS_MAX:
        raise InputError("MPR", f"{psns} PSNs", f"a multiple of {MPR_UNIT_PSNS} up to {MPR_UNITS_MAX * MPR_UNIT_PSNS}")
    return units


class PacketState(Enum):
    """Where a packet that has been sent stands."""

    IN_FLIGHT = "sent, nothing heard"
    LOST = "declared lost, waits to be sent again"
    ACKNOWLEDGED = "the peer has it"


# What every packet is compared with: members of an enumeration are slow to reach.
_IN_FLIGHT, _LOST, _ACKNOWLEDGED = PacketState


class Packet:
    """One PSN of a message, from its first transmission until it is acknowledged cumulatively."""

    __slots__ = ("ev", "index", "message", "number", "order", "position", "size", "state")

    def __init__(self, index: int, message: Message, number: int, size: int, ev: EvSlot, order: int) -> None:
        """Packet `number`, from 0, of `message`, has just been sent for the first time."""
        self.index = index
        self.message = message
        self.number = number
        self.size = size
        self.state = _IN_FLIGHT
        self.ev = ev
        """The EV of its last transmission."""
        self.order = order
        """Transmissions of this QP up to its last one, that one included."""
        self.position = index + 1
        """Packets sent for the first time before its last transmission, itself included: see `SendWindow.overtaken`."""


_PSN_MASK = PSN.mask


class SendWindow:
    """Packets of one QP between the oldest unacknowledged one and the newest one sent."""

    __slots__ = (
        "_first_psn",
        "_packets",
        "_refused",
        "inflight",
        "lost",
        "mpr",
        "next_index",
        "sacked",
        "transmissions",
        "unack_index",
    )

    def __init__(self, first_psn: int, mpr: int) -> None:
        """The first packet will carry `first_psn`; at most `mpr` PSNs beyond cack may be sent."""
        if not 0 <= first_psn <= PSN.mask:
            raise InputError("first PSN", str(first_psn), "a 24-bit number")
        self.mpr = mpr
        self.next_index = 0
        self.unack_index = 0
        self.inflight = 0
        self.transmissions = 0
        self._first_psn = first_psn
        self._packets: dict[int, Packet] = {}
        self.sacked = 0
        """Bit i: packet unack_index + i is acknowledged."""
        self._refused: int | None = None  # an index that the peer called beyond its window
        self.lost: list[int] = []
        """Heap of the indices of packets that wait to be sent again; one that no longer does is passed over."""

    def psn(self, index: int) -> int:
        """PSN of packet `index`."""
        return (self._first_psn + index) & _PSN_MASK

    def index(self, psn: int) -> int:
        """The index that `psn` means, within 2^23 of the oldest unacknowledged packet; may be negative."""
        return self.unack_index + PSN.diff(psn, self.psn(self.unack_index))

    @property
    def outstanding(self) -> bool:
        """Something has been sent and not been acknowledged."""
        return self.unack_index < self.next_index

    @property
    def limit(self) -> int:
        """First index that must not be sent now: cack + MPR + 1, or less after the peer refused a packet."""
        limit = self.unack_index + self.mpr
        if self._refused is None:
            return limit
        return min(limit, max(self._refused, self.unack_index + 1))

    def refused(self, packet: Packet) -> None:
        """The peer called `packet` beyond its window: nothing from there on is sent until cack has moved.

        The oldest packet is within every window and may always be sent, so the QP can't be stuck.
        """
        self._refused = packet.index if self._refused is None else min(self._refused, packet.index)

    def unacknowledged(self, psn: int) -> Packet | None:
        """The packet of `psn` if it has been sent and the peer is not known to have it."""
        packet = self._packets.get(self.index(psn))
        return packet if packet is not None and packet.state is not _ACKNOWLEDGED else None

    def missing(self, below: int) -> Iterator[Packet]:
        """Packets in flight with an index under `below`, oldest first."""
        holes = ~self.sacked & ((1 << max(0, min(below, self.next_index) - self.unack_index)) - 1)
        while holes:
            lowest = holes & -holes
            holes ^= lowest
            packet = self._packets[self.unack_index + lowest.bit_length() - 1]
            if packet.state is _IN_FLIGHT:
                yield packet

    def next_lost(self) -> Packet | None:
        """The oldest packet that waits to be sent again and lies within the limit."""
        while self.lost:
            packet = self._packets.get(self.lost[0])
            if packet is not None and packet.state is _LOST:
                return packet if packet.index < self.limit else None
            heapq.heappop(self.lost)
        return None

    def send_new(self, message: Message, number: int, size: int, evs: Sequence[EvSlot]) -> int:
        """Packets of `message`, from `number` on, leave for the first time, one on each of `evs`; the first one's PSN.

        `size` is the nominal size in bytes of each, which counts as in flight.
        """
        packets, first, order = self._packets, self.next_index, self.transmissions
        for index, ev in enumerate(evs, first):
            order += 1
            packets[index] = Packet(index, message, number, size, ev, order)
            number += 1
        self.next_index += len(evs)
        self.transmissions = order
        self.inflight += size * len(evs)
        return self.psn(first)

    def send_again(self, packet: Packet, ev: EvSlot) -> None:
        """`packet`, which `next_lost` gave, leaves again, on `ev`."""
        packet.state = _IN_FLIGHT
        packet.ev = ev
        self.transmissions += 1
        packet.order = self.transmissions
        packet.position = self.next_index
        self.inflight += packet.size

    def lose(self, packet: Packet) -> None:
        """Declare a packet in flight lost: it waits to be sent again and no longer counts as in flight."""
        packet.state = _LOST
        self.inflight -= packet.size
        heapq.heappush(self.lost, packet.index)

    def acknowledge(self, cack_psn: int, base_offset: int, bitmap: int) -> list[Packet] | None:
        """Take what a SACK says and return the packets that are acknowledged by it for the first time, oldest first.

        The bitmap's base is `cack_psn` + `base_offset`; it may lie at or below cack. A SACK older than the last one
        is as good as any: what the peer has received stays received. None, and no change, for a SACK that speaks of
        packets never sent.
        """
        cack = self.index(cack_psn)
        base = cack + base_offset
        if cack >= self.next_index or base + bitmap.bit_length() > max(self.next_index, base):
            return None
        newly = []
        if cack >= self.unack_index:
            take = self._packets.pop
            for index in range(self.unack_index, cack + 1):
                packet = take(index)
                state = packet.state
                if state is not _ACKNOWLEDGED:
                    if state is _IN_FLIGHT:
                        self.inflight -= packet.size
                    packet.state = _ACKNOWLEDGED
                    newly.append(packet)
            self.sacked >>= cack + 1 - self.unack_index
            self._refused = None
            self.unack_index = cack + 1
        ahead = base - self.unack_index
        fresh = (bitmap << ahead if ahead >= 0 else bitmap >> -ahead) & ~self.sacked
        if fresh:
            self.sacked |= fresh
            while fresh:
                lowest = fresh & -fresh
                fresh ^= lowest
                packet = self._packets[self.unack_index + lowest.bit_length() - 1]
                # A packet that waits to be sent again has left the flight.
                if packet.state is _IN_FLIGHT:
                    self.inflight -= packet.size
                packet.state = _ACKNOWLEDGED
                newly.append(packet)
        while self.sacked & 1:
            del self._packets[self.unack_index]
            self.sacked >>= 1
            self.unack_index += 1
        return newly

    def overtaken(self, distance: int) -> list[Packet]:
        """Packets in flight that `distance` or more newer packets have overtaken, oldest first.

        Only first transmissions count as newer: the highest acknowledged packet lies `distance` or more beyond the
        place in the stream where the packet was last sent. A packet sent again is judged by its new place, so one loss
        is declared once, and the loss of a retransmission is seen as well.
        """
        place = self.unack_index + self.sacked.bit_length() - distance
        return [packet for packet in self.missing(place) if packet.position <= place]

    def sent_by(self, order: int) -> list[Packet]:
        """Packets in flight whose last transmission was the QP's `order`-th or an earlier one, oldest first."""
        return [packet for packet in self.missing(self.next_index) if packet.order <= order]
