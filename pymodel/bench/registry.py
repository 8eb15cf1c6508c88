"""The benchmarks by name: a function each, the figures it yields, and what it can't do without."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.base.toolpath import TOOLS, find
from pymodel.bench import engine, main_job, nic, rtl, topology, wire
from pymodel.bench.figure import Outcome, Step

__all__ = ["BENCHMARKS", "Benchmark", "select"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark. `figures` names all that `measure` can yield, `tools` and `modules` what must be installed."""

    name: str
    measure: Callable[[Step], Outcome]
    figures: tuple[str, ...]
    tools: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def lacks(self) -> str | None:
        """One sentence about the first thing that is missing, or None when it can run."""
        for tool in self.tools:
            if find(tool) is None:
                return f"{self.name} is left out: {tool} is missing ({TOOLS[tool].how})."
        for module in self.modules:
            if importlib.util.find_spec(module) is None:
                return f"{self.name} is left out: the Python package {module} is missing (make venv-full)."
        return None


_SIMULATOR = ("verilator", "g++", "perl", "make")

BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark("wire.pack", wire.pack, ("wire.pack",)),
    Benchmark("wire.unpack", wire.unpack, ("wire.unpack",)),
    Benchmark("wire.icrc", wire.icrc, ("wire.icrc",)),
    Benchmark("topology.full", topology.measure, topology.FIGURES),
    Benchmark("engine.un", engine.measure, engine.FIGURES),
    Benchmark("nic.back_to_back", nic.measure, nic.FIGURES),
    Benchmark("main_job", main_job.measure, main_job.FIGURES),
    Benchmark("rtl.psn_tracker", rtl.measure, rtl.FIGURES, _SIMULATOR, ("cocotb",)),
    Benchmark("rtl.receive", rtl.measure_receive, rtl.RECEIVE_FIGURES, _SIMULATOR, ("cocotb",)),
)


def select(names: Sequence[str]) -> list[Benchmark]:
    """The benchmarks called `names`, or all; InputError for a name that there is not."""
    known = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    for name in names:
        if name not in known:
            raise InputError("benchmark", repr(name), f"one of {', '.join(known)}")
    return [benchmark for benchmark in BENCHMARKS if not names or benchmark.name in names]
