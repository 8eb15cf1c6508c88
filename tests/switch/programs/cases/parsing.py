"""Cases of the parser: select, lookahead, value sets, header stacks, errors, fields of variable length, unions."""

from tests.switch.programs.case import Case, Setup

CASES = [
    Case(
        "exact value and range",
        "parse_select",
        """
        0 0100 0000002a ff -> 2 01 0100 0000002a ff
        0 0109 0000002a ff -> 2 01 0109 0000002a ff
        0 010a 2001        -> 2 02 010a 2aab
        0 0163 2001 05     -> 2 02 0163 2aab 05
        0 0164             -> 2 09 0164
        """,
    ),
    Case(
        "an odd field selects, and what follows is extracted in its place",
        "parse_select",
        """
        0 010a a000 00000001 77 -> 2 82 010a aaaa 00000001 77
        0 010a c000 00000001 77 -> 2 02 010a caaa 00000001 77
        """,
    ),
    Case(
        "masks, and the first case that matches wins",
        "parse_select",
        """
        0 0180 00000005 -> 2 83 0180 00000005
        0 01bf 00000005 -> 2 83 01bf 00000005
        0 01c0 00000005 -> 2 09 01c0 00000005
        0 0107 00000005 -> 2 01 0107 00000005
        0 0907 1fff     -> 2 40 0907 1555
        0 0307 1fff     -> 2 40 0307 1555
        """,
    ),
    Case(
        "lookahead selects and takes nothing",
        "parse_select",
        """
        0 0200 beef0001 aa -> 2 84 0200 beefbef0 aa
        0 0200 1abc        -> 2 44 0200 1016
        0 0200 2abc        -> 2 04 0200 2abc
        0 0200 be          -> 2 04 0200 be
        """,
    ),
    Case(
        "advance skips bytes, which are lost; a field of standard metadata selects",
        "parse_select",
        """
        1 03ff aabbcc 00000002 dd -> 2 85 03ff 00000002 dd
        0 03ff aabbcc 00000002 dd -> 2 05 03ff 00000002 dd
        0 03ff aabb               -> 2 05 03ff aabb
        """,
    ),
    Case("too short for the first header", "parse_select", "0 01 -> 2 00 01"),
    Case(
        "members of a value set, by the control plane",
        "value_set",
        """
        0 a5 70 -> 1 01 a570
        0 a5 7f -> 1 01 a57f
        0 a5 80 -> 1 00 a580
        0 01 10 -> 1 02 0110
        """,
        # The fields of a member stand side by side, 8 and 4 bits.
        Setup(value_sets={"Reader.pairs": (0xA57, 0x333)}),
        engine_only="BMv2's P4Runtime server takes no value set entries",
    ),
    Case("an empty value set matches nothing", "value_set", "0 a5 70 -> 1 00 a570\n0 01 1f -> 1 02 011f"),
    Case(
        "stack: as many labels as there are, up to the bottom",
        "header_stack",
        """
        0 00000000 00001140 99          -> 1 000100000000 00000000 00001140 99
        0 00000000 00001040 00002140 99 -> 1 000300000001 00000000 00001040 00002140 99
        0 ff000000 00001140             -> 1 000000000000 ff000000 00001140
        """,
    ),
    Case(
        "stack: the fifth label is one too many; what follows stays payload",
        "header_stack",
        "0 00000000 00001040 00002040 00003040 00004040 00005140"
        " -> 1 010f00000003 00000000 00001040 00002040 00003040 00004040 00005140",
    ),
    Case(
        "stack: a label that is cut short",
        "header_stack",
        "0 00000000 00001040 0000 -> 1 020100000000 00000000 00001040 0000",
    ),
    Case(
        "stack: push_front moves the elements back and drops the last",
        "header_stack",
        """
        0 0100abcd 00001140                            -> 1 000300000000 0100abcd 0abcd040 00001140
        0 0100abcd 00001040 00002040 00003040 00004140 ~
            -> 1 000f00000003 0100abcd 0abcd040 00001040 00002040 00003040
        0 03000000 00001040 00002040 00003140          -> 1 000c00000002 03000000 00001040 00002040
        """,
    ),
    Case(
        "stack: pop_front moves them forward, also from an empty stack",
        "header_stack",
        """
        0 02000000 00001040 00002140                   -> 1 000100000001 02000000 00002140
        0 04000000 00001040 00002040 00003040 00004140 -> 1 000100000003 04000000 00004140
        0 02000000                                     -> 1 020000000000 02000000
        """,
    ),
    Case(
        "stack: elements by a computed index",
        "header_stack",
        """
        0 05010000 00001040 00002140 -> 1 000300000002 05010000 00001040 0000213f
        0 05000000 00001040 00002140 -> 1 000300000001 05000000 0000103f 00002140
        """,
    ),
    Case(
        "stack: assignment as a whole, and of one element",
        "header_stack",
        """
        0 06000000 00001040 00002040 00003140 99 ~
            -> 1 000100000002 06000000 00003140 00001040 00002040 00003140 99
        0 07000000 00001140                     -> 1 000800000000 07000000 00001140
        """,
    ),
    Case(
        "verify stops the parser with the program's error",
        "parser_error",
        """
        0 5000         -> 3 0201 5000
        0 6000         -> 3 0001 6000
        0 6203 aaaaaa00 -> 3 0301 6203 aaaaaa00
        0 6204 aaaaaa00 -> 3 0003 6204 aaaaaa00
        0 623c aaaaaa00 -> 3 0003 623c aaaaaa00
        0 623d aaaaaa00 -> 3 0301 623d aaaaaa00
        """,
    ),
    Case(
        "a packet too short at each header",
        "parser_error",
        """
        0 60                         -> 3 0100 60
        0 6100                       -> 3 0101 6100
        0 6100 aaaaaa                -> 3 0101 6100 aaaaaa
        0 6100 aaaaaa01              -> 3 0103 6100 aaaaaa01
        0 6100 aaaaaa01 bbbbbb       -> 3 0103 6100 aaaaaa01 bbbbbb
        0 6100 aaaaaa01 bbbbbb02 cc  -> 3 0007 6100 aaaaaa01 bbbbbb02 cc
        """,
    ),
    Case(
        "variable length: none, some, more than there is",
        "varbit",
        """
        0 0000 1122 33           -> 1 000800 0000 1122 33
        0 0100 11 aabbccdd 22 33 -> 1 000c00 0100 11 aabbccdd 22 33
        0 0200 11 aabbccdd 22    -> 1 000b01 0200 11 aabbccdd 22
        0 0009 1122              -> 1 000700 0009 1122
        """,
    ),
    Case(
        "variable length: as long as the header type allows, and longer",
        "varbit",
        f"""
        0 0a00 11 {"aa" * 40} 22 -> 1 002f00 0a00 11 {"aa" * 40} 22
        0 0b00 11 {"aa" * 44} 22 -> 1 003302 0b00 11 {"aa" * 44} 22
        """,
    ),
    Case(
        # Neither the assignment of a header nor the copy's bytes change standard_metadata.packet_length; BMv2's do not.
        "variable length: copied, changed, removed",
        "varbit",
        """
        0 0101 11 aabbccdd 22 33 -> 1 000c00 0101 12 aabbccdd 22 11 aabbccdd 22 33
        0 0102 11 aabbccdd 22 33 -> 1 000600 0102 33
        0 0103 11 aabbccdd 22 33 -> 1 000600 0103 11 aabbccdd ee 33
        """,
    ),
    Case(
        "variable length: compared, alone and with the whole header",
        "varbit",
        "0 0104 11 aabbccdd 22 -> 1 000b08 0104 11 aabbccdd 22 11 aabbccdd 22",
    ),
    Case(
        "stack of unions: each element has the member that was extracted",
        "union_stack",
        """
        0 00 00               -> 1 0000 00 00
        0 00 01aa 02bbbbbb 00 -> 1 0900 00 01aa 02bbbbbb 00
        0 00 01aa 01bb 01cc 00 -> 1 1500 00 01aa 01bb 01cc 00
        0 00 01aa 01bb 01cc 01dd 00 -> 1 1501 00 01aa 01bb 01cc 01dd 00
        """,
    ),
    Case(
        "stack of unions: pop and push exchange elements and free none, as BMv2 does",
        "union_stack",
        """
        0 01 01aa 02bbbbbb 00 -> 1 1200 01 02bbbbbb 01aa 00
        0 02 01aa 00          -> 1 0600 02 02abcdef 01aa 00
        0 02 01aa 01bb 01cc 00 -> 1 1600 02 02abcdef 01aa 01bb 00
        """,
    ),
    Case(
        "stack of unions: assignment, and a member that takes another's place",
        "union_stack",
        """
        0 03 01aa 02bbbbbb 00 -> 1 0800 03 02bbbbbb 01aa 02bbbbbb 00
        0 04 01aa 02bbbbbb 00 -> 1 0500 04 01aa 0177 00
        """,
    ),
    Case(
        "union: the parser makes one member valid",
        "header_union",
        """
        0 0100 aabb   -> 1 05 0100 aabb
        0 0200 aabbccdd -> 1 06 0200 aabbccdd
        0 0300 aabb   -> 1 00 0300 aabb
        """,
    ),
    Case(
        "union: setValid of a member makes the other invalid, setInvalid of the other changes nothing",
        "header_union",
        """
        0 0101 aabb     -> 1 06 0101 01020304
        0 0202 aabbccdd -> 1 05 0202 abcd
        0 0103 aabb     -> 1 00 0103
        0 0104 aabb     -> 1 05 0104 aabb
        """,
    ),
]
