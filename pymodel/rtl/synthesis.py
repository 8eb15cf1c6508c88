"""What RTL costs: LUTs, flip-flops, RAM bits and logic depth, from a generic 6-input LUT mapping by Yosys.

Memories (`mrc_ram`) are cut out: their outputs start paths, their inputs end them, their bits are counted apart. The
clock estimate takes 0.4 ns a level of logic, and 1.5 ns before it where a RAM starts the path. It is an estimate: no
device, no placement, no carry chains.

`python -m pymodel.rtl.synthesis` (`make rtl-report`) runs what is older than its sources, or the units that it is
given, and writes `rtl_models/cost.json` and `docs/rtl-cost.md`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, read_file_list
from pymodel.rtl.latency import latency_of
from pymodel.rtl.yosys import run_yosys

__all__ = [
    "CONFIGURATIONS",
    "COST_FILE",
    "Cost",
    "clock_mhz",
    "configuration",
    "cost",
    "main",
    "page",
    "read_costs",
    "source_hash",
    "stale",
]

COST_FILE = ROOT / "rtl_models" / "cost.json"
_PAGE = ROOT / "docs" / "rtl-cost.md"
_BY_QPS = tuple({"QPS": qps} for qps in (64, 256, 1024))
_BY_QPS_AND_INTERVAL = tuple(
    {"QPS": qps, "SAME_QP_INTERVAL": interval} for qps in (64, 256, 1024) for interval in (1, 2)
)
CONFIGURATIONS: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "responder/mrc_psn_tracker": (
        *(
            {"QPS": 64, "WINDOW": window, "SAME_QP_INTERVAL": interval}
            for window in (128, 1024, 4096)
            for interval in (1, 2)
        ),
        *({"QPS": 1024, "WINDOW": 4096, "SAME_QP_INTERVAL": interval} for interval in (1, 2)),
    ),
    "responder/mrc_delivery": _BY_QPS_AND_INTERVAL,
    "responder/mrc_responder": _BY_QPS_AND_INTERVAL,
    "responder/mrc_event_arbiter": ({},),
    "rx/mrc_rx_port": ({},),
    "reply/mrc_reply": _BY_QPS,
    "reply/mrc_endpoint": ({},),
    "csr/mrc_csr": _BY_QPS,
    "top/mrc_rx": _BY_QPS_AND_INTERVAL,
}
"""By file list in `rtl_models` without `.f`: the parameters of each row."""
# Units of a top that are mapped once each, however often they are there; nothing is optimised across their borders.
_MAPPED_ALONE: Mapping[str, tuple[str, ...]] = {
    "top/mrc_rx": ("mrc_rx_port", "mrc_responder", "mrc_reply", "mrc_endpoint", "mrc_csr")
}

_NS_PER_LEVEL = 0.4
_NS_OF_A_RAM = 1.5
_MEMORY = "mrc_ram"
_PORT = "rx/mrc_rx_port"
_PORTS = 8

_Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cost:
    """Figures of one design.

    `levels` is the greatest number of LUTs on a path that starts at a register or port, `levels_after_ram` on one that
    starts at a RAM's output; `deepest` and `deepest_after_ram` are the registers or ports at their ends.
    """

    luts: int
    flip_flops: int
    ram_bits: int
    levels: int
    levels_after_ram: int
    deepest: str
    deepest_after_ram: str

    @property
    def critical(self) -> str:
        """Where the path ends that limits the clock."""
        after_ram = clock_mhz(0, self.levels_after_ram) < clock_mhz(self.levels, 0)
        return self.deepest_after_ram if after_ram and self.deepest_after_ram else self.deepest

    @property
    def clock_mhz(self) -> int:
        """Clock frequency that the estimate allows, rounded down."""
        return clock_mhz(self.levels, self.levels_after_ram)


def clock_mhz(levels: int, levels_after_ram: int) -> int:
    """Clock frequency that the estimate allows for these depths, rounded down."""
    return int(1000 / max(levels * _NS_PER_LEVEL, _NS_OF_A_RAM + levels_after_ram * _NS_PER_LEVEL))


def configuration(unit: str, parameters: Mapping[str, int]) -> Design:
    """The design that the file list `unit` names."""
    path = ROOT / "rtl_models" / f"{unit}.f"
    return Design(path.stem, read_file_list(path), parameters)


def cost(design: Design, alone: Sequence[str] = ()) -> Cost:
    """Synthesise `design` and count. Takes 10 s to some minutes; RuntimeError when Yosys does not accept it.

    Modules named in `alone`, each with the same parameters wherever it stands, are mapped once, by themselves.
    """
    read = read_command(design, keep=bool(alone))
    with tempfile.TemporaryDirectory(prefix="mrc-yosys-") as name:
        read_in, boxes, whole, mapped, longest = (
            Path(name) / file for file in ("read.json", "boxes.v", "whole.json", "mapped.json", "longest.txt")
        )
        run_yosys([read, f"write_json {read_in}"])
        modules = json.loads(read_in.read_text(encoding="utf-8"))["modules"]
        run_yosys(
            [
                read,
                *memories_cut_out(modules, boxes),
                f"hierarchy -top {design.top}",
                *(_mapped_alone(design.top, alone, sorted(modules)) if alone else _mapped_as_one(design.top)),
                f"write_json {whole}",
                f"expose -evert t:{_MEMORY}_*",
                *(() if alone else (f"synth -flatten -lut 6 -noalumacc -top {design.top}",)),
                f"write_json {mapped}",
                f"tee -o {longest} ltp -noff",
            ]
        )
        cells = _module(whole, design.top)["cells"].values()
        memory_bits = [bits_of_memory(cell) for cell in cells]
        netlist = _module(mapped, design.top)
        lengths = re.findall(r"\(length=(\d+)\)", longest.read_text(encoding="utf-8"))
    types = [cell["type"] for cell in netlist["cells"].values()]
    levels, levels_after_ram, deepest, deepest_after_ram = depth(netlist)
    if [max(levels, levels_after_ram)] != [int(length) for length in lengths]:
        raise RuntimeError(f"depth {levels} and {levels_after_ram} behind a RAM, but Yosys' ltp says {lengths}")
    return Cost(
        luts=types.count("$lut"),
        flip_flops=sum("DFF" in cell_type for cell_type in types),
        ram_bits=sum(memory_bits),
        levels=levels,
        levels_after_ram=levels_after_ram,
        deepest=deepest,
        deepest_after_ram=deepest_after_ram,
    )


def _mapped_as_one(top: str) -> list[str]:
    """Yosys commands up to a flat design, whose memories are cut out before it is mapped."""
    return [f"hierarchy -top {top}", "proc", "flatten"]


def _mapped_alone(top: str, units: Sequence[str], modules: Sequence[str]) -> list[str]:
    """Yosys commands that map each unit by itself and flatten what has come of it.

    An instance's module is named after its place: all instances of a unit get the module of the first.
    """
    first = {unit: next(module for module in modules if module.startswith(f"{unit}$")) for unit in units}
    return [
        *(f"chtype -set {module} t:{unit}$*" for unit, module in first.items()),
        f"hierarchy -top {top}",
        *(f"setattr -mod -set keep_hierarchy 1 {unit}$*" for unit in units),
        f"synth -flatten -lut 6 -noalumacc -top {top}",
        *(f"setattr -mod -unset keep_hierarchy {unit}$*" for unit in units),
        "flatten",
        "opt_clean",
    ]


def read_command(design: Design, *, keep: bool) -> str:
    """The Yosys command that reads `design`, memories as black boxes; with `keep` its modules stay apart."""
    parameters = " ".join(f"-G {name}={value}" for name, value in sorted(design.parameters.items()))
    files = " ".join(str(path) for path in design.paths())
    hierarchy = "--keep-hierarchy" if keep else ""
    return (
        f"read_slang --top {design.top} {parameters} --ignore-assertions {hierarchy} "
        f"--blackboxed-module {_MEMORY} {files}"
    )


def memories_cut_out(modules: _Json, boxes: Path) -> list[str]:
    """Yosys commands that give each shape of memory in `modules` a type of its own, whose ports go to the file `boxes`.

    As it was read, a module that is cut out has the ports of one of its instances.
    """
    shapes = sorted(
        {
            (_number(cell, "WIDTH"), _number(cell, "DEPTH"))
            for module in modules.values()
            for cell in module["cells"].values()
            if cell["type"] == _MEMORY
        }
    )
    boxes.write_text("\n".join(_box(*shape) for shape in shapes), encoding="utf-8")
    types = (f"chtype -set {_MEMORY}_{w}_{d} t:{_MEMORY} r:WIDTH={w} %i r:DEPTH={d} %i" for w, d in shapes)
    return [f"read_verilog {boxes}", *types]


def bits_of_memory(cell: _Json) -> int:
    """What a cell holds, when it is a memory that was cut out; 0 for any other."""
    if not re.fullmatch(rf"{_MEMORY}_\d+_\d+", cell["type"]):
        return 0
    return _number(cell, "WIDTH") * _number(cell, "DEPTH")


def _box(width: int, depth: int) -> str:
    """The ports of a memory of this shape."""
    address = (depth - 1).bit_length()
    return f"""(* blackbox *)
