"""What can happen to the receive side, as points of functional coverage: the list of a verification engineer, not of
what the benches hit. Bins are words; `receive_coverage` says which one an event is.
"""

from __future__ import annotations

from cocotb_tests.coverage_group import Group, names
from cocotb_tests.receive_rows import DROP_NAMES, PORTS, Op, State
from pymodel.nic.lifecycle import QpError
from pymodel.wire.spec import DATA_OPCODES, Ecn, NackReason, Opcode, SackM

FORMS = ("IPv4", "IPv6", "SRv6", "SRv6 with SRH")
WRITES = sorted(opcode.name for opcode in DATA_OPCODES)
CUTS = ("whole", "trimmed", "trimmed at the last hop")
STATES = tuple(state.name for state in State if state is not State.RESET)
BOTH = (False, True)

# ---------------------------------------------------------------------- a port

PORT = Group(
    "port",
    {"port": range(PORTS), "outcome": ("accepted", *DROP_NAMES), "stalls": BOTH},
    {("port", "outcome"): (), ("outcome", "stalls"): ()},
)

BEATS = [("1", 1), ("2", 2), ("3", 3), ("4 to 15", 15), ("16 to 143", 143), ("144", 144)]
LAST_BEAT = [("1", 1), ("2 to 62", 62), ("63", 63), ("64", 64)]
ECNS = tuple(ecn.name for ecn in Ecn)
FRAME = Group(
    "frame",
    {
        "form": FORMS,
        "opcode": [opcode.name for opcode in Opcode],
        "SRH units mod 8": range(8),
        "beats": names(BEATS),
        "last beat": names(LAST_BEAT),
        "UDP port": (0, 1),
        "link padding": BOTH,
    },
    {("form", "opcode"): (), ("beats", "last beat"): (("1", "1"), ("1", "63"))},  # 62 or 64 bytes at least, by fours
)
ECN = Group("ECN", {"inner": ECNS, "outer": ECNS}, {("inner", "outer"): ((Ecn.NOT_ECT.name, Ecn.CE.name),)})

TAIL = [("none", 0), ("1", 1), ("2 to 62", 62), ("63", 63), ("0", 64)]
PAYLOAD = Group(
    "payload",
    {"place": (0, 4, 16, 20, 24, 60), "bytes mod 64": names(TAIL), "pad": range(4)},
    {("place", "bytes mod 64"): (), ("place", "pad"): ()},
)
LEFT = ("BTH alone", "part of its headers", "its headers", "payload too")
TRIMMED = Group(
    "trimmed",
    {"reason": ("TRIMMED", "TRIMMED_LASTHOP"), "form": FORMS, "left": LEFT},
    {("reason", "form"): (), ("form", "left"): ()},
)

# ---------------------------------------------------------------------- what the engine does with a frame

FATES = ("unknown QP", "never configured", "QP not ready", "wrong address", "wrong P_Key", "taken")
ENGINE = Group(
    "engine",
    {
        "kind": ("write", "trimmed", "probe", "answer"),
        "fate": FATES,
        "address": ("IPv4", "source", "destination"),
        "P_Key": ("other partition", "both limited", "limited there", "limited here", "both full"),
    },
    {("kind", "fate"): (), ("kind", "address"): (), ("kind", "P_Key"): ()},
)

CLASSES = ("next", "closes a hole", "ahead", "duplicate", "below", "above")
LENGTHS = ("0", "1", "2 to 63", "64", "65 and more", "MTU - 1", "MTU")
JUMPS = [("1", 1), ("2 to 63", 63), ("64 to 127", 127), ("128 and more", 1 << 24)]
UNITS = [("1", 1), ("2", 2), ("3 to 7", 7), ("8", 8)]
_PARTS = tuple(("WRITE_FIRST", length) for length in LENGTHS[:-1]) + tuple(
    ("WRITE_MIDDLE", length) for length in LENGTHS[:-1]
)
MTUS = (256, 512, 1024, 2048, 4096, 8192)
WRITE = Group(
    "write",
    {
        "state": STATES,
        "cut": CUTS,
        "opcode": WRITES,
        "PSN": CLASSES,
        "edge": ("last of the window", "first above", "cumulative", "half the space"),
        "PSNs wrap": BOTH,
        "cack moves by": names(JUMPS),
        "window": names(UNITS),
        "interval": (1, 2),
        "ack_req": BOTH,
        "rtx": BOTH,
        "CE": BOTH,
        "shortage": ("NO_BITMAP", "NO_PKT_BUFFER", "NO_RESOURCE"),
        "TSETH": BOTH,
        "length": LENGTHS,
        "MTU": MTUS,
    },
    {
        ("state", "opcode"): (),
        ("state", "cut"): (),
        # A trimmed packet is not recorded.
        ("PSN", "cut"): (("closes a hole", "trimmed"), ("closes a hole", "trimmed at the last hop")),
        ("PSN", "opcode"): (),
        ("PSN", "PSNs wrap"): (),
        ("PSN", "window"): (),
        ("PSN", "interval"): (),
        ("PSN", "ack_req"): (),
        ("PSN", "rtx"): (),
        ("PSN", "CE"): (),
        ("PSN", "shortage"): tuple(
            ("closes a hole", reason) for reason in ("NO_BITMAP", "NO_PKT_BUFFER", "NO_RESOURCE")
        ),
        ("opcode", "TSETH"): (),
        ("opcode", "length"): _PARTS,
        ("MTU", "length"): (),
    },
)

