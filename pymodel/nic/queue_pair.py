"""A QP: a requester and a responder that share a name, a framer and a fate."""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvTable
from pymodel.nic.events import Action, PortChange, PostReceive, PostWrite, TimerFired
from pymodel.nic.framing import Framer
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

    def __init__(
        self, config: QpConfig, device: DeviceConfig, regions: RegionTable, congestion: CongestionControl
    ) -> None:
        self.config = config
        self.addresses = b"".join(address.to_bytes(16, "big") for address in (config.peer_address, device.address))
        """Source and destination of the inner IPv6 header of every frame for this QP."""
        framer = Framer(device, config)
        evs = EvTable(config.evs, config.seed, config.backup_evs, config.min_active_evs)
        control_evs = EvTable(config.control_evs or config.evs, config.seed)
        prober = Prober(config, framer, evs, device.options.probe_skip_once)
        self.requester = Requester(config, framer, evs, prober, congestion)
        self.responder = Responder(config, framer, control_evs, regions, device.options)

    @property
    def timer_keys(self) -> tuple[str, ...]:
        """Keys of the timers that this QP sets."""
        requester = self.requester
        timers = (requester.ack_timer, requester.pause_timer, requester.prober.timer, self.responder.quiet_timer)
        return tuple(timer.key for timer in timers)

    def handle(self, event: Frame | PostWrite | PostReceive | TimerFired | PortChange, now_ps: int) -> list[Action]:
        """Give the event to the half that it concerns; a failure of one half ends the other."""
        requester, responder = self.requester, self.responder
        match event:
            case Frame():
                out = (responder if event.opcode in _FOR_RESPONDER else requester).handle(event, now_ps)
            case PostWrite():
                _check(event)
                out = requester.handle(event, now_ps)
            case PostReceive():
                out = responder.handle(event, now_ps)
            case TimerFired(key):
                out = (responder if key == responder.quiet_timer.key else requester).handle(event, now_ps)
            case PortChange():
                out = requester.handle(event, now_ps) + responder.handle(event, now_ps)
        if requester.state is not _SENDS:
            responder.abort(out)
        elif responder.state is not _TAKES:
            requester.abort(out)
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
