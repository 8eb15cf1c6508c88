"""A QP: a requester and a responder that share a name, a framer, a life and a fate."""

from __future__ import annotations

from collections import deque
from dataclasses import fields
from typing import Any

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvTable
from pymodel.nic.events import Action, Complete, PortChange, PostReceive, PostWrite, TimerFired
from pymodel.nic.framing import Framer
from pymodel.nic.lifecycle import OPTIONAL, REQUIRED, QpInformation, QpState, require_step, validated
from pymodel.nic.memory import RegionTable
from pymodel.nic.prober import Prober
from pymodel.nic.requester import Requester, RequesterState
from pymodel.nic.responder import Responder, ResponderState
from pymodel.wire.frame import Frame
from pymodel.wire.spec import DATA_OPCODES, Opcode

__all__ = ["QueuePair"]

_FOR_RESPONDER = DATA_OPCODES | {Opcode.PROBE_REQUEST}
_SENDS, _TAKES = RequesterState.READY, ResponderState.READY
_LENGTH_MAX = (1 << 32) - 1


class QueuePair:
    """One end of a connection. Data and control frames have EV tables of their own, so that each order stands alone."""

    def __init__(self, qpn: int, device: DeviceConfig, regions: RegionTable) -> None:
        """A QP in RESET; `modify` makes it ready."""
        self.qpn = qpn
        self.addresses = b""
        """From RTR on source and destination of the inner IPv6 header of every frame for this QP; else empty."""
        self._device = device
        self._regions = regions
        self._begin()

    def _begin(self) -> None:
        self._attributes: dict[str, Any] = {}
        self._state = QpState.RESET
        self._config: QpConfig | None = None
        self._requester: Requester | None = None
        self._responder: Responder | None = None
        self._receives: deque[int] = deque()
        self._down: set[int] = set()
        self.addresses = b""

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

    def query(self) -> QpInformation:
        """State and attributes."""
        known = dict(self._attributes)
        if self._config is not None:
            known |= {each.name: getattr(self._config, each.name) for each in fields(QpConfig) if each.name != "qpn"}
        return QpInformation(self.qpn, self._state, known)

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
        EvTable(config.evs, config.seed, config.backup_evs, config.min_active_evs)

    def _make_responder(self, config: QpConfig) -> None:
        self.addresses = b"".join(each.to_bytes(16, "big") for each in (config.peer_address, self._device.address))
        framer = Framer(self._device, config)
        evs = EvTable(config.control_evs or config.evs, config.seed)
        for port in self._down:
            evs.set_port(port, up=False)
        self._responder = Responder(config, framer, evs, self._regions, self._device.options, self._receives)

    def _make_requester(self, config: QpConfig) -> None:
        framer = Framer(self._device, config)
        evs = EvTable(config.evs, config.seed, config.backup_evs, config.min_active_evs)
        for port in self._down:
            evs.set_port(port, up=False)
        prober = Prober(config, framer, evs, self._device.options.probe_skip_once)
        self._requester = Requester(config, framer, evs, prober, self._attributes["congestion"])

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
        return tuple(f"qp{self.qpn}/{name}" for name in ("ack", "pause", "probe", "quiet"))

    # Events

    def handle(self, event: Frame | PostWrite | PostReceive | TimerFired | PortChange, now_ps: int) -> list[Action]:
        """Give the event to the half that it concerns; a failure of one half ends the other.

        InputError when software posts work that the QP's state does not take.
        """
        requester, responder = self._requester, self._responder
        out: list[Action] = []
        match event:
            case Frame():
                half = responder if event.opcode in _FOR_RESPONDER else requester
                if half is not None:
                    out = half.handle(event, now_ps)
            case PostWrite():
                _check(event)
                if requester is not None:
                    out = requester.handle(event, now_ps)
                elif self._state is QpState.ERROR:
                    out.append(Complete(self.qpn, event.wr_id, "flushed", 0))
                else:
                    raise InputError(f"QP {self.qpn}", f"a write in {self._state.value}", "RTS")
            case PostReceive():
                if self._state is QpState.RESET:
                    raise InputError(f"QP {self.qpn}", "a receive in RESET", "INIT, RTR or RTS")
                if self._state is QpState.ERROR:
                    out.append(Complete(self.qpn, event.wr_id, "flushed", 0))
                else:
                    self._receives.append(event.wr_id)
            case TimerFired(key):
                half = responder if key.endswith("/quiet") else requester
                if half is not None:
                    out = half.handle(event, now_ps)
            case PortChange(port, up):
                (self._down.discard if up else self._down.add)(port)
                for half in (requester, responder):
                    if half is not None:
                        out += half.handle(event, now_ps)
        if self._state is not QpState.ERROR:
            failed = responder is not None and responder.state is not _TAKES
            if failed or (requester is not None and requester.state is not _SENDS):
                self._fail(out)
        return out


def _check(work: PostWrite) -> None:
    where = f"write {work.wr_id} of QP {work.qpn}"
    if len(work.data) > _LENGTH_MAX:
        raise InputError(where, f"{len(work.data)} bytes", f"at most {_LENGTH_MAX} bytes")
    if work.remote_address < 0 or work.remote_address + len(work.data) > 1 << 64:
        raise InputError(where, f"remote address {work.remote_address:#x}", "a range within 64 bits")
    for name, value in (("R_Key", work.r_key), ("immediate", work.immediate)):
        if value is not None and not 0 <= value < 1 << 32:
            raise InputError(where, f"{name} {value}", "a number of 32 bits")
