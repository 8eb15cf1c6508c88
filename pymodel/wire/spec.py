"""The wire of MRC, written down once: headers, opcodes, code points, units, default ports and addresses.

Everything else that knows a bit position or a code point is emitted from this file (`python -m pymodel.wire.emit`) or
imports it; a test searches the sources for literals. Each entry names its source, mostly a section of
`docs/mrc-facts.md`. Where public sources disagree, `WireOptions` holds the choice, with the default of mrc-facts.md 9.

All fields are big-endian and listed from the most significant bit of the first byte on. Sizes are in bytes unless a
name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum

from pymodel.base.errors import InputError

# --- Code points ----------------------------------------------------------------------------------


class Ethertype(IntEnum):
    """EtherType (IANA ieee-802-numbers)."""

    IPV4 = 0x0800
    IPV6 = 0x86DD


class NextHeader(IntEnum):
    """IP protocol and IPv6 next-header numbers (IANA protocol-numbers; mrc-facts.md 1.1)."""

    UDP = 17
    IPV6 = 41
    ROUTING = 43
    ICMPV6 = 58
    NONE = 59


class Icmpv6Type(IntEnum):
    """ICMPv6 message types (RFC 4443 section 2.1, RFC 4861 section 4.5). Those below 128 are errors."""

    DESTINATION_UNREACHABLE = 1
    PACKET_TOO_BIG = 2
    TIME_EXCEEDED = 3
    PARAMETER_PROBLEM = 4
    ECHO_REQUEST = 128
    ECHO_REPLY = 129
    REDIRECT = 137


class TimeExceededCode(IntEnum):
    """Codes of ICMPv6 time exceeded (RFC 4443 section 3.3)."""

    HOP_LIMIT = 0
    REASSEMBLY = 1


class ParameterProblemCode(IntEnum):
    """Codes of an ICMPv6 parameter problem (RFC 4443 section 3.4, RFC 8986 section 9)."""

    ERRONEOUS_HEADER_FIELD = 0
    UNRECOGNISED_NEXT_HEADER = 1
    SR_UPPER_LAYER_HEADER = 4


class EndpointBehaviour(IntEnum):
    """SRv6 endpoint behaviours without flavours (IANA segment-routing; RFC 8986 section 10, RFC 9800 section 12)."""

    END = 1
    END_X = 5
    END_DT6 = 18
    END_NEXT_CSID = 43
    END_X_NEXT_CSID = 52
    END_DT6_NEXT_CSID = 62


class PuntReason(IntEnum):
    """Why a switch hands a packet to its controller, in packet-in metadata; this project's numbers."""

    NONE = 0
    ECHO_REQUEST = 1
    HOP_LIMIT = 2
    BAD_SRH = 3
    UPPER_LAYER = 4


class Opcode(IntEnum):
    """BTH opcode: the IBTA RC operation plus 0xC0 (mrc-facts.md 1.2)."""

    WRITE_FIRST = 0xC6
    WRITE_MIDDLE = 0xC7
    WRITE_LAST = 0xC8
    WRITE_LAST_IMMEDIATE = 0xC9
    WRITE_ONLY = 0xCA
    WRITE_ONLY_IMMEDIATE = 0xCB
    ACKNOWLEDGE = 0xD1
    ENDPOINT_REQUEST = 0xD8
    ENDPOINT_RESPONSE = 0xD9
    SACK = 0xDC
    NACK = 0xDD
    PROBE_REQUEST = 0xDE


class NackReason(IntEnum):
    """NETH reason (mrc-facts.md 1.8; the code points of UET 1.0)."""

    TRIMMED = 0x01
    TRIMMED_LASTHOP = 0x02
    NO_BITMAP = 0x06
    NO_PKT_BUFFER = 0x07
    NO_RESOURCE = 0x0A
    PSN_OOR_WINDOW = 0x0B
    UNEXP_EVENT = 0x19


class SackM(IntEnum):
    """SETH m: what the sender should do with the reflected EV (mrc-facts.md 1.7)."""

    NONE = 0
    SKIP_ONCE = 1
    ALWAYS_SKIP = 2


class CcType(IntEnum):
    """cc_type of SETH and NETH (mrc-facts.md 1.7, 1.8)."""

    NSCC = 0
    NACK = 2


