"""Every pair of behaviour, SRH, position in the carrier, hop limit, DSCP, ECN, size and egress queue.

The cases come from two covering arrays, the frames from scapy, what becomes of them from the independent reference. The
first array has every value. There a hop limit of 1, say, hides what the size would have done; the second has only what
reaches an egress queue, so that nothing hides there. `test_pairs.py` prints the coverage.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from pymodel.paths.tables import TableEntry
from tests.switch.packets import Routed
from tests.switch.pairs import Case, covering
from tests.switch.reference import ReferenceSwitch
from tests.switch.row import Punt, Row, entries, ports, punts, queues, route, sid, unknown

SEED = 2

# --- factors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A SID of the switch: what stands in front of the argument; None: no SID, the packet is in transit."""

    name: str
    action: str | None
    usids: tuple[str, ...] = ()
    adjacent: bool = False
    flags: tuple[str, ...] = ()

    @property
    def compressed(self) -> bool:
        """Whether an argument can follow in the address."""
        return self.action in ("uN", "uA", "uA_node", None)


def _usid(first: int, flags: str) -> str:
    return f"{first + sum(1 << ['psp', 'usp', 'usd', 'uniform'].index(flag) for flag in flags.split()):x}"


_SETS = ("", "psp", "usp", "usd", "usd uniform", "psp usp usd")
BEHAVIOURS = [
    Behaviour("transit", None),
    *(Behaviour(f"uN {flags}".strip(), "uN", (_usid(0x100, flags),), flags=tuple(flags.split())) for flags in _SETS),
    *(
        Behaviour(f"uA {flags}".strip(), "uA", (_usid(0xE000, flags),), adjacent=True, flags=tuple(flags.split()))
        for flags in _SETS
    ),
    *(
        Behaviour(
            f"uA_node {flags}".strip(), "uA_node", ("200", _usid(0xE100, flags)), True, flags=tuple(flags.split())
        )
        for flags in ("", "usd", "usp")
    ),
    Behaviour("uDT6", "uDT6", ("300",)),
    Behaviour("uDT6 uniform", "uDT6", ("301",), flags=("uniform",)),
    *(
        Behaviour(f"End {flags}".strip(), "End", ("400", _usid(0, flags)), flags=tuple(flags.split()))
        for flags in _SETS
    ),
    *(
        Behaviour(f"End.X {flags}".strip(), "End_X", ("500", _usid(0, flags)), True, flags=tuple(flags.split()))
        for flags in ("", "psp", "usd")
    ),
    Behaviour("loopback", "loopback", ("600",)),
]

# Segments left and the rest of the SRH; the segment that comes next leads to the egress port.
SRHS: dict[str, dict[str, object] | None] = {
    "none": None,
    "none left": {"count": 1, "left": 0},
    "last": {"count": 1, "left": 1},
    "last, TLV": {"count": 2, "left": 1, "tlv": bytes(8)},
    "2 left": {"count": 2, "left": 2},
    "4 left, longest": {"count": 4, "left": 4, "tlv": bytes(8)},
    "4 done, longest": {"count": 4, "left": 0, "tlv": bytes(8)},
    "too many left": {"count": 1, "left": 3},
    "last entry outside": {"count": 1, "left": 1, "last_entry": 1},
    "type 0": {"count": 1, "left": 1, "kind": 0},
}

# Which uSID of the carrier the active SID is followed by, and how many more: the argument ends there.
POSITIONS = (0, 1, 2, 3, 4, 5)
HOPS = (0, 1, 2, 3, 64, 255)
DSCPS = (0, 4, 8, 12, 16, 46, 63)
ECNS = (0, 1, 2, 3)

# Bytes of the frame that leaves an egress queue, by what they are measured against.
SIZES = (
    "empty UDP",
    "end of BTH",
    "end of TSETH",
    "end of RETH",
    "trim - 1",
    "trim",
    "trim + 1",
    "trim + 24",
    "trim + 25",
    "MTU",
    "9,000",
    "10 bytes of padding",
)
_FIXED = {"end of BTH": 114, "end of TSETH": 122, "end of RETH": 138, "trim - 1": 143, "trim": 144, "trim + 1": 145}
_FIXED |= {"trim + 24": 168, "trim + 25": 169, "MTU": 4238, "9,000": 9000}

