"""Samples of `receive_points` for one frame of a QP: whose business it is, where its PSN lies, what is checked of it,
and what it draws.
"""

from __future__ import annotations

from typing import NamedTuple

from cocotb_tests import receive_points as points
from cocotb_tests.coverage_group import of
from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_rows import State, Trace
from cocotb_tests.receive_sender import PSN_SPACE
from pymodel.nic.lifecycle import QpError
from pymodel.nic.receive_window import ArrivalClass
from pymodel.nic.responder import Responder
from pymodel.wire import spec
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import Ecn, NackReason, Opcode, SackM

_HALF = PSN_SPACE // 2
_FULL_MEMBER = 0x8000
_REACH = 1 << 15
_CUTS = {None: "whole", NackReason.TRIMMED: "trimmed", NackReason.TRIMMED_LASTHOP: "trimmed at the last hop"}
_ANSWERED_BY_PSN = {ArrivalClass.DUPLICATE: "duplicate", ArrivalClass.BELOW: "below", ArrivalClass.ABOVE: "above"}


class Before(NamedTuple):
    """What the model held of a frame's QP when the frame came."""

    state: State
    kind: ArrivalClass
    cack: int
    unanswered: int
    next_msn: int
    in_flight: int | None
    """Writes with immediate that one of these comes behind."""


def signed(distance: int) -> int:
    """A distance of PSNs, a positive one ahead."""
    return (distance + _HALF) % PSN_SPACE - _HALF


class QpSampler:
    """Samples what the QPs of `golden` make of frames; `interval` clocks lie between two events of a QP."""

    def __init__(self, golden: Golden, interval: int) -> None:
        self.golden = golden
        self._interval = interval

    def look(self, frame: Frame) -> Before | None:
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

    def fate(self, frame: Frame, fate: str | None) -> None:
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

    def taken(self, frame: Frame, before: Before, event: Trace) -> None:
        """A write or a probe that is the QP's business."""
        half = self.golden.device.qp(frame.dest_qp).responder
        if frame.opcode == Opcode.PROBE_REQUEST:
            if before.state is State.READY:
                self.answers(event, "probe", frame)
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
        if fresh or not self.answers(event, self._again(frame, before), frame):
            self._refused(frame, cut, before.state, half, event)
        if fresh and frame.trim_reason is None and event.happened["placed"] and half.state.name == "READY":
            self.answers(event, self._trigger(frame, before, half), frame)

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
        ahead, moved = signed(frame.psn - before.cack), (window.cack_psn - before.cack) % PSN_SPACE
        kind = _ANSWERED_BY_PSN.get(before.kind, "next" if ahead == 1 else "ahead")
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
            edges = {0: "0", 1: "1", wimm - 1: "wimm - 1", wimm: "wimm"}
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

    def answers(self, event: Trace, trigger: str, packet: Frame) -> bool:
        """Sample the SACK that `packet` drew, if it drew one."""
        frames = [parse(data) for replies in event.replies for data in replies]
        sack = next((each for each in frames if isinstance(each, Frame) and each.opcode == Opcode.SACK), None)
        if sack is None:
            return False
        said, offset = sack.sack(), sack.sack().ack_psn_offset
        ahead = signed(packet.psn - said.cack_psn)
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
