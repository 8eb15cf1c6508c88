"""Faults planted in the golden model: a lock-step run that does not notice one of them proves nothing."""

from __future__ import annotations

from pymodel.nic.receive_window import Arrival, ArrivalClass, ReceiveWindow
from pymodel.wire.serial import PSN

HALF = PSN.half


class WindowOneShort(ReceiveWindow):
    """The window's last PSN is taken for one above it."""

    def classify(self, psn: int) -> ArrivalClass:
        if PSN.diff(psn, self.cack_psn) == self.window:
            return ArrivalClass.ABOVE
        return super().classify(psn)


class WindowOneLong(ReceiveWindow):
    """The first PSN above the window is let in."""

    def classify(self, psn: int) -> ArrivalClass:
        if PSN.diff(psn, self.cack_psn) == self.window + 1:
            return ArrivalClass.NEW
        return super().classify(psn)


class HalfSpaceAbove(ReceiveWindow):
    """The one PSN exactly half the number space away is taken for one above."""

    def classify(self, psn: int) -> ArrivalClass:
        if PSN.diff(psn, self.cack_psn) == -HALF:
            return ArrivalClass.ABOVE
        return super().classify(psn)


class PlainComparison(ReceiveWindow):
    """Numbers are compared as integers, so a window that wraps takes its upper part for old (row L07)."""

    def classify(self, psn: int) -> ArrivalClass:
        if psn < self.cack_psn and PSN.diff(psn, self.cack_psn) > 0:
            return ArrivalClass.BELOW
        return super().classify(psn)


class ShortRun(ReceiveWindow):
    """cack seems to stop after a run of 64."""

    def receive(self, psn: int) -> Arrival:
        before = self.cack_psn
        arrival = super().receive(psn)
        if PSN.forward(arrival.cack_psn, before) > 64:
            return arrival._replace(cack_psn=PSN.add(before, 64))
        return arrival


class DuplicatesCounted(ReceiveWindow):
    """A duplicate is counted as held once more."""

    def receive(self, psn: int) -> Arrival:
        arrival = super().receive(psn)
        if arrival.kind is ArrivalClass.DUPLICATE:
            return arrival._replace(ooo_count=arrival.ooo_count + 1)
        return arrival


class BaseOneLow(ReceiveWindow):
    """The bitmap ends one PSN short of the one that it is about."""

    def sack_base(self, psn: int) -> int:
        base = super().sack_base(psn)
        return base if base == PSN.add(self.cack_psn, 1) else PSN.add(base, -1)


class BitmapMissesItsEnd(ReceiveWindow):
    """Bit 63 is never set."""

    def bitmap(self, base: int) -> int:
        return super().bitmap(base) & (1 << 63) - 1


FAULTS: dict[str, type[ReceiveWindow]] = {
    fault.__name__: fault
    for fault in (
        WindowOneShort,
        WindowOneLong,
        HalfSpaceAbove,
        PlainComparison,
        ShortRun,
        DuplicatesCounted,
        BaseOneLow,
        BitmapMissesItsEnd,
    )
}
