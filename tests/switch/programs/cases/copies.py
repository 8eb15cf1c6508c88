"""Cases of copies: clones, multicast, resubmission, recirculation; and of standard metadata."""

from tests.switch.programs.case import Case, Setup

_SESSIONS = Setup(sessions={5: ((7, 1),), 6: ((8, 1), (9, 2))})

CASES = [
    Case(
        "a clone from ingress is the frame as it came, without metadata",
        "clone",
        """
        3 01 0010 aa -> 1 01 0111 aa, 7 00000001 00 00 0001 00000004 0380 01 0010 aa
        3 00 0010 aa -> 1 00 0111 aa
        """,
        _SESSIONS,
    ),
    Case(
        # Fields are kept with the values that they have at the end of ingress.
        "metadata of the field list goes with the clone",
        "clone",
        "3 02 0010 aa -> 1 02 0111 aa, 7 00000001 12 00 0001 00000004 0380 02 0010 aa",
        _SESSIONS,
    ),
    Case(
        "a packet that is dropped can be cloned",
        "clone",
        """
        3 04 0010 -> 7 00000001 12 00 0001 00000003 0380 04 0010
        """,
        _SESSIONS,
    ),
    Case(
        "a clone to a session that nobody defined is lost",
        "clone",
        "3 03 0004 aa -> 1 03 0105 aa\n3 03 0005 -> 1 03 0106, 7 00000001 00 00 0001 00000003 0380 03 0005",
        _SESSIONS,
    ),
    Case(
        "a clone from egress has the headers as egress left them, one copy for each replica",
        "clone",
        """
        3 06 0010 aa -> 1 06 0111 aa, ~
            8 00000002 13 00 0001 00000004 0400 06 0111 aa, 9 00000002 13 00 0002 00000004 0480 06 0111 aa
        3 07 0010    -> ~
            8 00000002 00 00 0001 00000003 0400 07 0111, 9 00000002 00 00 0002 00000003 0480 07 0111
        """,
        _SESSIONS,
    ),
    Case(
        "multicast makes a copy for each replica, with its rid",
        "multicast",
        """
        0 00 0001 aa -> 1 0001 0080 00000005 00 0001 aa, 2 0001 0100 00000005 00 0001 aa, ~
            2 0002 0100 00000005 00 0001 aa
        0 00 0002    -> 4 0000 0200 00000005 00 0002
        0 00 0003    -> drop
        0 00 0000    -> 3 0000 0180 00000000 00 0000
        """,
        Setup(groups={1: ((1, 1), (2, 1), (2, 2)), 2: ((4, 0),)}),
    ),
    Case(
        "mark_to_drop clears the group; egress_spec 511 alone does not; a copy can be dropped in egress",
        "multicast",
        """
        0 01 0001 -> drop
        0 02 0001 -> 1 0001 0080 00000005 02 0001, 2 0001 0100 00000005 02 0001, 2 0002 0100 00000005 02 0001
        0 03 0001 -> 1 0001 0080 00000005 03 0001, 2 0001 0100 00000005 03 0001
        """,
        Setup(groups={1: ((1, 1), (2, 1), (2, 2))}),
    ),
    Case(
        "resubmission starts from the frame as it came and keeps the field list alone",
        "again",
        """
        0 01 00 0010 -> 2 01 00 0010
        0 01 03 0010 -> 2 01 03 0013
        0 02 02 0010 -> 2 02 02 0612
        """,
    ),
    Case(
        # The ingress port is metadata too: the second round finds 0. The eleven bytes were added once.
        "recirculation starts from the frame as it left",
        "again",
        """
        1 03 00 0010    -> 2 03 00 0010
        1 03 01 0010 aa -> 2 a5 00000000 00000005 0080 03 01 0011 aa
        1 03 02 0010 aa -> 2 a5 00000000 00000010 0000 03 02 0013 aa
        """,
    ),
    Case(
        "a recirculated packet is not truncated",
        "again",
        "1 04 01 0010 aabbccdd -> 2 04 01 0011 aabbccdd",
    ),
]
