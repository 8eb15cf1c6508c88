"""Emits `docs/wire.md`: every header with a bit ruler, every code point, option and rule, with sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from enum import Enum

from pymodel.wire import spec
from pymodel.wire.emit.constants import GROUPS
from pymodel.wire.parser import ParseCause

__all__ = ["markdown"]

_HEAD = """\
# The wire

Emitted from `pymodel/wire/spec.py` by `python -m pymodel.wire.emit`; edit that file.

Everything is big-endian. Bit 0 of a ruler is the most significant bit of the first byte. Sources are sections of
[mrc-facts.md](mrc-facts.md) or RFCs. A field of one bit shows the first letter of its name.
"""

_ROW_BITS = 32


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _ruler(header: spec.Header) -> str:
    """Rows of 32 bits as RFCs draw them."""
    tens = "".join(f"{ten:<20}" for ten in range(4))[: 2 * _ROW_BITS].rstrip()
    edge = "+" + "-+" * _ROW_BITS
    lines = [f" {tens}", " " + " ".join(str(bit % 10) for bit in range(_ROW_BITS)), edge]
    row, room = "|", _ROW_BITS
    for field in header.fields:
        left, label = field.bits, "" if field.reserved else field.name
        while left:
            part = min(left, room)
            width = 2 * part - 1
            row += label[:width].center(width) + "|"
            left, room, label = left - part, room - part, ""
            if not room:
                lines += [row, edge]
                row, room = "|", _ROW_BITS
    if room < _ROW_BITS:
        lines += [row, "+" + "-+" * (_ROW_BITS - room)]
    return "\n".join(["```text", *lines, "```"])


def _header(header: spec.Header) -> str:
    rows = []
    for field in header.fields:
        byte, bit = divmod(header.bit_offset(field.name), 8)
        notes = [field.note] if field.note else []
        notes += [f"one of {field.enum.__name__}"] if field.enum else []
        notes += ["signed"] if field.signed else []
        rows.append(
            (str(byte), str(7 - bit), str(field.bits), f"`{field.name}`", str(int(field.default)), "; ".join(notes))
        )
    parts = [
        f"### {header.name}: {header.title}, {header.size} bytes",
        f"Source: {header.source}.",
        _ruler(header),
        _table(("byte", "top bit", "bits", "field", "sent as", "meaning"), rows),
    ]
    return "\n\n".join(parts)


def _opcodes() -> str:
    rows = []
    for opcode, headers in spec.EXTENSIONS.items():
        names = " ".join(f"[{header.name}]" if header is spec.TSETH else header.name for header in headers)
        inner = sum(header.size for header in headers) + spec.UDP.size + spec.BTH.size + spec.ICRC_BYTES
        plain = spec.ETHERNET.size + spec.IPV6.size + inner
        rows.append((f"0x{opcode:02X}", opcode.name, names, str(plain), str(plain + spec.IPV6.size)))
    head = ("opcode", "name", "behind the BTH", "bytes, plain IPv6", "bytes, SRv6")
    return (
        "Frame sizes are without payload and FCS, with TSETH where it may stand, and without SRH"
        f" ({spec.SRH.size + spec.SEGMENT.size} bytes more). Over IPv4 a frame is"
        f" {spec.IPV6.size - spec.IPV4.size} bytes shorter than over plain IPv6.\n\n" + _table(head, rows)
    )


def _constants() -> str:
    parts = []
    for group in GROUPS:
        rows = [
            (f"`{each.name}`", ("0x" if each.style == "x" else "") + each.text(), each.note) for each in group.constants
        ]
        parts.append(f"### {group.title}\n\n" + _table(("name", "value", "note"), rows))
    return "\n\n".join(parts)


_OPTION_TOPICS = {
    "udp_port": "UDP destination port of what is sent",
    "accepted_udp_ports": "UDP destination ports taken for MRC",
    "ev_split": "Where the halves of an EV travel",
    "eeth": "Position of op in EETH",
    "spdcid_is_sender": "spdcid is the low 16 bits of the QPN of the SACK's sender, dpdcid of the other",
    "out_of_window": "PSN above the window",
    "probe_skip_once": "State of an EV whose probe is answered SKIP_ONCE",
    "mpr_psns_800g": "MPR in PSNs of an 800 Gb/s NIC",
    "mpr_psns": "MPR in PSNs of others",
    "dscp": "DSCP of each class",
}


_OTHER_CHOICES = {"eeth": spec.EETH_OP_54, "spdcid_is_sender": False}


def _shown(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, spec.Header):
        return value.name
    if isinstance(value, spec.DscpMap):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return str(value)


def _options() -> str:
    rows = []
    for option in fields(spec.WireOptions):
        default = getattr(spec.DEFAULT_OPTIONS, option.name)
        if isinstance(default, Enum):
            other = "; ".join(_shown(each) for each in type(default) if each is not default)
        else:
            other = _shown(_OTHER_CHOICES.get(option.name, "settable"))
        rows.append((f"`{option.name}`", _OPTION_TOPICS[option.name], _shown(default), other))
    return _table(("option", "topic", "default", "else"), rows)


def _masked() -> str:
    rows = [(name, ", ".join(f"`{field}`" for field in masked)) for name, masked in spec.ICRC_MASKED.items()]
    return _table(("header", "fields taken as all ones"), rows)


def markdown() -> str:
    """The text of `wire.md`."""
    causes = [(f"`{cause.name}`", cause.value) for cause in ParseCause]
    sections = [
        _HEAD.rstrip(),
        "## Packets\n\n" + _opcodes(),
        "## Headers",
        *map(_header, spec.HEADERS),
        "## ICRC\n\nCRC-32 of Ethernet over eight bytes of ones and everything from the inner IP header to the pad; an"
        " outer header does not count. Least significant byte first. A trimmed frame has none. Source:"
        " mrc-facts.md 1.13.\n\n" + _masked(),
        "## Options\n\nEach stands where public sources disagree (mrc-facts.md 9).\n\n" + _options(),
        "## Rules\n\nWhere the public text leaves a choice, model, RTL and switch take the same one (mrc-facts.md 11)."
        "\n\n" + _table(("point", "rule"), spec.RULES),
        "## What a receiver refuses\n\nHeaders are read from the front, and the first fault counts. Of a trimmed write,"
        " lengths and ICRC are not looked at. Bytes behind the length that IP states are link padding.\n\n"
        + _table(("cause", "right would be"), causes),
        "## Constants",
        _constants(),
    ]
    return "\n\n".join(sections) + "\n"
