"""Frames for the tests of the wire: one of each packet type, and the shapes in which packets travel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from pymodel.wire import build
from pymodel.wire.headers import (
    Aeth,
    Bth,
    CcState,
    Eeth,
    Erth,
    Ethernet,
    Immdt,
    Ipv4,
    Ipv6,
    Meth,
    Neth,
    Peth,
    Reth,
    Seth,
    Tseth,
)
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import (
    DATA_OPCODES,
    DEFAULT_OPTIONS,
    ENDPOINT_QP,
    IMMEDIATE_OPCODES,
    AethSyndrome,
    DscpMap,
    Ecn,
    EndpointOp,
    NackReason,
    Opcode,
    SackM,
)
from pymodel.wire.tunnel import encapsulate

DSCP = DscpMap()
EV = 0x0123C456
PATH = (0xFC000000_0001_4000_0002_8001 << 32,)


def address(text: str) -> int:
    return int(IPv6Address(text))


ETHERNET = Ethernet(dst=0x02AABBCCDDEE, src=0x020000000001)
INNER = Ipv6(
    dscp=DSCP.trimmable or 0,
    ecn=Ecn.ECT0,
    flow_label=EV >> 16,
    src=address("2001:db8:0:1::1"),
    dst=address("2001:db8:0:2::2"),
)
INNER_4 = Ipv4(dscp=DSCP.trimmable or 0, ecn=Ecn.ECT0, identification=7, src=0x0A000001, dst=0x0A000002)
OUTER = encapsulate(INNER, src=address("fc00:0:1:8001::"), dst=address("fc00:0:1:4000:2:8001::"))
SEGMENT = address("fc00:0:4001:1:8003::")


@dataclass(frozen=True)
class Shape:
    """How a packet travels: keyword arguments of `build`, and the bytes in front of the BTH."""

    name: str
    arguments: dict[str, Any]
    front: int

    def build(self, **changes: Any) -> bytes:
        return build(**{"ethernet": ETHERNET, "ev": EV, **self.arguments, **changes})


SHAPES = (
    Shape("plain", {"ip": INNER}, 62),
    Shape("srv6", {"ip": INNER, "outer": OUTER}, 102),
    Shape("srv6+srh", {"ip": INNER, "outer": OUTER, "segments": (SEGMENT,)}, 126),
    Shape("ipv4", {"ip": INNER_4, "ev": EV & 0xFFFF}, 42),
)
BY_NAME = {shape.name: shape for shape in SHAPES}

_BODIES: dict[Opcode, tuple[PackedHeader, ...]] = {
    Opcode.ACKNOWLEDGE: (Aeth(syndrome=AethSyndrome.NAK_REMOTE_ACCESS, msn=0x123456),),
    Opcode.ENDPOINT_REQUEST: (
        Erth(op=EndpointOp.PORT_STATUS_UPDATE, vendor_info=9, port_status_mask=0xA5, tx_timestamp=0xBEEF),
    ),
    Opcode.ENDPOINT_RESPONSE: (Eeth(op=EndpointOp.EV_PROBE, tx_timestamp=0xBEEF),),
    Opcode.SACK: (
        Seth(
            m=SackM.SKIP_ONCE,
            ack_psn_offset=-2,
            entropy=EV,
            spdcid=0x1234,
            dpdcid=0x5678,
            cack_psn=1,
            mpr=8,
            sack_offset=-3,
            sack_bitmap=0x8000000000000005,
        ),
        CcState(tx_timestamp=0xCAFE, ooo_count=0x1234, restore_cwnd=1, rcv_cwnd_pen=0x55, rcvd_bytes=0xABCDEF),
    ),
    Opcode.NACK: (Neth(reason=NackReason.PSN_OOR_WINDOW, entropy=EV, nack_psn=0xFFFFFE, tx_timestamp=0xCAFE),),
    Opcode.PROBE_REQUEST: (Peth(probe_id=0x4321, spdcid=1, dpdcid=2, tx_timestamp=0xCAFE),),
}


def body(opcode: Opcode, ts: bool = True) -> tuple[PackedHeader, ...]:
    """The headers behind the BTH, with fields that show where they are."""
    if opcode not in DATA_OPCODES:
        return _BODIES[opcode]
    headers: list[PackedHeader] = [Meth(rqmsn=0x1122, msn=0x3344)]
    if ts:
        headers.append(Tseth(tx_timestamp=0x1234))
    headers.append(Reth(va=0x7F0000001000, r_key=0x00C0FFEE, dma_length=0x01020304))
    if opcode in IMMEDIATE_OPCODES:
        headers.append(Immdt(immediate=0xDEADBEEF))
    return tuple(headers)


def bth(opcode: Opcode, *, psn: int = 0xABCDEF, ts: bool = True, **fields: int) -> Bth:
    endpoint = opcode in (Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE)
    qp = ENDPOINT_QP if endpoint else 0x000123
    return Bth(**{"opcode": opcode, "dest_qp": qp, "psn": psn, "ts": int(ts and opcode in DATA_OPCODES), **fields})


def sample(opcode: Opcode, shape: str = "srv6", payload: bytes | None = None, ts: bool = True, **changes: Any) -> bytes:
    """A frame of type `opcode`; writes carry nine bytes unless `payload` says otherwise."""
    if payload is None:
        payload = bytes(range(1, 10)) if opcode in DATA_OPCODES else b""
    arguments = {"bth": bth(opcode, ts=ts), "extensions": body(opcode, ts), "payload": payload, **changes}
    return BY_NAME[shape].build(**arguments)


def samples(shapes: Sequence[str] = tuple(BY_NAME)) -> list[tuple[str, Opcode, bytes]]:
    """Every opcode in every shape: name, opcode, frame."""
    return [(f"{shape}-{opcode.name}", opcode, sample(opcode, shape)) for shape in shapes for opcode in Opcode]


def with_icrc(frame: bytes, inner: int) -> bytes:
    """`frame` with its last four bytes replaced by the right ICRC of what stands from byte `inner` on."""
    from pymodel.wire.icrc import icrc

    return frame[:-4] + icrc(frame[inner:-4]).to_bytes(4, "little")


__all__ = [
    "BY_NAME",
    "DEFAULT_OPTIONS",
    "DSCP",
    "EV",
    "INNER",
    "OUTER",
    "SEGMENT",
    "SHAPES",
    "Shape",
    "sample",
    "samples",
]
