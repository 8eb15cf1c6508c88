"""`mrc topo`: the fabric of a scenario, drawn, listed, written as tables, and compared with a running switch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pymodel.base.errors import InputError
from pymodel.cli.arguments import Connect, ScenarioFile

if TYPE_CHECKING:
    from pymodel.paths.topology import Topology

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Look at the fabric of a scenario and at its switches' tables.")


@app.command()
def build(
    scenario: ScenarioFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for SWITCH.json of each switch.")],
) -> None:
    """Write the table entries of every switch as JSON that any P4Runtime client can load."""
    from pymodel.report.fabric import write_tables

    topology = _topology(scenario)
    try:
        paths = list(write_tables(topology, out))
    except OSError as error:
        raise InputError(f"--out {out}", str(error.strerror), "a folder that can be written") from None
    Console().print(f"{len(paths)} switches: {paths[0]} to {paths[-1].name}", soft_wrap=True)


@app.command()
def show(
    scenario: ScenarioFile,
    switch: Annotated[str | None, typer.Option(metavar="NAME", help="This switch: its uSIDs, address, ports.")] = None,
    host: Annotated[str | None, typer.Option(metavar="NAME", help="This host: its addresses, ports.")] = None,
) -> None:
    """Draw the fabric and list addresses: of all switches, or of one switch or host."""
    from pymodel.report.fabric import address_page, drawing, host_page, switch_page

    topology = _topology(scenario)
    pages = []
    if switch is not None:
        pages.append(switch_page(topology, topology.switch(switch)))
    if host is not None:
        pages.append(host_page(topology, topology.host(host)))
    for page in pages or [drawing(topology), address_page(topology)]:
        Console().print(page)


@app.command()
def diff(
    scenario: ScenarioFile,
    switch: Annotated[str, typer.Option(metavar="NAME", help="The switch that is meant to run there.")],
    connect: Connect,
) -> None:
    """Compare the tables that a switch should have with those that it has; exit with 1 when they differ."""
    from pymodel.paths.tables import switch_entries
    from pymodel.report.fabric import shown_entry, table_differences
    from pymodel.switch.p4runtime.client import Client
    from pymodel.switch.p4runtime.normal import normal_form

    topology = _topology(scenario)
    entries = switch_entries(topology, topology.switch(switch))
    with Client(connect, election_id=None) as client:
        intended = [normal_form(client.info, entry) for entry in entries]
        differences = table_differences(intended, client.read_tables())
    for kind, entry, installed in differences:
        print(f"{kind:10}  {shown_entry(entry, installed)}")
    if differences:
        raise typer.Exit(1)
    print(f"{switch}: {len(intended)} entries, as intended")


def _topology(scenario: Path) -> Topology:
    from pymodel.cosim.run import topology_of
    from pymodel.cosim.scenario import load

    return topology_of(load(scenario))
