"""Packets of other people's suites, byte for byte: what they say a field holds is what is read here, and written.

Two public decoders of MRC 1.0 come with packets whose fields differ from each other and from zero: the tests of a
JavaScript dissector that cites sections 6.2.2 and 7.5.5 to 7.5.6, and the bench of an HLS transport that writes its
control packets field by field from Tables 7-12 to 7-22 (mrc-facts.md 0.2, I4 and I2). The values are theirs; where the
HLS bench takes QPNs from its configuration, 0x0011 and 0x0022 stand for them. Their ICRC is made up and not checked.
"""

from __future__ import annotations

import pytest

from pymodel.wire.frame import Frame
from pymodel.wire.headers import Aeth, Bth, CcState, Eeth, Erth, Immdt, Meth, Neth, Peth, Reth, Seth, Tseth
from pymodel.wire.parser import parse
from pymodel.wire.spec import DATA_OPCODES, IMMEDIATE_OPCODES, EndpointOp, NackReason, Opcode, SackM

HEADERS = [
    ("dissector: BTH", Bth(opcode=Opcode.WRITE_ONLY_IMMEDIATE, pad_count=2, p_key=0xFFFF, dest_qp=0x123456, ack_req=1,
                           rtx=1, ts=1, psn=0xABCDEF), "cb 20 ffff 00 123456 b0 abcdef"),
    ("dissector: METH", Meth(rqmsn=0x1234, msn=0x5678), "1234 5678"),
    ("dissector: TSETH", Tseth(tx_timestamp=345), "0159 0001"),
    ("dissector: RETH", Reth(va=0xFEDCBA9876543210, r_key=0x11223344, dma_length=1024),
     "fedcba9876543210 11223344 00000400"),
    ("dissector: immediate", Immdt(immediate=0x89ABCDEF), "89abcdef"),
    ("dissector: SETH", Seth(m=SackM.SKIP_ONCE, pr=1, ack_psn_offset=-2, entropy=0x12345678, spdcid=0x1122,
                             dpdcid=0x3344, cack_psn=0xFFFFFF, mpr=2, sack_offset=2, sack_bitmap=0x8000000000000001),
     "0022 fffe 12345678 1122 3344 00 ffffff 00 02 0002 8000000000000001"),
    ("dissector: SETH, always skip", Seth(m=SackM.ALWAYS_SKIP, ack_psn_offset=-2, entropy=0x12345678, spdcid=0x1122,
                                          dpdcid=0x3344, cack_psn=0xFFFFFF, mpr=2, sack_offset=2,
                                          sack_bitmap=0x8000000000000001),
     "0040 fffe 12345678 1122 3344 00 ffffff 00 02 0002 8000000000000001"),
    ("dissector: CC_STATE", CcState(tx_timestamp=321, ooo_count=7, restore_cwnd=1, rcv_cwnd_pen=5, rcvd_bytes=3,
                                    reserved0=1), "0141 8007 85 000003"),
    ("dissector: AETH", Aeth(syndrome=0x60, msn=0x123456), "60 123456"),
    ("dissector: NETH", Neth(reason=NackReason.TRIMMED_LASTHOP, vendor_info=99, entropy=0x12345678, spdcid=11,
                             dpdcid=22, nack_psn=0x123456, tx_timestamp=456),
     "0000 02 63 12345678 000b 0016 00 123456 20 00 01c8"),
    ("dissector: PETH", Peth(probe_id=789, spdcid=11, dpdcid=22, tx_timestamp=123, tsr=1),
     "0000 00 00 0315 0000 000b 0016 007b 8001"),
    ("dissector: ERTH", Erth(op=EndpointOp.EV_PROBE, port_status_mask=0x80000001, tx_timestamp=123),
     "0001 00 00 80000001 00000000 007b 0001"),
    ("dissector: EETH", Eeth(op=EndpointOp.EV_PROBE, tx_timestamp=234), "0004" + "00" * 26 + "00ea" + "00" * 6),
    ("HLS: SETH", Seth(m=SackM.SKIP_ONCE, pr=1, ack_psn_offset=-2, entropy=0xDEADBEEF, spdcid=0x11, dpdcid=0x22,
                       cack_psn=0x10, cc_fl=0xA, mpr=2, sack_offset=5, sack_bitmap=0x8000000000000001),
     "0022 fffe deadbeef 0011 0022 00 000010 0a 02 0005 8000000000000001"),
    ("HLS: CC_STATE", CcState(tx_timestamp=0xBEEF, ooo_count=0x1234, restore_cwnd=1, rcv_cwnd_pen=0x15,
                              rcvd_bytes=0xABCDEF), "beef 1234 95 abcdef"),
    ("HLS: NETH", Neth(reason=NackReason.PSN_OOR_WINDOW, vendor_info=0x77, entropy=0xCAFEF00D, spdcid=0x11,
                       dpdcid=0x22, nack_psn=0x123456, cc_fl=3, tx_timestamp=0x4321),
     "0000 0b 77 cafef00d 0011 0022 00 123456 23 00 4321"),
    ("HLS: PETH", Peth(vendor_info=0x5A, probe_id=0x9999, spdcid=0x22, dpdcid=0x11, tx_timestamp=0x1111, tsr=1),
     "0000 00 5a 9999 0000 0022 0011 1111 8001"),
    ("HLS: ERTH", Erth(op=EndpointOp.EV_PROBE, vendor_info=0x42, port_status_mask=0xF, tx_timestamp=0x2222),
     "0001 00 42 0000000f 00000000 2222 0001"),
    ("HLS: EETH", Eeth(op=EndpointOp.EV_PROBE, tx_timestamp=0x3333), "0004" + "00" * 26 + "3333" + "00" * 6),
]  # fmt: skip