# What waits behind each egress port.
PORTS = {
    "no entry": 1,
    "roomy": 2,
    "full": 3,
    "full, last hop": 4,
    "full, no trimming": 5,
    "both full": 6,
    "marking": 7,
    "down": 8,
}

FACTORS: dict[str, list[object]] = {
    "behaviour": [behaviour.name for behaviour in BEHAVIOURS],
    "SRH": list(SRHS),
    "uSIDs behind": list(POSITIONS),
    "hop limit": list(HOPS),
    "inside": ["IPv6", "UDP"],
    "DSCP": list(DSCPS),
    "ECN": list(ECNS),
    "inner ECN": list(ECNS),
    "size": list(SIZES),
    "egress": list(PORTS),
}

_HIDING: dict[str, set[object]] = {
    "SRH": {"too many left", "last entry outside", "type 0"},
    "hop limit": {0, 1},
    "egress": {"down"},
    "behaviour": {"loopback"},
}
LIVE_FACTORS = {
    name: [value for value in values if value not in _HIDING.get(name, ())] for name, values in FACTORS.items()
}

_BY_NAME = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


def possible(case: Case) -> bool:
    """No argument behind what has none, no more uSIDs than the carrier holds, no inner ECN without an inner header."""
    behaviour = _BY_NAME.get(str(case.get("behaviour")))
    behind = case.get("uSIDs behind", 0)
    assert isinstance(behind, int)
    if behaviour is not None:
        room = 5 if behaviour.action is None else 6 - len(behaviour.usids)
        if behind > (room if behaviour.compressed else 0):
            return False
    return not (case.get("inside") == "UDP" and case.get("inner ECN", 0) != 0)


def live(case: Case) -> bool:
    """Possible, and with values for the rest the packet is forwarded by its SID."""
    held = tuple(case.get(name) for name in ("behaviour", "SRH", "uSIDs behind", "inside", "ECN", "inner ECN"))
    return possible(case) and _forwarded(*held)


@functools.cache
def _forwarded(*held: object) -> bool:
    names = ("behaviour", "SRH", "uSIDs behind", "inside", "ECN", "inner ECN")
    choices = ([value] if value is not None else LIVE_FACTORS[name] for name, value in zip(names, held, strict=True))
    return any(_moves(*chosen) for chosen in itertools.product(*choices))


def _moves(name: object, srh: object, behind: object, inside: object, ecn: object, inner_ecn: object) -> bool:
    behaviour = _BY_NAME[str(name)]
    if not possible({"behaviour": name, "uSIDs behind": behind, "inside": inside, "inner ECN": inner_ecn}):
        return False
    if behaviour.action is None or behind != 0:
        return True
    shape = SRHS[str(srh)]
    if shape is not None and shape["left"] != 0:
        return behaviour.action != "uDT6"
    if inside == "IPv6" and ("usd" in behaviour.flags or behaviour.action == "uDT6"):
        return not (ecn == 3 and inner_ecn == 0)
    return behaviour.action in ("uA", "uA_node")


# --- the switch and its frames ----------------------------------------------------------------------------------------


def _address(*usids: str) -> str:
    return ":".join(["fc00:0", *usids]) + ("::" if len(usids) < 6 else "")


