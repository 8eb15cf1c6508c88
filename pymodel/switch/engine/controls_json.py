"""Reading one pipeline of BMv2 JSON: its tables, conditionals and action profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.reader import Json, Reader, hexadecimal

__all__ = ["read_pipeline"]


def read_pipeline(
    item: Json, reader: Reader, actions: Mapping[int, ir.Action], meters: Mapping[str, ir.MeterArray]
) -> ir.Pipeline:
    """Read the pipeline `item`. Its control flow may branch and join but not loop."""
    name = reader.get(item, "name", str, reader.program)
    where = reader.where(f"pipeline {name}")
    if item.get("action_calls"):
        raise InputError(where, "action calls", "actions wrapped into tables, as p4c has them")
    profiles = {each["name"]: _read_profile(each, reader) for each in item.get("action_profiles") or ()}
    nodes: dict[str, ir.Table | ir.Conditional] = {}
    for each in reader.get(item, "tables", list, where):
        nodes[each["name"]] = _read_table(each, reader, actions, meters, profiles)
    for each in reader.get(item, "conditionals", list, where):
        inside = reader.where(f"condition {each['name']}")
        info = each.get("source_info") or {}
        nodes[each["name"]] = ir.Conditional(
            each["name"],
            reader.expression(each["expression"], inside),
            each.get("true_next"),
            each.get("false_next"),
            str(info.get("source_fragment", "")),
        )
    pipeline = ir.Pipeline(name, item.get("init_table"), nodes, profiles)
    _check_flow(pipeline, where)
    return pipeline


def _read_profile(item: Json, reader: Reader) -> ir.ActionProfile:
    where = reader.where(f"action profile {item['name']}")
    selector = item.get("selector")
    if selector is None:
        return ir.ActionProfile(item["name"], int(item["max_size"]), None)
    inputs = []
    for each in reader.get(selector, "input", list, where):
        if each.get("type") != "field":
            raise InputError(where, f"selector input of type {each.get('type')!r}", "field")
        inputs.append(reader.field(each["value"], where))
    return ir.ActionProfile(item["name"], int(item["max_size"]), selector["algo"], tuple(inputs))


def _read_table(
    item: Json,
    reader: Reader,
    actions: Mapping[int, ir.Action],
    meters: Mapping[str, ir.MeterArray],
    profiles: Mapping[str, ir.ActionProfile],
) -> ir.Table:
    where = reader.where(f"table {item['name']}")
    kind = item.get("type")
    if kind not in ("simple", "indirect", "indirect_ws"):
        raise InputError(where, f"type {kind!r}", "simple, indirect or indirect_ws")
    match_type = item.get("match_type")
    if match_type not in ("exact", "lpm", "ternary", "range"):
        raise InputError(where, f"match type {match_type!r}", "exact, lpm, ternary or range")
    profile = item.get("action_profile") if kind != "simple" else None
    if kind != "simple" and profile not in profiles:
        raise InputError(where, f"action profile {profile!r}", "one of the pipeline's action profiles")
    meter = item.get("direct_meters")
    if meter is not None and meter not in meters:
        raise InputError(where, f"direct meter {meter!r}", "a declared meter array")
    names = dict(zip(item["actions"], item["action_ids"], strict=True))
    for number in names.values():
        if number not in actions:
            raise InputError(where, f"action id {number!r}", "the id of a declared action")
    following, by_hit = item["next_tables"], "__HIT__" in item["next_tables"]
    if not by_hit and set(following) != set(names):
        raise InputError(where, f"next nodes for {sorted(following)}", "one for each action of the table")
    keys = tuple(_read_key(each, reader, where) for each in reader.get(item, "key", list, where))
    entries = item.get("entries")
    table = ir.Table(
        name=item["name"],
        match_type=match_type,
        kind=kind,
        keys=keys,
        max_size=int(item.get("max_size", len(entries or ()))),
        with_counters=bool(item.get("with_counters")),
        with_timeout=bool(item.get("support_timeout")),
        direct_meter=meter,
        profile=profile,
        actions=names,
        next={} if by_hit else {names[action]: node for action, node in following.items()},
        by_hit=by_hit,
        next_hit=following["__HIT__"] if by_hit else None,
        next_miss=following["__MISS__"] if by_hit else None,
        default_next=item.get("base_default_next"),
        default=_read_default(item.get("default_entry"), reader, actions, where),
        entries=None if entries is None else tuple(_read_entry(each, keys, reader, actions, where) for each in entries),
    )
    _check_keys(table, where)
    return table


def _read_key(item: Json, reader: Reader, where: str) -> ir.TableKey:
    kind, target, mask = item.get("match_type"), item.get("target"), item.get("mask")
    if kind == "valid":
        reference = ir.FieldRef(reader.reference("header", target, where), ir.VALID)
        return ir.TableKey(str(item.get("name", target)), "exact", reference, 1)
    if kind not in ("exact", "lpm", "ternary", "range"):
        raise InputError(where, f"match kind {kind!r}", "exact, lpm, ternary, optional, range or valid")
    reference = reader.field(target, where)
    field = reader.headers[reference.header].type.field(reference.field)
    width = 1 if field is None else field.width
    name = item.get("name", f"{reference.header}.{reference.field}")
    if field is not None and field.variable:
        raise InputError(where, f"key {name} of variable length", "keys of fixed width")
    return ir.TableKey(name, kind, reference, width, None if mask is None else hexadecimal(mask, where))


def _check_keys(table: ir.Table, where: str) -> None:
    kinds = [key.kind for key in table.keys]
    if kinds.count("lpm") > 1:
        raise InputError(where, "two lpm keys", "at most one")
    if "range" in kinds:
        expected = "range"
    elif "ternary" in kinds:
        expected = "ternary"
    else:
        expected = "lpm" if "lpm" in kinds else "exact"
    # An lpm key may stand in a ternary table; any other mixture makes the match type (JSON_format.md, "tables").
    if table.match_type != expected and not (expected == "lpm" and table.match_type == "ternary"):
        raise InputError(where, f"match type {table.match_type} with keys {kinds}", f"match type {expected}")


def _read_default(
    item: Json | None, reader: Reader, actions: Mapping[int, ir.Action], where: str
) -> ir.DefaultEntry | None:
    if item is None:
        return None
    action, arguments = _read_call(item, reader, actions, where)
    return ir.DefaultEntry(action, arguments, bool(item.get("action_const")), bool(item.get("action_entry_const")))


def _read_call(item: Json, reader: Reader, actions: Mapping[int, ir.Action], where: str) -> tuple[int, tuple[int, ...]]:
    action = item["action_id"]
    if action not in actions:
        raise InputError(where, f"action id {action!r}", "the id of a declared action")
    arguments = tuple(hexadecimal(each, where) for each in reader.get(item, "action_data", list, where))
    if len(arguments) != len(actions[action].parameters):
        raise InputError(
            where, f"{len(arguments)} arguments for {actions[action].name}", f"{len(actions[action].parameters)}"
        )
    return action, arguments


def _read_entry(
    item: Json, keys: tuple[ir.TableKey, ...], reader: Reader, actions: Mapping[int, ir.Action], where: str
) -> ir.StaticEntry:
    matches: list[int | tuple[int, int]] = []
    for key, each in zip(keys, reader.get(item, "match_key", list, where), strict=True):
        match key.kind:
            case "exact":
                value: Any = each["key"]
                matches.append(int(value) if isinstance(value, bool) else hexadecimal(value, where))
            case "lpm":
                matches.append((hexadecimal(each["key"], where), int(each["prefix_length"])))
            case "ternary":
                matches.append((hexadecimal(each["key"], where), hexadecimal(each["mask"], where)))
            case _:
                matches.append((hexadecimal(each["start"], where), hexadecimal(each["end"], where)))
    action, arguments = _read_call(item["action_entry"], reader, actions, where)
    return ir.StaticEntry(tuple(matches), action, arguments, int(item.get("priority", 0)))


def _check_flow(pipeline: ir.Pipeline, where: str) -> None:
    """Refuse a dangling next node, and a loop."""
    state: dict[str, int] = {}

    def visit(name: str | None, path: tuple[str, ...]) -> None:
        if name is None or state.get(name) == 2:
            return
        if name not in pipeline.nodes:
            raise InputError(where, f"next node {name!r}", "a table or condition of the pipeline")
        if state.get(name) == 1:
            raise InputError(where, f"a loop through {' -> '.join(path)}", "control flow without loops")
        state[name] = 1
        for following in successors(pipeline.nodes[name]):
            visit(following, (*path, name))
        state[name] = 2

    visit(pipeline.start, ())


def successors(node: ir.Table | ir.Conditional) -> list[str | None]:
    """The nodes that may follow `node`, each once, in a fixed order; None ends the pipeline."""
    if isinstance(node, ir.Conditional):
        found = [node.true_next, node.false_next]
    elif node.by_hit:
        found = [node.next_hit, node.next_miss]
    else:
        found = [*node.next.values()]
        if node.default is None:
            found.append(node.default_next)
    return list(dict.fromkeys(found))
