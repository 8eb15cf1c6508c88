"""Table entries between our names and integers and P4Runtime's ids and byte strings.

One canonical form in both directions (P4Runtime 1.4, sections 8.3 and 9.1): the shortest byte string for a number, no
match field at all for don't-care, no bit set where a mask or prefix does not look, and a priority exactly where the
table's keys ask for one. `encode_entry` makes it from what a person or the topology says and names what is wrong by
`InputError`; `decode_entry` takes a message apart and refuses what is not canonical, as BMv2 does, with a status code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.info import Action, Bits, Key, ProgramInfo, Table
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.target import TableEntry

__all__ = [
    "MAX_PRIORITY",
    "Refused",
    "decode_action",
    "decode_default",
    "decode_entry",
    "decode_match",
    "encode_default",
    "encode_entry",
    "invalid",
    "normal_form",
    "pack",
    "unpack",
]

MAX_PRIORITY = 2**31 - 1
"""P4Runtime carries a priority as a signed 32-bit integer."""

Match = dict[str, int | tuple[int, int]]


class Refused(Exception):  # noqa: N818  (a refusal is an answer to a client, not a fault of ours)
    """A request that a P4Runtime server turns down: a google.rpc code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> Refused:
    """Return the refusal of a malformed request (INVALID_ARGUMENT)."""
    return Refused(code_pb2.INVALID_ARGUMENT, message)


def pack(value: int) -> bytes:
    """Return `value` as P4Runtime's canonical byte string: big-endian, as short as it can be, one byte for 0."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def unpack(data: bytes, width: int, what: str) -> int:
    """Return the number in `data`, of any length, if it fits `width` bits; Refused names `what` otherwise."""
    if not data:
        raise invalid(f"{what}: the byte string is empty")
    value = int.from_bytes(data, "big")
    if value.bit_length() > width:
        raise invalid(f"{what}: the byte string does not fit {width} bits")
    return value


# --- from names to messages -------------------------------------------------------------------------------------------


def encode_entry(info: ProgramInfo, entry: TableEntry) -> Any:
    """Return `entry` as a canonical p4.v1.TableEntry; InputError names the table, the key or parameter, the fault."""
    table = info.tables.find(entry.table)
    where = f"table {table.name}"
    if table.action_profile:
        raise InputError(where, "an entry with an action of its own", "a table without an action profile")
    message = p4runtime_pb2.TableEntry(table_id=table.id)
    if entry.default:
        if entry.match or entry.priority:
            raise InputError(where, "a default entry with a match or priority", "neither on a default entry")
        message.is_default_action = True
    else:
        _encode_match(table, entry.match, where, message)
        message.priority = _checked_priority(table, entry.priority, where)
    _encode_action(table, entry, where, message)
    return message


def encode_default(info: ProgramInfo, entry: TableEntry) -> Any:
    """Return a table's default entry as it is read: without an action where the table has none for a miss.

    `encode_entry` makes the request that changes it, and therefore refuses where the program forbids a change.
    """
    table = info.tables.find(entry.table)
    message = p4runtime_pb2.TableEntry(table_id=table.id, is_default_action=True)
    if entry.action:
        use = next(use for use in table.actions if use.action.name == entry.action)
        _encode_params(use.action, entry, f"table {table.name}", message)
    return message


def _encode_match(table: Table, match: Mapping[str, int | tuple[int, int]], where: str, message: Any) -> None:
    known = {key.name for key in table.keys}
    for name in match:
        if name not in known:
            raise InputError(where, f"the key {name!r}", f"one of {', '.join(sorted(known)) or 'no keys at all'}")
    for key in table.keys:
        value = match.get(key.name)
        at = f"{where}, key {key.name}"
        if value is None:
            if key.kind == "exact":
                raise InputError(at, "no value", f"a value of {key.width} bits, for an exact key can't be left out")
            continue
        _encode_key(key, value, at, message)


def _encode_key(key: Key, value: int | tuple[int, int], at: str, message: Any) -> None:
    """Append one match field, or nothing where it is don't-care."""
    if key.kind in ("exact", "optional"):
        if not isinstance(value, int):
            raise InputError(at, f"the pair {value}", f"one number, for the key is {key.kind}")
        field = message.match.add(field_id=key.id)
        getattr(field, key.kind).value = pack(_fits(value, key.width, at))
        return
    if isinstance(value, int):
        pair = {"lpm": "(value, prefix length)", "ternary": "(value, mask)", "range": "(low, high)"}[key.kind]
        raise InputError(at, f"the number {value:#x}", f"a pair {pair}, for the key is {key.kind}")
    first, second = value
    _fits(first, key.width, at)
    if key.kind == "lpm":
        if not 0 <= second <= key.width:
            raise InputError(f"{at}, prefix length", str(second), f"0 to {key.width}")
        if second:
            host_bits = key.width - second
            field = message.match.add(field_id=key.id)
            field.lpm.value = pack(first >> host_bits << host_bits)
            field.lpm.prefix_len = second
    elif key.kind == "ternary":
        _fits(second, key.width, f"{at}, mask")
        if second:
            field = message.match.add(field_id=key.id)
            field.ternary.value = pack(first & second)
            field.ternary.mask = pack(second)
    else:
        _fits(second, key.width, f"{at}, high end")
        if first > second:
            raise InputError(at, f"the range {first:#x} to {second:#x}", "a low end that is not above the high end")
        if (first, second) != (0, (1 << key.width) - 1):
            field = message.match.add(field_id=key.id)
            field.range.low = pack(first)
            field.range.high = pack(second)


