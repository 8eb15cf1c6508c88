"""The control plane of a switch: intended table entries become installed ones, which is checked by reading back.

The same code programs BMv2 and the embedded switch, over P4Runtime. Entries have one JSON form (`docs/interfaces.md`):
``{"switch", "table", "match", "action", "params", "priority"}``, every number in hex, a pair (LPM, ternary, range) as a
list of two; ``"default": true`` marks a default entry.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from pymodel.base.errors import InputError
from pymodel.paths.tables import port_entries
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.normal import normal_form
from pymodel.switch.target import Count, TableEntry
from pymodel.wire.spec import SWITCH_PORT_BITS

__all__ = ["MAX_FRAME_BYTES", "PORTS", "ControlPlane", "ControlledSwitch", "entry_from_json", "entry_to_json"]

PORTS = (1 << SWITCH_PORT_BITS) - 1
"""Ports that frames can use, the controller's among them; one number more is where v1model sends what is dropped."""

MAX_FRAME_BYTES = 65_535
"""No longer frame enters a switch: gRPC would refuse it at some size, and no link carries it."""

_Identity = tuple[Any, ...]


class ControlledSwitch:
    """What the switch targets have in common: they start, connect a control plane, and stop in the reverse order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._resources = contextlib.ExitStack()
        self._control: ControlPlane | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as starting:
            self._control = ControlPlane(starting.enter_context(self._start(starting)))
            self._resources = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    @property
    def control(self) -> ControlPlane:
        """The control plane that programs this switch."""
        assert self._control is not None, "the switch is not running"
        return self._control

    @property
    def address(self) -> str:
        """Where another P4Runtime client can connect, device id 1."""
        return self.control.client.address

    def _start(self, starting: contextlib.ExitStack) -> Client:
        """Start the switch, with what must be stopped entered into `starting`, and connect to it."""
        raise NotImplementedError

    @staticmethod
    def checked_frame(where: str, port: int, data: bytes) -> bool:
        """Whether a frame enters: one that is empty or too long is lost at the port. InputError for an unknown port."""
        if not 0 <= port < PORTS:
            raise InputError(where, f"port {port}", f"0 to {PORTS - 1}")
        return 0 < len(data) <= MAX_FRAME_BYTES


class ControlPlane:
    """Programs one switch through its P4Runtime session `client`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def write(self, entries: Iterable[TableEntry]) -> None:
        """Insert `entries` and read them back; InputError when one is wrong, refused or not as written. All or none."""
        wanted = list(entries)
        self.client.insert(wanted)
        self.check(wanted)

    def put(self, entries: Iterable[TableEntry]) -> None:
        """Install `entries`, over those of the same match that are there."""
        wanted = {_identity(entry): entry for entry in map(self._normal, entries)}
        present = {_identity(entry) for table in _tables(wanted.values()) for entry in self.client.read_table(table)}
        self.client.modify(entry for identity, entry in wanted.items() if identity in present)
        self.client.insert(entry for identity, entry in wanted.items() if identity not in present)

    def set_port(self, port: int, up: bool) -> None:
        """Set the state of `port` in the program's port tables."""
        self.put(port_entries(port, up))

    def program(self, entries: Iterable[TableEntry]) -> None:
        """Make `entries` all that the tables hold, with the fewest changes, and read them back.

        Constant tables and default actions that `entries` does not name stay as they are.
        """
        wanted = {_identity(entry): entry for entry in map(self._normal, entries)}
        present = {_identity(entry): entry for entry in self.client.read_tables()}
        self.client.delete(entry for identity, entry in present.items() if identity not in wanted)
        self.client.modify(
            entry for identity, entry in wanted.items() if identity in present and entry != present[identity]
        )
        self.client.insert(entry for identity, entry in wanted.items() if identity not in present)
        self.check(wanted.values())

    def check(self, entries: Iterable[TableEntry]) -> None:
        """Read the tables of `entries` and compare; InputError names the first entry that is missing or different.

        Both sides are compared as numbers: a switch may answer shorter byte strings than were sent (bug-review.md P22).
        """
        wanted = [self._normal(entry) for entry in entries]
        present = {_identity(entry): entry for table in _tables(wanted) for entry in self.client.read_table(table)}
        for entry in wanted:
            found = self.client.read_default(entry.table) if entry.default else present.get(_identity(entry))
            if found != entry:
                where = f"P4Runtime at {self.client.address}, read back"
                raise InputError(where, _shown(found) if found else "no entry", _shown(entry))

    def counters(self) -> dict[str, Count]:
        """Every non-zero cell of the program's counters: ``name`` for a counter of one cell, else ``name[index]``."""
        found = {}
        for counter in self.client.info.counters:
            for index, count in enumerate(self.client.read_counter(counter.name)):
                if count.packets or count.bytes:
                    found[counter.name if counter.size == 1 else f"{counter.name}[{index}]"] = count
        return found

    def _normal(self, entry: TableEntry) -> TableEntry:
        return normal_form(self.client.info, entry)


