"""What a switch does to a frame that meets a full queue or a busy one: the outer header alone changes."""

from pymodel.wire.frame import Frame
from pymodel.wire.spec import DEFAULT_OPTIONS, ETHERNET, TRIM_BYTES_SRH_EXTRA, TRIM_BYTES_SRV6, Ecn

_TC_BYTE = ETHERNET.size  # version and the upper half of the traffic class


def _with_traffic_class(data: bytes, dscp: int, ecn: int) -> bytes:
    traffic_class = dscp << 2 | ecn
    first = data[_TC_BYTE] & 0xF0 | traffic_class >> 4
    second = (traffic_class & 0xF) << 4 | data[_TC_BYTE + 1] & 0x0F
    return data[:_TC_BYTE] + bytes((first, second)) + data[_TC_BYTE + 2 :]


def trim(data: bytes, frame: Frame, last_hop: bool = False, size: int | None = None) -> bytes:
    """Cut to the trim size, lengths left as they were, outer DSCP TRIMMED or TRIMMED_LASTHOP."""
    dscp = DEFAULT_OPTIONS.dscp.trimmed_lasthop if last_hop else DEFAULT_OPTIONS.dscp.trimmed
    assert dscp is not None
    if size is None:
        size = TRIM_BYTES_SRV6 + (TRIM_BYTES_SRH_EXTRA if frame.srh is not None else 0)
    assert frame.outer is not None
    return _with_traffic_class(data[:size], dscp, frame.outer.ecn)


def mark(data: bytes) -> bytes:
    """Set CE in the outer header."""
    dscp = (data[_TC_BYTE] & 0x0F) << 2 | data[_TC_BYTE + 1] >> 6
    return _with_traffic_class(data, dscp, Ecn.CE)
