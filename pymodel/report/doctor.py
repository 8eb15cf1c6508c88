"""`mrc doctor`: which tools this machine has, what each missing one leaves out, and how to get it."""

from __future__ import annotations

import platform

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pymodel.base.toolpath import TOOLS, find, version

__all__ = ["report"]


def report() -> RenderableType:
    """Return the tools found with their versions, and one sentence for each missing one."""
    rows = Table(title=f"Python {platform.python_version()}, {platform.platform(terse=True)}", title_justify="left")
    rows.add_column("tool", no_wrap=True)
    rows.add_column("version", no_wrap=True)
    rows.add_column("found at", overflow="fold")
    sentences = Text()
    for tool in TOOLS.values():
        path = find(tool.name)
        if path:
            rows.add_row(tool.name, version(tool.name), str(path))
        else:
            rows.add_row(tool.name, Text("missing", style="red"), "")
            sentences.append(f"{tool.name} is missing. It leaves out: {tool.leaves_out}. Get it: {tool.how}.\n")
    return Group(rows, sentences or Text("Nothing is missing."))
