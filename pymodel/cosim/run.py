"""Run a scenario: build the fabric, program its switches, run it to rest, and judge the end state."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pymodel.base.errors import InputError
from pymodel.base.time import NS, US
from pymodel.cosim.fabric import Cable, Fabric, Observer
from pymodel.cosim.link import LinkDirection
from pymodel.cosim.result import Result
from pymodel.cosim.scenario import LinkModel, Scenario
from pymodel.cosim.workload import Workload
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import PortRef, Switch, Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from pymodel.wire.capture import CaptureWriter

__all__ = ["cables_of", "run_scenario", "start_switches", "topology_of"]

Watch = Callable[[int, int], None]
"""Called now and then with bytes landed and bytes in all."""

_EVENTS_BETWEEN_WATCHES = 256


def run_scenario(
    scenario: Scenario, *, capture: Path | None = None, watch: Watch | None = None, observers: tuple[Observer, ...] = ()
) -> Result:
    """Run `scenario` and return its result; `ok` says whether nothing was lost.

    With `capture`, every frame is written to that pcapng file as it is handed to its link, lost ones included.
    InputError when the scenario, the compiled program or the tools do not allow the run.
    """
    began = time.monotonic()
    topology = topology_of(scenario)
    workload = Workload(scenario, topology)
    with contextlib.ExitStack() as resources:
        switches = start_switches(scenario, topology, topology.switches(), resources)
        if capture:
            observers = (*observers, _recorder(resources.enter_context(_open_capture(capture))))
        fabric = Fabric(workload.hosts, switches, cables_of(topology, scenario.links, scenario.seed), observers)
        for job in workload.jobs:
            fabric.post(job.model.source, job.post, job.model.at_ns * NS)
        in_time = _run(fabric, scenario.time_limit_us * US, workload, watch)
        counters = {name: switch.counters() for name, switch in switches.items()}
    faults = workload.faults()
    warnings = faults + workload.warnings() + _switch_warnings(counters)
    if not in_time:
        warnings.append(f"stopped at the time limit of {scenario.time_limit_us} us")
    if fabric.uncabled:
        warnings.append(f"{fabric.uncabled} frames left through ports without a link")
    return Result(
        ok=not faults and in_time,
        switch=scenario.switch,
        seed=scenario.seed,
        virtual_time_ps=fabric.now_ps,
        wall_s=round(time.monotonic() - began, 3),
        warnings=warnings,
        writes=workload.results(),
        packets_by_plane=workload.packets_by_plane(),
        packets_by_ev=workload.packets_by_ev(),
        switches={name: {key: cell.packets for key, cell in cells.items()} for name, cells in counters.items()},
    )


def topology_of(scenario: Scenario) -> Topology:
    """The fabric of `scenario`; InputError when addresses or switch ports do not allow it."""
    model = scenario.topology
    topology = Topology(
        planes=model.planes,
        t0=model.t0,
        t1=model.t1,
        hosts_per_t0=model.hosts_per_t0,
        parallel_links=model.parallel_links,
    )
    topology.require_runnable()
    return topology


def start_switches(
    scenario: Scenario, topology: Topology, places: Iterable[Switch], resources: contextlib.ExitStack
) -> dict[str, Bmv2Switch | EmbeddedSwitch]:
    """Start the switches `places` of the fabric and program them. All are stopped when `resources` is closed."""
    program = mrc_switch()

    def start(place: Switch) -> Bmv2Switch | EmbeddedSwitch:
        bmv2 = scenario.switch == "bmv2"
        target = Bmv2Switch(place.name) if bmv2 else EmbeddedSwitch(place.name, seed=scenario.seed)
        resources.enter_context(target)
        target.load(program)
        target.write(switch_entries(topology, place))
        return target

    places = list(places)
    with ThreadPoolExecutor(max_workers=4) as pool:
        return {place.name: target for place, target in zip(places, pool.map(start, places), strict=True)}


def cables_of(topology: Topology, model: LinkModel, seed: int) -> dict[tuple[str, int], Cable]:
    """Both directions of every link of the topology, by the node and port that send."""
    cables = {}
    for link in topology.links():
        for near, far in ((link.a, link.b), (link.b, link.a)):
            direction = LinkDirection(
                f"{_shown(near)}>{_shown(far)}", model.rate_bps, model.delay_ns * NS, model.loss_ppm, seed
            )
            cables[near.node, near.port] = Cable(direction, far.node, far.port)
    return cables


def _shown(end: PortRef) -> str:
    return f"{end.node}:{end.port}"


def _run(fabric: Fabric, limit_ps: int, workload: Workload, watch: Watch | None) -> bool:
    """Run to rest; False when `limit_ps` came first."""
    events = 0
    while (following := fabric.next_ps()) is not None:
        if following > limit_ps:
            return False
        if watch and events % _EVENTS_BETWEEN_WATCHES == 0:
            watch(workload.landed_bytes(), workload.total_bytes)
        fabric.step()
        events += 1
    if watch:
        watch(workload.landed_bytes(), workload.total_bytes)
    return True


def _open_capture(path: Path) -> CaptureWriter:
    try:
        return CaptureWriter(path)
    except OSError as error:
        raise InputError(f"capture {path}", str(error.strerror), "a file that can be written") from None


def _recorder(writer: CaptureWriter) -> Observer:
    def record(direction: LinkDirection, at_ps: int, data: bytes, lost: bool) -> None:
        writer.write(at_ps, direction.name, data)

    return record


def _switch_warnings(counters: Mapping[str, Mapping[str, Count]]) -> list[str]:
    return [
        f"switch {name}: {cell.packets} packets dropped ({counter})"
        for name, cells in counters.items()
        for counter, cell in cells.items()
        if counter.startswith("drop_")
    ]
