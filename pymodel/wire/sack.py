"""SETH and CC_STATE in one step: what a SACK says as a tuple, and the bytes of one (mrc-facts.md 1.7).

A property test holds both to the header classes.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from pymodel.wire import spec
from pymodel.wire.headers import CcState, Seth
from pymodel.wire.packed_header import Buffer

__all__ = ["Sack", "pack_sack", "unpack_sack"]

_SACK = Struct(">HhIHHIBBhQHHI")

_M = spec.SETH.shift("m", 0, 16)
_PR = spec.SETH.shift("pr", 0, 16)
_CACK = spec.SETH.shift("cack_psn", 96, 32)
_CACK_MASK = (1 << spec.PSN_BITS) - 1
_CC_TYPE = spec.SETH.shift("cc_type", 128, 8)
_CC_NSCC = spec.CcType.NSCC << _CC_TYPE
_OOO = spec.CC_STATE.shift("ooo_count", 16, 16)
_OOO_MASK = (1 << spec.CC_STATE.bit_offset("restore_cwnd") - spec.CC_STATE.bit_offset("ooo_count")) - 1
_RESTORE = spec.CC_STATE.shift("restore_cwnd", 32, 32)
_PENALTY = spec.CC_STATE.shift("rcv_cwnd_pen", 32, 32)
_PENALTY_MASK = (1 << _RESTORE - _PENALTY) - 1
_RCVD_MASK = (1 << spec.RCVD_BYTES_BITS) - 1


class Sack(NamedTuple):
    """The fields of SETH and CC_STATE, named as in the spec."""

    m: int
    pr: int
    ack_psn_offset: int
    entropy: int
    spdcid: int
    dpdcid: int
    cack_psn: int
    mpr: int
    sack_offset: int
    sack_bitmap: int
    tx_timestamp: int
    ooo_count: int
    restore_cwnd: int
    rcv_cwnd_pen: int
    rcvd_bytes: int


def pack_sack(
    m: int,
    pr: int,
    ack_psn_offset: int,
    entropy: int,
    spdcid: int,
    dpdcid: int,
    cack_psn: int,
    mpr: int,
    sack_offset: int,
    sack_bitmap: int,
    tx_timestamp: int,
    ooo_count: int,
    restore_cwnd: int,
    rcv_cwnd_pen: int,
    rcvd_bytes: int,
) -> bytes:
    """SETH and CC_STATE, 36 bytes, the CC type that of NSCC. InputError names the field whose value does not fit."""
    if (
        m >> 2
        | (pr | restore_cwnd) >> 1
        | entropy >> 32
        | (spdcid | dpdcid | tx_timestamp) >> 16
        | (cack_psn | rcvd_bytes) >> 24
        | mpr >> 8
        | (ack_psn_offset + 0x8000 | sack_offset + 0x8000) >> 16
        | sack_bitmap >> 64
        | ooo_count >> 15
        | rcv_cwnd_pen >> 7
    ):
        # The classes know the names of the fields.
        Seth(
            m=m,
            pr=pr,
            ack_psn_offset=ack_psn_offset,
            entropy=entropy,
            spdcid=spdcid,
            dpdcid=dpdcid,
            cack_psn=cack_psn,
            mpr=mpr,
            sack_offset=sack_offset,
            sack_bitmap=sack_bitmap,
        ).pack()
        CcState(
            tx_timestamp=tx_timestamp,
            ooo_count=ooo_count,
            restore_cwnd=restore_cwnd,
            rcv_cwnd_pen=rcv_cwnd_pen,
            rcvd_bytes=rcvd_bytes,
        ).pack()
    return _SACK.pack(
        m << _M | pr << _PR,
        ack_psn_offset,
        entropy,
        spdcid,
        dpdcid,
        cack_psn << _CACK,
        _CC_NSCC,
        mpr,
        sack_offset,
        sack_bitmap,
        tx_timestamp,
        ooo_count << _OOO,
        restore_cwnd << _RESTORE | rcv_cwnd_pen << _PENALTY | rcvd_bytes,
    )


def unpack_sack(data: Buffer, offset: int = 0) -> Sack:
    """Read SETH and CC_STATE at `offset` of `data`, which holds at least their 36 bytes."""
    flags, trigger, entropy, spdcid, dpdcid, cack, _, mpr, base, bitmap, stamp, ooo, last = _SACK.unpack_from(
        data, offset
    )
    return tuple.__new__(  # as Sack._make does, without a call in Python
        Sack,
        (
            flags >> _M & 3,
            flags >> _PR & 1,
            trigger,
            entropy,
            spdcid,
            dpdcid,
            cack >> _CACK & _CACK_MASK,
            mpr,
            base,
            bitmap,
            stamp,
            ooo >> _OOO & _OOO_MASK,
            last >> _RESTORE & 1,
            last >> _PENALTY & _PENALTY_MASK,
            last & _RCVD_MASK,
        ),
    )