def _identity(entry: TableEntry) -> _Identity:
    """Return what tells an entry from others (P4Runtime 9.1): table, match and priority."""
    return (entry.table, entry.default, entry.priority, *sorted(entry.match.items()))


def _tables(entries: Iterable[TableEntry]) -> list[str]:
    """Return the tables of entries that are not defaults, each once, in order."""
    return list(dict.fromkeys(entry.table for entry in entries if not entry.default))


def _shown(entry: TableEntry) -> str:
    return str({key: value for key, value in entry_to_json("", entry).items() if value and key != "switch"})


# --- JSON -------------------------------------------------------------------------------------------------------------


def entry_to_json(switch: str, entry: TableEntry) -> dict[str, Any]:
    """Return the JSON form of an entry of `switch`."""

    def hexadecimal(value: int | tuple[int, int]) -> str | list[str]:
        return hex(value) if isinstance(value, int) else [hex(part) for part in value]

    form: dict[str, Any] = {
        "switch": switch,
        "table": entry.table,
        "match": {name: hexadecimal(value) for name, value in entry.match.items()},
        "action": entry.action,
        "params": {name: hex(value) for name, value in entry.params.items()},
        "priority": hex(entry.priority),
    }
    return form | ({"default": True} if entry.default else {})


def entry_from_json(form: Any, where: str = "table entry") -> tuple[str, TableEntry]:
    """Return switch and entry of a JSON form; InputError names `where` and the key that is wrong."""
    if not isinstance(form, dict):
        raise InputError(where, repr(form), "a JSON object")
    known = {"switch", "table", "match", "action", "params", "priority", "default"}
    for key in form.keys() - known:
        raise InputError(where, f"the key {key!r}", f"one of {', '.join(sorted(known))}")
    for key in ("switch", "table", "action"):
        if not isinstance(form.get(key), str):
            raise InputError(f"{where}: {key}", repr(form.get(key)), "a name")
    default = form.get("default", False)
    if not isinstance(default, bool):
        raise InputError(f"{where}: default", repr(default), "true or false")
    entry = TableEntry(
        form["table"],
        form["action"],
        dict(_match_from_json(_object(form, "match", where), f"{where}: match")),
        {name: _number(value, f"{where}: params.{name}") for name, value in _object(form, "params", where).items()},
        _number(form.get("priority", "0x0"), f"{where}: priority"),
        default,
    )
    return form["switch"], entry


def _match_from_json(match: Mapping[str, Any], where: str) -> Iterator[tuple[str, int | tuple[int, int]]]:
    for name, value in match.items():
        if not isinstance(value, list):
            yield name, _number(value, f"{where}.{name}")
        elif len(value) == 2:
            first, second = (_number(part, f"{where}.{name}") for part in value)
            yield name, (first, second)
        else:
            raise InputError(f"{where}.{name}", f"{len(value)} numbers", "one, or a pair")


def _object(form: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = form.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key}", repr(value), "a JSON object")
    return value


def _number(value: Any, where: str) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]+", value):
        raise InputError(where, repr(value), 'a number in hex, such as "0x2a"')
    return int(value, 16)
