"""ICMPv6 answers of a switch, on both targets, and scapy's opinion of each byte of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import grpc
import pytest
from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ParamProblem,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrSegmentRouting,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.bmv2_dataplane import pack_frame, unpack_frame
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import PacketIn
from pymodel.switch.p4runtime.dataplane import MeterRates
from pymodel.switch.responder import AnsweringSwitch, Responder, limit_punts, serve
from pymodel.wire.spec import PuntReason

# Two links from each T0 to each T1: p0-t0-0 has uSIDs 1 and 2, p0-t0-1 3 and 4, p0-t1-0 4000 and 4001, p0-t1-1 4002
# and 4003. T0 ports 0 and 1 are the hosts', 2 to 5 go to 4000, 4001, 4002, 4003.
FABRIC = Topology(planes=1, t0=2, t1=2, hosts_per_t0=2, parallel_links=2)
NIC = "fc00:0:1:8001::"  # h0-1
AT_NIC = "fc00:0:8001::"


def arriving(packet: Packet) -> bytes:
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / packet)


def echo(destination: str, **header: object) -> Packet:
    return IPv6(src=NIC, dst=destination, **header) / ICMPv6EchoRequest(id=0x1234, seq=7, data=b"0123456789")


def routed(destination: str, hops: int = 64, **header: object) -> Packet:
    return (
        IPv6(src=header.pop("src", NIC), dst=destination, hlim=hops)
        / IPv6(src="2001:db8::1", dst="2001:db8::2")
        / UDP()
    )


@dataclass(frozen=True)
class Row:
    """`arrived` on `port` of `switch` draws an answer: out of `out`, to `destination`, of `kind`."""

    name: str
    switch: str
    port: int
    arrived: Packet
    out: int
    source: str
    destination: str
    kind: type[Packet]
    code: int = 0
    pointer: int | None = None
    last: str = AT_NIC


BAD_SRH = IPv6(src=NIC, dst="fc00:0:4000::") / IPv6ExtHdrSegmentRouting(
    addresses=["fc00:0:1::"], segleft=9, lastentry=0
)
SPENT_SRH = IPv6ExtHdrSegmentRouting(addresses=["fc00:0:4000::1"], segleft=0, lastentry=0)

ROWS = [
    Row("echo to the T0's own address", "p0-t0-0", 1, echo("fc00:0:1::1"), 1, "fc00:0:1::1", AT_NIC, ICMPv6EchoReply),
    Row("echo to a SID (RFC 9259)", "p0-t0-0", 1, echo("fc00:0:2::"), 1, "fc00:0:2::", AT_NIC, ICMPv6EchoReply),
    Row("echo with hop limit 1", "p0-t0-0", 1, echo("fc00:0:1::1", hlim=1), 1, "fc00:0:1::1", AT_NIC, ICMPv6EchoReply),
    Row("echo to a T1", "p0-t1-1", 1, echo("fc00:0:4002::1"), 0, "fc00:0:4002::1", NIC, ICMPv6EchoReply),
    Row(
        "echo behind a spent SRH",
        "p0-t1-0",
        0,
        IPv6(src=NIC, dst="fc00:0:4000::1") / SPENT_SRH / ICMPv6EchoRequest(id=0x1234, seq=7, data=b"0123456789"),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6EchoReply,
    ),
    Row(
        "echo to another T0 goes back by the T1 it came through",
        "p0-t0-1",
        4,
        echo("fc00:0:3::"),
        4,
        "fc00:0:3::",
        "fc00:0:4002:1:8001::",
        ICMPv6EchoReply,
    ),
    Row(
        "hop limit at the first T0",
        "p0-t0-0",
        1,
        routed("fc00:0:1:4000:3:8000::", 1),
        1,
        "fc00:0:1::1",
        AT_NIC,
        ICMPv6TimeExceeded,
    ),
    Row(
        "hop limit at a T1",
        "p0-t1-0",
        1,
        routed("fc00:0:4001:4:8000::", 1),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6TimeExceeded,
    ),
    Row(
        "hop limit at another T0, link by link",
        "p0-t0-1",
        5,
        routed("fc00:0:4:8000::", 0),
        5,
        "fc00:0:3::1",
        "fc00:0:4003:1:8001::",
        ICMPv6TimeExceeded,
    ),
    Row("hop limit in transit", "p0-t1-0", 1, routed("fc00:0:3::", 1), 0, "fc00:0:4000::1", NIC, ICMPv6TimeExceeded),
    Row(
        "nothing that a SID takes",
        "p0-t1-0",
        0,
        routed("fc00:0:4000::"),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6ParamProblem,
        4,
        40,
    ),
    Row(
        "nothing that a SID takes, behind an SRH",
        "p0-t1-0",
        0,
        IPv6(src=NIC, dst="fc00:0:4000::") / SPENT_SRH / UDP(),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6ParamProblem,
        4,
        40 + 24,
    ),
    Row(
        "segments left beyond the SRH",
        "p0-t1-0",
        0,
        BAD_SRH / UDP(),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6ParamProblem,
        0,
        43,
    ),
    Row(
        "a source that is no NIC of the fabric gets its answer by the routes",
        "p0-t0-1",
        4,
        routed("fc00:0:3:8000::", 1, src="fc00:0:4002::1"),
        4,
        "fc00:0:3::1",
        "fc00:0:4002::1",
        ICMPv6TimeExceeded,
        last="fc00:0:4002::1",
    ),
    Row(
        "a long packet is quoted as far as 1280 bytes go",
        "p0-t1-0",
        0,
        routed("fc00:0:4000:4:8000::", 1) / Raw(bytes(range(256)) * 16),
        0,
        "fc00:0:4000::1",
        NIC,
        ICMPv6TimeExceeded,
    ),
]


@pytest.fixture
def answering(request: pytest.FixtureRequest, target: EmbeddedSwitch | Bmv2Switch) -> Iterator[AnsweringSwitch]:
    place = FABRIC.switch(request.param)
    target.write(switch_entries(FABRIC, place))
    yield AnsweringSwitch(target, Responder(FABRIC, place))
    # Nothing was handed over beyond what was counted and waited for.
    assert target.control.client.receive_packet(0.02) is None


def check(answer: Packet, row: Row, arrived: bytes) -> None:
    """The answer field by field; the checksum is scapy's, over the destination that the receiver sees."""
    ipv6 = answer[IPv6]
    assert (ipv6.src, ipv6.dst, ipv6.tc) == (row.source, row.destination, 0)
    # Transit costs one hop; a SID of its own that it passes first costs that one alone.
    assert ipv6.hlim == 63
    message = ipv6.payload
    assert type(message) is row.kind
    assert message.code == row.code
    assert ipv6.plen == len(bytes(message))
    whole = ipv6.copy()
    whole.dst = row.last
    whole[row.kind].cksum = None
    assert bytes(whole.payload) == bytes(message)
    packet = arrived[14:]
    if row.kind is ICMPv6EchoReply:
        assert (message.id, message.seq, message.data) == (0x1234, 7, b"0123456789")
        return
    assert bytes(message)[8:] == packet[: 1280 - 48]
    assert len(bytes(ipv6)) <= 1280
    if row.pointer is not None:
        assert message.ptr == row.pointer


