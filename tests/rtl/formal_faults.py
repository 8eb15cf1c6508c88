"""Faults for the proofs: each is a small change of a leaf after which its proof must fail."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAULTS", "Fault"]


@dataclass(frozen=True, slots=True)
class Fault:
    """`old` stands once in `rtl_models/<folder>/<leaf>.sv`; replaced by `new`, an assertion can fail."""

    leaf: str
    old: str
    new: str
    folder: str = "common"


FAULTS: tuple[Fault, ...] = (
    Fault("mrc_stream_register", "ready_i || !valid_o;", "1'b1;"),
    Fault("mrc_stream_register", "else if (ready_o) valid_o <= valid_i;", "else valid_o <= valid_i;"),
    Fault("mrc_stream_register", "if (ready_o) data_o <= data_i;", "if (valid_i) data_o <= data_i;"),
    Fault("mrc_skid_buffer", "skid_valid_q ? skid_q : data_i", "data_i"),
    Fault("mrc_skid_buffer", "if (ready_o) skid_q <= data_i;", "if (take) skid_q <= data_i;"),
    Fault("mrc_skid_buffer", "valid_i || skid_valid_q;", "valid_i;"),
    Fault("mrc_fifo", "valid_o <= count_o > COUNT_W'(take);", "valid_o <= count_o != 0;"),
    Fault("mrc_fifo", "count_o < FULL - COUNT_W'(put)", "count_o < FULL"),
    Fault("mrc_fifo", "take ? read_next_q : read_q;", "read_q;"),
    Fault("mrc_fifo", "row == LAST_ROW ? '0 : row + 1'b1", "row + 1'b1"),
    Fault("mrc_arbiter", "at_or_above << 1 : at_or_above;", "at_or_above : at_or_above;"),
    Fault("mrc_arbiter", "taken_i ? at_or_above << 1 : at_or_above", "at_or_above << 1"),
    Fault("mrc_arbiter", "at_or_above & ~(at_or_above << 1)", "at_or_above & ~(at_or_above << 2)"),
    Fault("mrc_find_first", "assign low = gen", "assign low = !gen"),
    Fault("mrc_popcount", "{1'b0, low} + {1'b0, high}", "{1'b0, low} | {1'b0, high}"),
    Fault("mrc_ram_forward", "passed_q <= we_i && waddr_i == raddr_i;", "passed_q <= 1'b0;"),
    Fault("mrc_ram_forward", "we_i && waddr_i == address_qq ? wdata_i : row_q", "row_q"),
    Fault("mrc_psn_decide", "&& deciding.under_end &&", "&&", "responder"),
    Fault("mrc_psn_decide", "deciding.under_end && !deciding.seen;", "deciding.under_end;", "responder"),
    Fault("mrc_psn_decide", "record_i && psn_i == state_8.head;", "psn_i == state_8.head;", "responder"),
    Fault("mrc_psn_decide", "deciding.qp == qp_7 ? new_state : state_7;", "1'b0 ? new_state : state_7;", "responder"),
    Fault("mrc_counters", "few_q[k] <= FEW_W'(event_i[k]);", "few_q[k] <= '0;"),
    Fault("mrc_counters", "(read_1_q ? first_4_q : first_1_q)", "first_1_q"),
    Fault("mrc_counters", "FEW_W = $clog2(ROUND + 1);", "FEW_W = 2;"),
)
