"""The frames that benchmarks measure with: write packets of one host, over its EVs, into its T0.

142 bytes is a data packet of MRC without payload and 4,238 one with 4096 bytes (mrc-facts.md 1.1): Ethernet, outer and
inner IPv6, UDP, BTH, METH, TSETH, RETH and ICRC, no SRH.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from pymodel.paths.tables import QueueSettings, TableEntry, switch_entries
from pymodel.paths.topology import Host, Switch, Topology
from pymodel.wire.headers import Ethernet, Ipv6, Segment
from pymodel.wire.spec import MTU_DEFAULT, Ecn, Opcode, UsidRole
from pymodel.wire.template import FrameTemplate, write_transport

__all__ = ["FABRIC", "HOST", "LONG", "PAYLOAD", "SHORT", "SWITCH", "Packet", "entries", "frames", "packets"]

FABRIC = Topology(planes=2, t0=8, t1=8, hosts_per_t0=8)
HOST = Host(0, 0)
SWITCH = Switch(0, UsidRole.T0, 0)
"""The T0 of `HOST` in plane 0. Frames of `HOST` come in on its port 0 and leave, shifted, by its eight uplinks."""

_QUEUES = QueueSettings(data_limit=(1 << 31) - 1, high_limit=(1 << 31) - 1, ecn=False)
"""A peer that is fed as fast as it takes frames queues them; none may be marked or cut for it."""

SHORT = 0
LONG = MTU_DEFAULT
"""Bytes of payload."""

PAYLOAD = bytes(number * 167 >> 3 & 0xFF for number in range(LONG))

_EVS = 16
_FIRST_PSN = 0xABC000
_DEST_QP = 0x11
_MSN = 7
_R_KEY = 0x1205
_DMA_LENGTH = 1 << 30
_VA = 0x7F00_0000_0000
_TIMESTAMP = 0x1234


@dataclass(frozen=True, slots=True)
class Packet:
    """One write packet and how to make its frame."""

    psn: int
    payload: bytes
    template: FrameTemplate
    ev: int
    path: bytes

    def frame(self) -> bytes:
        """The whole frame."""
        va = _VA + self.psn * MTU_DEFAULT
        transport = write_transport(
            Opcode.WRITE_MIDDLE, _DEST_QP, self.psn, _MSN, va, _R_KEY, _DMA_LENGTH, tx_timestamp=_TIMESTAMP
        )
        return self.template.pack(transport, self.payload, self.ev, self.path)


def entries() -> Iterator[TableEntry]:
    """The table entries of `SWITCH`."""
    return switch_entries(FABRIC, SWITCH, _QUEUES)


def packets(payload_bytes: int, count: int) -> list[Packet]:
    """`count` packets with `payload_bytes` of payload and PSNs in order, in turn to `_flows`."""
    payload = PAYLOAD[:payload_bytes]
    flows = itertools.islice(itertools.cycle(_flows()), count)
    return [Packet(psn, payload, *flow) for psn, flow in enumerate(flows, start=_FIRST_PSN)]


def frames(payload_bytes: int, count: int) -> list[bytes]:
    """The frames of `packets`."""
    return [packet.frame() for packet in packets(payload_bytes, count)]


def _flows() -> Iterator[tuple[FrameTemplate, int, bytes]]:
    """Template, EV and path to each of seven hosts under seven other T0s, over every uplink of the plane."""
    for number in range(1, FABRIC.t0):
        destination = Host(number, number)
        template = FrameTemplate(
            ethernet=Ethernet(dst=FABRIC.switch_mac(SWITCH, HOST.downlink), src=FABRIC.host_mac(HOST, SWITCH.plane)),
            ip=Ipv6(ecn=Ecn.ECT0, src=FABRIC.inner_address(HOST), dst=FABRIC.inner_address(destination)),
            outer_src=FABRIC.source_address(HOST, SWITCH.plane),
        )
        for record in FABRIC.ev_set(HOST.name, destination.name, _EVS, seed=1):
            if record.port == SWITCH.plane:
                yield template, record.ev, Segment(address=record.address).pack()
