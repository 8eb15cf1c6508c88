"""The invariant CRC of RoCEv2 as MRC uses it (mrc-facts.md 1.13).

A CRC-32 over eight bytes of ones and everything from the IP header to the pad, with the fields that change on the way
taken as ones. Only the inner IP header counts: an outer one is removed before the check, and a uSID path changes it at
every hop. On the wire the least significant byte comes first.
"""

from __future__ import annotations

from zlib import crc32

from pymodel.wire import spec
from pymodel.wire.packed_header import Buffer

__all__ = ["FRONT_BYTES", "MASKED_BTH", "icrc", "icrc_of", "icrc_of_front"]


def _ones(header: spec.Header) -> int:
    """The header as a number in which the masked fields are all ones and the others zero."""
    value = 0
    for field in header.fields:
        masked = field.name in spec.ICRC_MASKED.get(header.name, ())
        value = value << field.bits | ((1 << field.bits) - 1 if masked else 0)
    return value


def _mask(*headers: spec.Header) -> tuple[int, int]:
    """Size in bytes and mask of consecutive headers."""
    value = 0
    for header in headers:
        value = value << 8 * header.size | _ones(header)
    return sum(header.size for header in headers), value


_SEED = crc32(b"\xff" * spec.ICRC_PSEUDO_LRH_BYTES)
_SIZE_6, _MASK_6 = _mask(spec.IPV6, spec.UDP, spec.BTH)
_SIZE_4, _MASK_4 = _mask(spec.IPV4, spec.UDP, spec.BTH)
FRONT_BYTES, _MASK_FRONT = _mask(spec.IPV6, spec.UDP)

MASKED_BTH = _ones(spec.BTH) >> 8 * (spec.BTH.size - 8)
"""The masked bits of the first eight bytes of a BTH, read as a number; the others have none."""


def icrc_of(head: bytes, *rest: Buffer) -> int:
    """ICRC of a packet in pieces: `head` is exactly IP header, UDP and BTH; `rest` is what follows, pad included."""
    if len(head) == _SIZE_6:
        crc = crc32((int.from_bytes(head, "big") | _MASK_6).to_bytes(_SIZE_6, "big"), _SEED)
    else:
        crc = crc32((int.from_bytes(head, "big") | _MASK_4).to_bytes(_SIZE_4, "big"), _SEED)
    for piece in rest:
        crc = crc32(piece, crc)
    return crc


def icrc_of_front(front: bytes) -> int:
    """The CRC as it stands behind IPv6 header and UDP, `FRONT_BYTES` in all.

    All packets of a flow with the same length share it. `crc32` carries on with the BTH, its first eight bytes combined
    with `MASKED_BTH`, and with what follows.
    """
    return crc32((int.from_bytes(front, "big") | _MASK_FRONT).to_bytes(FRONT_BYTES, "big"), _SEED)


def icrc(packet: Buffer) -> int:
    """ICRC of a packet from the first byte of its (inner) IP header to its last pad byte."""
    view = memoryview(packet)
    size = _SIZE_6 if view[0] >> 4 == spec.IP_VERSION_6 else _SIZE_4
    return icrc_of(bytes(view[:size]), view[size:])
