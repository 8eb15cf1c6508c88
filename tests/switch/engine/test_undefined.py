"""What BMv2 leaves undefined and `docs/engine.md` defines, in programs whose JSON is changed to get there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pymodel.switch.engine import Engine
from tests.switch.programs.case import compiled

Json = Any


def changed(program: str, change: Callable[[Json], None]) -> Engine:
    root = json.loads(compiled(program).json_path.read_bytes())
    change(root)
    return Engine(root)


def send(engine: Engine, text: str) -> str:
    engine.inject(0, bytes.fromhex(text), 0)
    ((_, _, data),) = engine.drain(0)
    return data.hex()


def _everywhere(item: Json, visit: Callable[[Json], None]) -> None:
    if isinstance(item, dict):
        visit(item)
        for each in item.values():
            _everywhere(each, visit)
    elif isinstance(item, list):
        for each in item:
            _everywhere(each, visit)


def _unmasked_index(root: Json) -> None:
    def visit(item: Json) -> None:
        if item.get("op") == "dereference_header_stack":
            item["right"] = {"type": "field", "value": ["op", "index"]}

    _everywhere(root, visit)


@pytest.mark.parametrize("index", ["85", "05", "fd"])
def test_a_stack_index_outside_reads_nothing_and_writes_nothing(index: str) -> None:
    # The program takes 1 from the ttl of the element and shows its label; its guard looks at the low two bits alone.
    engine = changed("header_stack", _unmasked_index)
    labels = "00001040 00002040 00003140"
    assert send(engine, f"05{index}0000 {labels}") == f"000700000000 05{index}0000 {labels}".replace(" ", "")
    assert send(engine, f"05010000 {labels}") == "000700000002 05010000 00001040 0000203f 00003140".replace(" ", "")


def test_last_of_an_empty_stack_is_a_parser_error() -> None:
    def change(root: Json) -> None:
        states = {each["name"]: each for each in root["parsers"][0]["parse_states"]}
        states["start"]["transition_key"] = [{"type": "stack_field", "value": ["labels", "ttl"]}]

    assert send(changed("header_stack", change), "00000000 00001140") == "0100000000000000000000001140"


@pytest.mark.parametrize(("frame", "fault"), [("60", "01"), ("6000", "01"), ("600000", "00")])
def test_a_select_on_what_lies_beyond_the_packet_is_a_parser_error(frame: str, fault: str) -> None:
    def change(root: Json) -> None:
        start = next(each for each in root["parsers"][0]["parse_states"] if each["name"] == "start")
        start["parser_ops"].clear()
        start["transition_key"] = [{"type": "lookahead", "value": [0, 24]}]
        for each in start["transitions"]:
            each["next_state"] = None
        start["transitions"][0]["value"] = "0x000001"

    assert send(changed("parser_error", change), frame) == f"{fault}00" + frame


@pytest.mark.parametrize("op", ["/", "%"])
def test_division_by_zero_gives_zero(op: str) -> None:
    def change(root: Json) -> None:
        def visit(item: Json) -> None:
            if item.get("op") == "*":
                item["op"] = op

        _everywhere(root, visit)

    engine = changed("arithmetic", change)
    operands = f"{7:08x}{0:08x}{'00' * 22}"
    assert send(engine, f"03{operands}")[62:78] == "00" * 8
    operands = f"{7:08x}{2:08x}{'00' * 22}"
    assert send(engine, f"03{operands}")[62:78] == f"{3 if op == '/' else 1:016x}"


def test_a_field_that_was_never_valid_reads_as_zero() -> None:
    """Without its guard the program answers from a header that was cut short."""

    def change(root: Json) -> None:
        ingress = root["pipelines"][0]
        guard = next(each for each in ingress["conditionals"] if each["name"] == ingress["init_table"])
        ingress["init_table"] = guard["true_next"]

    engine = changed("registers", change)
    engine.inject(0, bytes([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 9]), 0)
    engine.inject(0, bytes([1, 0]), 0)
    assert [data.hex() for _, _, data in engine.drain(0)][1] == "0100"
    assert engine.registers["wide"].read(2) == 9
    assert engine.registers["wide"].read(0) == 0
