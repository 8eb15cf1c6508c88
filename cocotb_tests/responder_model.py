"""What the responder engine must say of what it accepted: the golden model, followed event by event by the tap.

Replies are compared in the order of events, all QPs together; verdicts by port, completions by QP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_model import compare
from cocotb_tests.receive_rows import PORTS, Answer, Command, Completion, EventKind, Op, QpRow, Round, State
from cocotb_tests.responder_bench import Log
from cocotb_tests.responder_bench import outcome as outcome_of
from pymodel.nic.config import DeviceConfig
from pymodel.nic.events import Action, Complete, FrameOut, Notify, WriteMemory
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import ENDPOINT_QP, EXTENSIONS, AethSyndrome, Opcode

_ENDPOINT = (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
_STRAYS = (Opcode.SACK, Opcode.NACK, Opcode.ACKNOWLEDGE)
_KINDS = {Opcode.SACK: 0, Opcode.NACK: 1, Opcode.ACKNOWLEDGE: 2}
_ROUTE, _CONFIG = 4, 5
_STATUS = {"success": 0, "flushed": 1}
_NOTICES = {"psn_above_window": "above dropped", "trimmed_dropped": "trimmed dropped"}
_CAUSES = ("unknown QP", "QP not ready", "wrong address", "wrong P_Key")
_DCIDS = slice(spec.SETH.bit_offset("spdcid") // 8, spec.SETH.bit_offset("dpdcid") // 8 + 2)
_WORD = (1 << 32) - 1


class EngineGolden(Golden):
    """The golden model as the engine alone has it: all QPs exist, and whoever sends answers looks after planes."""

    def __init__(self, config: DeviceConfig) -> None:
        super().__init__(config)
        self.planes: dict[int, int] = {}
        self._made: set[int] = set()

    def make(self, qps: int) -> None:
        """Let QPs up to `qps` exist, in reset."""
        for qp in range(ENDPOINT_QP + 1, qps):
            if qp not in self._made:
                self.device.create_qp(qp)
                self._made.add(qp)

    def command(self, command: Command, now: int) -> list[Action]:
        if command.op is Op.SET_PLANES:
            self.planes[command.qp] = command.value
            return []
        return super().command(command, now)

    def _configure(self, qp: int, row: QpRow) -> None:
        if qp in self._made:
            self.device.destroy_qp(qp)  # it is made anew when it is configured for the first time
            self._made.remove(qp)
        self.planes[qp] = (1 << PORTS) - 1
        super()._configure(qp, row)


@dataclass(slots=True)
class Due:
    """What must come out."""

    replies: list[tuple[Any, ...]] = field(default_factory=list)
    verdicts: list[list[tuple[int, ...]]] = field(default_factory=lambda: [[] for _ in range(PORTS)])
    completions: list[Completion] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    requesters: list[int] = field(default_factory=list)
    endpoints: list[tuple[int, int]] = field(default_factory=list)


def reply_of(word: int) -> tuple[Any, ...]:
    """A reply_t as the model says it."""
    kind, qp = word >> 404, word >> 388 & 0xFFFF
    body = word & (1 << 352) - 1
    if kind in (_ROUTE, _CONFIG):
        return kind, qp, word >> 352 & 7 if kind == _ROUTE else 0, body
    return kind, qp, word >> 380 & 0xFF, word >> 379 & 1, word >> 355 & 0xFFFFFF, body


def answer_of(word: int) -> Answer:
    """A query_t."""
    widths = (16, 2, 24, 15, 24, 32, 17)
    values = []
    for width in reversed(widths):
        values.append(word & (1 << width) - 1)
        word >>= width
    return _said(Answer(*reversed(values)))


def _said(answer: Answer) -> Answer:
    """An answer without what means nothing in its state."""
    if answer.state == State.RESET:
        return Answer(answer.qp, State.RESET, 0, 0, 0, 0, 0)
    return answer if answer.state == State.READY else answer._replace(cack=0, ooo_count=0)


def cqe_of(word: int) -> Completion:
    """A cqe_t."""
    return Completion(word >> 81, word >> 80 & 1, word >> 64 & 0xFFFF, word >> 32 & _WORD, word & _WORD)


def verdict_of(word: int) -> tuple[int, ...]:
    """A rx_verdict_t; only `place` counts when it is 0."""
    return (1, word >> 96 & 0xFFFF, word >> 32 & (1 << 64) - 1, word & _WORD) if word >> 112 else (0,)


class Follower:
    """Follows runs, one after the other, and counts what was met."""

    def __init__(self, config: DeviceConfig, qps: int, golden: Callable[[DeviceConfig], EngineGolden] = EngineGolden):
        self.golden = golden(config)
        self.golden.make(qps)
        self.met: Counter[str] = Counter()
        self.late: list[int] = []
        """Clocks between a quiet timer's deadline and its expiry."""

    def follow(self, script: Round, log: Log) -> None:
        """Follow one run, and compare. AssertionError at the first difference."""
        frames = [self._parsed(port) for port in script.frames]
        commands = iter(script.commands)
        due = Due()
        for tap in log.taps:
            if tap.kind == EventKind.FRAME:
                assert frames[tap.port], f"port {tap.port}: more frames accepted than given"
                self._frame(tap.port, frames[tap.port].pop(), tap.now, due)
            elif tap.kind == EventKind.TIMER:
                self._timer(tap.qp, tap.now, due)
            else:
                command = next(commands, None)
                assert command is not None, "more commands accepted than given"
                self._command(command, tap.now, due)
        assert not any(frames), f"frames never accepted: {list(map(len, frames))}"
        assert next(commands, None) is None, "commands never accepted"
        self._compare(log, due)

    @staticmethod
    def _parsed(sent: list[Any]) -> list[Frame]:
        """The frames that a port gives descriptors for, last one first."""
        parsed = [parse(each.data) for each in reversed(sent) if outcome_of(each.data).cause is None]
        return [frame for frame in parsed if not isinstance(frame, ParseError)]

    def _frame(self, port: int, frame: Frame, now: int, due: Due) -> None:
        outcome = outcome_of(frame.data)
        self.met[Opcode(frame.opcode).name] += 1
        if frame.opcode in _ENDPOINT:
            due.endpoints.append((port, outcome.desc))
            return
        dropped = self.golden.device.dropped.total()
        actions = self.golden.frame(port, frame.data, now)
        self._collect(frame.dest_qp, actions, due)
        if frame.opcode in _STRAYS and self.golden.device.dropped.total() == dropped:
            due.requesters.append(outcome.desc)
        if outcome.payload:
            placed = [action for action in actions if isinstance(action, WriteMemory)]
            if placed:
                va, r_key = frame.target()
                assert placed[0].address == va
                due.verdicts[port].append((1, frame.dest_qp, va, r_key))
            else:
                due.verdicts[port].append((0,))

    def _timer(self, qp: int, now: int, due: Due) -> None:
        deadline = self.golden.deadline(qp)
        if deadline is not None and deadline <= now:
            self.late.append(now - deadline)
            self.met["quiet"] += 1
        else:
            self.met["quiet timer, stopped or moved"] += 1
        self._collect(qp, self.golden.expire(qp, now), due)

    def _command(self, command: Command, now: int, due: Due) -> None:
        self.met[command.op.name] += 1
        actions = self.golden.command(command, now)
        self._collect(command.qp, actions, due)
        if command.op is Op.QUERY:
            due.answers.append(_said(self.golden.answer(command.qp)))
        elif command.op in (Op.QP_ROUTE, Op.QP_CONFIG):
            assert command.row is not None
            kind = _ROUTE if command.op is Op.QP_ROUTE else _CONFIG
            due.replies.append((kind, command.qp, command.port, command.row.pack()))

    def _collect(self, qp: int, actions: list[Action], due: Due) -> None:
        for action in actions:
            if isinstance(action, FrameOut):
                due.replies.append(self._reply(qp, action.data))
            elif isinstance(action, Complete):
                immediate = action.immediate or 0
                status = _STATUS[action.status]
                due.completions.append(Completion(qp, status, action.wr_id & 0xFFFF, action.byte_count, immediate))
            elif isinstance(action, Notify) and action.kind in _NOTICES:
                self.met[_NOTICES[action.kind]] += 1

    def _reply(self, qp: int, data: bytes) -> tuple[Any, ...]:
        frame = parse(data)
        assert isinstance(frame, Frame)
        opcode = Opcode(frame.opcode)
        size = sum(header.size for header in EXTENSIONS[opcode])
        body = bytearray(data[frame.payload_start - size : frame.payload_start])
        if opcode is Opcode.ACKNOWLEDGE:
            self.met["ack" if frame.aeth.syndrome == AethSyndrome.ACK else "nak"] += 1
        else:
            self.met[opcode.name.lower()] += 1
            body[_DCIDS] = bytes(4)
        planes = self.golden.planes[qp]
        return _KINDS[opcode], qp, planes, int(frame.rtx), frame.psn, int.from_bytes(body, "big")

    def _compare(self, log: Log, due: Due) -> None:
        self.met["replies"] += compare("replies", [reply_of(each.word) for each in log.replies], due.replies)
        for port in range(PORTS):
            seen = [verdict_of(each.word) for each in log.verdicts[port]]
            self.met["verdicts"] += compare(f"verdicts of port {port}", seen, due.verdicts[port])
            self.met["placed payloads"] += sum(verdict[0] for verdict in seen)
        cqes = [cqe_of(each.word) for each in log.cqes]
        self.met["completions"] += compare("completions of QP", cqes, due.completions, lambda each: each.qp)
        compare("answers to queries", [answer_of(each.word) for each in log.queries], due.answers)
        compare("answers for requesters", [each.word for each in log.requesters], due.requesters)
        compare("endpoint operations", log.endpoints, due.endpoints)
        self.met["events"] += len(log.taps)

    def check_counts(self, counts: dict[str, int]) -> None:
        """Compare the engine's pulses since reset with the model's."""
        dropped = self.golden.device.dropped
        for name in ("sack", "nack", "ack", "nak", "quiet", *_NOTICES.values()):
            assert counts[name] == self.met[name], (name, counts[name], self.met[name])
        for cause in _CAUSES:
            assert counts[cause] == dropped[cause], (cause, counts[cause], dropped[cause])
        assert counts["placed"] >= self.met["placed payloads"]
