"""Whole frames: what is built is what is parsed, and each way to be wrong has its cause."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack_into

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.wire import Frame, ParseCause, ParseError, build, parse
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.headers import Bth, EethOp54, Ethernet, Ipv4, Ipv6, Segment, Srh, Udp
from pymodel.wire.spec import (
    DATA_OPCODES,
    EETH_OP_54,
    IMMEDIATE_OPCODES,
    UDP_PORT_ROCE_V2,
    UDP_PORT_SWAPPED,
    Ecn,
    EndpointOp,
    Ethertype,
    NextHeader,
    Opcode,
    WireOptions,
)
from tests.wire.samples import BY_NAME, DSCP, EV, INNER, INNER_4, OUTER, SEGMENT, body, bth, sample, samples, with_icrc


def frame_of(data: bytes, options: WireOptions | None = None) -> Frame:
    parsed = parse(data, options) if options else parse(data)
    assert isinstance(parsed, Frame), parsed
    return parsed


@pytest.mark.parametrize(("name", "opcode", "data"), samples(), ids=[row[0] for row in samples()])
def test_every_packet_type_in_every_shape(name: str, opcode: Opcode, data: bytes) -> None:
    frame = frame_of(data)
    shape = BY_NAME[name.split("-")[0]]
    srv6 = "outer" in shape.arguments
    assert (frame.opcode, frame.psn, frame.end) == (opcode, 0xABCDEF, len(data))
    assert (frame.dscp, frame.ecn, frame.trimmed) == (DSCP.trimmable, Ecn.ECT0, False)
    assert frame.ev == shape.arguments.get("ev", EV)
    assert frame.is_write is (opcode in DATA_OPCODES)
    assert frame.payload == (bytes(range(1, 10)) if frame.is_write else b"")
    assert frame.icrc == int.from_bytes(data[-4:], "little")
    assert frame.udp_length == frame.udp.length
    width = 16 if isinstance(frame.ip, Ipv6) else 4
    assert frame.addresses == frame.ip.src.to_bytes(width, "big") + frame.ip.dst.to_bytes(width, "big")
    outer = frame.outer
    assert (outer is not None, frame.segments) == (srv6, tuple(shape.arguments.get("segments", ())))
    if outer is not None:
        assert (outer.src, outer.dst, outer.payload_length) == (OUTER.src, OUTER.dst, len(data) - 54)
    expected = bth(opcode, pad_count=3 if frame.is_write else 0)
    assert frame.bth == expected
    assert frame.dest_qp == expected.dest_qp
    assert tuple(frame.headers()[-len(body(opcode)) :]) == body(opcode)
    assert b"".join(header.pack() for header in frame.headers()) == data[: frame.payload_start]


@pytest.mark.parametrize("opcode", sorted(DATA_OPCODES), ids=lambda opcode: Opcode(opcode).name)
@pytest.mark.parametrize("ts", [True, False])
def test_fields_of_writes(opcode: Opcode, ts: bool) -> None:
    frame = frame_of(sample(opcode, ts=ts, bth=bth(opcode, ts=ts, rtx=1, ack_req=1)))
    immediate = 0xDEADBEEF if opcode in IMMEDIATE_OPCODES else None
    stamp = 0x1234 if ts else None
    assert frame.write_fields() == (0x1122, 0x3344, stamp, 0x7F0000001000, 0x00C0FFEE, 0x01020304, immediate)
    found = [header for header in (frame.meth, frame.tseth, frame.reth, frame.immdt) if header is not None]
    assert tuple(found) == body(opcode, ts)
    assert (frame.ts, frame.rtx, frame.ack_req) == (ts, True, True)
    assert frame.tx_timestamp == stamp
    assert frame.target() == (0x7F0000001000, 0x00C0FFEE)


@pytest.mark.parametrize(("rtx", "ack_req"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_prompt_writes_ask_for_a_sack_at_once(rtx: int, ack_req: int) -> None:
    frame = frame_of(sample(Opcode.WRITE_ONLY, bth=bth(Opcode.WRITE_ONLY, ts=True, rtx=rtx, ack_req=ack_req)))
    assert bool(frame.prompt) == bool(rtx or ack_req)


def test_bodies_of_the_other_opcodes() -> None:
    assert frame_of(sample(Opcode.ACKNOWLEDGE)).aeth == body(Opcode.ACKNOWLEDGE)[0]
    sack = frame_of(sample(Opcode.SACK))
    assert (sack.seth, sack.cc_state) == body(Opcode.SACK)
    assert frame_of(sample(Opcode.NACK)).neth == body(Opcode.NACK)[0]
    assert frame_of(sample(Opcode.PROBE_REQUEST)).peth == body(Opcode.PROBE_REQUEST)[0]
    assert frame_of(sample(Opcode.ENDPOINT_REQUEST)).erth == body(Opcode.ENDPOINT_REQUEST)[0]
    assert frame_of(sample(Opcode.ENDPOINT_RESPONSE)).eeth == body(Opcode.ENDPOINT_RESPONSE)[0]


def test_asking_for_a_header_of_another_opcode_is_a_lookup_error() -> None:
    sack, write = frame_of(sample(Opcode.SACK)), frame_of(sample(Opcode.WRITE_ONLY))
    assert (sack.meth, sack.tseth, sack.reth, sack.immdt, write.immdt) == (None,) * 5
    assert sack.tx_timestamp is None
    for ask in (lambda: write.seth, lambda: write.neth, lambda: sack.aeth, lambda: sack.eeth, sack.write_fields):
        with pytest.raises(LookupError, match="opcode 0x"):
            ask()


def test_l06_eeth_layout_is_an_option() -> None:
    options = WireOptions(eeth=EETH_OP_54)
    data = sample(Opcode.ENDPOINT_RESPONSE, extensions=(EethOp54(op=EndpointOp.EV_PROBE),))
    frame = frame_of(data, options)
    assert frame.eeth.op == EndpointOp.EV_PROBE
    assert frame.headers()[-1] == EethOp54(op=EndpointOp.EV_PROBE)
    assert frame_of(data).eeth.op == 0


@pytest.mark.parametrize("port", [UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED])
def test_l06_both_udp_ports_are_accepted_and_either_sent(port: int) -> None:
    data = sample(Opcode.SACK, options=WireOptions(udp_port=port))
    assert frame_of(data).udp.dst_port == port
    strict = WireOptions(accepted_udp_ports=(UDP_PORT_ROCE_V2,))
    assert isinstance(parse(data, strict), Frame) is (port == UDP_PORT_ROCE_V2)


@given(
    shape=st.sampled_from(list(BY_NAME)),
    opcode=st.sampled_from(list(Opcode)),
    ts=st.booleans(),
    psn=st.integers(0, 2**24 - 1),
    qp=st.integers(0, 2**24 - 1),
    ev=st.integers(0, 2**32 - 1),
    payload=st.one_of(st.binary(max_size=40), st.integers(0, 9000).map(bytes)),
    padding=st.binary(max_size=20),
)
def test_parse_undoes_build(
    shape: str, opcode: Opcode, ts: bool, psn: int, qp: int, ev: int, payload: bytes, padding: bytes
) -> None:
    if shape == "ipv4":
        ev &= 0xFFFF
    payload = payload if opcode in DATA_OPCODES else b""
    head = bth(opcode, psn=psn, ts=ts, dest_qp=qp)
    data = sample(opcode, shape, payload, ts, bth=head, ev=ev)
    frame = frame_of(data + padding)  # bytes behind the IP packet are link padding
    assert (frame.psn, frame.dest_qp, frame.ev, frame.payload, frame.end) == (psn, qp, ev, payload, len(data))
    assert frame.udp.checksum == 0
    assert (len(data) - frame.payload_start) % 4 == 0


def cut(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


def inner_changed(shape: str, at: int, value: bytes, opcode: Opcode = Opcode.WRITE_ONLY) -> bytes:
    """A sample with bytes changed `at` bytes behind the start of the inner IP header, and a right ICRC again."""
    start = 14 if shape in ("plain", "ipv4") else BY_NAME[shape].front - 48
    return with_icrc(cut(sample(opcode, shape), start + at, value), start)


def ipv4_changed(**fields: int) -> bytes:
    data = sample(Opcode.WRITE_ONLY, "ipv4")
    header = Ipv4.unpack(data, 14).replace(checksum=0, **fields)
    header.checksum = internet_checksum(header.pack())
    return data[:14] + header.pack() + data[34:]


def srh_changed(**fields: int) -> bytes:
    data = sample(Opcode.WRITE_ONLY, "srv6+srh")
    return data[:54] + Srh.unpack(data, 54).replace(**fields).pack() + data[62:]


WRITE, SACK = Opcode.WRITE_ONLY, Opcode.SACK
UNKNOWN_OPCODES = [value for value in range(256) if value not in set(Opcode)]

REFUSED: list[tuple[str, Callable[[], bytes], ParseCause, int]] = [
    ("empty", lambda: b"", ParseCause.TOO_SHORT, 0),
    ("13 bytes", lambda: bytes(13), ParseCause.TOO_SHORT, 0),
    ("ARP", lambda: cut(sample(SACK), 12, b"\x08\x06"), ParseCause.ETHERTYPE, 0),
    ("VLAN tag", lambda: cut(sample(SACK), 12, b"\x81\x00"), ParseCause.ETHERTYPE, 0),
    ("outer IPv6 cut", lambda: sample(SACK)[:53], ParseCause.TOO_SHORT, 14),
    ("inner IPv6 cut", lambda: sample(SACK)[:93], ParseCause.TOO_SHORT, 54),
    ("SRH cut", lambda: sample(SACK, "srv6+srh")[:61], ParseCause.TOO_SHORT, 54),
    ("IPv6 behind SRH cut", lambda: sample(SACK, "srv6+srh")[:100], ParseCause.TOO_SHORT, 78),
    ("IPv4 cut", lambda: sample(SACK, "ipv4")[:33], ParseCause.TOO_SHORT, 14),
    ("UDP cut", lambda: sample(SACK)[:101], ParseCause.TOO_SHORT, 94),
    ("BTH cut", lambda: sample(SACK)[:113], ParseCause.TOO_SHORT, 102),
    ("outer version", lambda: cut(sample(SACK), 14, b"\x45"), ParseCause.IP_VERSION, 14),
    ("inner version", lambda: cut(sample(SACK), 54, b"\x45"), ParseCause.IP_VERSION, 54),
    ("IPv4 version", lambda: ipv4_changed(version=6), ParseCause.IP_VERSION, 14),
    ("IPv4 options", lambda: ipv4_changed(ihl=6), ParseCause.IPV4_OPTIONS, 14),
    ("IPv4 checksum", lambda: cut(sample(SACK, "ipv4"), 24, b"\0\0"), ParseCause.IPV4_CHECKSUM, 14),
    ("IPv4 first fragment", lambda: ipv4_changed(more_fragments=1), ParseCause.FRAGMENT, 14),
    ("IPv4 last fragment", lambda: ipv4_changed(fragment_offset=1), ParseCause.FRAGMENT, 14),
    ("SRH of another routing type", lambda: srh_changed(routing_type=0), ParseCause.SRH, 54),
    ("SRH shorter than its segments", lambda: srh_changed(last_entry=1), ParseCause.SRH, 54),
    ("SRH with too many segments left", lambda: srh_changed(segments_left=2), ParseCause.SRH, 54),
    ("SRH before UDP", lambda: srh_changed(next_header=NextHeader.UDP), ParseCause.SRH, 54),
    ("SRH longer than the frame", lambda: srh_changed(hdr_ext_len=255), ParseCause.TOO_SHORT, 54 + 8 + 8 * 255),
    ("TCP", lambda: cut(sample(SACK, "plain"), 20, b"\x06"), ParseCause.NEXT_HEADER, 14),
    ("TCP inside", lambda: inner_changed("srv6", 6, b"\x06"), ParseCause.NEXT_HEADER, 54),
    ("TCP over IPv4", lambda: ipv4_changed(protocol=6), ParseCause.NEXT_HEADER, 14),
    ("IPv6 in IPv6 in IPv6", lambda: inner_changed("srv6", 6, bytes([NextHeader.IPV6])), ParseCause.NEXT_HEADER, 54),
    ("VXLAN port", lambda: inner_changed("srv6", 42, (4789).to_bytes(2, "big")), ParseCause.UDP_PORT, 94),
    ("transport version 1", lambda: inner_changed("srv6", 49, b"\x31"), ParseCause.BTH_VERSION, 102),
    *(
        (f"opcode {value:#x}", lambda value=value: inner_changed("srv6", 48, bytes([value])), ParseCause.OPCODE, 102)
        for value in UNKNOWN_OPCODES
    ),
    ("last byte missing", lambda: sample(WRITE)[:-1], ParseCause.IP_LENGTH, 14),
    ("IPv4 last byte missing", lambda: sample(WRITE, "ipv4")[:-1], ParseCause.IP_LENGTH, 14),
    ("IPv4 length below its header", lambda: ipv4_changed(total_length=19), ParseCause.UDP_LENGTH, 34),
    ("inner IPv6 shorter than the outer", lambda: inner_changed("srv6", 4, b"\0\x44"), ParseCause.IP_LENGTH, 54),
    ("inner IPv6 longer than the outer", lambda: inner_changed("srv6", 4, b"\xff\xff"), ParseCause.IP_LENGTH, 54),
    ("UDP shorter than IP", lambda: inner_changed("srv6", 44, b"\0\x08"), ParseCause.UDP_LENGTH, 94),
    ("UDP longer than IP", lambda: inner_changed("srv6", 44, b"\xff\xff"), ParseCause.UDP_LENGTH, 94),
    ("SACK with payload", lambda: sample(SACK, payload=bytes(4)), ParseCause.BODY_LENGTH, 114),
    ("SACK with pad", lambda: inner_changed("srv6", 49, b"\x10", SACK), ParseCause.BODY_LENGTH, 114),
    ("SACK without CC_STATE", lambda: sample(SACK, extensions=body(SACK)[:1]), ParseCause.BODY_LENGTH, 114),
    ("write without RETH", lambda: sample(WRITE, payload=b"", extensions=body(WRITE)[:2]), ParseCause.BODY_LENGTH, 114),
    ("more pad than payload", lambda: sample(WRITE, payload=b"", bth=PADDED), ParseCause.BODY_LENGTH, 114),
    ("payload not padded", lambda: unpadded(), ParseCause.BODY_LENGTH, 114),
    ("payload damaged", lambda: cut(sample(WRITE), 140, b"\xff"), ParseCause.ICRC, 150),
    ("ICRC byte order", lambda: sample(SACK)[:-4] + sample(SACK)[:-5:-1], ParseCause.ICRC, 150),
    ("outer CE on Not-ECT", lambda: not_ect_marked_ce(), ParseCause.ECN, 14),
]  # fmt: skip


class _Padded(Bth):
    """A BTH that keeps its pad count, whatever `build` asks for."""

    __slots__ = ()

    def replace(self, **changes: int) -> Bth:
        return Bth(**dict(self.items()))


PADDED = _Padded(opcode=WRITE, ts=1, pad_count=1)


def not_ect_marked_ce() -> bytes:
    return sample(SACK, ip=INNER.replace(ecn=Ecn.NOT_ECT), outer=OUTER.replace(ecn=Ecn.CE))


def unpadded() -> bytes:
    """A write whose lengths all agree on a payload of nine bytes without pad."""
    data = bytearray(sample(WRITE)[:-7] + bytes(4))
    for at in (18, 58, 98):
        length = int.from_bytes(data[at : at + 2], "big") - 3
        pack_into(">H", data, at, length)
    data[103] &= 0xCF
    return with_icrc(bytes(data), 54)


@pytest.mark.parametrize(("make", "cause", "offset"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(make: Callable[[], bytes], cause: ParseCause, offset: int) -> None:
    refused = parse(make())
    assert refused == ParseError(cause, offset)
    assert str(refused) == f"frame refused at byte {offset} ({cause.name}): expected {cause.value}"


def test_every_cause_has_a_row() -> None:
    assert {cause for _, _, cause, _ in REFUSED} == set(ParseCause)


@pytest.mark.parametrize("shape", list(BY_NAME))
@pytest.mark.parametrize("opcode", [WRITE, SACK], ids=lambda opcode: opcode.name)
def test_a_frame_cut_anywhere_is_too_short_or_shorter_than_its_ip_length(shape: str, opcode: Opcode) -> None:
    data = sample(opcode, shape)
    for size in range(len(data)):
        refused = parse(data[:size])
        assert isinstance(refused, ParseError)
        expected = ParseCause.TOO_SHORT if size < BY_NAME[shape].front + 12 else ParseCause.IP_LENGTH
        assert refused.cause is expected, size


def test_a_wrong_icrc_passes_when_told_so() -> None:
    damaged = cut(sample(WRITE), 140, b"\xff")
    assert isinstance(parse(damaged, check_icrc=False), Frame)


@pytest.mark.parametrize("checksum", [0x0001, 0xFFFF])
def test_r03_a_udp_checksum_is_ignored(checksum: int) -> None:
    data = cut(sample(WRITE), 100, checksum.to_bytes(2, "big"))
    assert frame_of(data).udp.checksum == checksum


@pytest.mark.parametrize("segments", [1, 2, 4, 11])
def test_r04_srh_of_several_segments(segments: int) -> None:
    path = tuple(SEGMENT + number for number in range(segments))
    frame = frame_of(sample(WRITE, "srv6+srh", segments=path))
    assert frame.segments == path
    assert frame.srh == Srh(hdr_ext_len=2 * segments, segments_left=segments, last_entry=segments - 1)
    assert sum(isinstance(header, Segment) for header in frame.headers()) == segments


def test_srh_with_nothing_left_and_with_tlvs_is_parsed() -> None:
    assert isinstance(parse(srh_changed(segments_left=0)), Frame)
    data = sample(WRITE, "srv6+srh")
    tlv = bytes([4, 6, 0, 0, 0, 0, 0, 0])  # PadN, RFC 8754 section 2.1.1.2
    outer = Ipv6.unpack(data, 14)
    outer = outer.replace(payload_length=outer.payload_length + len(tlv))
    longer = (
        data[:14] + outer.pack() + Srh.unpack(data, 54).replace(hdr_ext_len=3).pack() + data[62:78] + tlv + data[78:]
    )
    frame = frame_of(longer)
    assert (frame.segments, frame.payload) == ((SEGMENT,), bytes(range(1, 10)))


BAD_BUILDS = [
    ("segments without outer header", {"ip": INNER, "segments": (SEGMENT,)}, "SRH"),
    ("outer header around IPv4", {"ip": INNER_4, "outer": OUTER}, "inner header"),
    ("payload beyond 16-bit lengths", {"ip": INNER, "payload": bytes(65536)}, "IPV6.payload_length"),
    ("outer length too wide", {"ip": INNER, "outer": OUTER, "payload": bytes(65480)}, "IPV6.payload_length"),
    ("too many segments", {"ip": INNER, "outer": OUTER, "segments": (SEGMENT,) * 128}, "SRH.hdr_ext_len"),
    ("EV too wide", {"ip": INNER, "ev": 1 << 32}, "EV"),
    ("PSN too wide", {"ip": INNER, "bth": Bth(psn=1 << 24)}, "BTH.psn"),
]


@pytest.mark.parametrize(("arguments", "where"), [row[1:] for row in BAD_BUILDS], ids=[row[0] for row in BAD_BUILDS])
def test_r09_what_does_not_fit_is_not_built(arguments: dict, where: str) -> None:
    with pytest.raises(InputError) as caught:
        build(**{"ethernet": Ethernet(), "ev": 0, "bth": Bth(opcode=WRITE), **arguments})
    assert caught.value.where == where


def test_build_sets_what_follows_from_the_rest() -> None:
    wrong = {"payload_length": 1, "next_header": NextHeader.NONE, "flow_label": 0xFFFFF}
    data = build(
        ethernet=Ethernet(ethertype=Ethertype.IPV4),
        ip=INNER.replace(**wrong),
        ev=EV,
        bth=Bth(opcode=WRITE, pad_count=1),
        extensions=body(WRITE, ts=False),
        outer=OUTER.replace(payload_length=1, next_header=NextHeader.NONE),
    )
    frame = frame_of(data)
    assert frame.ethernet.ethertype == Ethertype.IPV6
    assert isinstance(frame.ip, Ipv6)
    assert (frame.ip.flow_label, frame.udp) == (EV >> 16, Udp(src_port=EV & 0xFFFF, length=44))
