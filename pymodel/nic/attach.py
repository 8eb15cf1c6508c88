"""Devices and QP pairs for the hosts of a topology.

topology = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2)
here, there = device_for(topology, "h0-0"), device_for(topology, "h1-0")
connect(topology, End("h0-0", here, qpn=16), End("h1-0", there, qpn=17), evs=32, seed=1)
region = there.regions.register(0x1000, 1 << 20)
actions = here.handle(PostWrite(16, wr_id=1, data=data, remote_address=0x1000, r_key=region.r_key), now_ps=0)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields

from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig, QpSettings
from pymodel.nic.congestion import CongestionControl, NoCongestionControl
from pymodel.nic.device import Device
from pymodel.nic.queue_pair import QueuePair
from pymodel.paths.topology import Switch, Topology
from pymodel.wire.spec import DEFAULT_OPTIONS, PSN_BITS, UsidRole, WireOptions

__all__ = ["End", "connect", "device_for"]

DEFAULT_SETTINGS = QpSettings()


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection to be made: the host's name in the topology, its device, and the new QP's number.

    `send_psn` is the first PSN sent from here; drawn from the seed when None.
    """

    host: str
    device: Device
    qpn: int
    send_psn: int | None = None


def device_for(topology: Topology, name: str, options: WireOptions = DEFAULT_OPTIONS) -> Device:
    """The NIC of host `name`: port i is in plane i and cabled to its T0 there."""
    host = topology.host(name)
    ports = tuple(
        PortConfig(
            mac=topology.host_mac(host, plane),
            switch_mac=topology.switch_mac(Switch(plane, UsidRole.T0, host.t0), host.downlink),
            source_address=topology.source_address(host, plane),
        )
        for plane in range(topology.planes)
    )
    return Device(DeviceConfig(ports=ports, address=topology.inner_address(host), options=options))


def connect(
    topology: Topology,
    here: End,
    there: End,
    *,
    evs: int,
    seed: int,
    settings: QpSettings = DEFAULT_SETTINGS,
    there_settings: QpSettings | None = None,
    congestion: Callable[[], CongestionControl] = NoCongestionControl,
) -> tuple[QueuePair, QueuePair]:
    """Make a QP at each end, with `evs` EVs in each direction, the same number per plane.

    `seed` settles EV sets, their order and first PSNs; `there_settings` are those of the other end where they differ;
    `congestion` makes the controller of each end.
    """
    rng = random.Random(f"{seed} connect {here.host}:{here.qpn} {there.host}:{there.qpn}")
    out, back = (rng.getrandbits(PSN_BITS) if end.send_psn is None else end.send_psn for end in (here, there))

    def make(own: End, peer: End, send_psn: int, receive_psn: int, given: QpSettings) -> QueuePair:
        config = QpConfig(
            qpn=own.qpn,
            peer_qpn=peer.qpn,
            peer_address=topology.inner_address(topology.host(peer.host)),
            evs=tuple(topology.ev_set(own.host, peer.host, evs, seed)),
            seed=rng.randrange(1, 1 << 32),
            send_psn=send_psn,
            receive_psn=receive_psn,
            **{field.name: getattr(given, field.name) for field in fields(QpSettings)},
        )
        return own.device.add_qp(config, congestion())

    return make(here, there, out, back, settings), make(there, here, back, out, there_settings or settings)