def _encode_action(table: Table, entry: TableEntry, where: str, message: Any) -> None:
    uses = [use for use in table.actions if use.action.name == entry.action] or [
        use for use in table.actions if use.action.name.endswith("." + entry.action)
    ]
    if len(uses) != 1:
        raise InputError(
            where,
            f"the action {entry.action!r}",
            f"one of {', '.join(use.action.name for use in table.actions) or 'no actions at all'}",
        )
    use = uses[0]
    if entry.default and table.const_default:
        raise InputError(where, "a default action", "none: the program fixes it (const default_action)")
    if entry.default and not use.as_default:
        raise InputError(where, f"the action {use.action.name} as default", "an action that may be the default")
    if not entry.default and not use.in_entries:
        raise InputError(where, f"the action {use.action.name} in an entry", "an action for entries")
    _encode_params(use.action, entry, where, message)


def _encode_params(chosen: Action, entry: TableEntry, where: str, message: Any) -> None:
    at = f"{where}, action {chosen.name}"
    names = [param.name for param in chosen.params]
    if sorted(entry.params) != sorted(names):
        raise InputError(
            at, f"parameters {', '.join(sorted(entry.params)) or 'none'}", f"{', '.join(names) or 'no parameters'}"
        )
    # Also for an action without parameters the message must be there.
    action = message.action.action
    action.action_id = chosen.id
    for param in chosen.params:
        value = _fits(entry.params[param.name], param.width, f"{at}, parameter {param.name}")
        action.params.add(param_id=param.id, value=pack(value))


def _fits(value: int, width: int, at: str) -> int:
    if value < 0 or value.bit_length() > width:
        raise InputError(at, f"{value:#x}", f"a value of {width} bits")
    return value


def _checked_priority(table: Table, priority: int, where: str) -> int:
    # bugs.md P20: BMv2 of one age took priority 0 and never matched the entry, of another refuses it.
    if table.needs_priority and not 0 < priority <= MAX_PRIORITY:
        raise InputError(
            f"{where}, priority",
            str(priority),
            f"1 to {MAX_PRIORITY} (larger wins), for the table has a ternary, range or optional key",
        )
    if not table.needs_priority and priority:
        raise InputError(f"{where}, priority", str(priority), "0, for all keys of the table are exact or LPM")
    return priority


# --- from messages to names -------------------------------------------------------------------------------------------


def decode_entry(info: ProgramInfo, message: Any, strict: bool = True) -> TableEntry:
    """Return a p4.v1.TableEntry as names and numbers; Refused says what a P4Runtime server would answer.

    Not `strict`, for what a switch answers, don't-care may be spelled out and bits under a mask set: BMv2 itself reads
    back a range of all values where it would refuse to take one.
    """
    table = info.tables.by_id.get(message.table_id)
    if table is None:
        raise invalid(f"no table has the id {message.table_id:#x}")
    match, priority = decode_match(table, message, strict)
    if message.action.WhichOneof("type") != "action":
        raise invalid(f"table {table.name}: the entry has no direct action")
    action, params = decode_action(info, table, message.action.action, message.is_default_action)
    return TableEntry(table.name, action.name, match, params, priority, message.is_default_action)


def decode_default(info: ProgramInfo, message: Any) -> TableEntry:
    """Return a default entry as it was read; its action is "" where a miss runs none. Refused when malformed."""
    table = info.tables.by_id.get(message.table_id)
    if table is None:
        raise invalid(f"no table has the id {message.table_id:#x}")
    if not message.HasField("action"):
        return TableEntry(table.name, "", default=True)
    return decode_entry(info, message, strict=False)


