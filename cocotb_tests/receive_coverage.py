"""Follows the receive side as `Follower` does and samples `receive_points` at each event: taken for the nightly report
alone. What is sampled is the golden model's, which the round's end compares with the RTL.
"""

from __future__ import annotations

from collections import Counter

from cocotb_tests import receive_points as points
from cocotb_tests.coverage_group import of
from cocotb_tests.receive_model import Follower
from cocotb_tests.receive_qp_coverage import QpSampler, signed
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
from pymodel.nic.config import DeviceConfig
from pymodel.nic.responder import Responder
from pymodel.rtl.coverage import keep_bins
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import Ecn, EndpointOp, NackReason, Opcode

_BEAT = 64
_LAST_NUMBER = (1 << 16) - 1
_SRH_AT = spec.ETHERNET.size + spec.IPV6.size


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
        self._qps = QpSampler(self.golden, interval)
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
        causes, before = Counter(dropped), None if endpoint else self._qps.look(frame)
        super()._frame(port, frame, now, event)
        fate = next(iter(+(Counter(dropped) - causes)), None)
        if endpoint:
            self._endpoint(frame, fate, event)
        else:
            self._qps.fate(frame, fate)
            if fate is None and before is not None and (frame.is_write or frame.opcode == Opcode.PROBE_REQUEST):
                self._qps.taken(frame, before, event)
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
            ahead = signed(held.psn - cack)
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
            self._qps.answers(event, "quiet timer", held)
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
