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
from pymodel.nic.events import (
    Action,
    Command,
    Event,
    FrameIn,
    PortChange,
    PostReceive,
    PostWrite,
    TimerFired,
)
from pymodel.nic.lifecycle import QpInformation, QpState
from pymodel.nic.memory import RegionTable
from pymodel.nic.queue_pair import QueuePair
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import ENDPOINT_QP, QPN_BITS, Opcode

__all__ = ["Device"]

_OF_QP = frozenset(Opcode) - {Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE}


class Device:
    """One NIC."""

    def __init__(self, config: DeviceConfig) -> None:
        self.config = config
        self.regions = RegionTable(config.regions)
        self.dropped: Counter[str] = Counter()
        """Frames that had no effect, by cause."""
        self._qps: dict[int, QueuePair] = {}
        self._by_timer: dict[str, QueuePair] = {}

    def create_qp(self, qpn: int) -> QueuePair:
        """Create a QP in RESET; `modify_qp` makes it ready, step by step."""
        if not ENDPOINT_QP < qpn < 1 << QPN_BITS:
            raise InputError("QPN", str(qpn), f"a number from {ENDPOINT_QP + 1} to {(1 << QPN_BITS) - 1}")
        if qpn in self._qps:
            raise InputError("QPN", str(qpn), "a number that no other QP of this device has")
        qp = QueuePair(qpn, self.config, self.regions)
        self._qps[qpn] = qp
        self._by_timer.update(dict.fromkeys(qp.timer_keys, qp))
        return qp

    def modify_qp(self, qpn: int, to: QpState, **attributes: Any) -> list[Action]:
        """Take QP `qpn` to state `to` and return what follows: timers stopped, and on the way to ERROR work flushed.

        `attributes` are the fields of `QpConfig`, and `congestion`, that `lifecycle.REQUIRED` and `OPTIONAL` name for
        the step. InputError, and no change, when there is no such step or an attribute is missing, unknown or wrong.
        """
        return self.qp(qpn).modify(to, attributes)

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
            return self._on_frame(event.data, now_ps)
        match event:
            case TimerFired(key):
                qp = self._by_timer.get(key)
                return qp.handle(event, now_ps) if qp is not None else []
            case PostWrite() | PostReceive():
                return self.qp(event.qpn).handle(event, now_ps)
            case PortChange(port):
                if not 0 <= port < len(self.config.ports):
                    raise InputError("port", str(port), f"a port below {len(self.config.ports)}")
                return [action for qp in self._qps.values() for action in qp.handle(event, now_ps)]
            case Command(name):
                raise InputError("command", name, "a command that this device knows")

    def _on_frame(self, data: bytes, now_ps: int) -> list[Action]:
        frame = parse(data, self.config.options)
        if isinstance(frame, ParseError):
            self.dropped[f"parse: {frame.cause.name}"] += 1
            return []
        if frame.opcode not in _OF_QP:
            self.dropped["endpoint operation"] += 1
            return []
        qp = self._qps.get(frame.dest_qp)
        if qp is None:
            self.dropped["unknown QP"] += 1
            return []
        if frame.addresses != qp.addresses:
            self.dropped["wrong address"] += 1
            return []
        return qp.handle(frame, now_ps)
