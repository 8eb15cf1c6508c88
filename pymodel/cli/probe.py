"""`mrc probe`: look at paths from a host."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from pymodel.cli.arguments import ScenarioFile, Switch, number

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Probe the paths of a fabric.")


@app.callback()
def probe() -> None:
    """Keep `trace` a subcommand: typer runs the only command of a group without its name."""


@app.command()
def trace(
    scenario: ScenarioFile,
    source: Annotated[str, typer.Option("--from", metavar="HOST", help="The host that probes.")],
    destination: Annotated[str, typer.Option("--to", metavar="HOST", help="The host at the end of the path.")],
    ev: Annotated[str | None, typer.Option(metavar="N", help="The EV, decimal or 0x..., ...")] = None,
    index: Annotated[
        int | None, typer.Option(help="... or its place in the pair's EV set; the first if neither.")
    ] = None,
    switch: Annotated[Switch | None, typer.Option(help="Run the P4 program on this target.")] = None,
) -> None:
    """Trace the path of one EV by probes whose hop limit ends on the way; exit with 1 when they do not arrive."""
    from pymodel.cosim.scenario import load
    from pymodel.cosim.trace import trace as run_trace
    from pymodel.report.trace import trace_page

    chosen = load(scenario)
    if switch is not None:
        chosen = chosen.model_copy(update={"switch": switch.value})
    found = run_trace(chosen, source, destination, ev=None if ev is None else number(ev, "--ev"), index=index)
    Console().print(trace_page(found))
    if not found.reached:
        raise typer.Exit(1)
