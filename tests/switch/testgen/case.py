"""P4Testgen's tests in the form that p4c calls STF: table entries, a packet, the packet that is expected, if any.

    add "TABLE" [PRIORITY] "KEY":VALUE ... "ACTION"("PARAM":VALUE,...)
    packet PORT HEX
    expect PORT HEX$

A `*` is a nibble (in a key, a bit) that does not matter. STF cannot say that a meter is used up, as P4Testgen
assumes in some tests; its traces, otherwise left out, show which these are, and ``meter red`` is added here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.switch.target import TableEntry

__all__ = ["Case", "Expected", "case_of", "cases_of", "stripped"]

_ADD = re.compile(r'add "(?P<table>[^"]+)" (?:\d+ )?(?P<match>.*) "(?P<action>[^"]+)"\((?P<params>.*)\)')
_METER_RED = "[MethodCall]: drop_punt_limit.count(0);"
_VALUE = re.compile(r'"([^"]+)":(0x[0-9A-Fa-f]+|0b[01*]+)')


@dataclass(frozen=True, slots=True)
class Expected:
    """A frame that comes out of `port`; only the bits of `mask` matter."""

    port: int
    frame: bytes
    mask: bytes


@dataclass(frozen=True, slots=True)
class Case:
    """One test: with `entries`, the frame on `port` gives `expected`, or nothing where that is None.

    `red` says that the meter of packets for the controller lets nothing pass. `text` is the whole, to be read again.
    """

    name: str
    entries: tuple[TableEntry, ...]
    port: int
    frame: bytes
    expected: Expected | None
    red: bool
    text: str


def stripped(text: str) -> str:
    """A test as P4Testgen wrote it, without traces and blank lines."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return "".join(f"{line}\n" for line in [*lines, *(["meter red"] if _METER_RED in text else [])])


def cases_of(text: str) -> Iterator[Case]:
    """The tests of several files in one, each headed by ``# NAME``."""
    for part in text.split("# ")[1:]:
        name, body = part.split("\n", 1)
        yield case_of(name, body)


def case_of(name: str, text: str) -> Case:
    """Read one test, stripped; InputError when it has a line that is not understood."""
    entries, sent, expected, red = [], None, None, False
    for line in text.splitlines():
        word, rest = line.split(" ", 1)
        if word == "add":
            entries.append(_entry(name, line))
        elif word == "packet" and sent is None:
            port, digits = rest.split(" ")
            sent = int(port), bytes.fromhex(digits)
        elif word == "expect" and expected is None and rest.endswith("$"):
            port, digits = rest[:-1].split(" ")
            mask = re.sub("[^*]", "F", digits).replace("*", "0")
            expected = Expected(int(port), bytes.fromhex(digits.replace("*", "0")), bytes.fromhex(mask))
        elif line == "meter red":
            red = True
        else:
            raise InputError(f"P4Testgen's test {name}", line, "add, one packet, and at most one exact expect")
    if sent is None:
        raise InputError(f"P4Testgen's test {name}", "no packet", "one")
    return Case(name, tuple(entries), *sent, expected, red, text)


def _entry(name: str, line: str) -> TableEntry:
    parts = _ADD.fullmatch(line)
    if parts is None:
        raise InputError(f"P4Testgen's test {name}", line, 'add "TABLE" "KEY":VALUE "ACTION"(...)')
    match = {key: _key(value) for key, value in _VALUE.findall(parts["match"])}
    params = {param: int(value, 16) for param, value in _VALUE.findall(parts["params"])}
    return TableEntry(parts["table"], parts["action"], match, params)


def _key(value: str) -> int | tuple[int, int]:
    """An exact key in hex; the bits of a prefix in binary."""
    if value.startswith("0x"):
        return int(value, 16)
    bits = value[2:]
    fixed = bits.rstrip("*")
    return int(bits.replace("*", "0"), 2), len(fixed)