@pytest.mark.parametrize(
    ("answering", "row"), [(row.switch, row) for row in ROWS], indirect=["answering"], ids=[row.name for row in ROWS]
)
def test_an_answer_is_right_and_finds_its_way(answering: AnsweringSwitch, row: Row) -> None:
    frame = arriving(row.arrived)
    answering.inject(row.port, frame, 3)
    assert answering.next_event_ps() is not None
    ((at_ps, port, answer),) = answering.drain(3)
    assert (at_ps, port) == (3, row.out)
    check(Ether(answer), row, frame)
    assert sum(answering.responder.answered.values()) == 1
    assert not answering.responder.silent


SILENT = [
    (
        "an error, which no error answers",
        "p0-t1-0",
        IPv6(src=NIC, dst="fc00:0:4000:3::", hlim=1) / ICMPv6DestUnreach(),
        {},
    ),
    (
        "wrong checksum",
        "p0-t1-0",
        IPv6(src=NIC, dst="fc00:0:4000::1") / ICMPv6EchoRequest(cksum=1),
        {"wrong checksum": 1},
    ),
    (
        "a source behind no T1",
        "p0-t0-1",
        routed("fc00:0:3:8000::", 1),
        {"no way back": 1},
    ),
]


@pytest.mark.parametrize(
    ("answering", "packet", "silent"),
    [row[1:] for row in SILENT],
    indirect=["answering"],
    ids=[row[0] for row in SILENT],
)
def test_what_gets_no_answer(answering: AnsweringSwitch, packet: Packet, silent: dict[str, int]) -> None:
    answering.inject(0, arriving(packet), 0)
    assert answering.drain(0) == []
    assert answering.responder.silent == silent
    assert not answering.responder.answered


