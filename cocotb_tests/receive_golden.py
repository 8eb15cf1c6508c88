"""The golden model behind the commands of the receive side: what `pymodel.nic` does at each accepted event.

QP number and table index are the same. QPs stop at RTR, since nothing here sends writes.
"""

from __future__ import annotations

from dataclasses import replace

from cocotb_tests.receive_rows import CLOCK_PS, PORTS, Answer, Command, Op, QpRow, RegionRow, RouteRow, State
from pymodel.nic.config import DeviceConfig
from pymodel.nic.congestion import NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.ev_table import EvSlot
from pymodel.nic.events import Action, FrameIn, PostReceive, SetTimer, TimerFired
from pymodel.nic.events import Command as SetAttribute
from pymodel.nic.lifecycle import QpState
from pymodel.nic.memory import MemoryRegion
from pymodel.nic.responder import ResponderState
from pymodel.paths.ev import EvRecord
from pymodel.wire.spec import R_KEY_TAG_BITS, OutOfWindow

_STATES = {
    ResponderState.READY: State.READY,
    ResponderState.REFUSED: State.REFUSED,
    ResponderState.STOPPED: State.STOPPED,
}
_ATTRIBUTES = {
    Op.SET_MPR: "mpr",
    Op.SET_PENALTY: "rcv_cwnd_pen",
    Op.SET_RESTORE: "restore_cwnd",
    Op.SET_RESOURCE_NACK: "resource_nack",
}