class EndpointOp(IntEnum):
    """Operation of ERTH and EETH (mrc-facts.md 1.10)."""

    PORT_STATUS_UPDATE = 0
    EV_PROBE = 1


class AethSyndrome(IntEnum):
    """AETH syndrome (mrc-facts.md 1.11, IBTA). An ACK is 0x00 to 0x1F; MRC has no credits, hence 0x1F."""

    ACK = 0x1F
    NAK_PSN_SEQUENCE = 0x60
    NAK_INVALID_REQUEST = 0x61
    NAK_REMOTE_ACCESS = 0x62
    NAK_REMOTE_OPERATION = 0x63


class Ftype(IntEnum):
    """ftype of TSETH, PETH and ERTH (mrc-facts.md 1.5)."""

    NONE = 0
    TIMESTAMP = 1


class Ecn(IntEnum):
    """ECN code points (RFC 3168 section 5)."""

    NOT_ECT = 0
    ECT1 = 1
    ECT0 = 2
    CE = 3


class EvFormatMode(IntEnum):
    """How an EV is carried (mrc-facts.md 1.12, OCP)."""

    STEV = 1
    SRV6 = 2
    UDP = 4


class EvSourceMode(IntEnum):
    """Who makes the EVs of a profile (mrc-facts.md 1.12, OCP)."""

    AUTO = 1
    EXPLICIT = 2
    GENERATED = 4


class UsidRole(IntEnum):
    """Bits 15:14 of a uSID of the global block (mrc-facts.md 4.1; 3 is unused)."""

    T0 = 0
    T1 = 1
    NIC = 2


# --- Numbers --------------------------------------------------------------------------------------

UDP_PORT_ROCE_V2 = 4791  # IANA; mrc-facts.md 1.12
UDP_PORT_SWAPPED = 4971  # printed so in two readings of the specification; mrc-facts.md 1.12
ROUTING_TYPE_SRH = 4  # RFC 8754 section 2
IP_VERSION_4 = 4
IP_VERSION_6 = 6
IPV4_IHL_WORDS = 5  # MRC sends no IPv4 options
HOP_LIMIT = 64  # mrc-facts.md 8.1
P_KEY_DEFAULT = 0xFFFF  # IBTA
BTH_TRANSPORT_VERSION = 0  # IBTA
ENDPOINT_QP = 2  # destination QP of endpoint requests; mrc-facts.md 1.3

PSN_BITS = 24
MSN_BITS = 16
QPN_BITS = 24
EV_BITS = 32
EV_HALF_BITS = 16
EV_CONTAINER_BYTES = 32  # OCP; mrc-facts.md 1.12
SACK_BITMAP_BITS = 64
ICRC_BYTES = 4
ICRC_PSEUDO_LRH_BYTES = 8  # of 0xFF, in front of the IP header; mrc-facts.md 1.13
PAD_ALIGNMENT = 4
R_KEY_TAG_BITS = 8  # R_Key = index[31:8], tag[7:0]; mrc-facts.md 11 "Keys and QPNs"
MTU_MIN = 256
MTU_MAX = 8192
MTU_DEFAULT = 4096  # mrc-facts.md 1.1

TIMESTAMP_UNIT_NS = 128  # tsr = 0; mrc-facts.md 1.5
TIMESTAMP_BITS = 16
MPR_UNIT_PSNS = 128  # mrc-facts.md 1.7, 2.5
MPR_UNITS_MAX = 255
RCVD_BYTES_UNIT = 256  # rounded up; mrc-facts.md 1.7
RCVD_BYTES_BITS = 24
ACK_TIMEOUT_UNIT_NS = 1024  # timeout = unit * 2**t; mrc-facts.md 2.4
ACK_TIMEOUT_EXPONENT_MAX = 24
LINEAR_RETRIES_MAX = 7
EXPONENTIAL_RETRIES_FOREVER = 25
NOMINAL_OVERHEAD_BYTES = 40  # a packet counts as its UDP payload plus this; mrc-facts.md 2.6, 3
SACK_THRESHOLD_BYTES = 16384  # mrc-facts.md 10
SACK_MIN_BYTES_PER_PACKET = 1024  # mrc-facts.md 3, 10

