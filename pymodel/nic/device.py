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
from pymodel.nic.memory import RegionTable
from pymodel.nic.queue_pair import QueuePair
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import Opcode

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

    def add_qp(self, config: QpConfig, congestion: CongestionControl | None = None) -> QueuePair:
        """Create a QP, ready to send and receive. QPs towards one destination may share a `congestion` controller."""
        if config.qpn in self._qps:
            raise InputError("QPN", str(config.qpn), "a number that no other QP of this device has")
        for record in (*config.evs, *config.backup_evs, *config.control_evs):
            if not 0 <= record.port < len(self.config.ports):
                where = f"QP {config.qpn}: EV {record.ev:#x}"
                raise InputError(where, f"port {record.port}", f"a port below {len(self.config.ports)}")
        qp = QueuePair(config, self.config, self.regions, congestion or NoCongestionControl())
        self._qps[config.qpn] = qp
        self._by_timer.update(dict.fromkeys(qp.timer_keys, qp))
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
