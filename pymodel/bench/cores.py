"""One core for both contestants of a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["contest_core", "pinned"]


def contest_core() -> int:
    """The core on which contestants run: the last one this process may use, so that the first is left to helpers."""
    return max(os.sched_getaffinity(0))


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Run this thread, and whatever it starts, on `core` alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
