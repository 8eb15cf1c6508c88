"""The delivery's bench notices small faults in the RTL, each of which takes away a reason why it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests import test_mrc_delivery
from tests.rtl.mutation import Bench, Patch, killed, without_place

_TOP, _GATE, _COUNT, _STASH, _STATE, _WALKER = (
    f"rtl_models/responder/mrc_delivery{part}.sv" for part in ("", "_gate", "_count", "_stash", "_state", "_walker")
)
BENCH = Bench(
    "mrc_delivery_bench",
    test_mrc_delivery.SOURCES,
    {"QPS": 64, "WINDOW": 128, "WIMM": 8},
    test_mrc_delivery.MODULE,
    {"qps": 64, "window": 128, "wimm": 8, "events": test_mrc_delivery.EVENTS},
    test_mrc_delivery.TESTS,
)

PATCHES = (
    # gate
    Patch(
        "a write with immediate takes a place that is in use",
        _GATE,
        "(unreleased_2 || reset_2 && (!quiet_i || clearing_i) || ready_2 && clearing_i);",
        "(reset_2 && (!quiet_i || clearing_i) || ready_2 && clearing_i);",
    ),
    Patch(
        "a number too many waits for ever",
        _GATE,
        " && gap_2[15:PLACE_W] != '0 && !quiet_i;",
        " && gap_2[15:PLACE_W] != '0;",
    ),
    Patch(
        "a reset does not wait for completions", _GATE, "reset_2 && (!quiet_i || clearing_i)", "reset_2 && clearing_i"
    ),
    Patch("a QP is ready before its stash is empty", _GATE, " || ready_2 && clearing_i);", ");"),
    Patch(
        "a reset leaves what was released", _GATE, "assign write_row = wipe_o ? '0 :", "assign write_row = 1'b0 ? '0 :"
    ),
    # count
    Patch(
        "the cumulative PSN itself ends nothing",
        _COUNT,
        "mask_5[b] <= b[5:0] <= place_4;",
        "mask_5[b] <= b[5:0] < place_4;",
    ),
    Patch(
        "a packet in a message leaves a bit of before",
        _COUNT,
        "assign we[b] = set_up_i || write_i && psn_i[5:0] == 6'(b);",
        "assign we[b] = set_up_i || write_i && last_i && psn_i[5:0] == 6'(b);",
    ),
    Patch(
        "the first word keeps an earlier life's ends",
        _COUNT,
        "assign we[b] = set_up_i || write_i",
        "assign we[b] = write_i",
    ),
    Patch(
        "the first word keeps an earlier life's number", _COUNT, ".wdata_i(set_up_i ? '0 : msn_i)", ".wdata_i(msn_i)"
    ),
    Patch(
        "a set-up writes the word of the first PSN",
        _COUNT,
        "set_up_i ? cack_i[RING_W:6] : psn_i[RING_W:6]",
        "set_up_i ? cack_i[RING_W:6] + 1'b1 : psn_i[RING_W:6]",
    ),
    Patch(
        "the ring is as long as the window",
        _COUNT,
        "read_row_4 <= {qp_i, cack_i[RING_W:6]};",
        "read_row_4 <= {qp_i, 1'b0, cack_i[RING_W-1:6]};",
    ),
    Patch(
        "half of a word is not counted", _COUNT, "ends_8 <= 7'(half_7[0]) + 7'(half_7[1]);", "ends_8 <= 7'(half_7[0]);"
    ),
    # stash
    Patch("what a QP had is not emptied", _STASH, "assign we = write_i || clearing_o;", "assign we = write_i;"),
    Patch(
        "emptying skips a place that an event wrote beside",
        _STASH,
        "      end else if (!write_i) begin\n        clear_place_q",
        "      end else begin\n        clear_place_q",
    ),
    Patch(
        "a walker that waits loses a row",
        _STASH,
        "assign walk_row_d = walk_en_i ? {walk_qp_i, walk_place_i} : walk_row_q;",
        "assign walk_row_d = {walk_qp_i, walk_place_i};",
    ),
    # state
    Patch(
        "an immediate that lands is not watched",
        _STATE,
        "if (immediate_11_i && watched_11_i) new_watch_11",
        "if (1'b0) new_watch_11",
    ),
    Patch(
        "any immediate is watched",
        _STATE,
        "if (immediate_11_i && watched_11_i) new_watch_11",
        "if (immediate_11_i) new_watch_11",
    ),
    Patch(
        "receives posted look up nothing",
        _STATE,
        "new_watch_11 = {found_11_i, found_msn_11_i};",
        "new_watch_11.valid = 1'b0;",
    ),
    Patch(
        "the event before does not pass its watch on",
        _STATE,
        "new_watch_11 : watch_10;",
        "watch_10 : watch_10;",
    ),
    Patch(
        "messages go past an immediate without a receive",
        _STATE,
        "target_13  <= missing_12 ? watch_12.msn : messages_12_i;",
        "target_13  <= messages_12_i;",
    ),
    Patch(
        "the event before does not pass its state on",
        _STATE,
        "new_row_13 : row_t'(ram_row_12);",
        "row_t'(ram_row_12) : row_t'(ram_row_12);",
    ),
    Patch(
        "one immediate too many counts as received",
        _STATE,
        "assign on_13 = takes_13 && !part[13].bad && !excess_13 &&",
        "assign on_13 = takes_13 && !part[13].bad &&",
    ),
    Patch(
        "one immediate too many is placed",
        _STATE,
        "placed_o <= takes_13 && part[13].recorded && !excess_13;",
        "placed_o <= takes_13 && part[13].recorded;",
    ),
    Patch("a failed QP goes on", _STATE, "assign on_13 = takes_13 &&", "assign on_13 ="),
    Patch(
        "a QP in reset fails elsewhere",
        _STATE,
        "if (part[13].op == DELIVERY_ERROR && takes_13)",
        "if (part[13].op == DELIVERY_ERROR)",
    ),
    Patch("messages move back", _STATE, " && !excess_13 && !ahead_13[MSN_W-1];", " && !excess_13;"),
    Patch("a packet that fails is not told by its PSN", _STATE, "      new_row_13.nak_psn = part[13].psn;\n", ""),
    # walker
    Patch("a QP is queued twice", _WALKER, "wake_i && entries_14 == exits_14;", "wake_i;"),
    Patch("an exit does not turn", _WALKER, ".wdata_i(pop && head_entry)", ".wdata_i(1'b0)"),
    Patch(
        "another number's place is taken for it",
        _WALKER,
        "complete_3 <= walk_full_i && walk_tag_i == number_2[15:PLACE_W] &&",
        "complete_3 <= walk_full_i &&",
    ),
    Patch(
        "what is there counts as complete",
        _WALKER,
        "number_2[15:PLACE_W] && behind_2[MSN_W-1];",
        "number_2[15:PLACE_W];",
    ),
    Patch("a failed QP flushes nothing", _WALKER, "(complete_3 || view_q.failed);", "complete_3;"),
    Patch("more receives are flushed than are posted", _WALKER, "on_q[3] && posted_3 &&", "on_q[3] &&"),
    # top
    Patch(
        "an immediate more may be in flight",
        _TOP,
        "early[4].done <= gap_3 < ev[3].wimm;",
        "early[4].done <= gap_3 <= ev[3].wimm;",
    ),
    Patch(
        "only what was released counts as complete",
        _TOP,
        "!late[10].done && !(found_10 && behind_10[MSN_W-1]);",
        "!late[10].done;",
    ),
    Patch("what waits in the stash counts as complete", _TOP, "!(found_10 && behind_10[MSN_W-1]);", "!found_10;"),
    Patch(
        "the event before does not pass its receives on",
        _TOP,
        "          new_receives_6 : receives_5;",
        "          receives_5 : receives_5;",
    ),
    Patch(
        "an immediate of a QP in reset lands",
        _TOP,
        "assign landed_7  = early[7].immediate && receives_7.live;",
        "assign landed_7  = early[7].immediate;",
    ),
    Patch(
        "receives posted to a failed QP stay",
        _TOP,
        "(result.state == QP_READY || op_14 == DELIVERY_POST);",
        "result.state == QP_READY;",
    ),
    Patch(
        "a message complete later wakes nobody",
        _TOP,
        "assign wake = moved && pending[LAST] ||",
        "assign wake = 1'b0 ||",
    ),
)


def test_each_patch_has_its_place() -> None:
    assert without_place(PATCHES) == []


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize("patch", PATCHES, ids=[patch.name for patch in PATCHES])
def test_the_bench_kills(patch: Patch, tmp_path: Path) -> None:
    assert killed(patch, BENCH, tmp_path)
