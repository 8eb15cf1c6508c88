"""Table entries between our names and integers and P4Runtime's ids and byte strings.

One canonical form in both directions (P4Runtime 1.4, sections 8.3 and 9.1): the shortest byte string for a number, no
match field at all for don't-care. `encode_entry` makes it of an entry that `normal` has checked; `decode_entry` takes a
message apart and refuses what is not canonical, as BMv2 does, with a status code.
"""

from __future__ import annotations

from typing import Any

from pymodel.switch.p4runtime.info import Action, Bits, Key, ProgramInfo, Table
from pymodel.switch.p4runtime.normal import Match, normal_form
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.target import TableEntry

__all__ = [
    "Refused",
    "decode_action",
    "decode_default",
    "decode_entry",
    "decode_match",
    "encode_entry",
    "fill_entry",
    "fill_match",
    "invalid",
    "pack",
    "unpack",
]


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
    message = p4runtime_pb2.TableEntry()
    fill_entry(info, normal_form(info, entry), message)
    return message


def fill_entry(info: ProgramInfo, entry: TableEntry, message: Any) -> None:
    """Write an entry that is in its normal form into an empty p4.v1.TableEntry. Without an action none is written."""
    fill_match(info, entry, message)
    if entry.action:
        chosen = info.actions.find(entry.action)
        # Also for an action without parameters the message must be there.
        action = message.action.action
        action.action_id = chosen.id
        for param in chosen.params:
            action.params.add(param_id=param.id, value=pack(entry.params[param.name]))


def fill_match(info: ProgramInfo, entry: TableEntry, message: Any) -> None:
    """Write into an empty p4.v1.TableEntry what tells an entry from others: its table, match and priority."""
    table = info.tables.find(entry.table)
    message.table_id = table.id
    message.is_default_action = entry.default
    message.priority = entry.priority
    for key in table.keys:
        value = entry.match.get(key.name)
        if value is None:
            continue
        field = message.match.add(field_id=key.id)
        if isinstance(value, int):
            getattr(field, key.kind).value = pack(value)
        elif key.kind == "lpm":
            field.lpm.value = pack(value[0])
            field.lpm.prefix_len = value[1]
        elif key.kind == "ternary":
            field.ternary.value = pack(value[0])
            field.ternary.mask = pack(value[1])
        else:
            field.range.low = pack(value[0])
            field.range.high = pack(value[1])


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