module {_MEMORY}_{width}_{depth} #(
  parameter WIDTH = {width}, parameter DEPTH = {depth}, parameter ADDRESS_W = {address}) (
  input clk_i, input en_i, input [{address - 1}:0] raddr_i, output [{width - 1}:0] rdata_o,
  input we_i, input [{address - 1}:0] waddr_i, input [{width - 1}:0] wdata_i);
endmodule
"""


def _module(path: Path, top: str) -> _Json:
    module: _Json = json.loads(path.read_text(encoding="utf-8"))["modules"][top]
    return module


def _number(cell: _Json, parameter: str) -> int:
    return int(cell["parameters"][parameter], 2)


def depth(netlist: _Json) -> tuple[int, int, str, str]:
    """Return the LUTs on the longest path from a register or port, and from a RAM, and where the two end.

    Paths end at whatever is no LUT, and start behind it.
    """
    driver = {c["connections"]["Y"][0]: c["connections"]["A"] for c in netlist["cells"].values() if c["type"] == "$lut"}
    # A RAM that was cut out has left its pins as ports, named after it.
    from_ram = {
        bit
        for name, port in netlist["ports"].items()
        if port["direction"] == "input" and name.endswith("rdata_o")
        for bit in port["bits"]
    }
    from_ram |= {
        bit for cell in netlist["cells"].values() if bits_of_memory(cell) for bit in cell["connections"]["rdata_o"]
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

    # A net has a name in each module that it passes through: the innermost names the leaf.
    names: dict[int | str, str] = {}
    for name, net in netlist["netnames"].items():
        if name.startswith("$"):
            continue
        for bit in net["bits"]:
            names[bit] = min(names.get(bit, name), name, key=lambda known: (-known.count("."), len(known), known))
    ends = [
        (net, names.get(cell["connections"]["Q"][0], "?") if "DFF" in cell["type"] else name)
        for name, cell in netlist["cells"].items()
        if cell["type"] != "$lut"
        for pin, nets in cell["connections"].items()
        if pin not in ("C", "Q")
        for net in nets
    ]
    ends += [
        (net, name) for name, port in netlist["ports"].items() if port["direction"] == "output" for net in port["bits"]
    ]
    measured = [(*measure(net), name) for net, name in ends]
    levels, after_ram = max(found[0] for found in measured), max(found[1] for found in measured)
    deepest = min(found[2] for found in measured if found[0] == levels)
    # Where no path starts at a RAM, all ends have the same depth: nowhere.
    deepest_after_ram = min(found[2] for found in measured if found[1] == after_ram) if after_ram >= 0 else ""
    return levels, max(after_ram, 0), deepest, deepest_after_ram


def source_hash(unit: str) -> str:
    """SHA-256 over the unit's sources and the parameters of its rows: what its figures stand for."""
    digest = hashlib.sha256(json.dumps(CONFIGURATIONS[unit]).encode())
    for path in configuration(unit, {}).paths():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read_costs() -> dict[str, Any]:
    """What `COST_FILE` holds: by unit, `sources` (a hash) and `rows` of `parameters` and `cost`."""
    costs: dict[str, Any] = json.loads(COST_FILE.read_text(encoding="utf-8")) if COST_FILE.exists() else {}
    return costs