# Trim sizes count from the first byte of the Ethernet header (mrc-facts.md 1.14, 10).
TRIM_BYTES_SRV6 = 144
TRIM_BYTES_SRH_EXTRA = 24
TRIM_BYTES_PLAIN = 104
TRIM_BYTES_LEAST_SRV6 = 122  # up to TSETH: what a NACK needs

# Ports and queues of a switch on v1model; this project's numbers (docs/switch.md).
SWITCH_PORT_BITS = 9
CPU_PORT = 510  # packet-in and packet-out; 511 is where BMv2 sends what is dropped
DATA_PRIORITY = 0  # egress queues, 0 served last; mrc-facts.md 1.12
HIGH_PRIORITY = 7

# uSID format F3216 and this project's split of a uSID (mrc-facts.md 4.1).
USID_BLOCK_BITS = 32
USID_BITS = 16
USID_ROLE_BITS = 2
USID_PLANE_BITS = 3
USID_INDEX_BITS = 11
USID_UPLINK_BITS = 8  # the uplink number, the low bits of a T1's index, comes from the EV
USIDS_PER_ADDRESS = 6
USID_LOCAL_BLOCK_FIRST = 0xE000  # some switches keep 0xE000 to 0xFFFF for uA; mrc-facts.md 4.1, 4.4, 11
USID_BLOCK_DEFAULT = 0xFC000000
USID_TABLE_PREFIX_BITS = USID_BLOCK_BITS + USID_BITS
USID_PASSES_MAX = 2  # own uSID twice in a row; mrc-facts.md 11