class Golden:
    """A device whose QPs only receive, and one without QPs that answers endpoint requests.

    The latter has no QPs because port status goes to software in the RTL, which then sets planes by command.
    """

    def __init__(self, config: DeviceConfig) -> None:
        self.device = Device(config)
        self.endpoint = Device(config)
        self._rows: dict[int, QpRow] = {}
        self._routes: dict[tuple[int, int], RouteRow] = {}
        self._generations: dict[str, int] = {}
        self._posted: dict[int, int] = {}

    def frame(self, port: int, data: bytes, now: int) -> list[Action]:
        """A frame that a port found good, for a QP."""
        return self._noted(self.device.handle(FrameIn(port, data), now * CLOCK_PS))

    def never_made(self) -> None:
        """The last frame's QP is one of the RTL's table that was never configured: not unknown there, but not ready."""
        self.device.dropped["unknown QP"] -= 1
        self.device.dropped["QP not ready"] += 1

    def request(self, port: int, data: bytes) -> list[Action]:
        """An endpoint request or response."""
        return self.endpoint.handle(FrameIn(port, data), 0)

    def expire(self, qp: int, now: int) -> list[Action]:
        """The quiet timer of a QP ran out, or seemed to."""
        key = f"qp{qp}/quiet"
        return self._noted(self.device.handle(TimerFired(key, self._generations.get(key, 0)), now * CLOCK_PS))

    def deadline(self, qp: int) -> int | None:
        """The clock at which the quiet timer of a QP is due, or None when it rests."""
        if self.state(qp) is State.RESET:
            return None
        deadline_ps = self.device.qp(qp).responder.quiet_timer.deadline_ps
        return None if deadline_ps is None else -(-deadline_ps // CLOCK_PS)

    def state(self, qp: int) -> State:
        if qp not in self._rows or not self.device.qp(qp).addresses:
            return State.RESET
        return _STATES[self.device.qp(qp).responder.state]

    def received(self, qp: int) -> int:
        """Nominal bytes of a QP, more with each packet that is placed; 0 in reset."""
        if qp not in self._rows or not self.device.qp(qp).addresses:
            return 0
        return self.device.qp(qp).responder._received

    def answer(self, qp: int) -> Answer:
        """What a query says; of a QP in reset only its state counts."""
        state = self.state(qp)
        if state is State.RESET:
            return Answer(qp, state, 0, 0, 0, 0, 0)
        half = self.device.qp(qp).responder
        return Answer(
            qp,
            state,
            half.window.cack_psn,
            half.window.ooo_count,
            half.delivery.completed,
            half._received & 0xFFFFFFFF,
            half._unanswered,
        )

    def command(self, command: Command, now: int) -> list[Action]:
        """A command at its place in the order of events."""
        qp, value, row = command.qp, command.value, command.row
        now_ps = now * CLOCK_PS
        match command.op:
            case Op.QP_ROUTE:
                assert isinstance(row, RouteRow)
                self._route(qp, command.port, row)
            case Op.QP_CONFIG:
                assert isinstance(row, QpRow)
                self._configure(qp, row)
            case Op.REGION:
                assert isinstance(row, RegionRow)
                self._region(qp, row)
            case Op.QP_RESET:
                if qp in self._rows:
                    self._posted[qp] = 0
                    return self.device.modify_qp(qp, QpState.RESET)
            case Op.QP_READY:
                return self._ready(qp, value, now_ps)
            case Op.QP_ERROR:
                return self._noted(self.device.modify_qp(qp, QpState.ERROR, now_ps=now_ps))
            case Op.POST_RECEIVES:
                return self._post(qp, value, now_ps)
            case Op.SET_PLANES:
                for port in range(PORTS):
                    self.device.qp(qp).control_evs.set_port(port, up=value >> port & 1 == 1)
            case Op.QUERY:
                pass
            case _:
                return self.device.handle(SetAttribute(_ATTRIBUTES[command.op], value, qp), now_ps)
        return []

    def _noted(self, actions: list[Action]) -> list[Action]:
        for action in actions:
            if isinstance(action, SetTimer):
                self._generations[action.key] = action.generation
        return actions

    def _route(self, qp: int, port: int, row: RouteRow) -> None:
        self._routes[qp, port] = row
        if self.state(qp) is not State.RESET:
            # No record is ever changed under an EV's name: a new path comes with a new EV.
            self.device.qp(qp).responder.reverse.learn(EvSlot(EvRecord(row.ev, port, row.path, row.segment)))

    def _configure(self, qp: int, row: QpRow) -> None:
        if qp not in self._rows:
            self.device.create_qp(qp)
        self._rows[qp] = row
        self._posted[qp] = 0
        routes = [(port, self._routes[qp, port]) for port in range(PORTS)]
        self.device.modify_qp(
            qp,
            QpState.INIT,
            hint=0,
            evs=tuple(EvRecord(each.ev, port, each.path, each.segment) for port, each in routes),
            congestion=NoCongestionControl(),
            p_key=row.p_key,
        )

    def _ready(self, qp: int, first_psn: int, now_ps: int) -> list[Action]:
        row = self._rows[qp]
        out = self.device.modify_qp(
            qp,
            QpState.RTR,
            now_ps=now_ps,
            peer_qpn=row.peer_qpn,
            peer_address=row.peer_address,
            mtu=row.mtu,
            receive_psn=first_psn,
            responder_wimm=row.wimm,
            responder_mpr_units=row.mpr_units,
            dynamic_mpr=row.dynamic_mpr,
            base_rtt_ps=row.quiet_clocks * CLOCK_PS,
            sack_threshold=row.sack_threshold,
            responder_trim_nack=row.trim_nack,
            reverse_probes=False,
        )
        if row.drop_above:
            half = self.device.qp(qp).responder
            half._options = replace(half._options, out_of_window=OutOfWindow.DROP)  # in the RTL, a QP's own
        return out

    def _region(self, index: int, row: RegionRow) -> None:
        table = self.device.regions
        for region in list(table):
            if region.r_key >> R_KEY_TAG_BITS == index:
                table.deregister(region.r_key)
        if row.valid:
            table.restore(MemoryRegion(index << R_KEY_TAG_BITS | row.tag, row.first, row.last - row.first + 1))

    def _post(self, qp: int, count: int, now_ps: int) -> list[Action]:
        out: list[Action] = []
        for _ in range(count):
            out += self.device.handle(PostReceive(qp, self._posted[qp]), now_ps)
            self._posted[qp] += 1
        return out
