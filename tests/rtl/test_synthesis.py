"""What the RTL costs, by Yosys; `rtl_models/cost.json` holds the figures of every unit and of the assembled side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.rtl import leaf_cost
from pymodel.rtl.build import Design
from pymodel.rtl.leaf_cost import Leaf, leaves
from pymodel.rtl.synthesis import (
    CONFIGURATIONS,
    Cost,
    clock_mhz,
    configuration,
    cost,
    page,
    read_costs,
    stale,
)

KEPT = read_costs()
ROWS = [(unit, row["parameters"], Cost(**row["cost"])) for unit, known in KEPT.items() for row in known["rows"]]
PSN_TRACKER = "responder/mrc_psn_tracker"
ASSEMBLED = "top/mrc_rx"
"""Mapping it takes minutes a row, so its figures belong to the long runs."""


def found(unit: str, **parameters: int) -> Cost:
    """The kept figures of the row with these parameters, among others."""
    (row,) = (row for name, known, row in ROWS if name == unit and parameters.items() <= known.items())
    return row


def test_no_figure_is_older_than_its_sources() -> None:
    """Refresh them with `make rtl-report`."""
    assert [unit for unit in stale() if unit != ASSEMBLED] == []


@pytest.mark.nightly
def test_no_figure_of_the_assembled_side_is_older_than_its_sources() -> None:
    assert ASSEMBLED not in stale()


def test_the_documentation_has_the_same_figures() -> None:
    assert page(KEPT) == (ROOT / "docs" / "rtl-cost.md").read_text(encoding="utf-8")


def test_every_unit_has_a_row_and_the_assembled_side_its_sizes() -> None:
    lists = {path.relative_to(ROOT / "rtl_models").with_suffix("").as_posix() for path in ROOT.glob("rtl_models/*/*.f")}
    assert set(CONFIGURATIONS) == lists
    assert {row["QPS"] for row in CONFIGURATIONS[ASSEMBLED]} == {64, 256, 1024}


def test_the_estimate_is_the_arithmetic_that_the_page_states() -> None:
    assert clock_mhz(10, 0) == 250
    assert clock_mhz(11, 0) == 227
    assert clock_mhz(4, 6) == 256
    assert clock_mhz(4, 7) == 232


@pytest.mark.parametrize(
    "unit", [pytest.param(unit, marks=[pytest.mark.nightly] * (unit == ASSEMBLED)) for unit in CONFIGURATIONS]
)
def test_each_unit_reaches_250_mhz_at_some_interval(unit: str) -> None:
    """For every number of QPs."""
    for qps in {row.get("QPS") for row in CONFIGURATIONS[unit]}:
        clocks = [row.clock_mhz for name, known, row in ROWS if name == unit and known.get("QPS") == qps]
        assert max(clocks) >= 250, (unit, qps)


@pytest.mark.parametrize(
    ("unit", "parameters"),
    [
        *((PSN_TRACKER, {"WINDOW": 4096, "SAME_QP_INTERVAL": interval}) for interval in (1, 2)),
        *(
            (unit, {"SAME_QP_INTERVAL": interval})
            for unit in ("responder/mrc_delivery", "responder/mrc_responder")
            for interval in (1, 2)
        ),
        *(pytest.param(ASSEMBLED, {"SAME_QP_INTERVAL": interval}, marks=pytest.mark.nightly) for interval in (1, 2)),
        ("reply/mrc_reply", {}),
        ("csr/mrc_csr", {}),
    ],
)
def test_more_qps_cost_memory_and_not_logic(unit: str, parameters: dict[str, int]) -> None:
    few, many = found(unit, QPS=64, **parameters), found(unit, QPS=1024, **parameters)
    assert many.luts + many.flip_flops < 1.15 * (few.luts + few.flip_flops)
    assert many.ram_bits >= few.ram_bits
    if unit == PSN_TRACKER:
        assert many.ram_bits == 16 * few.ram_bits


@pytest.mark.rtl
@pytest.mark.slow
def test_yosys_reads_packages_and_structs_and_finds_the_kept_figures_C11() -> None:  # noqa: N802
    parameters = {"QPS": 64, "WINDOW": 128, "SAME_QP_INTERVAL": 1}
    assert asdict(cost(configuration(PSN_TRACKER, parameters))) == asdict(found(PSN_TRACKER, **parameters))


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("unit", [unit for unit in CONFIGURATIONS if unit != ASSEMBLED])
def test_yosys_finds_the_kept_figures(unit: str) -> None:
    """Of a row of each unit: the rows of a unit are always made together."""
    parameters = CONFIGURATIONS[unit][-1]
    assert asdict(cost(configuration(unit, parameters))) == asdict(found(unit, **parameters))


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
    assert found == Cost(
        luts=3, flip_flops=13, ram_bits=32, levels=2, levels_after_ram=1, deepest="q", deepest_after_ram="r"
    )


@pytest.mark.nightly
def test_no_figure_of_a_module_is_older_than_the_rtl() -> None:
    assert not leaf_cost.stale()


def test_the_modules_have_the_memory_of_the_whole_and_at_least_its_logic() -> None:
    kept = leaf_cost.read_leaves()["leaves"]
    assert list(map(int, kept)) == list(leaf_cost.QPS)
    assert leaf_cost.page(kept) == (ROOT / "docs" / "rtl-leaves.md").read_text(encoding="utf-8")
    for qps, figures in kept.items():
        whole = found(ASSEMBLED, QPS=int(qps), SAME_QP_INTERVAL=1)
        each = [Leaf(**leaf) for leaf in figures]
        # A memory that nobody reads, of 32 bits, is not in the whole.
        assert sum(leaf.instances * leaf.ram_bits for leaf in each) == whole.ram_bits + 32
        assert sum(leaf.instances * leaf.luts for leaf in each) > 0.9 * whole.luts
        assert sum(leaf.instances * leaf.flip_flops for leaf in each) >= whole.flip_flops


@pytest.mark.rtl
@pytest.mark.slow
def test_a_unit_that_is_mapped_alone_counts_as_often_as_it_is_there(tmp_path: Path) -> None:
    """Two instances of 12 bits of parity with a register and a RAM, and a LUT over both."""
    (tmp_path / "counted.sv").write_text(
        """
