"""Emits `pymodel/wire/headers.py`: a class with typed attributes, `pack` and `unpack` for each header of the spec.

The emitted code packs a header with one `struct` call on words of at most 64 bits. Reading it is easier than reading a
class that builds itself when imported, and type checkers see every field.
"""

from __future__ import annotations

from functools import cache

from pymodel.wire import spec

__all__ = ["class_name", "python"]

_HEAD = '''\
"""A class for each header of the wire, with an int attribute for each field.

Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
"""

# Slots stand in wire order, and a word of the header on a line.
# ruff: noqa: E501, RUF023
# fmt: off
from __future__ import annotations

from struct import Struct, error
from typing import ClassVar, Self

from pymodel.wire import spec
from pymodel.wire.packed_header import Buffer, PackedHeader

__all__ = [
'''
_CODES = {8: "B", 16: "H", 32: "I", 64: "Q"}
_WIDTH = 120


def class_name(header: spec.Header) -> str:
    """``CC_STATE`` becomes ``CcState``."""
    return "".join(part.capitalize() for part in header.name.split("_"))


def _words(fields: tuple[spec.Field, ...]) -> list[tuple[spec.Field, ...]]:
    """Cut the fields into the fewest words that `struct` knows; a field wider than 64 bits is a word of its own."""

    @cache
    def best(start: int) -> tuple[tuple[spec.Field, ...], ...] | None:
        if start == len(fields):
            return ()
        found = None
        bits = 0
        for end in range(start, len(fields)):
            bits += fields[end].bits
            single = start == end and bits % 8 == 0
            rest = best(end + 1) if bits in _CODES or single else None
            if rest is not None and (found is None or len(rest) + 1 < len(found)):
                found = (fields[start : end + 1], *rest)
        return found

    words = best(0)
    if words is None:
        raise ValueError("fields do not fill whole bytes")
    return list(words)


def _wrap(indent: str, opening: str, items: list[str], closing: str, joint: str = ", ") -> str:
    """`opening`, items and `closing` on one line, or the items on lines of their own, filled."""
    line = f"{indent}{opening}{joint.join(items)}{closing}"
    if len(line) <= _WIDTH:
        return line
    lines, current = [], ""
    tail = joint.rstrip()
    for number, item in enumerate(items):
        piece = item + (tail if number + 1 < len(items) or tail == "," else "")
        if current and len(indent) + 4 + len(current) + 1 + len(piece) > _WIDTH:
            lines.append(current)
            current = piece
        else:
            current = f"{current} {piece}" if current else piece
    lines.append(current)
    return "\n".join([f"{indent}{opening}", *(f"{indent}    {each}" for each in lines), f"{indent}{closing}"])


def _ones(bits: int) -> str:
    return f"0x{(1 << bits) - 1:X}"


def _pack_word(word: tuple[spec.Field, ...]) -> str:
    if sum(field.bits for field in word) not in _CODES:
        return f'self.{word[0].name}.to_bytes({word[0].bits // 8}, "big")'
    shift = sum(field.bits for field in word)
    parts = []
    for field in word:
        shift -= field.bits
        value = f"(self.{field.name} & {_ones(field.bits)})" if field.signed else f"self.{field.name}"
        parts.append(f"{value} << {shift}" if shift else value)
    return " | ".join(parts)


def _unpack_word(word: tuple[spec.Field, ...], name: str) -> list[str]:
    width = sum(field.bits for field in word)
    if width not in _CODES:
        return [f'        self.{word[0].name} = int.from_bytes({name}, "big")']
    lines = []
    shift = width
    for field in word:
        shift -= field.bits
        value = f"{name} >> {shift}" if shift else name
        if shift + field.bits < width:
            value = f"{value} & {_ones(field.bits)}"
        if field.signed:
            half = f"0x{1 << field.bits - 1:X}"
            value = f"(({value}) ^ {half}) - {half}"
        lines.append(f"        self.{field.name} = {value}")
    return lines


def _format(words: list[tuple[spec.Field, ...]]) -> str:
    sizes = [sum(field.bits for field in word) for word in words]
    return ">" + "".join(_CODES.get(size, f"{size // 8}s") for size in sizes)


def _class(header: spec.Header) -> str:
    words = _words(header.fields)
    names = [f"w{number}" for number in range(len(words))]
    over = [
        f"self.{f.name} + 0x{1 << f.bits - 1:X} >> {f.bits}" if f.signed else f"self.{f.name} >> {f.bits}"
        for f in header.fields
    ]
    attributes = [f"{field.name}: int = {int(field.default)}" for field in header.fields]
    struct = f"_{header.name}"
    lines = [
        f'{struct} = Struct("{_format(words)}")',
        "",
        "",
        f"class {class_name(header)}(PackedHeader):",
        f'    """{header.title}, {header.size} bytes ({header.source})."""',
        "",
        _wrap("    ", "__slots__ = (", [f'"{field.name}"' for field in header.fields], ",)"[len(header.fields) > 1 :]),
        f"    SPEC: ClassVar[spec.Header] = spec.{header.name}",
        f"    SIZE: ClassVar[int] = {header.size}",
        "",
        _wrap("    ", "def __init__(", ["self", "*", *attributes], ") -> None:"),
        *(f"        self.{field.name} = {field.name}" for field in header.fields),
        "",
        "    def pack(self) -> bytes:",
        f'        """The {header.size} bytes on the wire. InputError names the field whose value does not fit."""',
        _wrap("        ", "if (", over, "):", " | "),
        "            self._refuse()",
        _wrap("        ", f"return {struct}.pack(", [_pack_word(word) for word in words], ")"),
        "",
        "    @classmethod",
        "    def unpack(cls, data: Buffer, offset: int = 0) -> Self:",
        '        """Read the header at `offset`. InputError when fewer bytes are there."""',
        "        try:",
        f"            {', '.join(names)}{',' if len(names) == 1 else ''} = {struct}.unpack_from(data, offset)",
        "        except error:",
        "            raise cls._too_short(data, offset) from None",
        "        self = cls.__new__(cls)",
        *(line for word, name in zip(words, names, strict=True) for line in _unpack_word(word, name)),
        "        return self",
    ]
    return "\n".join(lines)


def python() -> str:
    """The text of `headers.py`."""
    exported = sorted(class_name(header) for header in spec.HEADERS)
    names = "".join(f'    "{name}",\n' for name in exported)
    return _HEAD + names + "]\n\n" + "\n\n\n".join(map(_class, spec.HEADERS)) + "\n"
