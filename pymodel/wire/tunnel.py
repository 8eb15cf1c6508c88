"""Entropy values and IPv6-in-IPv6: how an EV travels, and what outer and inner header give to each other."""

from __future__ import annotations

from pymodel.base.errors import InputError
from pymodel.wire.headers import Ipv6
from pymodel.wire.spec import DEFAULT_OPTIONS, EV_HALF_BITS, HOP_LIMIT, Ecn, EvSplit, NextHeader, WireOptions

__all__ = ["combine_ecn", "encapsulate", "join_ev", "split_ev"]

_HALF = (1 << EV_HALF_BITS) - 1

# RFC 6040 section 4.2, rows inner, columns outer, both in the order of the code points. None: drop.
_COMBINED: tuple[tuple[int | None, ...], ...] = (
    (Ecn.NOT_ECT, Ecn.NOT_ECT, Ecn.NOT_ECT, None),
    (Ecn.ECT1, Ecn.ECT1, Ecn.ECT1, Ecn.CE),
    (Ecn.ECT0, Ecn.ECT1, Ecn.ECT0, Ecn.CE),
    (Ecn.CE, Ecn.CE, Ecn.CE, Ecn.CE),
)


def combine_ecn(inner: int, outer: int) -> int | None:
    """ECN of a packet after decapsulation (RFC 6040 section 4.2), or None when the packet must be dropped."""
    return _COMBINED[inner][outer]


def split_ev(ev: int, options: WireOptions = DEFAULT_OPTIONS) -> tuple[int, int]:
    """Flow label and UDP source port that carry `ev` over IPv6 (mrc-facts.md 1.12)."""
    if ev >> 2 * EV_HALF_BITS:
        raise InputError("EV", str(ev), "a number of 32 bits")
    high, low = ev >> EV_HALF_BITS, ev & _HALF
    return (high, low) if options.ev_split is EvSplit.FLOW_LABEL_HIGH else (low, high)


def join_ev(flow_label: int, src_port: int, options: WireOptions = DEFAULT_OPTIONS) -> int:
    """The EV that IPv6 `flow_label` (its upper 4 bits do not count) and UDP `src_port` carry."""
    half = flow_label & _HALF
    if options.ev_split is EvSplit.FLOW_LABEL_HIGH:
        return half << EV_HALF_BITS | src_port
    return src_port << EV_HALF_BITS | half


def encapsulate(ip: Ipv6, *, src: int, dst: int, hop_limit: int = HOP_LIMIT) -> Ipv6:
    """An outer IPv6 header for `ip`: DSCP and ECN copied (RFC 6040 normal mode), flow label too (mrc-facts.md 8.1)."""
    return Ipv6(
        dscp=ip.dscp,
        ecn=ip.ecn,
        flow_label=ip.flow_label,
        next_header=NextHeader.IPV6,
        hop_limit=hop_limit,
        src=src,
        dst=dst,
    )
