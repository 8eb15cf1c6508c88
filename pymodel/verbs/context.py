"""A context: what one process has open on an adapter (`mrc_context`)."""

from __future__ import annotations

import errno
from collections import deque
from dataclasses import dataclass
from typing import Any

from pymodel.verbs.adapter import Adapter
from pymodel.verbs.completion import BoundedQueue, CompletionChannel
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.events import AsyncEvent
from pymodel.verbs.queue_pair import Qp, QpHint
from pymodel.verbs.work import Access

__all__ = ["Context", "MemoryRegion"]


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """`length` bytes from `address` (`ibv_mr`). `rkey` is None unless a peer may write there."""

    context: Context
    address: int
    length: int
    access: Access
    lkey: int
    rkey: int | None


class Context:
    """The parent of all objects that a process makes. A `privileged` one (CAP_NET_ADMIN) may call the controller API.

    Profiles and ports are the device's, not the context's: they outlive it.
    """

    def __init__(self, adapter: Adapter, privileged: bool) -> None:
        self.adapter = adapter
        self.privileged = privileged
        self.open = True
        self.channels: list[CompletionChannel] = []
        self.queues: list[BoundedQueue[Any]] = []
        self.hints: list[QpHint] = []
        self.regions: dict[int, MemoryRegion] = {}
        """Memory regions by lkey."""
        self.qps: dict[int, Qp] = {}
        self.events: deque[AsyncEvent] = deque()
        """Asynchronous events of its objects and of the ports."""
        adapter.listeners.append(self.events)

    def require_open(self) -> None:
        """EINVAL when the context has been destroyed."""
        if not self.open:
            raise VerbsError(errno.EINVAL, "context", "a destroyed one", "an open one")

    def require_privilege(self) -> None:
        """EPERM when the process may not control the device."""
        self.require_open()
        if not self.privileged:
            raise VerbsError(errno.EPERM, "context", "a process without CAP_NET_ADMIN", "a privileged one")
