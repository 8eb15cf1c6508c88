"""The sending half of a QP: what feedback and time do to the packets that `Transmitter` sends.

Loss is learnt in four ways (mrc-facts.md 2.4): a NACK names a PSN; a SACK shows that many newer packets have overtaken
one; the answer to a tail probe lacks one that was sent before it; the ACK timer of the oldest unacknowledged PSN runs
out. Each marks packets lost, once for one loss.
"""

from __future__ import annotations

from enum import Enum

from pymodel.nic.config import ACK_TIMEOUT_UNIT_PS, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.ev_table import EvSlot, EvTable
from pymodel.nic.events import Action, Complete, Notify, PostWrite, TimerFired
from pymodel.nic.framing import TIMESTAMP, TIMESTAMP_UNIT_PS, Framer
from pymodel.nic.lifecycle import QpError
from pymodel.nic.message import Message
from pymodel.nic.prober import Prober
from pymodel.nic.reverse import ReversePaths
from pymodel.nic.send_window import Packet, PacketState, mpr_to_psns
from pymodel.nic.timer import Timer
from pymodel.nic.transmitter import Transmitter
from pymodel.wire.frame import Frame
from pymodel.wire.serial import Serial
from pymodel.wire.spec import (
    ACK_TIMEOUT_EXPONENT_MAX,
    EXPONENTIAL_RETRIES_FOREVER,
    MPR_UNIT_PSNS,
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

_OF_NAK = {
    AethSyndrome.NAK_INVALID_REQUEST: QpError.REMOTE_INVALID_REQUEST,
    AethSyndrome.NAK_REMOTE_ACCESS: QpError.REMOTE_ACCESS,
    AethSyndrome.NAK_REMOTE_OPERATION: QpError.REMOTE_OPERATION,
}
_STATUS = {
    QpError.RETRY_EXCEEDED: "retry exceeded",
    QpError.REMOTE_INVALID_REQUEST: "remote invalid request",
    QpError.REMOTE_ACCESS: "remote access error",
    QpError.REMOTE_OPERATION: "remote operation error",
}
"""What the completion of the write says that is to blame."""
_NONE, _SKIP_ONCE = int(SackM.NONE), int(SackM.SKIP_ONCE)
_SACK, _NACK = int(Opcode.SACK), int(Opcode.NACK)
_BUSY = (NackReason.NO_BITMAP, NackReason.NO_PKT_BUFFER, NackReason.NO_RESOURCE)


class RequesterState(Enum):
    """What the requester does with work."""

    READY = "takes work and sends"
    ERROR = "flushes work; only a new QP helps"


_READY = RequesterState.READY


class Requester:
    """Sends one QP's writes and follows what becomes of them."""

    def __init__(
        self,
        config: QpConfig,
        framer: Framer,
        evs: EvTable,
        prober: Prober,
        reverse: ReversePaths,
        congestion: CongestionControl,
    ) -> None:
        """`reverse` is the responder's, which learns from SACKs which EVs work."""
        self.config = config
        self.transmitter = Transmitter(config, framer, evs, congestion)
        self.window = self.transmitter.window
        self.work = self.transmitter.work
        self.evs = evs
        self.congestion = congestion
        self.state = RequesterState.READY
        self.error: QpError | None = None
        """What went wrong here; None when the QP failed elsewhere, or did not."""
        self.ack_timer = Timer(f"qp{config.qpn}/ack")
        self.tail_timer = Timer(f"qp{config.qpn}/tail")
        self.pause_timer = Timer(f"qp{config.qpn}/pause")
        self.prober = prober
        self.messages_acknowledged = 0
        """Messages that the peer's transport ACKs say are complete, 24 bits."""
        self._framer = framer
        self._reverse = reverse
        self._count_expiries(0)
        self._timer_mark = 0
        self._restart_timer = False
        self._tail_probes = 0  # since the last progress
        self._restart_tail = False
        self._rcvd_bytes = 0

    @property
    def busy(self) -> bool:
        """Some work has not completed."""
        return bool(self.work.open)

    # Events

    def post(self, work: PostWrite, now_ps: int) -> list[Action]:
        """Take a write and return what follows."""
        out: list[Action] = []
        if self.state is not _READY:
            out.append(Complete(work.qpn, work.wr_id, "flushed", 0))
            return out
        self.work.post(work)
        self.proceed(now_ps, out)
        return out

    def receive(self, frame: Frame, now_ps: int) -> list[Action]:
        """Take a SACK, NACK or transport ACK, parsed and known to be this QP's, and return what follows."""
        out: list[Action] = []
        if self.state is not _READY:
            return out
        if frame.opcode == _SACK:
            self._on_sack(frame, now_ps, out)
        elif frame.opcode == _NACK:
            self._on_nack(frame, now_ps, out)
        else:
            self._on_acknowledge(frame, now_ps, out)
        self.proceed(now_ps, out)
        return out

    def expire(self, event: TimerFired, now_ps: int) -> list[Action]:
        """Take one of this half's timers and return what follows."""
        out: list[Action] = []
        if self.state is not _READY:
            return out
        if event.key == self.ack_timer.key:
            if self.ack_timer.fired(event, now_ps, out):
                self._on_timeout(now_ps, out)
        elif event.key == self.tail_timer.key:
            if self.tail_timer.fired(event, now_ps, out):
                self._on_quiet_tail(now_ps, out)
        elif event.key == self.pause_timer.key:
            self.pause_timer.fired(event, now_ps, out)
        elif event.key == self.prober.timer.key and self.prober.timer.fired(event, now_ps, out):
            self.prober.probe_all(now_ps, out)
        self.proceed(now_ps, out)
        return out

    def proceed(self, now_ps: int, out: list[Action]) -> None:
        """Send what may be sent now, and keep the timers that watch over it."""
        if self.state is not _READY:
            return
        if self.pause_timer.deadline_ps is None and self.transmitter.send(now_ps, out):
            self._restart_tail = True
            self._reverse.data_went_out()
        self._watch(now_ps, out)

    # Time

    def _watch(self, now_ps: int, out: list[Action]) -> None:
        """Keep one ACK timer, for the oldest unacknowledged PSN, started when it became that or was sent again; and one
        for the tail, started when anything was sent or newly acknowledged."""
        window = self.window
        if window.unack_index == window.next_index:
            self.ack_timer.stop(out)
            self.tail_timer.stop(out)
        else:
            if self._restart_timer or self.transmitter.oldest_again or self.ack_timer.deadline_ps is None:
                self.ack_timer.start(now_ps + self._ack_timeout_ps, out)
                self._timer_mark = window.transmissions
            if self._restart_tail and self._tail_probes < self.config.tail_probes:
                self.tail_timer.start(now_ps + self._tail_timeout_ps(), out)
        self._restart_timer = self._restart_tail = self.transmitter.oldest_again = False
        self.prober.update(bool(self.work.open), now_ps, out)

    def _count_expiries(self, expiries: int) -> None:
        """The ACK timer has run out `expiries` times in a row, which settles how long it waits next."""
        self._expiries = expiries
        backoff = max(0, expiries - self.config.linear_retries)
        self._ack_timeout_ps = ACK_TIMEOUT_UNIT_PS << min(ACK_TIMEOUT_EXPONENT_MAX, self.config.ack_timeout + backoff)

    def _tail_timeout_ps(self) -> int:
        """How long a tail may stay unheard of: with more to send newer packets will tell earlier (mrc-facts.md 2.4)."""
        base_rtt_ps = self.config.base_rtt_ps
        return 3 * base_rtt_ps if self.work.backlog else base_rtt_ps + self.config.target_delay_ps

    # Feedback

    def _on_sack(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        sack = frame.sack()
        window = self.window
        oldest = window.unack_index
        newly = window.acknowledge(sack.cack_psn, sack.sack_offset, sack.sack_bitmap)
        if newly is None:
            out.append(Notify("sack_of_unsent", (("qpn", self.config.qpn), ("psn", sack.cack_psn))))
            return
        tail = None
        slot = self.evs.find(sack.entropy)
        if sack.pr:
            tail = self.prober.answered(sack.ack_psn_offset, sack.m, out)
        elif sack.m == _NONE:
            if slot is not None:
                self._reverse.learn(slot)
        elif sack.m == _SKIP_ONCE:
            self.evs.skip_once(sack.entropy)
        elif sack.m == SackM.ALWAYS_SKIP:
            self._retire(slot, out)
        self.transmitter.penalty = 0 if sack.restore_cwnd else sack.rcv_cwnd_pen
        if self.config.dynamic_mpr and sack.mpr:
            window.mpr = min(mpr_to_psns(self.config.mpr_units), sack.mpr * MPR_UNIT_PSNS)
        received = _RCVD_BYTES.diff(sack.rcvd_bytes, self._rcvd_bytes)
        if received > 0:
            self._rcvd_bytes = sack.rcvd_bytes
        self.congestion.on_sack(
            now_ps,
            round_trip_ps=self._round_trip_ps(sack.tx_timestamp, now_ps),
            marked=sack.m == _SKIP_ONCE,
            received_bytes=max(0, received) * RCVD_BYTES_UNIT,
        )
        if newly:
            self._progress(newly, window.unack_index != oldest, out)
        for packet in window.overtaken(self._gap()) if window.sacked else ():
            self._lose(packet, now_ps, out)
        if tail is not None:
            for packet in list(window.sent_by(tail)):
                self._lose(packet, now_ps, out)

    def _progress(self, newly: list[Packet], moved: bool, out: list[Action]) -> None:
        """Packets were acknowledged for the first time; `moved`: the oldest one was among them."""
        self._tail_probes = 0
        self._restart_tail = True
        self.prober.forget_tails()
        if moved:
            if self._expiries:
                self._count_expiries(0)
            self._restart_timer = True
        for packet in newly:
            message = packet.message
            message.acknowledged = count = message.acknowledged + 1
            if count == message.packets:
                self.work.finish(message, out)

    def _gap(self) -> int:
        """Packets that must overtake one before it is called lost: 1.5 cwnd (mrc-facts.md 2.4), at most half an MPR."""
        cwnd, per_packet = self.transmitter.cwnd(), self._framer.full_size
        by_window = min(3 * cwnd // 2, self.congestion.max_cwnd) // per_packet
        return max(LEAST_GAP_PACKETS, min(by_window, self.window.mpr // 2))

    def _on_nack(self, frame: Frame, now_ps: int, out: list[Action]) -> None:
        neth = frame.neth
        if neth.reason == NackReason.UNEXP_EVENT:
            self._fail(QpError.REMOTE_OPERATION, self._open_message(neth.nack_psn), out)
            return
        if neth.reason == NackReason.TRIMMED:
            self.evs.skip_once(neth.entropy)
        packet = self.window.unacknowledged(neth.nack_psn)
        nacked = 0
        # A NACK for an earlier transmission, or of a packet already declared lost, has nothing left to say.
        if packet is not None and packet.state is PacketState.IN_FLIGHT and packet.ev.ev == neth.entropy:
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
        elif aeth.syndrome in _OF_NAK:
            self._fail(_OF_NAK[AethSyndrome(aeth.syndrome)], self._open_message(frame.psn), out)

    def _round_trip_ps(self, sent: int, now_ps: int) -> int | None:
        if not self.config.timestamps:
            return None
        return (now_ps // TIMESTAMP_UNIT_PS - sent & TIMESTAMP.mask) * TIMESTAMP_UNIT_PS

    # Loss

    def _on_timeout(self, now_ps: int, out: list[Action]) -> None:
        """The ACK timer ran out: all that was on its way when it was started is lost (mrc-facts.md 2.4, 11).

        While no plane is up nothing can be sent again, so that no retry is counted.
        """
        if self.evs.any_up:
            self._count_expiries(self._expiries + 1)
        oldest = self._open_message(self.window.psn(self.window.unack_index))
        backoff = self.config.backoff_retries
        if self._expiries > self.config.linear_retries + backoff and backoff != EXPONENTIAL_RETRIES_FOREVER:
            self._fail(QpError.RETRY_EXCEEDED, oldest, out)
            return
        if oldest is not None:
            oldest.timeouts += 1
        out.append(Notify("timeout", (("qpn", self.config.qpn), ("expiries", self._expiries))))
        for packet in list(self.window.sent_by(self._timer_mark)):
            self._lose(packet, now_ps, out)
        self._restart_timer = True

    def _on_quiet_tail(self, now_ps: int, out: list[Action]) -> None:
        """Nothing was sent and nothing new heard for a while: ask what became of all that is on its way."""
        if self.window.inflight:
            self._tail_probes += 1
            self._restart_tail = True
            self.prober.ask_about_tail(self.window.transmissions, now_ps, out)

    def _lose(self, packet: Packet, now_ps: int, out: list[Action]) -> None:
        """An untrimmed loss: the packet waits to be sent again and its EV is retired (mrc-facts.md 2.3).

        An EV is not to blame for a plane that is known to be down.
        """
        self.window.lose(packet)
        slot = packet.ev
        if self.evs.is_up(slot.port):
            slot.drops += 1
            self._retire(slot, out)
        self.congestion.on_loss(now_ps, lost_bytes=packet.size)

    def _retire(self, slot: EvSlot | None, out: list[Action]) -> None:
        if slot is not None and self.evs.assume_bad(slot):
            details = (("qpn", self.config.qpn), ("ev", slot.ev), ("port", slot.port), ("drops", slot.drops))
            out.append(Notify("ev_assumed_bad", details))

    # Failure

    def _open_message(self, psn: int) -> Message | None:
        """The message to blame for what happened to `psn`: its own, or else the oldest one open."""
        packet = self.window.unacknowledged(psn)
        if packet is not None:
            return packet.message
        return self.work.oldest_unfinished()

    def abort(self, out: list[Action]) -> None:
        """The other half of the QP failed: flush all work."""
        if self.state is RequesterState.READY:
            self._flush("flushed", None, out)

    def _fail(self, error: QpError, culprit: Message | None, out: list[Action]) -> None:
        """The QP goes to ERROR: `culprit` completes with what went wrong, all other open work is flushed."""
        self.error = error
        self._flush(_STATUS[error], culprit, out)

    def _flush(self, status: str, culprit: Message | None, out: list[Action]) -> None:
        self.state = RequesterState.ERROR
        out.append(Notify("qp_error", (("qpn", self.config.qpn),)))
        self.work.fail(status, culprit, out)
        self.stop_timers(out)

    def stop_timers(self, out: list[Action]) -> None:
        """Nothing will happen any more by itself."""
        self.ack_timer.stop(out)
        self.tail_timer.stop(out)
        self.pause_timer.stop(out)
        self.prober.timer.stop(out)
