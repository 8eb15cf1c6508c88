"""What can be read off the compiled program: how it drops, what it never does, and that its page names what it has."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.paths.tables import FIRST_SID, SID_PARAMS
from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.program import mrc_switch

PAGE = (ROOT / "docs" / "switch.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(mrc_switch().json_path.read_bytes())
    return loaded


@pytest.fixture(scope="module")
def info() -> ProgramInfo:
    return ProgramInfo.read(mrc_switch().p4info_path)


def operations(action: dict[str, Any]) -> list[str]:
    return [primitive["op"] for primitive in action["primitives"]]


def counted(action: dict[str, Any]) -> list[str]:
    """Counters that an action counts in."""
    return [step["parameters"][0]["value"] for step in action["primitives"] if step["op"] == "count"]


def test_every_drop_counts_one_cause_and_every_cause_has_one_kind_of_drop(program: dict[str, Any]) -> None:
    causes: dict[str, set[str]] = defaultdict(set)
    for action in program["actions"]:
        if "exit" in operations(action):
            assert operations(action) == ["count", "exit"], action["name"]
            (cause,) = counted(action)
            causes[cause].add(action["name"])
        else:
            assert not any(name.startswith("drop_") for name in counted(action)), action["name"]
        # Dropped packets are those of the first step of ingress; nobody drops later without a count.
        assert operations(action).count("mark_to_drop") <= 1
    assert set(causes) == {one["name"] for one in program["counter_arrays"] if one["name"].startswith("drop_")}
    assert all(len(actions) == 1 for actions in causes.values())
    assert sum("mark_to_drop" in operations(action) for action in program["actions"]) == 1


def test_p19_the_program_never_sends_a_packet_round(program: dict[str, Any]) -> None:
    used = {operation for action in program["actions"] for operation in operations(action)}
    assert used & {"recirculate", "resubmit", "generate_digest"} == set()
    assert not any("clone" in operation for operation in used)


def test_no_hash_chooses_a_path(program: dict[str, Any]) -> None:
    """No ECMP: no hash, no action profile, and a route has one port (mrc-facts.md 4.1)."""
    used = {operation for action in program["actions"] for operation in operations(action)}
    assert not any("hash" in operation for operation in used)
    for pipeline in program["pipelines"]:
        assert pipeline["action_profiles"] == []
        assert {table["type"] for table in pipeline["tables"]} == {"simple"}


def test_a_queues_cell_is_read_and_written_in_one_action(program: dict[str, Any]) -> None:
    """Ingress and egress threads change the same cells; within one action BMv2 holds the register."""
    for action in program["actions"]:
        steps = [step for step in operations(action) if step.startswith("register")]
        assert steps in ([], ["register_read", "register_write"]), action["name"]
    (register,) = program["register_arrays"]
    assert (register["size"], register["bitwidth"]) == (1024, 32)


def test_python_knows_the_parameters_of_every_sid(info: ProgramInfo) -> None:
    for name, params in SID_PARAMS.items():
        action = info.actions.find(f"{FIRST_SID.rpartition('.')[0]}.{name}")
        assert tuple(param.name for param in action.params) == params


def test_the_page_names_every_counter_table_and_file(info: ProgramInfo) -> None:
    for counter in [*info.counters, *info.direct_counters]:
        assert f"`{counter.name}`" in PAGE, counter.name
    for table in info.tables:
        assert f"`{table.name.removeprefix('MrcIngress.')}`" in PAGE, table.name
    named = set(re.findall(r"`(drop_\w+)`", PAGE))
    assert named == {counter.name for counter in info.counters if counter.name.startswith("drop_")}
    files = {path.name for path in (ROOT / "p4").rglob("*.p4")}
    assert files == {path.rpartition("/")[2] for path in re.findall(r"`(?:include/)?(\w+\.p4)`", PAGE)}
