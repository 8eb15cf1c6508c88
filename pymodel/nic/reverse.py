"""The way back: one EV per plane for what a responder sends (SACK, NACK, ACK), kept good by what is heard of EVs.

Planes take turns. A plane's EV is the last one that something came through on: a SACK of one's own data, or, while data
comes in and none goes out, an EV probe on another EV once a round trip (mrc-facts.md 2.7).
"""

from __future__ import annotations

from pymodel.nic.ev_table import EvSlot, EvState, EvTable

__all__ = ["NEVER_PS", "ReversePaths"]

NEVER_PS = 1 << 62
_PATIENCE = 16
"""Idle round trips after which an EV probe is given up."""


class ReversePaths:
    """One QP's EVs for control packets."""

    __slots__ = (
        "_by_port",
        "_ports",
        "_rtt_ps",
        "_sent",
        "_table",
        "_turn",
        "_waited",
        "_watching",
        "due_ps",
        "probe_id",
    )

    def __init__(self, table: EvTable, rtt_ps: int, *, probes: bool = True) -> None:
        """Begin with the first EV of each plane in `table`; a round trip takes `rtt_ps`. `probes`: EVs are probed."""
        self._table = table
        self._rtt_ps = rtt_ps
        self._by_port: dict[int, EvSlot] = {}
        for slot in table.slots():
            self._by_port.setdefault(slot.port, slot)
        self._ports = list(self._by_port)
        self._turn = 0
        self.probe_id: int | None = None
        """Request id of the EV probe on its way."""
        self.due_ps = 0 if probes else NEVER_PS
        """When `data_came_in` wants to be told the next time."""
        self._watching = False  # a round trip has begun in which data came in
        self._sent = False  # data went out in it
        self._waited = 0  # round trips without an answer to the probe

    def next(self) -> EvSlot | None:
        """Take the EV for the next control packet; None when no plane is usable."""
        ports = self._ports
        for _ in ports:
            port = ports[self._turn]
            self._turn += 1
            if self._turn == len(ports):
                self._turn = 0
            slot = self.on(port)
            if slot is not None:
                slot.sent += 1
                return slot
        return None

    def on(self, port: int) -> EvSlot | None:
        """The EV of one plane, or None when it is not usable."""
        return self.current(port) if self._table.is_up(port) else None

    def current(self, port: int) -> EvSlot | None:
        """The EV of one plane, up or down; None when the plane has none."""
        slot = self._by_port.get(port)
        if slot is None or slot.state is EvState.DENIED:
            slot = self.other(port)
        return slot

    def other(self, port: int) -> EvSlot | None:
        """Give a plane another EV than it has, the next one in order; None when the plane has none."""
        slots = [slot for slot in self._table.slots() if slot.port == port and slot.state is not EvState.DENIED]
        if not slots:
            return None
        last = self._by_port.get(port)
        at = next((i for i, slot in enumerate(slots) if slot is last), -1)
        self._by_port[port] = slots[(at + 1) % len(slots)]
        return self._by_port[port]

    def learn(self, slot: EvSlot) -> None:
        """Something came through on `slot`, an EV of this peer: its plane takes it from now on."""
        self._by_port[slot.port] = slot

    def data_went_out(self) -> None:
        """Data was sent; its SACKs will tell about EVs."""
        self._sent = self._watching

    def data_came_in(self, now_ps: int) -> EvSlot | None:
        """Data arrived; the EV to probe when a round trip with inbound data and without outbound data is over."""
        if now_ps < self.due_ps:
            return None
        idle = self._watching and not self._sent
        self.due_ps, self._watching, self._sent = now_ps + self._rtt_ps, True, False
        if not idle:
            return None
        if self.probe_id is not None and self._waited < _PATIENCE:
            self._waited += 1  # a busy network answers later than an idle one
            return None
        self._waited = 0
        return self._table.next()
