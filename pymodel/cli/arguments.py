"""Arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Connect", "ScenarioFile", "Switch"]

ScenarioFile = Annotated[Path, typer.Argument(help="The scenario, in YAML.")]
Connect = Annotated[str, typer.Option(metavar="HOST:PORT", help="P4Runtime of the running switch.")]


class Switch(StrEnum):
    """Which target runs the compiled P4 program."""

    embedded = "embedded"
    bmv2 = "bmv2"