IN_FLIGHT = ("0", "1", "between", "wimm - 1", "wimm", "beyond")
WIMMS = [("2", 2), ("3 to 126", 126), ("127", 127), ("128", 128)]
IMMEDIATE = Group(
    "immediate",
    {"ahead": IN_FLIGHT, "wimm": names(WIMMS), "RQMSN wraps": BOTH, "MSN wraps": BOTH},
    {("ahead", "wimm"): (("1", "2"), ("between", "2"))},
)

REGIONS = (
    "all of it",
    "its first bytes",
    "its last bytes",
    "within",
    "no bytes, any key",
    "index beyond the table",
    "unused index",
    "another tag",
    "begins below",
    "ends beyond",
    "beyond the address space",
)
REGION = Group("region", {"verdict": REGIONS, "opcode": WRITES}, {})
SIZE = Group(
    "size",
    {"fault": ("too long", "not a whole MTU"), "opcode": WRITES},
    {
        ("fault", "opcode"): tuple(
            ("not a whole MTU", name) for name in WRITES if name not in ("WRITE_FIRST", "WRITE_MIDDLE")
        )
    },
)

# ---------------------------------------------------------------------- answers

TRIGGERS = (
    "threshold",
    "CE",
    "A bit",
    "rtx",
    "several",
    "duplicate",
    "below",
    "trimmed duplicate",
    "trimmed below",
    "quiet timer",
    "probe",
)
REACH = ("further back than 16 bits", "behind", "0", "1 to 64", "beyond 64")
_SKIP, _NONE = SackM.SKIP_ONCE.name, SackM.NONE.name
SACK = Group(
    "SACK",
    {
        "trigger": TRIGGERS,
        "with ACK": BOTH,
        "m": (_NONE, _SKIP),
        "rtx": BOTH,
        "base moved": BOTH,
        "offset": REACH,
        "bitmap": ("empty", "some", "all"),
        "out of order": ("0", "1", "2 to 63", "64 and more"),
        "MPR": BOTH,
        "restore": (0, 1),
        "penalty": ("0", "1 to 126", "127"),
        "stamp": ("none", "as it came", "advanced"),
    },
    {
        ("trigger", "with ACK"): (("probe", True),),
        ("trigger", "m"): (
            ("threshold", _SKIP),
            ("CE", _NONE),
            ("A bit", _SKIP),
            ("rtx", _SKIP),
            ("quiet timer", _SKIP),
        ),
        ("trigger", "rtx"): (
            ("threshold", True),
            ("CE", True),
            ("A bit", True),
            ("rtx", False),
            ("quiet timer", True),
            ("probe", True),
        ),
        ("trigger", "base moved"): (("below", True), ("trimmed below", True), ("probe", True)),
        ("trigger", "stamp"): (
            *((name, "advanced") for name in TRIGGERS if name != "quiet timer"),
            ("quiet timer", "as it came"),
            ("probe", "none"),
        ),
    },
)

REASONS = tuple(reason.name for reason in NackReason)
NACK = Group(
    "NACK",
    {"reason": REASONS, "cut": CUTS, "rtx": BOTH},
    {
        ("reason", "cut"): (
            ("TRIMMED", "whole"),
            ("TRIMMED", "trimmed at the last hop"),
            ("TRIMMED_LASTHOP", "whole"),
            ("TRIMMED_LASTHOP", "trimmed"),
            # What a trimmed packet is answered with comes first.
            *((name, cut) for name in ("NO_BITMAP", "NO_PKT_BUFFER", "NO_RESOURCE") for cut in CUTS[1:]),
        ),
        ("reason", "rtx"): (),
    },
)
ERRORS = tuple(
    error.name for error in (QpError.LOCAL_ACCESS, QpError.LOCAL_REQUEST, QpError.WIMM_EXCEEDED, QpError.NO_RECEIVE)
)
NAK = Group("NAK", {"error": ERRORS, "when": ("at once", "again", "again, trimmed")}, {("error", "when"): ()})
SILENCE = Group(
    "no answer",
    {
        "why": ("above, dropped", "above, trimmed, dropped", "trimmed, dropped", "no plane"),
        "probe in": ("REFUSED", "STOPPED"),
    },
)
REPLY = Group(
    "reply",
    {"port": range(PORTS), "kind": ("SACK", "NACK", "ACK", "NAK", "endpoint"), "path": FORMS[1:], "stalls": BOTH},
    {
        ("port", "kind"): (),
        ("kind", "path"): (("endpoint", FORMS[3]), *((kind, "IPv6") for kind in ("SACK", "NACK", "ACK", "NAK"))),
        ("kind", "stalls"): (),
    },
)

