"""Follows the receive side event by event in the golden model, and compares all that was seen with what should be.

The tap says in which order frames, timers and commands were accepted; everything else is the model's own. Streams are
compared where an order is promised: replies by port and QP, DMA by port, completions by QP, answers as they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_rows import (
    ACCEPTED,
    BODY_BYTES,
    DROP_CODES,
    DROP_NAMES,
    MAX_FRAME_BYTES,
    OVERFLOW,
    OVERSIZE,
    PORTS,
    QPS,
    Answer,
    Command,
    Completion,
    EventKind,
    Notice,
    Op,
    Placed,
    Round,
    State,
    Stray,
    Trace,
)
from pymodel.nic.config import DeviceConfig
from pymodel.nic.events import Action, Complete, FrameOut, Notify, WriteMemory
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import EndpointOp, Opcode

_ENDPOINT = (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
_STRAYS = (Opcode.SACK, Opcode.NACK, Opcode.ACKNOWLEDGE)
_STATUS = {"success": 0, "flushed": 1}
_WRAP = 1 << 32
_BODY_AT = spec.UDP.size + spec.BTH.size

_ENGINE_DROPS = {
    "unknown_qp": "unknown QP",
    "qp_not_ready": "QP not ready",
    "wrong_address": "wrong address",
    "wrong_p_key": "wrong P_Key",
}
_ENGINE_EVENTS = {
    "above_dropped": "psn_above_window",
    "trimmed_dropped": "trimmed_dropped",
    "placed": "placed",
    "quiet": "quiet timer",
    "no_way_back": "no_way_back",
    "completed": "success",
    "flushed": "flushed",
}
_ENDPOINT_DROPS = {
    "wrong_address": "wrong address",
    "unknown_qp": "unknown QP",
    "no_request": "endpoint response to no request",
    "operation": "endpoint operation",
    "no_way_back": "no way back",
}

_T = TypeVar("_T")


def reply_key(data: bytes) -> bytes:
    """Where an answer goes: the inner destination address and the QPN, by which its order is promised."""
    at = spec.ETHERNET.size
    following = data[at + 6] if len(data) > at + 6 else 0
    if following == spec.NextHeader.ROUTING:
        at += spec.IPV6.size + spec.SRH.size + spec.SEGMENT.size
    elif following == spec.NextHeader.IPV6:
        at += spec.IPV6.size
    bth = at + spec.IPV6.size + spec.UDP.size
    return data[at + 24 : at + 40] + data[bth + 5 : bth + 8]


def describe(item: Any) -> str:
    """An expected or seen item for a person."""
    if isinstance(item, bytes):
        frame = parse(item)
        if isinstance(frame, ParseError):
            return f"{frame}: {item.hex()}"
        shown = ", ".join(str(header) for header in frame.headers()[-3:])
        return f"{shown}\n    {item.hex()}"
    if isinstance(item, Placed) and len(item.data) > 64:
        return f"{item._replace(data=item.data[:64])} and {len(item.data) - 64} bytes more"
    return repr(item)


def compare(where: str, seen: Sequence[_T], expected: Sequence[_T], key: Callable[[_T], Hashable] | None = None) -> int:
    """Compare two sequences, or with `key` each part of equal keys; AssertionError shows the first difference."""
    if seen == expected:
        return len(seen)
    if key is not None:
        parts: dict[Hashable, tuple[list[_T], list[_T]]] = {}
        for which, items in enumerate((seen, expected)):
            for item in items:
                parts.setdefault(key(item), ([], []))[which].append(item)
        for part, (mine, due) in parts.items():
            compare(f"{where} {part.hex() if isinstance(part, bytes) else part}", mine, due)
        return len(seen)
    for number, (shown, said) in enumerate(zip(seen, expected, strict=False)):
        if shown != said:
            raise AssertionError(f"{where}: item {number}:\n rtl   {describe(shown)}\n model {describe(said)}")
    number = min(len(seen), len(expected))
    longer, name = (seen, "rtl") if len(seen) > number else (expected, "model")
    raise AssertionError(
        f"{where}: {len(seen)} in the RTL, {len(expected)} in the model; next of the {name}: {describe(longer[number])}"
    )


def collect(actions: Iterable[Action], cause: tuple[int, Frame] | None, into: Trace) -> None:
    """Add what follows from an event to what is to be seen; `cause` is the frame and its port."""
    for action in actions:
        if isinstance(action, FrameOut):
            into.replies[action.port].append(action.data)
        elif isinstance(action, WriteMemory):
            assert cause is not None
            port, frame = cause
            _, r_key = frame.target()
            into.placed[port].append(Placed(frame.dest_qp, action.address, r_key, bytes(action.data)))
        elif isinstance(action, Complete):
            status = _STATUS[action.status]
            into.completions.append(
                Completion(action.qpn, status, action.wr_id & 0xFFFF, action.byte_count, action.immediate or 0)
            )
            into.happened[action.status] += 1
        elif isinstance(action, Notify):
            into.happened[action.kind] += 1


def take_frame(golden: Golden, port: int, frame: Frame, now: int, into: Trace) -> None:
    """Let the model take an accepted frame, and add what follows to what is to be seen."""
    data = frame.data
    if frame.opcode in _ENDPOINT:
        dropped = golden.endpoint.dropped
        stranded = dropped["no way back"]
        actions = golden.request(port, data)
        collect(actions, None, into)
        taken = actions or dropped["no way back"] > stranded  # its news counts even if no answer finds a way
        if taken and frame.opcode == Opcode.ENDPOINT_REQUEST and frame.erth.op == EndpointOp.PORT_STATUS_UPDATE:
            source = int.from_bytes(frame.addresses[:16], "big")
            into.notices.append(Notice(source, frame.erth.port_status_mask, frame.psn & 0xFFFF))
        return
    unknown = golden.device.dropped["unknown QP"]
    before, received = golden.device.dropped.total(), golden.received(frame.dest_qp)
    collect(golden.frame(port, data, now), (port, frame), into)
    if spec.ENDPOINT_QP < frame.dest_qp < QPS and golden.device.dropped["unknown QP"] > unknown:
        golden.never_made()
    into.happened["placed"] += golden.received(frame.dest_qp) != received
    if frame.opcode in _STRAYS and golden.device.dropped.total() == before:
        at = frame._udp + _BODY_AT
        body = data[at : frame.end - spec.ICRC_BYTES]
        into.strays.append(Stray(frame.dest_qp, frame.opcode, frame.psn, body.ljust(BODY_BYTES, b"\0")))


def take_command(golden: Golden, command: Command, now: int, into: Trace) -> None:
    """Let the model take a command, and add what follows to what is to be seen."""
    collect(golden.command(command, now), None, into)
    if command.op is Op.QUERY:
        into.answers.append(golden.answer(command.qp))


def _said(answer: Answer) -> Answer:
    """What an answer to a query promises: of a QP in reset its state alone, and of one that failed not its window, on
    which PSNs go on to be recorded without any effect."""
    if answer.state == State.RESET:
        return Answer(answer.qp, answer.state, 0, 0, 0, 0, 0)
    return answer if answer.state == State.READY else answer._replace(cack=0, ooo_count=0)


class Follower:
    """Follows rounds, one after the other, and counts what was met."""

    def __init__(self, config: DeviceConfig, golden: Callable[[DeviceConfig], Golden] = Golden) -> None:
        self.golden = golden(config)
        self.met: Counter[str] = Counter()
        """What happened, by name: for coverage, and for the counters of the RTL."""
        self.dropped: list[Counter[str]] = [Counter() for _ in range(PORTS)]
        """Frames that ports dropped, by port and cause."""
        self.accepted, self.sent = [0] * PORTS, [0] * PORTS
        """Frames that ports took, and that they sent."""
        self.latest = 0
        """Most clocks between a quiet timer's deadline and its expiry."""
        self.stalls = False
        """Outputs stop for a while now and then in this round."""
        self._now = 0

    def follow(self, script: Round, trace: Trace) -> None:
        """Follow one round, and compare. AssertionError at the first difference."""
        frames = [self._outcomes(port, script, trace) for port in range(PORTS)]
        expected = Trace()
        commands = iter(script.commands)
        for tap in trace.taps:
            now = self._extended(tap.now)
            if tap.kind == EventKind.FRAME:
                assert frames[tap.port], f"port {tap.port} gave more frames than it took"
                self._frame(tap.port, frames[tap.port].pop(), now, expected)
            elif tap.kind == EventKind.TIMER:
                self._timer(tap.qp, now, expected)
            else:
                command = next(commands, None)
                assert command is not None, "more commands were accepted than given"
                self._command(command, now, expected)
        left = [len(each) for each in frames]
        assert not any(left), f"frames accepted by ports and never by the engine: {left}"
        assert next(commands, None) is None, "commands that never took effect"
        self._compare(trace, expected)

    def _extended(self, now: int) -> int:
        """The engine's 32-bit clock as a number that does not wrap."""
        now = self._now + (now - self._now) % _WRAP
        self._now = now
        return now

    def _outcomes(self, port: int, script: Round, trace: Trace) -> list[Frame]:
        """The frames that `port` accepted, last one first, each outcome compared with what the parser says."""
        accepted: list[Frame] = []
        outcomes, sent = trace.outcomes[port], script.frames[port]
        assert len(outcomes) == len(sent), f"port {port}: {len(sent)} frames in, {len(outcomes)} accepted or dropped"
        for number, (outcome, each) in enumerate(zip(outcomes, sent, strict=True)):
            frame = parse(each.data)
            self._outcome(port, outcome, each.data, frame)
            if outcome == OVERFLOW:
                self.dropped[port][DROP_NAMES[OVERFLOW]] += 1
                continue
            if isinstance(frame, ParseError):
                due = DROP_CODES[frame.cause]
            else:
                due = OVERSIZE if len(each.data) > MAX_FRAME_BYTES else ACCEPTED
            if outcome != due:
                names = dict(enumerate(DROP_NAMES)) | {ACCEPTED: "accepted"}
                raise AssertionError(
                    f"port {port}, frame {number}: the RTL says {names.get(outcome, outcome)}, the model {names[due]}:"
                    f" {each.data[:200].hex()}, {len(each.data)} bytes"
                )
            if isinstance(frame, ParseError) or due == OVERSIZE:
                self.dropped[port][DROP_NAMES[due]] += 1
            else:
                accepted.append(frame)
        accepted.reverse()
        return accepted

    def _outcome(self, port: int, outcome: int, data: bytes, frame: Frame | ParseError) -> None:
        """What a port said of a frame, for those who want to know it before it is compared."""

    def _frame(self, port: int, frame: Frame, now: int, expected: Trace) -> None:
        self.met[Opcode(frame.opcode).name] += 1
        take_frame(self.golden, port, frame, now, expected)

    def _command(self, command: Command, now: int, expected: Trace) -> None:
        take_command(self.golden, command, now, expected)

    def _timer(self, qp: int, now: int, expected: Trace) -> None:
        deadline = self.golden.deadline(qp)
        if deadline is not None and deadline <= now:
            self.latest = max(self.latest, now - deadline)
            self.met["quiet timer"] += 1
        else:
            self.met["quiet timer, too late"] += 1
        collect(self.golden.expire(qp, now), None, expected)

    def counters(self) -> dict[str, int]:
        """What the RTL's counters must show, by the names of its registers, since reset."""
        met, ports = self.met, range(PORTS)
        due = {f"port_count[{port}].accepted": self.accepted[port] for port in ports}
        due |= {f"port_count[{port}].sent": self.sent[port] for port in ports}
        due |= {f"port_count[{port}].{name.lower()}": self.dropped[port][name] for port in ports for name in DROP_NAMES}
        engine = {name: self.golden.device.dropped[cause] for name, cause in _ENGINE_DROPS.items()}
        engine |= {name: met[kind] for name, kind in _ENGINE_EVENTS.items()}
        engine |= {f"endpoint_{name}": self.golden.endpoint.dropped[cause] for name, cause in _ENDPOINT_DROPS.items()}
        engine["endpoint_notice_overflow"] = 0
        return due | {f"engine_count.{name}": count for name, count in engine.items()}

    def compare_counters(self, shown: dict[str, int]) -> None:
        """Compare the RTL's counters with what must have been counted. AssertionError names those that differ.

        Answers that find no way back are counted by kind in the RTL and only together in the model.
        """
        kinds = [shown[f"engine_count.{kind}"] for kind in ("sack", "nack", "ack", "nak", "endpoint_answered")]
        assert sum(kinds) == sum(self.sent) + self.met["no_way_back"], f"answers: {kinds}, {self.met['no_way_back']}"
        wrong = [
            f"{name}: {shown[name]}, expected {due}" for name, due in self.counters().items() if shown[name] != due
        ]
        assert not wrong, f"counters of the RTL: {'; '.join(wrong)}"

    def _compare(self, trace: Trace, expected: Trace) -> None:
        met = self.met
        met.update(expected.happened)
        for port in range(PORTS):
            replies = trace.replies[port], expected.replies[port]
            met["replies"] += compare(f"replies of port {port}", *replies, reply_key)
            met["with payload"] += compare(f"DMA of port {port}", trace.placed[port], expected.placed[port])
            self.sent[port] += len(trace.replies[port])
            self.accepted[port] += trace.outcomes[port].count(ACCEPTED)
        met["completions"] += compare(
            "completions of QP", trace.completions, expected.completions, lambda each: each.qp
        )
        answers = [_said(each) for each in trace.answers], [_said(each) for each in expected.answers]
        met["answers"] += compare("answers to queries", *answers)
        met["notices"] += compare("notices", trace.notices, expected.notices)
        met["strays"] += compare("answers to requesters", trace.strays, expected.strays)
