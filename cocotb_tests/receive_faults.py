"""Faults planted in the golden model of the receive side: a run that does not notice one of them proves nothing."""

from __future__ import annotations

from dataclasses import replace

from cocotb_tests.receive_golden import Golden
from cocotb_tests.receive_rows import CLOCK_PS, Command, Op, QpRow, RegionRow, RouteRow
from cocotb_tests.receive_world import with_traffic_class
from pymodel.nic.events import Action
from pymodel.wire.parser import ParseError, parse
from pymodel.wire.spec import DEFAULT_OPTIONS, Ecn, NackReason


class _Configured(Golden):
    """QPs are set to something else than was asked for."""

    def _changed(self, row: QpRow) -> QpRow:
        raise NotImplementedError

    def _configure(self, qp: int, row: QpRow) -> None:
        super()._configure(qp, self._changed(row))


class ThresholdOneMore(_Configured):
    """The byte counter lets a byte more go unanswered."""

    def _changed(self, row: QpRow) -> QpRow:
        return replace(row, sack_threshold=row.sack_threshold + 1)


class WimmOneMore(_Configured):
    """One immediate too many is taken."""

    def _changed(self, row: QpRow) -> QpRow:
        return replace(row, wimm=row.wimm + 1)


class MprNeverSaid(_Configured):
    """SACKs do not carry the window."""

    def _changed(self, row: QpRow) -> QpRow:
        return replace(row, dynamic_mpr=False)


class AboveAlwaysAnswered(_Configured):
    """PSNs above the window draw a NACK even from a QP that should drop them."""

    def _changed(self, row: QpRow) -> QpRow:
        return replace(row, drop_above=False)


class QuietALittleLonger(_Configured):
    """The quiet timer of a QP runs 128 clocks more than it should."""

    def _changed(self, row: QpRow) -> QpRow:
        return replace(row, quiet_clocks=row.quiet_clocks + 128)


class CeUnseen(Golden):
    """A CE mark goes unnoticed."""

    def frame(self, port: int, data: bytes, now: int) -> list[Action]:
        frame = parse(data)
        if not isinstance(frame, ParseError) and frame.ecn == Ecn.CE:
            data = with_traffic_class(data, ecn=Ecn.ECT0)
        return super().frame(port, data, now)


class TrimsAlike(Golden):
    """Frames trimmed at the last hop are taken for ones trimmed elsewhere."""

    def frame(self, port: int, data: bytes, now: int) -> list[Action]:
        frame = parse(data)
        if not isinstance(frame, ParseError) and frame.trim_reason is NackReason.TRIMMED_LASTHOP:
            data = with_traffic_class(data, dscp=DEFAULT_OPTIONS.dscp.trimmed)
        return super().frame(port, data, now)


class ReceiveLost(Golden):
    """Of every posting of receives one is lost."""

    def _post(self, qp: int, count: int, now_ps: int) -> list[Action]:
        return super()._post(qp, count - 1, now_ps)


class RegionTooLong(Golden):
    """Regions end a byte too late."""

    def _region(self, index: int, row: RegionRow) -> None:
        if row.last < (1 << 64) - 1:
            row = replace(row, last=row.last + 1)
        super()._region(index, row)


class RouteKept(Golden):
    """A QP that is ready keeps its route when it gets another one."""

    def _route(self, qp: int, port: int, row: RouteRow) -> None:
        if qp not in self._rows or not self.device.qp(qp).addresses:
            super()._route(qp, port, row)


class PlanesKept(Golden):
    """Planes that software takes out of use stay in use."""

    def command(self, command: Command, now: int) -> list[Action]:
        return [] if command.op is Op.SET_PLANES else super().command(command, now)


class StampNotAdvanced(Golden):
    """A SACK that was held back looks as if its packet had just come."""

    def expire(self, qp: int, now: int) -> list[Action]:
        if self.deadline(qp) is not None:
            self.device.qp(qp).responder._held_ps = now * CLOCK_PS
        return super().expire(qp, now)


FAULTS: dict[str, type[Golden]] = {
    fault.__name__: fault
    for fault in (
        ThresholdOneMore,
        WimmOneMore,
        MprNeverSaid,
        AboveAlwaysAnswered,
        QuietALittleLonger,
        CeUnseen,
        TrimsAlike,
        ReceiveLost,
        RegionTooLong,
        RouteKept,
        PlanesKept,
        StampNotAdvanced,
    )
}
