"""Emits `rtl_models/reply/mrc_reply_icrc_pkg.sv`: the ICRC of an answer as matrices over GF(2).

An answer is 60 bytes of inner IPv6 header, UDP and BTH, and a body of one of three sizes. A CRC is linear in what goes
in, so every bit has a column of 32 bits that it adds when it is set:

    front = FRONT_CONSTANT + sum of FRONT columns           the CRC register behind the BTH
    ICRC  = not (ADVANCE_size * front + sum of BODY columns)

The body is right-aligned: what a bit adds depends on its distance from the end alone, so one matrix serves all sizes.
`python -m pymodel.rtl.reply_icrc` writes the file; a test emits it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.base.toolpath import ROOT
from pymodel.rtl.crc_matrices import SEED, apply, data_columns, masked_ones, zeros
from pymodel.wire import spec

__all__ = ["BODY_SIZES", "PACKAGE", "main", "package"]

PACKAGE = ROOT / "rtl_models" / "reply" / "mrc_reply_icrc_pkg.sv"
BODY_SIZES = (spec.AETH.size, spec.NETH.size, spec.EETH.size)
"""Bytes of a transport ACK's body, of a NACK's, and of a SACK's and an endpoint response's."""

_FRONT = (spec.IPV6, spec.UDP, spec.BTH)
_COLUMNS_A_LINE = 6


def _matrix(name: str, columns: Sequence[int], note: str) -> str:
    listed = [f"32'h{column:08X}" for column in reversed(columns)]
    lines = [", ".join(listed[at : at + _COLUMNS_A_LINE]) for at in range(0, len(listed), _COLUMNS_A_LINE)]
    body = ",\n    ".join(lines)
    return f"  // {note}\n  localparam logic [{len(columns) - 1}:0][31:0] {name} = {{\n    {body}\n  }};\n"


def package() -> str:
    """The text of the SystemVerilog package."""
    size, masked = sum(header.size for header in _FRONT), masked_ones(*_FRONT)
    columns = data_columns(size)
    constant = apply(zeros(size), SEED) ^ apply(columns, masked)
    counted = [0 if masked >> bit & 1 else column for bit, column in enumerate(columns)]
    advances = [
        _matrix(
            f"ADVANCE_{body}",
            zeros(body),
            f"Takes the register over {body} bytes: column i belongs to its bit i.",
        )
        for body in BODY_SIZES
    ]
    parts = [
        _matrix("FRONT", counted, "Inner IPv6 header, UDP and BTH; columns of masked bits are zero."),
        f"  // The register behind a front of zeros, seed and masked bits included.\n"
        f"  localparam logic [31:0] FRONT_CONSTANT = 32'h{constant:08X};\n",
        _matrix("BODY", data_columns(max(BODY_SIZES)), "The body, right-aligned, zeros in front of a shorter one."),
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


def main() -> None:
    """Write the package."""
    PACKAGE.write_text(package(), encoding="utf-8")


if __name__ == "__main__":
    main()
