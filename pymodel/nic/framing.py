"""From what a core wants to say to the bytes of a frame: traffic class, encapsulation by EV, port, timestamp."""

from __future__ import annotations

from pymodel.base.time import NS
from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig
from pymodel.nic.ev_table import EvSlot
from pymodel.nic.message import Message
from pymodel.wire.headers import Bth, Ethernet, Immdt, Ipv6, Meth, Reth, Tseth
from pymodel.wire.serial import Serial
from pymodel.wire.spec import (
    ICRC_BYTES,
    NOMINAL_OVERHEAD_BYTES,
    PAD_ALIGNMENT,
    TIMESTAMP_BITS,
    TIMESTAMP_UNIT_NS,
    Ecn,
    Opcode,
)
from pymodel.wire.template import FrameTemplate, write_transport

__all__ = ["TIMESTAMP", "TIMESTAMP_UNIT_PS", "Framer", "timestamp"]

TIMESTAMP = Serial(TIMESTAMP_BITS)
TIMESTAMP_UNIT_PS = TIMESTAMP_UNIT_NS * NS


def timestamp(now_ps: int) -> int:
    """`now_ps` as TSETH carries it: 16 bits of 128 ns (mrc-facts.md 1.5)."""
    return now_ps // TIMESTAMP_UNIT_PS & TIMESTAMP.mask


class Framer:
    """Makes the frames of one QP."""

    def __init__(self, device: DeviceConfig, qp: QpConfig) -> None:
        self._device = device
        self._qp = qp
        dscp = device.options.dscp
        self._first_dscp = dscp.no_trim if dscp.trimmable is None else dscp.trimmable
        self._again_dscp = dscp.no_trim if dscp.trimmable_retx is None else dscp.trimmable_retx
        self._no_trim_dscp = dscp.no_trim
        self._control_dscp = dscp.control
        # By port, and by whether the path needs an SRH.
        self._data = [[self._template(port, Ecn.ECT0, srh) for srh in (False, True)] for port in device.ports]
        self._control = [[self._template(port, Ecn.NOT_ECT, srh) for srh in (False, True)] for port in device.ports]
        headers = Bth.SIZE + Meth.SIZE + Reth.SIZE + (Tseth.SIZE if qp.timestamps else 0)
        self._overhead = headers + ICRC_BYTES + NOMINAL_OVERHEAD_BYTES
        self.full_size = self._overhead + qp.mtu
        """Nominal size of a packet that carries a whole MTU, in bytes."""

    def _template(self, port: PortConfig, ecn: Ecn, srh: bool) -> FrameTemplate:
        return FrameTemplate(
            ethernet=Ethernet(dst=port.switch_mac, src=port.mac),
            ip=Ipv6(ecn=ecn, src=self._device.address, dst=self._qp.peer_address),
            outer_src=port.source_address,
            srh=srh,
            options=self._device.options,
        )

    def nominal_size(self, message: Message, number: int) -> int:
        """Bytes for which packet `number` of `message` counts: UDP payload + 40 (mrc-facts.md 2.6)."""
        if number < message.packets - 1:
            return self.full_size
        length = message.length - number * self._qp.mtu
        immediate = 0 if message.immediate is None else Immdt.SIZE
        return self._overhead + immediate + length + -length % PAD_ALIGNMENT

    def write(self, slot: EvSlot, psn: int, message: Message, number: int, ack: bool, rtx: bool, now_ps: int) -> bytes:
        """Packet `number` of `message` as a data frame on the EV of `slot` (mrc-facts.md 1.1, 1.2)."""
        qp, work = self._qp, message.work
        offset = number * qp.mtu
        transport = write_transport(
            message.opcode(number),
            qp.peer_qpn,
            psn,
            message.msn,
            work.remote_address + offset,
            work.r_key,
            message.length,
            rqmsn=message.rqmsn,
            tx_timestamp=timestamp(now_ps) if qp.timestamps else None,
            immediate=work.immediate if number == message.packets - 1 else None,
            ack_req=ack,
            rtx=rtx,
            p_key=qp.p_key,
        )
        payload = work.data[offset : offset + qp.mtu]
        return self._pack(self._data, slot, transport, payload, self._again_dscp if rtx else self._first_dscp)

    def control(self, slot: EvSlot, opcode: Opcode, psn: int, body: bytes, rtx: bool = False) -> bytes:
        """A frame of the control class: SACK, NACK or transport ACK with its packed `body`."""
        bth = Bth(opcode=opcode, p_key=self._qp.p_key, dest_qp=self._qp.peer_qpn, rtx=rtx, psn=psn)
        return self._pack(self._control, slot, bth.pack() + body, b"", self._control_dscp)

    def probe(self, slot: EvSlot, body: bytes) -> bytes:
        """A reliability probe: data class, never trimmed (mrc-facts.md 1.12, 11)."""
        bth = Bth(opcode=Opcode.PROBE_REQUEST, p_key=self._qp.p_key, dest_qp=self._qp.peer_qpn)
        return self._pack(self._data, slot, bth.pack() + body, b"", self._no_trim_dscp)

    def _pack(
        self, templates: list[list[FrameTemplate]], slot: EvSlot, transport: bytes, payload: bytes, dscp: int
    ) -> bytes:
        template = templates[slot.port][slot.record.segment is not None]
        return template.pack(transport, payload, slot.ev, slot.path, dscp)
