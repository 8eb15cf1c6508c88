"""Emits `rtl_models/common/mrc_pkg.sv`: packed structs, enumerations and constants of the wire for RTL."""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.wire import spec
from pymodel.wire.emit.constants import GROUPS, Constant, Group

__all__ = ["systemverilog"]

_HEAD = """\
// Packed structs, enumerations and constants of the MRC wire.
// Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
//
// The first member of a struct holds the first bits on the wire: a header that arrives most significant byte first is
// assigned as it is.

// No design uses every constant of a package, and constants are written in capitals.

`default_nettype none
// verilator lint_off UNUSEDPARAM
// verilog_lint: waive-start parameter-name-style

package mrc_pkg;
"""
_TAIL = """\
endpackage
// verilog_lint: waive-stop parameter-name-style
// verilator lint_on UNUSEDPARAM
`default_nettype wire
"""
_LINE_LENGTH = 100

_WIDTHS = (
    ("PSN_W", spec.PSN_BITS),
    ("MSN_W", spec.MSN_BITS),
    ("QPN_W", spec.QPN_BITS),
    ("EV_W", spec.EV_BITS),
    ("EV_HALF_W", spec.EV_HALF_BITS),
    ("SACK_BITMAP_W", spec.SACK_BITMAP_BITS),
    ("TIMESTAMP_W", spec.TIMESTAMP_BITS),
    ("RCVD_BYTES_W", spec.RCVD_BYTES_BITS),
    ("R_KEY_TAG_W", spec.R_KEY_TAG_BITS),
    ("USID_W", spec.USID_BITS),
    ("USID_PLANE_W", spec.USID_PLANE_BITS),
    ("USID_INDEX_W", spec.USID_INDEX_BITS),
    ("USID_UPLINK_W", spec.USID_UPLINK_BITS),  # low bits of a T1's index, from the EV
)


def _literal(constant: Constant) -> str:
    return f"{constant.bits}'{'h' if constant.style == 'x' else 'd'}{constant.text()}"


def _range(bits: int) -> str:
    return "" if bits == 1 else f"[{bits - 1}:0] "


def _line(code: str, note: str) -> str:
    """A line with its note behind it, or above it where the line would grow too long."""
    indent = " " * (len(code) - len(code.lstrip()))
    whole = f"{code}  // {note}" if note else code
    return whole if len(whole) <= _LINE_LENGTH else f"{indent}// {note}\n{code}"


def _columns(rows: Sequence[tuple[str, ...]], gap: str = " ") -> list[str]:
    """Rows of cells set in columns, as Verible's formatter sets them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [gap.join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _group(group: Group) -> str:
    lines = [f"  // {group.title}"]
    if group.enum:
        lines.append(f"  typedef enum logic {_range(group.constants[0].bits)}{{")
        last = group.constants[-1]
        rows = [(each.name, f"= {_literal(each)}{'' if each is last else ','}") for each in group.constants]
        lines += [f"    {row}" for row in _columns(rows)]
        lines.append(f"  }} {group.enum}_e;")
    else:
        for constant in group.constants:
            kind = "int unsigned" if constant.bits == 32 and constant.style == "d" else f"logic {_range(constant.bits)}"
            value = constant.text() if kind == "int unsigned" else _literal(constant)
            lines.append(_line(f"  localparam {kind.rstrip()} {constant.name} = {value};", constant.note))
    return "\n".join(lines)


def _header(header: spec.Header) -> str:
    title = f"  // {header.title}, {header.size} bytes ({header.source})."
    name = f"{header.name.lower()}_t"
    members = []
    for field in header.fields:
        kind = "logic signed" if field.signed else "logic"
        members.append((f"{kind} {_range(field.bits)}".rstrip(), f"{field.name};"))
    if len(members) == 1:
        return f"{title}\n  typedef struct packed {{{' '.join(members[0])}}} {name};"
    notes = [f"// {field.note}" if field.note else "" for field in header.fields]
    lines = _columns(list(zip(_columns(members), notes, strict=True)), gap="  ")
    return "\n".join([title, "  typedef struct packed {", *(f"    {line}" for line in lines), f"  }} {name};"])


def systemverilog() -> str:
    """The text of `mrc_pkg.sv`."""
    widths = "\n".join(
        ["  // Widths in bits", *(f"  localparam int unsigned {name} = {bits};" for name, bits in _WIDTHS)]
    )
    body = [widths, *map(_group, GROUPS), *map(_header, spec.HEADERS)]
    return "\n\n".join([_HEAD.rstrip(), *body, _TAIL])
