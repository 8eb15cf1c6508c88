"""Follows the receive side as `Follower` does and samples `receive_points` at each event: taken for the nightly report
alone. What is sampled is the golden model's, which the round's end compares with the RTL.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from cocotb_tests import receive_points as points
from cocotb_tests.coverage_group import of
from cocotb_tests.receive_model import Follower
from cocotb_tests.receive_rows import (
    ACCEPTED,
    DROP_NAMES,
    PORTS,
    Command,
    Op,
    RegionRow,
    Round,
    RouteRow,
    State,
    Tap,
    Trace,
)
from cocotb_tests.receive_sender import PSN_SPACE
from pymodel.nic.config import DeviceConfig
from pymodel.nic.lifecycle import QpError
from pymodel.nic.receive_window import ArrivalClass
from pymodel.nic.responder import Responder
from pymodel.rtl.coverage import keep_bins
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import Ecn, EndpointOp, NackReason, Opcode, SackM

_HALF = PSN_SPACE // 2
_BEAT = 64
_FULL_MEMBER = 0x8000
_LAST_NUMBER = (1 << 16) - 1
_REACH = 1 << 15
_CUTS = {None: "whole", NackReason.TRIMMED: "trimmed", NackReason.TRIMMED_LASTHOP: "trimmed at the last hop"}
_ADDRESS_AT = spec.IPV6.size - 32
_SRH_AT = spec.ETHERNET.size + spec.IPV6.size


class Before(NamedTuple):
    """What the model held of a frame's QP when the frame came."""

    state: State
    kind: ArrivalClass
    cack: int
    unanswered: int
    next_msn: int
    in_flight: int | None
    """Writes with immediate that one of these comes behind."""


def form(frame: Frame) -> str:
    """How a frame is encapsulated."""
    if frame._ip > _SRH_AT:
        return "SRv6 with SRH"
    if frame._ip == _SRH_AT:
        return "SRv6"
    return "IPv4" if len(frame.addresses) == 8 else "IPv6"


def _ecn(data: bytes, at: int) -> str:
    return Ecn(data[at + 1] >> 4 & 3).name


