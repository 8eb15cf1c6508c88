"""The engine's bench notices small faults in its own parts, each of which takes away a reason why it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests import test_mrc_responder
from tests.rtl.mutation import Bench, Patch, killed, without_place

_ARBITER, _TABLES, _REGION, _LOOKUP, _RESPOND, _FORMAT, _TIMER, _VERDICTS, _RESPONDER = (
    f"rtl_models/responder/mrc_{part}.sv"
    for part in (
        "event_arbiter",
        "responder_tables",
        "region_check",
        "responder_lookup",
        "respond",
        "reply_format",
        "quiet_timer",
        "verdict_queues",
        "responder",
    )
)
_INTERVAL, _QPS, _WINDOW = test_mrc_responder.CONFIGURATIONS[0]
BENCH = Bench(
    "mrc_responder_bench",
    test_mrc_responder.SOURCES,
    {"QPS": _QPS, "WINDOW": _WINDOW, "SAME_QP_INTERVAL": _INTERVAL, "REPLY_DEPTH": test_mrc_responder.REPLY_DEPTH},
    test_mrc_responder.MODULE,
    test_mrc_responder.settings(_INTERVAL, _QPS, _WINDOW, 12_000),
    test_mrc_responder.RTL_TESTS,
)

PATCHES = (
    # order
    Patch(
        "frames do not wait for room for their verdicts",
        _RESPONDER,
        "room[p] && allow[p]",
        "room[p]",
    ),
    Patch("a command is accepted twice", _ARBITER, "command_valid_i && !command_ready_o", "command_valid_i"),
    Patch("expiries do not go first", _ARBITER, "if (timer_valid_i) chosen.kind", "if (!granted) chosen.kind"),
    Patch("a verdict more than there are places", _VERDICTS, "(last && !accepted_i[p])", "last"),
    Patch("a place for a verdict is never given back", _VERDICTS, "verdict_valid_o[p] && verdict_ready_i[p]", "1'b0"),
    # tables and checks
    Patch("an MPR is not cut to the window", _TABLES, "window > MPR_MAX ? MPR_MAX : ", ""),
    Patch(
        "a QP that starts keeps its shortage",
        _TABLES,
        "is_ready ? '0 : value)\n  );\n\n  mrc_ram_forward #(\n      .WIDTH(PORTS)",
        "value)\n  );\n\n  mrc_ram_forward #(\n      .WIDTH(PORTS)",
    ),
    Patch("a range may wrap", _REGION, "known_4_q <= known_3_q && !carry_3_q;", "known_4_q <= known_3_q;"),
    Patch("any tag opens a region", _REGION, "region_i.valid && region_i.tag == tag_2_q", "region_i.valid"),
    Patch("keys beyond the table wrap", _REGION, "r_key_i[31:R_KEY_TAG_W] < INDEX_W'(REGIONS)", "1'b1"),
    Patch(
        "the last byte of a region is out of it",
        _REGION,
        "beyond_4_q[p] <= last_3_q[PART_W*p+:PART_W] > ",
        "beyond_4_q[p] <= last_3_q[PART_W*p+:PART_W] >= ",
    ),
    Patch(
        "two limited members may talk", _LOOKUP, "(desc_3.p_key[P_KEY_FULL] || config_3_q.p_key[P_KEY_FULL])", "1'b1"
    ),
    Patch("the key of a write of no bytes counts", _LOOKUP, "(desc_4.payload_bytes != '0 && !granted_4)", "!granted_4"),
    Patch("faults come before a shortage", _LOOKUP, "bad_4 && !packet_4.refused", "bad_4"),
    Patch("a refused packet is recorded", _LOOKUP, "packet_4.refused || bad_4 ? PSN_PEEK", "bad_4 ? PSN_PEEK"),
    # the loop, and answers
    Patch(
        "the event before does not pass its row on", _RESPOND, "valid_q[3] && qp_3 == qp_2 ? new_row", "1'b0 ? new_row"
    ),
    Patch("a deadline moves with each packet", _RESPOND, "if (!row_3_q.running) new_row.deadline", "new_row.deadline"),
    Patch("a timer that moved expires", _RESPOND, "row_3_q.running && !late_3[TIME_W-1]", "row_3_q.running"),
    Patch("a QP that failed keeps its timer", _RESPOND, "sack_3 || plan_3_q.stop) new_row", "sack_3) new_row"),
    Patch("a CE mark is not answered at once", _RESPOND, "packet_0.ce || packet_0.prompt", "packet_0.prompt"),
    Patch(
        "a duplicate leaves the byte counter", _RESPOND, "    if (sack_3) begin\n", "    if (over_3 || due_3) begin\n"
    ),
    Patch(
        "trimmed packets draw answers from all",
        _RESPOND,
        "== WORK_WRITE || packet_0.trim_nack)",
        "== WORK_WRITE || 1'b1)",
    ),
    Patch("ACKs repeat", _RESPOND, "finding_3_q.delivered.completed != row_3_q.acknowledged", "1'b1"),
    Patch("a held stamp stands still", _FORMAT, "stamp_7_q + waited_7_q", "stamp_7_q"),
    Patch(
        "a timer's SACK starts behind cack", _FORMAT, "assign moved_7 = answer_7_q.quiet &&", "assign moved_7 = 1'b0 &&"
    ),
    Patch(
        "a window that shrank is not looked at",
        _FORMAT,
        "distance_7_q <= PSN_W'({finding_7_q.ticket.mpr_units, 7'd0})",
        "1'b1",
    ),
    Patch("bytes received are rounded down", _FORMAT, "+ RCVD_BYTES_W'(|received_6_q[7:0])", ""),
    Patch("a distance far back wraps", _FORMAT, "distance_7_q[PSN_W-1] && !(&distance_7_q[PSN_W-2:15])", "1'b0"),
    Patch("the scanner leaves out every second slot", _TIMER, "? '0 : slot_q + 1'b1", "? '0 : slot_q + 2'd2"),
)


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    assert without_place(PATCHES) == []


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("patch", PATCHES, ids=[patch.name for patch in PATCHES])
def test_the_bench_kills(patch: Patch, tmp_path: Path) -> None:
    assert killed(patch, BENCH, tmp_path)
