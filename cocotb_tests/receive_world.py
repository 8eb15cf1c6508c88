"""The surroundings of the receive side under test: its own device, peers and regions, and how frames get to it."""

from __future__ import annotations

import random
from typing import NamedTuple

from cocotb_tests.receive_rows import PORTS, Command, Op, QpRow, RegionRow, RouteRow
from pymodel.nic.config import DeviceConfig, PortConfig
from pymodel.paths.usid import Usid, address
from pymodel.wire import spec
from pymodel.wire.build import build
from pymodel.wire.headers import Bth, Ethernet, Ipv6, Segment
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import DEFAULT_OPTIONS, USID_BLOCK_DEFAULT, Ecn, UsidRole
from pymodel.wire.template import FrameTemplate
from pymodel.wire.tunnel import encapsulate

REGIONS = 64
_T0, _NIC = 5, 17
_BLOB = 1 << 21
_TC = spec.ETHERNET.size
_DSCP = DEFAULT_OPTIONS.dscp


class Style(NamedTuple):
    """How a frame is encapsulated."""

    outer: bool
    srh: bool


PLAIN, SRV6, SRV6_SRH = Style(False, False), Style(True, False), Style(True, True)


class Peer(NamedTuple):
    """A sender: its inner address, and by port its outer one."""

    address: int
    sources: tuple[int, ...]


class Region(NamedTuple):
    """A memory region: where in the table, and what it covers."""

    index: int
    row: RegionRow

    @property
    def r_key(self) -> int:
        return self.index << spec.R_KEY_TAG_BITS | self.row.tag


def _source(port: int, t0: int, nic: int) -> int:
    return address(USID_BLOCK_DEFAULT, (Usid(UsidRole.T0, port, t0).value, Usid(UsidRole.NIC, port, nic).value))


def with_traffic_class(data: bytes, dscp: int | None = None, ecn: int | None = None) -> bytes:
    """The frame with the traffic class of its outermost IPv6 header changed."""
    old = (data[_TC] & 0x0F) << 4 | data[_TC + 1] >> 4
    new = (old >> 2 if dscp is None else dscp) << 2 | (old & 3 if ecn is None else ecn)
    return data[:_TC] + bytes((data[_TC] & 0xF0 | new >> 4, (new & 0xF) << 4 | data[_TC + 1] & 0x0F)) + data[_TC + 2 :]


def trimmed(data: bytes, last_hop: bool = False) -> bytes:
    """What a switch leaves of a frame: the trim mark and, if it is longer, its front; the lengths stay."""
    following = data[_TC + 6]
    size = spec.TRIM_BYTES_PLAIN
    if following != spec.NextHeader.UDP:
        size = spec.TRIM_BYTES_SRV6
    if following == spec.NextHeader.ROUTING:
        size += spec.TRIM_BYTES_SRH_EXTRA
    mark = _DSCP.trimmed_lasthop if last_hop else _DSCP.trimmed
    return with_traffic_class(data[:size], dscp=mark)


