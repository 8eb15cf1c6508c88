"""The ICRC as XOR matrices, for RTL that takes many bytes a clock.

A CRC is linear over GF(2): one bit step of the register is a 32 x 32 matrix T, and a byte that enters is XORed into the
register's low byte before eight steps. Bit b of byte j of an n-byte word therefore reaches the register as T^(8(n - j))
times the unit vector b, and what stood in the register before the word as T^(8n) times it. Everything here follows from
T by multiplying matrices; no message is ever divided, and `zlib`, which the golden model uses, has no part in it.

`python -m pymodel.rtl.crc_matrices` writes `rtl_models/rx/mrc_icrc_pkg.sv`; a test compares it. Sources: IEEE 802.3 for
the polynomial, mrc-facts.md 1.13 for what it is taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pymodel.base.toolpath import ROOT
from pymodel.wire import spec

__all__ = [
    "PACKAGE",
    "SEED",
    "WIDTH",
    "apply",
    "data_columns",
    "good",
    "main",
    "masked_ones",
    "package",
    "rows",
    "zeros",
]

WIDTH = 32
PACKAGE = ROOT / "rtl_models" / "rx" / "mrc_icrc_pkg.sv"

_POLYNOMIAL = 0xEDB88320  # CRC-32, the bit that goes on the wire first in the lowest place
_ALL_ONES = (1 << WIDTH) - 1
_BEAT_BYTES = 64
_HEX_DIGITS = 64  # of a line in the package

Matrix = tuple[int, ...]
"""Columns of a matrix over GF(2): column i is what the unit vector i becomes, as an integer of `WIDTH` bits."""

_IDENTITY: Matrix = tuple(1 << i for i in range(WIDTH))
_STEP: Matrix = (_POLYNOMIAL, *(1 << i - 1 for i in range(1, WIDTH)))


def apply(matrix: Sequence[int], vector: int) -> int:
    """The product of a matrix, given by its columns, and a vector, given as an integer."""
    result = 0
    for i, column in enumerate(matrix):
        if vector >> i & 1:
            result ^= column
    return result


@cache
def zeros(count: int) -> Matrix:
    """The matrix that `count` zero bytes apply to the CRC register."""
    power, result, exponent = _STEP, _IDENTITY, 8 * count
    while exponent:
        if exponent & 1:
            result = tuple(apply(power, column) for column in result)
        power = tuple(apply(power, column) for column in power)
        exponent >>= 1
    return result


def data_columns(size: int) -> Matrix:
    """Columns of the matrix from a word of `size` bytes to the register, which was zero before.

    Column i belongs to bit i of the word, in which the first byte is the most significant one: the order in which RTL
    holds it.
    """
    return tuple(zeros(size - byte)[bit] for byte in reversed(range(size)) for bit in range(8))


def rows(columns: Sequence[int]) -> list[int]:
    """The rows of a matrix given by its columns: bit i of row k says whether input i is part of output k."""
    return [sum((column >> k & 1) << i for i, column in enumerate(columns)) for k in range(WIDTH)]


SEED = apply(zeros(spec.ICRC_PSEUDO_LRH_BYTES), _ALL_ONES) ^ apply(
    data_columns(spec.ICRC_PSEUDO_LRH_BYTES), (1 << 8 * spec.ICRC_PSEUDO_LRH_BYTES) - 1
)
"""The register before the first byte of the IP header: it began with ones and has seen the bytes of ones before it."""


def good(count: int) -> int:
    """The register after a packet, its correct ICRC, and `count` zero bytes.

    The ICRC is the inverted register, its lowest byte first, so that packet and ICRC always leave the same behind.
    """
    return apply(zeros(count), apply(zeros(spec.ICRC_BYTES), _ALL_ONES))


def masked_ones(*headers: spec.Header) -> int:
    """Consecutive headers as a number in which the fields that the ICRC takes as ones are ones, all else zero."""
    value = 0
    for header in headers:
        for field in header.fields:
            masked = field.name in spec.ICRC_MASKED.get(header.name, ())
            value = value << field.bits | ((1 << field.bits) - 1 if masked else 0)
    return value


def _constant(name: str, comment: str, width: str, value: str) -> str:
    return f"  // {comment}\n  localparam logic {width} {name} = {value};\n"


def _wide(value: int, digits: int, indent: str) -> str:
    """A wide constant as a concatenation of pieces that fit a line."""
    text = f"{value:0{digits}X}"
    pieces = [text[at : at + _HEX_DIGITS] for at in range(0, digits, _HEX_DIGITS)]
    return "{\n" + ",\n".join(f"{indent}  {4 * len(piece)}'h{piece}" for piece in pieces) + f"\n{indent}}}"


def _array(values: Sequence[str], indent: str = "    ") -> str:
    return "'{\n" + ",\n".join(indent + value for value in values) + "\n  }"


def _front(*headers: spec.Header) -> str:
    size = sum(header.size for header in headers)
    return _wide(masked_ones(*headers) << 8 * (_BEAT_BYTES - size), 2 * _BEAT_BYTES, "  ")


def package() -> str:
    """The text of `PACKAGE`."""
    beat = rows(data_columns(_BEAT_BYTES))
    state = rows(zeros(_BEAT_BYTES))
    parts = (
        _constant(
            "ICRC_BEAT",
            "Bits of a beat that each bit of the register depends on.",
            "[511:0]",
            _array([_wide(row, 2 * _BEAT_BYTES, "    ") for row in beat]),
        ).replace("ICRC_BEAT =", "ICRC_BEAT[32] ="),
        _constant(
            "ICRC_STATE",
            "And bits of the register before the beat.",
            "[31:0]",
            _array([f"32'h{row:08X}" for row in state]),
        ).replace("ICRC_STATE =", "ICRC_STATE[32] ="),
        _constant(
            "ICRC_START",
            "What the register's first value adds to the first beat.",
            "[31:0]",
            f"32'h{apply(zeros(_BEAT_BYTES), SEED):08X}",
        ),
        _constant(
            "ICRC_GOOD",
            "The register behind a correct ICRC and as many zero bytes.",
            "[31:0]",
            _array([f"32'h{good(count):08X}" for count in range(_BEAT_BYTES)]),
        ).replace("ICRC_GOOD =", "ICRC_GOOD[64] ="),
        _constant(
            "ICRC_ONES_IPV6",
            "Bits of a packet's first beat that count as ones: IPv6 in front,",
            "[511:0]",
            _front(spec.IPV6, spec.UDP, spec.BTH),
        ),
        _constant("ICRC_ONES_IPV4", "and IPv4.", "[511:0]", _front(spec.IPV4, spec.UDP, spec.BTH)),
    )
    return (
        "// The ICRC over beats of 64 bytes as XOR matrices: zero-state matrix of a beat, step of the register,\n"
        "// and what a correct packet leaves in it. The first byte of a beat is on the left.\n"
        "// Emitted by `python -m pymodel.rtl.crc_matrices`; edit that file.\n\n"
        "`default_nettype none\n"
        "// verilator lint_off UNUSEDPARAM\n"
        "// verilog_format: off\n\n"
        "package mrc_icrc_pkg;\n\n" + "\n".join(parts) + "\nendpackage\n\n"
        "// verilog_format: on\n"
        "// verilator lint_on UNUSEDPARAM\n"
        "`default_nettype wire\n"
    )


def main() -> None:
    """Write the package."""
    PACKAGE.write_text(package(), encoding="utf-8")


if __name__ == "__main__":
    main()
