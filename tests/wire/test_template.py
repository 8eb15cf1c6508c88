"""The quick way to pack makes the bytes of the readable way, and refuses what does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.wire import build
from pymodel.wire.headers import Bth, Immdt, Meth, Reth, Tseth
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import DATA_OPCODES, UDP_PORT_SWAPPED, Ecn, EvSplit, Opcode, WireOptions
from pymodel.wire.template import FrameTemplate, write_transport
from pymodel.wire.tunnel import encapsulate, split_ev
from tests.wire.samples import ETHERNET, INNER, INNER_4, body, bth

U16, U24, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (16, 24, 32, 64))
OPTIONS = [WireOptions(), WireOptions(ev_split=EvSplit.SOURCE_PORT_HIGH, udp_port=UDP_PORT_SWAPPED)]
PATH = bytes(range(0x20, 0x40))


@given(
    opcode=st.sampled_from(sorted(DATA_OPCODES)), qp=U24, psn=U24, msn=U16, rqmsn=U16, va=U64, r_key=U32, length=U32,
    stamp=st.none() | U16, immediate=st.none() | U32, ack_req=st.booleans(), rtx=st.booleans(), p_key=U16,
)  # fmt: skip
def test_write_transport_equals_the_headers(
    opcode: int, qp: int, psn: int, msn: int, rqmsn: int, va: int, r_key: int, length: int, stamp: int | None,
    immediate: int | None, ack_req: bool, rtx: bool, p_key: int,
) -> None:  # fmt: skip
    flags = {"ack_req": int(ack_req), "rtx": int(rtx), "ts": int(stamp is not None)}
    headers: list[PackedHeader] = [
        Bth(opcode=opcode, dest_qp=qp, psn=psn, p_key=p_key, **flags),
        Meth(rqmsn=rqmsn, msn=msn),
    ]
    if stamp is not None:
        headers.append(Tseth(tx_timestamp=stamp))
    headers.append(Reth(va=va, r_key=r_key, dma_length=length))
    if immediate is not None:
        headers.append(Immdt(immediate=immediate))
    packed = write_transport(
        opcode, qp, psn, msn, va, r_key, length,
        rqmsn=rqmsn, tx_timestamp=stamp, immediate=immediate, ack_req=ack_req, rtx=rtx, p_key=p_key,
    )  # fmt: skip
    assert packed == b"".join(header.pack() for header in headers)


@given(
    shape=st.sampled_from(["plain", "srv6", "srv6+srh", "ipv4"]),
    options=st.sampled_from(OPTIONS),
    opcode=st.sampled_from(list(Opcode)),
    ev=U32,
    dscp=st.none() | st.integers(0, 63),
    ecn=st.sampled_from(list(Ecn)),
    payload=st.one_of(st.binary(max_size=9), st.integers(0, 9000).map(bytes)),
    view=st.booleans(),
)
def test_template_equals_build(
    shape: str, options: WireOptions, opcode: Opcode, ev: int, dscp: int | None, ecn: Ecn, payload: bytes, view: bool
) -> None:
    if shape == "ipv4":
        ev &= 0xFFFF
    srh = shape == "srv6+srh"
    ip = (INNER_4 if shape == "ipv4" else INNER).replace(ecn=ecn)
    path = {"srv6": PATH[:16], "srv6+srh": PATH}.get(shape, b"")
    template = FrameTemplate(
        ethernet=ETHERNET, ip=ip, outer_src=0xFE80 << 112 if path else None, srh=srh, options=options
    )
    transport = b"".join(header.pack() for header in (bth(opcode), *body(opcode)))
    packed = template.pack(transport, memoryview(payload) if view else payload, ev, path, dscp)

    ip = ip.replace(dscp=ip.dscp if dscp is None else dscp)
    outer = None
    if shape in ("srv6", "srv6+srh"):
        outer = encapsulate(
            INNER.replace(dscp=ip.dscp, ecn=ecn, flow_label=split_ev(ev, options)[0]),
            src=0xFE80 << 112,
            dst=int.from_bytes(path[:16], "big"),
        )
    segments = [int.from_bytes(path[16:], "big")] if srh else []
    assert packed == build(
        ethernet=ETHERNET, ip=ip, ev=ev, bth=bth(opcode), extensions=body(opcode), payload=payload, outer=outer,
        segments=segments, options=options,
    )  # fmt: skip


GOOD = {"opcode": Opcode.WRITE_ONLY, "dest_qp": 1, "psn": 2, "msn": 3, "va": 4, "r_key": 5, "dma_length": 6}
TOO_WIDE = [
    ("BTH.opcode", {"opcode": 256}),
    ("BTH.dest_qp", {"dest_qp": 1 << 24}),
    ("BTH.psn", {"psn": 1 << 24}),
    ("BTH.psn", {"psn": -1}),
    ("BTH.p_key", {"p_key": 1 << 16}),
    ("METH.msn", {"msn": 1 << 16}),
    ("METH.rqmsn", {"rqmsn": 1 << 16}),
    ("TSETH.tx_timestamp", {"tx_timestamp": 1 << 16}),
    ("RETH.va", {"va": 1 << 64}),
    ("RETH.r_key", {"r_key": 1 << 32}),
    ("RETH.dma_length", {"dma_length": 1 << 32}),
    ("IMMDT.immediate", {"immediate": 1 << 32}),
]


@pytest.mark.parametrize(("where", "change"), TOO_WIDE, ids=[row[0] for row in TOO_WIDE])
def test_r09_write_transport_refuses_by_name(where: str, change: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        write_transport(**{**GOOD, **change})
    assert caught.value.where == where


PACK_REFUSED = [
    ("DSCP", {"dscp": 64}),
    ("EV", {"ev": 1 << 32}),
    ("EV", {"ev": -1}),
    ("path", {"path": PATH}),
    ("path", {"path": b""}),
    ("UDP length", {"payload": bytes(65536)}),
    ("UDP length", {"payload": bytes(65472)}),
]


@pytest.mark.parametrize(("where", "change"), PACK_REFUSED, ids=[row[0] for row in PACK_REFUSED])
def test_r09_template_refuses_by_name(where: str, change: dict[str, object]) -> None:
    template = FrameTemplate(ethernet=ETHERNET, ip=INNER, outer_src=1)
    with pytest.raises(InputError) as caught:
        template.pack(**{"transport": write_transport(**GOOD), "payload": b"", "ev": 0, "path": PATH[:16], **change})
    assert caught.value.where == where


def test_the_largest_payload_that_fits() -> None:
    template = FrameTemplate(ethernet=ETHERNET, ip=INNER, outer_src=1)
    transport = write_transport(**GOOD)
    largest = 65535 - 40 - 8 - len(transport) - 4 & ~3
    assert (
        len(template.pack(transport, bytes(largest), 0, PATH[:16])) == 14 + 40 + 40 + 8 + len(transport) + largest + 4
    )


@pytest.mark.parametrize(
    ("arguments", "where"),
    [({"ip": INNER, "srh": True}, "SRH"), ({"ip": INNER_4, "outer_src": 1}, "inner header")],
)
def test_a_template_that_cannot_be_is_refused(arguments: dict, where: str) -> None:
    with pytest.raises(InputError) as caught:
        FrameTemplate(ethernet=ETHERNET, **arguments)
    assert caught.value.where == where
