"""Replies for the benches of rtl_models/reply: a device, its peers, and what their QPs answer, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from cocotb_tests.receive_rows import PORTS, QpRow, RouteRow
from cocotb_tests.reply_model import OPCODES, Kind, Reply, endpoint_request, join, packed_reply
from pymodel.nic.config import DeviceConfig, PortConfig
from pymodel.nic.route_back import route_back
from pymodel.paths.usid import Usid, address
from pymodel.wire.headers import Erth
from pymodel.wire.spec import (
    AETH,
    CC_STATE,
    DEFAULT_OPTIONS,
    EETH_OP_54,
    NETH,
    SETH,
    USID_BLOCK_DEFAULT,
    DscpMap,
    EvSplit,
    UsidRole,
    WireOptions,
)

__all__ = ["BODY_BYTES", "OTHER_OPTIONS", "Traffic", "device"]

BODY_BYTES = {Kind.SACK: SETH.size + CC_STATE.size, Kind.NACK: NETH.size, Kind.ACK: AETH.size}
ALL_PLANES = (1 << PORTS) - 1
FIRST_QP = 3  # 0 to 2 have a meaning of their own

OTHER_OPTIONS = WireOptions(
    udp_port=DEFAULT_OPTIONS.accepted_udp_ports[1],
    ev_split=next(split for split in EvSplit if split is not DEFAULT_OPTIONS.ev_split),
    eeth=EETH_OP_54,
    spdcid_is_sender=False,
    dscp=DscpMap(no_trim=21, control=42),
)
"""Every choice another than the default."""


def source(plane: int, t0: int, nic: int) -> int:
    """An outer source, block:T0:NIC::."""
    usids = Usid(UsidRole.T0, plane, t0).value, Usid(UsidRole.NIC, plane, nic).value
    return address(USID_BLOCK_DEFAULT, usids)


def device(rng: random.Random, options: WireOptions = DEFAULT_OPTIONS) -> DeviceConfig:
    """A device with eight ports, port i in plane i."""
    ports = tuple(
        PortConfig(mac=rng.getrandbits(48), switch_mac=rng.getrandbits(48), source_address=source(port, 7, 5))
        for port in range(PORTS)
    )
    return DeviceConfig(ports=ports, address=rng.getrandbits(128), options=options)


class Traffic:
    """Makes the replies of one device."""

    def __init__(self, own: DeviceConfig, rng: random.Random) -> None:
        self.device = own
        self.rng = rng

    def config(self, qp: int) -> Reply:
        """A QP is configured, for the first time or anew."""
        rng = self.rng
        row = QpRow(
            peer_qpn=rng.randrange(FIRST_QP, 1 << 24),
            peer_address=rng.getrandbits(128),
            p_key=rng.getrandbits(16),
            mtu=rng.getrandbits(14),
            quiet_clocks=rng.getrandbits(32),
        )
        junk = {"planes": rng.getrandbits(PORTS), "rtx": bool(rng.getrandbits(1)), "psn": rng.getrandbits(24)}
        word = packed_reply(Kind.CONFIG, row.pack(), qp=qp, port=rng.randrange(PORTS), **junk)
        return Reply(Kind.CONFIG, word, qp=qp, row=row)

    def route(self, qp: int, port: int) -> Reply:
        """One port gets a route, with a segment or without."""
        rng = self.rng
        segment = rng.getrandbits(128) if rng.random() < 0.5 else None
        row = RouteRow(ev=rng.getrandbits(32), path=rng.getrandbits(128), segment=segment)
        word = packed_reply(Kind.ROUTE, row.pack(), qp=qp, port=port, planes=rng.getrandbits(PORTS))
        return Reply(Kind.ROUTE, word, qp=qp, port=port, row=row)

    def set_up(self, qps: Sequence[int]) -> list[Reply]:
        """Each QP with a route for every port; configuration and routes in any order."""
        items = [self.config(qp) for qp in qps] + [self.route(qp, port) for qp in qps for port in range(PORTS)]
        self.rng.shuffle(items)
        return items

    def answer(self, qp: int, kind: Kind | None = None, planes: int = ALL_PLANES) -> Reply:
        """A SACK, NACK or transport ACK; the port is not for the sender to choose."""
        rng = self.rng
        kind = rng.choice(list(OPCODES)) if kind is None else kind
        rtx, psn, body = bool(rng.getrandbits(1)), rng.getrandbits(24), rng.randbytes(BODY_BYTES[kind])
        word = packed_reply(
            kind, int.from_bytes(body, "big"), qp=qp, planes=planes, rtx=rtx, psn=psn, port=rng.randrange(PORTS)
        )
        return Reply(kind, word, qp=qp, planes=planes, rtx=rtx, psn=psn, body=body)

    def response(self, port: int | None = None) -> Reply:
        """The answer to an endpoint request that came encapsulated or not, from under the same T0 or another."""
        rng, own = self.rng, self.device
        port = rng.randrange(PORTS) if port is None else port
        peer, ev, number, op, stamp = rng.getrandbits(128), rng.getrandbits(32), *map(rng.getrandbits, (16, 1, 16))
        outer = source(port, rng.choice((7, 9)), rng.randrange(100)) if rng.random() < 0.8 else None
        request = endpoint_request(
            own, peer, erth=Erth(op=op, tx_timestamp=stamp), number=number, ev=ev, outer_source=outer
        )
        way = None if outer is None else route_back(own.ports[port].source_address, outer, ev)
        path = rng.getrandbits(128) if way is None else way
        body = join((op, 2), (stamp, 16), (peer, 128), (ev, 32), (outer is not None, 1), (path, 128))
        junk = {"planes": rng.getrandbits(PORTS), "rtx": bool(rng.getrandbits(1)), "qp": rng.getrandbits(16)}
        word = packed_reply(Kind.ENDPOINT, body, psn=number, port=port, **junk)
        return Reply(Kind.ENDPOINT, word, psn=number, port=port, request=request)

    def planes(self) -> int:
        """Usable planes: often all, sometimes one or none."""
        choice = self.rng.random()
        if choice < 0.4:
            return ALL_PLANES
        if choice < 0.5:
            return 1 << self.rng.randrange(PORTS)
        return 0 if choice < 0.55 else self.rng.getrandbits(PORTS)

    def mixed(self, qps: Sequence[int], count: int) -> Iterator[Reply]:
        """Bursts of answers of few QPs; routes and configurations change in between."""
        rng = self.rng
        hot: Sequence[int] = qps
        for number in range(count):
            if not number % 64:
                hot = rng.sample(qps, rng.choice((1, 2, 3, len(qps))))
            qp, what = rng.choice(hot), rng.random()
            if what < 0.12:
                yield self.route(qp, rng.randrange(PORTS))
            elif what < 0.14:
                yield self.config(qp)
            else:
                yield self.answer(qp, planes=self.planes())
