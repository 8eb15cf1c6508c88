"""Commands called in this process, and a running switch for them to connect to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.cli import main
from pymodel.cosim.run import topology_of
from pymodel.cosim.scenario import load
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch

SCENARIO = ROOT / "scenarios" / "first-light.yaml"
NAME = "p0-t0-0"


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit code and both outputs."""

    code: int
    out: str
    err: str

    def sentence(self) -> str:
        """The one sentence of a command that was refused."""
        assert (self.code, self.out, self.err.count("\n")) == (2, "", 1), self
        return self.err


Mrc = Callable[..., Outcome]


@pytest.fixture
def mrc(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mrc:
    """`mrc` with these arguments, on a terminal of 80 columns. What libraries write below Python is seen too."""

    def call(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["mrc", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "80")
        try:
            main()
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else int(bool(ending.code))
        else:
            code = 0
        return Outcome(code, *capfd.readouterr())

    return call


@pytest.fixture(scope="session")
def fabric() -> Topology:
    """The fabric of the scenario."""
    return topology_of(load(SCENARIO))


@pytest.fixture(scope="session", params=["embedded", pytest.param("bmv2", marks=pytest.mark.bmv2)])
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedSwitch | Bmv2Switch]:
    """A running switch, whatever it was last used for."""
    bmv2 = request.param == "bmv2"
    with Bmv2Switch(folder=tmp_path_factory.mktemp("bmv2")) if bmv2 else EmbeddedSwitch() as switch:
        yield switch


@pytest.fixture
def switch(running: EmbeddedSwitch | Bmv2Switch, fabric: Topology) -> EmbeddedSwitch | Bmv2Switch:
    """A switch that is `NAME` of the scenario's fabric, with its tables and counters fresh."""
    running.load(mrc_switch())
    running.write(switch_entries(fabric, fabric.switch(NAME)))
    return running
