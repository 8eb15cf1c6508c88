"""A QP: a requester and a responder that share a name, a framer, a life and a fate."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvSlot, EvTable
from pymodel.nic.events import Action, Command, Complete, PostReceive, PostWrite, TimerFired
from pymodel.nic.framing import Framer
from pymodel.nic.lifecycle import OPTIONAL, REQUIRED, QpError, QpInformation, QpState, require_step, validated
from pymodel.nic.memory import RegionTable
from pymodel.nic.ports import PortStates
from pymodel.nic.prober import PortBudget, Prober
from pymodel.nic.requester import Requester, RequesterState
from pymodel.nic.responder import Responder, ResponderState
from pymodel.nic.reverse import ReversePaths
from pymodel.nic.send_window import mpr_to_psns
from pymodel.wire.frame import Frame
from pymodel.wire.spec import DATA_OPCODES, MPR_UNITS_MAX, NackReason, Opcode

__all__ = ["COMMANDS", "EvProbes", "QueuePair"]

_FOR_RESPONDER = [opcode in DATA_OPCODES | {Opcode.PROBE_REQUEST} for opcode in range(256)]
_SENDS, _TAKES = RequesterState.READY, ResponderState.READY
_LENGTH_MAX = (1 << 32) - 1
_FULL_MEMBER = 0x8000  # of a P_Key; the other 15 bits name the partition (IBTA)
_SHORTAGES = {
    int(reason): reason for reason in (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE)
}

COMMANDS: Mapping[str, str] = {
    "rcv_cwnd_pen": "receiver penalty that SACKs carry, 0 (none) to 127",
    "restore_cwnd": "1: SACKs lift the penalty, 0: they do not",
    "mpr": "receive window in units of 128 PSNs, with dynamic MPR said in every SACK",
    "resource_nack": "reason of the NACK with which new packets are refused, 0: they are taken",
    "deny_ev": "takes the EV of this 32-bit value out of use",
    "allow_ev": "gives it back",
}
"""What software can set while a QP is used, by the name that `Command` carries."""


class EvProbes(Protocol):
    """Whoever asks for the QP whether an EV towards `peer_address` works; `reverse` learns it from the answer."""

    def probe_ev(self, peer_address: int, slot: EvSlot, reverse: ReversePaths, now_ps: int, out: list[Action]) -> None:
        """Probe `slot`; a probe for the same `reverse` that has not been answered is given up."""
        ...


class QueuePair:
    """One end of a connection. Data and control frames have EV tables of their own, so that each order stands alone."""

    def __init__(
        self,
        qpn: int,
        device: DeviceConfig,
        regions: RegionTable,
        ports: PortStates,
        budget: PortBudget,
        ev_probes: EvProbes,
    ) -> None:
        """A QP in RESET; `modify` makes it ready."""
        self.qpn = qpn
        self.addresses = b""
        """From RTR on source and destination of the inner IPv6 header of every frame for this QP; else empty."""
        self.quick_p_key = -1
        """A P_Key which a frame may have; another one needs a closer look."""
        self._device = device
        self._regions = regions
        self._ports = ports
        self._budget = budget
        self._ev_probes = ev_probes
        self._begin()

    def _begin(self) -> None:
        self._attributes: dict[str, Any] = {}
        self._state = QpState.RESET
        self._config: QpConfig | None = None
        self._requester: Requester | None = None
        self._responder: Responder | None = None
        self._control_evs: EvTable | None = None
        self._receives: deque[int] = deque()
        self.addresses = b""
        self.quick_p_key = -1

    # Life

    @property
    def state(self) -> QpState:
        """Where the QP stands."""
        return self._state

    @property
    def config(self) -> QpConfig:
        """All that the QP is set to; known from RTR on."""
        if self._config is None:
            raise InputError(f"QP {self.qpn} in {self._state.value}", "no configuration", "one that has reached RTR")
        return self._config

    @property
    def requester(self) -> Requester:
        """The sending half; there from RTS on."""
        if self._requester is None:
            raise InputError(f"QP {self.qpn} in {self._state.value}", "no requester", "one that has reached RTS")
        return self._requester

    @property
    def responder(self) -> Responder:
        """The receiving half; there from RTR on."""
        if self._responder is None:
            raise InputError(f"QP {self.qpn} in {self._state.value}", "no responder", "one that has reached RTR")
        return self._responder

    @property
    def control_evs(self) -> EvTable:
        """The EVs towards the peer from which those for answers are taken; there from RTR on."""
        if self._control_evs is None:
            raise InputError(f"QP {self.qpn} in {self._state.value}", "no EVs for answers", "one that has reached RTR")
        return self._control_evs

    @property
    def error(self) -> QpError | None:
        """Why the QP went to ERROR by itself; None when it did not."""
        halves = self._requester, self._responder
        return next((half.error for half in halves if half is not None and half.error is not None), None)

    def query(self) -> QpInformation:
        """State and attributes."""
        known = dict(self._attributes)
        if self._config is not None:
            known |= {each.name: getattr(self._config, each.name) for each in fields(QpConfig) if each.name != "qpn"}
        return QpInformation(self.qpn, self._state, known, self.error)

    def modify(self, to: QpState, attributes: dict[str, Any]) -> list[Action]:
        """Take a step of the QP's life and return what follows. InputError when there is no such step."""
        require_step(self.qpn, self._state, to, attributes)
        out: list[Action] = []
        match to:
            case QpState.RESET:
                self._stop(out)
                self._begin()
                return out
            case QpState.ERROR:
                self._fail(out)
                return out
        known = self._attributes | attributes
        config = validated(self.qpn, known)
        self._require_possible(config)
        self._attributes = known
        self._state = to
        if to is QpState.INIT:
            return out
        self._config = config
        if to is QpState.RTR:
            self._make_responder(config)
        else:
            self._make_requester(config)
        return out

    def make_ready(self, config: QpConfig, congestion: CongestionControl) -> None:
        """Take all steps at once."""
        for state in (QpState.INIT, QpState.RTR, QpState.RTS):
            names = (*REQUIRED[state], *OPTIONAL[state])
            attributes = {name: congestion if name == "congestion" else getattr(config, name) for name in names}
            self.modify(state, attributes)

    def _require_possible(self, config: QpConfig) -> None:
        where, ports, able = f"QP {self.qpn}", len(self._device.ports), self._device.capabilities
        for record in (*config.evs, *config.backup_evs, *config.control_evs):
            if not 0 <= record.port < ports:
                raise InputError(f"{where}: EV {record.ev:#x}", f"port {record.port}", f"a port below {ports}")
        if config.dynamic_mpr and not able.dynamic_mpr:
            raise InputError(f"{where}: dynamic MPR", "on", "off, since the device cannot do it")
        if config.responder_trim_nack and not able.trim_nack:
            raise InputError(f"{where}: answers to trimmed packets", "on", "off, since the device cannot do it")
        EvTable(config.evs, config.seed, config.backup_evs, config.min_active_evs)

    def _make_responder(self, config: QpConfig) -> None:
        self.quick_p_key = config.p_key if config.p_key & _FULL_MEMBER else -1
        self.addresses = b"".join(each.to_bytes(16, "big") for each in (config.peer_address, self._device.address))
        evs = EvTable(config.control_evs or config.evs, config.seed)
        self._responder = Responder(
            config,
            Framer(self._device, config),
            ReversePaths(evs, config.base_rtt_ps, probes=config.reverse_probes),
            self._regions,
            self._device.options,
            self._receives,
        )
        self._control_evs = evs
        self.update_ports()

    def _make_requester(self, config: QpConfig) -> None:
        framer = Framer(self._device, config)
        evs = EvTable(config.evs, config.seed, config.backup_evs, config.min_active_evs)
        prober = Prober(config, framer, evs, self._device.options.probe_skip_once, self._budget)
        congestion: CongestionControl = self._attributes["congestion"]
        self._requester = Requester(config, framer, evs, prober, self.responder.reverse, congestion)
        self.update_ports()

    def update_ports(self) -> None:
        """Take over which planes are up, here and at the peer."""
        if self._responder is not None:
            usable = self._ports.usable(self.config.peer_address)
            for port in range(self._ports.count):
                self.control_evs.set_port(port, up=usable >> port & 1 == 1)
                if self._requester is not None:
                    self._requester.evs.set_port(port, up=usable >> port & 1 == 1)

    def _stop(self, out: list[Action]) -> None:
        """Stop every timer; work is forgotten without a word."""
        if self._requester is not None:
            self._requester.stop_timers(out)
        if self._responder is not None:
            self._responder.stop_timers(out)

    def _fail(self, out: list[Action]) -> None:
        """To ERROR: all work is flushed."""
        self._state = QpState.ERROR
        if self._requester is not None:
            self._requester.abort(out)
        if self._responder is not None:
            self._responder.abort(out)
        while self._receives:
            out.append(Complete(self.qpn, self._receives.popleft(), "flushed", 0))

    def destroy(self) -> list[Action]:
        """The QP ceases to be: timers are cancelled, work is forgotten without a word."""
        out: list[Action] = []
        self._stop(out)
        self._begin()
        return out

    @property
    def timer_keys(self) -> tuple[str, ...]:
        """Keys of the timers that this QP may set."""
        return tuple(f"qp{self.qpn}/{name}" for name in ("ack", "tail", "pause", "probe", "quiet"))

    # Events

    def objection(self, frame: Frame) -> str | None:
        """Why `frame`, which names this QP, is none of its business; None when it is."""
        if not self.addresses:
            return "QP not ready"
        if frame.addresses != self.addresses:
            return "wrong address"
        p_key = self.config.p_key
        if (frame.p_key ^ p_key) & ~_FULL_MEMBER or not (frame.p_key | p_key) & _FULL_MEMBER:
            return "wrong P_Key"
        return None

    def receive(self, frame: Frame, now_ps: int) -> list[Action]:
        """Give a frame without `objection` to the half that it concerns; a failure of one half ends the other.

        Before RTS there is no half for answers to requests that were never sent; they have no effect.
        """
        responder = self._responder
        if responder is None:
            return []
        if _FOR_RESPONDER[frame.opcode]:
            out = responder.receive(frame, now_ps)
            if responder.reverse.due_ps <= now_ps and frame.is_write:
                reverse = responder.reverse
                slot = reverse.data_came_in(now_ps)
                if slot is not None:
                    self._ev_probes.probe_ev(self.config.peer_address, slot, reverse, now_ps, out)
            if responder.state is not _TAKES:
                self._fail_once(out)
            return out
        requester = self._requester
        if requester is None:
            return []
        out = requester.receive(frame, now_ps)
        if requester.state is not _SENDS:
            self._fail_once(out)
        return out

    def handle(self, event: PostWrite | PostReceive | TimerFired | Command, now_ps: int) -> list[Action]:
        """Take posted work, a timer or a command.

        InputError when the QP's state does not take it, or a value is wrong.
        """
        match event:
            case PostWrite():
                return self._post_write(event, now_ps)
            case PostReceive():
                return self._post_receive(event)
            case Command():
                return self._command(event, now_ps)
        half = self._responder if event.key.endswith("/quiet") else self._requester
        out = half.expire(event, now_ps) if half is not None else []
        if self._requester is not None and self._requester.state is not _SENDS:
            self._fail_once(out)
        return out

    def proceed(self, now_ps: int) -> list[Action]:
        """Something outside changed, such as a port: send what can be sent now."""
        out: list[Action] = []
        if self._requester is not None:
            self._requester.proceed(now_ps, out)
        return out

    def _post_write(self, work: PostWrite, now_ps: int) -> list[Action]:
        _check(work)
        if self._requester is not None:
            return self._requester.post(work, now_ps)
        if self._state is QpState.ERROR:
            return [Complete(self.qpn, work.wr_id, "flushed", 0)]
        raise InputError(f"QP {self.qpn}", f"a write in {self._state.value}", "RTS")

    def _post_receive(self, work: PostReceive) -> list[Action]:
        if self._state is QpState.RESET:
            raise InputError(f"QP {self.qpn}", "a receive in RESET", "INIT, RTR or RTS")
        if self._state is QpState.ERROR:
            return [Complete(self.qpn, work.wr_id, "flushed", 0)]
        self._receives.append(work.wr_id)
        return []

    def _command(self, command: Command, now_ps: int) -> list[Action]:
        where, value = f"QP {self.qpn}: {command.name}", command.value
        match command.name:
            case "rcv_cwnd_pen":
                self.responder.penalty = _within(where, value, 0, 127)
            case "restore_cwnd":
                self.responder.restore_cwnd = _within(where, value, 0, 1)
            case "mpr":
                self.responder.window.window = mpr_to_psns(_within(where, value, 1, MPR_UNITS_MAX))
            case "resource_nack":
                reason = _SHORTAGES.get(value)
                if value and reason is None:
                    raise InputError(where, str(value), f"0 or one of {', '.join(map(str, _SHORTAGES))}")
                self.responder.shortage = reason
            case "deny_ev" | "allow_ev":
                self._deny(where, value, command.name == "deny_ev")
            case _:
                raise InputError("command", command.name, ", ".join(COMMANDS))
        return self.proceed(now_ps)

    def _deny(self, where: str, ev: int, denied: bool) -> None:
        tables = [self.control_evs] if self._responder is not None else []
        if self._requester is not None:
            tables.append(self._requester.evs)
        found = [(table, slot) for table in tables if (slot := table.find(ev)) is not None]
        if not found:
            raise InputError(where, f"EV {ev:#x}", "an EV of this QP")
        for table, slot in found:
            table.set_denied(slot, denied)

    def _fail_once(self, out: list[Action]) -> None:
        if self._state is not QpState.ERROR:
            self._fail(out)


def _within(where: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InputError(where, str(value), f"a number from {low} to {high}")
    return value


def _check(work: PostWrite) -> None:
    where = f"write {work.wr_id} of QP {work.qpn}"
    if len(work.data) > _LENGTH_MAX:
        raise InputError(where, f"{len(work.data)} bytes", f"at most {_LENGTH_MAX} bytes")
    if work.remote_address < 0 or work.remote_address + len(work.data) > 1 << 64:
        raise InputError(where, f"remote address {work.remote_address:#x}", "a range within 64 bits")
    for name, value in (("R_Key", work.r_key), ("immediate", work.immediate)):
        if value is not None and not 0 <= value < 1 << 32:
            raise InputError(where, f"{name} {value}", "a number of 32 bits")