COUNTS = [("1", 1), ("2 to 7", 7), ("8 to 63", 63), ("64 and more", 1 << 24)]
COMPLETION = Group(
    "completion",
    {
        "status": ("success", "flushed"),
        "by": ("frame", "POST_RECEIVES", "QP_ERROR"),
        "bytes": ("0", "1 to MTU", "more"),
        "at a time": names(COUNTS),
        "receives wrap": BOTH,
        "stalls": BOTH,
    },
    {
        ("status", "by"): (("success", "POST_RECEIVES"), ("success", "QP_ERROR")),
        ("status", "at a time"): (),
        ("status", "stalls"): (),
    },
)

# ---------------------------------------------------------------------- commands and timers

_OPS = tuple(op.name for op in Op if op is not Op.REGION)
COMMAND = Group(
    "command",
    {
        "op": _OPS,
        "state": [state.name for state in State],
        "shortage": ("none", "NO_BITMAP", "NO_PKT_BUFFER", "NO_RESOURCE"),
        "planes": ("none", "one", "some", "all"),
        "route": ("path", "segment too"),
        "region": ("set", "taken away", "moved"),
    },
    {
        ("op", "state"): (
            # What software must not ask, or what has no meaning then.
            *(("QP_CONFIG", state) for state in STATES),
            *(("QP_READY", state) for state in STATES),
            *((op, "RESET") for op in ("QP_ERROR", *(name for name in _OPS if name.startswith("SET_")))),
        ),
        ("route", "state"): (),
    },
)
MPR = Group(
    "MPR",
    {"change": ("grows", "same", "shrinks"), "received beyond it": BOTH, "window": names(UNITS)},
    {("change", "received beyond it"): (), ("change", "window"): (("grows", "1"), ("shrinks", "8"))},
)

SOURCES = (*(f"port {port}" for port in range(PORTS)), "timer", "command")
KINDS = ("frame", "timer", "command")
ORDER = Group(
    "order",
    {
        "one": SOURCES,
        "next": SOURCES,
        "first": KINDS,
        "second": KINDS,
        "clocks between": range(1, 5),
        "interval": (1, 2),
    },
    {
        # A command is many clocks of registers; a timer is visited once in 64.
        ("one", "next"): (("command", "command"),),
        ("first", "second", "clocks between"): (("command", "command", None), ("timer", "timer", None)),
        ("clocks between", "interval"): (),
    },
)
LATE = [("0 to 7", 7), ("8 to 63", 63), ("held up", 1 << 32)]
TIMER = Group(
    "quiet timer",
    {
        "is": ("due", "over"),
        "state": [state.name for state in State],
        "late": names(LATE),
        "held": ("behind", "1 to 64", "beyond 64"),
        "stamped": BOTH,
        "stalls": BOTH,
    },
    {
        ("is", "state"): tuple(("due", state) for state in ("RESET", "REFUSED", "STOPPED")),
        ("held", "stamped"): (),
    },
)

_FATES = ("answered", "wrong address", "unknown QP", "no request", "unknown operation", "no way back")
_NEVER = tuple(
    (op, fate)
    for op, fates in {
        "PORT_STATUS_UPDATE": ("no request", "unknown operation"),
        "EV_PROBE": ("no request", "unknown operation"),
        "unknown": ("answered", "no request", "no way back"),
        "response": ("answered", "unknown operation", "no way back"),
    }.items()
    for fate in fates
)
ENDPOINT = Group(
    "endpoint",
    {
        "op": ("PORT_STATUS_UPDATE", "EV_PROBE", "unknown", "response"),
        "fate": _FATES,
        "form": FORMS,
    },
    {
        ("op", "fate"): _NEVER,
        ("form", "fate"): (*(("IPv4", fate) for fate in _FATES if fate != "wrong address"), ("IPv6", "no way back")),
    },
)
