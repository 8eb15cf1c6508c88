"""Emits `rtl_models/reply/mrc_reply_icrc_pkg.sv`: the ICRC of an answer as matrices over GF(2).

An answer is 60 bytes of inner IPv6 header, UDP and BTH, and a body of one of three sizes. A CRC is linear in what goes
in, so every bit has a column of 32 bits that it adds when it is set:

    front = FRONT_CONSTANT + sum of FRONT columns           the CRC register behind the BTH
    ICRC  = not (ADVANCE[size] * front + sum of BODY columns)

The body is right-aligned: what a bit adds depends on its distance from the end alone, so one matrix serves all sizes.
The columns are found by running the CRC register bit by bit with one bit set (mrc-facts.md 1.13).
`python -m pymodel.rtl.reply_icrc` writes the file; a test emits it again.
"""

from __future__ import annotations

from pathlib import Path

from pymodel.base.toolpath import ROOT
from pymodel.wire import spec

__all__ = ["BODY_SIZES", "PACKAGE", "main", "package"]

PACKAGE = ROOT / "rtl_models" / "reply" / "mrc_reply_icrc_pkg.sv"
BODY_SIZES = (spec.AETH.size, spec.NETH.size, spec.EETH.size)
"""Bytes of a transport ACK's body, of a NACK's, and of a SACK's and an endpoint response's."""

_POLYNOMIAL = 0xEDB88320  # CRC-32, IEEE 802.3, the lowest bit first
_ONES = (1 << 32) - 1
_FRONT = (spec.IPV6, spec.UDP, spec.BTH)
_COLUMNS_A_LINE = 6


def _run(register: int, data: bytes) -> int:
    """The CRC register after `data`."""
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (_POLYNOMIAL if register & 1 else 0)
    return register


def _masked() -> tuple[int, int]:
    """Size in bytes of what stands in front of a body, and its masked fields as ones in a number."""
    ones = size = 0
    for header in _FRONT:
        for field in header.fields:
            masked = field.name in spec.ICRC_MASKED.get(header.name, ())
            ones = ones << field.bits | ((1 << field.bits) - 1 if masked else 0)
        size += header.size
    return size, ones


def _columns(size: int, masked: int = 0) -> list[int]:
    """What each bit of `size` bytes adds to the register, the last bit on the wire first; nothing if it is masked."""
    return [0 if masked >> bit & 1 else _run(0, (1 << bit).to_bytes(size, "big")) for bit in range(8 * size)]


def _matrix(name: str, columns: list[int], note: str) -> str:
    listed = [f"32'h{column:08X}" for column in reversed(columns)]
    lines = [", ".join(listed[at : at + _COLUMNS_A_LINE]) for at in range(0, len(listed), _COLUMNS_A_LINE)]
    body = ",\n    ".join(lines)
    return f"  // {note}\n  localparam logic [{len(columns) - 1}:0][31:0] {name} = {{\n    {body}\n  }};\n"


def package() -> str:
    """The text of the SystemVerilog package."""
    size, masked = _masked()
    seed = _run(_ONES, bytes([0xFF]) * spec.ICRC_PSEUDO_LRH_BYTES)
    constant = _run(seed, masked.to_bytes(size, "big"))
    advances = [
        _matrix(
            f"ADVANCE_{body}",
            [_run(1 << bit, bytes(body)) for bit in range(32)],
            f"Takes the register over {body} bytes: column i belongs to its bit i.",
        )
        for body in BODY_SIZES
    ]
    parts = [
        _matrix("FRONT", _columns(size, masked), "Inner IPv6 header, UDP and BTH; columns of masked bits are zero."),
        f"  // The register behind a front of zeros, seed and masked bits included.\n"
        f"  localparam logic [31:0] FRONT_CONSTANT = 32'h{constant:08X};\n",
        _matrix("BODY", _columns(max(BODY_SIZES)), "The body, right-aligned, zeros in front of a shorter one."),
        *advances,
    ]
    return (
        "// The ICRC of an answer as matrices over GF(2): what each bit adds to the CRC register when it is set.\n"
        "// Emitted by `python -m pymodel.rtl.reply_icrc`, which explains it; edit that file.\n\n"
        "`default_nettype none\n"
        "// verilog_lint: waive-start parameter-name-style\n"
        "// verilog_format: off\n\n"
        "package mrc_reply_icrc_pkg;\n\n" + "\n".join(parts) + "\nendpackage\n\n"
        "// verilog_format: on\n"
        "// verilog_lint: waive-stop parameter-name-style\n"
        "`default_nettype wire\n"
    )


def main(path: Path = PACKAGE) -> None:
    """Write the package."""
    path.write_text(package(), encoding="utf-8")


if __name__ == "__main__":
    main()
