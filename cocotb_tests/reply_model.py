"""The golden side of the benches of rtl_models/reply: what the model of `pymodel.nic` makes of a reply, byte for byte.

A reply is given to the RTL as a packed `reply_t` of `rtl_models/common/mrc_rx_pkg.sv`, and to the model as what it
stands for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum

from cocotb_tests.receive_rows import PORTS, QpRow, RouteRow
from pymodel.nic.config import DeviceConfig, QpConfig
from pymodel.nic.endpoint import Endpoint
from pymodel.nic.ev_table import EvSlot, EvTable
from pymodel.nic.events import Action, FrameOut
from pymodel.nic.framing import Framer
from pymodel.nic.ports import PortStates
from pymodel.nic.reverse import ReversePaths
from pymodel.paths.ev import EvRecord
from pymodel.wire.build import build
from pymodel.wire.frame import Frame
from pymodel.wire.headers import Bth, Ethernet, Ipv6
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.parser import parse
from pymodel.wire.spec import EETH_OP_54, ENDPOINT_QP, Ecn, EvSplit, Opcode, WireOptions

__all__ = [
    "REPLY_BITS",
    "Kind",
    "Model",
    "Reply",
    "endpoint_request",
    "join",
    "packed_reply",
    "parsed",
    "port_configs",
    "reply_config",
]

BODY_BITS = 352
REPLY_BITS = 407


class Kind(IntEnum):
    """reply_kind_e."""

    SACK = 0
    NACK = 1
    ACK = 2
    ENDPOINT = 3
    ROUTE = 4
    CONFIG = 5


OPCODES = {Kind.SACK: Opcode.SACK, Kind.NACK: Opcode.NACK, Kind.ACK: Opcode.ACKNOWLEDGE}
DCIDS_AT = {Kind.SACK: 8, Kind.NACK: 8}
"""Where spdcid and dpdcid stand in a body: behind the first words of SETH and NETH (mrc-facts.md 1.7, 1.8)."""


def join(*fields: tuple[int, int]) -> int:
    """Fields as (value, bits), the first one leftmost."""
    word = 0
    for value, bits in fields:
        assert 0 <= value < 1 << bits, (value, bits)
        word = word << bits | value
    return word


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: the packed `reply_t`, and what the model needs."""

    kind: Kind
    word: int
    qp: int = 0
    planes: int = 0
    rtx: bool = False
    psn: int = 0
    port: int = 0
    body: bytes = b""
    row: QpRow | RouteRow | None = None
    request: bytes = b""
    """Of an endpoint response: the frame that asked."""


def packed_reply(
    kind: Kind, body: int, *, qp: int = 0, planes: int = 0, rtx: bool = False, psn: int = 0, port: int = 0
) -> int:
    """`reply_t`, packed."""
    return join((kind, 3), (qp, 16), (planes, PORTS), (rtx, 1), (psn, 24), (port, 3), (body, BODY_BITS))


def reply_config(device: DeviceConfig) -> int:
    """`reply_config_t`, packed."""
    options = device.options
    return join(
        (device.address, 128),
        (options.dscp.control, 6),
        (options.dscp.no_trim, 6),
        (options.udp_port, 16),
        (options.ev_split is EvSplit.FLOW_LABEL_HIGH, 1),
        (options.spdcid_is_sender, 1),
        (options.eeth is EETH_OP_54, 1),
    )


def port_configs(device: DeviceConfig) -> int:
    """`port_config_t` of all ports, packed; port 0 stands rightmost."""
    fields = [((port.mac, 48), (port.switch_mac, 48), (port.source_address, 128)) for port in reversed(device.ports)]
    return join(*(field for port in fields for field in port))


class _Qp:
    """A configured QP of the model."""

    def __init__(self, device: DeviceConfig, qpn: int, row: QpRow, records: list[EvRecord]) -> None:
        config = QpConfig(
            qpn=qpn, peer_qpn=row.peer_qpn, peer_address=row.peer_address, p_key=row.p_key, evs=tuple(records)
        )
        self.framer = Framer(device, config)
        self.table = EvTable(records, seed=1)
        self.reverse = ReversePaths(self.table, rtt_ps=1)
        own, peer = qpn & 0xFFFF, row.peer_qpn & 0xFFFF
        dcids = (own, peer) if device.options.spdcid_is_sender else (peer, own)
        self.dcids = b"".join(value.to_bytes(2, "big") for value in dcids)


class Model:
    """What becomes of replies, one after the other."""

    def __init__(self, device: DeviceConfig) -> None:
        self.device = device
        self.dropped: Counter[str] = Counter()
        self._endpoint = Endpoint(device, PortStates(PORTS), self.dropped)
        self._qps: dict[int, _Qp] = {}
        self._routes: dict[tuple[int, int], EvRecord] = {}

    def take(self, item: Reply) -> tuple[int, bytes] | None:
        """Port and frame of what follows from `item`, or None."""
        if isinstance(item.row, QpRow):
            records = [self._routes.get((item.qp, port), EvRecord(port, port, 0)) for port in range(PORTS)]
            self._qps[item.qp] = _Qp(self.device, item.qp, item.row, records)
            return None
        if isinstance(item.row, RouteRow):
            record = EvRecord(item.row.ev, item.port, item.row.path, item.row.segment)
            self._routes[item.qp, item.port] = record
            if item.qp in self._qps:
                self._qps[item.qp].reverse.learn(EvSlot(record))
            return None
        if item.kind is Kind.ENDPOINT:
            return self.respond(parsed(item.request, self.device.options), item.port)
        qp = self._qps[item.qp]
        for port in range(PORTS):
            qp.table.set_port(port, bool(item.planes >> port & 1))
        slot = qp.reverse.next()
        if slot is None:
            self.dropped["no way back"] += 1
            return None
        at = DCIDS_AT.get(item.kind)
        body = item.body if at is None else item.body[:at] + qp.dcids + item.body[at + 4 :]
        return slot.port, qp.framer.control(slot, OPCODES[item.kind], item.psn, body, item.rtx)

    def respond(self, frame: Frame, port: int) -> tuple[int, bytes] | None:
        """Port and frame of the answer to an endpoint request that arrived on `port`, or None."""
        out: list[Action] = []
        self._endpoint.receive(frame, port, (), 0, out)
        if not out:
            return None
        (action,) = out
        assert isinstance(action, FrameOut)
        return action.port, action.data


def parsed(data: bytes, options: WireOptions) -> Frame:
    """A frame that the model's parser takes."""
    frame = parse(data, options)
    assert isinstance(frame, Frame), frame
    return frame


def endpoint_request(
    device: DeviceConfig,
    peer: int,
    *,
    erth: PackedHeader,
    number: int,
    ev: int,
    outer_source: int | None,
    segments: tuple[int, ...] = (),
    opcode: Opcode = Opcode.ENDPOINT_REQUEST,
    dest_qp: int = ENDPOINT_QP,
    dst: int | None = None,
) -> bytes:
    """An endpoint request to `device` as it arrives."""
    inner = Ipv6(ecn=Ecn.ECT0, src=peer, dst=device.address if dst is None else dst)
    outer = None if outer_source is None else Ipv6(ecn=Ecn.ECT0, src=outer_source, dst=device.ports[0].source_address)
    bth = Bth(opcode=opcode, dest_qp=dest_qp, psn=number)
    return build(
        ethernet=Ethernet(dst=1, src=2),
        ip=inner,
        ev=ev,
        bth=bth,
        extensions=(erth,),
        outer=outer,
        segments=segments,
        options=device.options,
    )