@pytest.mark.parametrize(("header", "text"), [row[1:] for row in HEADERS], ids=[row[0] for row in HEADERS])
def test_l06_headers_of_public_suites(header, text):
    data = bytes.fromhex(text)
    assert header.pack() == data
    assert type(header).unpack(data) == header


def framed(payload):
    """The dissector's own frame around a UDP payload: no MACs, ::1 to ::2, ports 50000 and 4791."""
    length = 8 + len(payload)
    ip = f"60000000 {length:04x} 1100 {'00' * 15}01 {'00' * 15}02"
    return bytes.fromhex(f"{'00' * 12} 86dd {ip} c350 12b7 {length:04x} 0000") + payload


SACK = """dc 00 ffff 00 123456 00 abcdef
    0022 fffe 12345678 1122 3344 00 ffffff 00 02 0002 8000000000000001 0141 8007 85 000003 deadbeef"""
WRITE = """{opcode} 20 ffff 00 123456 {flags} abcdef 1234 5678 {tseth}
    fedcba9876543210 11223344 00000400 {immediate} 010203040506 0000 deadbeef"""


def test_a_sack_of_the_dissector_as_a_frame():
    frame = parse(framed(bytes.fromhex(SACK)), check_icrc=False)
    assert isinstance(frame, Frame)
    assert (frame.opcode, frame.dest_qp, frame.psn) == (Opcode.SACK, 0x123456, 0xABCDEF)
    assert (frame.seth.ack_psn_offset & 0xFFFF, frame.seth.pr) == (65534, 1), "a probe id is unsigned"
    assert (frame.seth.cack_psn + frame.seth.sack_offset) & 0xFFFFFF == 1, "the base lies beyond the wrap"
    assert (frame.cc_state.ooo_count, frame.cc_state.rcvd_bytes * 256) == (7, 768)


@pytest.mark.parametrize("timestamp", [False, True])
@pytest.mark.parametrize("opcode", sorted(DATA_OPCODES))
def test_writes_of_the_dissector_as_frames(opcode, timestamp):
    immediate = "89abcdef" if opcode in IMMEDIATE_OPCODES else ""
    text = WRITE.format(
        opcode=f"{opcode:02x}",
        flags="b0" if timestamp else "a0",
        tseth="0159 0001" if timestamp else "",
        immediate=immediate,
    )
    frame = parse(framed(bytes.fromhex(text)), check_icrc=False)
    assert isinstance(frame, Frame)
    assert (frame.opcode, frame.dest_qp, frame.psn) == (opcode, 0x123456, 0xABCDEF)
    assert (frame.rtx, frame.ack_req) == (True, True)
    fields = frame.write_fields()
    assert (fields.msn, fields.va, fields.r_key, fields.dma_length) == (0x5678, 0xFEDCBA9876543210, 0x11223344, 1024)
    assert fields.immediate == (0x89ABCDEF if immediate else None)
    assert (frame.tseth.tx_timestamp if timestamp else frame.tseth) == (345 if timestamp else None)
    assert bytes(frame.payload) == bytes((1, 2, 3, 4, 5, 6))
