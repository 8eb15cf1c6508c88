"""What a person or the topology says of a table entry, checked against the P4Info and brought into its normal form.

The normal form has full names, no key that is don't-care, no bit set where a mask or prefix does not look, and a
priority exactly where the table's keys ask for one. It is what a switch reads back, so two entries are the same exactly
if their normal forms are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.info import Action, Key, ProgramInfo, Table
from pymodel.switch.target import TableEntry

__all__ = ["MAX_PRIORITY", "Match", "normal_form"]

MAX_PRIORITY = 2**31 - 1
"""P4Runtime carries a priority as a signed 32-bit integer."""

Match = dict[str, int | tuple[int, int]]

_PAIRS = {"lpm": "(value, prefix length)", "ternary": "(value, mask)", "range": "(low, high)"}


def normal_form(info: ProgramInfo, entry: TableEntry) -> TableEntry:
    """Return `entry` in its normal form; InputError names the table, the key or parameter, and what is wrong."""
    table = info.tables.find(entry.table)
    where = f"table {table.name}"
    if table.action_profile:
        raise InputError(where, "an entry with an action of its own", "a table without an action profile")
    match: Match = {}
    if entry.default:
        if entry.match or entry.priority:
            raise InputError(where, "a default entry with a match or priority", "neither on a default entry")
    else:
        match = _normal_match(table, entry.match, where)
        _check_priority(table, entry.priority, where)
    action = _chosen_action(table, entry, where)
    return TableEntry(
        table.name, action.name, match, _checked_params(action, entry.params, where), entry.priority, entry.default
    )


def _normal_match(table: Table, match: Mapping[str, int | tuple[int, int]], where: str) -> Match:
    names = [key.name for key in table.keys]
    for name in match:
        if name not in names:
            raise InputError(where, f"the key {name!r}", f"one of {', '.join(names) or 'no keys at all'}")
    normal: Match = {}
    for key in table.keys:
        if key.name in match:
            value = _normal_key(key, match[key.name], f"{where}, key {key.name}")
            if value is not None:
                normal[key.name] = value
        elif key.kind == "exact":
            expected = f"a value of {key.width} bits, for an exact key can't be left out"
            raise InputError(f"{where}, key {key.name}", "no value", expected)
    return normal


def _normal_key(key: Key, value: int | tuple[int, int], at: str) -> int | tuple[int, int] | None:
    """Return a key's value in its normal form, None for don't-care."""
    if key.kind in ("exact", "optional"):
        if not isinstance(value, int):
            raise InputError(at, f"the pair {value}", f"one number, for the key is {key.kind}")
        return _fits(value, key.width, at)
    if isinstance(value, int):
        raise InputError(at, f"the number {value:#x}", f"a pair {_PAIRS[key.kind]}, for the key is {key.kind}")
    first, second = _fits(value[0], key.width, at), value[1]
    if key.kind == "lpm":
        if not 0 <= second <= key.width:
            raise InputError(f"{at}, prefix length", str(second), f"0 to {key.width}")
        unseen = key.width - second
        return (first >> unseen << unseen, second) if second else None
    if key.kind == "ternary":
        _fits(second, key.width, f"{at}, mask")
        return (first & second, second) if second else None
    _fits(second, key.width, f"{at}, high end")
    if first > second:
        raise InputError(at, f"the range {first:#x} to {second:#x}", "a low end that is not above the high end")
    return None if (first, second) == (0, (1 << key.width) - 1) else (first, second)


def _chosen_action(table: Table, entry: TableEntry, where: str) -> Action:
    uses = [use for use in table.actions if use.action.name == entry.action] or [
        use for use in table.actions if use.action.name.endswith("." + entry.action)
    ]
    if len(uses) != 1:
        names = ", ".join(use.action.name for use in table.actions)
        raise InputError(where, f"the action {entry.action!r}", f"one of {names or 'no actions at all'}")
    (use,) = uses
    if entry.default and table.const_default:
        raise InputError(where, "a default action", "none: the program fixes it (const default_action)")
    if entry.default and not use.as_default:
        raise InputError(where, f"the action {use.action.name} as default", "an action that may be the default")
    if not entry.default and not use.in_entries:
        raise InputError(where, f"the action {use.action.name} in an entry", "an action for entries")
    return use.action


def _checked_params(action: Action, params: Mapping[str, int], where: str) -> dict[str, int]:
    names = [param.name for param in action.params]
    if params.keys() != set(names):
        found = f"parameters {', '.join(sorted(params)) or 'none'}"
        raise InputError(f"{where}, action {action.name}", found, f"{', '.join(names) or 'no parameters'}")
    return {
        param.name: _fits(params[param.name], param.width, f"{where}, action {action.name}, parameter {param.name}")
        for param in action.params
    }


def _fits(value: int, width: int, at: str) -> int:
    if value < 0 or value.bit_length() > width:
        raise InputError(at, f"{value:#x}", f"a value of {width} bits")
    return value


def _check_priority(table: Table, priority: int, where: str) -> None:
    # bug-review.md P20: BMv2 of one age took priority 0 and never matched the entry, of another refuses it.
    if table.needs_priority and not 0 < priority <= MAX_PRIORITY:
        expected = f"1 to {MAX_PRIORITY} (larger wins), for the table has a ternary, range or optional key"
        raise InputError(f"{where}, priority", str(priority), expected)
    if not table.needs_priority and priority:
        raise InputError(f"{where}, priority", str(priority), "0, for all keys of the table are exact or LPM")