# --- Headers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its width in bits, a default, and the enumeration that names its values.

    A `signed` field holds two's complement. Names beginning with ``reserved`` are sent as their default and kept when
    received.
    """

    name: str
    bits: int
    default: int = 0
    note: str = ""
    signed: bool = False
    enum: type[IntEnum] | None = None

    @property
    def reserved(self) -> bool:
        """True for a field without meaning."""
        return self.name.startswith("reserved")


@dataclass(frozen=True, slots=True)
class Header:
    """One header: name (``BTH``), title, source, and its fields from the first bit on."""

    name: str
    title: str
    source: str
    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        """Size in bytes."""
        return sum(each.bits for each in self.fields) // 8

    def bit_offset(self, name: str) -> int:
        """Bits in front of field `name`."""
        offset = 0
        for each in self.fields:
            if each.name == name:
                return offset
            offset += each.bits
        raise InputError(f"{self.name}.{name}", "no such field", ", ".join(f.name for f in self.fields))

    def shift(self, name: str, start: int, width: int) -> int:
        """Bits below field `name` in the word of `width` bits that begins `start` bits into the header."""
        bits = next(each.bits for each in self.fields if each.name == name)
        return start + width - self.bit_offset(name) - bits


def _enum(name: str, bits: int, enum: type[IntEnum], default: int = 0, note: str = "") -> Field:
    return Field(name, bits, default, note, enum=enum)


_TYPE = (Field("header_type", 4, note="0"), Field("nxt", 5))
_DCIDS = (
    Field("spdcid", 16, note="low 16 bits of a QPN, see WireOptions.spdcid_is_sender"),
    Field("dpdcid", 16, note="low 16 bits of the other QPN"),
)
_CC = (_enum("cc_type", 4, CcType), Field("cc_fl", 4))
_TIMESTAMP = (
    Field("tx_timestamp", 16, note="units of 128 ns when tsr = 0"),
    Field("tsr", 1, note="1: implementation-defined resolution"),
    Field("reserved_ts", 11),
    _enum("ftype", 4, Ftype, Ftype.TIMESTAMP),
)


def _eeth(name: str, bits_above: int, source: str) -> Header:
    return Header(
        name,
        "Endpoint Response Extended Transport Header",
        source,
        (
            Field("reserved0", 8),
            Field("reserved1", bits_above),
            _enum("op", 2, EndpointOp),
            Field("reserved2", 6 - bits_above),
            Field("reserved3", 48),
            Field("reserved4", 64),
            Field("reserved5", 64),
            Field("reserved6", 32),
            Field("tx_timestamp", 16, note="reflected from the request"),
            Field("reserved7", 48),
        ),
    )


ETHERNET = Header(
    "ETHERNET",
    "Ethernet II",
    "IEEE 802.3; mrc-facts.md 1.1",
    (Field("dst", 48), Field("src", 48), _enum("ethertype", 16, Ethertype, Ethertype.IPV6)),
)
IPV6 = Header(
    "IPV6",
    "IPv6, outer and inner",
    "RFC 8200 section 3; mrc-facts.md 1.1, 1.12",
    (
        Field("version", 4, IP_VERSION_6),
        Field("dscp", 6, note="see the DSCP classes"),
        _enum("ecn", 2, Ecn),
        Field("flow_label", 20, note="low 16 bits: half of the EV"),
        Field("payload_length", 16),
        _enum("next_header", 8, NextHeader, NextHeader.UDP),
        Field("hop_limit", 8, HOP_LIMIT),
        Field("src", 128),
        Field("dst", 128, note="outer: the uSID path"),
    ),
)
IPV4 = Header(
    "IPV4",
    "IPv4 without options, in UDP-EV mode",
    "RFC 791 section 3.1; mrc-facts.md 1.1",
    (
        Field("version", 4, IP_VERSION_4),
        Field("ihl", 4, IPV4_IHL_WORDS, note="32-bit words"),
        Field("dscp", 6),
        _enum("ecn", 2, Ecn),
        Field("total_length", 16),
        Field("identification", 16),
        Field("reserved0", 1),
        Field("dont_fragment", 1, 1),
        Field("more_fragments", 1),
        Field("fragment_offset", 13),
        Field("ttl", 8, HOP_LIMIT),
        _enum("protocol", 8, NextHeader, NextHeader.UDP),
        Field("checksum", 16),
        Field("src", 32),
        Field("dst", 32),
    ),
)
SRH = Header(
    "SRH",
    "Segment Routing Header, its fixed part",
    "RFC 8754 section 2; mrc-facts.md 8.1",
    (
        _enum("next_header", 8, NextHeader, NextHeader.IPV6),
        Field("hdr_ext_len", 8, 2, note="units of 8 bytes, without the first 8"),
        Field("routing_type", 8, ROUTING_TYPE_SRH),
        Field("segments_left", 8),
        Field("last_entry", 8, note="index of the last element of the segment list"),
        Field("flags", 8),
        Field("tag", 16),
    ),
)
SEGMENT = Header(
    "SEGMENT", "One SRH segment, the last of the path first", "RFC 8754 section 2", (Field("address", 128),)
)
ICMPV6 = Header(
    "ICMPV6",
    "Internet Control Message Protocol for IPv6, its first 8 bytes",
    "RFC 4443 section 2.1",
    (
        _enum("message_type", 8, Icmpv6Type, Icmpv6Type.ECHO_REQUEST),
        Field("code", 8),
        Field("checksum", 16),
        Field("body", 32, note="identifier and sequence number; pointer; unused: by message type"),
    ),
)
UDP = Header(
    "UDP",
    "User Datagram Protocol",
    "RFC 768; mrc-facts.md 1.12",
    (
        Field("src_port", 16, note="half of the EV"),
        Field("dst_port", 16, UDP_PORT_ROCE_V2),
        Field("length", 16),
        Field("checksum", 16, note="0 when sent, ignored when received: the ICRC protects"),
    ),
)
BTH = Header(
    "BTH",
    "Base Transport Header",
    "mrc-facts.md 1.3",
    (
        _enum("opcode", 8, Opcode),
        Field("se", 1, note="solicited event; bit 7 as in IBTA, mrc-facts.md 9"),
        Field("m", 1, note="migration state; bit 6 as in IBTA"),
        Field("pad_count", 2, note="bytes of padding behind the payload"),
        Field("version", 4, BTH_TRANSPORT_VERSION),
        Field("p_key", 16, P_KEY_DEFAULT),
        Field("reserved_variant", 8, note="all ones in the ICRC"),
        Field("dest_qp", 24),
        Field("ack_req", 1, note="asks for an immediate SACK"),
        Field("reserved_r", 1, note="R: meaning not public"),
        Field("rtx", 1, note="1 on a retransmission"),
        Field("ts", 1, note="1 when TSETH follows"),
        Field("reserved_invariant", 4, note="covered by the ICRC"),
        Field("psn", 24, note="request id in bits 15:0 for endpoint operations"),
    ),
)
METH = Header(
    "METH",
    "Message Extended Transport Header",
    "mrc-facts.md 1.4",
    (Field("rqmsn", 16, note="counts writes with immediate"), Field("msn", 16, note="counts messages")),
)
TSETH = Header("TSETH", "Timestamp Extended Transport Header", "mrc-facts.md 1.5", _TIMESTAMP)
RETH = Header(
    "RETH",
    "RDMA Extended Transport Header",
    "mrc-facts.md 1.6",
    (
        Field("va", 64, note="where this packet's payload goes"),
        Field("r_key", 32),
        Field("dma_length", 32, note="bytes of the whole message, mrc-facts.md 10"),
    ),
)
IMMDT = Header("IMMDT", "Immediate Data", "mrc-facts.md 1.11", (Field("immediate", 32),))
AETH = Header(
    "AETH",
    "Acknowledge Extended Transport Header",
    "mrc-facts.md 1.11",
    (_enum("syndrome", 8, AethSyndrome, AethSyndrome.ACK), Field("msn", 24)),
)
SETH = Header(
    "SETH",
    "SACK Extended Transport Header",
    "mrc-facts.md 1.7",
    (
        *_TYPE,
        _enum("m", 2, SackM),
        Field("reserved0", 3),
        Field("pr", 1, note="1: answers a probe"),
        Field("reserved1", 1),
        Field("ack_psn_offset", 16, signed=True, note="triggering PSN - cack_psn; the probe id when pr = 1"),
        Field("entropy", 32, note="EV of the triggering packet"),
        *_DCIDS,
        Field("reserved2", 8),
        Field("cack_psn", 24, note="everything at or below has been received"),
        *_CC,
        Field("mpr", 8, note="units of 128 PSNs; 0 without Dynamic MPR"),
        Field("sack_offset", 16, signed=True, note="bitmap base - cack_psn"),
        Field("sack_bitmap", 64, note="bit i, LSB = 0, stands for base + i"),
    ),
)
CC_STATE = Header(
    "CC_STATE",
    "Congestion control state, behind SETH",
    "mrc-facts.md 1.7",
    (
        Field("tx_timestamp", 16, note="reflected from TSETH"),
        Field("reserved0", 1),
        Field("ooo_count", 15, note="out-of-order packets held"),
        Field("restore_cwnd", 1),
        Field("rcv_cwnd_pen", 7),
        Field("rcvd_bytes", 24, note="running total in units of 256 bytes, rounded up"),
    ),
)
NETH = Header(
    "NETH",
    "NACK Extended Transport Header",
    "mrc-facts.md 1.8",
    (
        *_TYPE,
        Field("reserved0", 7),
        _enum("reason", 8, NackReason),
        Field("vendor_info", 8),
        Field("entropy", 32, note="EV of the triggering packet"),
        *_DCIDS,
        Field("reserved1", 8),
        Field("nack_psn", 24),
        _enum("cc_type", 4, CcType, CcType.NACK),
        Field("cc_fl", 4),
        Field("reserved2", 8),
        Field("tx_timestamp", 16, note="reflected from TSETH"),
    ),
)
PETH = Header(
    "PETH",
    "Probe Extended Transport Header",
    "mrc-facts.md 1.9",
    (
        *_TYPE,
        Field("reserved0", 7),
        Field("reserved1", 8),
        Field("vendor_info", 8),
        Field("probe_id", 16),
        Field("reserved2", 16),
        *_DCIDS,
        *_TIMESTAMP,
    ),
)
ERTH = Header(
    "ERTH",
    "Endpoint Request Extended Transport Header",
    "mrc-facts.md 1.10",
    (
        Field("reserved0", 8),
        Field("reserved1", 6),
        _enum("op", 2, EndpointOp),
        Field("reserved2", 8),
        Field("vendor_info", 8),
        Field("port_status_mask", 32, note="bit = 1: port reachable"),
        Field("reserved3", 32),
        *_TIMESTAMP,
    ),
)
EETH = _eeth("EETH", 4, "mrc-facts.md 1.10, 9: op in bits 3:2 of byte 1")
EETH_OP_54 = _eeth("EETH_OP_54", 2, "mrc-facts.md 1.10, 9: the other reading, op in bits 5:4 of byte 1")

HEADERS: tuple[Header, ...] = (
    ETHERNET,
    IPV6,
    IPV4,
    SRH,
    SEGMENT,
    ICMPV6,
    UDP,
    BTH,
    METH,
    TSETH,
    RETH,
    IMMDT,
    AETH,
    SETH,
    CC_STATE,
    NETH,
    PETH,
    ERTH,
    EETH,
    EETH_OP_54,
)
"""Every header, in the order in which layers follow each other."""

_DATA = (METH, TSETH, RETH)
EXTENSIONS: dict[Opcode, tuple[Header, ...]] = {
    Opcode.WRITE_FIRST: _DATA,
    Opcode.WRITE_MIDDLE: _DATA,
    Opcode.WRITE_LAST: _DATA,
    Opcode.WRITE_LAST_IMMEDIATE: (*_DATA, IMMDT),
    Opcode.WRITE_ONLY: _DATA,
    Opcode.WRITE_ONLY_IMMEDIATE: (*_DATA, IMMDT),
    Opcode.ACKNOWLEDGE: (AETH,),
    Opcode.ENDPOINT_REQUEST: (ERTH,),
    Opcode.ENDPOINT_RESPONSE: (EETH,),
    Opcode.SACK: (SETH, CC_STATE),
    Opcode.NACK: (NETH,),
    Opcode.PROBE_REQUEST: (PETH,),
}
"""Headers behind the BTH by opcode (mrc-facts.md 1.2). TSETH is there only when BTH.ts = 1."""

DATA_OPCODES = frozenset(opcode for opcode, headers in EXTENSIONS.items() if RETH in headers)
IMMEDIATE_OPCODES = frozenset(opcode for opcode, headers in EXTENSIONS.items() if IMMDT in headers)

ICRC_MASKED: dict[str, tuple[str, ...]] = {
    "IPV6": ("dscp", "ecn", "flow_label", "hop_limit"),
    "IPV4": ("dscp", "ecn", "ttl", "checksum"),
    "UDP": ("checksum",),
    "BTH": ("reserved_variant",),
}
"""Fields that count as all ones in the ICRC (mrc-facts.md 1.13); all else from the inner IP header on counts."""

# --- Deployment and options -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DscpMap:
    """DSCP of each traffic class; laboratory values of mrc-facts.md 1.12 and 10, settable per deployment.

    Classes that MRC calls optional may be None. The two trim marks must differ from each other and from everything that
    is sent, or a receiver could not tell a trimmed packet. `trim_reasons` follows from them: mark to NACK reason.
    """

    trimmable: int | None = 4
    no_trim: int = 0
    trimmable_retx: int | None = 8
    trimmed: int = 12
    trimmed_lasthop: int | None = 16
    control: int = 46
    trim_reasons: dict[int, NackReason] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        reasons = {self.trimmed: NackReason.TRIMMED}
        if self.trimmed_lasthop is not None:
            reasons[self.trimmed_lasthop] = NackReason.TRIMMED_LASTHOP
        object.__setattr__(self, "trim_reasons", reasons)
        values = self.items()
        for name, value in values:
            if not 0 <= value < 64:
                raise InputError(f"DSCP {name}", str(value), "a number from 0 to 63")
        for mark in ("trimmed", "trimmed_lasthop"):
            same = [name for name, value in values if name != mark and value == getattr(self, mark)]
            if same:
                raise InputError(f"DSCP {mark}", f"the value of {same[0]}", "a value of its own")

    def items(self) -> list[tuple[str, int]]:
        """Name and value of each class that is in use."""
        names = ("trimmable", "no_trim", "trimmable_retx", "trimmed", "trimmed_lasthop", "control")
        return [(name, getattr(self, name)) for name in names if getattr(self, name) is not None]


class EvSplit(Enum):
    """Where the upper half of an EV travels (mrc-facts.md 1.12, 9)."""

    FLOW_LABEL_HIGH = "EV[31:16] in the flow label, EV[15:0] in the UDP source port"
    SOURCE_PORT_HIGH = "EV[31:16] in the UDP source port, EV[15:0] in the flow label"


class OutOfWindow(Enum):
    """What a responder does with a PSN above its window (mrc-facts.md 3, 9)."""

    NACK = "NACK with reason PSN_OOR_WINDOW"
    DROP = "silent drop"


class ProbeSkipOnce(Enum):
    """State of an EV whose probe was answered SKIP_ONCE (mrc-facts.md 2.3, 9)."""

    SKIP = "SKIP"
    GOOD = "GOOD"


@dataclass(frozen=True, slots=True)
class WireOptions:
    """One attribute for each conflict between public sources, with the default of mrc-facts.md 9."""

    udp_port: int = UDP_PORT_ROCE_V2
    accepted_udp_ports: tuple[int, ...] = (UDP_PORT_ROCE_V2, UDP_PORT_SWAPPED)
    ev_split: EvSplit = EvSplit.FLOW_LABEL_HIGH
    eeth: Header = EETH
    spdcid_is_sender: bool = True
    out_of_window: OutOfWindow = OutOfWindow.NACK
    probe_skip_once: ProbeSkipOnce = ProbeSkipOnce.SKIP
    mpr_psns_800g: int = 4096
    mpr_psns: int = 1024
    dscp: DscpMap = field(default_factory=DscpMap)

    def __post_init__(self) -> None:
        for port in (self.udp_port, *self.accepted_udp_ports):
            if not 0 < port < 1 << 16:
                raise InputError("UDP port of MRC", str(port), "a number from 1 to 65535")
        if self.udp_port not in self.accepted_udp_ports:
            raise InputError("accepted UDP ports", str(self.accepted_udp_ports), f"{self.udp_port} among them")
        if self.eeth not in (EETH, EETH_OP_54):
            raise InputError("EETH layout", self.eeth.name, "EETH or EETH_OP_54")


DEFAULT_OPTIONS = WireOptions()

# --- Rules where the public text leaves a choice ---------------------------------------------------

RULES: tuple[tuple[str, str], ...] = (
    (
        "Trim mark",
        "The outer DSCP alone says that a write was trimmed. Such a write draws a NACK (a SACK if its PSN has been"
        " received), its payload is ignored even if whole, and neither its lengths nor an ICRC are looked at. Other"
        " opcodes with the mark are processed if their ICRC is good.",
    ),
    (
        "Hop limit",
        "A packet with hop limit 0 or 1 dies where it is forwarded by its outer header. At decapsulation the outer one"
        " is not looked at, and the inner one is treated in the same way.",
    ),
    (
        "uA",
        "A /48 in the local block, or a /64 of node and function. A used-up argument still leaves by the adjacency.",
    ),
    ("Own uSID", f"Twice in a row: processed in turn, at most {USID_PASSES_MAX} in one pass, one hop limit for each."),
    (
        "Transport ACK",
        "Sent when the MSN completed in order advances. A write is complete when all its PSNs are acknowledged; a NAK"
        " overrides.",
    ),
    (
        "ACK timer",
        f"One for each QP, for its oldest unacknowledged PSN: {ACK_TIMEOUT_UNIT_NS} ns times 2**t, the exponent at most"
        f" {ACK_TIMEOUT_EXPONENT_MAX}.",
    ),
    (
        "Keys",
        f"The low {R_KEY_TAG_BITS} bits of an R_Key are a tag, the others an index; a QPN is an index. No search.",
    ),
    (
        "Inflight",
        f"A packet counts as its UDP payload plus {NOMINAL_OVERHEAD_BYTES} bytes, from when it is sent until it is"
        " acknowledged or declared lost. rcvd_bytes feeds congestion control only.",
    ),
    ("Reflected timestamp", "Of a SACK that was held back: advanced by the time it was held."),
    ("Memory safety", "Nothing of a frame takes effect before its ICRC is known good. A trimmed frame writes nothing."),
)
"""The rules of mrc-facts.md 11 that bind model, RTL and switch alike, in short."""
