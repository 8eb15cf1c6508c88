"""The Wireshark dissector, run by tshark on a pcapng that the project wrote: every packet type, shape and trap."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT, require
from pymodel.wire import Frame, parse
from pymodel.wire.capture import CaptureWriter
from pymodel.wire.spec import DATA_OPCODES, UDP_PORT_ROCE_V2, DscpMap, EvSplit, NackReason, Opcode, WireOptions
from tests.wire.samples import DSCP, EV, body, sample, samples
from tests.wire.test_trimmed import remark, trim

pytestmark = pytest.mark.tshark

FIELDS = (
    "frame.protocols", "frame.interface_name", "frame.time_epoch", "mrc.bth.opcode", "mrc.bth.psn", "mrc.bth.dest_qp",
    "mrc.ev", "mrc.seth.sack_bitmap", "mrc.seth.base_psn", "mrc.seth.trigger_psn", "mrc.seth.m", "mrc.neth.reason",
    "mrc.neth.nack_psn", "mrc.peth.probe_id", "mrc.erth.port_status_mask", "mrc.eeth.op", "mrc.eeth_op_54.op",
    "mrc.aeth.syndrome", "mrc.reth.va", "mrc.meth.msn", "mrc.tseth.tx_timestamp", "mrc.immdt.immediate",
    "mrc.cc_state.rcvd_bytes", "mrc.payload", "mrc.payload_length", "mrc.icrc", "mrc.trimmed", "mrc.seth.sack_offset",
    "_ws.col.Protocol", "_ws.col.Info",
)  # fmt: skip


def dissect(folder: Path, frames: Sequence[bytes], *options: str) -> list[dict[str, str]]:
    """What tshark shows for each frame, by field."""
    path = folder / "frames.pcapng"
    with CaptureWriter(path) as capture:
        for number, data in enumerate(frames):
            capture.write(number * 1_001_000, f"link {number % 3}", data)
    command = [require("tshark"), "-X", f"lua_script:{ROOT / 'tools/wireshark/mrc.lua'}", "-r", path, "-T", "fields"]
    command += ["-E", "occurrence=l"]
    for field in FIELDS:
        command += ["-e", field]
    for option in options:
        command += ["-o", option]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua" not in result.stderr, result.stderr
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in result.stdout.splitlines()]
    assert len(rows) == len(frames)
    return rows


def number(text: str) -> int:
    return int(text, 0)


def test_every_packet_type_and_shape(tmp_path: Path) -> None:
    rows = samples()
    shown = dissect(tmp_path, [data for _, _, data in rows])
    for position, ((name, opcode, data), row) in enumerate(zip(rows, shown, strict=True)):
        frame = parse(data)
        assert isinstance(frame, Frame)
        found = {field: value for field, value in row.items() if value}
        assert row["frame.protocols"].endswith(":mrc"), name
        assert row["frame.interface_name"] == f"link {position % 3}"
        assert row["frame.time_epoch"] == f"0.{position * 1001:09d}"
        assert row["_ws.col.Protocol"] == "MRC"
        assert number(row["mrc.bth.opcode"]) == opcode
        assert (number(row["mrc.bth.psn"]), number(row["mrc.bth.dest_qp"])) == (frame.psn, frame.dest_qp)
        assert number(row["mrc.ev"]) == frame.ev
        assert number(row["mrc.icrc"]) == frame.icrc
        assert "mrc.trimmed" not in found
        assert ("mrc.payload" in found) is (opcode in DATA_OPCODES)
        if opcode in DATA_OPCODES:
            assert (row["mrc.payload"], row["mrc.payload_length"]) == (frame.payload.hex(), "9")
            assert number(row["mrc.reth.va"]) == 0x7F0000001000
            assert (number(row["mrc.meth.msn"]), number(row["mrc.tseth.tx_timestamp"])) == (0x3344, 0x1234)
            assert (row["mrc.immdt.immediate"] == "0xdeadbeef") is (len(body(opcode)) == 4)


# Opcode, and what must be shown beyond what every type has.
BODIES = [
    (
        Opcode.SACK,
        {
            "mrc.seth.sack_bitmap": 0x8000000000000005,
            "mrc.seth.sack_offset": -3,
            "mrc.seth.base_psn": 0xFFFFFE,  # cack_psn 1 and offset -3
            "mrc.seth.trigger_psn": 0xFFFFFF,
            "mrc.seth.m": 1,
            "mrc.cc_state.rcvd_bytes": 0xABCDEF,
        },
        "Sack QP=291 PSN=11259375 EV=0x0123c456 base=16777214 bitmap=0x8000000000000005",
    ),
    (
        Opcode.NACK,
        {"mrc.neth.reason": NackReason.PSN_OOR_WINDOW, "mrc.neth.nack_psn": 0xFFFFFE},
        "Nack QP=291 PSN=11259375 EV=0x0123c456 PSN_OOR_WINDOW",
    ),
    (Opcode.PROBE_REQUEST, {"mrc.peth.probe_id": 0x4321}, "Probe Request QP=291"),
    (Opcode.ENDPOINT_REQUEST, {"mrc.erth.port_status_mask": 0xA5}, "Endpoint Request QP=2"),
    (Opcode.ENDPOINT_RESPONSE, {"mrc.eeth.op": 1}, "Endpoint Response QP=2"),
    (Opcode.ACKNOWLEDGE, {"mrc.aeth.syndrome": 0x62}, "Acknowledge QP=291"),
]


def test_bodies(tmp_path: Path) -> None:
    shown = dissect(tmp_path, [sample(opcode) for opcode, _, _ in BODIES])
    for (opcode, expected, info), row in zip(BODIES, shown, strict=True):
        assert {field: number(row[field]) for field in expected} == expected, opcode.name
        assert row["_ws.col.Info"].lower().startswith(info.lower())


def test_every_nack_reason_is_named(tmp_path: Path) -> None:
    frames = [sample(Opcode.NACK, extensions=(body(Opcode.NACK)[0].replace(reason=reason),)) for reason in NackReason]
    names = [row["_ws.col.Info"].split()[-1] for row in dissect(tmp_path, frames)]
    assert names == [reason.name for reason in NackReason]


def test_l01_source_ports_of_other_protocols(tmp_path: Path) -> None:
    # DNS, DHCP, NTP, SNMP, ISAKMP, RIP, RADIUS, L2TP, GTP, VXLAN, GENEVE, mDNS, SIP, QUIC, BFD, RoCE itself and port 0.
    ports = [53, 67, 123, 161, 500, 520, 1812, 1701, 2152, 4789, 6081, 5353, 5060, 443, 3784, UDP_PORT_ROCE_V2, 0]
    frames = [sample(Opcode.SACK, ev=0x00010000 | port) for port in ports]
    for port, row in zip(ports, dissect(tmp_path, frames), strict=True):
        assert row["frame.protocols"].endswith(":mrc"), port
        assert number(row["mrc.ev"]) == 0x00010000 | port


@pytest.mark.nightly
def test_l01_every_source_port(tmp_path: Path) -> None:
    frames = [sample(Opcode.SACK, ev=0x00010000 | port) for port in range(1 << 16)]
    shown = dissect(tmp_path, frames)
    assert [row["mrc.ev"] for row in shown] == [f"0x{0x00010000 | port:08x}" for port in range(1 << 16)]


def test_other_udp_is_left_to_its_dissectors(tmp_path: Path) -> None:
    from scapy.layers.dns import DNS, DNSQR
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether

    address = {"dst": "192.0.2.1", "src": "192.0.2.2"}
    query = Ether() / IP(**address) / UDP(sport=4789) / DNS(qd=DNSQR(qname="example.org"))
    not_mrc = Ether() / IP(**address) / UDP(sport=9, dport=UDP_PORT_ROCE_V2, chksum=0) / bytes(40)
    shown = dissect(tmp_path, [bytes(query), bytes(not_mrc)])
    assert shown[0]["frame.protocols"].endswith(":dns")
    assert ":infiniband" in shown[1]["frame.protocols"]


def test_l04_trimmed_frames(tmp_path: Path) -> None:
    whole = sample(Opcode.WRITE_FIRST, payload=bytes(4096))
    frames = [
        trim(whole, 144, DSCP.trimmed),
        trim(whole, 144, DSCP.trimmed_lasthop),
        trim(whole, 124, DSCP.trimmed),  # cut inside the RETH
        remark(sample(Opcode.SACK), DSCP.trimmed),  # not a write: whole, with ICRC
    ]
    first, last_hop, cut, sack = dissect(tmp_path, frames)
    for row, mark in ((first, "TRIMMED"), (last_hop, "TRIMMED_LASTHOP"), (cut, "TRIMMED")):
        assert (row["mrc.trimmed"], row["mrc.icrc"], row["mrc.payload"]) == (mark, "", "")
        assert (number(row["mrc.bth.psn"]), number(row["mrc.ev"])) == (0xABCDEF, EV)
        assert row["_ws.col.Info"].endswith(mark)
    assert (number(first["mrc.reth.va"]), cut["mrc.reth.va"]) == (0x7F0000001000, "")
    assert (sack["mrc.trimmed"], sack["mrc.icrc"] != "") == ("", True)


def test_preferences(tmp_path: Path) -> None:
    options = WireOptions(ev_split=EvSplit.SOURCE_PORT_HIGH, dscp=DscpMap(trimmed=60))
    whole = sample(Opcode.WRITE_FIRST, payload=bytes(4096), options=options)
    response = sample(Opcode.ENDPOINT_RESPONSE, options=options)
    trimmed, other = dissect(
        tmp_path, [trim(whole, 144, 60), response], "mrc.source_port_high:TRUE", "mrc.trimmed:60", "mrc.eeth_op_54:TRUE"
    )
    assert (trimmed["mrc.trimmed"], number(trimmed["mrc.ev"])) == ("TRIMMED", EV)
    assert (other["mrc.eeth.op"], other["mrc.eeth_op_54.op"]) == ("", "0")
