"""Registers of the receive side: from `rtl_models/csr/mrc_rx.rdl` (SystemRDL) to SystemVerilog, by PeakRDL, and a page.

`python -m pymodel.rtl.registers` writes what `emitted` returns. The SystemVerilog is PeakRDL's, and only its warnings
are waived; `mrc_csr` has the rest by hand.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from peakrdl_regblock import RegblockExporter  # type: ignore[import-untyped]
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened  # type: ignore[import-untyped]
from peakrdl_regblock.udps import ALL_UDPS  # type: ignore[import-untyped]
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode

from pymodel.base.toolpath import ROOT

__all__ = ["GENERATED", "SOURCE", "addresses", "emitted"]

SOURCE = ROOT / "rtl_models" / "csr" / "mrc_rx.rdl"
GENERATED = ROOT / "rtl_models" / "csr" / "generated"
_PAGE = ROOT / "docs" / "registers.md"
_MODULE = "mrc_rx_regs"
_WAIVED = ("UNUSEDPARAM", "UNUSEDSIGNAL", "GENUNNAMED")  # Verilator's, of PeakRDL's output


def _elaborate(source: Path) -> AddrmapNode:
    compiler = RDLCompiler()
    for definition in ALL_UDPS:
        compiler.register_udp(definition)
    compiler.compile_file(str(source))
    return compiler.elaborate("mrc_rx").top


def _waived(text: str) -> str:
    off, on = ("".join(f"// verilator lint_{switch} {warning}\n" for warning in _WAIVED) for switch in ("off", "on"))
    return f"// Emitted by `python -m pymodel.rtl.registers` from mrc_rx.rdl; edit that.\n{off}{text.rstrip()}\n{on}"


def _registers(top: AddrmapNode) -> list[RegNode]:
    return [node for node in top.descendants(unroll=True) if isinstance(node, RegNode)]


def addresses() -> dict[str, int]:
    """Byte address of every register, by its path: `port[3].mac_low`."""
    top = _elaborate(SOURCE)
    return {node.get_rel_path(top): node.absolute_address for node in _registers(top)}


def _access(fields: Sequence[FieldNode]) -> str:
    readable, writable = any(field.is_sw_readable for field in fields), any(field.is_sw_writable for field in fields)
    return {(True, True): "read, write", (True, False): "read", (False, True): "write"}[readable, writable]


def _bits(field: FieldNode) -> str:
    bits = f"{field.high}:{field.low}" if field.width > 1 else f"{field.low}"
    description = field.get_property("desc")
    return f"{bits} `{field.inst_name}`" + (f" ({description})" if description else "")


def _array(node: RegfileNode | RegNode) -> str:
    """`[count]` of an array of one dimension, "" of what is none."""
    return f"[{node.n_elements}]" if node.is_array else ""


def _row(base: int, register: RegNode) -> str:
    fields = register.fields()
    title = register.get_property("name")
    named = title != register.inst_name
    whole = len(fields) == 1 and not fields[0].get_property("desc")
    bits = f"{fields[0].high}:0" if whole and fields[0].high else ", ".join(_bits(field) for field in fields)
    address = f"{base + register.raw_address_offset:03x}" + (" + 4 i" if register.is_array else "")
    name = f"`{register.inst_name}{_array(register)}`"
    return f"| {address} | {name} | {bits} | {_access(fields)} | {title if named else ''} |"


def _page(top: AddrmapNode) -> str:
    lines = [
        "# Registers of the receive side",
        "",
        "Emitted by `python -m pymodel.rtl.registers` from `rtl_models/csr/mrc_rx.rdl`. AXI4-Lite, words of 32 bits,",
        "addresses in hexadecimal bytes. Whatever is not in this table answers SLVERR and has no effect, as do a write",
        "of less than 4 bytes and an address that is no multiple of 4.",
    ]
    for part in top.children():
        if not isinstance(part, RegfileNode):
            continue
        base = part.raw_absolute_address
        title = f"## `{part.inst_name}{_array(part)}`"
        if part.is_array:
            title += f", every {part.array_stride:#x} bytes"
        lines += ["", title, "", str(part.get_property("name")), ""]
        lines += ["| address | register | bits | access | |", "| --- | --- | --- | --- | --- |"]
        lines += [_row(base, node) for node in part.children() if isinstance(node, RegNode)]
    return "\n".join(lines) + "\n"


def emitted() -> dict[Path, str]:
    """Every file that is made from the source, and its text."""
    top = _elaborate(SOURCE)
    with tempfile.TemporaryDirectory(prefix="mrc-registers-") as folder:
        RegblockExporter().export(
            top,
            folder,
            cpuif_cls=AXI4Lite_Cpuif_flattened,
            module_name=_MODULE,
            err_if_bad_addr=True,
            err_if_bad_rw=True,
            retime_read_fanin=True,
        )
        made = {
            GENERATED / file.name: _waived(file.read_text(encoding="utf-8")) for file in sorted(Path(folder).iterdir())
        }
    return {**made, _PAGE: _page(top)}


if __name__ == "__main__":
    GENERATED.mkdir(exist_ok=True)
    for path, text in emitted().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
