"""A running switch under test: frames go in, and everything that came of them is known before the next goes in.

Frames: a target's drain ends with a proof that nothing more comes. Packet-ins: the program counts each, so it is known
how many to wait for; and a sentinel, which is the next packet-in or an error, proves that there was no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pymodel.paths.tables import FIRST_FLAVOUR, SECOND_FLAVOUR, TableEntry
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import PacketIn
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from pymodel.wire.spec import CPU_PORT, PuntReason
from tests.switch.packets import Routed, echo_request
from tests.switch.row import entries, ports, punts, sid

__all__ = ["Bench", "Came", "added", "flavour_name", "flavours"]

Frames = Sequence[tuple[int, bytes]]

_WAIT_S = 20
_WATCHED = (*range(10), CPU_PORT)
"""Ports whose counters are read after each frame. Arrays of all ports are long to read; what the others count shows in
the end (`finish`)."""
_OWN = "fc00:0:dfff::"
_SENTINEL_TABLE = entries(ports(0), sid(f"{_OWN}/48", "uN"), punts())


@dataclass(slots=True)
class Came:
    """What came of frames: (port, frame) in order, packet-ins as (reason, pointer, ingress port, frame), counts."""

    out: list[tuple[int, bytes]]
    punts: list[tuple[int, int, int, bytes]]
    counts: dict[str, Count] = field(default_factory=dict)

    def totals(self) -> Counter[str]:
        """Packets by counter, summed over ports and reasons."""
        total: Counter[str] = Counter()
        for name, count in self.counts.items():
            total[name.partition("[")[0]] += count.packets
        return total


class Bench:
    """A switch with the program loaded once. Where tables change, only the entries that differ are changed."""

    def __init__(self, switch: EmbeddedSwitch | Bmv2Switch) -> None:
        self.switch = switch
        switch.load(mrc_switch())
        self._entries: tuple[TableEntry, ...] | None = None
        self._cells = [
            (counter.name, index)
            for counter in switch.control.client.info.counters
            for index in (range(counter.size) if counter.size < len(_WATCHED) else _WATCHED)
        ]
        self._sizes = {counter.name: counter.size for counter in switch.control.client.info.counters}
        self._counters: dict[str, Count] = {}
        self._sentinels = 0
        self._strays()

    def program(self, table: tuple[TableEntry, ...]) -> None:
        """Make `table` all that the tables hold."""
        if table is not self._entries:
            self.switch.control.program(table)
            self._entries = table

    def forward(self, frames: Frames) -> Came:
        """Everything that came of `frames`, sent in one burst, and what they added to the counters."""
        for port, frame in frames:
            self.switch.inject(port, frame, 0)
        out = [(port, data) for _, port, data in self.switch.drain(0)]
        before, self._counters = self._counters, self._read()
        counts = added(before, self._counters)
        expected = sum(count.packets for name, count in counts.items() if name.startswith("punted["))
        return Came(out, [_fields(self._packet_in()) for _ in range(expected)], counts)

    def finish(self) -> None:
        """Nothing came that was not counted, and nothing was counted where nobody looked. Changes the tables."""
        assert self._strays() == []
        assert self.switch.counters() | flavours(self.switch) == self._counters

    def _read(self) -> dict[str, Count]:
        return self._cells_read() | flavours(self.switch)

    def _cells_read(self) -> dict[str, Count]:
        if isinstance(self.switch, EmbeddedSwitch):
            return self.switch.counters()
        counts = self.switch.control.client.read_counter_cells(self._cells)
        named = zip(self._cells, counts, strict=True)
        return {
            name if self._sizes[name] == 1 else f"{name}[{index}]": count
            for (name, index), count in named
            if count != Count(0, 0)
        }

    def _strays(self) -> list[PacketIn]:
        """Packet-ins that no counter announced, up to a sentinel that is sent for this."""
        self.program(_SENTINEL_TABLE)
        self._sentinels += 1
        frame = echo_request(Routed(_OWN, inner=False), identifier=self._sentinels).at(0)
        self.switch.inject(0, frame, 0)
        assert self.switch.drain(0) == []
        self._counters = self._read()
        found: list[PacketIn] = []
        while (received := self._packet_in()).payload != frame:
            found.append(received)
        return found

    def _packet_in(self) -> PacketIn:
        received = self.switch.control.client.receive_packet(_WAIT_S)
        assert received is not None, "the program counted a packet for the controller, which never came"
        return received


def _fields(received: PacketIn) -> tuple[int, int, int, bytes]:
    fields = dict(received.fields)
    assert fields.pop("unused", 0) == 0
    assert fields.keys() == {"reason", "pointer", "ingress_port"}
    assert fields["reason"] in list(PuntReason)
    return fields["reason"], fields["pointer"], fields["ingress_port"], received.payload


def flavour_name(entry: TableEntry) -> str:
    """``first.PSP``, ``second.USD_uniform`` and so on, of a constant entry of a table of flavours."""
    _, place, *_, action = entry.action.split(".")
    return f"{place}.{action}{'_uniform' * entry.params.get('uniform', 0)}"


def flavours(switch: EmbeddedSwitch | Bmv2Switch) -> dict[str, Count]:
    """What either pass over the own SIDs took off, those that are not zero."""
    return {
        flavour_name(entry): count
        for table in (FIRST_FLAVOUR, SECOND_FLAVOUR)
        for entry, count in switch.control.client.read_direct_counters(table)
        if count != Count(0, 0)
    }


def added(before: dict[str, Count], after: dict[str, Count]) -> dict[str, Count]:
    """The difference of two readings; counters never fall (P31)."""
    difference = {}
    for name in before.keys() | after.keys():
        old, new = before.get(name, Count(0, 0)), after.get(name, Count(0, 0))
        assert new.packets >= old.packets
        assert new.bytes >= old.bytes
        if new != old:
            # port_out counts packets alone; what a target puts beside them means nothing.
            size = 0 if name.startswith("port_out") else new.bytes - old.bytes
            difference[name] = Count(new.packets - old.packets, size)
    return difference
