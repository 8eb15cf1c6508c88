"""What the PSN tracker costs, by Yosys; `rtl_models/cost.json` holds the figures of every configuration."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design
from pymodel.rtl.synthesis import COST_FILE, PSN_TRACKERS, Cost, cost, psn_tracker, source_hash, table

KEPT: dict[str, Any] = json.loads(COST_FILE.read_text(encoding="utf-8"))
ROWS = {(row.pop("qps"), row.pop("window"), row.pop("interval")): Cost(**row) for row in KEPT["mrc_psn_tracker"]}


def test_the_figures_stand_for_the_sources() -> None:
    """Refresh them with `python -m pymodel.rtl.synthesis`."""
    assert KEPT["sources"] == source_hash()
    assert tuple(ROWS) == PSN_TRACKERS


def test_the_documentation_has_the_same_figures() -> None:
    assert table(ROWS) in (ROOT / "docs" / "rtl.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", PSN_TRACKERS)
def test_the_estimate_reaches_250_mhz(key: tuple[int, int, int]) -> None:
    assert ROWS[key].clock_mhz >= 250


@pytest.mark.parametrize("interval", [1, 2])
def test_more_qps_cost_memory_and_not_logic(interval: int) -> None:
    few, many = ROWS[64, 4096, interval], ROWS[1024, 4096, interval]
    assert many.luts + many.flip_flops < 1.15 * (few.luts + few.flip_flops)
    assert many.ram_bits == 16 * few.ram_bits


@pytest.mark.rtl
@pytest.mark.slow
def test_yosys_reads_packages_and_structs_and_finds_the_kept_figures_C11() -> None:  # noqa: N802
    found = cost(psn_tracker(64, 128, 1))
    assert asdict(found) == asdict(ROWS[64, 128, 1])


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("key", PSN_TRACKERS)
def test_yosys_finds_the_kept_figures(key: tuple[int, int, int]) -> None:
    assert asdict(cost(psn_tracker(*key))) == asdict(ROWS[key])


@pytest.mark.rtl
@pytest.mark.slow
def test_depth_and_memory_of_a_design_that_can_be_counted_by_hand(tmp_path: Path) -> None:
    """A RAM of 8 x 4 bits, a LUT behind it, and an XOR of 11 bits, which is two LUTs in a row."""
    (tmp_path / "counted.sv").write_text(
        """
module counted (input wire clk, input wire [10:0] a, input wire [2:0] row, output logic q, output logic r);
  logic [10:0] a_q;
  logic [3:0] data;
  mrc_ram #(.WIDTH(4), .DEPTH(8)) u_ram (
    .clk_i(clk), .en_i(1'b1), .raddr_i(row), .rdata_o(data), .we_i(a_q[0]), .waddr_i(a_q[3:1]), .wdata_i(a_q[7:4]));
  always_ff @(posedge clk) begin
    a_q <= a;
    q <= ^a_q;
    r <= ^data;
  end
endmodule
""",
        encoding="utf-8",
    )
    memory = ROOT / "rtl_models" / "common" / "mrc_ram.sv"
    found = cost(Design("counted", ("counted.sv", str(memory)), root=tmp_path))
    assert found == Cost(luts=3, flip_flops=13, ram_bits=32, levels=2, levels_after_ram=1, deepest="q")