class CoveredFollower(Follower):
    """A follower of one bench, with `interval` clocks between two events of a QP."""

    def __init__(self, config: DeviceConfig, interval: int) -> None:
        super().__init__(config)
        self._interval = interval
        self._taps: list[Tap] = []
        self._at = 0  # the tap that is followed
        self._last: dict[int, tuple[int, str]] = {}  # when a QP had its last event, and what it was
        self._before: tuple[int, str] | None = None  # the same of any source

    def follow(self, script: Round, trace: Trace) -> None:
        self._taps, self._at = trace.taps, 0
        super().follow(script, trace)
        keep_bins()

    # Ports

    def _outcome(self, port: int, outcome: int, data: bytes, frame: Frame | ParseError) -> None:
        name = "accepted" if outcome == ACCEPTED else DROP_NAMES[outcome]
        points.PORT.sample(port=port, outcome=name, stalls=self.stalls)
        if outcome != ACCEPTED or isinstance(frame, ParseError):
            return
        encapsulated = frame._ip > spec.ETHERNET.size
        ports = self.golden.device.config.options.accepted_udp_ports
        points.FRAME.sample(
            **{
                "form": form(frame),
                "opcode": Opcode(frame.opcode).name,
                "SRH units mod 8": data[_SRH_AT + 1] % 8 if frame._ip > _SRH_AT else None,
                "beats": of(points.BEATS, -(-len(data) // _BEAT)),
                "last beat": of(points.LAST_BEAT, (len(data) - 1) % _BEAT + 1),
                "UDP port": ports.index(int.from_bytes(data[frame._udp + 2 : frame._udp + 4], "big")),
                "link padding": frame.trim_reason is None and frame.end < len(data),
            }
        )
        if encapsulated:
            points.ECN.sample(inner=_ecn(data, frame._ip), outer=_ecn(data, spec.ETHERNET.size))
        if frame.trim_reason is not None:
            points.TRIMMED.sample(reason=frame.trim_reason.name, form=form(frame), left=self._left(frame))
        elif frame.is_write:
            length = frame.payload_end - frame.payload_start
            points.PAYLOAD.sample(
                **{
                    "place": (frame.payload_start - frame._ip) % _BEAT,
                    "bytes mod 64": of(points.TAIL, length and (length - 1) % _BEAT + 1),
                    "pad": frame.end - spec.ICRC_BYTES - frame.payload_end,
                }
            )

    @staticmethod
    def _left(frame: Frame) -> str:
        headers = frame.payload_end - frame._udp - spec.UDP.size - spec.BTH.size
        extensions = spec.EXTENSIONS[Opcode(frame.opcode)]
        size = sum(each.size for each in extensions if frame.ts or each is not spec.TSETH)
        if headers in (0, size):
            return "its headers" if headers else "BTH alone"
        return "part of its headers" if headers < size else "payload too"

    # Events

    def _ordered(self, qp: int | None, kind: str) -> Tap:
        """The next tap, and where it stands in the order of events."""
        tap = self._taps[self._at]
        self._at += 1
        source = f"port {tap.port}" if kind == "frame" else kind
        now = self._now
        if self._before is not None and now - self._before[0] == 1:
            points.ORDER.sample(one=self._before[1], next=source)
        self._before = now, source
        if qp is not None:
            last = self._last.get(qp)
            if last is not None and now - last[0] < 5:
                points.ORDER.sample(
                    **{"first": last[1], "second": kind, "clocks between": now - last[0], "interval": self._interval}
                )
            self._last[qp] = now, kind
        return tap

    def _frame(self, port: int, frame: Frame, now: int, expected: Trace) -> None:
        endpoint = frame.opcode in (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
        self._ordered(None if endpoint else frame.dest_qp, "frame")
        golden, event = self.golden, Trace()
        dropped = golden.endpoint.dropped if endpoint else golden.device.dropped
        causes, before = Counter(dropped), None if endpoint else self._look(frame)
        super()._frame(port, frame, now, event)
        fate = next(iter(+(Counter(dropped) - causes)), None)
        if endpoint:
            self._endpoint(frame, fate, event)
        else:
            self._fate(frame, fate)
            if fate is None and before is not None and (frame.is_write or frame.opcode == Opcode.PROBE_REQUEST):
                self._taken(frame, before, event)
        self._followed(event, "frame", expected)

    def _timer(self, qp: int, now: int, expected: Trace) -> None:
        self._ordered(qp, "timer")
        golden, event = self.golden, Trace()
        deadline, state = golden.deadline(qp), golden.state(qp)
        due = deadline is not None and deadline <= now
        held = golden.device.qp(qp).responder._held if due else None
        cack = golden.answer(qp).cack
        super()._timer(qp, now, event)
        if deadline is None or held is None:
            points.TIMER.sample(**{"is": "over", "state": state.name})
        else:
            ahead = self._signed(held.psn - cack)
            place = "behind" if ahead <= 0 else "1 to 64" if ahead <= 64 else "beyond 64"
            points.TIMER.sample(
                **{
                    "is": "due",
                    "state": state.name,
                    "late": of(points.LATE, now - deadline),
                    "held": place,
                    "stamped": held.tx_timestamp is not None,
                    "stalls": self.stalls,
                }
            )
            self._answers(event, "quiet timer", held)
        self._followed(event, "timer", expected)

    def _command(self, command: Command, now: int, expected: Trace) -> None:
        qp, value, row, golden = command.qp, command.value, command.row, self.golden
        self._ordered(None if command.op is Op.REGION else qp, "command")
        event = Trace()
        if isinstance(row, RegionRow):
            known = next((each for each in golden.device.regions if each.r_key >> spec.R_KEY_TAG_BITS == qp), None)
            change = ("moved" if known else "set") if row.valid else "taken away" if known else None
            points.COMMAND.sample(region=change)
        else:
            state = golden.state(qp)
            points.COMMAND.sample(
                op=command.op.name,
                state=state.name,
                shortage=(NackReason(value).name if value else "none") if command.op is Op.SET_RESOURCE_NACK else None,
                planes=self._planes(value) if command.op is Op.SET_PLANES else None,
                route=("segment too" if row.segment is not None else "path") if isinstance(row, RouteRow) else None,
            )
            if command.op is Op.SET_MPR and state is State.READY:
                self._resized(golden.device.qp(qp).responder, 128 * value)
        super()._command(command, now, event)
        self._followed(event, command.op.name, expected)

    @staticmethod
    def _planes(mask: int) -> str:
        return {0: "none", 1: "one", PORTS: "all"}.get(mask.bit_count(), "some")

    @staticmethod
    def _resized(half: Responder, window: int) -> None:
        old = half.window.window
        beyond = any(number > half.window._cack + window for number in half.window._held)
        points.MPR.sample(
            change="grows" if window > old else "shrinks" if window < old else "same",
            window=of(points.UNITS, window // 128),
            **{"received beyond it": beyond},
        )

    # What an event led to

    def _followed(self, event: Trace, by: str, expected: Trace) -> None:
        """Sample what an event led to, and add it to what is to be seen of the round."""
        stalls = self.stalls
        for port, frames in enumerate(event.replies):
            for data in frames:
                frame = parse(data)
                assert isinstance(frame, Frame)
                kind = Opcode(frame.opcode).name
                if frame.opcode == Opcode.ACKNOWLEDGE:
                    kind = "ACK" if frame.aeth.syndrome == spec.AethSyndrome.ACK else "NAK"
                elif frame.opcode == Opcode.ENDPOINT_RESPONSE:
                    kind = "endpoint"
                points.REPLY.sample(port=port, kind=kind, path=form(frame), stalls=stalls)
        for completion in event.completions:
            status = "flushed" if completion.status else "success"
            count = sum(each.status == completion.status for each in event.completions)
            length = completion.byte_count
            points.COMPLETION.sample(
                status=status,
                by="frame" if by == "timer" else by,
                bytes="0" if not length else "more" if length > points.MTUS[-1] else "1 to MTU",
                stalls=stalls,
                **{"at a time": of(points.COUNTS, count), "receives wrap": completion.receive == _LAST_NUMBER},
            )
        if event.happened["no_way_back"]:
            points.SILENCE.sample(why="no plane")
        for mine, theirs in zip(event.replies, expected.replies, strict=True):
            theirs += mine
        for mine, theirs in zip(event.placed, expected.placed, strict=True):
            theirs += mine
        expected.completions += event.completions
        expected.answers += event.answers
        expected.notices += event.notices
        expected.strays += event.strays
        expected.happened.update(event.happened)

    def _endpoint(self, frame: Frame, fate: str | None, event: Trace) -> None:
        if frame.opcode == Opcode.ENDPOINT_RESPONSE:
            op = "response"
        else:
            op = next((each.name for each in EndpointOp if each == frame.erth.op), "unknown")
        known = {"endpoint response to no request": "no request", "endpoint operation": "unknown operation"}
        points.ENDPOINT.sample(op=op, fate=known.get(fate, fate) if fate else "answered", form=form(frame))

    # A frame for a QP

    @staticmethod
    def _signed(distance: int) -> int:
        return (distance + _HALF) % PSN_SPACE - _HALF

    def _look(self, frame: Frame) -> Before | None:
        state = self.golden.state(frame.dest_qp)
        if state is State.RESET:
            return None
        half = self.golden.device.qp(frame.dest_qp).responder
        window, delivery = half.window, half.delivery
        in_flight = None
        if frame.is_write and frame.trim_reason is None and frame.opcode in spec.IMMEDIATE_OPCODES:
            in_flight = delivery.immediates_before(frame.write_fields().rqmsn)
        return Before(
            state, window.classify(frame.psn), window.cack_psn, half._unanswered, delivery._next_msn, in_flight
        )

    def _fate(self, frame: Frame, fate: str | None) -> None:
        """Which objection there was, and what the frame said for it."""
        kind = "trimmed" if frame.trim_reason is not None else "write"
        if not frame.is_write:
            kind = "probe" if frame.opcode == Opcode.PROBE_REQUEST else "answer"
        qp = frame.dest_qp
        if fate == "QP not ready" and qp not in self.golden._rows:
            fate = "never configured"
        elif fate is None:
            fate = "taken"
        address = key = None
        if fate == "wrong address":
            own = self.golden.device.config.address.to_bytes(16, "big")
            address = (
                "IPv4" if len(frame.addresses) == 8 else "source" if frame.addresses[16:] == own else "destination"
            )
        elif fate in ("wrong P_Key", "taken"):
            mine = self.golden._rows[qp].p_key
            members = frame.p_key & _FULL_MEMBER, mine & _FULL_MEMBER
            names = {(0, 0): "both limited", (1, 1): "both full", (1, 0): "limited here", (0, 1): "limited there"}
            key = names[bool(members[0]), bool(members[1])]
            if (frame.p_key ^ mine) & ~_FULL_MEMBER:
                key = "other partition"
        points.ENGINE.sample(kind=kind, fate=fate, address=address, P_Key=key)

    def _taken(self, frame: Frame, before: Before, event: Trace) -> None:
        """A write or a probe that is the QP's business."""
        half = self.golden.device.qp(frame.dest_qp).responder
        if frame.opcode == Opcode.PROBE_REQUEST:
            if before.state is State.READY:
                self._answers(event, "probe", frame)
            else:
                points.SILENCE.sample(**{"probe in": before.state.name})
            return
        cut = _CUTS[frame.trim_reason]
        if before.state is not State.READY:
            points.WRITE.sample(state=before.state.name, cut=cut, opcode=Opcode(frame.opcode).name)
            self._refused(frame, cut, before.state, half, event)
            return
        self._window(frame, cut, before, half, event)
        fresh = before.kind is ArrivalClass.NEW
        if frame.trim_reason is None and fresh and half.shortage is None:
            self._checks(frame, before, half)
        if fresh or not self._answers(event, self._again(frame, before), frame):
            self._refused(frame, cut, before.state, half, event)
        if fresh and frame.trim_reason is None and event.happened["placed"] and half.state.name == "READY":
            self._answers(event, self._trigger(frame, before, half), frame)

    @staticmethod
    def _again(frame: Frame, before: Before) -> str:
        name = "duplicate" if before.kind is ArrivalClass.DUPLICATE else "below"
        return name if frame.trim_reason is None else f"trimmed {name}"

    @staticmethod
    def _trigger(frame: Frame, before: Before, half: Responder) -> str:
        """Why a new packet is answered at once, if it is."""
        length = frame.payload_end - frame.payload_start
        counted = max(length, spec.SACK_MIN_BYTES_PER_PACKET)
        reasons = {
            "threshold": before.unanswered + counted >= half.config.sack_threshold,
            "CE": frame.ecn == Ecn.CE,
            "A bit": frame.ack_req,
            "rtx": frame.rtx,
        }
        true = [name for name, holds in reasons.items() if holds]
        return true[0] if len(true) == 1 else "several"

    def _window(self, frame: Frame, cut: str, before: Before, half: Responder, event: Trace) -> None:
        """Where the PSN lies, and what the packet looks like."""
        window = half.window
        ahead, moved = self._signed(frame.psn - before.cack), (window.cack_psn - before.cack) % PSN_SPACE
        kind = {ArrivalClass.DUPLICATE: "duplicate", ArrivalClass.BELOW: "below", ArrivalClass.ABOVE: "above"}.get(
            before.kind, "next" if ahead == 1 else "ahead"
        )
        edges = {window.window: "last of the window", window.window + 1: "first above", 0: "cumulative"}
        placed, length = event.happened["placed"] > 0, frame.payload_end - frame.payload_start
        mtu = half.config.mtu
        points.WRITE.sample(
            **{
                "state": before.state.name,
                "cut": cut,
                "opcode": Opcode(frame.opcode).name,
                "PSN": "closes a hole" if moved > 1 else kind,
                "edge": "half the space" if ahead == -_HALF else edges.get(ahead),
                "PSNs wrap": (frame.psn < before.cack) is (ahead > 0) if ahead else False,
                "cack moves by": of(points.JUMPS, moved) if moved else None,
                "window": of(points.UNITS, window.window // 128),
                "interval": self._interval,
                "ack_req": frame.ack_req,
                "rtx": frame.rtx,
                "CE": frame.ecn == Ecn.CE,
                "shortage": half.shortage.name if half.shortage is not None else None,
                "TSETH": frame.ts,
                "length": self._length(length, mtu) if placed else None,
                "MTU": mtu if placed else None,
            }
        )

    @staticmethod
    def _length(length: int, mtu: int) -> str:
        edges = {mtu: "MTU", mtu - 1: "MTU - 1", 64: "64", 1: "1", 0: "0"}
        return edges.get(length, "2 to 63" if length < 64 else "65 and more")

    def _checks(self, frame: Frame, before: Before, half: Responder) -> None:
        """Size, place and number of a new packet that is looked at."""
        opcode, mtu = Opcode(frame.opcode).name, half.config.mtu
        length = frame.payload_end - frame.payload_start
        if length > mtu:
            points.SIZE.sample(fault="too long", opcode=opcode)
        elif length < mtu and frame.opcode in (Opcode.WRITE_FIRST, Opcode.WRITE_MIDDLE):
            points.SIZE.sample(fault="not a whole MTU", opcode=opcode)
        else:
            points.REGION.sample(verdict=self._verdict(*frame.target(), length), opcode=opcode)
        if before.in_flight is not None:
            wimm, fields = half.config.responder_wimm, frame.write_fields()
            edges = {wimm: "wimm", wimm - 1: "wimm - 1", 0: "0", 1: "1"}
            points.IMMEDIATE.sample(
                ahead=edges.get(before.in_flight, "between" if before.in_flight < wimm else "beyond"),
                wimm=of(points.WIMMS, wimm),
                **{
                    "RQMSN wraps": fields.rqmsn < before.in_flight,
                    "MSN wraps": fields.msn < before.next_msn and fields.msn < 1 << 15 < before.next_msn,
                },
            )

    def _verdict(self, va: int, r_key: int, length: int) -> str:
        if not length:
            return "no bytes, any key"
        table = self.golden.device.regions
        index = r_key >> spec.R_KEY_TAG_BITS
        region = next((each for each in table if each.r_key >> spec.R_KEY_TAG_BITS == index), None)
        if region is None:
            return "unused index" if index < self.golden.device.config.regions else "index beyond the table"
        if region.r_key != r_key:
            return "another tag"
        first, last = va == region.address, va + length == region.address + region.length
        if va + length > 1 << 64:
            return "beyond the address space"
        if va < region.address:
            return "begins below"
        if va + length > region.address + region.length:
            return "ends beyond"
        return {(1, 1): "all of it", (1, 0): "its first bytes", (0, 1): "its last bytes"}.get((first, last), "within")

    # Answers

    def _answers(self, event: Trace, trigger: str, packet: Frame) -> bool:
        """Sample the SACK that `packet` drew, if it drew one."""
        frames = [parse(data) for replies in event.replies for data in replies]
        sack = next((each for each in frames if isinstance(each, Frame) and each.opcode == Opcode.SACK), None)
        if sack is None:
            return False
        said, offset = sack.sack(), sack.sack().ack_psn_offset
        ahead = self._signed(packet.psn - said.cack_psn)
        if ahead > 0:
            reach = "1 to 64" if ahead <= 64 else "beyond 64"
        else:
            reach = "further back than 16 bits" if ahead < -_REACH else "behind" if ahead else "0"
        assert trigger == "probe" or max(ahead, -_REACH) == offset
        stamp = packet.peth.tx_timestamp if trigger == "probe" else packet.tx_timestamp
        points.SACK.sample(
            **{
                "trigger": trigger,
                "with ACK": any(isinstance(each, Frame) and each.opcode == Opcode.ACKNOWLEDGE for each in frames),
                "m": SackM(said.m).name,
                "rtx": sack.rtx,
                "base moved": said.sack_offset > 1,
                "offset": None if trigger == "probe" else reach,
                "bitmap": {0: "empty", 64: "all"}.get(said.sack_bitmap.bit_count(), "some"),
                "out of order": self._count(said.ooo_count),
                "MPR": said.mpr > 0,
                "restore": said.restore_cwnd,
                "penalty": {0: "0", 127: "127"}.get(said.rcv_cwnd_pen, "1 to 126"),
                "stamp": "none" if stamp is None else "as it came" if said.tx_timestamp == stamp else "advanced",
            }
        )
        return True

    @staticmethod
    def _count(count: int) -> str:
        return str(count) if count < 2 else "2 to 63" if count < 64 else "64 and more"

    def _refused(self, frame: Frame, cut: str, state: State, half: Responder, event: Trace) -> None:
        """Sample the NACK or NAK that a packet drew, or the silence."""
        for replies in event.replies:
            for data in replies:
                answer = parse(data)
                assert isinstance(answer, Frame)
                if answer.opcode == Opcode.NACK:
                    points.NACK.sample(reason=NackReason(answer.neth.reason).name, cut=cut, rtx=answer.rtx)
                elif answer.opcode == Opcode.ACKNOWLEDGE and answer.aeth.syndrome != spec.AethSyndrome.ACK:
                    again = "at once" if state is State.READY else "again" if cut == "whole" else "again, trimmed"
                    assert isinstance(half.error, QpError)
                    points.NAK.sample(error=half.error.name, when=again)
        if event.happened["psn_above_window"]:
            points.SILENCE.sample(why="above, dropped" if cut == "whole" else "above, trimmed, dropped")
        if event.happened["trimmed_dropped"]:
            points.SILENCE.sample(why="trimmed, dropped")