def decode_match(table: Table, message: Any, strict: bool = True) -> tuple[Match, int]:
    """Return match and priority of a p4.v1.TableEntry of `table`, don't-care keys left out; Refused when malformed."""
    if message.is_default_action:
        if message.match or message.priority:
            raise invalid(f"table {table.name}: a default entry has neither match nor priority")
        return {}, 0
    fields = {field.field_id: field for field in message.match}
    if len(fields) != len(message.match):
        raise invalid(f"table {table.name}: a match field is given twice")
    match: Match = {}
    for key in table.keys:
        field = fields.pop(key.id, None)
        at = f"table {table.name}, key {key.name}"
        if field is not None:
            value = _decode_key(key, field, at, strict)
            if value is not None:
                match[key.name] = value
        elif key.kind == "exact":
            raise invalid(f"{at}: an exact key can't be left out")
    if fields:
        raise invalid(f"table {table.name}: no key has the id {min(fields)}")
    if table.needs_priority and message.priority <= 0:
        raise invalid(f"table {table.name}: priority {message.priority}, with a ternary, range or optional key")
    if not table.needs_priority and message.priority:
        raise invalid(f"table {table.name}: priority {message.priority}, where all keys are exact or LPM")
    return match, message.priority


def _decode_key(key: Key, field: Any, at: str, strict: bool) -> int | tuple[int, int] | None:
    """Return the value of a match field, or None for don't-care spelled out, which `strict` refuses."""
    if field.WhichOneof("field_match_type") != key.kind:
        raise invalid(f"{at}: the match field is not {key.kind}")
    if key.kind in ("exact", "optional"):
        return unpack(getattr(field, key.kind).value, key.width, at)
    full = (1 << key.width) - 1
    if key.kind == "range":
        low, high = unpack(field.range.low, key.width, at), unpack(field.range.high, key.width, at)
        if low > high:
            raise invalid(f"{at}: the low end is above the high end")
        dont_care, stray, pair = (low, high) == (0, full), False, (low, high)
    elif key.kind == "lpm":
        value, length = unpack(field.lpm.value, key.width, at), field.lpm.prefix_len
        if not 0 <= length <= key.width:
            raise invalid(f"{at}: prefix length {length}; the key has {key.width} bits")
        mask = full >> (key.width - length) << (key.width - length)
        dont_care, stray, pair = length == 0, bool(value & ~mask), (value & mask, length)
    else:
        value, mask = unpack(field.ternary.value, key.width, at), unpack(field.ternary.mask, key.width, at)
        dont_care, stray, pair = mask == 0, bool(value & ~mask), (value & mask, mask)
    if strict and dont_care:
        raise invalid(f"{at}: don't-care is left out, not spelled out")
    if strict and stray:
        raise invalid(f"{at}: bits are set where the mask or prefix does not look")
    return None if dont_care else pair


def decode_action(info: ProgramInfo, table: Table, message: Any, default: bool) -> tuple[Action, dict[str, int]]:
    """Return a p4.v1.Action as an action that `table` may use and its parameters; Refused when it may not."""
    if message.action_id not in info.actions.by_id:
        raise invalid(f"table {table.name}: no action has the id {message.action_id:#x}")
    use = next((use for use in table.actions if use.action.id == message.action_id), None)
    if use is None:
        raise invalid(f"table {table.name}: the table does not use the action of id {message.action_id:#x}")
    if default and not use.as_default:
        raise Refused(code_pb2.PERMISSION_DENIED, f"table {table.name}: {use.action.name} can't be the default action")
    if not default and not use.in_entries:
        raise Refused(code_pb2.PERMISSION_DENIED, f"table {table.name}: {use.action.name} is for the default alone")
    return use.action, _decode_params(use.action, message)


def _decode_params(action: Action, message: Any) -> dict[str, int]:
    given = {param.param_id: param.value for param in message.params}
    known: dict[int, Bits] = {param.id: param for param in action.params}
    if len(given) != len(message.params) or given.keys() != known.keys():
        raise invalid(f"action {action.name}: the parameters are not those of the action, each once")
    return {
        param.name: unpack(given[param.id], param.width, f"action {action.name}, parameter {param.name}")
        for param in action.params
    }


def normal_form(info: ProgramInfo, entry: TableEntry) -> TableEntry:
    """Return `entry` as it reads back from a switch: full names, don't-care keys gone, masked bits cleared."""
    return decode_entry(info, encode_entry(info, entry))
