"""How many bytes a sender may have in flight: the interface, and the two answers that need no feedback.

A controller belongs to a destination and may be shared by QPs (mrc-facts.md 2.6). A requester sends while `cwnd` is
above the bytes in flight, and tells the controller what it hears. Sizes are nominal: UDP payload plus 40 bytes a
packet.
"""

from __future__ import annotations

from typing import Protocol

from pymodel.base.errors import InputError

__all__ = ["CongestionControl", "FixedWindow", "NoCongestionControl"]


class CongestionControl(Protocol):
    """A window in bytes, moved by feedback."""

    @property
    def cwnd(self) -> int:
        """Bytes that may be in flight now."""
        ...

    @property
    def max_cwnd(self) -> int:
        """Most that `cwnd` will ever be, in bytes."""
        ...

    def on_sack(self, now_ps: int, *, round_trip_ps: int | None, marked: bool, received_bytes: int) -> None:
        """A SACK arrived.

        `round_trip_ps` comes from the reflected timestamp, None without one; `marked`: the triggering packet had ECN
        CE; `received_bytes`: newly received at the peer, from the difference of rcvd_bytes.
        """
        ...

    def on_nack(self, now_ps: int, *, round_trip_ps: int | None, nacked_bytes: int) -> None:
        """A NACK arrived; `nacked_bytes` is 0 when it told nothing new."""
        ...

    def on_loss(self, now_ps: int, *, lost_bytes: int) -> None:
        """`lost_bytes` were inferred lost, by gap or by timeout."""
        ...


class FixedWindow:
    """A window that never moves."""

    def __init__(self, window: int) -> None:
        """Allow `window` bytes in flight."""
        if window < 1:
            raise InputError("fixed congestion window", str(window), "at least one byte")
        self.cwnd = window
        self.max_cwnd = window

    def on_sack(self, now_ps: int, *, round_trip_ps: int | None, marked: bool, received_bytes: int) -> None:
        """Feedback changes nothing."""

    def on_nack(self, now_ps: int, *, round_trip_ps: int | None, nacked_bytes: int) -> None:
        """Feedback changes nothing."""

    def on_loss(self, now_ps: int, *, lost_bytes: int) -> None:
        """Feedback changes nothing."""


class NoCongestionControl(FixedWindow):
    """No limit but the PSN window: 2^62 bytes are more than any window holds."""

    def __init__(self) -> None:
        super().__init__(1 << 62)
