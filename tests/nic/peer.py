"""Frames of a peer, made field by field, for tests of one device alone."""

from __future__ import annotations

from pymodel.nic.config import DeviceConfig, PortConfig, QpConfig
from pymodel.nic.congestion import CongestionControl
from pymodel.nic.device import Device
from pymodel.nic.events import Action, FrameIn, FrameOut
from pymodel.paths.ev import EvRecord
from pymodel.wire.build import build
from pymodel.wire.frame import Frame
from pymodel.wire.headers import (
    Aeth,
    Bth,
    CcState,
    Eeth,
    Erth,
    Ethernet,
    Immdt,
    Ipv6,
    Meth,
    Neth,
    Peth,
    Reth,
    Seth,
    Tseth,
)
from pymodel.wire.parser import parse
from pymodel.wire.spec import DATA_OPCODES, DEFAULT_OPTIONS, ENDPOINT_QP, IMMEDIATE_OPCODES, Ecn, Opcode, WireOptions

OWN_QPN, PEER_QPN = 0x123, 0x456
OWN = 0x2001_0DB8_0000_0001_0000_0000_0000_0001
PEER = 0x2001_0DB8_0000_0002_0000_0000_0000_0002
BASE = 0x7F00_0000_1000
PEER_EV = 0x0123_C456


def evs(count: int = 16, planes: int = 2) -> tuple[EvRecord, ...]:
    return tuple(EvRecord(0x0100_0000 + i, i % planes, 0xFC00_0000 << 96 | i + 1) for i in range(count))


def device(
    congestion: CongestionControl | None = None,
    *,
    options: WireOptions = DEFAULT_OPTIONS,
    **settings: object,
) -> Device:
    """A device with two ports and one QP; `settings` are those of `QpConfig`."""
    ports = tuple(PortConfig(0x02_0000_0000 + i, 0x02_1111_0000 + i, 0xFC00_0001 << 96 | i) for i in range(2))
    made = Device(DeviceConfig(ports=ports, address=OWN, options=options))
    defaults = {"qpn": OWN_QPN, "peer_qpn": PEER_QPN, "peer_address": PEER, "evs": evs()}
    made.add_qp(QpConfig(**(defaults | settings)), congestion)
    return made


def frames(actions: list[Action]) -> list[Frame]:
    """The frames among `actions`, parsed."""
    found = []
    for action in actions:
        if isinstance(action, FrameOut):
            frame = parse(action.data)
            assert isinstance(frame, Frame), frame
            found.append(frame)
    return found


def arrive(
    bth: Bth, *extensions: object, payload: bytes = b"", ev: int = PEER_EV, ecn: int = Ecn.ECT0, **ip: int
) -> FrameIn:
    """A frame of the peer to this QP, without encapsulation."""
    header = Ipv6(**({"src": PEER, "dst": OWN, "ecn": ecn, "dscp": DEFAULT_OPTIONS.dscp.no_trim} | ip))
    return FrameIn(0, build(ethernet=Ethernet(), ip=header, ev=ev, bth=bth, extensions=extensions, payload=payload))


def sack(cack: int, bitmap: int = 0, *, offset: int = 1, bth: dict[str, int] | None = None, **fields: int) -> FrameIn:
    """A SACK; fields of CC_STATE and SETH by name."""
    cc_names = {field.name for field in CcState.SPEC.fields}
    cc = {name: value for name, value in fields.items() if name in cc_names}
    seth = {name: value for name, value in fields.items() if name not in cc_names}
    header = Bth(opcode=Opcode.SACK, dest_qp=OWN_QPN, psn=cack, **(bth or {}))
    return arrive(header, Seth(cack_psn=cack, sack_offset=offset, sack_bitmap=bitmap, **seth), CcState(**cc))


def nack(psn: int, reason: int, entropy: int, **fields: int) -> FrameIn:
    header = Bth(opcode=Opcode.NACK, dest_qp=OWN_QPN, psn=psn)
    return arrive(header, Neth(nack_psn=psn, reason=reason, entropy=entropy, **fields))


def acknowledge(syndrome: int, msn: int, psn: int = 0) -> FrameIn:
    return arrive(Bth(opcode=Opcode.ACKNOWLEDGE, dest_qp=OWN_QPN, psn=psn), Aeth(syndrome=syndrome, msn=msn))


def probe(probe_id: int, **ip: int) -> FrameIn:
    return arrive(Bth(opcode=Opcode.PROBE_REQUEST, dest_qp=OWN_QPN), Peth(probe_id=probe_id, tx_timestamp=0x77), **ip)


def endpoint_request(op: int, number: int, mask: int = 0, stamp: int = 0x55) -> FrameIn:
    header = Bth(opcode=Opcode.ENDPOINT_REQUEST, dest_qp=ENDPOINT_QP, psn=number)
    return arrive(header, Erth(op=op, port_status_mask=mask, tx_timestamp=stamp))


def endpoint_response(op: int, number: int, stamp: int = 0, **ip: int) -> FrameIn:
    header = Bth(opcode=Opcode.ENDPOINT_RESPONSE, dest_qp=ENDPOINT_QP, psn=number)
    return arrive(header, Eeth(op=op, tx_timestamp=stamp), **ip)


def write(
    psn: int,
    payload: bytes = b"",
    *,
    opcode: int = Opcode.WRITE_ONLY,
    va: int = BASE,
    r_key: int = 0,
    msn: int = 0,
    rqmsn: int = 0,
    length: int | None = None,
    timestamp: int | None = 0x1234,
    immediate: int = 0xCAFE,
    ev: int = PEER_EV,
    bth: dict[str, int] | None = None,
    **ip: int,
) -> FrameIn:
    """A data packet of the peer."""
    assert opcode in DATA_OPCODES
    extensions: list[object] = [Meth(msn=msn, rqmsn=rqmsn)]
    if timestamp is not None:
        extensions.append(Tseth(tx_timestamp=timestamp))
    extensions.append(Reth(va=va, r_key=r_key, dma_length=len(payload) if length is None else length))
    if opcode in IMMEDIATE_OPCODES:
        extensions.append(Immdt(immediate=immediate))
    header = Bth(opcode=opcode, dest_qp=OWN_QPN, psn=psn, ts=timestamp is not None, **(bth or {}))
    return arrive(header, *extensions, payload=payload, ev=ev, **ip)
