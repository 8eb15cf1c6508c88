"""Cases of tables and control flow."""

from pymodel.switch.target import TableEntry
from tests.switch.programs.case import Case, Profile, Setup, entry

_FIRST, _SECOND, _THIRD = "hdr.keys.first", "hdr.keys.second", "hdr.keys.third"
_FOURTH, _FIFTH, _EXTRA = "hdr.keys.fourth", "hdr.keys.fifth", "hdr.extra.value"


def _answer(table: str, value: int, match: dict[str, int | tuple[int, int]], priority: int = 0) -> TableEntry:
    return entry(f"In.{table}", "In.answer", match, priority, value=value)


CASES = [
    Case(
        "exact, hit and miss, with an action that forwards and one that drops",
        "match_kinds",
        """
        0 01 0001 0000 00 00 -> 1 0a01 01 01 0001 0000 00 00
        0 01 0002 0000 00 00 -> 7 0f07 01 01 0002 0000 00 00
        0 01 0003 0000 00 00 -> drop
        0 01 0004 0000 00 00 -> 1 e001 00 01 0004 0000 00 00
        """,
        Setup(
            (
                _answer("exact_one", 0x0A01, {_FIRST: 1}),
                entry("In.exact_one", "In.port", {_FIRST: 2}, number=7),
                entry("In.exact_one", "In.drop", {_FIRST: 3}),
            )
        ),
    ),
    Case(
        "exact over several keys, one of them the validity of a header",
        "match_kinds",
        """
        0 02 0001 0000 02 30      -> 1 0a02 00 02 0001 0000 02 30
        0 02 0001 0000 02 40      -> 1 0000 02 02 0001 0000 02 40
        0 82 0001 0000 02 30 0000 -> 1 0b02 00 82 0001 0000 02 30 0000
        """,
        Setup(
            (
                _answer("exact_many", 0x0A02, {_FIRST: 1, _THIRD: 2, _FOURTH: 3, "hdr.extra.$valid$": 0}),
                _answer("exact_many", 0x0B02, {_FIRST: 1, _THIRD: 2, _FOURTH: 3, "hdr.extra.$valid$": 1}),
            )
        ),
    ),
    Case(
        "longest prefix, whatever the order of insertion; /0 is everything",
        "match_kinds",
        """
        0 03 1234 0000 00 00 -> 1 0016 01 03 1234 0000 00 00
        0 03 1235 0000 00 00 -> 1 0008 01 03 1235 0000 00 00
        0 03 1334 0000 00 00 -> 1 0007 01 03 1334 0000 00 00
        0 03 1434 0000 00 00 -> 1 0000 01 03 1434 0000 00 00
        """,
        Setup(
            (
                _answer("longest", 8, {_FIRST: (0x1200, 8)}),
                _answer("longest", 0, {_FIRST: (0, 0)}),
                _answer("longest", 0x16, {_FIRST: (0x1234, 16)}),
                _answer("longest", 7, {_FIRST: (0x1200, 7)}),
            )
        ),
    ),
    Case(
        "longest prefix without a match takes the default action, which the control plane changed",
        "match_kinds",
        "0 03 ffff 0000 00 00 -> drop\n0 03 1234 0000 00 00 -> 1 0008 01 03 1234 0000 00 00",
        Setup((_answer("longest", 8, {_FIRST: (0x1200, 8)}), entry("In.longest", "In.drop", {}))),
    ),
    Case(
        "longest prefix beside exact keys",
        "match_kinds",
        """
        0 04 0000 ab12 05 60 -> 1 0012 00 04 0000 ab12 05 60
        0 04 0000 ab92 05 60 -> 1 0008 00 04 0000 ab92 05 60
        0 04 0000 ab12 06 60 -> 1 0000 00 04 0000 ab12 06 60
        0 04 0000 ab12 05 70 -> 1 0099 00 04 0000 ab12 05 70
        """,
        Setup(
            (
                _answer("longest_with_exact", 8, {_THIRD: 5, _SECOND: (0xAB00, 8), _FOURTH: 6}),
                _answer("longest_with_exact", 0x12, {_THIRD: 5, _SECOND: (0xAB00, 9), _FOURTH: 6}),
                _answer("longest_with_exact", 0x99, {_THIRD: 5, _SECOND: (0, 0), _FOURTH: 7}),
            )
        ),
    ),
    Case(
        "ternary: the higher priority wins, not the longer mask",
        "match_kinds",
        """
        0 05 1234 5678 00 00 -> 1 0002 00 05 1234 5678 00 00
        0 05 1234 0078 00 00 -> 1 0001 00 05 1234 0078 00 00
        0 05 12ff ff00 00 00 -> 1 0003 00 05 12ff ff00 00 00
        0 05 9999 0001 00 00 -> 1 e005 03 05 9999 0001 00 00
        """,
        Setup(
            (
                _answer("masked", 1, {_FIRST: (0x1234, 0xFFFF), _SECOND: (0x0078, 0x00FF)}, 10),
                _answer("masked", 2, {_SECOND: (0x5000, 0xF000)}, 20),
                _answer("masked", 3, {_FIRST: (0x1200, 0xFF00)}, 5),
            )
        ),
    ),
    Case(
        "ternary, prefix, exact and optional in one key",
        "match_kinds",
        """
        0 06 00f1 8001 04 05 -> 1 0001 00 06 00f1 8001 04 05
        0 06 00f1 8001 04 06 -> 1 0002 00 06 00f1 8001 04 06
        0 06 00f1 4001 04 06 -> 1 e006 00 06 00f1 4001 04 06
        0 06 00f1 8001 05 05 -> 1 e006 00 06 00f1 8001 05 05
        """,
        Setup(
            (
                _answer("mixed", 1, {_FIRST: (0xF0, 0xF0), _SECOND: (0x8000, 1), _THIRD: 4, _FIFTH: 5}, 9),
                _answer("mixed", 2, {_FIRST: (0xF0, 0xF0), _SECOND: (0x8000, 1), _THIRD: 4}, 8),
            )
        ),
    ),
    Case(
        "ranges, at their ends and beyond, beside an exact key of an invalid header",
        "match_kinds",
        """
        0 07 0010 0000 00 00      -> 1 0001 00 07 0010 0000 00 00
        0 07 0020 ffff 00 00      -> 1 0001 00 07 0020 ffff 00 00
        0 07 0021 0000 00 00      -> 1 e007 00 07 0021 0000 00 00
        0 07 0018 0005 0f 00      -> 1 0002 00 07 0018 0005 0f 00
        0 87 0018 0005 0f 00 0007 -> 1 0003 00 87 0018 0005 0f 00 0007
        """,
        Setup(
            (
                _answer("ranged", 1, {_FIRST: (0x10, 0x20), _EXTRA: 0}, 1),
                _answer("ranged", 2, {_FIRST: (0x18, 0x18), _SECOND: (5, 6), _THIRD: (0x0F, 0x0F), _EXTRA: 0}, 2),
                _answer("ranged", 3, {_EXTRA: 7}, 3),
            )
        ),
    ),
    Case(
        "static entries, the first that matches",
        "match_kinds",
        """
        0 08 0001 00f0 00 00 -> 1 0001 00 08 0001 00f0 00 00
        0 08 0001 0ff0 00 00 -> 1 0001 00 08 0001 0ff0 00 00
        0 08 0001 0000 00 00 -> 1 0003 00 08 0001 0000 00 00
        0 08 0002 1234 00 00 -> 1 0004 00 08 0002 1234 00 00
        0 08 0002 1235 00 00 -> 1 e008 00 08 0002 1235 00 00
        """,
    ),
    Case(
        "keys under a mask of the program",
        "match_kinds",
        """
        0 09 fabf 7123 00 00 -> 1 0001 00 09 fabf 7123 00 00
        0 09 0ab0 0123 00 00 -> 1 0001 00 09 0ab0 0123 00 00
        0 09 0ac0 0123 00 00 -> 1 e009 00 09 0ac0 0123 00 00
        """,
        Setup((_answer("sliced", 1, {"middle": 0xAB, "low": 0x123}),)),
    ),
    Case(
        "a table without keys takes its default action",
        "match_kinds",
        "0 0a 0000 0000 00 00 -> 1 0042 00 0a 0000 0000 00 00",
        Setup((_answer("keyless", 0x42, {}),)),
    ),
    Case(
        "switch on the action that ran; two labels share a block",
        "control_flow",
        """
        0 010000 -> 1 80009001 01 010000
        0 020165 -> 1 8000a002 78 020165
        0 020300 -> 1 8000c038 78 020300
        0 030065 -> 1 8000a080 01 030065
        0 090000 -> 1 80008300 01 090000
        """,
        Setup(
            (
                entry("In.choose", "In.first", {"hdr.ops.a": 1}),
                entry("In.choose", "In.second", {"hdr.ops.a": 2}, mark=0x77),
                entry("In.choose", "In.maybe_leave", {"hdr.ops.a": 3}, limit=9),
                entry("In.after", "NoAction", {"hdr.ops.b": 3}),
            )
        ),
    ),
    Case(
        "return and else inside an action",
        "control_flow",
        """
        0 020100 -> 1 80008003 78 020100
        0 020200 -> 1 80008025 78 020200
        0 020300 -> 1 80008039 78 020300
        0 020400 -> 1 80008031 78 020400
        """,
        Setup((entry("In.choose", "In.second", {"hdr.ops.a": 2}, mark=0x77),)),
    ),
    Case(
        "exit in an action and in a control ends ingress alone; return ends its control",
        "control_flow",
        """
        0 050000 -> 1 80000040 01 050000
        0 030a00 -> 1 80000000 01 030a00
        0 030900 -> 1 80008081 01 030900
        0 090001 -> 1 80008000 01 090001
        0 090002 -> 1 80000100 01 090002
        """,
        Setup(
            (
                entry("In.choose", "In.leave", {"hdr.ops.a": 5}),
                entry("In.choose", "In.maybe_leave", {"hdr.ops.a": 3}, limit=9),
            )
        ),
    ),
    Case(
        "drops in ingress and egress",
        "control_flow",
        "0 070000 -> drop\n0 00004d -> drop\n0 00004e -> 1 80008300 01 00004e",
        Setup((entry("In.choose", "In.drop", {"hdr.ops.a": 7}),)),
    ),
    Case(
        "action profile: a member alone, in the table that is asked second",
        "selector",
        """
        0 05 0000 00000000 -> 1 0abc 00 05 0000 00000000
        0 06 0000 00000000 -> drop
        0 07 0000 00000000 -> 1 0000 00 07 0000 00000000
        """,
        Setup(
            profiles=(
                Profile(
                    "In.profile",
                    "In.single",
                    (("In.tell", {"member": 0xABC}), ("In.drop", {})),
                    (),
                    (({"hdr.i.table_key": 5}, "member", 0), ({"hdr.i.table_key": 6}, "member", 1)),
                ),
            )
        ),
    ),
    Case(
        # CRC-16/ARC of the six bytes of flow and address: 0, c0c1, c181, 0140 (mod 3: 0, 1, 1, 2).
        "action selector: a hash chooses the member of a group",
        "selector",
        """
        0 01 0000 00000000 -> 1 0100 01 01 0000 00000000
        0 01 0000 00000001 -> 1 0101 01 01 0000 00000001
        0 01 0000 00000002 -> 1 0101 01 01 0000 00000002
        0 01 0000 00000003 -> 1 0102 01 01 0000 00000003
        0 02 0000 00000003 -> 1 0101 01 02 0000 00000003
        """,
        Setup(
            profiles=(
                Profile(
                    "In.chooser",
                    "In.grouped",
                    tuple(("In.tell", {"member": 0x100 + number}) for number in range(3)),
                    ((0, 1, 2), (1,)),
                    (({"hdr.i.table_key": 1}, "group", 0), ({"hdr.i.table_key": 2}, "group", 1)),
                ),
            )
        ),
    ),
]