def stale() -> list[str]:
    """Units whose figures are missing, or older than their sources."""
    kept = read_costs()
    return [unit for unit in CONFIGURATIONS if kept.get(unit, {}).get("sources") != source_hash(unit)]


def _row(parameters: Mapping[str, int], found: Cost) -> str:
    names = ", ".join(f"{name} {value:,}" for name, value in parameters.items()) or "as they are"
    counts = (found.luts, found.flip_flops, found.ram_bits, found.levels, found.levels_after_ram)
    return " | ".join([names, *(f"{count:,}" for count in counts), f"{found.clock_mhz} MHz", f"`{found.critical}`"])


def _store_and_forward(port: Cost) -> list[str]:
    """What it costs that nothing of a frame takes effect before its ICRC is known good."""
    descriptor = latency_of("rx_port: last beat to descriptor")
    beat = latency_of("rx_port: verdict to first beat")
    return [
        f"The RAM is what store and forward takes, payloads, descriptors and verdicts: {port.ram_bits:,} bits a port,",
        f"{_PORTS * port.ram_bits:,} for {_PORTS}. It adds to a frame's latency its own length, a clock a beat; from",
        f"its last beat {descriptor} clocks to the descriptor, or one more; from the verdict {beat} to the first beat",
        "of the payload.",
    ]


