"""`mrc bench`: run benchmarks, show progress and a table, write `bench.json`, compare with the floors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from pymodel.bench.figure import Figure, Outcome, Step, save
from pymodel.bench.floors import Bounds, below, read
from pymodel.bench.registry import Benchmark, select

__all__ = ["bench"]

_CAPTION = "By processor time of one core; main_job and rtl by the clock."
_FLOOR_FORMS = {"least_ratio": ">= {:g}x", "least": ">= {:g}", "most": "<= {:g}"}


def bench(console: Console, *, check: bool, only: Sequence[str], out: Path) -> bool:
    """Run the benchmarks `only` names (all when empty) and write their figures to `out`.

    Returns False when `check` is set and a figure is not within its floor. InputError for an unknown name, and when
    contestants disagree about the result of their work.
    """
    chosen = select(only)
    floors = read()
    outcome = _run(console, chosen)
    save(outcome.figures, out)
    console.print(_table(outcome.figures, floors))
    for note in outcome.notes:
        console.print(note, highlight=False)
    console.print(f"figures: {out}", soft_wrap=True, highlight=False)
    if not check:
        return True
    sentences = below(outcome.figures, floors)
    for sentence in sentences:
        console.print(sentence, style="red", highlight=False)
    if not sentences:
        console.print(f"{len(outcome.figures)} figures, all within their floors", style="green", highlight=False)
    return not sentences


def _run(console: Console, chosen: Sequence[Benchmark]) -> Outcome:
    whole = Outcome()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        tasks = {benchmark.name: progress.add_task(benchmark.name, total=None, start=False) for benchmark in chosen}
        for benchmark in chosen:
            task = tasks[benchmark.name]
            if lacking := benchmark.lacks():
                whole.notes.append(lacking)
                progress.remove_task(task)
                continue
            progress.start_task(task)
            found = benchmark.measure(_stepper(progress, task))
            progress.update(task, completed=1, total=1)
            progress.stop_task(task)
            whole.figures += found.figures
            whole.notes += found.notes
    return whole


def _stepper(progress: Progress, task: TaskID) -> Step:
    return lambda done, total: progress.update(task, completed=done, total=total)


def _table(figures: Sequence[Figure], floors: dict[str, Bounds]) -> Table:
    table = Table(title="benchmarks", title_justify="left", box=SIMPLE_HEAD, caption=_CAPTION, caption_justify="left")
    table.add_column("name", no_wrap=True)
    for column in ("value", "ratio", "floor"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("peer", overflow="fold")
    for figure in figures:
        bounds = floors.get(figure.name, {})
        table.add_row(
            figure.name,
            f"{_shown(figure.value)} {figure.unit}",
            "" if figure.ratio is None else f"{_shown(figure.ratio)}x",
            ", ".join(_FLOOR_FORMS[kind].format(value) for kind, value in bounds.items()),
            "" if figure.peer_value is None else f"{figure.peer}: {_shown(figure.peer_value)}",
        )
    return table


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
