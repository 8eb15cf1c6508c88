"""`mrc switch`: work with one switch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pymodel.cli.arguments import Switch

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Work with one switch.")


@app.command()
def shell(
    switch: Annotated[Switch, typer.Option(help="Start this target.")] = Switch.embedded,
    scenario: Annotated[Path | None, typer.Option(help="Fill its tables for the fabric of this scenario ...")] = None,
    name: Annotated[str, typer.Option(help="... as this switch of it.")] = "p0-t0-0",
    connect: Annotated[str | None, typer.Option(help="Or use what runs already: HOST:PORT of its P4Runtime.")] = None,
) -> None:
    """Open p4runtime-shell on a running switch: list, insert, modify, delete and read its tables by hand."""
    from pymodel.switch.shell import open_shell, run_shell

    if connect:
        open_shell(connect)
        return
    from pymodel.cosim.run import topology_of
    from pymodel.cosim.scenario import load
    from pymodel.paths.tables import switch_entries
    from pymodel.switch.program import mrc_switch

    topology = topology_of(load(scenario)) if scenario else None
    entries = switch_entries(topology, topology.switch(name)) if topology else ()
    run_shell(switch.value, mrc_switch(), entries)
