"""The golden PSN tracker against rows worked out by hand and against the rules restated over unbounded integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.nic.receive_window import Arrival, ArrivalClass, ReceiveWindow

NEW, DUPLICATE, BELOW, ABOVE = ArrivalClass

MOD = 1 << 24

# name, window, first PSN, PSNs in order of arrival, what the last one gives
ROWS = [
    ("first in order", 128, 0, [0], Arrival(NEW, 0, 0, 1, 0)),
    ("one gap", 128, 0, [1], Arrival(NEW, MOD - 1, 1, 1, 0b10)),
    ("the gap closes over a run", 128, 10, [11, 12, 14, 10], Arrival(NEW, 12, 1, 1, 0b10)),
    ("duplicate beyond cack", 128, 10, [12, 12], Arrival(DUPLICATE, 9, 1, 1, 0b100)),
    ("duplicate at cack", 128, 10, [10, 10], Arrival(BELOW, 10, 0, 1, 0)),
    ("below the first", 128, 10, [9], Arrival(BELOW, 9, 0, 1, 0)),
    ("below, with something held", 128, 10, [12, 3], Arrival(BELOW, 9, 1, 1, 0b100)),
    ("last bit before the base moves", 128, 0, [63], Arrival(NEW, MOD - 1, 1, 1, 1 << 63)),
    ("base moves by one", 128, 0, [64], Arrival(NEW, MOD - 1, 1, 2, 1 << 63)),
    ("base at the window's end", 128, 0, [127], Arrival(NEW, MOD - 1, 1, 65, 1 << 63)),
    ("asymmetric bitmap (S02)", 128, 0, [1, 2, 62, 64], Arrival(NEW, MOD - 1, 4, 2, 1 << 63 | 1 << 61 | 0b11)),
    ("wraps within the window (S06, L07)", 128, MOD - 3, [MOD - 2, MOD - 1, 0, 1, MOD - 3], Arrival(NEW, 1, 0, 1, 0)),
    ("held across the wrap (S06)", 128, MOD - 2, [1], Arrival(NEW, MOD - 3, 1, 1, 0b1000)),
    ("jump by window - 1 (S07)", 128, 0, [0, 127], Arrival(NEW, 0, 1, 64, 1 << 63)),
    ("jump by window (S07)", 128, 0, [0, 128], Arrival(NEW, 0, 1, 65, 1 << 63)),
    ("jump by window + 1 (S07)", 128, 0, [0, 129], Arrival(ABOVE, 0, 0, 1, 0)),
    ("jump by 2^23 - 1 (S07)", 128, 0, [0, (1 << 23) - 1], Arrival(ABOVE, 0, 0, 1, 0)),
    ("jump by 2^23 (S07)", 128, 0, [0, 1 << 23], Arrival(BELOW, 0, 0, 1, 0)),
    ("jump by 2^23 + 1 (S07)", 128, 0, [0, (1 << 23) + 1], Arrival(BELOW, 0, 0, 1, 0)),
    ("window of one", 1, 7, [8], Arrival(ABOVE, 6, 0, 1, 0)),
    ("largest window", 32640, 0, [32639], Arrival(NEW, MOD - 1, 1, 32577, 1 << 63)),
]


@pytest.mark.parametrize(
    ("window", "first", "psns", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_rows(window, first, psns, expected):
    tracker = ReceiveWindow(window, first)
    arrivals = [tracker.receive(psn) for psn in psns]
    assert arrivals[-1] == expected


def test_s07_out_of_window_changes_nothing():
    tracker = ReceiveWindow(128, 0)
    tracker.receive(5)
    before = (tracker.cack_psn, tracker.ooo_count, tracker.bitmap(0))
    for psn in (128, 129, 1 << 22, (1 << 23) - 2, (1 << 23) - 1, 1 << 23, MOD - 1):
        tracker.receive(psn)
    assert (tracker.cack_psn, tracker.ooo_count, tracker.bitmap(0)) == before


@pytest.mark.parametrize(("window", "first"), [(0, 0), (32641, 0), (1, -1), (1, MOD)])
def test_bad_parameters_are_refused(window, first):
    with pytest.raises(InputError):
        ReceiveWindow(window, first)


class Restated:
    """The rules said over unwrapped integers and a plain set of everything received: no modulo inside the window."""

    def __init__(self, window, first):
        self.window = window
        self.received = set()
        self.cack = first - 1

    def receive(self, index):
        before = self.cack
        if index <= before:
            kind = BELOW
        elif index > before + self.window:
            kind = ABOVE
        else:
            kind = DUPLICATE if index in self.received else NEW
            self.received.add(index)
        while self.cack + 1 in self.received:
            self.cack += 1
        base = self.cack + 1
        if self.cack < index <= self.cack + self.window:
            base = max(base, index - 63)
        bitmap = sum(1 << i for i in range(64) if base + i in self.received)
        held = sum(1 for other in self.received if other > self.cack)
        return Arrival(kind, self.cack % MOD, held, base - self.cack, bitmap)


@given(
    window=st.sampled_from([1, 2, 63, 64, 65, 128, 300]),
    first=st.one_of(st.sampled_from([0, MOD - 3, MOD - 64, 1 << 23]), st.integers(0, MOD - 1)),
    steps=st.lists(st.integers(-5, 310), max_size=200),
)
def test_s06_equals_the_rules_restated_from_any_start(window, first, steps):
    tracker, restated = ReceiveWindow(window, first), Restated(window, first + MOD)
    for step in steps:
        index = restated.cack + step
        assert tracker.receive(index % MOD) == restated.receive(index)


@given(st.permutations(range(40)), st.integers(0, MOD - 1))
def test_any_order_ends_cumulative(order, first):
    tracker = ReceiveWindow(64, first)
    for i in order:
        assert tracker.receive((first + i) % MOD).kind is NEW
    assert tracker.cack_psn == (first + 39) % MOD
    assert tracker.ooo_count == 0
