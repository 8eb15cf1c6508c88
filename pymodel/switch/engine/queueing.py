"""The egress queues of one port in virtual time: strict priority, per-priority rates in packets, one link rate in bits.

Two limits, as `docs/interfaces.md` has them:

* ``pps``: each priority has its own rate, like BMv2's QueueingLogicPriRL. A packet may leave once ``1 / rate`` has
  passed since the packet before it in the same queue was due; other queues do not matter.
* ``bit/s``: the port has one link, shared by its queues in strict priority. The link takes the next packet when the
  last bit of the one before has left; a packet's time on it is that of the frame that egress made of it.

Both may hold at once. A queue's depth counts packets that wait; the one on the link has left its queue. All times are
whole picoseconds, rounded up.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from pymodel.base.time import S, serialisation_ps

__all__ = ["DEFAULT_DEPTH", "PortQueues"]

DEFAULT_DEPTH = 2**31 - 1
"""Packets that a queue holds until its depth is set: the greatest BMv2 takes. What is lost is up to the program."""


class _Queue:
    __slots__ = ("depth", "due", "gap", "packets")

    def __init__(self) -> None:
        self.depth = DEFAULT_DEPTH
        self.gap = 0
        # A queue that was never used owes nothing: its first packet is due at once.
        self.due: int | None = None
        self.packets: deque[tuple[int, Any]] = deque()


class PortQueues:
    """The queues of one port, priority 0 (served last) to `priorities` - 1."""

    def __init__(self, priorities: int) -> None:
        self._queues = [_Queue() for _ in range(priorities)]
        self._link_bps: int | None = None
        self._link_free = 0

    def set_packet_rate(self, priority: int, rate_pps: int | None) -> None:
        """Limit one queue to packets per second; None lifts the limit. Packets that wait keep their times."""
        self._queues[priority].gap = 0 if rate_pps is None else -(-S // rate_pps)

    def set_link_rate(self, rate_bps: int | None) -> None:
        """Give the port's link a rate in bit/s; None lets frames leave at once."""
        self._link_bps = rate_bps

    def set_depth(self, priority: int, packets: int) -> None:
        """Set how many packets one queue holds; those that wait already stay."""
        self._queues[priority].depth = packets

    @property
    def unlimited(self) -> bool:
        """Whether every packet leaves at once: no rate, nothing waiting, room in every queue."""
        return self._link_bps is None and all(
            not queue.gap and not queue.packets and queue.depth > 0 for queue in self._queues
        )

    def depth(self, priority: int) -> int:
        """Packets waiting in one queue."""
        return len(self._queues[priority].packets)

    def push(self, priority: int, packet: Any, now_ps: int) -> bool:
        """Queue a packet; False when the queue is full."""
        queue = self._queues[priority]
        if len(queue.packets) >= queue.depth:
            return False
        due = now_ps if queue.due is None else max(now_ps, queue.due + queue.gap)
        queue.due = due
        queue.packets.append((due, packet))
        return True

    def next_ps(self) -> int | None:
        """When a packet can next leave its queue, None when none waits."""
        dues = [queue.packets[0][0] for queue in self._queues if queue.packets]
        return max(min(dues), self._link_free) if dues else None

    def pop(self, now_ps: int) -> tuple[int, Any] | None:
        """Take the packet that leaves at `now_ps`, with its priority; None when none may."""
        if self._link_free > now_ps:
            return None
        for priority in range(len(self._queues) - 1, -1, -1):
            packets = self._queues[priority].packets
            if packets and packets[0][0] <= now_ps:
                return priority, packets.popleft()[1]
        return None

    def transmit(self, size_bytes: int, now_ps: int) -> int:
        """Put a frame on the link at `now_ps`; returns when its last bit has left."""
        if self._link_bps is None:
            return now_ps
        self._link_free = now_ps + serialisation_ps(size_bytes, self._link_bps)
        return self._link_free
