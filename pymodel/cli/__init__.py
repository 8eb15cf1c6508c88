"""The command `mrc`.

Bad input ends in one sentence on standard error and exit code 2; a run whose check fails ends with 1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pymodel.base.errors import InputError
from pymodel.cli import nic as nic_commands
from pymodel.cli import probe as probe_commands
from pymodel.cli import switch as switch_commands
from pymodel.cli import topo as topo_commands
from pymodel.cli.arguments import Switch

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__.split("\n")[0]
)
app.add_typer(switch_commands.app, name="switch")
app.add_typer(nic_commands.app, name="nic")
app.add_typer(topo_commands.app, name="topo")
app.add_typer(probe_commands.app, name="probe")


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="The scenario, in YAML.")],
    switch: Annotated[Switch | None, typer.Option(help="Run the P4 program on this target.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Settles every random choice.")] = None,
    pcap: Annotated[Path | None, typer.Option(help="Write every frame of every link to this pcapng file.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for result.json.")] = Path("results"),
    progress: Annotated[bool | None, typer.Option("--progress/--no-progress", help="Default: on a terminal.")] = None,
) -> None:
    """Run a scenario, check every memory and completion, print a table and write result.json."""
    from pymodel.cosim import result as results
    from pymodel.cosim.run import run_scenario
    from pymodel.cosim.scenario import load
    from pymodel.report.progress import Progress
    from pymodel.report.table import summary

    changes: dict[str, object] = {}
    if switch is not None:
        changes["switch"] = switch.value
    if seed is not None:
        changes["seed"] = seed
    chosen = load(scenario).model_copy(update=changes)
    results.check_folder(out)
    console = Console()
    with Progress(console, on=console.is_terminal if progress is None else progress) as bar:
        outcome = run_scenario(chosen, capture=pcap, watch=bar.update)
    path = results.save(outcome, out)
    console.print(summary(outcome, chosen.name))
    console.print(f"result: {path}" + (f"\ncapture: {pcap}" if pcap else ""), soft_wrap=True)
    if not outcome.ok:
        raise typer.Exit(1)


@app.command()
def bench(
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 when a figure is below its committed floor.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Run this benchmark; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(help="The file for the figures.")] = Path("bench.json"),
) -> None:
    """Measure speed, beside a peer in the same run where there is one, and write the figures as JSON."""
    from pymodel.bench.command import bench as run_benchmarks

    if not run_benchmarks(Console(), check=check, only=only or [], out=out):
        raise typer.Exit(1)


@app.command()
def doctor() -> None:
    """Name the tools found, their versions, and what each missing one leaves out."""
    from pymodel.report.doctor import report

    Console().print(report())


def main() -> None:
    """Entry point of `mrc`."""
    try:
        app()
    except InputError as error:
        print(f"mrc: {error}", file=sys.stderr)
        sys.exit(2)
