"""The main job: a write across T1 and one under the same T0, 1 % loss on every link, whole in the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.cosim.link import LinkDirection
from pymodel.cosim.result import Result, to_json
from pymodel.cosim.run import run_scenario
from pymodel.cosim.scenario import Scenario, SwitchKind, load
from tests.cosim.find_seeds import SCENARIO, SEEDS, without_tail_probes
from tests.cosim.ledger import CASES, LossLedger

FOUND_SEEDS: dict[str, int] = json.loads(SEEDS.read_text(encoding="utf-8"))

KEYS = {
    "schema",
    "ok",
    "switch",
    "seed",
    "virtual_time_ps",
    "wall_s",
    "warnings",
    "writes",
    "packets_by_plane",
    "packets_by_ev",
    "switches",
}
WRITE_KEYS = {
    "name",
    "bytes",
    "packets",
    "retransmissions",
    "nacks",
    "timeouts",
    "completion_ps",
    "src_sha256",
    "dst_sha256",
    "match",
}


def main_job(**changes: object) -> Scenario:
    return load(SCENARIO).model_copy(update=changes)


def assert_whole(result: Result) -> None:
    """Every byte of every memory and every completion, as the run judged and as the result shows."""
    assert result.ok
    assert result.warnings == []
    for write in result.writes:
        assert (write.bytes, write.packets, write.match) == (1 << 20, 256, True)
        assert write.src_sha256 == write.dst_sha256
        assert write.completion_ps is not None
        assert 0 < write.completion_ps <= result.virtual_time_ps
    sent = sum(write.packets + write.retransmissions for write in result.writes)
    assert sum(result.packets_by_plane.values()) == sum(result.packets_by_ev.values()) == sent


def test_the_scenario_is_the_promised_one() -> None:
    scenario = main_job()
    fabric = scenario.topology
    assert (fabric.planes, fabric.t0, fabric.t1, fabric.hosts_per_t0, fabric.parallel_links) == (2, 2, 2, 2, 1)
    assert (scenario.nic.mtu, scenario.nic.evs, scenario.links.loss_ppm) == (4096, 32, 10_000)
    assert [(w.bytes, w.source[1] == w.destination[1]) for w in scenario.writes] == [(1 << 20, False), (1 << 20, True)]


@pytest.mark.parametrize("switch", ["embedded", pytest.param("bmv2", marks=pytest.mark.bmv2)])
def test_a_lossy_fabric_delivers_everything(switch: SwitchKind) -> None:
    ledger = LossLedger()
    result = run_scenario(main_job(switch=switch), observers=(ledger.observe,))
    assert_whole(result)
    assert result.switch == switch
    assert sum(ledger.data.values()) > 0
    assert all(write.retransmissions > 0 for write in result.writes)
    # Every lost data packet was sent again, at least as often as it was lost.
    assert sum(write.retransmissions for write in result.writes) >= sum(ledger.data.values())
    # Each QP's 32 EVs are equal over the planes, and so is the load, but for retransmissions and the last rotation.
    assert len(result.packets_by_ev) == 64
    assert abs(result.packets_by_plane["0"] - result.packets_by_plane["1"]) <= 32
    # All eight switches had a part, and dropped nothing themselves.
    assert len(result.switches) == 8
    for counters in result.switches.values():
        assert sum(n for name, n in counters.items() if name.startswith("port_in")) > 0
        assert not [name for name in counters if name.startswith("drop_")]


@pytest.mark.bmv2
def test_bmv2_and_the_embedded_switch_give_the_same_run() -> None:
    """Same frames at the same virtual times, hence the same result to the picosecond and the last counter."""
    frames: dict[SwitchKind, list[tuple[str, int, bytes, bool]]] = {"embedded": [], "bmv2": []}
    results = {}
    for switch, seen in frames.items():

        def observe(link: LinkDirection, at_ps: int, data: bytes, lost: bool, seen: list[Any] = seen) -> None:
            seen.append((link.name, at_ps, data, lost))

        results[switch] = run_scenario(main_job(switch=switch, seed=3), observers=(observe,))
    assert frames["embedded"] == frames["bmv2"] != []
    embedded, bmv2 = (json.loads(to_json(results[switch])) for switch in ("embedded", "bmv2"))
    for result in (embedded, bmv2):
        del result["wall_s"], result["switch"]
    assert embedded == bmv2


def test_without_loss_nothing_is_sent_twice() -> None:
    scenario = main_job()
    result = run_scenario(scenario.model_copy(update={"links": scenario.links.model_copy(update={"loss_ppm": 0})}))
    assert_whole(result)
    assert [(w.retransmissions, w.nacks, w.timeouts) for w in result.writes] == [(0, 0, 0)] * 2
    into = sum(n for c in result.switches.values() for name, n in c.items() if name.startswith("port_in"))
    out = sum(n for c in result.switches.values() for name, n in c.items() if name.startswith("port_out"))
    assert into == out > 0


@pytest.mark.parametrize("case", list(CASES))
def test_the_hard_losses(case: str) -> None:
    ledger = LossLedger()
    scenario = without_tail_probes(main_job(seed=FOUND_SEEDS[case]))
    result = run_scenario(scenario, observers=(ledger.observe,))
    assert CASES[case](ledger), "not in this run any more; refresh with python -m tests.cosim.find_seeds"
    assert_whole(result)
    retransmissions = sum(write.retransmissions for write in result.writes)
    timeouts = sum(write.timeouts for write in result.writes)
    assert retransmissions >= sum(ledger.data.values())
    # Nothing overtakes the last packet, so only the ACK timer can tell that it is lost.
    assert timeouts >= (1 if ledger.last_packets else 0)
    assert timeouts > 0


@pytest.mark.parametrize("case", list(CASES))
def test_tail_probes_spare_the_timeouts(case: str) -> None:
    """The same seeds with tail probes, as the scenario has it: whole too, and no later than by the ACK timer."""
    scenario = main_job(seed=FOUND_SEEDS[case])
    result, slower = (run_scenario(chosen) for chosen in (scenario, without_tail_probes(scenario)))
    assert_whole(result)
    assert sum(write.timeouts for write in result.writes) < sum(write.timeouts for write in slower.writes)
    assert result.virtual_time_ps < slower.virtual_time_ps


def test_the_same_seed_gives_the_same_file_under_any_hash_seed(tmp_path: Path) -> None:
    texts = []
    for hash_seed in ("0", "4711"):
        out = tmp_path / hash_seed
        command = [sys.executable, "-m", "pymodel.cli", "run", str(SCENARIO), "--seed", "5", "--out", str(out)]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)
        texts.append(json.loads((out / "result.json").read_text(encoding="utf-8")))
    for text in texts:
        del text["wall_s"]
    assert texts[0] == texts[1]


def test_another_seed_gives_another_run() -> None:
    first, second = (run_scenario(main_job(seed=seed)) for seed in (1, 2))
    assert first.writes[0].src_sha256 != second.writes[0].src_sha256
    assert first.packets_by_ev.keys() != second.packets_by_ev.keys()


def test_the_result_has_the_promised_keys_sorted_and_no_float_but_the_wall_clock() -> None:
    text = to_json(run_scenario(main_job()))
    data = json.loads(text)
    assert data.keys() == KEYS
    assert all(write.keys() == WRITE_KEYS for write in data["writes"])
    assert text == json.dumps(data, indent=2, sort_keys=True) + "\n"
    assert data["schema"] == "mrc.result/1"
    assert isinstance(data.pop("wall_s"), float)

    def floats(value: object) -> bool:
        if isinstance(value, dict):
            return any(map(floats, value.values()))
        return any(map(floats, value)) if isinstance(value, list) else isinstance(value, float)

    assert not floats(data)