def punt(frame: bytes, reason: int, port: int = 0, pointer: int = 0) -> PacketIn:
    return PacketIn(frame, {"reason": reason, "ingress_port": port, "pointer": pointer})


def test_whatever_is_handed_over_nothing_raises() -> None:
    responder = Responder(FABRIC, FABRIC.switch("p0-t1-0"))
    group = bytes(Ether(dst="33:33:00:00:00:01", src="02:00:00:00:00:01") / routed("fc00:0:4000:3::", 1))
    assert responder.answer(punt(group, PuntReason.HOP_LIMIT)) is None
    assert responder.answer(punt(arriving(routed("::5")), 99)) is None
    assert responder.answer(PacketIn(arriving(routed("::5")), {})) is None
    whole = arriving(IPv6(src=NIC, dst="fc00:0:4000::1") / SPENT_SRH / ICMPv6EchoRequest())
    for reason in (*PuntReason, 200):
        for size in range(len(whole)):
            answer = responder.answer(punt(whole[:size], reason))
            assert answer is None or reason in (PuntReason.HOP_LIMIT, PuntReason.BAD_SRH, PuntReason.UPPER_LAYER)
    assert responder.silent["sent to a group"] == 1
    assert responder.silent["cut short"] == 54 * 6


def test_answers_are_limited_by_the_meter(target: EmbeddedSwitch | Bmv2Switch) -> None:
    place = FABRIC.switch("p0-t1-0")
    target.write(switch_entries(FABRIC, place))
    limit_punts(target.control.client, MeterRates(0, 2, 0, 2))
    answering = AnsweringSwitch(target, Responder(FABRIC, place))
    for _ in range(5):
        answering.inject(0, arriving(routed("fc00:0:4000:4:8000::", 1)), 0)
    assert len(answering.drain(0)) == 2
    assert target.counters()["drop_punt_limit"].packets == 3


def live(switch: EmbeddedSwitch | Bmv2Switch, frames: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Send `frames` and return as many that come out, BMv2's while one call of its data plane stays open."""
    if not isinstance(switch, Bmv2Switch):
        for port, data in frames:
            switch.inject(port, data, 0)
        came: list[tuple[int, bytes]] = []
        deadline = time.monotonic() + 20
        while len(came) < len(frames) and time.monotonic() < deadline:
            came += [(port, data) for _, port, data in switch.drain(0)]
            time.sleep(0.002)
        return came
    enough = threading.Event()

    def requests() -> Iterator[bytes]:
        for number, (port, data) in enumerate(frames):
            yield pack_frame(number, 1, port, data)
        enough.wait(20)

    with grpc.insecure_channel(switch.dataplane_address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        came = []
        for message in channel.stream_stream("/p4.bm.DataplaneInterface/PacketStream")(requests(), timeout=30):
            came.append(unpack_frame(message)[1:])
            if len(came) == len(frames):
                enough.set()
    return came


def test_a_controller_answers_by_real_packet_in_and_packet_out(target: EmbeddedSwitch | Bmv2Switch) -> None:
    place = FABRIC.switch("p0-t1-1")
    target.write(switch_entries(FABRIC, place))
    responder, stopped = Responder(FABRIC, place), threading.Event()
    controller = threading.Thread(target=serve, args=(target.control.client, responder, stopped.is_set, 0.02))
    controller.start()
    try:
        request = arriving(echo("fc00:0:4003::"))
        came = live(target, [(1, request), (1, request)])
    finally:
        stopped.set()
        controller.join()
    assert [port for port, _ in came] == [0, 0]
    assert all(Ether(data)[ICMPv6EchoReply].seq == 7 for _, data in came)
    assert responder.answered == {"echo_reply": 2}
