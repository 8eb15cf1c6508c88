"""What the engine doesn't know it refuses when a program is loaded, naming the construct; and malformed JSON too."""

from __future__ import annotations

import copy
import json
import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.switch.engine import Engine
from pymodel.switch.program import is_reproduced
from tests.switch.programs.case import FOLDER, compiled, program_names

Json = Any


def source(name: str) -> Json:
    return json.loads(compiled(name).json_path.read_bytes())


def named(items: list[Json], name: str) -> Json:
    return next(item for item in items if item["name"] == name)


def table(root: Json, name: str) -> Json:
    return named(root["pipelines"][0]["tables"], name)


def primitive(root: Json, op: str) -> Json:
    return next(each for action in root["actions"] for each in action["primitives"] if each["op"] == op)


def operation(root: Json, op: str) -> Json:
    found: list[Json] = []

    def search(item: Json) -> None:
        if isinstance(item, dict):
            if item.get("op") == op and "right" in item:
                found.append(item)
            for each in item.values():
                search(each)
        elif isinstance(item, list):
            for each in item:
                search(each)

    search(root)
    return found[0]


REFUSED: list[tuple[str, str, Callable[[Json], object], str]] = [
    ("match_kinds", "primitive", lambda j: primitive(j, "mark_to_drop").update(op="teleport"), "primitive 'teleport'"),
    ("match_kinds", "arguments", lambda j: primitive(j, "mark_to_drop").update(parameters=[]), "0 arguments"),
    ("arithmetic", "operation", lambda j: operation(j, "<<").update(op="<<<"), "operation '<<<'"),
    ("arithmetic", "version", lambda j: j["__meta__"].update(version=[3, 0]), "JSON version"),
    ("arithmetic", "pipeline", lambda j: j["pipelines"].pop(), "no pipeline 'egress'"),
    ("arithmetic", "two parsers", lambda j: j["parsers"].append(j["parsers"][0]), "2 parsers"),
    ("arithmetic", "two deparsers", lambda j: j["deparsers"].append(j["deparsers"][0]), "2 deparsers"),
    (
        "arithmetic",
        "metadata",
        lambda j: named(j["headers"], "standard_metadata").update(name="sm"),
        "standard_metadata",
    ),
    ("arithmetic", "extern", lambda j: j["extern_instances"].append({"name": "x", "type": "magic"}), "'magic'"),
    ("match_kinds", "match kind", lambda j: table(j, "In.masked")["key"][0].update(match_type="fuzzy"), "kind 'fuzzy'"),
    ("match_kinds", "match type", lambda j: table(j, "In.masked").update(match_type="exact"), "match type ternary"),
    ("match_kinds", "two lpm keys", lambda j: table(j, "In.mixed")["key"][0].update(match_type="lpm"), "two lpm keys"),
    ("match_kinds", "table type", lambda j: table(j, "In.masked").update(type="odd"), "type 'odd'"),
    ("match_kinds", "next nodes", lambda j: table(j, "In.mixed")["next_tables"].pop("In.answer"), "next nodes"),
    ("match_kinds", "dangling node", lambda j: table(j, "In.mixed")["next_tables"].update({"In.answer": "x"}), "'x'"),
    (
        "match_kinds",
        "loop",
        lambda j: table(j, "In.mixed")["next_tables"].update({"In.answer": "In.mixed"}),
        "a loop through .*In.mixed",
    ),
    ("match_kinds", "key field", lambda j: table(j, "In.mixed")["key"][0].update(target=["keys", "no"]), "keys.no"),
    (
        "match_kinds",
        "action data",
        lambda j: table(j, "In.mixed")["default_entry"].update(action_data=[]),
        "0 arguments",
    ),
    ("match_kinds", "action id", lambda j: table(j, "In.mixed")["default_entry"].update(action_id=99), "99"),
    ("hashing", "algorithm", lambda j: j["calculations"][0].update(algo="md5"), "algorithm 'md5'"),
    ("hashing", "input", lambda j: j["calculations"][0]["input"][0].update(type="magic"), "'magic'"),
    ("selector", "selector", lambda j: profile(j).update(selector={"algo": "sha", "input": []}), "algorithm 'sha'"),
    ("selector", "profile", lambda j: table(j, "In.grouped").update(action_profile="none"), "action profile 'none'"),
    ("checksum", "checksum", lambda j: j["checksums"][0].update(type="ipv4"), "type 'ipv4'"),
    ("varbit", "length", lambda j: named(j["header_types"], "options_t").update(length_exp={}), "length expression"),
    ("varbit", "extract", lambda j: last_op(j, "options").update(op="extract"), "extract of options"),
    (
        "varbit",
        "union stack",
        lambda j: last_op(j, "options")["parameters"][0].update(type="union_stack"),
        "'union_stack'",
    ),
    (
        "union_stack",
        "computed index into a stack of unions",
        lambda j: operation(j, "d2b").update(op="dereference_union_stack"),
        "operation 'dereference_union_stack'",
    ),
    (
        "header_stack",
        "saturating",
        lambda j: named(j["header_types"], "label_t")["fields"][0].append(True),
        "saturating",
    ),
    ("header_stack", "odd header", lambda j: named(j["header_types"], "label_t")["fields"].append(["x", 3]), "35 bits"),
    (
        "parse_select",
        "parser op",
        lambda j: j["parsers"][0]["parse_states"][0]["parser_ops"][0].update(op="sniff"),
        "sniff",
    ),
    ("parse_select", "state", lambda j: j["parsers"][0].update(init_state="nowhere"), "'nowhere'"),
    ("parse_select", "next state", lambda j: transitions(j)[0].update(next_state="gone"), "next state 'gone'"),
    ("parse_select", "transition", lambda j: transitions(j)[0].update(type="lucky"), "type 'lucky'"),
    ("clone", "field list", lambda j: j["field_lists"][0]["elements"].append({"type": "odd"}), "type 'odd'"),
    ("clone", "list id", lambda j: primitive(j, "clone_ingress_pkt_to_egress")["parameters"].pop(), "1 arguments"),
    ("meters", "meter type", lambda j: j["meter_arrays"][0].update(type="joules"), "'joules'"),
    ("meters", "direct meter", lambda j: table(j, "In.kinds").update(direct_meters="none"), "direct meter 'none'"),
    ("told", "log", lambda j: log(j)["parameters"][0].update(value="{} {} {}"), "2 values for log_msg"),
    ("registers", "register", lambda j: primitive(j, "register_read")["parameters"][1].update(value="none"), "'none'"),
]


