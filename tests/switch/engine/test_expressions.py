"""Generated expressions against the same expression computed step by step, as BMv2 does: integers of any size, cut when
they are stored. Bounds are checked too: a mask is left out where they say that it changes nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.expressions import HELPERS, Expressions, cut
from pymodel.switch.engine.layout import Layout
from pymodel.switch.engine.load import load
from pymodel.switch.engine.source import Value
from tests.switch.programs.case import compiled

LAYOUT = Layout(load(compiled("arithmetic").json_path.read_bytes()))
FIELDS = {"op": (8, False), "a": (32, False), "n": (5, False), "w": (11, False), "s": (16, True), "t": (16, True)}
PARAMETERS = (("first_", 9), ("second_", 64))


def reference(expression: ir.Expression, fields: dict[str, int], parameters: tuple[int, ...]) -> int | bool:
    """The value by the definition of each operation (BMv2's data.h), with the engine's answer where BMv2 has none."""

    def of(operand: ir.Expression) -> Any:
        return reference(operand, fields, parameters)

    match expression:
        case ir.Constant(value) | ir.Boolean(value):
            return value
        case ir.FieldRef(_, name):
            return fields[name]
        case ir.ParameterRef(index):
            return parameters[index]
        case ir.Ternary(condition, then, otherwise):
            return of(then) if of(condition) else of(otherwise)  # type: ignore[no-any-return]
        case ir.Unary("not", operand):
            return not of(operand)
        case ir.Unary("~", operand):
            return ~of(operand)  # type: ignore[no-any-return]
        case ir.Unary("d2b", operand):
            return bool(of(operand) != 0)
        case ir.Unary("b2d", operand):
            return 1 if of(operand) else 0
        case ir.Binary(op, left, right):
            return _binary(op, of(left), of(right))
    raise AssertionError(expression)


def _binary(op: str, left: int, right: int) -> int | bool:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right if right > 0 else 0
        case "%":
            return left % right if right > 0 else 0
        case "<<":
            return left * 2**right
        case ">>":
            return left // 2**right
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "and":
            return bool(left) and bool(right)
        case "or":
            return bool(left) or bool(right)
        case "two_comp_mod":
            value = left % 2**right
            return value - 2**right if value >= 2 ** (right - 1) else value
        case "usat_cast":
            return max(0, min(left, 2**right - 1))
        case "sat_cast":
            return max(-(2 ** (right - 1)), min(left, 2 ** (right - 1) - 1))
    raise AssertionError(op)


constants = st.one_of(
    st.integers(-(2**33), 2**33), st.sampled_from([0, 1, 0xFF, 0xFFFF, 0xFFFFFFFF, 0xFFFF0000, 2**64 - 1])
).map(ir.Constant)
shifts = st.one_of(st.integers(0, 40).map(ir.Constant), st.just(ir.FieldRef("i", "n")))
widths = st.sampled_from([1 + 1, 8, 11, 16, 33]).map(ir.Constant)
leaves = st.one_of(
    constants,
    st.sampled_from([ir.FieldRef("i", name) for name in FIELDS]),
    st.sampled_from([ir.ParameterRef(0), ir.ParameterRef(1)]),
)


def _data(inner: st.SearchStrategy[ir.Expression]) -> st.SearchStrategy[ir.Expression]:
    compare = st.builds(ir.Binary, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner, inner)
    truth = st.one_of(
        compare,
        st.builds(ir.Binary, st.sampled_from(["and", "or"]), compare, compare),
        st.builds(ir.Unary, st.just("not"), compare),
        st.builds(ir.Unary, st.just("d2b"), inner),
    )
    return st.one_of(
        st.builds(ir.Binary, st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^"]), inner, inner),
        st.builds(ir.Binary, st.sampled_from(["<<", ">>"]), inner, shifts),
        st.builds(ir.Binary, st.sampled_from(["two_comp_mod", "usat_cast", "sat_cast"]), inner, widths),
        st.builds(ir.Unary, st.just("~"), inner),
        st.builds(ir.Unary, st.just("b2d"), truth),
        st.builds(ir.Ternary, truth, inner, inner),
    )


expressions = st.recursive(leaves, _data, max_leaves=10)
values = st.fixed_dictionaries(
    {
        name: st.integers(-(2 ** (width - 1)), 2**width - 1) if signed else st.integers(0, 2**width - 1)
        for name, (width, signed) in FIELDS.items()
    }
)


@settings(max_examples=600, deadline=None)
@given(expressions, values, st.integers(0, 2**9 - 1), st.integers(0, 2**64 - 1))
def test_generated_code_computes_what_bmv2_does(
    expression: ir.Expression, fields: dict[str, int], first: int, second: int
) -> None:
    value = Expressions(LAYOUT, "test", PARAMETERS).data(expression)
    packet = SimpleNamespace(**{LAYOUT.place("i").unit.slots[name]: number for name, number in fields.items()})
    scope = {**HELPERS, "p": packet, "first_": first, "second_": second}
    expected = reference(expression, fields, (first, second))
    assert eval(value.text, scope) == expected
    assert value.low is None or value.low <= expected
    assert value.high is None or expected <= value.high
    for width in (1, 8, 16, 32, 128):
        assert eval(cut(value, width).text, scope) == expected % 2**width


@pytest.mark.parametrize(
    ("value", "stored"),
    [(127, 127), (128, 128), (255, 255), (256, 0), (300, 44), (-128, -128), (-129, 127), (-1, -1), (511, -1)],
)
def test_a_signed_field_keeps_what_fits_its_bits(value: int, stored: int) -> None:
    """BMv2 lets an unsigned value of the field's bits stay as it is; everything else wraps."""
    assert HELPERS["wrap"](value, 8) == stored


@pytest.mark.parametrize(
    ("text", "masked"),
    [("x", "(x & 0xff)"), ("x16", "(x16 & 0xff)"), ("x8", "x8")],
)
def test_a_mask_stands_only_where_it_can_matter(text: str, masked: str) -> None:
    known = {"x": Value("x"), "x16": Value("x16", 0, 65535), "x8": Value("x8", 0, 255)}
    assert cut(known[text], 8).text == masked


@pytest.mark.parametrize("op", ["two_comp_mod", "usat_cast", "sat_cast"])
def test_a_width_that_is_not_constant_is_refused(op: str) -> None:
    with pytest.raises(InputError, match="constant width"):
        Expressions(LAYOUT, "test").data(ir.Binary(op, ir.FieldRef("i", "a"), ir.FieldRef("i", "n")))


def test_a_parameter_that_the_action_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="parameter number 2"):
        Expressions(LAYOUT, "action x", PARAMETERS).data(ir.ParameterRef(2))


@pytest.mark.parametrize("amount", [512, 70_000, 2**32])
def test_a_huge_shift_costs_nothing(amount: int) -> None:
    scope = {**HELPERS, "second_": amount}
    shift = ir.Binary("<<", ir.Constant(1), ir.ParameterRef(1))
    text = Expressions(LAYOUT, "test", PARAMETERS).data(shift).text
    assert eval(text, scope) % 2**256 == 0
