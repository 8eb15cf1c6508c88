"""From what a core wants to say to the bytes of a frame: traffic class, encapsulation by EV, port, timestamp.

All packets of one EV and opcode that are equally long share everything from Ethernet to the destination QP, and
the ICRC up to there. For the middle packets of writes, and for answers, that is made once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.base.time import NS
from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig
from pymodel.nic.ev_table import EvSlot
from pymodel.nic.message import Message
from pymodel.wire.headers import Bth, Ethernet, Immdt, Ipv6, Meth, Reth, Tseth
from pymodel.wire.serial import PSN, Serial
from pymodel.wire.spec import (
    ICRC_BYTES,
    NOMINAL_OVERHEAD_BYTES,
    PAD_ALIGNMENT,
    TIMESTAMP_BITS,
    TIMESTAMP_UNIT_NS,
    Ecn,
    Opcode,
)
from pymodel.wire.template import FrameTemplate, bth_head, finish, flags_and_psn, write_rest, write_transport

__all__ = ["TIMESTAMP", "TIMESTAMP_UNIT_PS", "Framer", "timestamp"]

TIMESTAMP = Serial(TIMESTAMP_BITS)
TIMESTAMP_UNIT_PS = TIMESTAMP_UNIT_NS * NS

_RTX = flags_and_psn(0, rtx=True)


def timestamp(now_ps: int) -> int:
    """`now_ps` as TSETH carries it: 16 bits of 128 ns (mrc-facts.md 1.5)."""
    return now_ps // TIMESTAMP_UNIT_PS & TIMESTAMP.mask


class Framer:
    """Makes the frames of one QP."""

    def __init__(self, device: DeviceConfig, qp: QpConfig) -> None:
        self._device = device
        self._qp = qp
        self._middle_flags = flags_and_psn(0, ts=qp.timestamps)
        dscp = device.options.dscp
        trimmable = qp.trim_nack  # otherwise nobody would answer what is left of a packet
        self._first_dscp = dscp.no_trim if dscp.trimmable is None or not trimmable else dscp.trimmable
        self._again_dscp = dscp.no_trim if dscp.trimmable_retx is None or not trimmable else dscp.trimmable_retx
        self._no_trim_dscp = dscp.no_trim
        self._control_dscp = dscp.control
        # By port, and by whether the path needs an SRH.
        self._data = [[self._template(port, Ecn.ECT0, srh) for srh in (False, True)] for port in device.ports]
        self._control = [[self._template(port, Ecn.NOT_ECT, srh) for srh in (False, True)] for port in device.ports]
        self._heads = {int(opcode): bth_head(opcode, qp.peer_qpn, qp.p_key) for opcode in Opcode}
        headers = Bth.SIZE + Meth.SIZE + Reth.SIZE + (Tseth.SIZE if qp.timestamps else 0)
        self._full_length = headers + qp.mtu
        self._overhead = headers + ICRC_BYTES + NOMINAL_OVERHEAD_BYTES
        self.full_size = self._overhead + qp.mtu + -qp.mtu % PAD_ALIGNMENT
        """Nominal size of a packet that carries a whole MTU, in bytes."""
        self.makes_runs = qp.mtu % PAD_ALIGNMENT == 0
        """Full packets need no pad, so that `write_run` can make them."""
        # Up to the head of the BTH, and the ICRC there; by EV, and by EV << 8 | opcode.
        self._middle_fronts: dict[int, tuple[bytes, int]] = {}
        self._control_fronts: dict[int, tuple[bytes, int]] = {}

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
        if number < message.last:
            return self.full_size
        length = message.length - number * self._qp.mtu
        immediate = 0 if message.immediate is None else Immdt.SIZE
        return self._overhead + immediate + length + -length % PAD_ALIGNMENT

    def stamp(self, now_ps: int) -> int | None:
        """The time as data packets of this QP carry it; None when they carry none."""
        return timestamp(now_ps) if self._qp.timestamps else None

    def write(self, slot: EvSlot, psn: int, message: Message, number: int, ack: bool, stamp: int | None) -> bytes:
        """Packet `number` of `message` as a data frame on the EV of `slot` (mrc-facts.md 1.1, 1.2), for the first
        time; `stamp` is that of the moment."""
        return self._write(slot, psn, message, number, ack, stamp)

    def write_run(
        self, slots: Sequence[EvSlot], psn: int, message: Message, number: int, stamp: int | None
    ) -> list[bytes]:
        """The same for packets in a row that carry a whole MTU each and are neither first nor last of `message`: those
        from `number` on, whose PSNs begin with `psn`, one on each of `slots`."""
        known, data, mtu, flags = self._middle_fronts, message.data, self._qp.mtu, self._middle_flags
        meth, r_key, length, at, va = message.meth, message.r_key, message.length, number * mtu, message.address
        frames = []
        for slot in slots:
            front, crc = known.get(slot.ev) or self._middle_front(slot)
            rest = write_rest(flags | psn, meth, stamp, va + at, r_key, length)
            frames.append(finish(front, crc, rest, data[at : at + mtu]))
            psn = psn + 1 & PSN.mask
            at += mtu
        return frames

    def _middle_front(self, slot: EvSlot) -> tuple[bytes, int]:
        """What every middle packet on this EV begins with, and the ICRC so far; kept from now on."""
        template = self._data[slot.port][slot.record.segment is not None]
        head = self._heads[Opcode.WRITE_MIDDLE]
        front = template.front(self._full_length, slot.ev, slot.path, self._first_dscp, head)
        self._middle_fronts[slot.ev] = front
        return front

    def write_again(self, slot: EvSlot, psn: int, message: Message, number: int, ack: bool, stamp: int | None) -> bytes:
        """A packet as `write` makes it, as a retransmission."""
        return self._write(slot, psn, message, number, ack, stamp, rtx=True)

    def _write(
        self, slot: EvSlot, psn: int, message: Message, number: int, ack: bool, stamp: int | None, *, rtx: bool = False
    ) -> bytes:
        """Any packet of a write."""
        qp = self._qp
        offset = number * qp.mtu
        transport = write_transport(
            message.opcode(number),
            qp.peer_qpn,
            psn,
            message.msn,
            message.address + offset,
            message.r_key,
            message.length,
            rqmsn=message.rqmsn,
            tx_timestamp=stamp,
            immediate=message.immediate if number == message.last else None,
            ack_req=ack,
            rtx=rtx,
            p_key=qp.p_key,
        )
        template = self._data[slot.port][slot.record.segment is not None]
        dscp = self._again_dscp if rtx else self._first_dscp
        return template.pack(transport, message.data[offset : offset + qp.mtu], slot.ev, slot.path, dscp)

    def control(self, slot: EvSlot, opcode: Opcode, psn: int, body: bytes, rtx: bool = False) -> bytes:
        """A frame of the control class: SACK, NACK or transport ACK with its packed `body`."""
        key = slot.ev << 8 | opcode
        front = self._control_fronts.get(key)
        if front is None:
            template = self._control[slot.port][slot.record.segment is not None]
            length, head = Bth.SIZE + len(body), self._heads[opcode]
            front = self._control_fronts[key] = template.front(length, slot.ev, slot.path, self._control_dscp, head)
        flags_psn = _RTX | psn if rtx else psn
        return finish(front[0], front[1], flags_psn.to_bytes(4, "big") + body)

    def probe(self, slot: EvSlot, body: bytes) -> bytes:
        """A reliability probe: data class, never trimmed (mrc-facts.md 1.12, 11)."""
        template = self._data[slot.port][slot.record.segment is not None]
        bth = Bth(opcode=Opcode.PROBE_REQUEST, p_key=self._qp.p_key, dest_qp=self._qp.peer_qpn)
        return template.pack(bth.pack() + body, b"", slot.ev, slot.path, self._no_trim_dscp)
