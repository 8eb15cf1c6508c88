"""A progress bar over the bytes that the writes of a run have got acknowledged."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

__all__ = ["Progress"]


class Progress:
    """Shows `update(done_bytes, total_bytes)` on `console` while `on`; silent otherwise."""

    def __init__(self, console: Console, on: bool) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TimeElapsedColumn(),
        )
        self._bar = Bar(*columns, console=console, disable=not on, transient=True)
        self._task = self._bar.add_task("acknowledged", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, done_bytes: int, total_bytes: int) -> None:
        """Show that `done_bytes` of `total_bytes` are acknowledged."""
        self._bar.update(self._task, completed=done_bytes, total=total_bytes)
