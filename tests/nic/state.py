"""What a device is at a moment: a value that says all its future depends on, and a copy to go on from.

Both walk whatever objects a device is made of, so neither has to know how: a field that the model gains is part of
both from then on.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Any

EPOCH_PS = 10**17
"""Where time begins in a world whose states are compared: every integer from here on is a time."""
_TIME_END = 10**18

Canon = Callable[[Any, Any], Hashable]
"""From an object and the value of one of its fields to what the future depends on."""


def canonical(root: object, *, now_ps: int = 0, fixed: Iterable[object] = (), canon: dict[str, Canon] | None = None):
    """`root` as a value that compares: equal values behave alike.

    Times count from `now_ps`; a `Counter` is for reports and left out. `fixed` are objects that never change, compared
    by which they are. `canon` names fields, "Class.field", that are not to be taken as they stand.
    """
    names = {id(each): number for number, each in enumerate(fixed)}
    rules = canon or {}
    met: dict[int, int] = {}

    def walk(value: Any) -> Hashable:
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is int:
            return value if value < EPOCH_PS or value >= _TIME_END else ("at", value - now_ps)
        number = id(value)
        if number in names:
            return ("fixed", names[number])
        if isinstance(value, (Enum, type)):
            return value
        if kind is tuple or kind is frozenset:
            return kind(map(walk, value))
        if kind is bytearray:
            return bytes(value)
        if kind is Counter:
            return "statistics"
        if number in met:
            return ("met", met[number])
        met[number] = len(met)
        if kind is list or kind is deque:
            return (kind.__name__, *map(walk, value))
        if kind is set:
            return frozenset(map(walk, value))
        if isinstance(value, dict):
            return (kind.__name__, *map(walk, value), *map(walk, value.values()))
        parts: list[Hashable] = [kind.__qualname__]
        for name in fields_of(value):
            each = getattr(value, name, None)
            if type(each) in _ATOMS:
                parts.append(each)
                continue
            rule = rules.get(f"{kind.__name__}.{name}") if rules else None
            parts.append(walk(each) if rule is None else rule(value, each))
        return tuple(parts)

    return walk(root)


_ATOMS = frozenset({type(None), bool, str, bytes, float})
_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_SLOTS: dict[type, tuple[str, ...]] = {}


def fields_of(value: object) -> Iterable[str]:
    """Names of the attributes that an object holds, slots first."""
    kind = type(value)
    slots = _SLOTS.get(kind)
    if slots is None:
        assert kind.__flags__ & _MADE_IN_PYTHON, f"{kind} may have state that nobody here can see"
        slots = _SLOTS[kind] = tuple(
            name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ()) if name != "__weakref__"
        )
    return (*slots, *getattr(value, "__dict__", ()))


def reached(root: object, fixed: Iterable[object] = ()) -> list[object]:
    """Every object with fields that can be reached from `root`, itself included, but not through `fixed` ones."""
    found: list[object] = []
    met = {id(each): each for each in fixed}
    heap = [root]
    while heap:
        value = heap.pop()
        if id(value) in met or value is None or isinstance(value, (int, str, bytes, bytearray, float, Enum, type)):
            continue
        met[id(value)] = value
        if isinstance(value, dict):
            heap += [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            heap += value
        else:
            found.append(value)
            heap += [getattr(value, name, None) for name in fields_of(value)]
    return found


class Shelf:
    """Packs objects into bytes and back. `fixed` objects, which never change, are left out and shared by all."""

    def __init__(self, fixed: Iterable[object]) -> None:
        self.fixed = list(fixed)
        names = {id(each): number for number, each in enumerate(self.fixed)}
        shelf = self.fixed

        class Pickler(pickle.Pickler):
            def persistent_id(self, each: object) -> int | None:
                return names.get(id(each))

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, name: int) -> object:
                return shelf[name]

        self._pickler, self._unpickler = Pickler, Unpickler

    def pack(self, value: object) -> bytes:
        buffer = io.BytesIO()
        self._pickler(buffer, protocol=5).dump(value)
        return buffer.getvalue()

    def unpack(self, data: bytes) -> Any:
        return self._unpickler(io.BytesIO(data)).load()
