"""The receiving half of a QP: packets become memory writes, and answers.

Three layers, kept apart (mrc-facts.md 3): packets are tracked and answered by SACK and NACK; messages complete in
order and are answered by transport ACK and NAK; a message with immediate makes a completion. A packet is placed as it
comes, in any order: checked, then placed, then marked received, then the window moves.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

from pymodel.nic.config import QpConfig
from pymodel.nic.delivery import Delivery
from pymodel.nic.events import Action, FrameOut, Notify, TimerFired, WriteMemory
from pymodel.nic.framing import TIMESTAMP, TIMESTAMP_UNIT_PS, Framer
from pymodel.nic.lifecycle import QpError
from pymodel.nic.memory import Access, RegionTable
from pymodel.nic.receive_window import ArrivalClass, ReceiveWindow
from pymodel.nic.reverse import ReversePaths
from pymodel.nic.send_window import mpr_from_psns, mpr_to_psns
from pymodel.nic.timer import Timer
from pymodel.wire.frame import Frame
from pymodel.wire.headers import Aeth, Neth, Udp
from pymodel.wire.sack import pack_sack
from pymodel.wire.serial import PSN
from pymodel.wire.spec import (
    IMMEDIATE_OPCODES,
    NOMINAL_OVERHEAD_BYTES,
    RCVD_BYTES_BITS,
    RCVD_BYTES_UNIT,
    SACK_MIN_BYTES_PER_PACKET,
    AethSyndrome,
    Ecn,
    NackReason,
    Opcode,
    OutOfWindow,
    SackM,
    WireOptions,
)

__all__ = ["Responder", "ResponderState"]

_RCVD_BYTES_MASK = (1 << RCVD_BYTES_BITS) - 1
_DCID_MASK = (1 << 16) - 1
_OFFSET_MIN = -(1 << 15)
_FULL = frozenset({int(Opcode.WRITE_FIRST), int(Opcode.WRITE_MIDDLE)})
"""Opcodes whose packets carry a whole MTU; the others end their message (mrc-facts.md 8.2)."""

_IMMEDIATE = frozenset(map(int, IMMEDIATE_OPCODES))

# What every packet is compared with: members of an enumeration are slow to reach.
_NEW, _ABOVE = ArrivalClass.NEW, ArrivalClass.ABOVE
_GRANTED = Access.GRANTED
_CE = int(Ecn.CE)
_PROBE_REQUEST = int(Opcode.PROBE_REQUEST)
_SACK = Opcode.SACK
_NONE, _SKIP_ONCE = int(SackM.NONE), int(SackM.SKIP_ONCE)
_PSN_MASK, _OFFSET_LIMIT = PSN.mask, 1 << 15
_COUNTED = NOMINAL_OVERHEAD_BYTES - Udp.SIZE


_NAK = {
    QpError.LOCAL_ACCESS: AethSyndrome.NAK_REMOTE_ACCESS,
    QpError.LOCAL_REQUEST: AethSyndrome.NAK_INVALID_REQUEST,
    QpError.WIMM_EXCEEDED: AethSyndrome.NAK_INVALID_REQUEST,
    QpError.NO_RECEIVE: AethSyndrome.NAK_INVALID_REQUEST,
}


class ResponderState(Enum):
    """What the responder does with packets."""

    READY = "takes packets"
    REFUSED = "met a fault and answers every write with its NAK"
    STOPPED = "answers every write with NACK UNEXP_EVENT, since the QP failed elsewhere"


_READY = ResponderState.READY


class Responder:
    """Takes one QP's inbound packets."""

    def __init__(
        self,
        config: QpConfig,
        framer: Framer,
        reverse: ReversePaths,
        regions: RegionTable,
        options: WireOptions,
        receives: deque[int],
    ) -> None:
        """`receives` holds the QP's receive work requests, by wr_id; `reverse` its EVs for answers."""
        self.config = config
        self._mtu = config.mtu
        self._sack_threshold = config.sack_threshold
        self.state = ResponderState.READY
        self.error: QpError | None = None
        """What went wrong here; None when the QP failed elsewhere, or did not."""
        self.window = ReceiveWindow(mpr_to_psns(config.responder_mpr_units), config.receive_psn)
        self.delivery = Delivery(config.qpn, receives)
        self.quiet_timer = Timer(f"qp{config.qpn}/quiet")
        self.reverse = reverse
        self.penalty = 0
        """Receiver penalty that SACKs carry, 0 (none) to 127; set by software."""
        self.restore_cwnd = 0
        """1: SACKs tell the requester to go back to its own window; set by software."""
        self.shortage: NackReason | None = None
        """Resource NACK with which new packets are refused; set by software."""
        self._framer = framer
        self._regions = regions
        self._options = options
        own, peer = config.qpn & _DCID_MASK, config.peer_qpn & _DCID_MASK
        self._dcids = (own, peer) if options.spdcid_is_sender else (peer, own)
        self._received = 0  # nominal bytes, each packet once
        self._unanswered = 0  # bytes since the last SACK, as the byte counter counts them
        self._held: Frame | None = None  # the newest packet not answered yet
        self._held_ps = 0  # when it arrived
        self._acknowledged = 0  # messages, as of the last transport ACK
        self._nak = (0, 0)  # syndrome and PSN

    # Events

    def receive(self, frame: Frame, now_ps: int) -> list[Action]:
        """Take a write or a probe, parsed and known to be this QP's, and return what follows."""
        out: list[Action] = []
        if self.state is _READY and frame.trim_reason is None and frame.opcode != _PROBE_REQUEST:
            self._on_write(frame, now_ps, out)
        elif self.state is not _READY:
            self._refuse_all(frame, out)
        elif frame.trim_reason is not None:
            self._on_trimmed(frame, frame.trim_reason, now_ps, out)
        else:
            self._answer_probe(frame, out)
        return out

    def expire(self, event: TimerFired, now_ps: int) -> list[Action]:
        """Take this half's timer and return what follows."""
        out: list[Action] = []
        if self.quiet_timer.fired(event, now_ps, out) and self._held is not None:
            self._sack(self._held, self._held_ps, now_ps, out)
        return out

    def abort(self, out: list[Action]) -> None:
        """The QP failed elsewhere: take no more packets."""
        if self.state is ResponderState.READY:
            self.state = ResponderState.STOPPED
            self.stop_timers(out)

    # Packets

    def _on_write(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        window, psn = self.window, frame.psn
        kind = window.classify(psn)
        if kind is not _NEW:
            if kind is _ABOVE:
                self._refuse(frame, out)
            else:
                self._sack(frame, now_ps, now_ps, out)
            return
        if self.shortage is not None:
            self._send_nack(frame, self.shortage, out)
            return

        va, r_key = frame.target()
        start, end, opcode = frame.payload_start, frame.payload_end, frame.opcode
        length = end - start
        if length != self._mtu or opcode in _IMMEDIATE or self._regions.check(r_key, va, length) is not _GRANTED:
            error = self._fault(frame, length, r_key, va)
            if error is not None:
                self._fail(error, psn, out)
                return
        if length:
            out.append(WriteMemory(va, frame.data[start:end]))
        window.mark(psn)
        self._received += frame.udp_length + _COUNTED
        delivery = self.delivery
        if opcode not in _FULL:
            fields = frame.write_fields()
            delivery.landed(fields.msn, psn, fields.dma_length, fields.immediate)
        if delivery.ends and not delivery.advance(window.cack_psn, out):
            self._fail(QpError.NO_RECEIVE, psn, out)
            return

        counted = length if length > SACK_MIN_BYTES_PER_PACKET else SACK_MIN_BYTES_PER_PACKET
        self._unanswered = unanswered = self._unanswered + counted
        if unanswered >= self._sack_threshold or frame.ecn == _CE or frame.prompt:
            self._sack(frame, now_ps, now_ps, out)
            return
        self._held, self._held_ps = frame, now_ps
        if self.quiet_timer.deadline_ps is None:
            self.quiet_timer.start(now_ps + self.config.base_rtt_ps, out)

    def _fault(self, frame: Frame, length: int, r_key: int, va: int) -> QpError | None:
        """What is wrong with a write, or None. Its DMALen is not looked at (mrc-facts.md 1.6)."""
        mtu = self.config.mtu
        if length != mtu and (length > mtu or frame.opcode in _FULL):
            return QpError.LOCAL_REQUEST
        # IBTA: a write of no bytes touches no memory, and its key is not looked at.
        if length and self._regions.check(r_key, va, length) is not _GRANTED:
            return QpError.LOCAL_ACCESS
        if frame.opcode in _IMMEDIATE:
            before = self.delivery.immediates_before(frame.write_fields().rqmsn)
            if before >= self.config.responder_wimm:
                return QpError.WIMM_EXCEEDED
        return None

    def _on_trimmed(self, frame: Frame, reason: NackReason, now_ps: int, out: list[Action]) -> None:
        """Payload gone: a NACK, or a SACK if the PSN had been received before (mrc-facts.md 3, 11)."""
        if not self.config.responder_trim_nack:
            out.append(Notify("trimmed_dropped", (("qpn", self.config.qpn), ("psn", frame.psn))))
            return
        match self.window.classify(frame.psn):
            case ArrivalClass.NEW:
                self._send_nack(frame, reason, out)
            case ArrivalClass.ABOVE:
                self._refuse(frame, out)
            case _:
                self._sack(frame, now_ps, now_ps, out)

    def _refuse_all(self, frame: Frame, out: list[Action]) -> None:
        """Answer a write to a QP in ERROR; a probe gets no answer."""
        if frame.opcode == _PROBE_REQUEST:
            return
        if self.state is ResponderState.REFUSED:
            self._send_nak(out)
        else:
            self._send_nack(frame, NackReason.UNEXP_EVENT, out)

    def _refuse(self, frame: Frame, out: list[Action]) -> None:
        """A PSN above the window (mrc-facts.md 3, 9)."""
        if self._options.out_of_window is OutOfWindow.NACK:
            self._send_nack(frame, NackReason.PSN_OOR_WINDOW, out)
        else:
            out.append(Notify("psn_above_window", (("qpn", self.config.qpn), ("psn", frame.psn))))

    # Answers

    def _sack(self, trigger: Frame, arrived_ps: int, now_ps: int, out: list[Action]) -> None:
        """Answer `trigger`, and with it all that came before; a transport ACK goes along when messages completed."""
        window = self.window
        stamp = trigger.tx_timestamp
        if stamp is None:
            stamp = 0
        elif now_ps > arrived_ps:
            # Holding an answer back must not look like queueing on the path (mrc-facts.md 11).
            stamp = TIMESTAMP.add(stamp, (now_ps - arrived_ps) // TIMESTAMP_UNIT_PS)
        self._send_sack(
            base=window.sack_base(trigger.psn),
            ack_psn_offset=max(_OFFSET_MIN, PSN.diff(trigger.psn, window.cack_psn)),
            entropy=trigger.ev,
            marked=trigger.ecn == _CE,
            rtx=trigger.rtx,
            stamp=stamp,
            out=out,
        )
        self._unanswered = 0
        self._held = None
        self.quiet_timer.rest()
        if self.delivery.completed != self._acknowledged:
            self._acknowledged = self.delivery.completed
            body = Aeth(syndrome=AethSyndrome.ACK, msn=self._acknowledged).pack()
            self._send_control(Opcode.ACKNOWLEDGE, window.cack_psn, body, out)

    def _answer_probe(self, frame: Frame, out: list[Action]) -> None:
        """A probe is answered at once, with its id where the triggering PSN would stand (mrc-facts.md 1.9)."""
        peth = frame.peth
        probe_id = peth.probe_id
        self._send_sack(
            base=PSN.add(self.window.cack_psn, 1),
            ack_psn_offset=probe_id - (probe_id >> 15 << 16),  # its 16 bits, read as a signed number
            entropy=frame.ev,
            marked=frame.ecn == _CE,
            rtx=False,
            stamp=peth.tx_timestamp,
            out=out,
            probe=True,
        )

    def _send_sack(
        self,
        *,
        base: int,
        ack_psn_offset: int,
        entropy: int,
        marked: bool,
        rtx: bool,
        stamp: int,
        out: list[Action],
        probe: bool = False,
    ) -> None:
        window = self.window
        cack = window.cack_psn
        spdcid, dpdcid = self._dcids
        body = pack_sack(
            _SKIP_ONCE if marked else _NONE,
            1 if probe else 0,
            ack_psn_offset,
            entropy,
            spdcid,
            dpdcid,
            cack,
            mpr_from_psns(window.window) if self.config.dynamic_mpr else 0,
            (base - cack + _OFFSET_LIMIT & _PSN_MASK) - _OFFSET_LIMIT,
            window.bitmap(base),
            stamp,
            window.ooo_count,
            self.restore_cwnd,
            self.penalty,
            -(-self._received // RCVD_BYTES_UNIT) & _RCVD_BYTES_MASK,
        )
        self._send_control(_SACK, cack, body, out, rtx)

    def _send_nack(self, frame: Frame, reason: NackReason, out: list[Action]) -> None:
        spdcid, dpdcid = self._dcids
        neth = Neth(
            reason=reason,
            entropy=frame.ev,
            spdcid=spdcid,
            dpdcid=dpdcid,
            nack_psn=frame.psn,
            tx_timestamp=frame.tx_timestamp or 0,
        )
        self._send_control(Opcode.NACK, frame.psn, neth.pack(), out, frame.rtx)

    def _send_nak(self, out: list[Action]) -> None:
        syndrome, psn = self._nak
        self._send_control(Opcode.ACKNOWLEDGE, psn, Aeth(syndrome=syndrome, msn=self.delivery.completed).pack(), out)

    def _send_control(self, opcode: Opcode, psn: int, body: bytes, out: list[Action], rtx: bool = False) -> None:
        slot = self.reverse.next()
        if slot is None:
            out.append(Notify("no_way_back", (("qpn", self.config.qpn),)))
            return
        out.append(FrameOut(slot.port, self._framer.control(slot, opcode, psn, body, rtx)))

    # Failure

    def _fail(self, error: QpError, psn: int, out: list[Action]) -> None:
        """A write that must not take effect: the QP goes to ERROR and says why, now and to every later write."""
        self.state = ResponderState.REFUSED
        self.error = error
        self._nak = (_NAK[error], psn)
        out.append(Notify("qp_error", (("qpn", self.config.qpn),)))
        self._send_nak(out)
        self.stop_timers(out)

    def stop_timers(self, out: list[Action]) -> None:
        """Nothing will be answered any more by itself."""
        self._held = None
        self.quiet_timer.stop(out)
