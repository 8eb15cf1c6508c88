"""`mrc switch`: work with one switch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pymodel.cli.arguments import Connect, Switch

if TYPE_CHECKING:
    from pymodel.paths import topology

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Work with one switch.")


Target = Annotated[Switch, typer.Option(help="Start this target.")]
OfScenario = Annotated[Path | None, typer.Option(help="Fill its tables for the fabric of this scenario ...")]
Name = Annotated[str, typer.Option(help="... as this switch of it.")]


@app.command()
def run(
    switch: Target = Switch.embedded,
    scenario: OfScenario = None,
    name: Name = "p0-t0-0",
    program: Annotated[
        Path | None, typer.Option(help="BMv2 JSON, its NAME.p4info.txtpb beside it; default: p4/mrc_switch.p4.")
    ] = None,
) -> None:
    """Start a switch and serve P4Runtime until Ctrl-C or SIGTERM; with a scenario it answers ICMPv6 too."""
    from pymodel.switch.program import mrc_switch
    from pymodel.switch.serving import run_switch
    from pymodel.switch.target import CompiledProgram

    chosen = CompiledProgram(program.stem, program, program.with_suffix(".p4info.txtpb")) if program else mrc_switch()
    place = _place(scenario, name) if scenario else None
    run_switch(switch.value, chosen, lambda line: print(line, flush=True), place)


@app.command()
def load(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="Entries, as `mrc topo build` writes them.")],
    connect: Connect,
) -> None:
    """Make the entries of a file all that the tables of a running switch hold, and read them back."""
    from pymodel.report.fabric import read_tables
    from pymodel.switch.control import ControlPlane
    from pymodel.switch.p4runtime.client import Client

    entries = read_tables(file)
    # Above a controller that holds the switch, below a shell: it gets the switch back at the end.
    with Client(connect, election_id=(0, 2)) as client:
        ControlPlane(client).program(entries)
    print(f"{len(entries)} entries loaded and read back")


@app.command()
def show(connect: Connect) -> None:
    """Print tables, queues, counters and meters of a running switch; its controller stays what it is."""
    from pymodel.report.running_switch import running_switch
    from pymodel.switch.p4runtime.client import Client

    with Client(connect, election_id=None) as client:
        Console().print(running_switch(client))


@app.command()
def shell(
    switch: Target = Switch.embedded,
    scenario: OfScenario = None,
    name: Name = "p0-t0-0",
    connect: Annotated[str | None, typer.Option(help="Or use what runs already: HOST:PORT of its P4Runtime.")] = None,
) -> None:
    """Open p4runtime-shell on a running switch: list, insert, modify, delete and read its tables by hand."""
    from pymodel.switch.shell import open_shell, run_shell

    if connect:
        open_shell(connect)
        return
    from pymodel.paths.tables import switch_entries
    from pymodel.switch.program import mrc_switch

    run_shell(switch.value, mrc_switch(), switch_entries(*_place(scenario, name)) if scenario else ())


def _place(scenario: Path, name: str) -> tuple[topology.Topology, topology.Switch]:
    from pymodel.cosim.run import topology_of
    from pymodel.cosim.scenario import load as load_scenario

    fabric = topology_of(load_scenario(scenario))
    return fabric, fabric.switch(name)
