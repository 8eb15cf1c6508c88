"""Completion queues of bounded depth, and the channels that say when one has something new."""

from __future__ import annotations

import errno
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pymodel.verbs.errors import VerbsError
from pymodel.verbs.work import WorkCompletion

if TYPE_CHECKING:
    from pymodel.verbs.context import Context

__all__ = ["BoundedQueue", "CompletionChannel", "CompletionQueue"]

T = TypeVar("T")


class CompletionChannel:
    """Completion events of the queues that were made with it, oldest first (`mrc_comp_channel`)."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.events: deque[BoundedQueue[Any]] = deque()
        """The queues that have something new, once for each event."""

    def drop(self, queue: BoundedQueue[Any]) -> None:
        """The queue is gone, and with it its events that nobody took."""
        self.events = deque(each for each in self.events if each is not queue)


class BoundedQueue(Generic[T]):
    """At most `depth` entries, each taken once; an entry that finds it full is lost."""

    def __init__(self, context: Context, depth: int, channel: CompletionChannel | None = None) -> None:
        if depth < 1:
            raise VerbsError(errno.EINVAL, "completion queue", f"{depth} entries", "at least one")
        self.context = context
        self.depth = depth
        self.channel = channel
        self.unacknowledged = 0
        """Completion events taken from the channel and not acknowledged."""
        self._entries: deque[T] = deque()
        self._armed = False

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, entry: T) -> bool:
        """Append; False when the queue is full."""
        if len(self._entries) >= self.depth:
            return False
        self._entries.append(entry)
        if self._armed and self.channel is not None:
            self._armed = False
            self.channel.events.append(self)
        return True

    def poll(self, count: int) -> list[T]:
        """Take at most `count` entries, oldest first."""
        if count < 0:
            raise VerbsError(errno.EINVAL, "poll", f"{count} entries", "0 or more")
        return [self._entries.popleft() for _ in range(min(count, len(self._entries)))]

    def arm(self) -> None:
        """The next entry makes one completion event."""
        if self.channel is None:
            raise VerbsError(errno.EINVAL, "completion queue", "no completion channel", "one made with the queue")
        self._armed = True


class CompletionQueue(BoundedQueue[WorkCompletion]):
    """Completions of work requests (`mrc_cq`). `users` are the QPs that have it, once for each direction."""

    def __init__(self, context: Context, depth: int, channel: CompletionChannel | None = None) -> None:
        super().__init__(context, depth, channel)
        self.users: list[int] = []
        self.lost = 0
        """Completions that found it full: it is in error, and so is every QP that lost one."""
