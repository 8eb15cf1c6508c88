"""The benches of rtl_models/reply notice small faults in the RTL, each of which takes away a reason why it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests import test_mrc_endpoint, test_mrc_reply
from tests.rtl.mutation import Bench, Patch, killed, without_place

_FOLDER = "rtl_models/reply/"
_REPLY, _TURN, _PORT, _BODY, _FRAME, _FRONT, _ENDPOINT, _BACK = (
    f"{_FOLDER}{name}.sv"
    for name in (
        "mrc_reply",
        "mrc_reply_turn",
        "mrc_reply_port",
        "mrc_reply_body",
        "mrc_reply_frame",
        "mrc_reply_front",
        "mrc_endpoint",
        "mrc_route_back",
    )
)
REPLY_BENCH = Bench(
    "mrc_reply_bench",
    test_mrc_reply.SOURCES,
    {"QPS": 128, "FRAMES": 16},
    test_mrc_reply.MODULE,
    {"qps": 128, "frames": 16, "replies": test_mrc_reply.REPLIES},
)
ENDPOINT_BENCH = Bench(
    "mrc_endpoint_bench",
    test_mrc_endpoint.SOURCES,
    {},
    test_mrc_endpoint.MODULE,
    {"requests": test_mrc_endpoint.REQUESTS},
)

OF_REPLY = (
    # turn
    Patch("the turn of a dropped answer moves", _TURN, "take_i && found_o", "take_i"),
    Patch("a configuration leaves the turn", _TURN, "restart_i || (take_i", "(take_i"),
    Patch("the turn stays at the port taken", _TURN, "'0 : port_o + 1'b1", "'0 : port_o"),
    Patch("the turn starts at port 0 always", _TURN, "{PORTS{1'b1}} << turn", "{PORTS{1'b1}} << (turn & '0)"),
    Patch("an unusable plane is taken", _TURN, ".bits_i (later)", ".bits_i (later | 8'd1)"),
    Patch("an endpoint response takes the turn", _REPLY, "if (is_answer_3) reply_4_q.port", "reply_4_q.port"),
    Patch(
        "an answer without a plane leaves", _REPLY, "valid_q[4] <= valid_q[3] && !dropped_3", "valid_q[4] <= valid_q[3]"
    ),
    # routes
    Patch("configurations write routes", _REPLY, "reply_4_q.kind == REPLY_ROUTE", "reply_4_q.kind == REPLY_CONFIG"),
    Patch("the engine's word stands under the endpoint's", _REPLY, "of_endpoint ? endpoint_i : engine_i", "engine_i"),
    # queues
    Patch("room too late", _PORT, "COUNT_W'(FRAMES - UNDER_WAY)", "COUNT_W'(FRAMES)"),
    Patch("room too early", _PORT, "COUNT_W'(FRAMES - UNDER_WAY)", "COUNT_W'(FRAMES - UNDER_WAY - 2)"),
    Patch("places are never given back", _PORT, "if (!reserve_i && pop) reserved_d", "if (1'b0) reserved_d"),
    Patch("a frame of 122 bytes takes three beats", _PORT, "(2 * BUS_BYTES) ?", "(2 * BUS_BYTES - 8) ?"),
    Patch("keep one byte short", _PORT, "OFFSET_W'(b) < frame", "OFFSET_W'(b + 1) < frame"),
    Patch("the beat moves while the port stands", _PORT, "else if (fifo_valid && beat_ready)", "else if (fifo_valid)"),
    # bytes
    Patch("dcids by the other rule", _BODY, "config_i.spdcid_is_sender ? own : peer", "own"),
    Patch("the transport ACK is a NACK", _BODY, "packet_o.size   = BODY_AETH;", ""),
    Patch("an EETH of one layout alone", _BODY, "config_i.eeth_op_54 ? eeth_op_54 : eeth", "eeth"),
    Patch("EV halves one way alone", _FRONT, "20'(config_i.flow_label_high ? high : low)", "20'(high)"),
    Patch("all answers of the control class", _FRONT, "packet_i.endpoint ? config_i.dscp_no_trim : ", ""),
    Patch("the outer length without the SRH", _FRAME, "16'(IPV6_BYTES) + extra;", "16'(IPV6_BYTES);"),
    Patch("the SRH is not announced", _FRAME, "packet_i.routing ? NEXT_HEADER_ROUTING : ", ""),
    Patch(
        "two bytes of the ICRC swapped",
        _FRAME,
        "{icrc_i[7:0], icrc_i[15:8],",
        "{icrc_i[15:8], icrc_i[7:0],",
    ),
)
OF_ENDPOINT = (
    Patch("IPv4 addresses count", _ENDPOINT, "!ipv6_1_q || dst_1_q", "dst_1_q"),
    Patch("any QP", _ENDPOINT, "dest_qp_1_q != ENDPOINT_QP", "1'b0"),
    Patch("responses are asked for", _ENDPOINT, "!unknown_qp_2_q && !request_2_q.response", "!unknown_qp_2_q"),
    Patch("no answer without encapsulation", _ENDPOINT, "request_2_q.encapsulated && !way_2", "!way_2"),
    Patch("a notice for every request", _ENDPOINT, "ours && request_2_q.op == ENDPOINT_OP_PORT_STATUS_UPDATE", "ours"),
    Patch("a notice again while an answer waits", _ENDPOINT, "is_update && advance", "is_update"),
    Patch("an answer without its notice", _ENDPOINT, "is_update && !notice_ready", "1'b0"),
    Patch("the request id has 24 bits", _ENDPOINT, "PSN_W'(request_2_q.request_id)", "request_2_q.mask[23:0]"),
    Patch("three uSIDs", _BACK, "second != '0 && behind == '0", "second != '0"),
    Patch("another block", _BACK, "own.block != peer.block || own.block == '0", "own.block == '0"),
    Patch("no block", _BACK, "own.block != peer.block || own.block == '0", "own.block != peer.block"),
    Patch("a T0 of index 0", _BACK, "role == USID_ROLE_T0 && index != '0", "role == USID_ROLE_T0"),
    Patch("another plane of the NIC", _BACK, " || peer.nic.plane != own.t0.plane", ""),
    Patch("through a T1 always", _BACK, "own.t0 == peer.t0", "1'b0"),
    Patch("the uplink from the next bits", _BACK, "ev_i[UPLINK_SHIFT+:", "ev_i[UPLINK_SHIFT-1+:"),
)
ROWS = [(patch, REPLY_BENCH) for patch in OF_REPLY] + [(patch, ENDPOINT_BENCH) for patch in OF_ENDPOINT]


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    assert without_place([*OF_REPLY, *OF_ENDPOINT]) == []


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize(("patch", "bench"), ROWS, ids=[patch.name for patch, _ in ROWS])
def test_the_lock_step_kills(patch: Patch, bench: Bench, tmp_path: Path) -> None:
    assert killed(patch, bench, tmp_path)
