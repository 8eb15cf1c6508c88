"""The bench of mrc_csr notices small faults in the RTL, each of which takes away a reason why it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests import test_mrc_csr
from tests.rtl.mutation import Bench, Patch, killed, without_place

_CSR, _ROWS, _COUNTERS = (
    f"rtl_models/{name}.sv" for name in ("csr/mrc_csr", "csr/mrc_row_shadow", "common/mrc_counters")
)
BENCH = Bench("mrc_csr", test_mrc_csr.SOURCES, test_mrc_csr.PARAMETERS, test_mrc_csr.MODULE, {})

PATCHES = (
    # accesses
    Patch("a part of a word is written", _CSR, "s_axil_wstrb != '1 || ", ""),
    Patch("a write to an unaligned address counts", _CSR, "s_axil_awaddr[1:0] != '0 || ", ""),
    Patch(
        "a read of an unaligned address counts",
        _CSR,
        "s_axil_araddr[1:0] == '0 ? s_axil_araddr : NOWHERE",
        "s_axil_araddr",
    ),
    Patch(
        "address without data enters",
        _CSR,
        "join_valid = s_axil_awvalid && s_axil_wvalid",
        "join_valid = s_axil_awvalid",
    ),
    # commands
    Patch("a command changes while it waits", _CSR, "command.qp.qp.swwe = free", "command.qp.qp.swwe = 1'b1"),
    Patch("a second go replaces the first", _CSR, "send = go_q && !waiting_q && known", "send = go_q && known"),
    Patch("a region that is not there", _CSR, "32'(command_o.qp) < REGIONS", "32'(command_o.qp) <= REGIONS"),
    Patch("a QP that is not there", _CSR, "32'(command_o.qp) < QPS", "32'(command_o.qp) <= QPS"),
    Patch(
        "a command is given twice",
        _CSR,
        "else if (command_valid_o && command_ready_i) waiting_q",
        "else if (told_q) waiting_q",
    ),
    Patch("commands do not wait for the clearing", _CSR, "waiting_q && !forgetting", "waiting_q"),
    # rows
    Patch(
        "a row is written before the engine takes it",
        _CSR,
        "told_q <= command_valid_o && command_ready_i",
        "told_q <= command_valid_o",
    ),
    Patch(
        "a command counts as taken before it is offered", _CSR, "told_q <= command_valid_o &&", "told_q <= waiting_q &&"
    ),
    Patch("rows of an earlier life show", _ROWS, ".we_i(busy_o || write_kept[k])", ".we_i(write_kept[k])"),
    Patch("the last row is not cleared", _ROWS, "clear_q == MOST_W'(MOST - 1)", "clear_q == MOST_W'(MOST - 2)"),
    Patch("a route counts for every port", _ROWS, "is_route && command_i.port == PORT_W'(p)", "is_route"),
    Patch("a row that is not there shows another", _ROWS, "known_2_q <= known_1 && !none_1_q", "known_2_q <= known_1"),
    Patch("a region is looked for among QPs", _ROWS, "kind_i == 2'(CMD_REGION) ? 32'(REGIONS) : 32'(QPS)", "32'(QPS)"),
    Patch(
        "every command brings a configuration",
        _ROWS,
        "write_i && command_i.op == CMD_QP_CONFIG",
        "write_i && command_i.op != CMD_QP_ROUTE && command_i.op != CMD_REGION",
    ),
    # answers
    Patch("an old answer stands for the new query", _CSR, "else if (send && op == CMD_QUERY) answered_q <= 1'b0;", ""),
    Patch("an answer is overwritten by junk", _CSR, "if (query_valid_i) query_q <= query_i", "query_q <= query_i"),
    Patch(
        "a notice is gone before it is taken",
        _CSR,
        "notice_ready_o = hw_out.notice.take.take.swmod",
        "notice_ready_o = 1'b1",
    ),
    # counters
    Patch(
        "drops count as another cause",
        _CSR,
        "drop_cause_i[p] == drop_cause_e'(c)",
        "drop_cause_i[p] == drop_cause_e'(c + 1)",
    ),
    Patch("an event in the clock of the visit is lost", _COUNTERS, "few_q[k] <= FEW_W'(event_i[k])", "few_q[k] <= '0"),
    Patch("too few bits between two visits", _COUNTERS, "FEW_W = $clog2(ROUND + 1)", "FEW_W = 3"),
    Patch("counts begin with what the RAM held", _COUNTERS, "(read_1_q ? first_4_q : first_1_q)", "1'b0"),
)


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    assert without_place(PATCHES) == []


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("patch", PATCHES, ids=[patch.name for patch in PATCHES])
def test_the_bench_kills(patch: Patch, tmp_path: Path) -> None:
    assert killed(patch, BENCH, tmp_path)
