"""Cases of what stays in the switch: registers, counters, meters; and of what a program tells."""

from pymodel.switch.engine import MeterRates
from tests.switch.programs.case import Case, Setup, entry

_STOPPED = MeterRates(1, 3, 1, 5)
"""So slow that nothing comes back within a test: three packets green, two more yellow, the rest red."""

CASES = [
    Case(
        "a register is read, changed and written by each packet; egress counts in another one",
        "registers",
        """
        0 01 00000002 000000000005 -> 1 01 00000000 000000000005
        0 01 00000002 000000000006 -> 1 01 00000001 00000000000b
        0 01 00000003 000000000007 -> 1 01 00000002 000000000007
        0 01 00000002 ffffffffffff -> 1 01 00000003 00000000000a
        0 04 00000002 000000000000 -> 1 04 00000004 00000000000a
        0 00 00000000 000000000000 -> 1 00 00000005 000000000000
        """,
    ),
    Case(
        "a cell of five bits wraps",
        "registers",
        "\n".join(f"0 02 00000001 {0:012x} -> 1 02 {n:08x} {(n + 1) % 32:012x}" for n in range(34)),
    ),
    Case(
        "an index outside a register reads nothing and writes nothing",
        "registers",
        """
        0 03 00000008 000000000001 -> 1 03 00000000 000000000001
        0 04 00000008 000000000001 -> 1 04 00000001 000000000abc
        0 04 ffffffff 000000000001 -> 1 04 00000002 000000000abc
        0 04 00000000 000000000001 -> 1 04 00000003 000000000000
        """,
        engine_only="BMv2 built for release reads and writes foreign memory",
    ),
    Case(
        "counters count packets, and bytes as they came, by index and port",
        "counters",
        f"""
        0 01 0003 {"ee" * 7}  -> 3 01 0003 {"ee" * 7}
        0 01 0003 {"ee" * 20} -> 3 01 0003 {"ee" * 20}
        0 02 0005             -> 2 {"00" * 32} 02 0005
        0 99 0000             -> 1 99 0000
        """,
        Setup(
            (
                entry("In.kinds", "In.forward", {"hdr.i.kind": 1}, port=3),
                entry("In.kinds", "In.grow", {"hdr.i.kind": 2}),
                entry("In.prefixes", "In.note", {"hdr.i.index": (0, 14)}),
            )
        ),
        counters={
            "In.cells[0]": (1, 3),
            "In.cells[3]": (2, 33),
            "In.cells[5]": (1, 3),
            "In.all": (4, 39),
            "Out.left[1]": (1, 3),
            "Out.left[2]": (1, 3),
            "Out.left[3]": (2, 33),
        },
    ),
    Case(
        "an index outside a counter counts nowhere",
        "counters",
        "0 99 0008 -> 1 99 0008\n0 99 ffff -> 1 99 ffff",
        counters={"In.all": (2, 6), "Out.left[1]": (2, 6)},
        engine_only="BMv2 built for release writes foreign memory",
    ),
    Case(
        "a meter of packets: green, yellow, red, each cell for itself",
        "meters",
        """
        0 0101 -> 1 0003 0101
        0 0101 -> 1 0003 0101
        0 0101 -> 1 0003 0101
        0 0101 -> 1 0103 0101
        0 0101 -> 1 0103 0101
        0 0101 -> drop
        0 0102 -> 1 0003 0102
        0 0101 -> drop
        """,
        Setup(meters=(("In.packets", 1, _STOPPED),)),
    ),
    Case(
        "a meter of bytes: a frame that finds too few tokens takes none",
        "meters",
        f"""
        0 0a00 {"ee" * 58}  -> 1 0003 0a00 {"ee" * 58}
        0 0a00 {"ee" * 58}  -> 1 0103 0a00 {"ee" * 58}
        0 0a00 {"ee" * 98}  -> drop
        0 0a00 {"ee" * 28}  -> 1 0003 0a00 {"ee" * 28}
        """,
        Setup(meters=(("In.octets", 0, MeterRates(1, 100, 1, 150)),)),
    ),
    Case(
        "a direct meter runs on a hit alone and belongs to its entry",
        "meters",
        """
        0 0100 -> 1 0000 0100
        0 0100 -> 1 0001 0100
        0 0100 -> 1 0002 0100
        0 0200 -> 1 0000 0200
        0 0300 -> 1 0003 0300
        """,
        Setup(
            (entry("In.kinds", "In.look", {"hdr.i.kind": 1}), entry("In.kinds", "In.look", {"hdr.i.kind": 2})),
            direct_meters=((entry("In.kinds", "In.look", {"hdr.i.kind": 1}), MeterRates(1, 1, 1, 2)),),
        ),
    ),
    Case(
        "a random number within its bounds, and none when they are reversed",
        "told",
        "0 0465 1234 -> 1 0465 1234\n0 0464 0000 -> 1 0464 0064",
    ),
    Case(
        "a failed assertion drops the packet",
        "told",
        "0 00ee 0000 -> drop\n0 00ef 0000 -> 1 00ef 0000",
        engine_only="BMv2 aborts",
    ),
]
