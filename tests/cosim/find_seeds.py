"""Find, for each case of the ledger, the first seed of the main job that has it: `python -m tests.cosim.find_seeds`.

The NIC's choices decide which frames meet a loss, so a change of the NIC may ask for other seeds.
"""

from __future__ import annotations

import itertools
import json

from pymodel.base.toolpath import ROOT
from pymodel.cosim.run import run_scenario
from pymodel.cosim.scenario import Scenario, load
from tests.cosim.ledger import CASES, LossLedger

SEEDS = ROOT / "tests" / "cosim" / "seeds.json"
SCENARIO = ROOT / "scenarios" / "first-light.yaml"


def without_tail_probes(scenario: Scenario) -> Scenario:
    """The scenario where the ACK timer alone repairs a lost tail."""
    return scenario.model_copy(update={"nic": scenario.nic.model_copy(update={"tail_probes": 0})})


def main() -> None:
    scenario = without_tail_probes(load(SCENARIO))
    found: dict[str, int] = {}
    for seed in itertools.count(1):
        ledger = LossLedger()
        run_scenario(scenario.model_copy(update={"seed": seed}), observers=(ledger.observe,))
        for case, holds in CASES.items():
            if case not in found and holds(ledger):
                found[case] = seed
                print(f"seed {seed}: {case}", flush=True)
        if found.keys() == CASES.keys():
            break
    SEEDS.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
