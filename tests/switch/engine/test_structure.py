"""Jumps back into nested conditions, and the blocks that are written where they don't nest: both do the same."""

from __future__ import annotations

import random

import pytest

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.structure import Choice, Leave, Node, has_leave, structured


def step(name: str) -> ir.Primitive:
    return ir.Primitive(name, ())


def jump(target: int) -> ir.Primitive:
    return ir.Primitive("_jump", (ir.Constant(target),))


def unless(condition: int, target: int) -> ir.Primitive:
    return ir.Primitive("_jump_if_zero", (ir.ParameterRef(condition), ir.Constant(target)))


def run(nodes: tuple[Node, ...], truth: list[bool]) -> tuple[list[str], bool]:
    trace: list[str] = []
    for node in nodes:
        if isinstance(node, Leave):
            return trace, True
        if isinstance(node, Choice):
            assert isinstance(node.condition, ir.ParameterRef)
            inner, left = run(node.then if truth[node.condition.index] else node.otherwise, truth)
            trace += inner
            if left:
                return trace, True
        else:
            trace.append(node.op)
    return trace, False


def follow(primitives: list[ir.Primitive], truth: list[bool]) -> list[str]:
    """The primitives as BMv2 runs them: one after the other, jumps to numbers."""
    trace, at = [], 0
    while at < len(primitives):
        primitive = primitives[at]
        at += 1
        if primitive.op == "_jump":
            at = primitive.arguments[0].value  # type: ignore[union-attr]
        elif primitive.op == "_jump_if_zero":
            if not truth[primitive.arguments[0].index]:  # type: ignore[union-attr]
                at = primitive.arguments[1].value  # type: ignore[union-attr]
        else:
            trace.append(primitive.op)
    return trace


@pytest.mark.parametrize(
    "primitives",
    [
        [step("a"), step("b")],
        [unless(0, 2), step("a"), step("b")],
        [unless(0, 3), step("a"), jump(4), step("b"), step("c")],
        [unless(0, 3), step("a"), jump(5), unless(1, 5), step("b")],
        [unless(0, 4), step("a"), unless(1, 4), step("b"), step("c")],
        [unless(0, 3), step("a"), jump(4), step("b")],
        [unless(0, 6), unless(1, 4), step("a"), jump(5), step("b"), jump(7), step("c"), step("d")],
        [unless(0, 2), jump(3), step("a")],
        [jump(1)],
        [],
    ],
)
def test_nested_jumps(primitives: list[ir.Primitive]) -> None:
    nodes = structured(primitives, "action")
    assert nodes is not None
    for bits in range(4):
        truth = [bool(bits & 1), bool(bits & 2)]
        assert run(nodes, truth)[0] == follow(primitives, truth)


def test_random_forward_jumps_nest_rightly_or_not_at_all() -> None:
    rng = random.Random(3)
    nested = 0
    for _ in range(5000):
        size = rng.randrange(1, 8)
        primitives = [
            rng.choice(
                [
                    step(f"s{n}"),
                    step(f"s{n}"),
                    jump(rng.randrange(n + 1, size + 1)),
                    unless(n % 3, rng.randrange(n + 1, size + 1)),
                ]
            )
            for n in range(size)
        ]
        nodes = structured(primitives, "action")
        if nodes is None:
            continue
        nested += 1
        for bits in range(8):
            truth = [bool(bits >> n & 1) for n in range(3)]
            assert run(nodes, truth)[0] == follow(primitives, truth)
    assert nested > 1000


@pytest.mark.parametrize("primitives", [[step("a"), jump(0)], [unless(0, 3), jump(2), step("a"), step("b")]])
def test_what_does_not_nest_is_left(primitives: list[ir.Primitive]) -> None:
    assert structured(primitives, "action") is None


def test_early_ends_are_seen_at_any_depth() -> None:
    leave = structured([unless(0, 4), unless(1, 3), jump(5), step("a"), step("b")], "action")
    assert leave is not None
    assert has_leave(leave)
    assert not has_leave(structured([unless(0, 2), step("a"), step("b")], "action") or ())


def test_a_jump_to_a_computed_place_is_refused() -> None:
    with pytest.raises(InputError, match="_jump without a constant target"):
        structured([ir.Primitive("_jump", (ir.ParameterRef(0),))], "action x")
