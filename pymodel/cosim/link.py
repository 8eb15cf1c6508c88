"""Links: one direction of a cable, which serialises, delays and loses frames.

A direction sends one frame at a time at its rate; a frame handed over while another is on its way waits in order. Loss
is drawn once a frame from a generator that scenario seed and direction name alone settle, so that no other part of a
run shifts it.
"""

from __future__ import annotations

import random

from pymodel.base.time import serialisation_ps

__all__ = ["GAP_BYTES", "PREAMBLE_AND_FCS_BYTES", "LinkDirection"]

PREAMBLE_AND_FCS_BYTES = 8 + 4
"""Sent with every frame (IEEE 802.3) and not part of the frame's bytes here."""
GAP_BYTES = 12
"""Idle time between two frames, in bytes (IEEE 802.3)."""


class LinkDirection:
    """One direction of a link.

    Parameters
    ----------
    name:
        Names the direction in results and settles its random draws, for instance ``"p0-t0-0:2>p0-t1-0:0"``.
    rate_bps, delay_ps:
        Rate in bit/s; propagation delay in ps.
    loss_ppm:
        Frames lost per million, drawn independently.
    seed:
        The scenario's seed.
    """

    __slots__ = ("_busy_until_ps", "_random", "delay_ps", "loss_ppm", "lost", "name", "rate_bps", "sent")

    def __init__(self, name: str, rate_bps: int, delay_ps: int, loss_ppm: int, seed: int) -> None:
        self.name = name
        self.rate_bps = rate_bps
        self.delay_ps = delay_ps
        self.loss_ppm = loss_ppm
        self.sent = 0
        self.lost = 0
        self._busy_until_ps = 0
        self._random = random.Random(f"{seed} link {name}")

    def send(self, size_bytes: int, now_ps: int) -> int | None:
        """Take a frame of `size_bytes` (without FCS) at `now_ps` and return when the far end has it whole, in ps.

        None means that the frame is lost; it occupies the link like any other.
        """
        self.sent += 1
        start_ps = max(now_ps, self._busy_until_ps)
        on_the_wire = size_bytes + PREAMBLE_AND_FCS_BYTES
        self._busy_until_ps = start_ps + serialisation_ps(on_the_wire + GAP_BYTES, self.rate_bps)
        if self.loss_ppm and self._random.randrange(1_000_000) < self.loss_ppm:
            self.lost += 1
            return None
        return start_ps + serialisation_ps(on_the_wire, self.rate_bps) + self.delay_ps
