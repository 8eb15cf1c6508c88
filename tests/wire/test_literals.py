"""No opcode, DSCP, port, EtherType or next-header number stands outside `pymodel/wire/spec.py` and what is emitted.

What counts as such a number, so that the search finds every one and next to nothing else:

* anywhere, in any base: the UDP ports of MRC and the EtherType of IPv6, which hardly mean anything else;
* in hexadecimal of the code's own width: opcodes (0xC6, 8'hC6) and the EtherType of IPv4 (0x0800);
* in any base, assigned to or compared with a name that says what it is: ``nh=``, ``dscp ==``.

Strings and comments do not count: expected bytes of outside vectors are strings. A line that has its reason says it in
a comment, ``wire-literal: reason``.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.wire.emit import EMITTED
from pymodel.wire.spec import UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED, DscpMap, Ethertype, NextHeader, Opcode

SEARCHED = [
    (folder, suffix)
    for folder in ("pymodel", "tests", "cocotb_tests", "scripts", "p4", "rtl_models")
    for suffix in ("py", "p4", "sv", "svh", "v")
]
EXEMPT = {"pymodel/wire/spec.py", *EMITTED}
WAIVER = "wire-literal:"

ANYWHERE = {UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED, int(Ethertype.IPV6)}
SPELLED = {f"{value:X}" for value in Opcode} | {f"{Ethertype.IPV4:04X}"}
NAMED = [
    (re.compile(r"(^|_)opcode$", re.IGNORECASE), set(Opcode)),
    (re.compile(r"(^|_)dscp(_|$)", re.IGNORECASE), {value for _, value in DscpMap().items()} - {0}),
    (re.compile(r"(^|_)(next_header|nexthdr|next_hdr|nh|protocol|proto)$", re.IGNORECASE), set(NextHeader)),
    (re.compile(r"(^|_)(ethertype|ether_type|eth_type)$", re.IGNORECASE), set(Ethertype)),
    (re.compile(r"(^|_)(dst_port|dport|udp_port)$", re.IGNORECASE), {UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED}),
]
JOINS = {"=", "==", "!=", ":", "<=", "{", "(", "is"}

SIZED = re.compile(r"\d*'s?([hdboHDBO])([0-9A-Fa-f_]+)")  # SystemVerilog: 8'hC6
WIDTH = re.compile(r"\d+[wWsS](\w+)")  # P4: 8w43
TOKEN = re.compile(rf"{SIZED.pattern}|{WIDTH.pattern}|0[xX][0-9A-Fa-f_]+|\w+|==|!=|<=|\S")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)
BASES = {"h": 16, "d": 10, "o": 8, "b": 2}


def value_of(text: str) -> int | None:
    """The number that a token of Python, P4 or SystemVerilog stands for."""
    sized = SIZED.fullmatch(text)
    if sized:
        return int(sized[2].replace("_", ""), BASES[sized[1].lower()])
    width = WIDTH.fullmatch(text)
    plain = (width[1] if width else text).replace("_", "")
    try:
        return int(plain, 0)
    except ValueError:
        return int(plain) if plain.isdecimal() else None


def python_tokens(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP):
            yield token.start[0], token.string


def other_tokens(source: str) -> Iterator[tuple[int, str]]:
    blank = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    for number, line in enumerate(blank.split("\n"), start=1):
        for match in TOKEN.finditer(line):
            yield number, match[0]


def literals(source: str, python: bool) -> list[tuple[int, str]]:
    """Line and text of each number that belongs to the spec."""
    lines = source.splitlines()
    found = []
    before = ["", ""]
    for line, text in python_tokens(source) if python else other_tokens(source):
        value = value_of(text) if text[0] in "0123456789'" else None
        if value is not None and WAIVER not in lines[line - 1]:
            hexadecimal = re.fullmatch(r"(?:0[xX]|\d*'h)([0-9A-Fa-f]+)", text)
            spelled = hexadecimal is not None and hexadecimal[1].upper() in SPELLED
            name, join = before
            named = join in JOINS and any(pattern.search(name) and value in values for pattern, values in NAMED)
            if value in ANYWHERE or spelled or named:
                found.append((line, text))
        before = [before[1], text]
    return found


def test_no_number_of_the_spec_stands_elsewhere() -> None:
    offences = []
    searched = 0
    for folder, suffix in SEARCHED:
        for path in sorted((ROOT / folder).rglob(f"*.{suffix}")):
            name = path.relative_to(ROOT).as_posix()
            if name in EXEMPT:
                continue
            searched += 1
            text = path.read_text(encoding="utf-8")
            offences += [f"{name}:{line}: {number}" for line, number in literals(text, suffix == "py")]
    assert searched > 30
    advice = "import these from pymodel.wire.spec, or use the names of the emitted files"
    assert not offences, "\n".join([advice, *offences])


FOUND = [
    ("port", "port = 4791"),
    ("port in hexadecimal", "f(0x12B7)"),
    ("the other port", "if x in (4971,): pass"),
    ("EtherType", "t = 0x86dd"),
    ("EtherType in decimal", "t = 34525"),
    ("opcode", "f(0xC6)"),
    ("opcode in lower case", "f(0xde)"),
    ("EtherType of IPv4", "f(0x0800)"),
    ("next header", "ip = IPv6(nh=41)"),
    ("next header compared", "if frame.next_header == 0x2B: pass"),
    ("DSCP", "f(dscp=46)"),
    ("DSCP with a name in front", "outer_dscp = 12"),
    ("opcode in decimal", "if bth.opcode != 202: pass"),
]
FOUND_ELSEWHERE = [
    ("P4 select", "0x86DD: parse_ipv6;"),
    ("P4 const", "const bit<16> PORT = 4791;"),
    ("P4 compared", "if (h.ipv6.next_header == 43) {"),
    ("P4 width", "if (h.ipv6.next_header == 8w43)"),
    ("SystemVerilog opcode", "8'hC7: x = 1;"),
    ("SystemVerilog EtherType", "if (t == 16'h0800)"),
    ("SystemVerilog DSCP", "assign dscp = 6'd46;"),
]
NOT_FOUND = [
    ("comment", "x = 1  # port 4791, opcode 0xC6"),
    ("string", 'data = "12b7 86dd 4791"'),
    ("DSCP that is no class", "f(dscp=10)"),
    ("another 46", "size = 46"),
    ("another 41", "f(count=41)"),
    ("a mask", "mask = 0x800"),
    ("part of a longer number", "va = 0xC6C7"),
    ("name that only ends alike", "winh = 43"),
    ("waived", "f(dscp=46)  # wire-literal: the value under test"),
]


@pytest.mark.parametrize("source", [row[1] for row in FOUND], ids=[row[0] for row in FOUND])
def test_the_search_finds(source: str) -> None:
    assert len(literals(source + "\n", python=True)) == 1


@pytest.mark.parametrize("source", [row[1] for row in FOUND_ELSEWHERE], ids=[row[0] for row in FOUND_ELSEWHERE])
def test_the_search_finds_in_p4_and_systemverilog(source: str) -> None:
    assert len(literals(source + "\n", python=False)) == 1


@pytest.mark.parametrize("source", [row[1] for row in NOT_FOUND], ids=[row[0] for row in NOT_FOUND])
def test_the_search_leaves_alone(source: str) -> None:
    assert literals(source + "\n", python=True) == []


def test_the_exempt_files_hold_them() -> None:
    for name in ("pymodel/wire/spec.py", "p4/include/mrc_headers.p4", "rtl_models/common/mrc_pkg.sv"):
        path = Path(ROOT / name)
        assert literals(path.read_text(encoding="utf-8"), path.suffix == ".py")
