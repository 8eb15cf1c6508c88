"""scapy layers: a second packer and dissector from the same table, and the traps of scapy itself."""

from __future__ import annotations

import importlib.metadata
import warnings

import pytest
import scapy.layers.all  # noqa: F401 - binds UDP ports to every protocol that scapy knows
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from pymodel.base.errors import InputError
from pymodel.wire import spec
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.scapy_layers import LAYERS, MrcBth
from pymodel.wire.spec import DATA_OPCODES, TRIM_BYTES_SRV6, UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED, Opcode
from tests.wire.samples import BY_NAME, DSCP, EV, body, bth, sample, samples
from tests.wire.test_trimmed import remark

PORTS = range(1 << 16)


def scapy_layer(header: PackedHeader) -> Packet:
    return LAYERS[header.SPEC.name](**dict(header.items()))


def scapy_packet(opcode: Opcode, shape: str, payload: bytes) -> Packet:
    """The sample of `opcode` in `shape` written as scapy layers."""
    ether = Ether(dst="02:aa:bb:cc:dd:ee", src="02:00:00:00:00:01")
    tc = (DSCP.trimmable or 0) << 2 | spec.Ecn.ECT0
    packet: Packet
    if shape == "ipv4":
        packet = ether / IP(src="10.0.0.1", dst="10.0.0.2", tos=tc, id=7, flags="DF", ttl=64)
    else:
        packet = ether
        if shape != "plain":
            packet /= IPv6(src="fc00:0:1:8001::", dst="fc00:0:1:4000:2:8001::", tc=tc, fl=EV >> 16)
        if shape == "srv6+srh":
            packet /= IPv6ExtHdrSegmentRouting(addresses=["fc00:0:4001:1:8003::"], segleft=1, lastentry=0)
        packet /= IPv6(src="2001:db8:0:1::1", dst="2001:db8:0:2::2", tc=tc, fl=EV >> 16)
    head = dict(bth(opcode).items())
    del head["pad_count"]
    packet = packet / UDP(sport=EV & 0xFFFF) / MrcBth(**head)
    for header in body(opcode):
        packet /= scapy_layer(header)
    return packet / Raw(payload) if payload else packet


@pytest.mark.parametrize("shape", list(BY_NAME))
@pytest.mark.parametrize("opcode", list(Opcode), ids=lambda opcode: opcode.name)
def test_r01_scapy_builds_the_same_bytes(shape: str, opcode: Opcode) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sizes = range(1, 10) if opcode in DATA_OPCODES else (0,)
        for size in sizes:
            payload = bytes(range(1, size + 1))
            assert bytes(scapy_packet(opcode, shape, payload)) == sample(opcode, shape, payload)


@pytest.mark.parametrize("row", samples(), ids=lambda row: row[0])
def test_scapy_dissects_and_builds_again(row: tuple[str, Opcode, bytes]) -> None:
    _, opcode, data = row
    packet = Ether(data)
    layer = packet[MrcBth]
    assert {name: layer.getfieldval(name) for name, _ in bth(opcode).items() if name != "pad_count"} == {
        name: value for name, value in bth(opcode).items() if name != "pad_count"
    }
    for header in body(opcode):
        found = packet[LAYERS[header.SPEC.name]]
        assert [(name, found.getfieldval(name)) for name, _ in header.items()] == header.items()
    assert bytes(packet) == data
    del layer.icrc
    layer.psn = 5
    assert bytes(packet) == sample(opcode, row[0].split("-")[0], bth=bth(opcode, psn=5))
    expected = bytes(range(1, 10)) if opcode in DATA_OPCODES else b""
    assert bytes(packet[Raw]) == expected if expected else Raw not in packet


def dissected(data: bytes, at: int, port: int) -> Packet:
    """Layer behind UDP of `data` with source port `port`; `at` is where UDP begins."""
    return UDP(port.to_bytes(2, "big") + data[at + 2 :])


def bound_ports() -> list[int]:
    """The UDP ports that scapy takes for some other protocol."""
    bound = {fields[side] for fields, _ in UDP.payload_guess for side in ("sport", "dport") if side in fields}
    return sorted(bound - {UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED})


