"""`mrc nic`: work with one NIC."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pymodel.base.errors import InputError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Work with one NIC.")


@app.command()
def replay(log: Annotated[Path, typer.Argument(help="Events and actions of a NIC, as JSON Lines.")]) -> None:
    """Give the golden model the events of a log, and compare each of its actions with the logged one."""
    from pymodel.nic import log as nic_log

    try:
        with log.open(encoding="utf-8") as lines:
            found = nic_log.replay(lines, str(log))
    except OSError as error:
        raise InputError(str(log), error.strerror or "an error", "a file that can be read") from None
    except UnicodeDecodeError:
        raise InputError(str(log), "bytes that are no UTF-8", "JSON Lines") from None
    typer.echo(f"{log}: {found.events} events, {found.actions} actions as logged")
    if found.difference is not None:
        typer.echo(f"different: {found.difference}")
        raise typer.Exit(1)
