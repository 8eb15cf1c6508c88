"""A NIC: ports, QPs and memory regions behind one method.

    config = DeviceConfig(ports=(PortConfig(mac, switch_mac, source_address), ...), address=inner_address)
    device = Device(config)
    device.add_qp(QpConfig(qpn=..., peer_qpn=..., peer_address=..., evs=...))
    region = device.regions.register(address, length)          # region.r_key goes to the peer, out of band
    actions = device.handle(PostWrite(qpn, wr_id, data, remote_address, r_key), now_ps)

`pymodel.nic.attach` makes devices and QP pairs from a topology. The caller carries out the actions: frames to links,
`WriteMemory` to memory (it has been checked against the regions), timers to its queue, whose expiry comes back as
`TimerFired`. Right behind each `Complete` of a write stands a `Notify("write_ended")` with its counts of packets,
retransmissions, nacks and timeouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pymodel.base.errors import InputError
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.congestion import CongestionControl, NoCongestionControl
from pymodel.nic.endpoint import Endpoint
from pymodel.nic.events import (
    Action,
    Command,
    Event,
    FrameIn,
    PortChange,
    PostEndpointRequest,
    PostReceive,
    PostWrite,
    TimerFired,
)
from pymodel.nic.lifecycle import QpInformation, QpState
from pymodel.nic.memory import RegionTable
from pymodel.nic.ports import PortStates
from pymodel.nic.prober import PortBudget
from pymodel.nic.queue_pair import QueuePair
from pymodel.nic.reverse import ReversePaths
from pymodel.wire.flow_parser import FlowParser
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError
from pymodel.wire.spec import ENDPOINT_QP, QPN_BITS, Opcode

__all__ = ["Device"]

_OF_ENDPOINT = (int(Opcode.ENDPOINT_REQUEST), int(Opcode.ENDPOINT_RESPONSE))


class Device:
    """One NIC."""

    def __init__(self, config: DeviceConfig) -> None:
        self.config = config
        self.regions = RegionTable(config.regions)
        self.dropped: Counter[str] = Counter()
        """Frames that had no effect, by cause."""
        self.ports = PortStates(len(config.ports))
        """Which ports are up, here and at the peers."""
        self._parser = FlowParser(config.options)
        self._budget = PortBudget()
        self._endpoint = Endpoint(config, self.ports, self.dropped)
        self._qps: dict[int, QueuePair] = {}
        self._by_timer: dict[str, QueuePair] = {}

    def create_qp(self, qpn: int) -> QueuePair:
        """Create a QP in RESET; `modify_qp` makes it ready, step by step."""
        if not ENDPOINT_QP < qpn < 1 << QPN_BITS:
            raise InputError("QPN", str(qpn), f"a number from {ENDPOINT_QP + 1} to {(1 << QPN_BITS) - 1}")
        if qpn in self._qps:
            raise InputError("QPN", str(qpn), "a number that no other QP of this device has")
        qp = QueuePair(qpn, self.config, self.regions, self.ports, self._budget, self._endpoint)
        self._qps[qpn] = qp
        self._by_timer.update(dict.fromkeys(qp.timer_keys, qp))
        return qp

    def modify_qp(self, qpn: int, to: QpState, *, now_ps: int = 0, **attributes: Any) -> list[Action]:
        """Take QP `qpn` to state `to` and return what follows: timers stopped, and on the way to ERROR work flushed.

        While a local port is down, a peer that the QP reaches in RTR is told (hence `now_ps`).

        `attributes` are the fields of `QpConfig`, and `congestion`, that `lifecycle.REQUIRED` and `OPTIONAL` name for
        the step. InputError, and no change, when there is no such step or an attribute is missing, unknown or wrong.
        """
        qp = self.qp(qpn)
        out = qp.modify(to, attributes)
        if to is QpState.RTR and not self.ports.all_up:
            self._endpoint.tell_ports({qp.config.peer_address: qp.responder.reverse}, now_ps, out)
        return out

    def query_qp(self, qpn: int) -> QpInformation:
        """State and attributes of QP `qpn`."""
        return self.qp(qpn).query()

    def destroy_qp(self, qpn: int) -> list[Action]:
        """Forget QP `qpn` with all its work and return what follows: timers stopped. Frames for it are unknown now."""
        qp = self.qp(qpn)
        del self._qps[qpn]
        for key in qp.timer_keys:
            del self._by_timer[key]
        return qp.destroy()

    def add_qp(self, config: QpConfig, congestion: CongestionControl | None = None) -> QueuePair:
        """Create a QP and take it to RTS at once. QPs towards one destination may share a `congestion` controller."""
        qp = self.create_qp(config.qpn)
        try:
            qp.make_ready(config, congestion or NoCongestionControl())
        except InputError:
            self.destroy_qp(config.qpn)
            raise
        return qp

    def qp(self, qpn: int) -> QueuePair:
        """The QP of that number."""
        if qpn not in self._qps:
            raise InputError("QPN", str(qpn), "the number of a QP of this device")
        return self._qps[qpn]

    def qps(self) -> Iterable[QueuePair]:
        """Every QP, in the order in which they were made."""
        return self._qps.values()

    def handle(self, event: Event, now_ps: int) -> list[Action]:
        """Take one event at `now_ps` and return what follows.

        No frame raises. InputError when software asks for something that is wrong: a QP that does not exist, a write
        beyond the address space.
        """
        if isinstance(event, FrameIn):
            frame = self._parser.parse(event.data)
            if isinstance(frame, ParseError):
                return self._drop(f"parse: {frame.cause.name}")
            qp = self._qps.get(frame.dest_qp)
            if (
                qp is not None
                and frame.addresses == qp.addresses
                and frame.p_key == qp.quick_p_key
                and frame.opcode not in _OF_ENDPOINT
            ):
                return qp.receive(frame, now_ps)
            return self._on_other_frame(frame, event.port, now_ps)
        out: list[Action] = []
        match event:
            case TimerFired(key):
                qp = self._by_timer.get(key)
                if qp is not None:
                    return qp.handle(event, now_ps)
                if key in self._endpoint.timer_keys:
                    self._endpoint.expire(event, self._peers(), now_ps, out)
            case PostWrite() | PostReceive():
                return self.qp(event.qpn).handle(event, now_ps)
            case PostEndpointRequest():
                self._endpoint.post(event, now_ps, out)
            case PortChange(port, up):
                if self.ports.set_local(port, up):
                    self._endpoint.tell_ports(self._peers(), now_ps, out)
                    self._ports_changed(None, now_ps, out)
            case Command(name, _, qpn):
                if qpn is None:
                    raise InputError("command", name, "a QP")
                return self.qp(qpn).handle(event, now_ps)
        return out

    def _on_other_frame(self, frame: Frame, port: int, now_ps: int) -> list[Action]:
        """A frame that is not plainly a QP's: an endpoint operation, or one that needs a closer look."""
        if frame.opcode in _OF_ENDPOINT:
            out: list[Action] = []
            peer = self._endpoint.receive(frame, port, self._peers(), now_ps, out)
            if peer is not None:
                self._ports_changed(peer, now_ps, out)
            return out
        qp = self._qps.get(frame.dest_qp)
        if qp is None:
            return self._drop("unknown QP")
        cause = qp.objection(frame)
        return qp.receive(frame, now_ps) if cause is None else self._drop(cause)

    def _drop(self, cause: str) -> list[Action]:
        self.dropped[cause] += 1
        return []

    def _peers(self) -> dict[int, ReversePaths]:
        """The peers of all QPs from RTR on, by inner address, each with EVs towards it."""
        peers: dict[int, ReversePaths] = {}
        for qp in self._qps.values():
            if qp.addresses:
                peers.setdefault(qp.config.peer_address, qp.responder.reverse)
        return peers

    def _ports_changed(self, peer: int | None, now_ps: int, out: list[Action]) -> None:
        """Planes went up or down: on the way to `peer`, or to all when None."""
        for qp in self._qps.values():
            if qp.addresses and peer in (None, qp.config.peer_address):
                qp.update_ports()
                out += qp.proceed(now_ps)
