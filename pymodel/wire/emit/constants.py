"""The constants of the spec as one list, so that every emitter shows the same names, values and order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from pymodel.wire import spec

__all__ = ["GROUPS", "Constant", "Group", "snake"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A named number of `bits` bits; `style` is how people write it: ``d`` decimal, ``x`` hexadecimal."""

    name: str
    value: int
    bits: int
    style: str = "d"
    note: str = ""

    def text(self) -> str:
        """The value in its style, without prefix."""
        return f"{self.value:0{-(-self.bits // 4)}X}" if self.style == "x" else str(self.value)


@dataclass(frozen=True, slots=True)
class Group:
    """Constants that belong together. `enum` names the enumeration type, in snake case, when they are one."""

    title: str
    constants: tuple[Constant, ...]
    enum: str = ""


def snake(name: str) -> str:
    """``NackReason`` becomes ``nack_reason``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _enumeration(enum: type[IntEnum], bits: int, style: str = "d", prefix: str = "") -> Group:
    head = prefix or snake(enum.__name__).upper()
    title = (enum.__doc__ or "").strip().split("\n")[0].rstrip(".")
    members = tuple(Constant(f"{head}_{member.name}", member.value, bits, style) for member in enum)
    return Group(title, members, snake(enum.__name__))


def _ones(bits: int, shift: int) -> int:
    return ((1 << bits) - 1) << shift


_ARGUMENT_BITS = 128 - spec.USID_BLOCK_BITS
_PLANE_SHIFT = spec.USID_INDEX_BITS
_ROLE_SHIFT = spec.USID_INDEX_BITS + spec.USID_PLANE_BITS
_DSCP = spec.DscpMap()

GROUPS: tuple[Group, ...] = (
    _enumeration(spec.Ethertype, 16, "x"),
    _enumeration(spec.NextHeader, 8),
    _enumeration(spec.Icmpv6Type, 8),
    _enumeration(spec.TimeExceededCode, 8),
    _enumeration(spec.ParameterProblemCode, 8),
    _enumeration(spec.EndpointBehaviour, 16),
    _enumeration(spec.PuntReason, 8, prefix="PUNT"),
    _enumeration(spec.Opcode, 8, "x"),
    _enumeration(spec.NackReason, 8, "x", "NACK"),
    _enumeration(spec.SackM, 2),
    _enumeration(spec.CcType, 4),
    _enumeration(spec.EndpointOp, 2),
    _enumeration(spec.AethSyndrome, 8, "x", "AETH"),
    _enumeration(spec.Ftype, 4),
    _enumeration(spec.Ecn, 2),
    Group(
        "DSCP of each traffic class: laboratory values, settable per deployment (mrc-facts.md 1.12, 10)",
        tuple(Constant(f"DSCP_{name.upper()}", value, 6) for name, value in _DSCP.items()),
        "dscp",
    ),
    Group(
        "Protocol numbers",
        (
            Constant("UDP_PORT_MRC", spec.DEFAULT_OPTIONS.udp_port, 16, note="mrc-facts.md 1.12, 9"),
            Constant("UDP_PORT_MRC_SWAPPED", spec.UDP_PORT_SWAPPED, 16, note="accepted too"),
            Constant("ROUTING_TYPE_SRH", spec.ROUTING_TYPE_SRH, 8, note="RFC 8754 section 2"),
            Constant("IP_VERSION_4", spec.IP_VERSION_4, 4),
            Constant("IP_VERSION_6", spec.IP_VERSION_6, 4),
            Constant("IPV4_IHL_WORDS", spec.IPV4_IHL_WORDS, 4, note="no options"),
            Constant("HOP_LIMIT_DEFAULT", spec.HOP_LIMIT, 8, note="mrc-facts.md 8.1"),
            Constant("P_KEY_DEFAULT", spec.P_KEY_DEFAULT, 16, "x"),
            Constant("BTH_TRANSPORT_VERSION", spec.BTH_TRANSPORT_VERSION, 4),
            Constant("ENDPOINT_QP", spec.ENDPOINT_QP, spec.QPN_BITS, note="mrc-facts.md 1.3"),
        ),
    ),
    Group(
        "Units",
        (
            Constant("TIMESTAMP_UNIT_NS", spec.TIMESTAMP_UNIT_NS, 32, note="mrc-facts.md 1.5"),
            Constant("MPR_UNIT_PSNS", spec.MPR_UNIT_PSNS, 32, note="mrc-facts.md 2.5"),
            Constant("RCVD_BYTES_UNIT", spec.RCVD_BYTES_UNIT, 32, note="mrc-facts.md 1.7"),
            Constant("ACK_TIMEOUT_UNIT_NS", spec.ACK_TIMEOUT_UNIT_NS, 32, note="times 2**t; mrc-facts.md 2.4"),
            Constant("NOMINAL_OVERHEAD_BYTES", spec.NOMINAL_OVERHEAD_BYTES, 32, note="mrc-facts.md 3"),
            Constant("SACK_THRESHOLD_BYTES", spec.SACK_THRESHOLD_BYTES, 32, note="mrc-facts.md 10"),
            Constant("SACK_MIN_BYTES_PER_PACKET", spec.SACK_MIN_BYTES_PER_PACKET, 32, note="mrc-facts.md 3"),
            Constant("ICRC_BYTES", spec.ICRC_BYTES, 32),
        ),
    ),
    Group(
        "Trim sizes in bytes of the frame, Ethernet header included (mrc-facts.md 1.14, 10)",
        (
            Constant("TRIM_BYTES_SRV6", spec.TRIM_BYTES_SRV6, 32),
            Constant("TRIM_BYTES_SRH_EXTRA", spec.TRIM_BYTES_SRH_EXTRA, 32, note="added when there is an SRH"),
            Constant("TRIM_BYTES_PLAIN", spec.TRIM_BYTES_PLAIN, 32, note="without an outer header"),
        ),
    ),
    Group(
        "Ports and queues of a switch (docs/switch.md)",
        (
            Constant("CPU_PORT", spec.CPU_PORT, spec.SWITCH_PORT_BITS, note="packet-in and packet-out"),
            Constant("DATA_PRIORITY", spec.DATA_PRIORITY, 3, note="served last"),
            Constant("HIGH_PRIORITY", spec.HIGH_PRIORITY, 3, note="control and trimmed packets; mrc-facts.md 1.12"),
        ),
    ),
    Group(
        "uSID format F3216 and the split of a uSID: role, plane, index (mrc-facts.md 4.1)",
        (
            Constant("USID_BLOCK_BITS", spec.USID_BLOCK_BITS, 32),
            Constant("USID_BITS", spec.USID_BITS, 32),
            Constant("USID_TABLE_PREFIX_BITS", spec.USID_TABLE_PREFIX_BITS, 32, note="block and own uSID"),
            Constant("USID_PASSES_MAX", spec.USID_PASSES_MAX, 32, note="own uSID twice; mrc-facts.md 11"),
            Constant("USID_BLOCK_MASK", _ones(spec.USID_BLOCK_BITS, _ARGUMENT_BITS), 128, "x"),
            Constant("USID_CARRIER_MASK", _ones(_ARGUMENT_BITS, 0), 128, "x", "every uSID, the active one first"),
            Constant(
                "USID_ARGUMENT_MASK",
                _ones(_ARGUMENT_BITS - spec.USID_BITS, 0),
                128,
                "x",
                "uSIDs behind the active one",
            ),
            Constant("USID_BLOCK_DEFAULT", spec.USID_BLOCK_DEFAULT, spec.USID_BLOCK_BITS, "x"),
            Constant("USID_LOCAL_BLOCK_FIRST", spec.USID_LOCAL_BLOCK_FIRST, 16, "x", "up to FFFF: uA"),
            Constant("USID_ROLE_MASK", _ones(spec.USID_ROLE_BITS, _ROLE_SHIFT), 16, "x"),
            Constant("USID_PLANE_MASK", _ones(spec.USID_PLANE_BITS, _PLANE_SHIFT), 16, "x"),
            Constant("USID_INDEX_MASK", _ones(spec.USID_INDEX_BITS, 0), 16, "x"),
        ),
    ),
    _enumeration(spec.UsidRole, 2),
    Group(
        "Header sizes in bytes",
        tuple(Constant(f"{header.name}_BYTES", header.size, 32) for header in spec.HEADERS),
    ),
)
