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
    Fault("mrc_region_check", "known_3_q && !carry_3_q;", "known_3_q;", "responder"),
    Fault("mrc_region_check", "33'(carry_2_q);", "33'(1'b0);", "responder"),
    Fault("mrc_region_check", "bytes_i - 1'b1;", "bytes_i;", "responder"),
    Fault("mrc_region_check", "(or_equal[p] && decided)", "or_equal[p]", "responder"),
    Fault("mrc_region_check", "region_i.valid && region_i.tag", "region_i.tag", "responder"),
    Fault("mrc_verdict_queues", "(DEPTH - 1) - COUNT_W'(accepted_q);", "(DEPTH - 1);", "responder"),
    Fault("mrc_verdict_queues", "|| (last && !accepted_i[p]);", "|| last;", "responder"),
    Fault("mrc_verdict_queues", "if (accepted_q != give_back)", "if (accepted_q || give_back)", "responder"),
    Fault("mrc_quiet_timer", "(left_2[TIME_W-1] || left_2 == '0);", "1'b1;", "responder"),
    Fault("mrc_quiet_timer", "(left_2[TIME_W-1] || left_2 == '0);", "left_2 == '0;", "responder"),
    Fault("mrc_quiet_timer", "visited_2_q && running_2_q &&", "visited_2_q &&", "responder"),
    Fault("mrc_quiet_timer", "advance ? slot_q[QP_W-1:0] : qp_1_q", "slot_q[QP_W-1:0]", "responder"),
    Fault("mrc_quiet_timer", "{running_i && !clearing_q, deadline_i}", "{running_i, deadline_i}", "responder"),
    Fault("mrc_reply_turn", "later_found ? later_port : first_port;", "first_port;", "reply"),
    Fault("mrc_reply_turn", "restart_i ? '0 : next_d;", "next_d;", "reply"),
    Fault("mrc_reply_turn", "restart_i || (take_i && found_o);", "restart_i || take_i;", "reply"),
    Fault("mrc_reply_turn", "'0 : port_o + 1'b1;", "'0 : turn + 1'b1;", "reply"),
    Fault("mrc_rx_hold", "rest_q[REST_W-1] ? rest_q : rest_q", "rest_q", "rx"),
    Fault("mrc_rx_hold", "+ (outer_i.ipv6 ? REST_W'(IPV6_BYTES) : '0);", ";", "rx"),
    Fault("mrc_rx_hold", "valid_q && (beat_o.last || valid_i);", "valid_q && valid_i;", "rx"),
    Fault("mrc_rx_hold", "rest_q[6] && rest_q[5:0] > 6'(i)", "rest_q[5:0] > 6'(i)", "rx"),
    Fault("mrc_rx_hold", "!beat_o.first || early_q;", "!beat_o.first;", "rx"),
    Fault("mrc_row_shadow", "busy_o || write_kept[k]", "write_kept[k]", "csr"),
    Fault("mrc_row_shadow", "is_route && command_i.port == PORT_W'(p)", "is_route", "csr"),
    Fault("mrc_row_shadow", "data_o <= known_2_q ? word_2 : '0;", "data_o <= word_2;", "csr"),
    Fault("mrc_row_shadow", "32'(index_i) >= (", "32'(index_i) > (", "csr"),
)