def page(costs: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "# What the RTL costs",
        "",
        "Written by `make rtl-report`: a generic mapping to 6-input LUTs by Yosys, memories cut out and their bits",
        f"counted apart. The estimate is {_NS_PER_LEVEL} ns a level of LUTs, and {_NS_OF_A_RAM} ns for a RAM where one",
        "starts the path; it knows no device, no placement and no carry chain. *Critical* is where the path",
        "that limits the clock ends. In `top/mrc_rx` each unit is mapped by itself.",
    ]
    head = "parameters", "LUTs", "flip-flops", "RAM bits", "levels", "after a RAM", "estimate", "critical"
    for unit in CONFIGURATIONS:
        if unit in costs:
            lines += ["", f"## `{unit}`", "", "| " + " | ".join(head) + " |"]
            lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
            lines += [f"| {_row(row['parameters'], Cost(**row['cost']))} |" for row in costs[unit]["rows"]]
            if unit == _PORT:
                lines += ["", *_store_and_forward(Cost(**costs[unit]["rows"][0]["cost"]))]
    return "\n".join(lines) + "\n"


def _write(costs: Mapping[str, Any]) -> None:
    units = {unit: costs[unit] for unit in CONFIGURATIONS if unit in costs}
    COST_FILE.write_text(json.dumps(units, indent=1) + "\n", encoding="utf-8")
    _PAGE.write_text(page(units), encoding="utf-8")


def main(units: Sequence[str] = ()) -> None:
    """Synthesise the rows of `units`, else of what is stale; what is known is written after each unit."""
    for unit in units or stale():
        sources, rows = source_hash(unit), []
        for parameters in CONFIGURATIONS[unit]:
            found = cost(configuration(unit, parameters), _MAPPED_ALONE.get(unit, ()))
            print(f"{unit}: {_row(parameters, found)}", flush=True)
            rows.append({"parameters": dict(parameters), "cost": asdict(found)})
        _write({**read_costs(), unit: {"sources": sources, "rows": rows}})


if __name__ == "__main__":
    main(sys.argv[1:])
