"""From BMv2 JSON to `ir.Program`: the format is BMv2's ``docs/JSON_format.md``, version 2, as p4c-bm2-ss writes it.

Everything is checked here, once: a program that loads has no dangling name, no width out of place and no construct that
the engine doesn't know. What is refused is named in one sentence (`InputError`).
"""

from __future__ import annotations

import json
from typing import Any

from pymodel.base.errors import InputError
from pymodel.switch.engine import ir
from pymodel.switch.engine.controls_json import read_pipeline
from pymodel.switch.engine.parser_json import read_parser
from pymodel.switch.engine.reader import Json, Reader, hexadecimal

__all__ = ["load"]

_REQUIRED = ("ingress_port", "packet_length", "instance_type", "egress_spec", "egress_port")
_CORE_ERRORS = (
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
)


def load(source: str | bytes | Json) -> ir.Program:
    """Read a program from JSON text or from parsed JSON. InputError when it is malformed or uses what isn't known."""
    root = _parse(source)
    name = str(root.get("program") or "BMv2 JSON")
    try:
        return _read_program(root, name)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            name, f"a malformed object ({type(error).__name__}: {error})", "JSON_format.md's form"
        ) from error


def _read_program(root: Json, name: str) -> ir.Program:
    reader = Reader(name)
    _check_names(root, name)
    _check_version(root, name)
    for item in root.get("extern_instances") or ():
        raise InputError(reader.where("extern instance"), f"type {item.get('type')!r}", "a program without one")
    _read_headers(root, reader)
    for item in root.get("field_aliases") or ():
        reader.aliases[item[0]] = reader.field(item[1], reader.where(f"field alias {item[0]}"))
    for item in _REQUIRED:
        if "standard_metadata" not in reader.headers or not reader.headers["standard_metadata"].type.field(item):
            raise InputError(name, f"no field standard_metadata.{item}", "a v1model program, which has one")
    counters, meters, registers = _read_arrays(root, reader)
    calculations = _read_calculations(root, reader)
    actions = _read_actions(root, reader)
    pipelines = {each["name"]: read_pipeline(each, reader, actions, meters) for each in _list(root, "pipelines", name)}
    for expected in ("ingress", "egress"):
        if expected not in pipelines:
            raise InputError(name, f"no pipeline '{expected}'", "a v1model program, which has ingress and egress")
    value_sets = {
        item["name"]: ir.ValueSet(item["name"], item["compressed_bitwidth"], int(item.get("max_size", 1024)))
        for item in root.get("parse_vsets") or ()
    }
    start, states = read_parser(root, reader, value_sets)
    order, steps = _read_deparser(root, reader)
    return ir.Program(
        name=name,
        headers=reader.headers,
        stacks=reader.stacks,
        unions=reader.unions,
        union_stacks=reader.union_stacks,
        errors=_read_errors(root),
        value_sets=value_sets,
        start=start,
        states=states,
        deparser=order,
        deparser_steps=steps,
        calculations=calculations,
        checksums=_read_checksums(root, reader),
        counters=counters,
        meters=meters,
        registers=registers,
        actions=actions,
        ingress=pipelines["ingress"],
        egress=pipelines["egress"],
        field_lists=_read_lists(root, "field_lists", reader),
        learn_lists=_read_lists(root, "learn_lists", reader),
        aliases=reader.aliases,
    )


def _parse(source: str | bytes | Json) -> Json:
    if isinstance(source, str | bytes):
        try:
            source = json.loads(source)
        except ValueError as error:
            raise InputError("BMv2 JSON", f"text that is no JSON ({error})", "the output of p4c-bm2-ss") from None
    if not isinstance(source, dict) or "pipelines" not in source:
        raise InputError("BMv2 JSON", "no attribute 'pipelines'", "the output of p4c-bm2-ss")
    return source


def _check_names(item: Any, where: str) -> None:
    """Names are strings, ids are numbers and so on, wherever they stand."""
    if isinstance(item, dict):
        for key, kind in (("name", str), ("id", int), ("algo", str), ("metadata", bool)):
            if key in item and type(item[key]) is not kind:
                raise InputError(where, f"'{key}': {item[key]!r}"[:100], f"a JSON {kind.__name__}")
        for each in item.values():
            _check_names(each, where)
    elif isinstance(item, list):
        for each in item:
            _check_names(each, where)


def _size(item: Json, key: str, where: str, least: int = 1) -> int:
    value = item.get(key)
    if type(value) is not int or value < least:
        raise InputError(where, f"'{key}': {value!r}", f"a number from {least} up")
    return value


