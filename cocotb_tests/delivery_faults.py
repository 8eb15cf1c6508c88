"""Faults planted in the golden model of the delivery; a lock-step run that misses one of them proves nothing."""

from __future__ import annotations

from dataclasses import replace

from pymodel.nic.delivery import Delivery
from pymodel.nic.events import Action, Complete
from pymodel.wire.serial import PSN


class OneImmediateMore(Delivery):
    """One write with immediate more than allowed may be in flight."""

    def immediates_before(self, rqmsn: int) -> int:
        return max(0, super().immediates_before(rqmsn) - 1)


class OneImmediateLess(Delivery):
    """One fewer may be."""

    def immediates_before(self, rqmsn: int) -> int:
        return super().immediates_before(rqmsn) + 1


class CompleteOneLate(Delivery):
    """A message counts as complete when the packet behind its last one has arrived."""

    def advance(self, cack_psn: int, out: list[Action]) -> bool:
        return super().advance(PSN.add(cack_psn, -1), out)


class ReceivesNeverMissing(Delivery):
    """An immediate without a receive is passed over."""

    def advance(self, cack_psn: int, out: list[Action]) -> bool:
        super().advance(cack_psn, out)
        return True


class BytesOfTheWrongMessage(Delivery):
    """A completion says one byte more."""

    def advance(self, cack_psn: int, out: list[Action]) -> bool:
        done = super().advance(cack_psn, out)
        out[:] = [replace(each, byte_count=each.byte_count + 1) for each in out if isinstance(each, Complete)]
        return done


class ImmediatesNotCounted(Delivery):
    """Only plain writes count as messages."""

    def landed(self, msn: int, psn: int, byte_count: int, immediate: int | None) -> None:
        super().landed(msn, psn, byte_count, immediate)
        if immediate is not None:
            self.completed -= 1


FAULTS: dict[str, type[Delivery]] = {
    fault.__name__: fault
    for fault in (
        OneImmediateMore,
        OneImmediateLess,
        CompleteOneLate,
        ReceivesNeverMissing,
        BytesOfTheWrongMessage,
        ImmediatesNotCounted,
    )
}