def _table() -> tuple[TableEntry, ...]:
    parts: list[object] = [
        ports(0, *(port for name, port in PORTS.items() if name != "down")),
        punts(),
        queues(2),
        [*queues(3, data_limit=0)][-1],
        [*queues(4, data_limit=0, ecn=False, last_hop=True)][-1],
        [*queues(5, data_limit=0, trim_bytes=None)][-1],
        [*queues(6, data_limit=0, high_limit=0)][-1],
        [*queues(7, ecn_low=0, ecn_high=0)][-1],
        unknown(),
    ]
    for port in PORTS.values():
        parts += [route(f"fc00:0:{0x1000 + port:x}::/48", port), route(f"2001:db8:0:{port}::/64", port)]
        # An adjacency has one port, so there is one for each: the last hex digit but one of the function.
        for behaviour in BEHAVIOURS:
            if behaviour.adjacent:
                params = dict.fromkeys(behaviour.flags, 1)
                parts.append(sid(_prefix(behaviour, port), str(behaviour.action), port=port, **params))
    parts += [
        sid(_prefix(behaviour, 0), behaviour.action, **dict.fromkeys(behaviour.flags, 1))
        for behaviour in BEHAVIOURS
        if behaviour.action is not None and not behaviour.adjacent
    ]
    return entries(*parts)  # type: ignore[arg-type]


def _usids(behaviour: Behaviour, port: int) -> tuple[str, ...]:
    if not behaviour.adjacent:
        return behaviour.usids
    *node, function = behaviour.usids
    return (*node, f"{int(function, 16) + (port << 4):x}")


def _prefix(behaviour: Behaviour, port: int) -> str:
    usids = _usids(behaviour, port)
    if behaviour.action in ("End", "End_X", "loopback"):
        return f"{_address(*usids)}/128"
    return f"{_address(*usids)}/{32 + 16 * len(usids)}"


TABLE = _table()


def frame(case: Case) -> bytes:
    """The frame of a case, as it arrives on port 0."""
    behaviour, port = _BY_NAME[str(case["behaviour"])], PORTS[str(case["egress"])]
    behind = case["uSIDs behind"]
    assert isinstance(behind, int)
    following = [f"{0x1000 + port:x}", *(f"{0x2000 + number:x}" for number in range(behind - 1))]
    if behaviour.action is None:
        usids = [following[0], *(f"{0x2000 + number:x}" for number in range(behind))]
    else:
        usids = [*_usids(behaviour, port), *following[:behind]]
    sent = Routed(
        _address(*usids),
        hops=int(str(case["hop limit"])),
        traffic_class=int(str(case["DSCP"])) << 2 | int(str(case["ECN"])),
        inner=case["inside"] == "IPv6",
        inner_class=4 << 2 | int(str(case["inner ECN"])),
        inner_destination=f"2001:db8:0:{port}::1",
        payload=b"",
        **_srh(SRHS[str(case["SRH"])], port),  # type: ignore[arg-type]
    )
    return _sized(sent, str(case["size"]))


def _srh(shape: Mapping[str, object] | None, port: int) -> dict[str, object]:
    if shape is None:
        return {}
    fields = {name: value for name, value in shape.items() if name != "count"}
    segment = _address(f"{0x1000 + port:x}", "42")
    return {"segments": [segment] * int(str(shape["count"])), **fields}


def _sized(sent: Routed, size: str) -> bytes:
    """`sent` with the payload that makes its frame so long, where its headers leave room for that."""
    empty = len(sent.at(0))
    if size == "10 bytes of padding":
        return sent.with_(payload=bytes(100)).at(0) + bytes(10)
    wanted = max(_FIXED.get(size, 0), empty)
    return sent.with_(payload=bytes(number % 251 for number in range(wanted - empty))).at(0)


def _row(number: int, case: Case) -> Row:
    data = frame(case)
    outcome = ReferenceSwitch(TABLE).forward(0, data)
    name = f"pairs {number}: " + ", ".join(f"{factor} {value}" for factor, value in case.items())
    drops = [cause for cause in outcome.counts if cause.startswith("drop_")]
    return Row(
        name,
        TABLE,
        0,
        data,
        (outcome.out,) if outcome.out else (),
        drops[0] if drops else None,
        Punt(*outcome.punt) if outcome.punt else None,
        tuple(cause for cause in outcome.counts if cause not in drops),
    )


CASES = covering(FACTORS, possible, SEED)
LIVE_CASES = covering(LIVE_FACTORS, live, SEED)
ROWS = [_row(number, case) for number, case in enumerate([*CASES, *LIVE_CASES])]