def _check_version(root: Json, name: str) -> None:
    version = (root.get("__meta__") or {}).get("version", [2, 0])
    if not isinstance(version, list) or version[:1] != [2]:
        raise InputError(name, f"JSON version {version!r}", "major version 2")


def _list(item: Json, key: str, where: str) -> list[Any]:
    value = item.get(key)
    if not isinstance(value, list):
        raise InputError(where, f"'{key}' is {type(value).__name__}", "a JSON list")
    return value


def _read_headers(root: Json, reader: Reader) -> None:
    types = {item["name"]: _read_header_type(item, reader) for item in _list(root, "header_types", reader.program)}
    names: dict[int, str] = {}
    kinds: dict[str, tuple[str, bool]] = {}
    for item in _list(root, "headers", reader.program):
        names[item["id"]] = item["name"]
        kinds[item["name"]] = (item["header_type"], bool(item["metadata"]))
    places: dict[str, tuple[str, int]] = {}
    for item in root.get("header_stacks") or ():
        elements = tuple(names[each] for each in item["header_ids"])
        reader.stacks[item["name"]] = ir.Stack(item["name"], types[item["header_type"]], elements)
        places.update({element: (item["name"], index) for index, element in enumerate(elements)})
    members: dict[str, str] = {}
    union_names: dict[int, str] = {}
    for item in root.get("header_unions") or ():
        inside = tuple(names[each] for each in item["header_ids"])
        union_names[item["id"]] = item["name"]
        reader.unions[item["name"]] = ir.Union(item["name"], inside)
        members.update(dict.fromkeys(inside, item["name"]))
    kinds_of = {item["name"]: item["headers"] for item in root.get("header_union_types") or ()}
    for item in root.get("header_union_stacks") or ():
        unions = [reader.unions[union_names[each]] for each in item["header_union_ids"]]
        stacks = {member: f"{item['name']}.{member}" for member, _ in kinds_of[item["union_type"]]}
        reader.union_stacks[item["name"]] = ir.UnionStack(item["name"], stacks)
        leader = next(iter(stacks.values()))
        for number, (member, kind) in enumerate(kinds_of[item["union_type"]]):
            elements = tuple(union.headers[number] for union in unions)
            reader.stacks[stacks[member]] = ir.Stack(stacks[member], types[kind], elements, leader)
            places.update({element: (stacks[member], index) for index, element in enumerate(elements)})
    for name, (kind, metadata) in kinds.items():
        where = reader.where(f"header {name}")
        if kind not in types:
            raise InputError(where, f"header type {kind!r}", "a declared header type")
        stack, index = places.get(name, (None, 0))
        if not metadata and types[kind].width % 8:
            raise InputError(where, f"{types[kind].width} bits", "a whole number of bytes")
        if metadata and (stack is not None or name in members):
            raise InputError(where, "metadata in a stack or union", "headers alone")
        reader.headers[name] = ir.Header(name, types[kind], metadata, stack, index, members.get(name))


def _read_header_type(item: Json, reader: Reader) -> ir.HeaderType:
    where = reader.where(f"header type {item.get('name')}")
    if item.get("length_exp") is not None:
        raise InputError(where, "a length expression in the type", "a length given to extract, as P4-16 has it")
    fields = []
    offset = 0
    for name, width, *flags in _list(item, "fields", where):
        if len(flags) > 1 and flags[1]:
            raise InputError(where, f"saturating field {name}", "fields that do not saturate")
        variable = width == "*"
        if not isinstance(name, str) or not (variable or (isinstance(width, int) and width > 0)):
            raise InputError(where, f"field {name!r} of width {width!r}", "a name, and a number of bits or '*'")
        if variable and offset % 8:
            raise InputError(where, f"field {name} of variable length at bit {offset}", "one that starts on a byte")
        fields.append(ir.FieldType(name, 0 if variable else int(width), bool(flags and flags[0]), variable))
        offset += fields[-1].width
    return ir.HeaderType(item["name"], tuple(fields), int(item.get("max_length") or 0))


def _read_errors(root: Json) -> dict[str, int]:
    errors: dict[str, int] = dict(root.get("errors") or ())
    following = max(errors.values(), default=-1) + 1
    for name in _CORE_ERRORS:
        if name not in errors:
            errors[name] = following
            following += 1
    return errors


