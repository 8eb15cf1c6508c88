"""The benches of rtl_models/rx notice small faults in the RTL, each of which takes away a reason why it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests import test_mrc_icrc, test_mrc_rx_port
from tests.rtl.mutation import Bench, Patch, killed, without_place

_FOLDER = "rtl_models/rx/"
_OUTER, _HOLD, _HEADERS, _CHECKSUM, _ICRC, _ALIGN, _BUFFER, _PORT = (
    f"{_FOLDER}{name}.sv"
    for name in (
        "mrc_rx_outer",
        "mrc_rx_hold",
        "mrc_rx_headers",
        "mrc_ipv4_checksum",
        "mrc_icrc",
        "mrc_rx_align",
        "mrc_rx_buffer",
        "mrc_rx_port",
    )
)
PARAMETERS = {"BUFFER_BEATS": test_mrc_rx_port.BEATS, "VERDICTS": test_mrc_rx_port.VERDICTS}
_SETTINGS = {"beats": test_mrc_rx_port.BEATS, "verdicts": test_mrc_rx_port.VERDICTS, "frames": 12_000}


def _port(*tests: str) -> Bench:
    return Bench(
        "mrc_rx_port_bench",
        test_mrc_rx_port.SOURCES,
        PARAMETERS,
        test_mrc_rx_port.MODULE,
        {**_SETTINGS, "seed": 20},
        tests,
    )


LOCK_STEP = _port(
    "lock_step",
    "other_choices_of_a_deployment",
    "one_frame_a_beat",
    "lengths_near_64_kilobytes",
    "every_length_back_to_back",  # takes ten times as long as all others
)
BUFFER = _port(*test_mrc_rx_port.OF_THE_BUFFER)
ICRC = Bench("mrc_icrc_bench", test_mrc_icrc.SOURCES, {}, test_mrc_icrc.MODULE, {})

OF_LOCK_STEP = (
    # outer headers, turn
    Patch(
        "an SRH that is too short passes", _OUTER, ">= {2'b00, srh.hdr_ext_len[7:1]}", "> {2'b00, srh.hdr_ext_len[7:1]}"
    ),
    Patch("one more segment left passes", _OUTER, "{1'b0, srh.last_entry} + 9'd1", "{1'b0, srh.last_entry} + 9'd2"),
    Patch("an SRH cut off is read", _OUTER, "routed && shorter(", "1'b0 && shorter("),
    Patch("a long SRH is skipped by one beat less", _OUTER, "skip_q <= skip_q - 1'b1", "skip_q <= skip_q >> 1"),
    Patch("the last beat comes twice", _OUTER, "done_q <= !cur_q.first && emit && turned.last", "done_q <= 1'b0"),
    Patch(
        "a frame that ends with the offset ends later", _OUTER, "cur_q.bytes <= distance;", "cur_q.bytes < distance;"
    ),
    Patch(
        "bytes of the end wrong by one", _OUTER, "'0 : prev_q.bytes - distance", "'0 : prev_q.bytes - distance + 1'b1"
    ),
    Patch("one byte more is no excess", _OUTER, "% BUS_BYTES)", "% BUS_BYTES + 1)"),
    Patch("inner DSCP", _OUTER, "outer_d.ipv6 ? ip6.dscp : ip4.dscp", "ip4.dscp"),
    Patch("the outer length without the SRH", _OUTER, "+ {1'b0, srh.hdr_ext_len, 3'b000}", ""),
    Patch("short outer packets have room", _HEADERS, "fields_q.outer.room_bad || ", ""),
    # the beat before
    Patch(
        "the length has no bit for a header of IPv6",
        _HOLD,
        "{2'b00, length} + (outer_i.ipv6 ? REST_W'(IPV6_BYTES) : '0)",
        "{2'b00, length + (outer_i.ipv6 ? LENGTH_W'(IPV6_BYTES) : '0)}",
    ),
    Patch("much link padding counts again", _HOLD, "rest_q[REST_W-1] ? rest_q : rest_q", "rest_q"),
    Patch("a beat waits for the next frame", _HOLD, "valid_q && (beat_o.last || valid_i)", "valid_q && valid_i"),
    Patch(
        "a frame shorter by a byte than IP says", _HOLD, "$signed(rest_q) > $signed", "$signed(rest_q) - 1 > $signed"
    ),
    Patch(
        "TSETH does not move the payload",
        _HOLD,
        "if (immediate && bth.ts) place_d = PAYLOAD_AT_24",
        "if (immediate) place_d = PAYLOAD_AT_24",
    ),
    Patch(
        "payload at byte 60 is seen a beat late",
        _HOLD,
        "assign early_d = place_d == PAYLOAD_AT_60",
        "assign early_d = 1'b0",
    ),
    # headers and causes
    Patch("CE on a packet without ECN passes", _HEADERS, "&& fields_q.ecn == ECN_NOT_ECT", "&& 1'b0"),
    Patch("ECT(1) outside is not taken", _HEADERS, "fields_q.outer.ecn == ECN_ECT1 &&", "1'b0 &&"),
    Patch("fragments pass", _HEADERS, "ip4.more_fragments || ", ""),
    Patch("IPv4 options pass", _HEADERS, "!v6 && ip4.ihl != IPV4_IHL_WORDS", "1'b0"),
    Patch("a pad without payload passes", _HEADERS, "(no_payload && lengths_q.pad != '0) || ", ""),
    Patch("payload in a control packet passes", _HEADERS, "|| (!no_payload && !lengths_q.is_write)", ""),
    Patch("missing headers pass", _HEADERS, " || lengths_q.padded[LENGTH_W]", ""),
    Patch(
        "the UDP length is not looked at over IPv4",
        _HEADERS,
        "udp_end != {1'b0, fields_q.length}",
        "1'b0",
    ),
    Patch(
        "trimmed packets keep their lengths",
        _HEADERS,
        "if (!lengths_q.desc.trimmed) begin\n      final_desc",
        "begin\n      final_desc",
    ),
    Patch("a stamp that was cut off", _HEADERS, "ts: ts && fields_q.stamp_there", "ts: ts"),
    Patch(
        "the trim mark counts on any opcode",
        _HEADERS,
        "|| (fields_q.is_write && fields_q.outer.dscp",
        "|| (fields_q.outer.dscp",
    ),
    Patch("one port alone", _HEADERS, "&& fields_d.udp.dst_port != config_i.udp_port_other", ""),
    Patch("EV halves one way alone", _HEADERS, "config_i.ev_high_in_src_port && fields_q", "1'b0 && fields_q"),
    Patch("immediate data of a packet that has none", _HEADERS, "if (!fields_q.immediate) write_body.immdt = '0;", ""),
    Patch("a checksum of twice all ones is wrong", _CHECKSUM, "k = 1; k <= WORDS", "k = 1; k <= 1"),
    Patch("bytes behind the ICRC count", _ICRC, "keep_i[i] ? data_i[8*i+:8] : 8'h00", "data_i[8*i+:8]"),
    # judgement
    Patch(
        "trimmed packets need an ICRC",
        _PORT,
        "bad = header_bad || (!no_icrc && !icrc_good)",
        "bad = header_bad || !icrc_good",
    ),
    Patch("the ICRC ahead of other causes", _PORT, "if (header_bad) cause = header_cause;\n    else if", "if"),
    Patch("the excess is forgotten", _PORT, " || ecn_bad || oversize;", " || ecn_bad;"),
)
OF_BUFFER = (
    Patch(
        "a dropped frame keeps its places",
        _BUFFER,
        "keeps ? base_q + COUNT_W'(beats_i) : base_q",
        "base_q + COUNT_W'(beats_i)",
    ),
    Patch("a full buffer is written", _BUFFER, "write_i && !full && !stopped_q", "write_i && !stopped_q"),
    Patch("a frame goes on behind a gap", _BUFFER, "write_i && !full && !stopped_q", "write_i && !full"),
    Patch("the last beat need not fit", _BUFFER, "(put && beats_i ==", "(beats_i =="),
    Patch("one beat less than there is", _BUFFER, "(put && beats_i ==", "(1'b0 && beats_i =="),
    Patch("refused payloads are placed", _BUFFER, "pass && verdict.place", "pass"),
    Patch("places are free too early", _BUFFER, "if (valid_q) free_q <= at_q", "if (valid_q) free_q <= start_q"),
    Patch("waiting payloads are free", _BUFFER, "else if (order_valid) free_q <= order.start;", ""),
    Patch("a command overwrites another", _BUFFER, "order_valid && (!cmd_valid_o || cmd_ready_i)", "order_valid"),
    Patch("keep one byte short", _BUFFER, "left_d > PAYLOAD_W'(i)", "left_d > PAYLOAD_W'(i + 1)"),
    Patch("tlast a beat late", _BUFFER, "left_d <= PAYLOAD_W'(BUS_BYTES)", "left_d < PAYLOAD_W'(BUS_BYTES)"),
    Patch(
        "one descriptor more than verdicts find room for",
        _PORT,
        "(one_more && !leaves)",
        "one_more",
    ),
    Patch("a full list of descriptors is overrun", _PORT, "!bad && fits && room;", "!bad && fits;"),
    Patch("payloads stay when descriptors overflow", _PORT, "(!bad && room)", "(!bad)"),
)
OF_ICRC = (
    Patch("the register is not started", _ICRC, "first_q ? ICRC_START : kept", "kept"),
    Patch("nothing is masked over IPv4", _ICRC, "ipv6_i ? ICRC_ONES_IPV6 : ICRC_ONES_IPV4", "ICRC_ONES_IPV6"),
    Patch("the zeros of another packet", _ICRC, "ICRC_GOOD[zeros_qq]", "ICRC_GOOD[zeros_q]"),
    Patch("one part is left out", _ICRC, "c < CHUNKS; c++) added", "c < CHUNKS - 1; c++) added"),
)
ROWS = [
    *((patch, LOCK_STEP) for patch in OF_LOCK_STEP),
    *((patch, BUFFER) for patch in OF_BUFFER),
    *((patch, ICRC) for patch in OF_ICRC),
]


def test_each_mutant_has_its_place_in_the_rtl() -> None:
    assert without_place([patch for patch, _ in ROWS]) == []


@pytest.mark.rtl
@pytest.mark.nightly
@pytest.mark.parametrize(("patch", "bench"), ROWS, ids=[patch.name for patch, _ in ROWS])
def test_the_bench_kills(patch: Patch, bench: Bench, tmp_path: Path) -> None:
    assert killed(patch, bench, tmp_path)