def profile(root: Json) -> Json:
    return named(root["pipelines"][0]["action_profiles"], "In.chooser")


def last_op(root: Json, name: str) -> Json:
    """The last operation of the parser state that the compiler calls by `name`, perhaps with a prefix."""
    states = root["parsers"][0]["parse_states"]
    return next(each for each in states if name in each["name"])["parser_ops"][-1]


def transitions(root: Json) -> list[Json]:
    found: list[Json] = named(root["parsers"][0]["parse_states"], "start")["transitions"]
    return found


def log(root: Json) -> Json:
    for each in named(root["parsers"][0]["parse_states"], "start")["parser_ops"]:
        if each["op"] == "primitive":
            return each["parameters"][0]
    raise AssertionError


@pytest.mark.parametrize(
    ("program", "what", "change", "found"), REFUSED, ids=[f"{row[0]}: {row[1]}" for row in REFUSED]
)
def test_refused_by_name(program: str, what: str, change: Callable[[Json], object], found: str) -> None:
    root = source(program)
    change(root)
    with pytest.raises(InputError, match=found) as caught:
        Engine(root)
    assert "\n" not in str(caught.value)


def test_a_parser_loop_that_takes_nothing_is_refused() -> None:
    root = source("loops")
    for each in transitions(root):
        each["next_state"] = "start"
    named(root["parsers"][0]["parse_states"], "start")["parser_ops"].clear()
    with pytest.raises(InputError, match="a loop that takes no byte"):
        Engine(root)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"pipelines": 3}', b"\xff\xfe"])
def test_text_that_is_no_program(text: str | bytes) -> None:
    with pytest.raises(InputError):
        Engine(text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_json_gives_a_program_or_a_sentence(data: st.DataObject) -> None:
    """One value anywhere in the JSON replaced by another: no other exception leaves."""
    root = copy.deepcopy(DAMAGED)
    item = root
    while True:
        keys: list[Any] = list(item) if isinstance(item, dict) else list(range(len(item)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(item[key], dict | list) or not item[key] or data.draw(st.integers(0, 5)) == 0:
            break
        item = item[key]
    item[key] = data.draw(st.sampled_from([None, 0, -1, 7, "", "x", "0x10", True, [], {}, ["a", "b"], 2**40]))
    try:
        engine = Engine(root)
    except InputError:
        return
    for size in (0, 1, 4, 40):
        engine.inject(0, bytes(range(size)), 0)


DAMAGED = {key: value for key, value in source("header_stack").items() if key not in ("enums", "program")}


@pytest.mark.parametrize("program", program_names())
def test_the_source_is_at_hand_and_the_same_each_time(program: str) -> None:
    engine = Engine(compiled(program).json_path.read_bytes())
    assert engine.source == Engine(compiled(program).json_path.read_bytes()).source
    name = engine._parse.__code__.co_filename
    assert "".join(linecache.getlines(name)) == engine.source


@pytest.mark.slow
def test_the_source_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "import hashlib; from pymodel.switch.engine import Engine; from tests.switch.programs.case import *;"
        "print(hashlib.sha256(''.join(Engine(compiled(n).json_path.read_bytes()).source for n in program_names())"
        ".encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(digests) == 1


@pytest.mark.p4c
@pytest.mark.parametrize("program", program_names())
def test_p4c_makes_the_committed_output(program: str) -> None:
    # None: the machine's p4c is of another version than the one in the manifest.
    assert is_reproduced(FOLDER / f"{program}.p4", FOLDER / "compiled") is not False
