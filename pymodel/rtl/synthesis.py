"""What RTL costs: LUTs, flip-flops, RAM bits and logic depth, from a generic 6-input LUT mapping by Yosys.

Memories (`mrc_ram`) are cut out: their outputs start paths, their inputs end them, their bits are counted apart. The
clock estimate takes 0.4 ns a level of logic, and 1.5 ns before it where a RAM starts the path. It is an estimate: no
device, no placement, no carry chains.

`python -m pymodel.rtl.synthesis` writes the figures of the PSN tracker to `rtl_models/cost.json` and prints them.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, read_file_list
from pymodel.rtl.yosys import run_yosys

__all__ = ["COST_FILE", "PSN_TRACKERS", "Cost", "cost", "main", "psn_tracker", "source_hash", "table"]

COST_FILE = ROOT / "rtl_models" / "cost.json"
PSN_TRACKERS = (
    *((64, window, interval) for window in (128, 1024, 4096) for interval in (1, 2)),
    *((1024, 4096, interval) for interval in (1, 2)),
)
"""(QPS, WINDOW, SAME_QP_INTERVAL) of each line of the table."""

_NS_PER_LEVEL = 0.4
_NS_OF_A_RAM = 1.5
_MEMORY = "mrc_ram"

_Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cost:
    """Figures of one design.

    `levels` is the greatest number of LUTs on a path that starts at a register or port, `levels_after_ram` on one that
    starts at a RAM's output; `deepest` is the register or port at the end of the former.
    """

    luts: int
    flip_flops: int
    ram_bits: int
    levels: int
    levels_after_ram: int
    deepest: str

    @property
    def clock_mhz(self) -> int:
        """Clock frequency that the estimate allows, rounded down."""
        period_ns = max(self.levels * _NS_PER_LEVEL, _NS_OF_A_RAM + self.levels_after_ram * _NS_PER_LEVEL)
        return int(1000 / period_ns)


def psn_tracker(qps: int, window: int, interval: int) -> Design:
    """The PSN tracker with these parameters."""
    sources = read_file_list(ROOT / "rtl_models" / "responder" / "mrc_psn_tracker.f")
    return Design("mrc_psn_tracker", sources, {"QPS": qps, "WINDOW": window, "SAME_QP_INTERVAL": interval})


def cost(design: Design) -> Cost:
    """Synthesise `design` and count. Takes 10 s to some minutes; RuntimeError when Yosys does not accept it."""
    parameters = " ".join(f"-G {name}={value}" for name, value in sorted(design.parameters.items()))
    files = " ".join(str(path) for path in design.paths())
    read = f"read_slang --top {design.top} {parameters} --ignore-assertions --blackboxed-module {_MEMORY} {files}"
    with tempfile.TemporaryDirectory(prefix="mrc-yosys-") as name:
        read_in, boxes, whole, mapped, longest = (
            Path(name) / file for file in ("read.json", "boxes.v", "whole.json", "mapped.json", "longest.txt")
        )
        run_yosys([read, f"write_json {read_in}"])
        shapes = sorted(
            {
                (_number(cell, "WIDTH"), _number(cell, "DEPTH"))
                for module in json.loads(read_in.read_text(encoding="utf-8"))["modules"].values()
                for cell in module["cells"].values()
                if cell["type"] == _MEMORY
            }
        )
        boxes.write_text("\n".join(_box(*shape) for shape in shapes), encoding="utf-8")
        run_yosys(
            [
                read,
                f"read_verilog {boxes}",
                # A module that is cut out has the ports of one of its instances; each shape gets its own.
                *(f"chtype -set {_MEMORY}_{w}_{d} t:{_MEMORY} r:WIDTH={w} %i r:DEPTH={d} %i" for w, d in shapes),
                f"hierarchy -top {design.top}",
                "proc",
                "flatten",
                f"write_json {whole}",
                f"expose -evert t:{_MEMORY}_*",
                f"synth -flatten -lut 6 -noalumacc -top {design.top}",
                f"write_json {mapped}",
                f"tee -o {longest} ltp -noff",
            ]
        )
        cells = _module(whole, design.top)["cells"].values()
        memories = [cell for cell in cells if cell["type"].startswith(_MEMORY + "_")]
        netlist = _module(mapped, design.top)
        lengths = re.findall(r"\(length=(\d+)\)", longest.read_text(encoding="utf-8"))
    types = [cell["type"] for cell in netlist["cells"].values()]
    levels, levels_after_ram, deepest = _depth(netlist)
    if [max(levels, levels_after_ram)] != [int(length) for length in lengths]:
        raise RuntimeError(f"depth {levels} and {levels_after_ram} behind a RAM, but Yosys' ltp says {lengths}")
    return Cost(
        luts=types.count("$lut"),
        flip_flops=sum("DFF" in cell_type for cell_type in types),
        ram_bits=sum(_number(cell, "WIDTH") * _number(cell, "DEPTH") for cell in memories),
        levels=levels,
        levels_after_ram=levels_after_ram,
        deepest=deepest,
    )


def _box(width: int, depth: int) -> str:
    """The ports of a memory of this shape."""
    address = (depth - 1).bit_length()
    return f"""(* blackbox *)
