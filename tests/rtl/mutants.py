"""Small faults in the PSN tracker's RTL, each a patch of one place, that the lock-step must notice.

A row is (name, file, what stands there, what stands there in the mutant). They were chosen along the reasons why the
design is right: each takes one of them away.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old` stands in `file` exactly once; in the mutant `new` stands there. Built with SAME_QP_INTERVAL `interval`."""

    name: str
    file: str
    old: str
    new: str
    interval: int = 1


_COMMON = "rtl_models/common/"
_RESPONDER = "rtl_models/responder/"
_FORWARD = _COMMON + "mrc_ram_forward.sv"
_SEARCH = _RESPONDER + "mrc_psn_search.sv"
_LOOKUP = _RESPONDER + "mrc_psn_lookup.sv"
_DECIDE = _RESPONDER + "mrc_psn_decide.sv"
_BITMAP = _RESPONDER + "mrc_psn_bitmap.sv"
_TRACKER = _RESPONDER + "mrc_psn_tracker.sv"

MUTANTS = (
    # memory
    Mutant(
        "a write in the clock of the address is missed",
        _FORWARD,
        "passed_q <= we_i && waddr_i == raddr_i;",
        "passed_q <= 1'b0;",
    ),
    Mutant(
        "a write one clock after the address is missed",
        _FORWARD,
        "if (we_i && waddr_i == address_q) row_d = wdata_i;",
        "",
    ),
    Mutant(
        "a write two clocks after the address is missed",
        _FORWARD,
        "assign rdata_o = we_i && waddr_i == address_qq ? wdata_i : row_q;",
        "assign rdata_o = row_q;",
    ),
    Mutant(
        "a stalled output loses a word",
        _COMMON + "mrc_skid_buffer.sv",
        "if (ready_o) skid_q <= data_i;",
        "skid_q <= data_i;",
    ),
    # search
    Mutant("stage 2 update not in the word", _SEARCH, "if (same_index[2]) word_2[upd_psn_i[5:0]] = upd_lap;", ""),
    Mutant("stage 3 update not in the word", _SEARCH, "if (same_index[3]) word_4[upd_psn_i[5:0]] <= upd_lap;", ""),
    Mutant("stage 4 update not in the word", _SEARCH, "if (same_index[4]) word_o[upd_psn_i[5:0]] <= upd_lap;", ""),
    Mutant("stage 2 update not received", _SEARCH, "if (merged_3) received_3[merged_bit_3] = 1'b1;", ""),
    Mutant(
        "stage 2 update of another lap taken for mine",
        _SEARCH,
        "merged_3 <= same_word[2];",
        "merged_3 <= same_index[2];",
    ),
    Mutant("stage 3 update not received", _SEARCH, "if (same_word[3]) received_3[upd_psn_i[5:0]] = 1'b1;", ""),
    Mutant("stage 4 update not seen", _SEARCH, "|| same_word[4] && upd_psn_i[5:0] == psn[4][5:0];", ";"),
    Mutant(
        "word completed in stage 2 still searched",
        _SEARCH,
        "holed_3 <= changed(holed_2, completes_2, 1'b0);",
        "holed_3 <= holed_2;",
    ),
    Mutant(
        "word completed in stage 3 still searched",
        _SEARCH,
        "holed_left_3 = changed(holed_3, completes_3, 1'b0);",
        "holed_left_3 = holed_3;",
    ),
    Mutant(
        "a completed word of another lap ends the search",
        _SEARCH,
        "assign completes_2 = same_qp[2] && upd_fill_i && upd_lap == (lap_2 ^ (upd_index <= index[2]));",
        "assign completes_2 = same_qp[2] && upd_fill_i;",
    ),
    Mutant(
        "the search does not end at head",
        _SEARCH,
        "holed_2[w] = head_index_2 == w[WORD_W-1:0] ||\n",
        "holed_2[w] = 1'b0 ||\n",
    ),
    Mutant("the wrap of the ring keeps the lap", _SEARCH, "(lap_2 ^ (w[WORD_W-1:0] <= index[2]));", "lap_2;"),
    Mutant(
        "places below head are not received",
        _SEARCH,
        "PLACE_HEAD: received_3 = equal_3 | below_head_3;",
        "PLACE_HEAD: received_3 = equal_3;",
    ),
    Mutant(
        "places above head are taken for the next lap",
        _SEARCH,
        "PLACE_TOP: received_3 = equal_3 & below_head_3;",
        "PLACE_TOP: received_3 = equal_3;",
    ),
    Mutant(
        "words above the ring read as held",
        _SEARCH,
        "PLACE_OUTSIDE: received_3 = '0;",
        "PLACE_OUTSIDE: received_3 = equal_3;",
    ),
    Mutant(
        "above the ring the search goes on",
        _SEARCH,
        "beyond_4 <= place_3 == PLACE_TOP || place_3 == PLACE_OUTSIDE;",
        "beyond_4 <= place_3 == PLACE_OUTSIDE;",
    ),
    Mutant(
        "an earlier life's words are trusted",
        _SEARCH,
        "assign mine_touched_2 = touched_2[index[2]];",
        "assign mine_touched_2 = 1'b1;",
    ),
    Mutant(
        "an untouched word does not know head", _SEARCH, "index[2] == head_index_2 && b[5:0] < head_2[5:0]);", "1'b0);"
    ),
    Mutant(
        "stage 3 touch is forgotten",
        _SEARCH,
        "touched_4 <= changed(touched_3, same_qp[3], 1'b1);",
        "touched_4 <= touched_3;",
    ),
    # lookup
    Mutant(
        "stage 4 update does not take my next hole",
        _LOOKUP,
        "late_next_5 ? cmt_next_i : found_next_5;",
        "found_next_5;",
    ),
    Mutant(
        "stage 4 update does not take my first hole",
        _LOOKUP,
        "assign first[5] = late_first_5 ? cmt_next_i[5:0] : found_first_5;",
        "assign first[5] = found_first_5;",
    ),
    Mutant(
        "stage 4 update does not complete the word found",
        _LOOKUP,
        "(found_known_5 ? cmt_psn_i[5:0] == found_next_5[5:0] : cmt_fill_i);",
        "found_known_5 && cmt_psn_i[5:0] == found_next_5[5:0];",
    ),
    Mutant(
        "stage 5 update does not take my next hole",
        _LOOKUP,
        "next_6_q <= taken[5] ? upd_next_i : next[5];",
        "next_6_q <= next[5];",
    ),
    Mutant(
        "stage 6 update does not take my next hole",
        _LOOKUP,
        "next_7_q <= taken[6] ? upd_next_i : next[6];",
        "next_7_q <= next[6];",
    ),
    Mutant(
        "stage 7 update does not take my next hole",
        _LOOKUP,
        "next_o <= taken[7] ? upd_next_i : next[7];",
        "next_o <= next[7];",
    ),
    Mutant(
        "a completed word is not given up",
        _LOOKUP,
        "(known[s] ? upd_psn_i[5:0] == next[s][5:0] : upd_fill_i);",
        "known[s] && upd_psn_i[5:0] == next[s][5:0];",
    ),
    Mutant(
        "another lap's update takes my next hole",
        _LOOKUP,
        "assign taken[s] = same_qp[s] && upd_psn_i[PSN_W-1:6] == next[s][PSN_W-1:6] &&",
        "assign taken[s] = same_qp[s] && upd_index == next[s][RING_W-1:6] &&",
    ),
    Mutant(
        "a touched word's hole reads as its start",
        _LOOKUP,
        "fresh_7 <= fresh_6 && !(same_qp[6] && upd_index == found_index_6);",
        "fresh_7 <= fresh_6;",
    ),
    Mutant(
        "the other lap's hole is left from an earlier life",
        _LOOKUP,
        ".we_i(cmt_record_i && (mine || cmt_fresh_i)),",
        ".we_i(cmt_record_i && mine),",
    ),
    Mutant(
        "first hole not merged in stage 7",
        _LOOKUP,
        "first_o <= first_left(first[7], same_word[7]);",
        "first_o <= first[7];",
    ),
    Mutant(
        "the window's borrow is dropped",
        _LOOKUP,
        "{psn_high_3 - window_high_3 - HALF'(low_3[HALF]), low_3[HALF-1:0]};",
        "{psn_high_3 - window_high_3, low_3[HALF-1:0]};",
    ),
    # decide
    Mutant(
        "state of the event before is not passed on",
        _DECIDE,
        "&& deciding.qp == qp_7 ? new_state : state_7;",
        "&& 1'b0 ? new_state : state_7;",
    ),
    Mutant(
        "half the number space counts as above",
        _DECIDE,
        "compared.below = from_cack[PSN_W-1] || psn_plus_1_i == state_8.head;",
        "compared.below = from_cack[PSN_W-1] && from_cack[PSN_W-2:0] != '0 || psn_plus_1_i == state_8.head;",
    ),
    Mutant(
        "cack itself is not below",
        _DECIDE,
        "from_cack[PSN_W-1] || psn_plus_1_i == state_8.head;",
        "from_cack[PSN_W-1];",
    ),
    Mutant("a duplicate is counted", _DECIDE, "deciding.under_end && !deciding.seen;", "deciding.under_end;"),
    Mutant("a question records", _DECIDE, "assign record = deciding_record &&", "assign record = deciding_valid &&"),
    Mutant(
        "a question moves head",
        _DECIDE,
        "compared.at_head = record_i && psn_i == state_8.head;",
        "compared.at_head = psn_i == state_8.head;",
    ),
    Mutant(
        "what is about no PSN is classified",
        _DECIDE,
        "if (deciding.below || deciding.about_none) psn_class = PSN_BELOW;",
        "if (deciding.below) psn_class = PSN_BELOW;",
    ),
    Mutant(
        "a completed word keeps its hole",
        _DECIDE,
        "else cmt_first_o <= deciding.last_hole ? 6'd0 : deciding.next[5:0];",
        "else cmt_first_o <= deciding.next[5:0];",
    ),
    Mutant(
        "a word is complete with holes above",
        _DECIDE,
        "compared.last_hole = psn_i[5:0] == first_i && psn_i[PSN_W-1:6] != next_i[PSN_W-1:6];",
        "compared.last_hole = psn_i[5:0] == first_i;",
    ),
    Mutant(
        "a word is complete with holes below",
        _DECIDE,
        "compared.last_hole = psn_i[5:0] == first_i && psn_i[PSN_W-1:6] != next_i[PSN_W-1:6];",
        "compared.last_hole = psn_i[PSN_W-1:6] != next_i[PSN_W-1:6];",
    ),
    Mutant("set-up leaves touched bits", _DECIDE, "      new_state.touched = '0;\n", ""),
    Mutant(
        "set-up leaves words of the next lap full",
        _DECIDE,
        "!deciding.psn[RING_W] ^ (w[WORD_W-1:0] < index);",
        "!deciding.psn[RING_W];",
    ),
    # bitmap
    Mutant(
        "bitmap ends one early",
        _BITMAP,
        "assign trailing_base = cmt_psn_i - PSN_W'(SACK_BITMAP_W - 1);",
        "assign trailing_base = cmt_psn_i - PSN_W'(SACK_BITMAP_W - 2);",
    ),
    Mutant(
        "a PSN above the window moves the bitmap",
        _BITMAP,
        "sack_1.base <= in_window && !from_head",
        "sack_1.base <= !from_head",
    ),
    Mutant("the ring's wrap inside a bitmap", _BITMAP, "{64{lap_3 ^ wraps_3}}", "{64{lap_3}}"),
    Mutant("bitmap shows an earlier life", _BITMAP, "assign high_3 = touched_high_3 ?", "assign high_3 = 1'b1 ?"),
    # tracker
    Mutant(
        "a PSN does not wait for its set-up",
        _TRACKER,
        "assign waits_for_setup = setup_busy_q && (init_0 || qp_0_q == setup_qp_q);",
        "assign waits_for_setup = setup_busy_q && init_0;",
    ),
    Mutant(
        "a set-up does not wait for the one before",
        _TRACKER,
        "assign waits_for_setup = setup_busy_q && (init_0 || qp_0_q == setup_qp_q);",
        "assign waits_for_setup = setup_busy_q && qp_0_q == setup_qp_q;",
    ),
    Mutant(
        "a window keeps its first size",
        _TRACKER,
        ".window_we_i(issue && (init_0 || resize_0)),",
        ".window_we_i(issue && init_0),",
    ),
    Mutant(
        "a PSN does not wait for the interval",
        _TRACKER,
        "SAME_QP_INTERVAL == 2 && valid_q[1] && qp_1_q == qp_0_q;",
        "1'b0;",
        interval=2,
    ),
)
