"""Reading the parser of BMv2 JSON: its states, what they do and where they lead."""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.reader import Json, Reader, hexadecimal

__all__ = ["read_parser"]


def read_parser(
    root: Json, reader: Reader, value_sets: dict[str, ir.ValueSet]
) -> tuple[str | None, dict[str, ir.ParseState]]:
    """The initial state's name, and the states by name."""
    parsers = reader.get(root, "parsers", list, reader.program)
    if len(parsers) != 1:
        raise InputError(reader.program, f"{len(parsers)} parsers", "one")
    items = reader.get(parsers[0], "parse_states", list, reader.program)
    names = {item["name"] for item in items}
    states = {item["name"]: _read_state(item, reader, names, value_sets) for item in items}
    start = parsers[0].get("init_state")
    if start not in names:
        raise InputError(reader.where("parser"), f"initial state {start!r}", "one of its states")
    return start, states


def _read_state(item: Json, reader: Reader, names: set[str], value_sets: dict[str, ir.ValueSet]) -> ir.ParseState:
    where = reader.where(f"parser state {item['name']}")
    operations = tuple(_read_operation(each, reader, where) for each in reader.get(item, "parser_ops", list, where))
    keys = tuple(_read_key(each, reader, where) for each in item.get("transition_key") or ())
    transitions = []
    for each in reader.get(item, "transitions", list, where):
        target = each.get("next_state")
        if target is not None and target not in names:
            raise InputError(where, f"next state {target!r}", "a state of the parser")
        kind, value, mask = each.get("type", "hexstr"), each.get("value"), each.get("mask")
        if kind == "default" or value == "default":
            transitions.append(ir.Transition(target))
        elif kind == "parse_vset":
            if mask is not None or value not in value_sets:
                raise InputError(
                    where, f"value set {value!r} with mask {mask!r}", "a declared value set without a mask"
                )
            transitions.append(ir.Transition(target, value_set=value))
        elif kind == "hexstr":
            widths = [width for _, width in keys]
            values = _split(hexadecimal(value, where), widths)
            masks = (-1,) * len(keys) if mask is None else _split(hexadecimal(mask, where), widths)
            masks = tuple(-1 if each == (1 << width) - 1 else each for each, width in zip(masks, widths, strict=True))
            transitions.append(ir.Transition(target, values, masks))
        else:
            raise InputError(where, f"transition of type {kind!r}", "default, hexstr or parse_vset")
    return ir.ParseState(item["name"], operations, keys, tuple(transitions))


def _split(value: int, widths: list[int]) -> tuple[int, ...]:
    """Cut a transition's value into its keys; each is padded to whole bytes (JSON_format.md, "transitions")."""
    parts = []
    for width in reversed(widths):
        padded = (width + 7) // 8 * 8
        parts.append(value & ((1 << padded) - 1))
        value >>= padded
    return tuple(reversed(parts))


def _read_key(item: Json, reader: Reader, where: str) -> tuple[ir.Expression, int]:
    expression = reader.expression(item, where)
    match expression:
        case ir.FieldRef(header, name) if not isinstance(expression, ir.HeaderRef):
            width = 1 if name == ir.VALID else reader.headers[header].type.field(name).width  # type: ignore[union-attr]
        case ir.LastField(stack, name):
            width = reader.stacks[stack].type.field(name).width  # type: ignore[union-attr]
        case ir.Lookahead(_, width):
            pass
        case _:
            raise InputError(
                where, f"select key of type {item.get('type')!r}", "field, stack_field, union_stack_field or lookahead"
            )
    return expression, width


def _read_operation(item: Json, reader: Reader, where: str) -> ir.Extract | ir.ParserOp:
    op = reader.get(item, "op", str, where)
    arguments = reader.get(item, "parameters", list, where)
    match op:
        case "extract" | "extract_VL":
            return _read_extract(arguments, op == "extract_VL", reader, where)
        case "set":
            target = reader.field(arguments[0]["value"], where)
            return ir.ParserOp(op, (target, reader.expression(arguments[1], where)))
        case "verify":
            code = arguments[1]
            error = ir.Constant(code) if isinstance(code, int) else reader.expression(code, where)
            return ir.ParserOp(op, (reader.expression(arguments[0], where), error))
        case "shift":
            return ir.ParserOp("advance", (ir.Constant(8 * int(arguments[0])),))
        case "advance":
            return ir.ParserOp(op, (reader.expression(arguments[0], where),))
        case "primitive":
            return ir.ParserOp(op, primitive=reader.primitive(arguments[0], where))
        case _:
            raise InputError(where, f"parser operation '{op}'", "one that the engine knows")


def _read_extract(arguments: list[Json], variable: bool, reader: Reader, where: str) -> ir.Extract:
    kind, name = arguments[0].get("type"), arguments[0].get("value")
    target: ir.HeaderRef | ir.StackRef
    if kind == "regular":
        target = ir.HeaderRef(reader.reference("header", name, where))
        header_type = reader.headers[target.name].type
        if reader.headers[target.name].metadata:
            raise InputError(where, f"extract of metadata {name}", "a header")
    elif kind == "stack":
        target = ir.StackRef(reader.reference("header_stack", name, where))
        header_type = reader.stacks[target.name].type
    elif kind == "union_stack" and isinstance(name, list) and len(name) == 2:
        target = ir.StackRef(reader.member_stack(name, where))
        header_type = reader.stacks[target.name].type
    else:
        raise InputError(where, f"extract of kind {kind!r}", "regular, stack or union_stack")
    if (header_type.variable is not None) != variable:
        raise InputError(where, f"{'extract_VL' if variable else 'extract'} of {name}", "the one that fits its type")
    return ir.Extract(target, reader.expression(arguments[1], where) if variable else None)