def _read_arrays(
    root: Json, reader: Reader
) -> tuple[dict[str, ir.CounterArray], dict[str, ir.MeterArray], dict[str, ir.RegisterArray]]:
    counters: dict[str, ir.CounterArray] = {}
    for item in root.get("counter_arrays") or ():
        table = item["binding"] if item.get("is_direct") else None
        counters[item["name"]] = ir.CounterArray(
            item["name"], 0 if table is not None else _size(item, "size", reader.program, 0), table
        )
    meters: dict[str, ir.MeterArray] = {}
    for item in root.get("meter_arrays") or ():
        where = reader.where(f"meter {item['name']}")
        if item["type"] not in ("bytes", "packets"):
            raise InputError(where, f"type {item['type']!r}", "bytes or packets")
        direct = bool(item.get("is_direct"))
        meters[item["name"]] = ir.MeterArray(
            item["name"],
            _size(item, "size", reader.program, 0),
            int(item["rate_count"]),
            item["type"],
            item["binding"] if direct else None,
            reader.field(item["result_target"], where) if direct else None,
        )
    registers = {
        item["name"]: ir.RegisterArray(
            item["name"], _size(item, "size", reader.program, 0), _size(item, "bitwidth", reader.program)
        )
        for item in root.get("register_arrays") or ()
    }
    reader.objects["counter_array"].update(name for name, item in counters.items() if item.table is None)
    reader.objects["meter_array"].update(name for name, item in meters.items() if item.table is None)
    reader.objects["register_array"].update(registers)
    reader.objects["calculation"].update(item["name"] for item in root.get("calculations") or ())
    return counters, meters, registers


def _read_calculations(root: Json, reader: Reader) -> dict[str, ir.Calculation]:
    found: dict[str, ir.Calculation] = {}
    for item in root.get("calculations") or ():
        where = reader.where(f"calculation {item['name']}")
        inputs: list[ir.Input] = []
        for each in _list(item, "input", where):
            match each.get("type"):
                case "field":
                    inputs.append(reader.field(each["value"], where))
                case "hexstr":
                    inputs.append((hexadecimal(each["value"], where), _size(each, "bitwidth", where)))
                case "header":
                    inputs.append(ir.HeaderRef(reader.reference("header", each["value"], where)))
                case "payload":
                    inputs.append(ir.Payload())
                case kind:
                    raise InputError(where, f"input of type {kind!r}", "field, hexstr, header or payload")
        found[item["name"]] = ir.Calculation(item["name"], item["algo"], tuple(inputs))
    return found


def _read_actions(root: Json, reader: Reader) -> dict[int, ir.Action]:
    actions: dict[int, ir.Action] = {}
    for item in _list(root, "actions", reader.program):
        where = reader.where(f"action {item.get('name')}")
        parameters = tuple(
            (each["name"], _size(each, "bitwidth", where)) for each in _list(item, "runtime_data", where)
        )
        primitives = tuple(reader.primitive(each, where) for each in _list(item, "primitives", where))
        actions[item["id"]] = ir.Action(item["id"], item["name"], parameters, primitives)
    return actions


def _read_checksums(root: Json, reader: Reader) -> tuple[ir.Checksum, ...]:
    checksums = []
    for item in root.get("checksums") or ():
        where = reader.where(f"checksum {item['name']}")
        if item.get("type") != "generic":
            raise InputError(where, f"type {item.get('type')!r}", "generic")
        condition = item.get("if_cond")
        checksums.append(
            ir.Checksum(
                item["name"],
                reader.field(item["target"], where),
                reader.reference("calculation", item["calculation"], where),
                bool(item.get("update", True)),
                bool(item.get("verify", True)),
                reader.expression(condition, where) if condition else None,
            )
        )
    return tuple(checksums)


def _read_lists(root: Json, key: str, reader: Reader) -> dict[int, ir.FieldList]:
    lists = {}
    for item in root.get(key) or ():
        where = reader.where(f"{key[:-1].replace('_', ' ')} {item['name']}")
        fields = []
        for each in _list(item, "elements", where):
            if each.get("type") == "field":
                fields.append(reader.field(each["value"], where))
            elif each.get("type") != "hexstr" or key == "learn_lists":
                raise InputError(where, f"an element of type {each.get('type')!r}", "fields")
        lists[item["id"]] = ir.FieldList(item["id"], item["name"], tuple(fields))
    return lists


def _read_deparser(root: Json, reader: Reader) -> tuple[tuple[str, ...], tuple[ir.Primitive, ...]]:
    deparsers = _list(root, "deparsers", reader.program)
    if len(deparsers) != 1:
        raise InputError(reader.program, f"{len(deparsers)} deparsers", "one")
    where = reader.where("deparser")
    order = tuple(reader.reference("header", each, where) for each in deparsers[0]["order"])
    steps = tuple(reader.primitive(each, where) for each in deparsers[0].get("primitives") or ())
    for step in steps:
        if step.op not in ("log_msg", "assert", "assume"):
            raise InputError(where, f"primitive '{step.op}'", "log_msg, assert or assume")
    return order, steps
