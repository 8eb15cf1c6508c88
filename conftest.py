"""What every test run shares: skips for missing tools, the nightly gate, and the closing line.

A marker names the tools a test needs. Without them the test skips and says what that leaves out;
`MRC_REQUIRE=bmv2,tshark` turns such a skip into a failure. Nightly tests run only when the marker expression
names them.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import settings

from pymodel.base.toolpath import TOOLS, find, version
from pymodel.bench.nightly import stale

# Workers share their cores with simulators: how long an example takes says nothing about the code.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

NEEDS = {
    "bmv2": ("simple_switch_grpc",),
    "p4c": ("p4c-bm2-ss",),
    "p4testgen": ("p4testgen",),
    "tshark": ("tshark",),
    "rtl": ("verilator", "g++", "perl", "make"),
}


def missing_tools(marker: str) -> list[str]:
    return [tool for tool in NEEDS[marker] if find(tool) is None]


def required() -> set[str]:
    names = {name.strip() for name in os.environ.get("MRC_REQUIRE", "").split(",")} - {""}
    if unknown := sorted(names - set(NEEDS)):
        raise pytest.UsageError(f"MRC_REQUIRE: found {', '.join(unknown)}, expected names among {', '.join(NEEDS)}")
    return names


def pytest_configure(config: pytest.Config) -> None:
    for marker in required():
        if missing := missing_tools(marker):
            raise pytest.UsageError(
                f"MRC_REQUIRE: found no {missing[0]}, expected it for {marker}: {TOOLS[missing[0]].how}"
            )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "nightly" not in (config.option.markexpr or ""):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        if nightly:
            config.hook.pytest_deselected(items=nightly)
            items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    for item in items:
        for marker in NEEDS:
            if item.get_closest_marker(marker) and (missing := missing_tools(marker)):
                item.add_marker(pytest.mark.skip(reason=f"{missing[0]} is missing ({TOOLS[missing[0]].how})"))


def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.option.collectonly:
        return
    # What a test wants a person to read, from whichever worker it ran on.
    for report in reporter.stats.get("passed", []):
        for name, text in report.user_properties:
            if name == "print":
                reporter.write_line(text)
    skipped: Counter[str] = Counter()
    for report in reporter.stats.get("skipped", []):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for tool in TOOLS:
            if text.startswith(f"Skipped: {tool} is missing"):
                skipped[tool] += 1
    present = [f"{marker} {version(tools[0])}" for marker, tools in NEEDS.items() if not missing_tools(marker)]
    line = "took part: embedded switch, " + ", ".join(present)
    for marker in NEEDS:
        for tool in missing_tools(marker)[:1]:
            line += f"; left out without {tool} ({marker}): {skipped[tool]} tests, {TOOLS[tool].leaves_out}"
    if old := stale():
        line += f"; figures of docs/nightly.json older than their sources: {', '.join(old)}"
    reporter.write_line(line)