module leaf (input wire clk, input wire [11:0] a, output logic q);
  logic [3:0] row;
  mrc_ram #(.WIDTH(4), .DEPTH(8)) u_ram (
    .clk_i(clk), .en_i(1'b1), .raddr_i(a[2:0]), .rdata_o(row), .we_i(a[0]), .waddr_i(a[3:1]), .wdata_i(a[7:4]));
  always_ff @(posedge clk) q <= ^{a[10:0], row[0]};
endmodule
module counted (input wire clk, input wire [11:0] a, input wire [11:0] b, output logic q);
  logic [1:0] each;
  leaf u_a (.clk, .a(a), .q(each[0]));
  leaf u_b (.clk, .a(b), .q(each[1]));
  always_ff @(posedge clk) q <= ^each;
endmodule
""",
        encoding="utf-8",
    )
    memory = ROOT / "rtl_models" / "common" / "mrc_ram.sv"
    design = Design("counted", ("counted.sv", str(memory)), root=tmp_path)
    both = cost(design, alone=("leaf",))
    assert both == Cost(
        luts=7, flip_flops=3, ram_bits=64, levels=2, levels_after_ram=2, deepest="u_a.q", deepest_after_ram="u_a.q"
    )
    assert leaves(design) == [
        Leaf("", "counted", instances=1, luts=1, flip_flops=1, ram_bits=0, levels=1, levels_after_ram=0),
        *(
            Leaf(place, "leaf", instances=1, luts=3, flip_flops=1, ram_bits=32, levels=2, levels_after_ram=2)
            for place in ("u_a", "u_b")
        ),
    ]
