"""Emits `p4/include/mrc_headers.p4`: header types and constants of the wire for P4-16 programs."""

from __future__ import annotations

from pymodel.wire import spec
from pymodel.wire.emit.constants import GROUPS, Constant

__all__ = ["p4"]

_HEAD = """\
// Header types and constants of the MRC wire.
// Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.

#ifndef MRC_HEADERS_P4
#define MRC_HEADERS_P4
"""


def _constant(constant: Constant) -> str:
    value = f"0x{constant.text()}" if constant.style == "x" else constant.text()
    note = f"  // {constant.note}" if constant.note else ""
    # No program uses every constant, and p4c takes warnings as errors where the project asks it to.
    return f'@noWarn("unused") const bit<{constant.bits}> {constant.name} = {value};{note}'


def _header(header: spec.Header) -> str:
    lines = [f"// {header.title}, {header.size} bytes ({header.source}).", f"header {header.name.lower()}_t {{"]
    for field in header.fields:
        note = f"  // {field.note}" if field.note else ""
        lines.append(f"    bit<{field.bits}> {field.name};{note}")
    return "\n".join([*lines, "}"])


def p4() -> str:
    """The text of `mrc_headers.p4`."""
    groups = ["\n".join([f"// {group.title}", *map(_constant, group.constants)]) for group in GROUPS]
    headers = [_header(header) for header in spec.HEADERS]
    return "\n\n".join([_HEAD.rstrip(), *groups, *headers, "#endif  // MRC_HEADERS_P4"]) + "\n"
