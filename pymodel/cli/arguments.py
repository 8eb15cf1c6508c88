"""Arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pymodel.base.errors import InputError

__all__ = ["Connect", "ScenarioFile", "Switch", "number"]

ScenarioFile = Annotated[Path, typer.Argument(help="The scenario, in YAML.")]
Connect = Annotated[str, typer.Option(metavar="HOST:PORT", help="P4Runtime of the running switch.")]


class Switch(StrEnum):
    """Which target runs the compiled P4 program."""

    embedded = "embedded"
    bmv2 = "bmv2"


def number(text: str, where: str) -> int:
    """Return a number in decimal, or in hex with 0x; InputError when `text` is none."""
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(where, repr(text), "a number, decimal or 0x...") from None