class World:
    """What stays the same in all traffic of one seed."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(f"world {seed}")
        ports = tuple(
            PortConfig(rng.getrandbits(48), rng.getrandbits(48), _source(port, _T0, _NIC)) for port in range(PORTS)
        )
        self.config = DeviceConfig(ports=ports, address=rng.getrandbits(128), regions=REGIONS)
        self.blob = rng.randbytes(_BLOB)
        self.peers = [
            Peer(
                rng.getrandbits(128),
                tuple(_source(port, _T0 if number == 0 else _T0 + number, 30 + number) for port in range(PORTS)),
            )
            for number in range(4)
        ]
        self.regions = self._make_regions()
        self._templates: dict[tuple[int, int, Style], FrameTemplate] = {}

    def _make_regions(self) -> list[Region]:
        """Regions at both ends of the address space and of the table, wide ones and one of a single byte."""
        rng = self.rng
        indices = rng.sample(range(1, REGIONS - 1), 6)
        spans = [
            (0, 1 << 21),
            ((1 << 64) - (1 << 21), 1 << 21),
            (rng.getrandbits(62), 1 << 32),
            (rng.getrandbits(63), 1),
        ]
        spans += [(rng.getrandbits(60), (1 << 21) + rng.getrandbits(12)) for _ in range(4)]
        rows = [RegionRow(rng.getrandbits(8), first, first + length - 1) for first, length in spans]
        return [Region(index, row) for index, row in zip([0, REGIONS - 1, *indices], rows, strict=True)]

    def wide_regions(self) -> list[Region]:
        """Regions with room for any message of the traffic."""
        return [region for region in self.regions if region.row.last - region.row.first >= 1 << 20]

    def register(self) -> list[Command]:
        """Commands that fill the table of regions; all other places are invalid."""
        used = {region.index: region.row for region in self.regions}
        unused = RegionRow(0, 0, 0, valid=False)
        return [Command(Op.REGION, index, row=used.get(index, unused)) for index in range(REGIONS)]

    def route(self, rng: random.Random, qp: int, port: int) -> Command:
        """A command that gives a QP an EV for answers on a port, now and then with an SRH."""
        segment = rng.getrandbits(128) if rng.random() < 0.3 else None
        return Command(Op.QP_ROUTE, qp, port=port, row=RouteRow(rng.getrandbits(32), rng.getrandbits(128), segment))

    def life(self, rng: random.Random, qp: int, row: QpRow, first_psn: int) -> list[Command]:
        """Commands that begin a QP's life: from whatever it was to ready."""
        return [
            Command(Op.QP_RESET, qp),
            *(self.route(rng, qp, port) for port in range(PORTS)),
            Command(Op.QP_CONFIG, qp, row=row),
            Command(Op.QP_READY, qp, first_psn),
        ]

    def style(self, rng: random.Random) -> Style:
        return rng.choices((SRV6, SRV6_SRH, PLAIN), (80, 10, 10))[0]

    def frame(
        self,
        rng: random.Random,
        port: int,
        peer: int,
        transport: bytes,
        payload: bytes = b"",
        dscp: int = _DSCP.no_trim,
        style: Style | None = None,
    ) -> bytes:
        """A frame from `peer` by `port`, in `style` or any, with any EV and path."""
        style = style or self.style(rng)
        template = self._templates.get((port, peer, style))
        if template is None:
            own, source = self.config.ports[port], self.peers[peer]
            template = self._templates[port, peer, style] = FrameTemplate(
                ethernet=Ethernet(dst=own.mac, src=own.switch_mac),
                ip=Ipv6(ecn=Ecn.ECT0, src=source.address, dst=self.config.address),
                outer_src=source.sources[port] if style.outer else None,
                srh=style.srh,
            )
        path = rng.randbytes(32 if style.srh else 16 if style.outer else 0)
        return template.pack(transport, payload, rng.getrandbits(32), path, dscp)

    def odd_frame(
        self,
        rng: random.Random,
        port: int,
        peer: int,
        bth: Bth,
        body: list[PackedHeader],
        payload: bytes = b"",
        *,
        source: int | None = None,
        destination: int | None = None,
        ecn: int = Ecn.ECT0,
        outer_ecn: int | None = None,
        segments: int = 0,
        outer_source: int | None = None,
    ) -> bytes:
        """A frame in SRv6 that is unusual in its addresses, ECN or number of segments."""
        own, given = self.config.ports[port], self.peers[peer]
        ip = Ipv6(
            ecn=ecn,
            src=given.address if source is None else source,
            dst=self.config.address if destination is None else destination,
        )
        outer = encapsulate(
            ip, src=given.sources[port] if outer_source is None else outer_source, dst=rng.getrandbits(128)
        )
        if outer_ecn is not None:
            outer = outer.replace(ecn=outer_ecn)
        return build(
            ethernet=Ethernet(dst=own.mac, src=own.switch_mac),
            ip=ip,
            ev=rng.getrandbits(32),
            bth=bth,
            extensions=body,
            payload=payload,
            outer=outer,
            segments=[rng.getrandbits(Segment.SIZE * 8) for _ in range(segments)],
        )
