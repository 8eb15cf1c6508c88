"""What each module of the assembled side costs by itself, without those inside it.

All modules are mapped as `synthesis` maps, but apart: nothing is optimised across their borders, paths end at them.

`python -m pymodel.rtl.leaf_cost` (`make rtl-report`) writes `rtl_models/leaf_cost.json` and `docs/rtl-leaves.md`, when
what is there is older than the RTL.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design
from pymodel.rtl.synthesis import bits_of_memory, configuration, depth, memories_cut_out, read_command, source_hash
from pymodel.rtl.yosys import run_yosys

__all__ = ["COST_FILE", "QPS", "TOP", "Leaf", "leaves", "main", "page", "read_leaves", "stale"]

TOP = "top/mrc_rx"
QPS = (64, 256, 1024)
COST_FILE = ROOT / "rtl_models" / "leaf_cost.json"
_PAGE = ROOT / "docs" / "rtl-leaves.md"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A module at a place of the hierarchy, an index `[]` for any number, and how often it is there.

    The other figures are those of one instance: see `synthesis.Cost`.
    """

    place: str
    module: str
    instances: int
    luts: int
    flip_flops: int
    ram_bits: int
    levels: int
    levels_after_ram: int


def _place(module: str) -> str:
    """`mrc_fifo$mrc_rx.gen_port[3].u_fifo` is at `mrc_fifo$mrc_rx.gen_port[].u_fifo`, as are its likes."""
    return re.sub(r"\[\d+\]", "[]", module)


def _pattern(module: str) -> str:
    """A pattern of Yosys for this name alone: brackets would be one themselves."""
    return re.sub(r"[][]", "?", module)


def _map_alone(module: str, netlist: Path) -> list[str]:
    """Yosys commands that map `module`, and leave of all others their ports."""
    return [
        "design -load all",
        f"select -set others * {_pattern(module)} %d",
        "blackbox @others",
        f"hierarchy -top {module}",
        f"synth -lut 6 -noalumacc -top {module}",
        f"write_json {netlist}",
    ]


def leaves(design: Design) -> list[Leaf]:
    """Map every module of `design` apart. Takes a minute or two; RuntimeError when Yosys does not accept it."""
    read = read_command(design, keep=True)
    with tempfile.TemporaryDirectory(prefix="mrc-yosys-") as name:
        folder = Path(name)
        read_in, boxes = folder / "read.json", folder / "boxes.v"
        run_yosys([read, f"write_json {read_in}"])
        modules = json.loads(read_in.read_text(encoding="utf-8"))["modules"]
        places = Counter(map(_place, modules))
        first: dict[str, str] = {}
        for module in sorted(modules):
            first.setdefault(_place(module), module)
        named = [module for module in first.values() if "$" in module or module == design.top]  # and not the memory
        run_yosys(
            [
                read,
                *memories_cut_out(modules, boxes),
                *(f"chtype -set {first[_place(module)]} t:{_pattern(module)}" for module in modules if "[" in module),
                f"hierarchy -top {design.top}",
                "design -save all",
                *(
                    command
                    for number, module in enumerate(named)
                    for command in _map_alone(module, folder / str(number))
                ),
            ]
        )
        netlists = {
            module: json.loads((folder / str(number)).read_text(encoding="utf-8"))["modules"][module]
            for number, module in enumerate(named)
        }
    found = []
    for module in named:
        place = _place(module)
        cells = netlists[module]["cells"].values()
        levels, levels_after_ram, _, _ = depth(netlists[module])
        found.append(
            Leaf(
                place=place.partition("$")[2].partition(".")[2],
                module=place.partition("$")[0],
                instances=places[place],
                luts=sum(cell["type"] == "$lut" for cell in cells),
                flip_flops=sum("DFF" in cell["type"] for cell in cells),
                ram_bits=sum(map(bits_of_memory, cells)),
                levels=levels,
                levels_after_ram=levels_after_ram,
            )
        )
    return sorted(found, key=lambda leaf: (leaf.place, leaf.module))


def read_leaves() -> dict[str, Any]:
    """What `COST_FILE` holds: `sources` (a hash), and `leaves`: by number of QPs the figures of each."""
    kept: dict[str, Any] = json.loads(COST_FILE.read_text(encoding="utf-8")) if COST_FILE.exists() else {}
    return kept


def stale() -> bool:
    """Whether the figures are missing, or older than the RTL."""
    return read_leaves().get("sources") != source_hash(TOP)


def page(by_qps: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """What `leaves` found for some numbers of QPs as Markdown, a figure once where it stays."""
    rows: dict[tuple[str, str, int], list[Leaf]] = {}
    for kept in by_qps.values():
        for leaf in (Leaf(**figures) for figures in kept):
            rows.setdefault((leaf.place, leaf.module, leaf.instances), []).append(leaf)

    def figures(found: Sequence[Leaf], name: str) -> str:
        values = [f"{getattr(leaf, name):,}" for leaf in found]
        return values[0] if len(set(values)) == 1 else " / ".join(values)

    names = "luts", "flip_flops", "ram_bits", "levels", "levels_after_ram"
    sizes = " / ".join(f"{int(qps):,}" for qps in by_qps)
    lines = [
        "# What each module costs",
        "",
        "Written by `make rtl-report`: the modules of `mrc_rx`, each mapped by itself and without those inside it, as",
        f"[rtl-cost.md](rtl-cost.md) says. Three figures are those for {sizes} QPs, one is that of all. *Times* is how",
        "often a module is at its place; its figures are those of one.",
        "",
        "| place | module | times | LUTs | flip-flops | RAM bits | levels | after a RAM |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| `{place or 'all'}` | `{module}` | {instances} | "
            + " | ".join(figures(found, name) for name in names)
            + " |"
            for (place, module, instances), found in rows.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Map the modules for every number of QPs, unless it is known what they cost."""
    if not stale():
        return
    sources = source_hash(TOP)
    by_qps = {
        str(qps): [asdict(leaf) for leaf in leaves(configuration(TOP, {"QPS": qps, "SAME_QP_INTERVAL": 1}))]
        for qps in QPS
    }
    COST_FILE.write_text(json.dumps({"sources": sources, "leaves": by_qps}, indent=1) + "\n", encoding="utf-8")
    _PAGE.write_text(page(by_qps), encoding="utf-8")


if __name__ == "__main__":
    main()