@pytest.mark.parametrize("opcode", list(Opcode), ids=lambda opcode: opcode.name)
@pytest.mark.parametrize("destination", [UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED])
def test_l01_source_ports_of_other_protocols_dissect_as_mrc(opcode: Opcode, destination: int) -> None:
    data = sample(opcode, "plain")
    data = data[:56] + destination.to_bytes(2, "big") + data[58:]
    assert len(bound_ports()) > 20
    for port in bound_ports():
        layer = dissected(data, 54, port).payload
        assert isinstance(layer, MrcBth), port
        assert layer.haslayer(LAYERS[body(opcode)[-1].SPEC.name]), port


@pytest.mark.slow
def test_l01_every_source_port_dissects_as_mrc() -> None:
    data = sample(Opcode.ACKNOWLEDGE, "plain")
    assert [port for port in PORTS if not isinstance(dissected(data, 54, port).payload, MrcBth)] == []


@pytest.mark.nightly
@pytest.mark.parametrize("opcode", list(Opcode), ids=lambda opcode: opcode.name)
def test_l01_every_source_port_and_packet_type(opcode: Opcode) -> None:
    data = sample(opcode, "plain")
    for port in PORTS:
        layer = dissected(data, 54, port).payload
        assert isinstance(layer, MrcBth), port
        assert layer.psn == 0xABCDEF
        assert layer.haslayer(LAYERS[body(opcode)[-1].SPEC.name]), port


def test_l01_the_trap_is_still_there_without_our_binding(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [row for row in UDP.payload_guess if row[1] is not MrcBth]
    monkeypatch.setattr(UDP, "payload_guess", [*others, ({"dport": UDP_PORT_ROCE_V2}, MrcBth)])
    data = sample(Opcode.ACKNOWLEDGE, "plain")
    wrong = [port for port in bound_ports() if not isinstance(dissected(data, 54, port).payload, MrcBth)]
    assert 53 in wrong


def test_l04_a_trimmed_frame_has_no_icrc() -> None:
    whole = sample(Opcode.WRITE_MIDDLE, payload=bytes(range(256)) * 16)
    data = remark(whole[:TRIM_BYTES_SRV6], DSCP.trimmed)
    packet = Ether(data)
    assert packet[MrcBth].trimmed()
    assert packet[MrcBth].icrc is None
    assert packet[Raw].load == bytes(range(6))
    assert bytes(packet) == data


def test_trimmed_inside_a_header() -> None:
    data = remark(sample(Opcode.WRITE_MIDDLE)[:124], DSCP.trimmed)
    packet = Ether(data)
    assert [layer.__name__ for layer in packet.layers()[-3:]] == ["MrcMeth", "MrcTseth", "Raw"]
    assert bytes(packet) == data


@pytest.mark.parametrize("value", [1 << 24, -1])
def test_r09_a_psn_that_does_not_fit_is_refused(value: int) -> None:
    with pytest.raises(InputError, match=r"MrcBth\.psn"):
        bytes(IPv6() / UDP() / MrcBth(psn=value))


def test_r09_signed_fields_have_their_own_limits() -> None:
    seth = LAYERS["SETH"]
    assert seth(bytes(seth(sack_offset=-0x8000))).sack_offset == -0x8000
    with pytest.raises(InputError, match=r"MrcSeth\.sack_offset"):
        bytes(seth(sack_offset=0x8000))


def test_l02_no_icrc_without_ip_rather_than_zero() -> None:
    with pytest.raises(InputError, match="ICRC"):
        bytes(UDP() / MrcBth(opcode=Opcode.ACKNOWLEDGE))


def test_an_unknown_opcode_is_left_raw() -> None:
    packet = Ether(bytes(Ether() / IPv6() / UDP() / MrcBth(opcode=0) / Raw(b"what is this")))
    assert packet[MrcBth].payload.load == b"what is this"


def test_bytes_that_are_no_bth_do_not_raise() -> None:
    for size in range(1, 12):
        assert bytes(UDP(bytes(UDP(dport=UDP_PORT_ROCE_V2, chksum=0) / Raw(bytes(size))))[Raw]) == bytes(size)


def test_r04_scapy_is_new_enough_for_an_srh_of_four_segments() -> None:
    major, minor = importlib.metadata.version("scapy").split(".")[:2]
    assert (int(major), int(minor)) >= (2, 8)
    data = sample(Opcode.SACK, "srv6+srh", segments=tuple(range(1, 5)))
    packet = Ether(data)
    srh = packet[IPv6ExtHdrSegmentRouting]
    assert srh.addresses == ["::1", "::2", "::3", "::4"]
    assert (srh.segleft, srh.lastentry, srh.tlv_objects) == (4, 3, [])
    assert bytes(packet) == data
