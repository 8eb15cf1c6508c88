"""The sending half of a QP: messages become packets, feedback becomes retransmissions and completions.

Loss is learnt in three ways (mrc-facts.md 2.4): a NACK names a PSN; a SACK shows that many newer packets have
overtaken one; the ACK timer of the oldest unacknowledged PSN runs out. Each marks packets lost, once for one loss;
lost packets are sent again oldest first, on another EV, before anything new, within the congestion window and never
beyond cack + MPR.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

from pymodel.nic.config import ACK_TIMEOUT_UNIT_PS, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvSlot, EvTable
from pymodel.nic.events import Action, Complete, FrameOut, Notify, PortChange, PostWrite, TimerFired
from pymodel.nic.framing import TIMESTAMP, TIMESTAMP_UNIT_PS, Framer, timestamp
from pymodel.nic.message import Message
from pymodel.nic.prober import Prober
from pymodel.nic.send_window import Packet, PacketState, SendWindow, mpr_to_psns
from pymodel.nic.timer import Timer
from pymodel.wire.frame import Frame
from pymodel.wire.serial import MSN, Serial
from pymodel.wire.spec import (
    ACK_TIMEOUT_EXPONENT_MAX,
    EXPONENTIAL_RETRIES_FOREVER,
    RCVD_BYTES_BITS,
    RCVD_BYTES_UNIT,
    AethSyndrome,
    NackReason,
    Opcode,
    SackM,
)

__all__ = ["Requester", "RequesterState"]

_RCVD_BYTES = Serial(RCVD_BYTES_BITS)

LEAST_GAP_PACKETS = 5
"""Fewest newer packets that must overtake a packet before it is called lost (mrc-facts.md 2.4)."""

_NAK_STATUS = {
    AethSyndrome.NAK_INVALID_REQUEST: "remote invalid request",
    AethSyndrome.NAK_REMOTE_ACCESS: "remote access error",
    AethSyndrome.NAK_REMOTE_OPERATION: "remote operation error",
}
_BUSY = (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE)


class RequesterState(Enum):
    """What the requester does with work."""

    READY = "takes work and sends"
    ERROR = "flushes work; only a new QP helps"


_READY = RequesterState.READY


class Requester:
    """Sends one QP's writes and follows what becomes of them."""

    def __init__(
        self, config: QpConfig, framer: Framer, evs: EvTable, prober: Prober, congestion: CongestionControl
    ) -> None:
        self.config = config
        self.evs = evs
        self.congestion = congestion
        self.state = RequesterState.READY
        self.window = SendWindow(config.send_psn, mpr_to_psns(config.mpr_units))
        self.ack_timer = Timer(f"qp{config.qpn}/ack")
        self.pause_timer = Timer(f"qp{config.qpn}/pause")
        self.prober = prober
        self.messages_acknowledged = 0
        """Messages that the peer's transport ACKs say are complete, 24 bits."""
        self._framer = framer
        self._backlog: deque[Message] = deque()  # not wholly sent yet
        self._open: deque[Message] = deque()  # not completed yet, or waiting behind one that is not
        self._next_msn = 0
        self._next_rqmsn = 0
        self._immediates = 0
        self._expiries = 0
        self._timer_mark = 0
        self._restart_timer = False
        self._rcvd_bytes = 0

    @property
    def busy(self) -> bool:
        """Some work has not completed."""
        return bool(self._open)

    # Events

    def handle(self, event: PostWrite | Frame | TimerFired | PortChange, now_ps: int) -> list[Action]:
        """Take one event, a frame already parsed and known to be this QP's, and return what follows."""
        out: list[Action] = []
        if self.state is not _READY:
            if isinstance(event, PostWrite):
                out.append(Complete(event.qpn, event.wr_id, "flushed", 0))
            return out
        match event:
            case Frame():
                self._on_frame(event, now_ps, out)
            case PostWrite():
                self._post(event)
            case TimerFired():
                self._on_timer(event, now_ps, out)
            case PortChange(port, up):
                self.evs.set_port(port, up)
        if self.state is _READY:
            self._send(now_ps, out)
            self._watch(now_ps, out)
        return out

    def _post(self, work: PostWrite) -> None:
        message = Message(work, self.config.mtu, self._next_msn, self._next_rqmsn)
        self._next_msn = MSN.add(self._next_msn, 1)
        if work.immediate is not None:
            self._next_rqmsn = MSN.add(self._next_rqmsn, 1)
        self._backlog.append(message)
        self._open.append(message)

    def _on_frame(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        match frame.opcode:
            case Opcode.SACK:
                self._on_sack(frame, now_ps, out)
            case Opcode.NACK:
                self._on_nack(frame, now_ps, out)
            case Opcode.ACKNOWLEDGE:
                self._on_acknowledge(frame, now_ps, out)

    def _on_timer(self, event: TimerFired, now_ps: int, out: list[Action]) -> None:
        if event.key == self.ack_timer.key:
            if self.ack_timer.fired(event, now_ps, out):
                self._on_timeout(now_ps, out)
        elif event.key == self.pause_timer.key:
            self.pause_timer.fired(event, now_ps, out)
        elif event.key == self.prober.timer.key and self.prober.timer.fired(event, now_ps, out):
            self.prober.probe_all(now_ps, out)

    # Sending

    def _send(self, now_ps: int, out: list[Action]) -> None:
        """Send what the windows allow: lost packets first, then new ones (mrc-facts.md 2.4, 2.6)."""
        window = self.window
        cwnd, limit = self.congestion.cwnd, window.limit
        if self.pause_timer.deadline_ps is not None:
            return
        while window.inflight < cwnd:
            packet = window.next_lost() or self._next_new(limit)
            if packet is None:
                return
            slot = self.evs.next(avoid=packet.ev)
            if slot is None:
                return
            message = packet.message
            again = packet.sent > 0
            window.send(packet)
            packet.ev = slot
            if again:
                message.retransmissions += 1
                if packet.index == window.unack_index:
                    self._restart_timer = True
            else:
                self._count_new(message)
            ask = self._asks_for_answer(cwnd, limit)
            frame = self._framer.write(slot, packet.psn, message, packet.number, ask, again, now_ps)
            out.append(FrameOut(slot.port, frame))

    def _next_new(self, limit: int) -> Packet | None:
        """The next packet of the backlog, not yet part of the window, or None when none may be sent."""
        window = self.window
        index = window.next_index
        if not self._backlog or index >= limit:
            return None
        message = self._backlog[0]
        if message.sent == 0 and message.immediate is not None and self._immediates >= self.config.wimm:
            return None
        return Packet(index, window.psn(index), message, message.sent, self._framer.nominal_size(message, message.sent))

    def _count_new(self, message: Message) -> None:
        """A packet of `message` was sent for the first time."""
        if message.sent == 0 and message.immediate is not None:
            self._immediates += 1
        message.sent += 1
        if message.sent == message.packets:
            self._backlog.popleft()

    def _asks_for_answer(self, cwnd: int, limit: int) -> bool:
        """Must the packet just sent ask for a SACK, since the responder might not send one by itself?

        At the end of all work, and when a window smaller than the responder's threshold is full (mrc-facts.md 3).
        """
        window = self.window
        if window.inflight < cwnd and ((self._backlog and window.next_index < limit) or window.next_lost() is not None):
            return False
        return not self._backlog or window.inflight < self.config.sack_threshold

    def _watch(self, now_ps: int, out: list[Action]) -> None:
        """Keep one ACK timer, for the oldest unacknowledged PSN, started when it became that or was sent again."""
        if not self.window.outstanding:
            self.ack_timer.stop(out)
        elif self._restart_timer or self.ack_timer.deadline_ps is None:
            self.ack_timer.start(now_ps + self._ack_timeout_ps(), out)
            self._timer_mark = self.window.transmissions
        self._restart_timer = False
        self.prober.update(self.busy, now_ps, out)

    def _ack_timeout_ps(self) -> int:
        backoff = max(0, self._expiries - self.config.linear_retries)
        return ACK_TIMEOUT_UNIT_PS << min(ACK_TIMEOUT_EXPONENT_MAX, self.config.ack_timeout + backoff)

    # Feedback

    def _on_sack(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        seth, cc_state = frame.seth, frame.cc_state
        oldest = self.window.unack_index
        newly = self.window.acknowledge(seth.cack_psn, seth.sack_offset, seth.sack_bitmap)
        if newly is None:
            out.append(Notify("sack_of_unsent", (("qpn", self.config.qpn), ("psn", seth.cack_psn))))
            return
        if seth.pr:
            self.prober.answered(seth.ack_psn_offset, seth.m, out)
        elif seth.m == SackM.SKIP_ONCE:
            self.evs.skip_once(seth.entropy)
        elif seth.m == SackM.ALWAYS_SKIP:
            self._retire(self.evs.find(seth.entropy), out)
        received = _RCVD_BYTES.diff(cc_state.rcvd_bytes, self._rcvd_bytes)
        if received > 0:
            self._rcvd_bytes = cc_state.rcvd_bytes
        self.congestion.on_sack(
            now_ps,
            round_trip_ps=self._round_trip_ps(cc_state.tx_timestamp, now_ps),
            marked=seth.m == SackM.SKIP_ONCE,
            received_bytes=max(0, received) * RCVD_BYTES_UNIT,
        )
        for packet in newly:
            message = packet.message
            message.acknowledged += 1
            if message.acknowledged == message.packets:
                self._finish(message, out)
        if self.window.unack_index != oldest:
            self._expiries = 0
            self._restart_timer = True
        for packet in self.window.overtaken(self._gap()):
            self._lose(packet, now_ps, out)

    def _gap(self) -> int:
        """Packets that must overtake one before it is called lost: 1.5 cwnd (mrc-facts.md 2.4), at most half an MPR."""
        cwnd, per_packet = self.congestion.cwnd, self._framer.full_size
        by_window = min(3 * cwnd // 2, self.congestion.max_cwnd) // per_packet
        return max(LEAST_GAP_PACKETS, min(by_window, self.window.mpr // 2))

    def _on_nack(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        neth = frame.neth
        if neth.reason == NackReason.UNEXP_EVENT:
            self._fail("remote operation error", self._open_message(neth.nack_psn), out)
            return
        if neth.reason == NackReason.TRIMMED:
            self.evs.skip_once(neth.entropy)
        packet = self.window.unacknowledged(neth.nack_psn)
        nacked = 0
        # A NACK for an earlier transmission, or of a packet already declared lost, has nothing left to say.
        if packet is not None and packet.state is PacketState.IN_FLIGHT and packet.on_ev(neth.entropy):
            nacked = packet.size
            packet.message.nacks += 1
            self.window.lose(packet)
            if neth.reason == NackReason.PSN_OOR_WINDOW:
                self.window.refused(packet)
            elif neth.reason in _BUSY:
                self.pause_timer.start(now_ps + self.config.base_rtt_ps, out)
        self.congestion.on_nack(
            now_ps, round_trip_ps=self._round_trip_ps(neth.tx_timestamp, now_ps), nacked_bytes=nacked
        )

    def _on_acknowledge(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        aeth = frame.aeth
        if aeth.syndrome <= AethSyndrome.ACK:
            self.messages_acknowledged = aeth.msn
        elif aeth.syndrome in _NAK_STATUS:
            self._fail(_NAK_STATUS[AethSyndrome(aeth.syndrome)], self._open_message(frame.psn), out)

    def _round_trip_ps(self, sent: int, now_ps: int) -> int | None:
        if not self.config.timestamps:
            return None
        return TIMESTAMP.forward(timestamp(now_ps), sent) * TIMESTAMP_UNIT_PS

    # Loss

    def _on_timeout(self, now_ps: int, out: list[Action]) -> None:
        """The ACK timer ran out: all that was on its way when it was started is lost (mrc-facts.md 2.4, 11)."""
        self._expiries += 1
        oldest = self._open_message(self.window.psn(self.window.unack_index))
        backoff = self.config.backoff_retries
        if self._expiries > self.config.linear_retries + backoff and backoff != EXPONENTIAL_RETRIES_FOREVER:
            self._fail("retry exceeded", oldest, out)
            return
        if oldest is not None:
            oldest.timeouts += 1
        out.append(Notify("timeout", (("qpn", self.config.qpn), ("expiries", self._expiries))))
        for packet in self.window.sent_by(self._timer_mark):
            self._lose(packet, now_ps, out)
        self._restart_timer = True

    def _lose(self, packet: Packet, now_ps: int, out: list[Action]) -> None:
        """An untrimmed loss: the packet waits to be sent again and its EV is retired (mrc-facts.md 2.3)."""
        self.window.lose(packet)
        if packet.ev is not None:
            packet.ev.drops += 1
            self._retire(packet.ev, out)
        self.congestion.on_loss(now_ps, lost_bytes=packet.size)

    def _retire(self, slot: EvSlot | None, out: list[Action]) -> None:
        if slot is not None and self.evs.assume_bad(slot):
            details = (("qpn", self.config.qpn), ("ev", slot.ev), ("port", slot.port), ("drops", slot.drops))
            out.append(Notify("ev_assumed_bad", details))

    # Completion

    def _finish(self, message: Message, out: list[Action]) -> None:
        """All packets of `message` are acknowledged. A plain write completes at once; one with immediate waits for all
        earlier ones, since the peer delivers it in order (mrc-facts.md 3)."""
        if message.immediate is None:
            self._complete(message, "success", out)
        while self._open and self._open[0].done:
            first = self._open.popleft()
            if first.immediate is not None:
                self._immediates -= 1
                self._complete(first, "success", out)

    def _complete(self, message: Message, status: str, out: list[Action]) -> None:
        work = message.work
        out.append(Complete(work.qpn, work.wr_id, status, message.length if status == "success" else 0))
        details = (
            ("qpn", work.qpn),
            ("wr_id", work.wr_id),
            ("packets", message.packets),
            ("retransmissions", message.retransmissions),
            ("nacks", message.nacks),
            ("timeouts", message.timeouts),
        )
        out.append(Notify("write_ended", details))

    def _open_message(self, psn: int) -> Message | None:
        """The message to blame for what happened to `psn`: its own, or else the oldest one open."""
        packet = self.window.unacknowledged(psn)
        if packet is not None:
            return packet.message
        return next((message for message in self._open if not message.done), None)

    def abort(self, out: list[Action]) -> None:
        """The other half of the QP failed: flush all work."""
        if self.state is RequesterState.READY:
            self._fail("flushed", None, out)

    def _fail(self, status: str, culprit: Message | None, out: list[Action]) -> None:
        """The QP goes to ERROR: `culprit` completes with `status`, all other open work is flushed."""
        self.state = RequesterState.ERROR
        out.append(Notify("qp_error", (("qpn", self.config.qpn),)))
        for message in self._open:
            if message is culprit:
                self._complete(message, status, out)
            elif not message.done or message.immediate is not None:
                self._complete(message, "flushed", out)
        self._open.clear()
        self._backlog.clear()
        self.stop_timers(out)

    def stop_timers(self, out: list[Action]) -> None:
        """Nothing will happen any more by itself."""
        self.ack_timer.stop(out)
        self.pause_timer.stop(out)
        self.prober.timer.stop(out)