module {_MEMORY}_{width}_{depth} #(parameter WIDTH = {width}, parameter DEPTH = {depth}) (
  input clk_i, input en_i, input [{address - 1}:0] raddr_i, output [{width - 1}:0] rdata_o,
  input we_i, input [{address - 1}:0] waddr_i, input [{width - 1}:0] wdata_i);
endmodule
"""


def _module(path: Path, top: str) -> _Json:
    module: _Json = json.loads(path.read_text(encoding="utf-8"))["modules"][top]
    return module


def _number(cell: _Json, parameter: str) -> int:
    return int(cell["parameters"][parameter], 2)


def _depth(netlist: _Json) -> tuple[int, int, str]:
    """Return the LUTs on the longest path from a register or port, and from a RAM, and where the former ends."""
    driver = {c["connections"]["Y"][0]: c["connections"]["A"] for c in netlist["cells"].values() if c["type"] == "$lut"}
    # A RAM that was cut out has left its pins as ports, named after it.
    from_ram = {
        bit
        for name, port in netlist["ports"].items()
        if port["direction"] == "input" and name.endswith("rdata_o")
        for bit in port["bits"]
    }
    nowhere = -1
    depths: dict[int | str, tuple[int, int]] = dict.fromkeys(("0", "1", "x", "z"), (nowhere, nowhere))

    def deeper(found: Iterable[int]) -> int:
        greatest = max(found)
        return greatest + 1 if greatest != nowhere else nowhere

    def measure(net: int | str) -> tuple[int, int]:
        waiting = [net]
        while waiting:
            last = waiting[-1]
            if last not in driver:
                depths.setdefault(last, (nowhere, 0) if last in from_ram else (0, nowhere))
            if last in depths:
                waiting.pop()
            elif ahead := [bit for bit in driver[last] if bit not in depths]:
                waiting += ahead
            else:
                pairs = [depths[bit] for bit in driver[last]]
                depths[last] = (deeper(pair[0] for pair in pairs), deeper(pair[1] for pair in pairs))
        return depths[net]

    names: dict[int | str, str] = {}
    for name, net in netlist["netnames"].items():
        for bit in net["bits"]:
            if not name.startswith("$") and len(name) < len(names.get(bit, name + " ")):
                names[bit] = name
    ends = [
        (net, names.get(cell["connections"]["Q"][0], "?"))
        for cell in netlist["cells"].values()
        if "DFF" in cell["type"]
        for pin, nets in cell["connections"].items()
        if pin not in ("C", "Q")
        for net in nets
    ]
    ends += [
        (net, name) for name, port in netlist["ports"].items() if port["direction"] == "output" for net in port["bits"]
    ]
    measured = [(*measure(net), name) for net, name in ends]
    levels = max(found[0] for found in measured)
    deepest = min(found[2] for found in measured if found[0] == levels)
    return levels, max(found[1] for found in measured), deepest


def source_hash() -> str:
    """SHA-256 over the PSN tracker's sources: what the figures in `COST_FILE` stand for."""
    digest = hashlib.sha256()
    for path in psn_tracker(64, 128, 1).paths():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def table(costs: Mapping[tuple[int, int, int], Cost]) -> str:
    """The figures as a Markdown table, as it stands in docs/rtl.md."""
    head = "QPs", "window", "interval", "LUTs", "flip-flops", "RAM bits", "levels", "after a RAM", "estimate"
    lines = [" | ".join(head), " | ".join("---:" for _ in head)]
    for key, found in costs.items():
        counts = (*key, found.luts, found.flip_flops, found.ram_bits, found.levels, found.levels_after_ram)
        lines.append(" | ".join([*(f"{count:,}" for count in counts), f"{found.clock_mhz} MHz"]))
    return "\n".join(f"| {line} |" for line in lines)


def main() -> None:
    """Synthesise every configuration, write `COST_FILE`, print the table."""
    sources = source_hash()
    costs = {key: cost(psn_tracker(*key)) for key in PSN_TRACKERS}
    rows = [{"qps": key[0], "window": key[1], "interval": key[2], **asdict(found)} for key, found in costs.items()]
    text = ",\n".join("    " + json.dumps(row) for row in rows)
    COST_FILE.write_text(f'{{\n  "sources": "{sources}",\n  "mrc_psn_tracker": [\n{text}\n  ]\n}}\n', encoding="utf-8")
    print(table(costs))


if __name__ == "__main__":
    main()
